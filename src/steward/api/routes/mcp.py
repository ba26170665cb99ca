"""The address of the MCP door: the protocol over streamable HTTP, for clients with an API token."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from fastapi import Depends, HTTPException, Request
from starlette.responses import Response
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND
from starlette.types import Message, Receive, Scope, Send

from steward.api.context import ApiContext, context_of, steward_of
from steward.api.guards import identify
from steward.api.problems import problem_of
from steward.api.routes.oauth import MCP_PATH, RESOURCE_METADATA, base_of
from steward.api.routing import Router
from steward.core import Misconfigured, RateLimited, Unauthenticated, Unavailable
from steward.identity import MCP, Access, Role

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

outside = Router(outside=True, tags=["mcp"])
_ACCESS: Final = "steward.access"
_UNSIGNED: Final = "MCP clients use an API token: send 'Authorization: Bearer <token>'. Create one under API tokens."
_MOST_SESSIONS: Final = 1_000
SESSIONS_PER_PERSON: Final = 20
_SESSION_HEADER: Final = b"mcp-session-id"
_VERSION_HEADER: Final = "mcp-protocol-version"
_IDLE_SECONDS: Final = 1_800.0


def as_client(request: Request) -> Access:
    """Whom a client acts for: the person of its token, in the token's project, with the token's role."""
    try:
        principal = identify(request, audience=MCP)
    except Unauthenticated as problem:
        raise Unsigned(problem) from None
    if principal.limits is None:
        raise Unsigned(Unauthenticated(_UNSIGNED))
    access = steward_of(request).identity.projects.enter(principal, principal.limits.project_id)
    access.require(Role.viewer)
    return access


class Unsigned(HTTPException):
    """Tells a client that came without a token, or with a bad one, where its person can sign in (RFC 9728)."""

    def __init__(self, problem: Unauthenticated) -> None:
        super().__init__(401, problem.message)
        self.problem = problem


async def answer_unsigned(request: Request, raised: Exception) -> Response:
    found = cast(Unsigned, raised)
    answer = problem_of(request.state.request_id, found.problem)
    try:
        place = f"{base_of(request)}{RESOURCE_METADATA}{MCP_PATH}"
    except Misconfigured:
        return answer
    answer.headers["WWW-Authenticate"] = f'Bearer realm="steward", resource_metadata="{place}"'
    return answer


AsClient = Annotated[Access, Depends(as_client)]


@outside.api_route(MCP_PATH, methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def speak_mcp(request: Request, access: AsClient) -> Response:
    """One message of a client, or its stream of what the server has to say."""
    door = await _door(request)
    if opens_session(request):
        door.sessions.require(access.user_id)
    if request.method == "GET":
        context_of(request).streams.require(access.user_id)
    return _HandedOver(door, access, context_of(request))


def opens_session(request: Request) -> bool:
    """Whether the message would begin a session; since revision 2026-07-28 there are none."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    spoken = request.headers.get(_VERSION_HEADER)
    keeps_none = spoken is not None and spoken not in HANDSHAKE_PROTOCOL_VERSIONS
    return not keeps_none and _SESSION_HEADER.decode() not in request.headers


class McpDoor:
    """The protocol's sessions of this process; opened with the first request, closed with the server."""

    def __init__(self, manager: "StreamableHTTPSessionManager") -> None:
        self.manager = manager
        self.sessions = ClientPlaces(SESSIONS_PER_PERSON)
        self._opened = asyncio.Event()
        self._closed = asyncio.Event()
        self._task = asyncio.create_task(self._hold())

    async def _hold(self) -> None:
        async with self.manager.run():
            self._opened.set()
            await self._closed.wait()

    async def ready(self) -> None:
        await self._opened.wait()

    def close(self) -> None:
        """Ends all sessions. Belongs in the server's loop."""
        self._closed.set()


class ClientPlaces:
    """Which sessions each person has open here: one person cannot take them all."""

    def __init__(
        self, most: int = SESSIONS_PER_PERSON, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._clock = clock
        self._used: dict[str, dict[str, float]] = {}

    def require(self, user_id: str) -> None:
        """Refuses a person who has all their sessions open; before another one can begin."""
        known = self._used.get(user_id, {})
        since = self._clock() - _IDLE_SECONDS
        for session in [each for each, used in known.items() if used < since]:
            del known[session]
        if len(known) >= self._most:
            raise RateLimited(
                f"Your MCP clients have {self._most} sessions open already. End one, or try again later.",
                retry_after_seconds=60,
                code="too-many-sessions",
            )

    def use(self, user_id: str, session: str) -> None:
        self._used.setdefault(user_id, {})[session] = self._clock()

    def end(self, user_id: str, session: str) -> None:
        known = self._used.get(user_id, {})
        known.pop(session, None)
        if not known:
            self._used.pop(user_id, None)


class _HandedOver(Response):
    """A response that the protocol's own transport gives."""

    def __init__(self, door: McpDoor, access: Access, context: ApiContext) -> None:
        super().__init__()
        self._door = door
        self._access = access
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Space around a value is no part of it (RFC 9110, 5.5); the transport compares letter by letter.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        scope[_ACCESS] = self._access
        scope["user"] = _user(self._access)
        if scope["method"] != "GET":
            await self._door.manager.handle_request(scope, receive, self._counted(scope, send))
            return
        with self._context.streams.taken(self._access.user_id):
            await self._door.manager.handle_request(scope, receive, send)

    def _counted(self, scope: Scope, send: Send) -> Send:
        """Takes note of the session that the transport names when it answers."""
        person, sessions = self._access.user_id, self._door.sessions
        asked = dict(scope["headers"]).get(_SESSION_HEADER, b"").decode("latin-1")

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = dict(message.get("headers", ())).get(_SESSION_HEADER, b"").decode("latin-1")
                if asked and (
                    message["status"] == HTTP_404_NOT_FOUND or scope["method"] == "DELETE"
                ):
                    sessions.end(person, asked)
                elif (named or asked) and message["status"] < HTTP_400_BAD_REQUEST:
                    sessions.use(person, named or asked)
            await send(message)

        return noted


async def _door(request: Request) -> McpDoor:
    context = context_of(request)
    if context.stopping.is_set():
        raise Unavailable("Steward is stopping. Try again in a moment.", code="stopping")
    if context.mcp is None:
        # The protocol's library takes a second to load; only who speaks MCP pays.
        build = await asyncio.to_thread(_loaded)
        if context.mcp is None:
            context.mcp = McpDoor(build(context))
    await context.mcp.ready()
    return context.mcp


def _loaded() -> Callable[[ApiContext], "StreamableHTTPSessionManager"]:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from steward.flows import Client
    from steward.mcp import Caller, build_server, client_name

    async def find_caller(context: Any) -> Caller:
        request = cast(Request, context.request)
        access = cast(Access, request.scope[_ACCESS])
        name = client_name(context)
        session = request.headers.get("mcp-session-id", "")
        return Caller(access, Client(f"http:{session}" if session else f"name:{name}", name))

    def build(context: ApiContext) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            build_server(context.steward, find_caller),
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
            max_request_body_size=context.steward.settings.http.max_body_bytes,
        )

    return build


def _user(access: Access) -> Any:
    """The token by its id, so that the transport keeps one token out of another's session."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    known = AccessToken(token="", client_id=access.principal.id, scopes=[], subject=access.user_id)
    return AuthenticatedUser(known)
