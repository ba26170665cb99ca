"""Take back a whole run, or a change together with the later changes that depend on it."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsOperator, AsViewer
from steward.api.routing import Router
from steward.api.visibility import Visibility
from steward.app import Steward
from steward.broker import Step, Whole
from steward.core import Invalid
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/take-back", tags=["runs"])


class TakeBackIn(Input):
    run_id: str | None = Field(None, max_length=40, description="The run to take back.")
    key: str | None = Field(
        None, max_length=400, description="Only this action of the run; unset: all of them."
    )
    commit: str | None = Field(
        None, max_length=40, description="A commit to take back, instead of a run."
    )
    branch: str = Field("main", max_length=100, description="The branch of the commit.")
    with_later: bool = Field(
        False, description="Also take back the later changes that depend on it."
    )


class TakeBackStepOut(Output):
    run_id: str | None
    key: str | None
    commit: str | None
    summary: str
    at: datetime
    by: str
    later: bool = Field(description="A later change that depends on what is taken back.")


class TakeBackPlanOut(Output):
    steps: list[TakeBackStepOut] = Field(description="What goes back, newest first.")
    blocked: list[str] = Field(
        description="Datasets and files that later changes edited: those must go back too."
    )
    left: list[str] = Field(description="What stays because it cannot be undone.")


class TakenBackOut(Output):
    run_id: str = Field(description="The run that took it back.")
    count: int


@router.get("")
def plan_take_back(
    request: Request,
    access: AsViewer,
    run_id: Annotated[str | None, Query(max_length=40)] = None,
    key: Annotated[str | None, Query(max_length=400)] = None,
    commit: Annotated[str | None, Query(max_length=40)] = None,
    branch: Annotated[str, Query(max_length=100)] = "main",
) -> TakeBackPlanOut:
    """What would go back, which later changes depend on it, and what stays. Nothing is changed."""
    steward = steward_of(request)
    whole = _whole(run_id, key, commit, branch)
    plan = steward.governing.undoing.plan_whole(access.scope, whole)
    seeing = Visibility(steward, access)
    return TakeBackPlanOut(
        steps=[_step_out(step, seeing) for step in plan.steps],
        blocked=list(plan.blocked),
        left=[action.summary for action in plan.left],
    )


@router.post("")
async def take_back(request: Request, access: AsOperator, body: TakeBackIn) -> TakenBackOut:
    """Takes back all that a run changed, or one change and what depends on it, in one call."""
    steward = steward_of(request)
    whole = _whole(body.run_id, body.key, body.commit, body.branch)
    if whole.run_id is not None:
        # The guard reads ids in addresses alone.
        await asyncio.to_thread(_refuse_hidden, steward, access, whole.run_id)
    done = await steward.governing.undoing.take_back(access, whole, with_later=body.with_later)
    return TakenBackOut(run_id=done.run.id, count=done.value["count"])


def _whole(run_id: str | None, key: str | None, commit: str | None, branch: str) -> Whole:
    if (run_id is None) is (commit is None):
        raise Invalid("Name either a run or a commit to take back.")
    return Whole(run_id, key, commit, branch)


def _refuse_hidden(steward: Steward, access: Access, run_id: str) -> None:
    Visibility(steward, access).refuse_hidden(runs=[run_id])


def _step_out(step: Step, seeing: Visibility) -> TakeBackStepOut:
    """A change of a hidden run is listed as the history lists it: without its run."""
    shown = step.run_id is None or seeing.run(step.run_id)
    return TakeBackStepOut.model_validate(step if shown else replace(step, run_id=None, key=None))
