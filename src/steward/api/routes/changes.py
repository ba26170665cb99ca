"""Changing data: operations with their forms, previews with counts, and the commit."""

from typing import Any

from fastapi import APIRouter, Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page
from steward.api.guards import AsEditor, AsViewer
from steward.api.routes.datasets import ColumnOut
from steward.api.routes.history import CommitOut, DiffOut, commit_out

router = APIRouter(prefix="/projects/{project_id}", tags=["changes"])


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
def apply_change(request: Request, access: AsEditor, body: ChangeIn) -> AppliedOut:
    """Carries it out as one commit, which can be undone; refused when the data changed since `base`."""
    operations = steward_of(request).workbench.operations
    applied = operations.apply(
        access.scope,
        access.user_id,
        body.operation,
        body.datasets,
        body.arguments,
        target=body.target,
        branch=body.branch,
        base=body.base,
    )
    diff = DiffOut.model_validate(applied.diff) if applied.diff else None
    return AppliedOut(commit=commit_out(applied.commit), diff=diff)
