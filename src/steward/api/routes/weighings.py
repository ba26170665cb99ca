"""Weighing rules that a run asks somebody to approve: what edited ones would do. Nothing is written."""

from typing import Annotated

from fastapi import Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input
from steward.api.guards import AsAsked
from steward.api.routing import Router
from steward.api.run_documents import RunDetail, RunOut, run_detail
from steward.api.types import RunId
from steward.api.visibility import Visibility
from steward.broker import first_problem
from steward.core import Invalid, NotFound
from steward.flows import DirectCall
from steward.versions import MAIN

router = Router(prefix="/projects/{project_id}/runs/{run_id}/weighings", tags=["runs"])
VIEW = "entity-rules"
"""What a gate calls the view in which rules are reviewed; it shows what `propose_rules` answered."""


class WeighIn(Input):
    key: Annotated[str, Field(min_length=1, max_length=400, description="What the run waits for.")]
    rules: str = Field(max_length=500_000, description="The edited rules, as YAML.")


@router.post("", status_code=status.HTTP_202_ACCEPTED)
def weigh_asked_rules(request: Request, access: AsAsked, run_id: RunId, body: WeighIn) -> RunOut:
    """For whoever is asked to approve rules: edits that the run would take, on the data it asked about."""
    steward = steward_of(request)
    Visibility(steward, access).refuse_unasked(run_id, body.key)
    asked = steward.governing.inbox.asked(access, run_id, body.key).request
    shown = asked.get("shown")
    datasets = shown.get("datasets") if isinstance(shown, dict) else None
    if asked.get("view") != VIEW or asked.get("edit") is None or not datasets:
        raise Invalid("The run does not ask for rules that could be changed.", code="not-editable")
    wrong = first_problem(asked["edit"], {"rules": body.rules})
    if wrong is not None:
        raise Invalid(f"The changed rules do not fit: {wrong}.", code="invalid-answer")
    branch = steward.runs.request(access.scope, run_id).grant.get("branch", MAIN)
    steward.workbench.resolving.check(access.scope, access.user_id, datasets, branch, body.rules)
    call = DirectCall(
        "propose_rules",
        {"datasets": datasets, "rules": body.rules},
        "Estimate the matches",
        branch,
        subject=_subject(run_id),
    )
    return RunOut.model_validate(steward.governing.direct_calls.start(access, call))


@router.get("/{weighing_id}")
def read_weighing(
    request: Request, access: AsAsked, run_id: RunId, weighing_id: RunId
) -> RunDetail:
    """How far it is, and what was found; for whoever began it."""
    steward = steward_of(request)
    found = steward.runs.get(access.scope, weighing_id)
    if found.subject != _subject(run_id) or found.created_by != access.user_id:
        raise NotFound(f"There is no weighing {weighing_id!r} of yours for the run {run_id!r}.")
    return run_detail(steward, access, weighing_id)


def _subject(run_id: str) -> str:
    return f"weighing:{run_id}"
