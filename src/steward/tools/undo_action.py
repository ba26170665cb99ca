"""Undo and redo of one action of a run, and the correction of what has left this machine."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from pydantic import Field

from steward.broker import (
    PLAIN,
    RECIPIENT,
    TARGET,
    Action,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    Undoing,
    Way,
    add_tool,
)
from steward.core import Conflict
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, off_loop, plain
from steward.tools._commits import undoing
from steward.tools._installation import UNDOING


class ActionOfRun(Arguments):
    run_id: Annotated[str, TARGET] = Field(max_length=40, description="The run that did it.")
    key: Annotated[str, TARGET] = Field(
        max_length=400, description="The action, by its key in the run's journal."
    )


class UndoAction(ActionOfRun):
    merge_rows: Annotated[bool, PLAIN] = Field(
        False, description="Put back only the rows that were not changed again since."
    )


class SendCorrection(ActionOfRun):
    destination: Annotated[str, RECIPIENT] = Field(
        max_length=2_000, description="Where the original went, and the correction goes."
    )


def _undoing(context: ToolContext) -> Undoing:
    return context.services.use(UNDOING)


async def _action(context: ToolContext, arguments: ActionOfRun) -> Action:
    return await off_loop(_undoing(context).action, context.scope, arguments.run_id, arguments.key)


def _acts_as(context: ToolContext, arguments: ActionOfRun) -> tuple[str, ...]:
    """To put back what a call replaced is a call like it: undo is no way around a rule about that."""
    action = _undoing(context).action(context.scope, arguments.run_id, arguments.key)
    return (action.tool,) if action.way is Way.inverse else undoing(context, action.commits)


async def preview_undo(context: ToolContext, arguments: UndoAction) -> Preview:
    plan = await off_loop(_undoing(context).plan, context.scope, arguments.run_id, arguments.key)
    _refuse_sent(plan.action)
    return Preview(
        summary=f"Undo: {plan.action.summary}",
        details={"dependants": plain(plan.dependants), "blocked": list(plan.blocked)},
        payload={"times": plan.action.times},
    )


def _refuse_sent(action: Action) -> None:
    if action.way is Way.compensation:
        raise Conflict(
            "This left Steward and cannot be undone. A correction can be sent instead.",
            code="needs-correction",
        )


async def undo(context: ToolContext, arguments: UndoAction) -> Outcome:
    _refuse_sent(await _action(context, arguments))
    done = await _undoing(context).undo(
        context.scope,
        context.author,
        arguments.run_id,
        arguments.key,
        merge_rows=arguments.merge_rows,
        token_role=context.token_role,
    )
    return _turned(arguments, done, "Undone")


async def preview_redo(context: ToolContext, arguments: ActionOfRun) -> Preview:
    action = await _action(context, arguments)
    return Preview(summary=f"Redo: {action.summary}", payload={"times": action.times})


async def redo(context: ToolContext, arguments: ActionOfRun) -> Outcome:
    done = await _undoing(context).redo(
        context.scope, context.author, arguments.run_id, arguments.key
    )
    return _turned(arguments, done, "Redone")


async def preview_correction(context: ToolContext, arguments: SendCorrection) -> Preview:
    action = await _action(context, arguments)
    await _refuse_elsewhere(context, arguments, action)
    return Preview(
        summary=f"Send a correction to {arguments.destination}",
        details={"of": action.summary},
        irreversible="The original message cannot be recalled.",
        payload={"times": action.times},
    )


async def _refuse_elsewhere(
    context: ToolContext, arguments: SendCorrection, action: Action
) -> None:
    known = await off_loop(_undoing(context).destination, action)
    if action.way is not Way.compensation or (known or "") != arguments.destination:
        raise Conflict("A correction goes where the original went, and nowhere else.")


async def correct(context: ToolContext, arguments: SendCorrection) -> Outcome:
    await _refuse_elsewhere(context, arguments, await _action(context, arguments))
    done = await _undoing(context).undo(
        context.scope, context.author, arguments.run_id, arguments.key
    )
    return _turned(arguments, done, "Corrected")


def _turned(arguments: ActionOfRun, action: Action, verb: str) -> Outcome:
    value = {"run_id": arguments.run_id, "key": arguments.key}
    return Outcome(value=value, summary=f"{verb}: {action.summary}", inverse=value)


async def put_back(context: ToolContext, arguments: UndoAction, _inverse: Json) -> Outcome:
    return await redo(context, arguments)


async def take_back(context: ToolContext, arguments: ActionOfRun, _inverse: Json) -> Outcome:
    done = await _undoing(context).undo(
        context.scope,
        context.author,
        arguments.run_id,
        arguments.key,
        token_role=context.token_role,
    )
    return _turned(arguments, done, "Undone")


def _looking(
    undone: bool, verb: str
) -> Callable[[ToolContext, ActionOfRun, Ticket], Awaitable[Reconciled]]:
    """The run's own journal says whether its action is undone."""

    async def reconcile(
        context: ToolContext, arguments: ActionOfRun, _ticket: Ticket
    ) -> Reconciled:
        action = await _action(context, arguments)
        if action.undone is not undone:
            return Reconciled(Found.not_happened)
        return happened(_turned(arguments, action, verb))

    return reconcile


add_tool(
    name="undo_action",
    title="Undo an action",
    description="Takes back one action of a run: its data moves back, or its inverse is carried out.",
    arguments=UndoAction,
    risk=Risk.write,
    run=undo,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_undo,
    undo=put_back,
    acts_as=_acts_as,
    direct_only=True,
    reconcile=_looking(True, "Undone"),
)
add_tool(
    name="redo_action",
    title="Redo an action",
    description="Puts an undone action of a run back in place.",
    arguments=ActionOfRun,
    risk=Risk.write,
    run=redo,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_redo,
    undo=take_back,
    acts_as=_acts_as,
    direct_only=True,
    reconcile=_looking(False, "Redone"),
)
add_tool(
    name="send_correction",
    title="Send a correction",
    description="Sends what makes up for a message of a run that has gone out; the original stays.",
    arguments=SendCorrection,
    risk=Risk.external_send,
    run=correct,
    effects=Effects(network=True),
    dry_run=preview_correction,
    reconcile=_looking(True, "Corrected"),
    destination=lambda arguments: tuple(arguments.destination.split(", ")),
    direct_only=True,
)
