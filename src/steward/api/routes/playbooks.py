"""Playbooks: written, read, shared, put away; hidden from everybody they are not shared with."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Request, Response, status
from pydantic import Field

from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Output,
    Page,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsEditor, AsViewer, AsViewerOrRunner
from steward.api.playbook_documents import (
    PlaybookId,
    PlaybookOut,
    PlaybookProblem,
    SourceIn,
    StateName,
    card_for,
    changed,
    playbooks_of,
)
from steward.api.routing import Router
from steward.core import Invalid
from steward.identity import Access, Role
from steward.playbooks import Allowed, Card, State, as_json, as_yaml, playbook_schema

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])


class PlaybookDetail(PlaybookOut):
    document: dict[str, Any] = Field(description="The newest revision.")
    yaml: str = Field(description="The same as it is exported.")
    source: str = Field(
        description="The newest revision as people wrote it, comments and order kept; without who may see it."
    )
    layout: dict[str, Any] = Field(description="Where an editor draws its nodes.")
    inputs: dict[str, Any] = Field(
        description="JSON Schema of what the deployed revision is given."
    )
    may_edit: bool
    may_run: bool


class CheckedPlaybook(Output):
    valid: bool
    problems: list[PlaybookProblem]
    yaml: str | None = Field(description="The document in its one order.")


class PresenceIn(Input):
    is_editing: bool = Field(description="Whether the caller has changes that are not saved.")


class WatcherOut(Output):
    user_id: str
    is_editing: bool
    seen_at: datetime


class PresenceOut(Output):
    others: list[WatcherOut] = Field(description="Who else has it open, without the caller.")


class SharingIn(Input):
    owner: str = Field(max_length=200, description="E-mail address.")
    allowed: Allowed


@router.get("")
def list_playbooks(
    request: Request,
    access: AsViewerOrRunner,
    q: Annotated[str, Query(max_length=200)] = "",
    folder: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[list[StateName] | None, Query()] = None,
    deleted: bool = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[PlaybookOut]:
    """Those the caller may see; drafts and active ones unless other states are asked for."""
    library = playbooks_of(request).library
    states = [State(each) for each in state or ("draft", "active")]

    def fetch(after: str | None, count: int) -> list[Card]:
        return library.listed(
            access, text=q, folder=folder, states=states, deleted=deleted, after=after, limit=count
        )

    items, following = page(fetch, lambda card: card.id, cursor, limit)
    return Page(items=[card_for(access, card) for card in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_playbook(
    request: Request, access: AsEditor, body: SourceIn, response: Response
) -> PlaybookOut:
    """A new draft of the caller's."""
    made = playbooks_of(request).library.create(
        access, body.source, message=body.message, layout=body.layout
    )
    return changed(response, made)


@router.get("/schema")
def read_playbook_schema(_request: Request, _access: AsViewer) -> dict[str, Any]:
    """The JSON Schema of playbooks."""
    return playbook_schema()


@router.post("/check")
def check_playbook(request: Request, access: AsViewer, body: SourceIn) -> CheckedPlaybook:
    """Everything wrong with a playbook, each with its place and its line."""
    try:
        playbook, _ = playbooks_of(request).library.checked(access, body.source)
    except Invalid as problem:
        found = [PlaybookProblem(pointer=p.pointer, message=p.message) for p in problem.problems]
        whole = found or [PlaybookProblem(pointer="", message=problem.message)]
        return CheckedPlaybook(valid=False, problems=whole, yaml=None)
    return CheckedPlaybook(valid=True, problems=[], yaml=as_yaml(playbook))


@router.get("/{playbook_id}")
def read_playbook(
    request: Request, access: AsViewerOrRunner, playbook_id: PlaybookId, response: Response
) -> PlaybookDetail:
    library = playbooks_of(request).library
    card = library.get(access, playbook_id)
    head = library.revision_of(access.scope, card, card.head)
    running = newest = head.playbook
    if card.deployed is not None:
        running = library.revision_of(access.scope, card, card.deployed).playbook
    whole = library.with_people(access, card, newest)
    if access.role is Role.runner:
        # What runs is theirs to read; what is being written, and for whom, is not.
        whole = running.model_copy(update={"owner": None, "allowed": None})
    is_shown = access.role is not Role.runner
    set_etag(response, card.version)
    return PlaybookDetail(
        **card_for(access, card).model_dump(),
        document=as_json(whole),
        yaml=as_yaml(whole),
        source=head.written if is_shown else as_yaml(whole),
        layout=dict(head.layout or {}) if is_shown else {},
        inputs=running.inputs,
        may_edit=access.role >= Role.editor and card.state is not State.archived,
        may_run=_may_run(access, card),
    )


def _may_run(access: Access, card: Card) -> bool:
    may = access.role >= Role.editor if card.state is State.draft else access.role.acts
    return may and card.state is not State.archived


@router.put("/{playbook_id}")
def save_playbook(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    body: SourceIn,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """A new revision; what is deployed stays as it is until somebody deploys this one."""
    version = revision_from(if_match)
    library = playbooks_of(request).library
    saved = library.save(
        access, playbook_id, version, body.source, message=body.message, layout=body.layout
    )
    return changed(response, saved)


@router.put("/{playbook_id}/presence")
def announce_presence(
    request: Request, access: AsViewer, playbook_id: PlaybookId, body: PresenceIn
) -> PresenceOut:
    """Says that the caller has it open, and tells who else does. Say it again every 20 seconds."""
    there = playbooks_of(request).presence.announce(access, playbook_id, is_editing=body.is_editing)
    return PresenceOut(others=[WatcherOut.model_validate(each) for each in there])


@router.delete("/{playbook_id}/presence", status_code=status.HTTP_204_NO_CONTENT)
def end_presence(request: Request, access: AsViewer, playbook_id: PlaybookId) -> None:
    """Says that the caller closed it."""
    playbooks_of(request).presence.leave(access, playbook_id)


@router.post("/{playbook_id}/archive")
def archive_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """No one can run it, and its triggers are off. You can restore or delete it."""
    return changed(response, playbooks_of(request).deploying.archive(access, playbook_id))


@router.post("/{playbook_id}/unarchive")
def unarchive_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """Brings it back, deployed as it was."""
    return changed(response, playbooks_of(request).deploying.bring_back(access, playbook_id))


@router.delete("/{playbook_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, if_match: IfMatch = None
) -> None:
    """An archived playbook alone; it can be restored for thirty days."""
    playbooks_of(request).library.delete(access, playbook_id, revision_from(if_match))


@router.post("/{playbook_id}/restore")
def restore_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    return changed(response, playbooks_of(request).library.restore(access, playbook_id))


@router.put("/{playbook_id}/sharing")
def share_playbook(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    body: SharingIn,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """Who may see it: operators among them run it, editors change it."""
    version = revision_from(if_match)
    library = playbooks_of(request).library
    shared = library.share(access, playbook_id, version, body.allowed, body.owner)
    return changed(response, shared)
