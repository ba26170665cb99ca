"""Playbooks: written, shared, deployed, run, taken back; hidden from everybody they are not shared with."""

from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from typing import Annotated, Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from fastapi import APIRouter, Path, Query, Request, Response, status
from pydantic import Field, model_validator

from steward.api.context import steward_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Output,
    Page,
    attachment,
    decode_cursor,
    encode_cursor,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsEditor, AsOperatorOrRunner, AsViewer, AsViewerOrRunner
from steward.api.routes.events import number
from steward.api.routes.runs import RunOut, run_out
from steward.core.errors import Invalid
from steward.identity import Access, Role
from steward.playbooks import (
    Allowed,
    Armed,
    Card,
    Playbooks,
    Revision,
    State,
    as_json,
    as_yaml,
    playbook_schema,
    subject_of,
)

router = APIRouter(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

PlaybookId = Annotated[
    str,
    Path(
        pattern=r"^(pbk_[0-9a-z]{26}|[a-z][a-z0-9-]{0,59})$",
        description="Id of the playbook, or the id that its document has.",
        examples=["monthly-costs"],
    ),
]
TriggerName = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$", examples=["schedule"])]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
NumberQuery = Annotated[int, Query(ge=1, le=2**31 - 1)]
StateName = Literal["draft", "active", "archived"]


class SharingOut(Output):
    users: list[str]
    groups: list[str]
    everyone: bool


class PlaybookOut(Output):
    id: str
    slug: str
    name: str
    folder: str
    goal: str
    state: StateName
    head: int
    deployed: int | None
    previous: int | None = Field(description="The revision that rolling back would deploy.")
    owner: str
    allowed: SharingOut
    created_by: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    version: int


class PlaybookDetail(PlaybookOut):
    document: dict[str, Any] = Field(description="The newest revision.")
    yaml: str = Field(description="The same as it is exported.")
    inputs: dict[str, Any] = Field(
        description="JSON Schema of what the deployed revision is given."
    )
    may_edit: bool
    may_run: bool


class RevisionOut(Output):
    number: int
    hash: str
    message: str
    author: str
    created_at: datetime


class RevisionDetail(RevisionOut):
    text: str


class SourceIn(Input):
    yaml: str | None = Field(None, max_length=1_000_000, description="The document as YAML.")
    document: dict[str, Any] | None = Field(None, description="The same as JSON.")
    message: str = Field("", max_length=400, description="What is new, for the list of versions.")

    @model_validator(mode="after")
    def _one_of_both(self) -> "SourceIn":
        if (self.yaml is None) == (self.document is None):
            raise ValueError("give either yaml or document")
        return self

    @property
    def source(self) -> str | Mapping[str, Any]:
        return self.yaml if self.yaml is not None else self.document or {}


class ImportIn(Input):
    yaml: str = Field(max_length=1_000_000)
    message: str = Field("", max_length=400)
    mine: bool = Field(False, description="Leave out whom it belongs to and is shared with.")


class ImportOut(Output):
    change: Literal["created", "changed", "unchanged"]
    playbook: PlaybookOut


class PlaybookProblem(Output):
    pointer: str
    message: str


class CheckedPlaybook(Output):
    valid: bool
    problems: list[PlaybookProblem]
    yaml: str | None = Field(description="The document in its one order.")


class DeployIn(Input):
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")


class RunIn(Input):
    inputs: dict[str, Any] = Field(default_factory=dict)
    revision: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Unset: the deployed one; editors may try another."
    )
    branch: str = Field("main", min_length=1, max_length=100)


class PlaybookRunOut(RunOut):
    revision: int | None


class TriggerOut(Output):
    name: str
    type: str
    enabled: bool
    next_at: datetime | None
    last_at: datetime | None
    details: dict[str, Any]


class TriggerIn(Input):
    type: str = Field("cron", max_length=40)
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Fields of the trigger, such as `cron` and `time_zone`."
    )


class SwitchIn(Input):
    enabled: bool


class SharingIn(Input):
    owner: str = Field(max_length=200, description="E-mail address.")
    allowed: Allowed


class LinesOut(Output):
    lines: list[str]


def _playbooks(request: Request) -> Playbooks:
    return steward_of(request).playbooks


def card_out(card: Card) -> PlaybookOut:
    return PlaybookOut.model_validate(card)


def _card_for(access: Access, card: Card) -> PlaybookOut:
    """A runner is not told with whom else it is shared."""
    shown = card_out(card)
    if access.role is not Role.runner:
        return shown
    return shown.model_copy(update={"allowed": SharingOut(users=[], groups=[], everyone=False)})


def _changed(response: Response, card: Card) -> PlaybookOut:
    set_etag(response, card.version)
    return card_out(card)


def _revision_out(revision: Revision) -> RevisionOut:
    return RevisionOut.model_validate(revision)


def _triggers(found: list[Armed]) -> Page[TriggerOut]:
    return Page(items=[TriggerOut.model_validate(each) for each in found], next_cursor=None)


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
    library = _playbooks(request).library
    states = [State(each) for each in state or ("draft", "active")]

    def fetch(after: str | None, count: int) -> list[Card]:
        return library.listed(
            access, text=q, folder=folder, states=states, deleted=deleted, after=after, limit=count
        )

    items, following = page(fetch, lambda card: card.id, cursor, limit)
    return Page(items=[_card_for(access, card) for card in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_playbook(
    request: Request, access: AsEditor, body: SourceIn, response: Response
) -> PlaybookOut:
    """A new draft of the caller's."""
    made = _playbooks(request).library.create(access, body.source, message=body.message)
    return _changed(response, made)


@router.get("/schema")
def read_playbook_schema(_request: Request, _access: AsViewer) -> dict[str, Any]:
    """The JSON Schema of playbooks."""
    return playbook_schema()


@router.post("/check")
def check_playbook(request: Request, access: AsViewer, body: SourceIn) -> CheckedPlaybook:
    """Everything wrong with a playbook, each with its place and its line."""
    try:
        playbook, _ = _playbooks(request).library.checked(access, body.source)
    except Invalid as problem:
        found = [PlaybookProblem(pointer=p.pointer, message=p.message) for p in problem.problems]
        whole = found or [PlaybookProblem(pointer="", message=problem.message)]
        return CheckedPlaybook(valid=False, problems=whole, yaml=None)
    return CheckedPlaybook(valid=True, problems=[], yaml=as_yaml(playbook))


@router.post("/import")
def import_playbook(request: Request, access: AsEditor, body: ImportIn) -> ImportOut:
    """Takes in one file: a new draft, a new revision, or nothing when nothing differs."""
    done = _playbooks(request).exchange.bring_in(
        access, body.yaml, message=body.message, mine=body.mine
    )
    return ImportOut.model_validate({"change": done.change.value, "playbook": done.card})


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "One file each."}},
)
def export_playbooks(request: Request, access: AsViewer) -> Response:
    """Every playbook the caller sees, one file each; the same playbooks give the same bytes."""
    library = _playbooks(request).library
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        cards = library.listed(access, states=tuple(State), limit=10_000)
        for card in sorted(cards, key=lambda each: (each.folder, each.slug)):
            place = f"{card.folder}/" if card.folder else ""
            entry = ZipInfo(f"{place}{card.slug}.yaml")
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, library.text(access, card.id))
    content = packed.getvalue()
    return Response(
        content, media_type="application/zip", headers=attachment("playbooks.zip", len(content))
    )


@router.get("/{playbook_id}")
def read_playbook(
    request: Request, access: AsViewerOrRunner, playbook_id: PlaybookId, response: Response
) -> PlaybookDetail:
    library = _playbooks(request).library
    card = library.get(access, playbook_id)
    newest = library.revision_of(access.scope, card, card.head).playbook
    running = newest
    if card.deployed is not None:
        running = library.revision_of(access.scope, card, card.deployed).playbook
    whole = library.with_people(access, card, newest)
    if access.role is Role.runner:
        # What runs is theirs to read; what is being written, and for whom, is not.
        whole = running.model_copy(update={"owner": None, "allowed": None})
    set_etag(response, card.version)
    return PlaybookDetail(
        **_card_for(access, card).model_dump(),
        document=as_json(whole),
        yaml=as_yaml(whole),
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
    library = _playbooks(request).library
    saved = library.save(access, playbook_id, version, body.source, message=body.message)
    return _changed(response, saved)


@router.get("/{playbook_id}/revisions")
def list_playbook_revisions(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[RevisionOut]:
    """Newest first."""
    library = _playbooks(request).library

    def fetch(before: str | None, count: int) -> list[Revision]:
        return library.revisions(access, playbook_id, before=number(before), limit=count)

    items, following = page(fetch, lambda item: str(item.number), cursor, limit)
    return Page(items=[_revision_out(item) for item in items], next_cursor=following)


@router.get("/{playbook_id}/revisions/{revision}")
def read_playbook_revision(
    request: Request, access: AsViewer, playbook_id: PlaybookId, revision: Number
) -> RevisionDetail:
    found = _playbooks(request).library.revision(access, playbook_id, revision)
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
    lines = _playbooks(request).library.diff(access, playbook_id, left, right)
    return LinesOut(lines=lines)


@router.post("/{playbook_id}/deploy")
def deploy_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: DeployIn, response: Response
) -> PlaybookOut:
    """Makes a revision the one that people and triggers run."""
    done = _playbooks(request).deploying.deploy(access, playbook_id, body.revision)
    return _changed(response, done)


@router.post("/{playbook_id}/rollback")
def roll_back_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """Deploys what was deployed before."""
    return _changed(response, _playbooks(request).deploying.roll_back(access, playbook_id))


@router.post("/{playbook_id}/archive")
def archive_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """It runs no more, by nobody and no trigger; it can be brought back or deleted."""
    return _changed(response, _playbooks(request).deploying.archive(access, playbook_id))


@router.post("/{playbook_id}/unarchive")
def unarchive_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """Brings it back, deployed as it was."""
    return _changed(response, _playbooks(request).deploying.bring_back(access, playbook_id))


@router.delete("/{playbook_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, if_match: IfMatch = None
) -> None:
    """An archived playbook alone; it can be restored for thirty days."""
    _playbooks(request).library.delete(access, playbook_id, revision_from(if_match))


@router.post("/{playbook_id}/restore")
def restore_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    return _changed(response, _playbooks(request).library.restore(access, playbook_id))


@router.post("/{playbook_id}/runs", status_code=status.HTTP_201_CREATED)
def run_playbook(
    request: Request, access: AsOperatorOrRunner, playbook_id: PlaybookId, body: RunIn
) -> RunOut:
    """Starts a run of the deployed revision; it stays with that revision to its end."""
    return run_out(
        _playbooks(request).running.start(
            access, playbook_id, body.inputs, revision=body.revision, branch=body.branch
        )
    )


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
            **run_out(run).model_dump(),
            revision=steward.playbooks.running.pin(access.scope, run.id),
        )
        for run in found[:limit]
    ]
    more = encode_cursor(items[-1].id) if len(found) > limit else None
    return Page(items=items, next_cursor=more)


@router.get("/{playbook_id}/schedule")
def read_playbook_schedule(
    request: Request, access: AsViewer, playbook_id: PlaybookId
) -> Page[TriggerOut]:
    """What starts the deployed revision by itself, and when next."""
    return _triggers(_playbooks(request).deploying.triggers(access, playbook_id))


@router.put("/{playbook_id}/schedule/{trigger}")
def set_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    body: TriggerIn,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """A new revision with this trigger; deployed at once when the newest revision was."""
    version = revision_from(if_match)
    given = {**body.settings, "type": body.type}
    deploying = _playbooks(request).deploying
    return _changed(response, deploying.schedule(access, playbook_id, version, trigger, given))


@router.delete("/{playbook_id}/schedule/{trigger}")
def remove_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """A new revision without this trigger; deployed at once when the newest revision was."""
    version = revision_from(if_match)
    deploying = _playbooks(request).deploying
    return _changed(response, deploying.schedule(access, playbook_id, version, trigger, None))


@router.post("/{playbook_id}/schedule/{trigger}/switch")
def switch_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    body: SwitchIn,
) -> Page[TriggerOut]:
    """Pauses a trigger or lets it go on, without a new revision."""
    deploying = _playbooks(request).deploying
    return _triggers(deploying.switch(access, playbook_id, trigger, enabled=body.enabled))


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
    library = _playbooks(request).library
    shared = library.share(access, playbook_id, version, body.allowed, body.owner)
    return _changed(response, shared)


@router.get(
    "/{playbook_id}/yaml",
    response_class=Response,
    responses={200: {"content": {"application/yaml": {}}, "description": "One document."}},
)
def download_playbook(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    revision: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    """The playbook as a file: the newest revision, or the one that is named."""
    library = _playbooks(request).library
    card = library.get(access, playbook_id)
    content = library.text(access, card.id, revision).encode()
    return Response(
        content,
        media_type="application/yaml",
        headers=attachment(f"{card.slug}.yaml", len(content)),
    )
