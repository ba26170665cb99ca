"""TLS and SASL in front of Kafka's broker for tests, which has neither: a door that decrypts, asks for the password and passes on."""

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

_VERSIONS, _HANDSHAKE, _AUTHENTICATE = 18, 17, 36
_REFUSED, _NO_SUCH_WAY = 58, 33


@dataclass
class Door:
    tls: ssl.SSLContext
    broker: int
    secret: bytes
    """How what a client says by PLAIN ends: the user and the password, each after a zero; empty: nobody is asked."""
    port: int = 0
    ways: list[str] = field(default_factory=list)
    """How clients wanted to sign in."""
    certificates: list[str] = field(default_factory=list)
    """Whose certificates they showed."""

    def serve(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=self._let_in, args=(client,), daemon=True).start()

    def _let_in(self, client: socket.socket) -> None:
        with suppress(OSError, EOFError, ssl.SSLError):
            with client:
                inside = self.tls.wrap_socket(client, server_side=True)
            subject: Any = (inside.getpeercert() or {}).get("subject", ())
            self.certificates += [value for [(name, value)] in subject if name == "commonName"]
            with inside, socket.create_connection(("127.0.0.1", self.broker)) as broker:
                if not self.secret or self._is_known(inside, broker):
                    back = threading.Thread(target=self._pass_back, args=(broker, inside))
                    back.start()
                    while True:
                        broker.sendall(_frame(inside))

    def _is_known(self, client: ssl.SSLSocket, broker: socket.socket) -> bool:
        while True:
            asked = _frame(client)
            what, _, number, length = struct.unpack_from(">hhih", asked, 4)
            body = asked[14 + length :]
            if what == _VERSIONS:
                broker.sendall(asked)
                told = _frame(broker)[8:]
                [error, count] = struct.unpack_from(">hi", told)
                further = struct.pack(">hhhhhh", _HANDSHAKE, 0, 1, _AUTHENTICATE, 0, 0)
                # The shape of the first version of the answer, which is what the client asks for.
                told = struct.pack(">hi", error, count + 2) + told[6 : 6 + count * 6] + further
                _answer(client, number, told)
            elif what == _HANDSHAKE:
                way = body[2:].decode()
                self.ways.append(way)
                error = 0 if way == "PLAIN" else _NO_SUCH_WAY
                _answer(client, number, struct.pack(">hih", error, 1, 5) + b"PLAIN")
            else:
                assert what == _AUTHENTICATE
                error = 0 if body[4:].endswith(self.secret) else _REFUSED
                _answer(client, number, struct.pack(">hhi", error, -1, 0))
                return error == 0

    def _pass_back(self, broker: socket.socket, client: ssl.SSLSocket) -> None:
        """The broker names itself; its port becomes the one of this door."""
        mine, its = struct.pack(">i", self.port), struct.pack(">i", self.broker)
        with suppress(OSError, EOFError):
            while True:
                client.sendall(_frame(broker).replace(its, mine))


def _frame(connection: socket.socket) -> bytes:
    head = _exactly(connection, 4)
    return head + _exactly(connection, struct.unpack(">i", head)[0])


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = connection.recv(size - len(found))
        if not piece:
            raise EOFError
        found += piece
    return found


def _answer(client: ssl.SSLSocket, number: int, body: bytes) -> None:
    client.sendall(struct.pack(">ii", 4 + len(body), number) + body)


@contextmanager
def door(tls: ssl.SSLContext, broker: int, user: str = "", password: str = "") -> Iterator[Door]:
    secret = f"\0{user}\0{password}".encode() if user else b""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = Door(tls, broker, secret, listening.getsockname()[1])
        threading.Thread(target=made.serve, args=(listening,), daemon=True).start()
        yield made
