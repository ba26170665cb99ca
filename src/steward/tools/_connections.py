"""Connections by name, for the tools that use them: the right kind, and the one that was shown when it was approved."""

from typing import Any

from steward.broker import ToolContext
from steward.connections import Connection, DatabasePlace, Desk, Opened, Use
from steward.core import Bug, Conflict, StewardError
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


def target_of(context: ToolContext, found: Opened) -> Any:
    """The file's path, or the server's URL with the password in it."""
    database = found.connection.connector.database
    if database is None:
        raise Bug(f"{found.connection.kind} is used as a database and has none.")
    place: DatabasePlace = database(desk_of(context).around, found.settings, found.secrets)
    target = place.file if place.file is not None else place.url
    if target is None:
        raise Bug(f"{found.connection.kind} does not say where its database is.")
    return target


def said_plainly(problem: StewardError, found: Opened) -> StewardError:
    """The same error without a secret in its words, should a driver have put one there."""
    from steward.connections import without_secrets

    return type(problem)(
        without_secrets(problem.message, found.secrets), code=problem.specific_code
    )
