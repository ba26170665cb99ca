"""The inbox: what waits for a person, and what they decide."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsOperator, AsOperatorOrRunner, AsViewerOrRunner
from steward.api.routing import Router
from steward.api.types import ApprovalId
from steward.api.visibility import Visibility, kept
from steward.broker import Approval, Extent, State, Verdict

router = Router(prefix="/projects/{project_id}", tags=["approvals"])


class ApprovalOut(Output):
    id: str
    run_id: str
    wait_key: str
    tool: str
    title: str
    risk: str
    body: Any
    body_hash: str
    asked_body: Any = Field(description="What was asked before somebody edited it.")
    edited_by: str | None
    preview: Any
    provenance: Any
    rules: list[dict[str, Any]]
    approvers: list[str]
    four_eyes: bool = Field(description="Whether none of `askers` may approve it.")
    askers: list[str] = Field(
        description="Who asked for it: who started the run, and who edited it."
    )
    reason: str
    extent: Extent
    batch: list[Any]
    status: State
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    delegated_to: str | None
    delegated_by: str | None
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str | None


class WaitingOut(Output):
    kind: str
    run_id: str
    run_title: str
    key: str
    title: str
    asked_at: datetime
    expires_at: datetime | None
    request: Any
    approval: ApprovalOut | None
    may_open: bool = Field(description="Whether the caller may look at the run itself.")


class DecisionIn(Input):
    approve: bool
    body_hash: str = Field(
        pattern="^[0-9a-f]{64}$", description="The hash of what you saw: you decide about that."
    )
    reason: str = Field("", max_length=1000, description="Needed for a rejection.")
    extent: Extent = Extent.single
    arguments: dict[str, Any] | None = Field(
        None,
        description="Edited arguments: policy decides about the call with these. If others must approve it, "
        "the answer has the status `edited` and they are asked.",
    )


class DelegateIn(Input):
    user_id: str = Field(max_length=40)


@router.get("/inbox")
def read_inbox(request: Request, access: AsViewerOrRunner) -> Page[WaitingOut]:
    """Everything that waits for the caller, what ends soonest first."""
    steward = steward_of(request)
    seeing = Visibility(steward, access)
    items = [
        WaitingOut.model_validate({**vars(item), "may_open": seeing.run(item.run_id)})
        for item in steward.governing.inbox.waiting(access)
        if seeing.waiting(item)
    ]
    return Page(items=items, next_cursor=None)


@router.get("/approvals")
def list_approvals(
    request: Request,
    access: AsViewerOrRunner,
    state: Annotated[State | None, Query(alias="status")] = None,
    run_id: Annotated[str | None, Query(max_length=40)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ApprovalOut]:
    """Newest first."""
    approvals = steward_of(request).governing.approvals

    def fetch(before: str | None, count: int) -> list[Approval]:
        return approvals.listed(access, status=state, run_id=run_id, before=before, limit=count)

    seeing = Visibility(steward_of(request), access)
    shown = kept(fetch, seeing.approval, lambda approval: approval.id)
    items, following = page(shown, lambda approval: approval.id, cursor, limit)
    return Page(items=[ApprovalOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/approvals/{approval_id}")
def read_approval(
    request: Request, access: AsViewerOrRunner, approval_id: ApprovalId
) -> ApprovalOut:
    return ApprovalOut.model_validate(
        steward_of(request).governing.approvals.get(access, approval_id)
    )


@router.post("/approvals/{approval_id}/decision")
async def decide_approval(
    request: Request, access: AsOperatorOrRunner, approval_id: ApprovalId, body: DecisionIn
) -> ApprovalOut:
    """Approves or rejects exactly what was seen; edited arguments are checked, decided and previewed first."""
    deciding = steward_of(request).governing.deciding
    verdict = Verdict(body.approve, body.body_hash, body.reason, body.extent)
    found = await deciding.decide(access, approval_id, verdict, body.arguments)
    return ApprovalOut.model_validate(found)


@router.post("/approvals/{approval_id}/delegate")
def delegate_approval(
    request: Request, access: AsOperator, approval_id: ApprovalId, body: DelegateIn
) -> ApprovalOut:
    """Passes the decision on to somebody else of the project."""
    approvals = steward_of(request).governing.approvals
    return ApprovalOut.model_validate(approvals.delegate(access, approval_id, body.user_id))
