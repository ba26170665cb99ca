"""Connections by name, for the tools that use them: the right kind, and the one that was shown when it was approved."""

from typing import Any

from steward.broker import ToolContext
from steward.connections import Connection, Desk, Opened, Use
from steward.core import Conflict
from steward.tools._calls import agreed, off_loop
from steward.tools._installation import CONNECTIONS


def desk_of(context: ToolContext) -> Desk:
    return context.services.use(CONNECTIONS)


async def connection_of(context: ToolContext, name: str, *uses: Use) -> Connection:
    """The connection; refused if it changed since the call was previewed."""
    found = await off_loop(desk_of(context).named, context.scope, name, *uses)
    said = agreed(context).get("connection")
    if said is not None and said != named(found):
        raise Conflict(
            f"The connection {name!r} has changed since the preview was made. Look at the call again."
        )
    return found


async def opened(context: ToolContext, connection: Connection) -> Opened:
    """With its secrets, for the request that needs them; they go into no outcome and no message."""
    return await off_loop(desk_of(context).open, context.scope, connection)


def named(connection: Connection) -> dict[str, Any]:
    """What a preview promises about a connection: hashed into the approval, compared again before the call."""
    return {"name": connection.name, "revision": connection.revision, "place": connection.place}


def source(connection: Connection) -> str:
    return f"connection:{connection.name}"
