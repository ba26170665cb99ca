"""Deletes what an agent remembers: one note, several, or all that a person may see."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from steward.broker import TARGET, Arguments, Effects, Outcome, Preview, Risk, ToolContext, add_tool
from steward.core import Denied, NotFound
from steward.identity import Role
from steward.runs import Reconciled, Ticket
from steward.tools._calls import in_thread_of_call
from steward.tools._installation import ROLE_OF
from steward.tools._notes import (
    Note,
    call_of,
    deleted,
    in_short,
    notes_of,
    reconcile_deleted,
    restore,
)


class DeleteNotes(Arguments):
    agent: Annotated[str, TARGET] = Field(
        min_length=1, max_length=60, description="The agent's name."
    )
    notes: Annotated[list[str] | None, TARGET] = Field(
        None, max_length=200, description="Notes by id; unset: all that you can see."
    )


@in_thread_of_call
def preview(context: ToolContext, arguments: DeleteNotes) -> Preview:
    notes = _wanted(context, arguments)
    shown = [{"note": each.number, "text": in_short(each.text)} for each in notes[:20]]
    return Preview(summary=_summary(arguments, len(notes)), details={"notes": shown})


@in_thread_of_call
def run(context: ToolContext, arguments: DeleteNotes) -> Outcome:
    wanted = [each.id for each in _wanted(context, arguments)]
    gone = notes_of(context).delete(
        context.scope, arguments.agent, wanted, by=context.author, call=call_of(context)
    )
    return deleted(gone, _summary(arguments, len(gone)))


async def reconcile(context: ToolContext, arguments: DeleteNotes, ticket: Ticket) -> Reconciled:
    return await reconcile_deleted(context, ticket, lambda count: _summary(arguments, count))


def _wanted(context: ToolContext, arguments: DeleteNotes) -> Sequence[Note]:
    """The notes that are meant. Those of the project are for editors, a person's own are theirs alone."""
    seen = notes_of(context).visible(context.scope, arguments.agent, context.author)
    if arguments.notes is not None:
        known = {each.id: each for each in seen}
        lost = next((each for each in arguments.notes if each not in known), None)
        if lost is not None:
            raise NotFound(f"The agent {arguments.agent!r} has no note {lost!r} that you can see.")
        seen = [known[each] for each in dict.fromkeys(arguments.notes)]
    elif not seen:
        raise NotFound(f"The agent {arguments.agent!r} has no notes that you can see.")
    if any(not each.person for each in seen) and not _may_edit(context):
        raise Denied("Editors delete the notes that all runs of the project share.")
    return seen


def _may_edit(context: ToolContext) -> bool:
    found = context.services.use(ROLE_OF)(context.scope, context.author)
    roles = [role for role in (found, context.token_role) if role is not None]
    return found is not None and min(roles) >= Role.editor


def _summary(arguments: DeleteNotes, count: int) -> str:
    return f"Delete {count} {'note' if count == 1 else 'notes'} of the agent {arguments.agent}"


add_tool(
    name="delete_notes",
    title="Delete notes of an agent",
    description="Deletes what an agent remembers between runs.",
    arguments=DeleteNotes,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=restore,
    reconcile=reconcile,
    # What an agent remembers is its own affair and people's; no other agent deletes it.
    direct_only=True,
)
