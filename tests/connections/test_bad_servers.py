"""Every kind against servers that are silent, endless or indiscreet: a check ends in time, in our words, without secrets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from steward.app.connection_services import BenchDatabases
from steward.connections import Check, Draft, Http, Mailer, load_connectors
from steward.connections.connector import Connector
from tests.connections.outside import ok
from tests.connections.test_using import _access
from tests.tools.room import Room, run

SECRET = "s3cret-of-the-connection"
Behave = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]

# Where each kind would go, at a port of this machine, and what it would tell the server.
KINDS: dict[str, Callable[[int], tuple[dict[str, Any], dict[str, str]]]] = {
    "postgresql": lambda port: (
        {"host": "127.0.0.1", "port": port, "database": "shop", "user": "ada"},
        {"password": SECRET},
    ),
    "mysql": lambda port: (
        {"host": "127.0.0.1", "port": port, "database": "shop", "user": "ada"},
        {"password": SECRET},
    ),
    "kafka": lambda port: (
        {
            "host": "127.0.0.1",
            "port": port,
            "security": "none",
            "sign_in": "PLAIN",
            "username": "ada",
        },
        {"password": SECRET},
    ),
    "s3": lambda port: (
        {"bucket": "reports", "endpoint": f"http://127.0.0.1:{port}"},
        {"access_key_id": "AKIDEXAMPLE", "secret_access_key": SECRET},
    ),
    "smtp": lambda port: (
        {"host": "127.0.0.1", "port": port, "sender": "a@example.com", "username": "ada"},
        {"password": SECRET},
    ),
    "imap": lambda port: (
        {"host": "127.0.0.1", "port": port, "username": "ada"},
        {"password": SECRET},
    ),
    "sftp": lambda port: (
        {"host": "127.0.0.1", "port": port, "username": "ada"},
        {"password": SECRET},
    ),
    "slack": lambda port: (
        {"channels": ["#finance"], "api_url": f"http://127.0.0.1:{port}"},
        {"token": SECRET},
    ),
    "http_api": lambda port: (
        {"base_url": f"http://127.0.0.1:{port}/v1", "authentication": "bearer"},
        {"token": SECRET},
    ),
    "mcp": lambda port: ({"url": f"http://127.0.0.1:{port}/mcp"}, {"token": SECRET}),
}


@asynccontextmanager
async def _behaving(behave: Behave) -> AsyncIterator[int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await behave(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    while await reader.read(1000):
        pass


async def _endless(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Never ends what it begins to say, whichever protocol is expected."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        writer.write(b"1," * 50_000)
        await writer.drain()


async def _indiscreet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with what it was told, and with the secret itself; to who waits for a greeting, as one."""
    heard = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.3):
            heard = await reader.read(65_536)
    writer.write(ok(SECRET.encode() + b" " + heard, status="401 Unauthorized"))
    await writer.drain()


async def _rubbish(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(bytes(range(256)) * 8)
    await writer.drain()


def _checked(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    behave: Behave,
    seconds: float,
) -> Check:
    desk = room.steward.connections
    desk.around = desk.health.around = replace(
        desk.around,
        http=Http(allow_private=["127.0.0.1"]),
        mail=Mailer(allow_private=["127.0.0.1"]),
        databases=BenchDatabases(room.steward.workbench),
    )
    # Kinds set their time when they are made, which must be before.
    load_connectors()
    monkeypatch.setattr(
        Connector, "time", property(lambda _self: timedelta(seconds=seconds)), raising=False
    )

    async def work() -> Check:
        async with _behaving(behave) as port:
            settings, values = KINDS[kind](port)
            draft = Draft("outside", kind, settings, values=values)
            made = desk.documents.create(_access(room), draft)
            async with asyncio.timeout(30):
                return await desk.health.check(room.scope, made.id, "usr")

    found: Check = run(work())
    return found


def test_no_kind_that_reaches_out_is_left_out() -> None:
    # A service is called at the addresses of its own description; tests/connections/catalogue call it.
    inside_or_elsewhere = {"database_file", "slack_webhook", "service"}
    assert {kind for kind, _ in load_connectors()} == KINDS.keys() | inside_or_elsewhere


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("behave", [_endless, _indiscreet, _rubbish])
def test_a_bad_server_is_told_in_our_words(
    room: Room, monkeypatch: pytest.MonkeyPatch, kind: str, behave: Behave
) -> None:
    check = _checked(room, monkeypatch, kind, behave, 4)
    assert not check.worked
    assert check.code
    assert SECRET not in check.words
    assert len(check.words) <= 600
    history = room.steward.connections.health.history(room.scope, _only(room))
    assert [each.code for each in history] == [check.code]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_silent_server_is_left_in_time(
    room: Room, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    check = _checked(room, monkeypatch, kind, _silent, 0.5)
    assert (check.worked, check.code) == (False, "timeout")
    assert "0.5 seconds" in check.words


def _only(room: Room) -> str:
    (found,) = room.steward.connections.documents.listed(room.scope)
    return found.id
