"""History of data: commits, differences, undo, redo, restore, branches, lineage, relations, files."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Request, status
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, attachment, page
from steward.api.guards import AsEditor, AsViewer
from steward.api.routes.datasets import ColumnOut, InsightOut, insight_out
from steward.api.routing import Router
from steward.api.types import BranchName, BranchPath, CommitId, Reference, VersionId
from steward.flows import DirectCall
from steward.identity import Access

router = Router(prefix="/projects/{project_id}", tags=["history"])


class EntryChangeOut(Output):
    kind: str
    name: str
    before: str | None
    after: str | None


class CommitOut(Output):
    id: str
    parent: str | None
    author: str
    message: str
    operation: str
    arguments: dict[str, Any]
    created_at: datetime
    run_id: str | None
    undoes: str | None
    redoes: str | None
    expired: bool
    changes: list[EntryChangeOut]


class BranchOut(Output):
    name: str
    head: str
    protected: bool
    created_at: datetime
    created_by: str


class BranchIn(Input):
    name: str = Field(min_length=1, max_length=100)
    source: str = Field("main", max_length=100)


class MergeIn(Input):
    source: str = Field(max_length=100)
    into: str = Field("main", max_length=100)


class MergeOut(Output):
    commit: CommitOut | None
    merged_rows: list[str]


class UndoIn(Input):
    commit: str | None = Field(None, max_length=40, description="Unset: the last one.")
    branch: str = Field("main", max_length=100)


class RedoIn(Input):
    branch: str = Field("main", max_length=100)


class RestoreIn(Input):
    commit: str = Field(max_length=100)
    branch: str = Field("main", max_length=100)
    datasets: list[str] | None = Field(None, max_length=500, description="Unset: the whole branch.")


class DependantOut(Output):
    commit: str
    message: str
    author: str
    created_at: datetime
    kind: str
    name: str
    reason: str


class UndoPlanOut(Output):
    commit: CommitOut
    entries: list[EntryChangeOut]
    dependants: list[DependantOut]
    blocked: list[str]


class ColumnChangeOut(Output):
    name: str
    kind: str
    before: str | None
    after: str | None


class DiffOut(Output):
    method: str
    key: list[str]
    columns: list[ColumnChangeOut]
    rows_before: int
    rows_after: int
    added: int
    removed: int
    changed: int
    changed_cells: dict[str, int]


class DiffRowOut(Output):
    kind: str
    row: int | None
    before: list[str | None] | None
    after: list[str | None] | None
    changed: list[str]


class DiffRowsOut(Output):
    before_columns: list[ColumnOut]
    after_columns: list[ColumnOut]
    rows: list[DiffRowOut]


class FileEntryOut(Output):
    path: str
    digest: str
    bytes: int


class LineageOut(Output):
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


@router.get("/commits")
def list_commits(
    request: Request,
    access: AsViewer,
    branch: BranchName = "main",
    dataset: Annotated[str | None, Query(max_length=300)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[CommitOut]:
    """What was done on a branch, or to one dataset of it: who, what, when; newest first."""
    datasets = steward_of(request).workbench.datasets
    items, following = page(
        lambda after, count: datasets.history(
            access.scope, access.user_id, dataset, branch=branch, after=after, limit=count
        ),
        lambda commit: commit.id,
        cursor,
        limit,
    )
    return Page(items=[CommitOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/commits/{commit_id}/undo", responses={409: {}})
def plan_undo(
    request: Request, access: AsViewer, commit_id: CommitId, branch: BranchName = "main"
) -> UndoPlanOut:
    """What undoing a commit would do, and who built upon it."""
    datasets = steward_of(request).workbench.datasets
    plan = datasets.undo_plan(access.scope, access.user_id, commit_id, branch)
    return UndoPlanOut.model_validate(plan)


@router.post("/undo")
async def undo_commit(request: Request, access: AsEditor, body: UndoIn) -> CommitOut:
    """Takes back a commit by a new one with the opposite changes."""
    return await _committed(
        request, access, DirectCall("undo", {"commit": body.commit}, branch=body.branch)
    )


@router.post("/redo")
async def redo_commit(request: Request, access: AsEditor, body: RedoIn) -> CommitOut:
    """Takes back the last undo."""
    return await _committed(request, access, DirectCall("redo", {}, branch=body.branch))


@router.post("/restore-data")
async def restore_data(request: Request, access: AsEditor, body: RestoreIn) -> CommitOut:
    """Brings datasets, or the whole branch, to the state of an earlier commit, as a new commit."""
    arguments = {"to": body.commit, "datasets": body.datasets}
    return await _committed(request, access, DirectCall("restore", arguments, branch=body.branch))


async def _committed(request: Request, access: Access, call: DirectCall) -> CommitOut:
    steward = steward_of(request)
    done = await steward.governing.direct_calls.run(access, call)

    def look() -> CommitOut:
        place = steward.workbench.datasets.workspace(access.scope, access.user_id)
        return CommitOut.model_validate(place.commit_at(done.commits[-1]))

    return await run_in_threadpool(look)


@router.get("/branches")
def list_branches(request: Request, access: AsViewer) -> Page[BranchOut]:
    found = steward_of(request).workbench.datasets.branches(access.scope, access.user_id)
    return Page(items=[BranchOut.model_validate(branch) for branch in found], next_cursor=None)


@router.post("/branches", status_code=status.HTTP_201_CREATED)
async def create_branch(request: Request, access: AsEditor, body: BranchIn) -> BranchOut:
    steward = steward_of(request)
    arguments = {"kind": "branch", "name": body.name, "source": body.source}
    made = await steward.governing.direct_calls.run(access, DirectCall("snapshot", arguments))

    def look() -> BranchOut:
        place = steward.workbench.datasets.workspace(access.scope, access.user_id)
        # Not the name that was sent: a secret in it was replaced.
        return BranchOut.model_validate(place.branch(made.value["name"]))

    return await run_in_threadpool(look)


@router.delete("/branches/{name:path}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_branch(request: Request, access: AsEditor, name: BranchPath) -> None:
    """Removes a branch that is done with; main and protected branches stay."""
    calls = steward_of(request).governing.direct_calls
    await calls.run(access, DirectCall("delete_branch", {"name": name}))


@router.post("/merge")
async def merge_branch(request: Request, access: AsEditor, body: MergeIn) -> MergeOut:
    """Brings a branch's changes into another; conflicts are named, and nothing is half merged."""
    steward = steward_of(request)
    call = DirectCall("promote", {"source": body.source}, branch=body.into)
    done = await steward.governing.direct_calls.run(access, call)

    def look() -> MergeOut:
        place = steward.workbench.datasets.workspace(access.scope, access.user_id)
        commit = (
            CommitOut.model_validate(place.commit_at(done.commits[-1])) if done.commits else None
        )
        return MergeOut(commit=commit, merged_rows=done.value.get("merged_rows", []))

    return await run_in_threadpool(look)


@router.get("/diff")
def diff_versions(
    request: Request,
    access: AsViewer,
    before: VersionId,
    after: VersionId,
    key: Annotated[list[str] | None, Query(max_length=20)] = None,
) -> DiffOut:
    """What changed between two versions, counted."""
    datasets = steward_of(request).workbench.datasets
    return DiffOut.model_validate(datasets.diff(access.scope, before, after, key=key))


@router.get("/diff/rows")
def diff_version_rows(
    request: Request,
    access: AsViewer,
    before: VersionId,
    after: VersionId,
    key: Annotated[list[str] | None, Query(max_length=20)] = None,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> DiffRowsOut:
    """The differing rows, page by page."""
    datasets = steward_of(request).workbench.datasets
    found = datasets.diff_rows(access.scope, before, after, key=key, offset=offset, limit=limit)
    return DiffRowsOut.model_validate(found)


@router.get("/relations")
def read_relations(request: Request, access: AsViewer, branch: BranchName = "main") -> InsightOut:
    """Keys and foreign keys across the datasets, with coverage, orphans and suggested joins."""
    insights = steward_of(request).workbench.insights
    known = insights.known_relations(access.scope, access.user_id, branch)
    call = DirectCall(
        "relate", {}, "Relate the datasets", branch, subject=f"relations:{branch}"[:200]
    )
    return insight_out(request, access, known, call)


@router.get("/lineage")
def read_lineage(request: Request, access: AsViewer, branch: BranchName = "main") -> LineageOut:
    """Which dataset was made from which, and by what, down to columns."""
    insights = steward_of(request).workbench.insights
    return LineageOut(**insights.lineage(access.scope, access.user_id, branch))


@router.get("/lineage/openlineage")
def export_lineage(
    request: Request, access: AsViewer, branch: BranchName = "main"
) -> list[dict[str, Any]]:
    """How the datasets of a branch were made, as OpenLineage events for other catalogues, newest first."""
    insights = steward_of(request).workbench.insights
    return insights.openlineage(access.scope, access.user_id, branch)


@router.get("/files")
def list_files(request: Request, access: AsViewer, at: Reference = "main") -> Page[FileEntryOut]:
    """Original files of a branch or commit, as they came."""
    workspace = steward_of(request).workbench.datasets.workspace(access.scope, access.user_id)
    return Page(
        items=[FileEntryOut.model_validate(file) for file in workspace.files(at)],
        next_cursor=None,
    )


@router.get(
    "/files/content",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The bytes."}},
)
def download_file(
    request: Request,
    access: AsViewer,
    path: Annotated[str, Query(min_length=1, max_length=1000)],
    at: Reference = "main",
) -> StreamingResponse:
    workspace = steward_of(request).workbench.datasets.workspace(access.scope, access.user_id)
    chunks = workspace.read_file(path, at)
    # Always a download of bytes: a hostile file must not run as a page of this site.
    return StreamingResponse(
        chunks,
        media_type="application/octet-stream",
        headers=attachment(path.rpartition("/")[2]),
    )
