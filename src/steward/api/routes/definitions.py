"""Definitions: what words mean in a project, as people see, confirm, change, compare and restore them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response, status
from pydantic import Field

from steward.api.context import context_of, steward_of
from steward.api.documents import IfMatch, Input, Limit, Output, Page, revision_from, set_etag
from steward.api.guards import AsEditor, AsViewer
from steward.api.routing import Router
from steward.app import Steward
from steward.core import copied
from steward.definitions import (
    Definitions,
    DefinitionStore,
    EntryChange,
    confirmed_entry,
    diff_definitions,
    find_uses,
    missing_entries,
    planned_changes,
    to_entries,
)
from steward.definitions.formats import Format, Imported, export_definitions, import_definitions
from steward.flows import DirectCall
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/definitions", tags=["definitions"])
Branch = Annotated[str, Query(max_length=100)]
RevisionNumber = Annotated[int, Query(ge=0, le=2**31 - 1)]
EntryPointer = Annotated[str, Field(min_length=2, max_length=2_500)]


class DefinitionsOut(Output):
    revision: int = Field(description="0 where nobody has confirmed or changed anything yet.")
    definitions: Definitions = Field(
        description="Everything stored, rejected entries too, and proposals for the rest."
    )
    missing: list[str] = Field(
        description="Entries that name tables or columns the data does not have."
    )


class SetEntryIn(Input):
    entry: EntryPointer = Field(
        description="Its pointer, such as /metrics/revenue or /tables/orders/columns/amount.",
    )
    value: dict[str, Any] | None = Field(None, description="The whole entry; null removes it.")


class ChangesIn(Input):
    changes: list[SetEntryIn] = Field(min_length=1, max_length=5_000)
    message: str = Field("", max_length=400, description="Why they change.")


class DecideIn(Input):
    entries: list[EntryPointer] | None = Field(
        None, max_length=5_000, description="Which ones; null means all that are only proposed."
    )
    message: str = Field("", max_length=400)


class DefinitionsRestoreIn(Input):
    revision: int = Field(ge=0, le=2**31 - 1)
    message: str = Field("", max_length=400)


class DefinitionChangeOut(Output):
    entry: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class UseOut(Output):
    kind: Literal["playbook", "question", "metric", "segment", "default filter", "relationship"]
    name: str
    title: str


class ChangesPreview(Output):
    changes: list[DefinitionChangeOut]
    used_by: list[UseOut]


class DefinitionsChanged(Output):
    revision: int
    changed: int
    run_id: str = Field(description="The run that changed them; undoing it takes the change back.")


class ExportedOut(Output):
    text: str = Field(description="The file, as YAML.")
    losses: list[str] = Field(description="What the format cannot say.")


class ImportIn(Input):
    text: str = Field(min_length=2, max_length=5_000_000, description="The file's content.")
    trial: bool = Field(False, description="Only tells what would change.")
    message: str = Field("", max_length=400)


class ImportedOut(Output):
    format: str
    changes: list[DefinitionChangeOut]
    losses: list[str] = Field(description="What of the file definitions cannot say.")
    revision: int


class DefinitionsRevisionOut(Output):
    revision: int
    message: str
    author: str | None
    author_name: str | None
    created_at: datetime | None
    changes: int = Field(description="Entries that differ from the revision before.")


@router.get("")
async def get_definitions(
    request: Request, response: Response, access: AsViewer, branch: Branch = "main"
) -> DefinitionsOut:
    """What words mean: stored definitions and proposals made from the data of a branch."""
    store = steward_of(request).definitions
    found = await context_of(request).in_turn(access, _definitions, store, access, branch)
    set_etag(response, found.revision)
    return found


def _definitions(store: DefinitionStore, access: Access, branch: str) -> DefinitionsOut:
    store.learn(access.scope, access.user_id, branch)
    current = store.current(access.scope)
    proposed = store.proposed(access.scope, access.user_id, branch)
    return DefinitionsOut(
        revision=current.revision,
        definitions=store.merged(access.scope, access.user_id, branch),
        missing=missing_entries(current.definitions, proposed),
    )


@router.post("/preview")
def preview_definitions(request: Request, access: AsViewer, body: ChangesIn) -> ChangesPreview:
    """What would change, and which playbooks and questions use it. Nothing is written."""
    steward = steward_of(request)
    changes = planned_changes(
        steward.definitions.current(access.scope).definitions,
        [(each.entry, each.value) for each in body.changes],
    )
    steward.definitions.check(access.scope, access.user_id, changes)
    uses = [use for each in changes for use in _uses(steward, access, each.entry)]
    return ChangesPreview(
        changes=[DefinitionChangeOut.model_validate(each) for each in changes],
        used_by=list({(use.kind, use.name): use for use in uses}.values()),
    )


@router.post("/changes", status_code=status.HTTP_201_CREATED)
async def change_definitions(
    request: Request, access: AsEditor, body: ChangesIn, if_match: IfMatch = None
) -> DefinitionsChanged:
    """Sets or removes entries as one revision, which can be undone."""
    wanted = [each.model_dump() for each in body.changes]
    return await _change(request, access, wanted, body.message, revision_from(if_match))


@router.post("/confirm", status_code=status.HTTP_201_CREATED)
async def confirm_definitions(
    request: Request, access: AsEditor, body: DecideIn, if_match: IfMatch = None
) -> DefinitionsChanged:
    """Confirms entries as they are: what is confirmed wins over every later proposal."""
    return await _decide(request, access, body, "confirmed", revision_from(if_match))


@router.post("/reject", status_code=status.HTTP_201_CREATED)
async def reject_definitions(
    request: Request, access: AsEditor, body: DecideIn, if_match: IfMatch = None
) -> DefinitionsChanged:
    """Rejects entries: questions are not read by them, and they are not proposed again."""
    return await _decide(request, access, body, "rejected", revision_from(if_match))


@router.post("/restore", status_code=status.HTTP_201_CREATED)
async def restore_definitions(
    request: Request, access: AsEditor, body: DefinitionsRestoreIn, if_match: IfMatch = None
) -> DefinitionsChanged:
    """Makes an earlier revision current again, as a new one."""
    store, expected = steward_of(request).definitions, revision_from(if_match)

    def differences() -> list[EntryChange]:
        wanted = store.at(access.scope, body.revision).definitions
        return diff_definitions(store.current(access.scope).definitions, wanted)

    changes = await context_of(request).in_turn(access, differences)
    message = body.message or f"Restored revision {body.revision}"
    wanted = [{"entry": each.entry, "value": each.after} for each in changes]
    return await _change(request, access, wanted, message, expected)


@router.get("/history")
def list_definition_revisions(
    request: Request,
    access: AsViewer,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    limit: Limit = 50,
) -> Page[DefinitionsRevisionOut]:
    """Revisions, newest first."""
    steward = steward_of(request)
    found = steward.definitions.history(access.scope, before=before, limit=limit + 1)
    older = [each.definitions for each in found[1:]] + [Definitions()]
    names = {each.user_id: each.name for each in steward.identity.members.page(access)}
    items = [
        copied(
            DefinitionsRevisionOut,
            each,
            author_name=names.get(each.author or ""),
            changes=len(diff_definitions(earlier, each.definitions)),
        )
        for each, earlier in zip(found[:limit], older, strict=False)
    ]
    return Page(items=items, next_cursor=None)


@router.get("/diff")
def diff_definition_revisions(
    request: Request, access: AsViewer, left: RevisionNumber, right: RevisionNumber
) -> list[DefinitionChangeOut]:
    """What differs between two revisions, entry by entry."""
    store = steward_of(request).definitions
    before, after = store.at(access.scope, left), store.at(access.scope, right)
    found = diff_definitions(before.definitions, after.definitions)
    return [DefinitionChangeOut.model_validate(each) for each in found]


@router.get("/uses")
def list_definition_uses(
    request: Request, access: AsViewer, entry: Annotated[str, Query(max_length=2_500)]
) -> list[UseOut]:
    """The playbooks, confirmed questions and other definitions that use what an entry defines."""
    return _uses(steward_of(request), access, entry)


@router.get("/export")
def export_project_definitions(
    request: Request,
    access: AsViewer,
    file_format: Annotated[Format, Query(alias="format")] = "steward",
    confirmed: Annotated[bool, Query(description="Leaves out what is only proposed.")] = False,
) -> ExportedOut:
    """The definitions as a file of Steward, Apache Ossie 0.1.1 or dbt, and what that format cannot say."""
    store = steward_of(request).definitions
    chosen = (
        store.current(access.scope).definitions
        if confirmed
        else store.effective(access.scope, access.user_id)
    )
    return ExportedOut.model_validate(export_definitions(chosen, file_format))


@router.post("/import", status_code=status.HTTP_201_CREATED)
async def import_project_definitions(
    request: Request, access: AsEditor, body: ImportIn, if_match: IfMatch = None
) -> ImportedOut:
    """Takes in a file of Steward, Apache Ossie or dbt as one revision; entries that it does not name stay."""
    expected = revision_from(if_match)
    store = steward_of(request).definitions

    def planned() -> tuple[Imported, list[EntryChange]]:
        found = import_definitions(body.text)
        wanted = [
            (name, confirmed_entry(each)) for name, each in to_entries(found.definitions).items()
        ]
        return found, planned_changes(store.current(access.scope).definitions, wanted)

    found, changes = await context_of(request).in_turn(access, planned)
    revision = expected
    if not body.trial:
        wanted = [{"entry": each.entry, "value": each.after} for each in changes]
        message = body.message or f"Imported from {found.format}"
        revision = (await _change(request, access, wanted, message, expected)).revision
    return ImportedOut(
        format=found.format,
        changes=[DefinitionChangeOut.model_validate(each) for each in changes],
        losses=found.losses,
        revision=revision,
    )


def _uses(steward: Steward, access: Access, entry: str) -> list[UseOut]:
    work = steward.playbooks.work_on_data(access.scope, access.user_id)
    definitions = steward.definitions.merged(access.scope, access.user_id)
    return [UseOut.model_validate(each) for each in find_uses(entry, definitions, work)]


async def _decide(
    request: Request,
    access: Access,
    body: DecideIn,
    state: Literal["confirmed", "rejected"],
    expected: int,
) -> DefinitionsChanged:
    store = steward_of(request).definitions
    decided = await context_of(request).in_turn(
        access, store.decided, access.scope, access.user_id, state, body.entries
    )
    wanted = [{"entry": entry, "value": value} for entry, value in decided]
    return await _change(request, access, wanted, body.message, expected)


async def _change(
    request: Request,
    access: Access,
    wanted: list[dict[str, Any]],
    message: str,
    expected: int,
) -> DefinitionsChanged:
    if not wanted:
        return DefinitionsChanged(revision=expected, changed=0, run_id="")
    call = DirectCall(
        "change_definitions",
        {"changes": wanted, "message": message, "revision": expected},
        title="Change definitions",
    )
    done = await steward_of(request).governing.direct_calls.run(access, call)
    return DefinitionsChanged(run_id=done.run.id, **done.value)
