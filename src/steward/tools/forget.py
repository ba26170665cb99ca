"""Deletes a note of the agent that calls it."""

from typing import Annotated

from pydantic import Field

from steward.broker import (
    PLAIN,
    TOOLS,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, off_loop
from steward.tools._notes import (
    call_of,
    deleted,
    in_short,
    notebook_of,
    notes_of,
    restored,
)


class Forget(Arguments):
    note: Annotated[int, PLAIN] = Field(
        ge=1, le=2**31 - 1, description="The number of one of your notes."
    )


async def preview(context: ToolContext, arguments: Forget) -> Preview:
    def look() -> Preview:
        notebook = notebook_of(context)
        note = notes_of(context).numbered(context.scope, notebook, arguments.note)
        return Preview(
            summary=f"Delete note {note.number}: {in_short(note.text)}",
            details={"agent": notebook.agent},
        )

    return await off_loop(look)


async def run(context: ToolContext, arguments: Forget) -> Outcome:
    def delete() -> Outcome:
        notes, notebook = notes_of(context), notebook_of(context)
        note = notes.numbered(context.scope, notebook, arguments.note)
        gone = notes.delete(
            context.scope, notebook.agent, [note.id], by=context.author, call=call_of(context)
        )
        return deleted(gone, f"Note {arguments.note} deleted")

    return await off_loop(delete)


async def take_back(context: ToolContext, _arguments: Forget, inverse: Json) -> Outcome:
    return await off_loop(restored, context, inverse)


async def reconcile(context: ToolContext, arguments: Forget, ticket: Ticket) -> Reconciled:
    """A deleted note knows the call that deleted it."""

    def look() -> Reconciled:
        gone = notes_of(context).deleted_by(context.scope, ticket.idempotency_key)
        if not gone:
            return Reconciled(Found.not_happened)
        return happened(deleted(gone, f"Note {arguments.note} deleted"))

    return await off_loop(look)


TOOLS.add(
    "forget",
    Tool(
        name="forget",
        title="Forget",
        description="Deletes one of your notes, by its number.",
        arguments=Forget,
        risk=Risk.write,
        run=run,
        effects=Effects(writes=True),
        dry_run=preview,
        undo=take_back,
        reconcile=reconcile,
        memory_only=True,
        gives={
            "type": "object",
            "properties": {"deleted": {"type": "integer"}},
            "required": ["deleted"],
        },
    ),
)
