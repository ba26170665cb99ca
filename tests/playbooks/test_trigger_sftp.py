"""Files that arrive on an SFTP server start playbooks; the server's key is checked before anything is told to it."""

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paramiko")

import paramiko

from steward.connections import Draft, Http
from steward.connections.sftp import SftpServer, SftpSession, list_folder
from steward.core.errors import Denied, Misconfigured, NotFound, TooLarge, Unavailable
from steward.playbooks.triggers import arriving_files
from steward.tools import HTTP
from tests.connections.sftp_server import PASSWORD, USER, Running, sftp_server
from tests.playbooks.conftest import Room
from tests.playbooks.test_trigger_sources import deploy, events, fresh, look

NEAR = Http(allow_private=["127.0.0.1"])
TRIGGER = "{type: sftp, connection: partner, pattern: '*.csv', seconds: 60}"
CLIENT_KEY = paramiko.ECDSAKey.generate()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "out"
    folder.mkdir()
    with sftp_server(tmp_path, CLIENT_KEY) as started:
        yield started


def _server(running: Running, **more: Any) -> SftpServer:
    said = {"host_key": running.fingerprint, "password": PASSWORD, **more}
    return SftpServer("127.0.0.1", running.port, said.pop("username", USER), **said)


def _put(running: Running, name: str, content: bytes, at: int) -> None:
    path = running.folder / "out" / name
    path.write_bytes(content)
    os.utime(path, (at, at))


def _connect(room: Room, running: Running, password: str = PASSWORD) -> None:
    services = room.installation.steward.services
    services.add(HTTP.of(NEAR))
    settings = {
        "host": "127.0.0.1",
        "port": running.port,
        "username": USER,
        "host_key": running.fingerprint,
        "folder": "/out",
    }
    draft = Draft("partner", "sftp", settings, values={"password": password})
    room.installation.steward.connections.documents.create(room.installation.owner.access, draft)


def _go_on(room: Room) -> int:
    room.installation.clock.advance(seconds=61)
    return room.go_round()


def test_each_file_starts_it_once_it_is_whole(room: Room, running: Running) -> None:
    _connect(room, running)
    _put(running, "old.csv", b"a\n", 100)
    shown = deploy(room, TRIGGER)
    assert room.go_round() == 0
    _put(running, "new.csv", b"a\n", 200)
    _put(running, "new.txt", b"a\n", 200)
    (running.folder / "out" / "link.csv").symlink_to("/etc/passwd")
    assert _go_on(room) == 0
    _put(running, "new.csv", b"a\n1\n", 201)
    assert _go_on(room) == 0
    assert _go_on(room) == 1
    assert _go_on(room) == 0
    [event] = events(room, shown)
    data = event.document["data"]
    assert (data["path"], data["bytes"]) == ("sftp://127.0.0.1/out/new.csv", 4)
    bringing = room.installation.steward.workbench.bringing
    found = bringing.inspect(room.editor.access.scope, data["upload"])
    assert [each.name for each in found.columns] == ["a"]


def test_many_files_cost_one_sign_in_and_one_listing(
    room: Room, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving_files, "_MOST_AT_ONCE", 5)
    _connect(room, running)
    for number in range(23):
        _put(running, f"{number}.csv", b"a\n", 100)
    shown = deploy(room, TRIGGER.replace("seconds", "start: all, seconds"))
    look(room, shown)
    assert (len(running.sign_ins), running.listings, events(room, shown)) == (1, ["/out"], [])
    room.installation.clock.advance(seconds=61)
    look(room, shown)
    assert (len(running.sign_ins), running.listings) == (2, ["/out", "/out"])
    assert len({each.document["data"]["path"] for each in events(room, shown)}) == 23
    assert fresh(room, shown).cursor["last"] == {}


def test_a_sign_in_that_fails_is_told(room: Room, running: Running) -> None:
    _connect(room, running, "wrong-0123456789")
    shown = deploy(room, TRIGGER)
    room.go_round()
    assert "refused the sign-in" in str(fresh(room, shown).failing_why)


def test_files_are_read_up_to_a_limit(running: Running) -> None:
    _put(running, "a.csv", b"12345", 100)
    server = _server(running)
    assert asyncio.run(list_folder(NEAR, server, "/out", 10)) == {"a.csv": "5:100"}
    session = SftpSession(NEAR, server)
    assert asyncio.run(session.fetch_file("/out/a.csv", 5)) == b"12345"
    with pytest.raises(TooLarge):
        asyncio.run(session.fetch_file("/out/a.csv", 4))
    with pytest.raises(TooLarge):
        asyncio.run(list_folder(NEAR, server, "/out", 0))
    with pytest.raises(NotFound):
        asyncio.run(session.fetch_file("/out/none", 4))
    assert asyncio.run(session.fetch_file("/out/a.csv", 5)) == b"12345", "it signs in again"
    session.close()


def test_a_private_key_signs_in(running: Running) -> None:
    text = io.StringIO()
    CLIENT_KEY.write_private_key(text)
    server = _server(running, password="", private_key=text.getvalue())
    assert asyncio.run(list_folder(NEAR, server, "/out", 10)) == {}
    with pytest.raises(Misconfigured, match="private_key"):
        asyncio.run(list_folder(NEAR, _server(running, private_key="no key"), "/out", 10))


def test_a_server_with_another_key_is_told_nothing(running: Running) -> None:
    for known, code in (("", "host-key-unknown"), (f"SHA256:{'A' * 43}", "host-key-changed")):
        with pytest.raises(Misconfigured) as raised:
            asyncio.run(list_folder(NEAR, _server(running, host_key=known), "/out", 10))
        assert raised.value.specific_code == code
        assert running.fingerprint in raised.value.message
    assert running.sign_ins == []


def test_addresses_are_checked_first(running: Running) -> None:
    with pytest.raises(Denied):
        asyncio.run(list_folder(Http(), _server(running), "/out", 10))
    nobody = SftpServer("127.0.0.1", 1, USER, running.fingerprint, PASSWORD)
    with pytest.raises(Unavailable):
        asyncio.run(list_folder(NEAR, nobody, "/out", 10))
