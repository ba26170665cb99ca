"""Take back a whole run, or one change with the later changes that depend on it, in one call."""

from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Step,
    TakeBackPlan,
    TakingBack,
    ToolContext,
    Whole,
    add_tool,
)
from steward.core import Conflict, Invalid
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import agreed, happened, off_loop
from steward.tools._commits import undoing
from steward.tools._installation import TAKING_BACK

_LISTED: Final = 200


class TakeBack(Arguments):
    run_id: Annotated[str | None, TARGET] = Field(
        None, max_length=40, description="The run to take back."
    )
    key: Annotated[str | None, TARGET] = Field(
        None, max_length=400, description="Only this action of the run; unset: all of them."
    )
    commit: Annotated[str | None, TARGET] = Field(
        None, max_length=40, description="A commit to take back, instead of a run."
    )
    with_later: Annotated[bool, PLAIN] = Field(
        False, description="Also take back the later changes that depend on it."
    )


def _taking_back(context: ToolContext) -> TakingBack:
    return context.services.use(TAKING_BACK)


async def _plan(context: ToolContext, arguments: TakeBack) -> TakeBackPlan:
    return await off_loop(_planned, context, arguments)


def _planned(context: ToolContext, arguments: TakeBack) -> TakeBackPlan:
    if (arguments.run_id is None) is (arguments.commit is None):
        raise Invalid("Name either a run or a commit to take back.")
    whole = Whole(arguments.run_id, arguments.key, arguments.commit, context.branch)
    return _taking_back(context).plan(context.scope, whole)


def _acts_as(context: ToolContext, arguments: TakeBack) -> tuple[str, ...]:
    plan = _planned(context, arguments)
    steps = plan.steps if arguments.with_later else plan.only_own()
    commits = [each.commit for each in steps if each.commit is not None]
    return _taking_back(context).tools_of(context.scope, steps) + undoing(context, commits)


def _chosen(arguments: TakeBack, plan: TakeBackPlan) -> tuple[Step, ...]:
    if arguments.with_later:
        return plan.steps
    if plan.blocked:
        changed = ", ".join(plan.blocked[:10])
        raise Conflict(
            f"Later changes edited {changed}. Take those back too, or undo them first.",
            code="later-changes",
        )
    return plan.only_own()


async def preview(context: ToolContext, arguments: TakeBack) -> Preview:
    plan = await _plan(context, arguments)
    steps = _chosen(arguments, plan)
    if not steps:
        raise Conflict("There is nothing left to take back.", code="nothing-to-undo")
    own = plan.only_own()
    later = len(steps) - len(own)
    said = f"Take back {_changes(len(own))}"
    return Preview(
        summary=f"{said} and {later} later that depend on {'it' if len(own) == 1 else 'them'}"
        if later
        else said,
        details={
            "changes": [step.summary for step in steps[:_LISTED]],
            "stays": [action.summary for action in plan.left[:_LISTED]],
        },
        payload={"steps": _named(steps)},
    )


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count:,} changes"


def _named(steps: tuple[Step, ...]) -> list[list[str | None]]:
    return [list(step.name) for step in steps]


async def take_back(context: ToolContext, arguments: TakeBack) -> Outcome:
    steps = _chosen(arguments, await _plan(context, arguments))
    promised = agreed(context).get("steps")
    if promised is not None and _named(steps) != promised and not _rest_of(promised, steps):
        raise Conflict("Something changed since the preview was made. Look at it again.")
    carry_out = _taking_back(context).carry_out
    await carry_out(context.scope, context.author, steps, context.token_role)
    return _outcome(promised or _named(steps))


def _rest_of(promised: list[list[str | None]], steps: tuple[Step, ...]) -> bool:
    """After a crash, what was not taken back yet is the end of what was agreed."""
    rest = _named(steps)
    return bool(rest) and promised[-len(rest) :] == rest


def _outcome(named: list[Any]) -> Outcome:
    value = {"steps": named, "count": len(named)}
    return Outcome(value=value, summary=f"{_changes(len(named))} taken back", inverse=value)


async def put_back(context: ToolContext, _arguments: TakeBack, inverse: Json) -> Outcome:
    steps = inverse["steps"]
    if any(key is None for _run, key, _commit in steps):
        raise Conflict("Some of these changes belong to no run. Redo them in the history.")
    turns = [[run_id, key] for run_id, key, _commit in steps]
    await _taking_back(context).put_back(context.scope, context.author, turns)
    return Outcome(value=inverse, summary=f"{_changes(len(steps))} put back")


async def reconcile(context: ToolContext, arguments: TakeBack, _ticket: Ticket) -> Reconciled:
    """Done when nothing of what was agreed is left; otherwise it goes on where it stopped."""
    plan = await _plan(context, arguments)
    left = plan.steps if arguments.with_later else plan.only_own()
    promised = agreed(context).get("steps")
    if left or promised is None:
        return Reconciled(Found.not_happened)
    return happened(_outcome(promised))


add_tool(
    name="take_back",
    title="Take back a run",
    description="Takes back all that a run changed, or one change and what depends on it, newest first.",
    arguments=TakeBack,
    risk=Risk.write,
    run=take_back,
    effects=Effects(reads=True, writes=True),
    dry_run=preview,
    undo=put_back,
    acts_as=_acts_as,
    direct_only=True,
    reconcile=reconcile,
)
