"""Revisions of playbooks: read, compared, deployed, rolled back."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import PlaybookId, PlaybookOut, changed, playbooks_of
from steward.api.routes.events import number
from steward.playbooks import Revision

router = APIRouter(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

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


class DeployIn(Input):
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")


class LinesOut(Output):
    lines: list[str]


def _revision_out(revision: Revision) -> RevisionOut:
    return RevisionOut.model_validate(revision)


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
    return Page(items=[_revision_out(item) for item in items], next_cursor=following)


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


@router.post("/{playbook_id}/deploy")
def deploy_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: DeployIn, response: Response
) -> PlaybookOut:
    """Makes a revision the one that people and triggers run."""
    done = playbooks_of(request).deploying.deploy(access, playbook_id, body.revision)
    return changed(response, done)


@router.post("/{playbook_id}/rollback")
def roll_back_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """Deploys what was deployed before."""
    return changed(response, playbooks_of(request).deploying.roll_back(access, playbook_id))
