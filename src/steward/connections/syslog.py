"""Syslog out: RFC 5424 messages over TCP or TLS, each with its length in front (RFC 5425, RFC 6587)."""

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from steward.connections.addresses import Allowed, Resolve, resolve_by_system, resolve_checked
from steward.core import Misconfigured, Unavailable

_AUDIT: Final = 13
"""The facility "log audit"."""
_SECONDS: Final = 20.0
_CHUNK: Final = 1 << 16
_NOT_PRINTABLE: Final = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True)
class SyslogServer:
    host: str
    port: int
    tls: bool


@dataclass(frozen=True)
class SyslogMessage:
    severity: int
    """0 (emergency) to 7 (debug)."""
    time: datetime
    kind: str
    text: str

    def frame(self) -> bytes:
        moment = self.time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        name = _NOT_PRINTABLE.sub("-", socket.gethostname())[:255] or "-"
        kind = _NOT_PRINTABLE.sub("-", self.kind)[:32] or "-"
        priority = _AUDIT * 8 + self.severity
        message = f"<{priority}>1 {moment} {name} steward - {kind} - {self.text}".encode()
        return b"%d %s" % (len(message), message)


class Syslog:
    """The only way out by syslog; the server's address is checked like every other."""

    def __init__(
        self,
        *,
        allow_private: Sequence[str] = (),
        resolve: Resolve = resolve_by_system,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = Allowed.parse(allow_private)
        self._resolve = resolve
        self._tls = tls

    async def send(self, server: SyslogServer, messages: Sequence[SyslogMessage]) -> None:
        """Hands messages over in order. Syslog knows no receipt: what the network took counts as sent."""
        try:
            async with asyncio.timeout(_SECONDS):
                addresses = await resolve_checked(
                    server.host, server.port, resolve=self._resolve, allowed=self._allowed
                )
                await self._hand_over(server, str(addresses[0]), messages)
        except ssl.SSLCertVerificationError as problem:
            raise Misconfigured(
                f"The certificate of {server.host} is not trusted: {problem.verify_message}."
            ) from None
        except (OSError, TimeoutError) as problem:
            reason = str(problem) or type(problem).__name__
            raise Unavailable(f"{server.host}:{server.port} took no syslog: {reason}.") from None

    async def _hand_over(
        self, server: SyslogServer, address: str, messages: Sequence[SyslogMessage]
    ) -> None:
        tls = (self._tls or ssl.create_default_context()) if server.tls else None
        reader, writer = await asyncio.open_connection(
            address, server.port, ssl=tls, server_hostname=server.host if tls else None
        )
        try:
            for message in messages:
                writer.write(message.frame())
                await writer.drain()
            if writer.can_write_eof():
                # A server that has read everything closes, too; one that resets the connection has not.
                writer.write_eof()
                while await reader.read(_CHUNK):
                    # Syslog servers say nothing; what one says anyway is not kept.
                    pass
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await writer.wait_closed()
