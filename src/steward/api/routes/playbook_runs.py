"""Runs of playbooks: started with a form's inputs, and those there were."""

from typing import Any, Literal

from fastapi import Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, decode_cursor, encode_cursor
from steward.api.guards import AsOperatorOrRunner, AsViewerOrRunner
from steward.api.playbook_documents import PlaybookId, playbooks_of
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import BranchName
from steward.identity import Role
from steward.playbooks import subject_of

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])


class RunIn(Input):
    inputs: dict[str, Any] = Field(default_factory=dict)
    revision: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Unset: the deployed one; editors may try another."
    )
    branch: str = Field("main", min_length=1, max_length=100)


class PlaybookRunOut(RunOut):
    revision: int | None


@router.post("/{playbook_id}/runs", status_code=status.HTTP_201_CREATED)
def run_playbook(
    request: Request, access: AsOperatorOrRunner, playbook_id: PlaybookId, body: RunIn
) -> RunOut:
    """Starts a run of the deployed revision; it stays with that revision to its end."""
    return RunOut.model_validate(
        playbooks_of(request).running.start(
            access, playbook_id, body.inputs, revision=body.revision, branch=body.branch
        )
    )


class NeededColumnOut(Output):
    name: str
    kind: Literal["any", "number", "date"]
    read_from: str = Field(description="Its name in the dataset that is read.")
    type: str | None = Field(description="Null where that dataset has no such column.")


class NeedOut(Output):
    kind: Literal["dataset", "connection"]
    name: str
    read_from: str = Field(description="The dataset that stands for it.")
    problem: str | None
    columns: list[NeededColumnOut]


class NeedsOut(Output):
    items: list[NeedOut]


@router.get("/{playbook_id}/needs")
def list_playbook_needs(
    request: Request, access: AsViewerOrRunner, playbook_id: PlaybookId, branch: BranchName = "main"
) -> NeedsOut:
    """The datasets and connections that a run on a branch would need, each with what is missing there."""
    found = playbooks_of(request).running.needs(access, playbook_id, branch=branch)
    return NeedsOut(items=[NeedOut.model_validate(each) for each in found])


@router.get("/{playbook_id}/runs")
def list_playbook_runs(
    request: Request,
    access: AsViewerOrRunner,
    playbook_id: PlaybookId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[PlaybookRunOut]:
    """Its runs, newest first, each with the revision it was started with."""
    steward = steward_of(request)
    card = steward.playbooks.library.get(access, playbook_id)
    before = decode_cursor(cursor)
    subject = subject_of(card.id)
    author = access.user_id if access.role is Role.runner else None
    found = steward.runs.records.listed(
        access.scope, subject=subject, author=author, before=before, limit=limit + 1
    )
    items = [
        PlaybookRunOut(
            **RunOut.model_validate(run).model_dump(),
            revision=steward.playbooks.running.pin(access.scope, run.id),
        )
        for run in found[:limit]
    ]
    more = encode_cursor(items[-1].id) if len(found) > limit else None
    return Page(items=items, next_cursor=more)
