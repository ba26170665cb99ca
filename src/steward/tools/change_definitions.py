"""Changes what words mean in a project: confirms, edits, rejects or removes definitions, entry by entry."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    CONTENT,
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Service
from steward.definitions import (
    DefinitionStore,
    EntryChange,
    Use,
    Work,
    diff_definitions,
    find_uses,
    planned_changes,
)
from steward.identity import Role
from steward.runs import Found, Json, Reconciled, Ticket
from steward.store import Scope
from steward.tools._calls import happened, in_thread_of_call, listed
from steward.tools._installation import DEFINITIONS, NAME_OF

MOST_CHANGES: Final = 5_000
_SHOWN: Final = 200


class SetEntry(Arguments):
    entry: Annotated[str, TARGET] = Field(
        min_length=2,
        max_length=2_500,
        description="The entry by its pointer, such as /metrics/revenue or /tables/orders/columns/amount.",
    )
    value: Annotated[dict[str, Any] | None, CONTENT] = Field(
        None, description="The whole entry as it should be; unset removes it."
    )


class ChangeDefinitions(Arguments):
    changes: list[SetEntry] = Field(
        min_length=1, max_length=MOST_CHANGES, description="What each entry should be."
    )
    message: Annotated[str, CONTENT] = Field("", max_length=400, description="Why they change.")
    revision: Annotated[int | None, PLAIN] = Field(
        None,
        ge=0,
        description="The revision they were read at; refused where it is not the newest.",
    )


WORK_ON_DATA: Final = Service[Callable[[Scope, str], list[Work]]](
    "work_on_data", "Finding what uses a definition"
)


def _store(context: ToolContext) -> DefinitionStore:
    return context.services.use(DEFINITIONS)


def _planned(context: ToolContext, arguments: ChangeDefinitions) -> list[EntryChange]:
    store = _store(context)
    current = store.current(context.scope)
    signed = [(each.entry, _signed(context, each.value)) for each in arguments.changes]
    changes = planned_changes(current.definitions, signed)
    store.check(context.scope, context.author, changes)
    return changes


def _signed(context: ToolContext, value: dict[str, Any] | None) -> dict[str, Any] | None:
    """The entry with the name of the person who says so."""
    if value is None or value.get("state") not in ("confirmed", "rejected"):
        return value
    name_of = context.services.find(NAME_OF) or (lambda _: context.author)
    return {**value, "by": name_of(context.author)}


def _used(context: ToolContext, changes: list[EntryChange]) -> list[Use]:
    work = context.services.find(WORK_ON_DATA)
    known = work(context.scope, context.author) if work is not None else []
    definitions = _store(context).current(context.scope).definitions
    found = [use for each in changes for use in find_uses(each.entry, definitions, known)]
    return list(dict.fromkeys(found))


def _summary(changes: list[EntryChange]) -> str:
    if not changes:
        return "No definition changes"
    names = listed(each.entry.rpartition("/")[2].replace("~1", "/") for each in changes)
    return (
        f"Change {'a definition' if len(changes) == 1 else f'{len(changes)} definitions'}: {names}"
    )


@in_thread_of_call
def preview(context: ToolContext, arguments: ChangeDefinitions) -> Preview:
    changes = _planned(context, arguments)
    uses = _used(context, changes)
    return Preview(
        summary=_summary(changes),
        details={
            "changes": [asdict(each) for each in changes[:_SHOWN]],
            "more": max(0, len(changes) - _SHOWN),
            "used_by": [asdict(each) for each in uses[:_SHOWN]],
        },
    )


@in_thread_of_call
def run(context: ToolContext, arguments: ChangeDefinitions) -> Outcome:
    changes = _planned(context, arguments)
    return _save(context, changes, arguments.message, arguments.revision)


def _save(
    context: ToolContext, changes: list[EntryChange], message: str, expected: int | None
) -> Outcome:
    call = context.ticket.idempotency_key if context.ticket else ""
    made = _store(context).save(
        context.scope, context.author, changes, message=message, call=call, expected=expected
    )
    return _changed(made.revision, changes)


def _changed(revision: int, changes: list[EntryChange]) -> Outcome:
    # What undoes it: each entry as it was, refused where somebody changed it since.
    inverse = [asdict(EntryChange(each.entry, each.after, each.before)) for each in changes]
    return Outcome(
        value={"revision": revision, "changed": len(changes)},
        summary=_summary(changes),
        inverse={"changes": inverse},
    )


@in_thread_of_call
def take_back(context: ToolContext, arguments: ChangeDefinitions, inverse: Json) -> Outcome:
    changes = [EntryChange(**each) for each in inverse["changes"]]
    return _save(context, changes, f"Undid: {arguments.message or _summary(changes)}", None)


@in_thread_of_call
def reconcile(context: ToolContext, _arguments: ChangeDefinitions, ticket: Ticket) -> Reconciled:
    """A revision remembers the call that made it."""
    store = _store(context)
    made = store.made_by(context.scope, ticket.idempotency_key)
    if made is None:
        return Reconciled(Found.not_happened)
    changes = diff_definitions(
        store.at(context.scope, made.revision - 1).definitions, made.definitions
    )
    return happened(_changed(made.revision, changes))


add_tool(
    name="change_definitions",
    title="Change definitions",
    description="Confirms, edits, rejects or removes definitions: what columns, metrics and words mean in the project.",
    arguments=ChangeDefinitions,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=take_back,
    role=Role.editor,
    reconcile=reconcile,
    # An agent that could say what words mean could make its own answers right.
    direct_only=True,
)
