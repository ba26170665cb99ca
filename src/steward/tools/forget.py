"""Deletes a note of the agent that calls it."""

from typing import Annotated

from pydantic import Field

from steward.broker import PLAIN, Arguments, Effects, Outcome, Preview, Risk, ToolContext, add_tool
from steward.runs import Reconciled, Ticket
from steward.tools._calls import in_thread_of_call
from steward.tools._notes import (
    call_of,
    deleted,
    in_short,
    notebook_of,
    notes_of,
    reconcile_deleted,
    restore,
)


class Forget(Arguments):
    note: Annotated[int, PLAIN] = Field(
        ge=1, le=2**31 - 1, description="The number of one of your notes."
    )


@in_thread_of_call
def preview(context: ToolContext, arguments: Forget) -> Preview:
    notebook = notebook_of(context)
    note = notes_of(context).numbered(context.scope, notebook, arguments.note)
    return Preview(
        summary=f"Delete note {note.number}: {in_short(note.text)}",
        details={"agent": notebook.agent},
    )


@in_thread_of_call
def run(context: ToolContext, arguments: Forget) -> Outcome:
    notes, notebook = notes_of(context), notebook_of(context)
    note = notes.numbered(context.scope, notebook, arguments.note)
    gone = notes.delete(
        context.scope, notebook.agent, [note.id], by=context.author, call=call_of(context)
    )
    return deleted(gone, f"Note {arguments.note} deleted")


async def reconcile(context: ToolContext, arguments: Forget, ticket: Ticket) -> Reconciled:
    return await reconcile_deleted(context, ticket, lambda _: f"Note {arguments.note} deleted")


add_tool(
    name="forget",
    title="Forget",
    description="Deletes one of your notes, by its number.",
    arguments=Forget,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=restore,
    reconcile=reconcile,
    memory_only=True,
    gives={
        "type": "object",
        "properties": {"deleted": {"type": "integer"}},
        "required": ["deleted"],
    },
)
