"""Connections: a request's headers arrive in time and are not endless, or the connection is closed."""

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LARGEST_HEADERS: Final = 64 * 1024
"""Bytes of the headers of one request."""
_LINGER_SECONDS: Final = 2.0
"""For a reader to take the last words of a web socket."""


class TimedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The server alone waits for the first headers, and for half-sent ones, without end."""

    def __init__(self, *args: Any, header_seconds: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._header_seconds = header_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._held = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        if self._awaits_headers:
            # What came before was the end of a request that was answered meanwhile.
            self._begin_waiting()
            self._held += len(data)
        super().data_received(data)
        if not self._awaits_headers or self.transport.get_protocol() is not self:
            # A request that is answered, or a web socket from here on.
            self._end_waiting()
        elif self._held > LARGEST_HEADERS:
            self._give_up(b"431 Request Header Fields Too Large")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_waiting()
        super().connection_lost(exc)

    @property
    def _awaits_headers(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _begin_waiting(self) -> None:
        if self._deadline is None:
            late = b"408 Request Timeout"
            self._deadline = self.loop.call_later(self._header_seconds, self._give_up, late)

    def _end_waiting(self) -> None:
        self._held = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self, status: bytes) -> None:
        has_begun = self._held > 0
        self._end_waiting()
        if not self._awaits_headers or self.transport.is_closing():
            return
        # Browsers open connections ahead; one on which nothing was asked is closed without an answer.
        if has_begun:
            head = b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            self.transport.write(head)
        self.transport.close()


class EndedSocket(WebSocketsSansIOProtocol):
    """The server alone keeps a web socket, with all that waits to be sent, until its reader has taken it."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(_LINGER_SECONDS, self._abort)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort()

    def _abort(self) -> None:
        """At once, the buffers of the system included."""
        opened = self.transport.get_extra_info("socket")
        if self.disconnected or opened is None:
            return
        with suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
