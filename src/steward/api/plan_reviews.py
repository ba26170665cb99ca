"""What a person decides about a plan before it runs, and what a changed plan may name."""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from steward.agents import Catalogue, Plan, PlanRefused, Thread, alone, check_plan
from steward.api.chat_documents import TurnOut
from steward.api.documents import Input, Output
from steward.app import Steward
from steward.core import Conflict, Invalid, NotFound, Problem, in_words, mistakes
from steward.identity import Access
from steward.runs import EntryType, Run


class ReviewIn(Input):
    decision: Literal["approve", "reject", "change"]
    skip: list[Annotated[str, Field(min_length=1, max_length=30)]] = Field(
        [], max_length=50, description="Steps that are left out of an approved plan."
    )
    plan: dict[str, Any] | None = Field(None, description="The plan to run instead; for `change`.")


class PlanToolOut(Output):
    name: str
    title: str
    description: str
    risk: str
    arguments: dict[str, Any] = Field(description="JSON Schema.")


class PlanAgentOut(Output):
    name: str
    title: str
    description: str
    tools: list[str] = Field(description="What it may be given in this turn.")


class PlanOptionsOut(Output):
    agents: list[PlanAgentOut]
    tools: list[PlanToolOut]
    skills: dict[str, str] = Field(description="What each is for, by its name.")


def review_of(given: Any) -> ReviewIn:
    """A decision that came inside another document."""
    try:
        return ReviewIn.model_validate(given)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"This decides nothing about a plan: {in_words(found)}.", problems=found
        ) from None


def review(steward: Steward, access: Access, run: Run, body: ReviewIn) -> None:
    wait = next((each for each in run.waits or () if each["kind"] == "plan"), None)
    if wait is None:
        raise Conflict("No plan of this turn waits for a review.", code="nothing-to-review")
    answer: dict[str, Any] = {"decision": body.decision, "by": access.user_id}
    if body.decision == "approve":
        answer["skip"] = _skipped(body, wait["request"]["plan"])
    if body.decision == "change":
        answer["plan"] = _changed(body, catalogue_of(steward, run))
    steward.runs.records.signal(access.scope, run.id, wait["key"], answer)


class StepAppliedOut(Output):
    thread_id: str
    run_id: str = Field(description="Of the turn in which the step is done.")


def apply_step(steward: Steward, access: Access, turn: TurnOut, step_id: str) -> tuple[Thread, Run]:
    """Begins a turn for a step that was left out or failed; its plan waits to be looked at first."""
    run = steward.runs.get(access.scope, turn.run_id)
    known = catalogue_of(steward, run)
    if known is None or not turn.plans:
        raise NotFound("This turn has no plan.")
    if not run.status.is_final:
        raise Conflict(
            "The plan is still being carried out. Wait for it, or stop it first.",
            code="turn-running",
        )
    branch = turn.plans[-1].branch
    states = {step.id: step.status for step in turn.steps if step.branch == branch}
    done = {name for name, state in states.items() if state not in {"skipped", "failed"}}
    risks = {name: facts.risk for name, facts in known.tools.items()}
    plan = alone(Plan.model_validate(turn.plans[-1].plan), step_id, done, risks)
    return steward.threads.begin(
        access,
        plan.goal,
        thread_id=turn.thread_id,
        attachments=[file.upload for file in turn.attachments],
        # A model may have planned it: what a person has not approved yet, they look at.
        extra={"plan": plan.to_json(), "review": "always"},
    )


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


def catalogue_of(steward: Steward, run: Run) -> Catalogue | None:
    """What plans of this turn may name, as it was recorded when the turn began; None before that."""
    runs = steward.runs
    for entry in runs.journal.entries(run.scope, run.id):
        if entry.type == EntryType.context_gathered and "result" in entry.data:
            grant = runs.request(run.scope, run.id).grant
            return steward.planning.contexts.catalogue(runs.payload(entry.data["result"]), grant)
    return None


def plan_options(steward: Steward, run: Run) -> PlanOptionsOut:
    known = catalogue_of(steward, run)
    if known is None:
        raise Conflict(
            "This turn has no plan yet. Wait until it is planned.", code="nothing-to-review"
        )
    tools = {name: facts for name, facts in sorted(known.tools.items()) if known.usable(name)}
    return PlanOptionsOut(
        agents=[
            PlanAgentOut(
                name=agent.name,
                title=agent.title,
                description=agent.description,
                tools=[name for name, facts in tools.items() if agent.may_call(name, facts.risk)],
            )
            for agent in known.agents
        ],
        tools=[
            PlanToolOut(
                name=name,
                title=facts.title,
                description=facts.description,
                risk=facts.risk.value,
                arguments=dict(facts.schema),
            )
            for name, facts in tools.items()
        ],
        skills=dict(known.skills),
    )


def _changed(body: ReviewIn, known: Catalogue | None) -> dict[str, Any]:
    """The plan, if it could be carried out: whoever changes it learns at once what is wrong, and where."""
    if body.plan is None:
        raise Invalid(
            "Send the changed plan with the decision `change`.",
            problems=[Problem("/plan", "is missing")],
        )
    if known is None:
        try:
            return Plan.model_validate(body.plan).to_json()
        except ValidationError as error:
            found = mistakes(error, "/plan")
            raise Invalid(f"This is not a plan: {in_words(found)}.", problems=found) from None
    try:
        return check_plan(body.plan, known).to_json()
    except PlanRefused as refused:
        raise PlanRefused(
            [Problem(f"/plan{each.pointer}", each.message) for each in refused.problems]
        ) from None
