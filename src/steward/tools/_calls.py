"""What every tool needs of its call: services, settings, work off the loop, and values as a journal takes them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_jsonable_python

from steward.broker.labels import Labels
from steward.broker.tool import Artifact, Outcome, ToolContext
from steward.core.clock import Clock, SystemClock
from steward.core.errors import (
    Bug,
    Conflict,
    Denied,
    Invalid,
    Misconfigured,
    NotFound,
    StewardError,
    TooLarge,
    Unavailable,
)
from steward.data.workbench import Task, Workbench
from steward.runs import Found, Json, Reconciled, Ticket

P = ParamSpec("P")
T = TypeVar("T")
_BY_CODE: Final[dict[str, type[StewardError]]] = {
    kind.code: kind
    for kind in (Bug, Conflict, Denied, Invalid, Misconfigured, NotFound, TooLarge, Unavailable)
}


class ToolSettings(BaseModel):
    """Base of what a project allows a tool; unknown names are refused, so that a typo allows nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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


def service(context: ToolContext, name: str, purpose: str) -> Any:
    found = context.services.get(name)
    if found is None:
        raise Unavailable(
            f"{purpose} needs the {name} service, which this installation does not run."
        )
    return found


def bench(context: ToolContext) -> Workbench:
    found: Workbench = service(context, "workbench", "Working with data")
    return found


def clock_of(context: ToolContext) -> Clock:
    found: Clock = context.services.get("clock") or SystemClock()
    return found


async def off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Blocking work in a thread, which inherits the name of the effect it belongs to."""
    return await asyncio.to_thread(work, *args, **kwargs)


async def secret(context: ToolContext, name: str) -> str:
    """A secret's value, for the request that needs it; it goes into no outcome and no message."""
    store = service(context, "secrets", "Using a secret")
    value: str = await off_loop(store.get, context.scope, name)
    return value


async def finished(context: ToolContext, found: dict[str, Any] | Task) -> dict[str, Any]:
    """The result of a task of the workbench, waited for without blocking; its failure is raised here."""
    if not isinstance(found, Task):
        return found
    tasks = bench(context).tasks
    try:
        await off_loop(tasks.wait, found.id)
    except asyncio.CancelledError:
        tasks.cancel(context.scope, found.id)
        raise
    ended = tasks.get(context.scope, found.id)
    if ended.status == "done" and ended.result is not None:
        return ended.result
    if ended.status == "cancelled":
        raise Unavailable(f"{ended.title} was cancelled.", code="cancelled")
    code = ended.error_code or "bug"
    raise _BY_CODE.get(code, Invalid)(ended.error or f"{ended.title} failed.", code=code)


async def keep(context: ToolContext, name: str, media_type: str, content: bytes) -> Artifact:
    """Keeps bytes that a call made."""
    blobs = service(context, "blobs", "Keeping a file")
    blob = await off_loop(blobs.put, [content])
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
