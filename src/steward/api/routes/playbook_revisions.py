"""Revisions of playbooks: read and compared."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request
from pydantic import Field

from steward.api.documents import Cursor, Limit, Output, Page, page
from steward.api.guards import AsViewer
from steward.api.playbook_documents import PlaybookId, playbooks_of
from steward.api.routes.events import number
from steward.api.routes.playbook_deployments import ChangedPinOut
from steward.api.routing import Router
from steward.playbooks import Revision

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
NumberQuery = Annotated[int, Query(ge=1, le=2**31 - 1)]


class RevisionOut(Output):
    number: int
    hash: str
    message: str
    author: str
    created_at: datetime


class RevisionDetail(RevisionOut):
    text: str
    layout: dict[str, Any] | None = Field(description="Where an editor draws the nodes.")


class FieldChangeOut(Output):
    pointer: str
    before: Any
    after: Any
    was_there: bool
    is_there: bool


class NodeChangeOut(Output):
    key: str = Field(description="The node, as the canvas names it: `outer/inner` inside another.")
    type: str
    title: str
    state: Literal["added", "removed", "changed", "moved"]
    from_key: str | None
    fields: list[FieldChangeOut]


class EdgeChangeOut(Output):
    before: str
    after: str
    port: str
    state: Literal["added", "removed"]


class ComparisonOut(Output):
    left: int
    right: int
    nodes: list[NodeChangeOut]
    edges: list[EdgeChangeOut]
    settings: list[FieldChangeOut] = Field(description="What differs outside the graph.")
    placed: list[str] = Field(description="Nodes that are only drawn elsewhere.")
    parts: list[ChangedPinOut] = Field(
        description="What differs around them: what each one pinned when last deployed, or would pin now."
    )


class LinesOut(Output):
    lines: list[str]


@router.get("/{playbook_id}/revisions")
def list_playbook_revisions(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[RevisionOut]:
    """Newest first."""
    library = playbooks_of(request).library

    def fetch(before: str | None, count: int) -> list[Revision]:
        return library.revisions(access, playbook_id, before=number(before), limit=count)

    items, following = page(fetch, lambda item: str(item.number), cursor, limit)
    return Page(items=[RevisionOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/{playbook_id}/revisions/{revision}")
def read_playbook_revision(
    request: Request, access: AsViewer, playbook_id: PlaybookId, revision: Number
) -> RevisionDetail:
    found = playbooks_of(request).library.revision(access, playbook_id, revision)
    return RevisionDetail.model_validate(found)


@router.get("/{playbook_id}/diff")
def diff_playbook_revisions(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    left: NumberQuery,
    right: NumberQuery,
) -> LinesOut:
    """What differs between two revisions, in lines that people read."""
    lines = playbooks_of(request).library.diff(access, playbook_id, left, right)
    return LinesOut(lines=lines)


@router.get("/{playbook_id}/comparison")
def compare_playbook_revisions(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    left: NumberQuery,
    right: NumberQuery,
) -> ComparisonOut:
    """Two revisions side by side: nodes added, removed, changed or moved, each with its fields."""
    found = playbooks_of(request).deploying.comparison(access, playbook_id, left, right)
    return ComparisonOut.model_validate(found)
