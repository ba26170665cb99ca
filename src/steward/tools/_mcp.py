"""Tools of connected MCP servers as tools of the project: `mcp.<connection>.<tool>`, once somebody accepted them."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from steward.broker import (
    Arguments,
    Artifact,
    Cost,
    Effects,
    Failure,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
    arguments_of,
    with_roles,
)
from steward.connections import Connection, Desk, ServerTool
from steward.connections.mcp import Definition
from steward.core import Denied, Invalid, NotFound
from steward.identity import Access
from steward.runs import Json, digest
from steward.store import Scope
from steward.tools._calls import keep, plain

WORD: Final = "mcp"
_TIME: Final = timedelta(minutes=2)
_SHOWN: Final = 64 << 10
_GIVES: Final = {
    "type": "object",
    "properties": {"failed": {"const": False}, "answer": {"type": "string"}},
    "required": ["failed", "answer"],
}


class McpTools:
    """The provider of what servers bring; its tools exist only while their accepted definition holds."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        _, connection_name, tool_name = [*name.split(".", 2), "", ""][:3]
        try:
            connection = self._desk.documents.named(scope, connection_name)
        except NotFound:
            raise _unknown(name) from None
        if connection.connector.use != "mcp":
            raise _unknown(name)
        found = self._desk.tools.find(scope, connection.id, tool_name)
        if found is None or found.accepted is None:
            raise _unknown(name)
        if found.state != "accepted":
            raise Denied(
                f"The server has changed {name!r} since it was accepted, or offers it no more. Somebody must look "
                "at it under Connections first.",
                code="tool-changed",
            )
        tool = self._tool(connection, found, found.accepted)
        if pin is not None and pin != tool.pin:
            raise Denied(
                f"{name!r} is not what it was when this call was planned. Start the run again.",
                code="tool-changed",
            )
        return tool

    def listed(self, scope: Scope) -> Iterator[Tool[Any]]:
        connections = {
            each.id: each for each in self._desk.documents.listed(scope, kind="mcp", limit=100)
        }
        for found in self._desk.tools.callable(scope, list(connections.values())):
            if found.accepted is None:
                continue
            try:
                yield self._tool(connections[found.connection_id], found, found.accepted)
            except Invalid:
                # A schema that cannot be checked against makes no tool; the page says so.
                continue

    def _tool(self, connection: Connection, known: ServerTool, accepted: Definition) -> Tool[Any]:
        name = server_tool_name(connection, accepted.name)
        place = connection.place
        roles = known.roles or {}

        async def dry_run(_context: ToolContext, arguments: Arguments) -> Preview:
            return Preview(
                summary=f"{accepted.title} on {connection.name}",
                details={"server": place, "hints": dict(accepted.hints)},
                irreversible=f"What {connection.name} does with the call cannot be taken back from here.",
                payload={
                    "server": place,
                    "tool": accepted.name,
                    "definition": accepted.hash,
                    "arguments": arguments.model_dump(mode="json"),
                },
            )

        async def run(context: ToolContext, arguments: Arguments) -> Outcome:
            return await self._called(context, connection, accepted, arguments)

        return Tool(
            name=name,
            title=f"{accepted.title} ({connection.name})",
            description=(
                f"Tool of the connected server {connection.name!r}. The server says of it, in words nobody here "
                f"vouches for: “{accepted.description}”"
            ),
            # What the server itself says about roles does not count.
            arguments=arguments_of(with_roles(accepted.arguments, roles), name),
            risk=Risk(known.risk),
            run=run,
            effects=Effects(reads=True, network=True),
            gives=_GIVES,
            dry_run=dry_run,
            timeout=_TIME,
            destination=lambda _arguments: f"mcp:{connection.name}",
            pin={
                "connection": connection.id,
                # A server at another address is another server.
                "revision": connection.revision,
                "definition": accepted.hash,
                # What the arguments are for decides what is asked; another answer makes it another tool.
                **({"roles": digest(dict(roles))} if roles else {}),
            },
        )

    async def _called(
        self, context: ToolContext, connection: Connection, accepted: Definition, given: Arguments
    ) -> Outcome:
        arguments = given.model_dump(mode="json")
        answer = await self._desk.call_tool(
            context.scope,
            connection,
            accepted.name,
            arguments,
            accepted.hash,
            _TIME.total_seconds() - 5,
        )
        value = plain(answer.value)
        text = value if isinstance(value, str) else ""
        artifacts: tuple[Artifact, ...] = ()
        if len(text) > _SHOWN:
            artifacts = (await keep(context, "answer.txt", "text/plain", text.encode()),)
            value = text[:_SHOWN]
        summary = f"{accepted.title} on {connection.name}" + (" failed" if answer.failed else "")
        return Outcome(
            value={"failed": answer.failed, "answer": value},
            summary=summary,
            artifacts=artifacts,
            sources=(f"{WORD}:{connection.name}/{accepted.name}",),
            trusted=False,
            cost=Cost(bytes=len(text)),
            # Its title is a stranger's text, and what went wrong may be told to a model.
            failure=Failure(f"{server_tool_name(connection, accepted.name)} failed.")
            if answer.failed
            else None,
        )


def accept_tools(
    desk: Desk,
    access: Access,
    connection_id: str,
    hashes: Mapping[str, str],
    roles: Mapping[str, Mapping[str, str]],
) -> list[ServerTool]:
    """Accepts tools by the hashes that were shown, with what a person confirmed their arguments to be for."""
    offered = {each.name: each for each in desk.tools.listed(access.scope, connection_id)}
    for name, chosen in roles.items():
        if name not in hashes or name not in offered:
            raise Invalid(f"Roles are given for {name!r}, which is not among the accepted tools.")
        with_roles(offered[name].shown.arguments, chosen)
    return desk.tools.accept(access, connection_id, hashes, roles)


def confirm_roles(
    desk: Desk, access: Access, connection_id: str, name: str, shown: str, roles: Mapping[str, str]
) -> ServerTool:
    """Keeps what a person says the arguments of an accepted tool are for."""
    found = desk.tools.find(access.scope, connection_id, name)
    if found is None:
        raise NotFound(f"The server offers no tool {name!r}.")
    with_roles(found.shown.arguments, roles)
    return desk.tools.confirm_roles(access, connection_id, name, shown, roles)


def server_tool_name(connection: Connection, tool: str) -> str:
    return f"{WORD}.{connection.name}.{tool}"


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"There is no tool called {name!r}. Tools of MCP servers are accepted under Connections before they can "
        "be called."
    )
