"""Changing data: operations with their forms, previews with counts, and the commit."""

from typing import Any

from fastapi import Request, status
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page
from steward.api.guards import AsEditor, AsViewer
from steward.api.routes.datasets import ColumnOut
from steward.api.routes.history import CommitOut, DiffOut
from steward.api.routing import Router
from steward.flows import DirectCall
from steward.identity import Access
from steward.tools import change_arguments
from steward.workbench import Workbench

router = Router(prefix="/projects/{project_id}", tags=["changes"])


class OperationOut(Output):
    name: str
    title: str
    description: str
    datasets: str
    arguments: dict[str, Any]


class ChangeIn(Input):
    operation: str = Field(max_length=100, examples=["trim"])
    datasets: list[str] = Field(min_length=1, max_length=20)
    arguments: dict[str, Any] = Field(default_factory=dict)
    target: str | None = Field(
        None, max_length=200, description="Name of the result; unset: the dataset itself."
    )
    branch: str = Field("main", max_length=100)
    base: str | None = Field(None, max_length=40, description="The commit a preview was made from.")


class CellOut(Output):
    row: int
    column: str | None
    old: str | None
    new: str | None


class RowsPreview(Output):
    columns: list[ColumnOut]
    rows: list[list[str | None]]


class ChangePreview(Output):
    operation: str
    arguments: dict[str, Any]
    summary: str
    counts: dict[str, int]
    warnings: list[str]
    target: str
    preview: RowsPreview
    cells: list[CellOut]
    leftovers: list[CellOut]
    rows_before: int | None
    base: str


class AppliedOut(Output):
    commit: CommitOut
    diff: DiffOut | None


@router.get("/operations")
def list_operations(request: Request, _access: AsViewer) -> Page[OperationOut]:
    """Everything that can be done to a dataset, with the JSON Schema of its arguments."""
    found = steward_of(request).workbench.operations.catalogue()
    return Page(items=[OperationOut.model_validate(item) for item in found], next_cursor=None)


@router.post("/changes/preview")
def preview_change(request: Request, access: AsEditor, body: ChangeIn) -> ChangePreview:
    """What would happen: counts, changed cells, first rows. Nothing is written."""
    operations = steward_of(request).workbench.operations
    planned = operations.plan(
        access.scope,
        access.user_id,
        body.operation,
        body.datasets,
        body.arguments,
        target=body.target,
        branch=body.branch,
    )
    return ChangePreview.model_validate(planned)


@router.post("/changes", status_code=status.HTTP_201_CREATED)
async def apply_change(request: Request, access: AsEditor, body: ChangeIn) -> AppliedOut:
    """Carries it out as one commit, which can be undone; refused when the data changed since `base`."""
    tool, arguments = change_arguments(
        body.operation, body.datasets, body.arguments, body.target, body.base
    )
    call = DirectCall(tool, arguments, branch=body.branch, seen=body.base is not None)
    steward = steward_of(request)
    done = await steward.governing.direct_calls.run(access, call)
    return await run_in_threadpool(_applied, steward.workbench, access, done.commits[-1])


def _applied(workbench: Workbench, access: Access, commit_id: str) -> AppliedOut:
    commit = workbench.datasets.workspace(access.scope, access.user_id).commit_at(commit_id)
    changed = next((each for each in commit.changes if each.kind == "dataset"), None)
    diff = None
    if changed is not None and changed.before and changed.after:
        found = workbench.datasets.diff(access.scope, changed.before, changed.after)
        diff = DiffOut.model_validate(found)
    return AppliedOut(commit=CommitOut.model_validate(commit), diff=diff)
