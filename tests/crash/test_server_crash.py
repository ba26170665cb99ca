"""kill -9 of the server while clients write: what was acknowledged is there, and nothing is half done."""

import random
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx2 as httpx
import pytest

from steward.testing import PostgresServer
from tests.cli.terminal import PATIENCE, Server, Terminal

pytestmark = pytest.mark.every_database

ROLES = cycle(["viewer", "operator", "editor", "admin"])
OTHER = "other@example.com"


@dataclass
class Record:
    """What clients were told, and how many requests were cut off without an answer."""

    project: str = ""
    other: str = ""
    secrets: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["My project"])
    roles: list[str] = field(default_factory=lambda: ["viewer"])
    cut_off: int = 0


@dataclass
class Clients:
    """Each writes one kind of thing until the server is gone."""

    client: httpx.Client
    record: Record
    started: threading.Event = field(default_factory=threading.Event)

    def run(self, work: Callable[[], None]) -> None:
        try:
            while True:
                work()
                self.started.set()
        except httpx.TransportError:
            self.record.cut_off += 1

    def _send(self, method: str, path: str, **options: Any) -> Any:
        answer = self.client.request(method, f"/projects/{self.record.project}{path}", **options)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def set_secret(self) -> None:
        name = f"KEY_{len(self.record.secrets)}_{random.getrandbits(32)}"
        self._send("PUT", f"/secrets/{name}", json={"value": name})
        self.record.secrets.append(name)

    def make_token(self) -> None:
        body = {"name": "crash", "role": "viewer", "expires_in_days": 1}
        self.record.tokens.append(self._send("POST", "/tokens", json=body)["id"])

    def rename(self) -> None:
        current = self.client.get(f"/projects/{self.record.project}")
        name = f"Project {random.getrandbits(32)}"
        matching = {"If-Match": current.headers["ETag"]}
        self._send("PATCH", "", json={"name": name}, headers=matching)
        self.record.names.append(name)

    def change_role(self) -> None:
        role = next(ROLES)
        self._send("PUT", f"/members/{self.record.other}", json={"role": role})
        self.record.roles.append(role)


def _prepare(terminal: Terminal) -> Record:
    """An installation with a second member, and room for many requests."""
    terminal.env |= {
        "STEWARD_DEMO": "false",
        "STEWARD_HTTP__REQUEST_BURST": "1000000",
        "STEWARD_LOG__LEVEL": "error",
    }
    with terminal.serving() as server:
        client = server.signed_in()
        project = client.get("/projects").json()["items"][0]["id"]
        answer = client.post(f"/projects/{project}/invitations", json={"role": "viewer"})
        token = answer.json()["link"].rpartition("=")[2]
        body = {
            "token": token,
            "name": "Other",
            "email": OTHER,
            "password": "correct horse battery",
        }
        accepted = server.client().post("/invitations/accept", json=body)
        assert accepted.status_code < 300, accepted.text
        members = client.get(f"/projects/{project}/members").json()["items"]
    [other] = [member["user_id"] for member in members if member["email"] == OTHER]
    return Record(project, other)


def _kill_while_writing(server: Server, record: Record, pause: float) -> None:
    clients = Clients(server.signed_in(), record)
    kinds = (clients.set_secret, clients.make_token, clients.rename, clients.change_role)
    threads = [threading.Thread(target=clients.run, args=(kind,)) for kind in kinds]
    for thread in threads:
        thread.start()
    assert clients.started.wait(PATIENCE)
    # A moment of random length, so that the kill falls anywhere in the work.
    threading.Event().wait(pause)
    server.process.send(signal.SIGKILL)
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    server.process.wait()
    server.close_clients()


def _all(client: httpx.Client, address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.get(address, params={"limit": "200", **cursor}).json()
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def _check(client: httpx.Client, record: Record) -> None:
    base = f"/projects/{record.project}"
    secrets = {item["name"] for item in _all(client, f"{base}/secrets")}
    tokens = {item["id"] for item in _all(client, f"{base}/tokens")}
    events = _all(client, f"{base}/events")
    assert set(record.secrets) <= secrets
    assert set(record.tokens) <= tokens
    unanswered = len(secrets) - len(record.secrets) + len(tokens) - len(record.tokens)
    assert unanswered <= record.cut_off, "only what was in flight may be there unacknowledged"
    # A change and the event that tells of it are one transaction: neither is there alone.
    assert {e["subject"] for e in events if e["type"].endswith("token.created")} == tokens
    renamed = [e["data"]["name"] for e in events if e["type"].endswith("project.updated")][::-1]
    project = client.get(base)
    assert project.json()["name"] == [*record.names[:1], *renamed][-1]
    assert project.headers["ETag"] == f'"{len(renamed) + 1}"'
    assert _is_within(record.names[1:], renamed)
    changes = [e for e in events if e["type"].endswith("member.changed")][::-1]
    roles = [e["data"]["role"] for e in changes if e["subject"] == record.other]
    assert _is_within(record.roles, roles)
    [role] = [m["role"] for m in _all(client, f"{base}/members") if m["email"] == OTHER]
    assert role == roles[-1]


def _is_within(acknowledged: list[str], happened: list[str]) -> bool:
    """Whether all that was acknowledged happened, in that order."""
    rest = iter(happened)
    return all(one in rest for one in acknowledged)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_crash_of_the_server_loses_nothing_acknowledged(
    terminal: Terminal,
    database_kind: str,
    effort: Callable[[int, int], int],
    request: pytest.FixtureRequest,
) -> None:
    if database_kind == "sqlite":
        _crash_often(terminal, effort(5, 100))
        with closing(sqlite3.connect(terminal.home / "steward.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(request.getfixturevalue("postgres_template")) as url:
        terminal.env["STEWARD_DATABASE__URL"] = url
        _crash_often(terminal, effort(2, 100))


def _crash_often(terminal: Terminal, rounds: int) -> None:
    record = _prepare(terminal)
    for _ in range(rounds):
        _kill_while_writing(terminal.up(), record, random.uniform(0, 0.3))
    with terminal.serving() as server:
        _check(server.signed_in(), record)
    # Reading every secret back proves that none was stored half.
    said = terminal.run("backup", "after.tar.gz", "--json").json()
    assert said["secrets"] >= len(record.secrets)
