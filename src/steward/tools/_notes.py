"""The memory of agents as tools see it: the service `notes`, and whose notes a call works on."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from steward.broker import Notebook, Outcome, ToolContext
from steward.core import Denied, Service
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, in_thread_of_call

LONGEST: Final = 500
"""Characters of a note. Every note is part of what the agent reads at the start of each run."""
_SHOWN: Final = 80


class Note(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def person(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


class Notes(Protocol):
    def visible(self, scope: Any, agent: str, user_id: str) -> Sequence[Note]:
        """The project's notes of an agent and a person's own."""
        ...

    def numbered(self, scope: Any, notebook: Notebook, number: int) -> Note: ...

    def room_for(self, scope: Any, notebook: Notebook, text: str) -> int:
        """How many notes there are; Conflict where one more does not fit."""
        ...

    def write(
        self, scope: Any, notebook: Notebook, text: str, *, author: str, run_id: str, call: str
    ) -> tuple[Note, bool]:
        """The note, and whether it is new."""
        ...

    def delete(
        self, scope: Any, agent: str, note_ids: Sequence[str], *, by: str, call: str
    ) -> Sequence[Note]: ...

    def restore(
        self, scope: Any, agent: str, note_ids: Sequence[str], *, by: str
    ) -> Sequence[Note]: ...

    def written_by(self, scope: Any, call: str) -> Note | None: ...

    def deleted_by(self, scope: Any, call: str) -> Sequence[Note]: ...


NOTES: Final = Service[Notes]("notes", "An agent's memory")


def notes_of(context: ToolContext) -> Notes:
    return context.services.use(NOTES)


def notebook_of(context: ToolContext) -> Notebook:
    if context.notebook is None:
        raise Denied("Only an agent that has a memory keeps notes, and only its own.")
    return context.notebook


def call_of(context: ToolContext) -> str:
    return context.ticket.idempotency_key if context.ticket else ""


def in_short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def deleted(notes: Sequence[Note], summary: str) -> Outcome:
    """What came of a deletion; undoing it brings exactly these notes back."""
    ids = [each.id for each in notes]
    return Outcome(
        value={"deleted": len(ids)},
        summary=summary,
        inverse={"agent": notes[0].agent, "notes": list(ids)} if ids else None,
    )


@in_thread_of_call
def restore(context: ToolContext, _arguments: Any, inverse: Json) -> Outcome:
    found = notes_of(context).restore(
        context.scope, inverse["agent"], inverse["notes"], by=context.author
    )
    return Outcome(value={"restored": len(found)}, summary=f"{len(found)} notes are back")


@in_thread_of_call
def reconcile_deleted(
    context: ToolContext, ticket: Ticket, summary: Callable[[int], str]
) -> Reconciled:
    """A deleted note knows the call that deleted it."""
    gone = notes_of(context).deleted_by(context.scope, ticket.idempotency_key)
    if not gone:
        return Reconciled(Found.not_happened)
    return happened(deleted(gone, summary(len(gone))))
