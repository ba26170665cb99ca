"""Around every request: its id, its log line and metrics, the headers that protect browsers, body limits."""

import asyncio
import re
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from steward.api.bodies import Body
from steward.api.problems import problem_of, unexpected
from steward.api.routing import PREFIX
from steward.app import Steward
from steward.core import Denied, Invalid, NotFound, StewardError, Unavailable
from steward.trace import get_logger, log_context
from steward.versions import calls_only

_logger = get_logger("steward.http")
_CLIENT_REQUEST_ID = re.compile(r"^[A-Za-z0-9_-]{8,64}$")
_BRINGS = re.compile(r"/catalogue/installed|/plugins(?:/inspect)?$|/definitions/import$")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_FOR_OPERATORS = frozenset({"/healthz", "/readyz"})
"""Health checks know a container by its address, not by the name that people use. So does Prometheus, with a token."""
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

_STOPPED = Unavailable(
    "Steward is stopping and did not finish this request. Try again in a moment. Runs that had started go on after the restart.",
    code="stopping",
)


class RequestFrame:
    """Plain ASGI, because the framework's own base class buffers streams."""

    def __init__(self, app: ASGIApp, steward: Steward) -> None:
        self._app = app
        self._steward = steward
        self._own_hosts = _own_hosts(steward)
        has_token = steward.settings.metrics.token is not None
        self._by_any_name = _FOR_OPERATORS | ({"/metrics"} if has_token else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with calls_only():
                await self._open_socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = self._request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        started = self._steward.clock.monotonic()
        sent = _Sent(request_id)

        async def send_framed(message: Message) -> None:
            sent.observe(message)
            await send(message)

        with log_context(request_id=request_id), calls_only():
            try:
                self._refuse_strangers(scope, headers)
                await self._app(scope, self._limited(scope, receive, headers), send_framed)
            except StewardError as error:
                await _answer(problem_of(request_id, error), sent, scope, receive, send_framed)
            except asyncio.CancelledError:
                # A server that stops cancels requests that took too long to end. Others may cancel to their own ends.
                if not _is_stopping(scope):
                    raise
                await _answer(problem_of(request_id, _STOPPED), sent, scope, receive, send_framed)
            except Exception:
                # The last line of defence: nothing may leave as a stack trace.
                _logger.exception("unexpected error")
                await _answer(unexpected(request_id), sent, scope, receive, send_framed)
            finally:
                self._record(scope, sent.status, self._steward.clock.monotonic() - started)

    async def _open_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page of another site may open a web socket with the visitor's cookie: it is refused here."""
        headers = Headers(scope=scope)
        request_id = self._request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        with log_context(request_id=request_id):
            try:
                self._refuse_strangers(scope, headers)
            except StewardError as error:
                refusal = WebSocket(scope, receive, send)
                await refusal.send_denial_response(problem_of(request_id, error))
                return
            await self._app(scope, receive, send)

    def _request_id(self, headers: Headers) -> str:
        offered = headers.get("x-request-id", "")
        return offered if _CLIENT_REQUEST_ID.match(offered) else self._steward.ids.new("req")

    def _refuse_strangers(self, scope: Scope, headers: Headers) -> None:
        if "\x00" in scope["path"]:
            raise NotFound("There is nothing at this address.")
        if b"%00" in scope.get("query_string", b""):
            raise Invalid("A parameter holds the character 0, which is no text. Remove it.")
        host = headers.get("host", "")
        # A page elsewhere that points its own name at us (DNS rebinding) still sends that name.
        if (
            self._own_hosts is not None
            and _host_name(host) not in self._own_hosts
            and scope["path"] not in self._by_any_name
        ):
            raise Denied(
                f"Steward does not answer to the name {_host_name(host)[:100]!r}. Set "
                "STEWARD_HTTP__PUBLIC_URL to the address people use.",
                code="unknown-host",
            )
        origin = headers.get("origin")
        if (
            origin
            and (scope["type"] == "websocket" or scope["method"] in _UNSAFE)
            and "authorization" not in headers
            and urlsplit(origin).netloc not in {host, *self._public_netloc()}
        ):
            raise Denied("This request came from a page of another site.", code="cross-site")

    def _public_netloc(self) -> set[str]:
        url = self._steward.settings.http.public_url
        return {urlsplit(url).netloc} if url else set()

    def _limited(self, scope: Scope, receive: Receive, headers: Headers) -> Receive:
        http = self._steward.settings.http
        is_sent = scope["method"] == "PUT" and scope["path"].startswith(f"{PREFIX}/links/")
        is_upload = is_sent or (scope["method"] == "PATCH" and "/uploads/" in scope["path"])
        # Descriptions of services, plug-ins and definitions are as large as files.
        brings = scope["method"] == "POST" and _BRINGS.search(scope["path"]) is not None
        limit = http.max_upload_request_bytes if is_upload or brings else http.max_body_bytes
        seconds = http.body_seconds
        return Body(receive, headers, largest=limit, seconds=seconds, raw=is_sent).receive

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route_template(scope)
        method = scope["method"]
        self._steward.metrics.requests.labels(method, route, str(status)).inc()
        if not route.endswith(("/stream", "/ag-ui")):
            self._steward.metrics.latency.labels(method, route).observe(seconds)
        _logger.info(
            "request",
            method=method,
            route=route,
            status=status,
            milliseconds=round(seconds * 1000, 1),
            principal=scope["state"].get("principal", "-"),
        )


def _is_stopping(scope: Scope) -> bool:
    context = getattr(scope["app"].state, "context", None) if "app" in scope else None
    return context is not None and context.stopping.is_set()


class _Sent:
    """What has gone out so far; adds the headers every answer carries."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self.status = 0

    def observe(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            return
        self.status = message["status"]
        headers = MutableHeaders(scope=message)
        headers["X-Request-ID"] = self._request_id
        for name, value in _SECURITY_HEADERS.items():
            headers.setdefault(name, value)
        if "cache-control" not in headers:
            headers["Cache-Control"] = "no-store"


def _route_template(scope: Scope) -> str:
    """The route's path with its parameters' names, never their values."""
    path: str = getattr(scope.get("route"), "path", "(page)")
    return path


async def _answer(response: Any, sent: _Sent, scope: Scope, receive: Receive, send: Send) -> None:
    if sent.status == 0:
        await response(scope, receive, send)


def _own_hosts(steward: Steward) -> frozenset[str] | None:
    """The names a server on loopback answers to; on a network the administrator's proxy decides."""
    http = steward.settings.http
    public = {_host_name(urlsplit(http.public_url).netloc)} if http.public_url else set()
    if http.host in _LOOPBACK:
        return _LOOPBACK | public
    return frozenset(public) if public else None


def _host_name(netloc: str) -> str:
    if netloc.startswith("["):
        return netloc[1:].partition("]")[0]
    return netloc.partition(":")[0].lower()
