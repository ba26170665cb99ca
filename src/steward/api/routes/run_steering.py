"""Runs are steered: paused, ended, answered, stopped before something goes out."""

from typing import Any

from fastapi import Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input
from steward.api.guards import AsAsked, AsOperator, AsOperatorOrRunner
from steward.api.routing import Router
from steward.api.run_documents import KeyIn, RunOut, StepKey
from steward.api.types import RunId
from steward.api.visibility import Visibility
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/runs", tags=["runs"])


class AnswerIn(Input):
    key: StepKey
    answer: Any = Field(description="What the wait asked for.")


@router.post("/{run_id}/pause")
def pause_run(request: Request, access: AsOperator, run_id: RunId) -> RunOut:
    """It stops before its next step; what has begun is finished and recorded."""
    return _control(request, access, run_id, "pause")


@router.post("/{run_id}/resume")
def resume_run(request: Request, access: AsOperator, run_id: RunId) -> RunOut:
    return _control(request, access, run_id, "resume")


@router.post("/{run_id}/cancel")
def cancel_run(request: Request, access: AsOperatorOrRunner, run_id: RunId) -> RunOut:
    """It ends before its next step, and so do the runs it started; queries and code that run are stopped."""
    return _control(request, access, run_id, "cancel")


def _control(request: Request, access: Access, run_id: str, action: str) -> RunOut:
    records = steward_of(request).runs.records
    return RunOut.model_validate(records.control(access.scope, run_id, action, access.user_id))


@router.post("/{run_id}/answers", status_code=status.HTTP_204_NO_CONTENT)
def answer_run(request: Request, access: AsAsked, run_id: RunId, body: AnswerIn) -> None:
    """Answers a question, a budget request or an uncertain effect; approvals have their own address."""
    Visibility(steward_of(request), access).refuse_unasked(run_id, body.key)
    steward_of(request).governing.inbox.answer(access, run_id, body.key, body.answer)


@router.post("/{run_id}/take-back", status_code=status.HTTP_204_NO_CONTENT)
def take_back_send(
    request: Request, access: AsOperatorOrRunner, run_id: RunId, body: KeyIn
) -> None:
    """Stops a message within the seconds before it goes out."""
    steward_of(request).governing.approvals.take_back(access, run_id, body.key)
