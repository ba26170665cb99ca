"""Keeps a note of an agent for its later runs."""

from typing import Annotated

from pydantic import Field

from steward.broker import (
    CONTENT,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, in_thread_of_call
from steward.tools._notes import (
    LONGEST,
    Note,
    call_of,
    in_short,
    notebook_of,
    notes_of,
)


class Remember(Arguments):
    text: Annotated[str, CONTENT] = Field(
        min_length=1,
        max_length=LONGEST,
        description="One fact that later runs need, in words that are clear without this conversation.",
    )


@in_thread_of_call
def preview(context: ToolContext, arguments: Remember) -> Preview:
    notebook = notebook_of(context)
    kept = notes_of(context).room_for(context.scope, notebook, arguments.text)
    return Preview(
        summary=f"Keep a note: {in_short(arguments.text)}",
        details={"agent": notebook.agent, "kept": kept, "most": notebook.keep},
    )


@in_thread_of_call
def run(context: ToolContext, arguments: Remember) -> Outcome:
    note, is_new = notes_of(context).write(
        context.scope,
        notebook_of(context),
        arguments.text,
        author=context.author,
        run_id=context.run_id,
        call=call_of(context),
    )
    return _kept(note, is_new=is_new)


@in_thread_of_call
def take_back(context: ToolContext, _arguments: Remember, inverse: Json) -> Outcome:
    gone = notes_of(context).delete(
        context.scope,
        inverse["agent"],
        inverse["notes"],
        by=context.author,
        call=call_of(context),
    )
    # Somebody may have deleted it before: then there is nothing left to take back.
    return Outcome(value={"deleted": len(gone)}, summary=f"{len(gone)} notes deleted")


@in_thread_of_call
def reconcile(context: ToolContext, _arguments: Remember, ticket: Ticket) -> Reconciled:
    """A note knows the call that wrote it."""
    note = notes_of(context).written_by(context.scope, ticket.idempotency_key)
    return Reconciled(Found.not_happened) if note is None else happened(_kept(note, is_new=True))


def _kept(note: Note, *, is_new: bool) -> Outcome:
    return Outcome(
        value={"note": note.number, "new": is_new},
        summary=f"Kept as note {note.number}" if is_new else f"Note {note.number} says it already",
        inverse={"agent": note.agent, "notes": [note.id]} if is_new else None,
    )


add_tool(
    name="remember",
    title="Remember",
    description="Keeps a note that you are shown again at the start of later runs.",
    arguments=Remember,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=take_back,
    reconcile=reconcile,
    memory_only=True,
    gives={
        "type": "object",
        "properties": {"note": {"type": "integer"}, "new": {"type": "boolean"}},
        "required": ["note", "new"],
    },
)
