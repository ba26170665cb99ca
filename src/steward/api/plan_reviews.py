"""What a person decides about a plan before it runs."""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from steward.agents.plan import Plan
from steward.api.documents import Input
from steward.app import Steward
from steward.core.errors import Conflict, Invalid, Problem
from steward.identity import Access
from steward.runs import Run


class ReviewIn(Input):
    decision: Literal["approve", "reject", "change"]
    skip: list[Annotated[str, Field(min_length=1, max_length=30)]] = Field(
        [], max_length=50, description="Steps that are left out of an approved plan."
    )
    plan: dict[str, Any] | None = Field(None, description="The plan to run instead; for `change`.")


def review_of(given: Any) -> ReviewIn:
    """A decision that came inside another document."""
    try:
        return ReviewIn.model_validate(given)
    except ValidationError as error:
        raise _invalid("This decides nothing about a plan.", "", error) from None


def review(steward: Steward, access: Access, run: Run, body: ReviewIn) -> None:
    wait = next((each for each in run.waits or () if each["kind"] == "plan"), None)
    if wait is None:
        raise Conflict("No plan of this turn waits for a review.", code="nothing-to-review")
    answer: dict[str, Any] = {"decision": body.decision, "by": access.user_id}
    if body.decision == "approve":
        answer["skip"] = _skipped(body, wait["request"]["plan"])
    if body.decision == "change":
        answer["plan"] = _changed(body)
    steward.runs.records.signal(access.scope, run.id, wait["key"], answer)


def _skipped(body: ReviewIn, plan: dict[str, Any]) -> list[str]:
    known = [step["id"] for step in plan["steps"]]
    for number, step in enumerate(body.skip):
        if step not in known:
            raise Invalid(
                f"The plan has no step {step!r}.", problems=[Problem(f"/skip/{number}", "unknown")]
            )
    if set(body.skip) >= set(known):
        raise Invalid("Without all its steps nothing is left of the plan; reject it instead.")
    return body.skip


def _changed(body: ReviewIn) -> dict[str, Any]:
    if body.plan is None:
        raise Invalid("A change needs the plan.", problems=[Problem("/plan", "is missing")])
    try:
        return Plan.model_validate(body.plan).to_json()
    except ValidationError as error:
        raise _invalid("This is not a plan.", "/plan", error) from None


def _invalid(message: str, where: str, error: ValidationError) -> Invalid:
    return Invalid(
        message,
        problems=[
            Problem("/".join([where, *(str(part) for part in each["loc"])]), each["msg"])
            for each in error.errors(include_url=False, include_input=False)
        ],
    )
