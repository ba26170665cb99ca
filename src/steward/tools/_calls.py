"""What every tool needs of its call: services, settings, work off the loop, and values as a journal takes them."""

from collections.abc import Callable, Coroutine, Iterable
from functools import partial, wraps
from typing import Any, Final, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_jsonable_python

from steward.broker import Artifact, Failure, Labels, Outcome, ToolContext
from steward.core import Bug, Clock, Misconfigured, SystemClock, in_thread
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._installation import BLOBS, CLOCK, SECRETS, WORKBENCH
from steward.workbench import Workbench

P = ParamSpec("P")
T = TypeVar("T")
_PASSING: Final = frozenset({408, 409, 423, 425, 429})
"""Refusals that pass with time."""
_CREDENTIALS: Final = "Check the credentials of the connection and what they allow."
_ADVICE: Final = {
    401: _CREDENTIALS,
    403: _CREDENTIALS,
    404: "There is nothing at this address, or the credentials may not see it.",
    429: "The service limits how often it can be called. Try again later.",
}
_PATIENCE: Final = 5.0
"""Seconds that a call's thread has to end once the call was cancelled."""


class ToolSettings(BaseModel):
    """Base of what a project allows a tool; unknown names are refused, so that a typo allows nothing."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


S = TypeVar("S", bound=ToolSettings)


def settings_of(context: ToolContext, tool: str, model: type[S]) -> S:
    try:
        return model.model_validate(dict(context.settings.get(tool) or {}))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)
        )
        raise Misconfigured(f"The project's settings of {tool} are not valid: {wrong}.") from None


def failure_of(summary: str, status: int) -> Failure:
    """How a step fails whose service answered with an error, and what a person can do about it."""
    is_refused = 400 <= status < 500 and status not in _PASSING
    return Failure(f"{summary}. {_ADVICE.get(status, '')}".strip(), status, final=is_refused)


def bench(context: ToolContext) -> Workbench:
    return context.services.use(WORKBENCH)


def clock_of(context: ToolContext) -> Clock:
    return context.services.find(CLOCK) or SystemClock()


async def off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Blocking work in a thread, which inherits the name of the effect it belongs to.

    A call that is cancelled has ended in its thread, too, once this raises.
    """
    return await in_thread(partial(work, *args, **kwargs), patience=_PATIENCE)


def in_thread_of_call(work: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """A part of a tool that blocks, as the coroutine that the broker awaits."""

    @wraps(work)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return await off_loop(work, *args, **kwargs)

    return call


async def heavy(context: ToolContext, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for work that may hold a gigabyte: only so much of it is done at once, in fair shares."""
    context.report("Waiting for its turn")
    job = partial(work, *args, **kwargs)
    return await in_thread(job, patience=_PATIENCE, pool=bench(context).pool)


async def secret(context: ToolContext, name: str) -> str:
    """A secret's value, for the request that needs it; it goes into no outcome and no message."""
    return await off_loop(context.services.use(SECRETS).get, context.scope, name)


async def keep(context: ToolContext, name: str, media_type: str, content: bytes) -> Artifact:
    """Keeps bytes that a call made."""
    blob = await off_loop(context.services.use(BLOBS).put, [content])
    return Artifact(name, media_type, blob.digest, blob.size)


def source(name: str, version: str) -> str:
    return f"dataset:{name}@{version}"


def plain(value: Any) -> Json:
    """Dataclasses, tuples and moments as JSON."""
    return to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64")


def agreed(context: ToolContext) -> dict[str, Any]:
    """What the preview promised and a person may have approved; empty where there was none."""
    request = context.ticket.request if context.ticket else None
    payload = request.get("payload") if isinstance(request, dict) else None
    return payload if isinstance(payload, dict) else {}


def ticket_of(context: ToolContext) -> Ticket:
    if context.ticket is None:
        raise Bug("Something can only be sent as a recorded effect; this call has no ticket.")
    return context.ticket


def happened(outcome: Outcome) -> Reconciled:
    """An effect whose outcome was lost and found again, in the form in which outcomes are recorded."""
    cost = outcome.cost
    return Reconciled(
        Found.happened,
        {
            "value": outcome.value,
            "summary": outcome.summary,
            "artifacts": plain(list(outcome.artifacts)),
            "commits": list(outcome.commits),
            "inverse": outcome.inverse,
            "labels": Labels.of(outcome).to_json(),
            "cost": {
                "usd": str(cost.usd),
                "tokens": cost.tokens,
                "rows": cost.rows,
                "bytes": cost.bytes,
                "seconds": cost.seconds,
            },
        },
    )


def listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
