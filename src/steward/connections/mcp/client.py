"""Speaks to one MCP server for one question: connects, asks, leaves. No session outlives a call."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import httpx2

from steward.connections.http import Http
from steward.connections.mcp.definitions import MOST_TOOLS, Definition, definition_of, disarmed
from steward.connections.mcp.settings import McpSettings
from steward.core import Denied, Invalid, Misconfigured, StewardError, Unavailable

if TYPE_CHECKING:
    # The SDK takes a second to load and brings a web server along: only who calls a server pays.
    from mcp import Client

    from steward.connections.mcp.sign_in import Line

_PAGES: Final = 20
_LONGEST_VALUE: Final = 4 << 20


@dataclass(frozen=True)
class ToolListing:
    protocol: str
    server: str
    tools: tuple[Definition, ...]
    left_out: tuple[str, ...] = ()


class ToolChanged(Denied):
    """A tool is not what was accepted; `listing` is what the server offers now."""

    def __init__(self, message: str, listing: ToolListing) -> None:
        super().__init__(message, code="tool-changed")
        self.listing = listing


@dataclass(frozen=True)
class Answer:
    """What a tool said: text and values that people outside wrote."""

    value: Any
    failed: bool


async def list_tools(
    http: Http,
    settings: McpSettings,
    secrets: Mapping[str, str],
    seconds: float = 20,
    line: "Line | None" = None,
) -> ToolListing:
    """What the server offers, in its own order."""
    async with _connected(http, settings, secrets, seconds, line) as client:
        return await _listing(client)


async def call_tool(
    http: Http,
    settings: McpSettings,
    secrets: Mapping[str, str],
    name: str,
    arguments: Mapping[str, Any],
    accepted: str,
    seconds: float = 120,
    line: "Line | None" = None,
) -> Answer:
    """Calls a tool whose definition is still the accepted one, by its hash; refused if it has changed."""
    async with _connected(http, settings, secrets, seconds, line) as client:
        listing = await _listing(client)
        live = next((each.hash for each in listing.tools if each.name == name), None)
        if live != accepted:
            said = (
                "is no longer offered"
                if live is None
                else "is described otherwise than when it was accepted"
            )
            raise ToolChanged(
                f"The tool {name!r} {said} by the server. Somebody must look at its definition and accept it "
                "before it is called again.",
                listing,
            )
        result = await client.call_tool(name, dict(arguments))
        return _answer(result.model_dump(mode="json", by_alias=True, exclude_none=True))


def _answer(result: Mapping[str, Any]) -> Answer:
    failed = bool(result.get("isError"))
    if result.get("structuredContent") is not None:
        return Answer(result["structuredContent"], failed)
    blocks = [each for each in result.get("content", []) if isinstance(each, dict)]
    if blocks and all(each.get("type") == "text" for each in blocks):
        return Answer("\n".join(str(each.get("text", "")) for each in blocks), failed)
    return Answer({"content": blocks}, failed)


async def _listing(client: "Client") -> ToolListing:
    tools: list[Definition] = []
    left_out: list[str] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        for each in page.tools:
            found = definition_of(each.model_dump(mode="json", by_alias=True, exclude_none=True))
            if isinstance(found, str):
                left_out.append(found)
            elif any(known.name == found.name for known in tools):
                left_out.append(f"a second tool called {found.name}")
            elif len(tools) == MOST_TOOLS:
                left_out.append(f"{found.name}: a server may offer {MOST_TOOLS} tools")
            else:
                tools.append(found)
        cursor = page.next_cursor
        if cursor is None:
            break
    info = client.server_info
    name = f"{info.name} {info.version}" if info is not None else "unnamed server"
    return ToolListing(
        client.protocol_version, disarmed(name, 100), tuple(tools), tuple(left_out[:20])
    )


@asynccontextmanager
async def _connected(
    http: Http,
    settings: McpSettings,
    secrets: Mapping[str, str],
    seconds: float,
    line: "Line | None",
) -> AsyncIterator["Client"]:
    """An open client; whatever goes wrong around it becomes one of our errors, without the server's words."""
    import anyio
    from mcp import InputRequiredRoundsExceededError, MCPError

    refused: list[StewardError] = []
    try:
        async with (
            asyncio.timeout(seconds),
            _client(http, settings, secrets, seconds, line, refused) as client,
        ):
            yield client
    except TimeoutError:
        raise Unavailable(
            f"{settings.place} took longer than {seconds:g} seconds.", code="uncertain"
        ) from None
    except StewardError:
        raise
    except BaseExceptionGroup as group:
        raise _translated(settings, [*refused, *_leaves(group)]) from None
    except (
        MCPError,
        InputRequiredRoundsExceededError,
        httpx2.HTTPError,
        httpx2.StreamError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        OSError,
        RuntimeError,
        ValueError,
    ) as problem:
        raise _translated(settings, [*refused, problem]) from None


@asynccontextmanager
async def _client(
    http: Http,
    settings: McpSettings,
    secrets: Mapping[str, str],
    seconds: float,
    line: "Line | None",
    refused: list[StewardError],
) -> AsyncIterator["Client"]:
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import Implementation

    me = Implementation(name="steward", version="1")
    options: dict[str, Any] = {"client_info": me, "read_timeout_seconds": seconds, "cache": None}
    if settings.transport == "stdio":
        parameters = StdioServerParameters(
            command=settings.command or "",
            args=list(settings.args),
            env={**settings.env, **_named(secrets, "env.")},
            cwd=settings.cwd,
        )
        # What a server writes beside its answers may hold anything, secrets included.
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123 - a device, not a file
            async with Client(stdio_client(parameters, errlog=nowhere), **options) as client:
                yield client
        return
    headers = {**settings.headers, **_named(secrets, "header.")}
    if line is None and secrets.get("token"):
        headers["Authorization"] = f"Bearer {secrets['token']}"
    web = httpx2.AsyncClient(
        transport=http.transport(_LONGEST_VALUE),
        headers=headers,
        timeout=httpx2.Timeout(seconds),
        trust_env=False,
    )
    async with web:
        if line is not None:
            await _sign(web, line, secrets, refused)
        async with Client(
            streamable_http_client(settings.url or "", http_client=web), **options
        ) as client:
            yield client


async def _sign(
    web: httpx2.AsyncClient,
    line: "Line",
    secrets: Mapping[str, str],
    refused: list[StewardError],
) -> None:
    """Makes the client send the tokens of the sign-in; `refused` learns what the SDK's transport would swallow."""
    from steward.connections.mcp.oauth import only_encrypted
    from steward.connections.mcp.refused_sign_ins import watched

    web.event_hooks = {"request": [only_encrypted]}
    web.auth = watched(await line.auth(web, secrets), refused)


def _named(secrets: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        name.removeprefix(prefix): value
        for name, value in secrets.items()
        if name.startswith(prefix)
    }


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        else:
            yield each


def _translated(settings: McpSettings, problems: list[BaseException]) -> BaseException:
    """Our error for what the SDK and its transports raised; cancellation stays what it is."""
    from mcp import InputRequiredRoundsExceededError, MCPError

    for problem in problems:
        if isinstance(problem, StewardError | asyncio.CancelledError):
            return problem
        if not isinstance(problem, Exception):
            return problem
    first = problems[0]
    if isinstance(first, FileNotFoundError | PermissionError):
        return Misconfigured(f"The program {settings.command!r} cannot be started on this machine.")
    if isinstance(first, MCPError):
        said = disarmed(first.message, 200)
        if first.code == -32602:
            return Invalid(f"The server does not accept the call: {said}")
        return Unavailable(f"{settings.place} answered with an error ({first.code}): {said}")
    if isinstance(first, InputRequiredRoundsExceededError):
        return Denied(f"{settings.place} asks for input in return, which is not given.")
    if isinstance(first, httpx2.HTTPError | OSError):
        return Unavailable(f"No connection to {settings.place} ({type(first).__name__}).")
    return Unavailable(
        f"{settings.place} does not answer as an MCP server should ({type(first).__name__})."
    )
