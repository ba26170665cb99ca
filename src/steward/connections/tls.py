"""TLS for clients that connect to an address: the certificate is checked by the name that led there."""

import ssl
from socket import socket
from typing import Any

from steward.core import Misconfigured


class NamedTls(ssl.SSLContext):
    """Checks certificates by the names of servers while clients connect to addresses that were checked."""

    def __new__(cls, *_: Any) -> "NamedTls":
        return super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)

    def __init__(self, trusted: str = "") -> None:
        """`trusted`: certificates in PEM whose servers are trusted instead of those that this machine trusts."""
        self.names: dict[str, str] = {}
        if not trusted:
            self.load_default_certs()
            return
        try:
            self.load_verify_locations(cadata=trusted)
        except (ssl.SSLError, ValueError):
            raise Misconfigured("The root certificate of the connection cannot be read.") from None

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        named = self.names[str(server_hostname)]
        return super().wrap_bio(incoming, outgoing, server_side, named, session)

    def wrap_socket(
        self,
        sock: socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLSocket:
        named = self.names[str(server_hostname)]
        wrapped = super().wrap_socket(
            sock, server_side, do_handshake_on_connect, suppress_ragged_eofs, named, session
        )
        try:
            wrapped.do_handshake()
        except BaseException:
            # A client that does this itself may leave the socket open when it fails.
            wrapped.close()
            raise
        return wrapped
