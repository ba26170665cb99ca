"""A server that speaks the beginning of MySQL's protocol and then does what it should not."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_CAPABILITIES = 0x000FF7FF & ~0x0800  # all of the older ones, without TLS
OK = b"\x00\x00\x00\x02\x00\x00\x00"


@dataclass
class Rogue:
    port: int
    heard: list[bytes] = field(default_factory=list)


def packet(body: bytes, number: int) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number]) + body


def greeting(name: bytes = b"mysql_native_password") -> bytes:
    low, high = _CAPABILITIES & 0xFFFF, _CAPABILITIES >> 16
    return (
        b"\x0a8.0.99\x00" + struct.pack("<I", 7) + b"saltsalt\x00" + struct.pack("<H", low)
        + b"\x2d\x02\x00" + struct.pack("<H", high) + b"\x15" + b"\x00" * 10
        + b"saltsaltsalt\x00" + name + b"\x00"
    )  # fmt: skip


@contextmanager
def rogue(behave: Callable[[socket.socket, Rogue], None]) -> Iterator[Rogue]:
    """Each connection is given to `behave` in a thread; all end with the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    made = Rogue(listening.getsockname()[1])
    open_ones: list[socket.socket] = []

    def serve(one: socket.socket) -> None:
        with one:
            try:
                behave(one, made)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                one, _ = listening.accept()
            except OSError:
                return
            open_ones.append(one)
            threading.Thread(target=serve, args=(one,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield made
    finally:
        listening.close()
        for one in open_ones:
            one.close()


def hear(one: socket.socket, server: Rogue) -> bytes:
    """The next packet's body."""
    head = _exactly(one, 4)
    body = _exactly(one, int.from_bytes(head[:3], "little"))
    server.heard.append(body)
    return body


def _exactly(one: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        piece = one.recv(count - len(got))
        if not piece:
            raise ConnectionResetError
        got += piece
    return got
