"""kill -9 of the server while clients write: what was acknowledged is there, and nothing is half done."""

import random
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx2 as httpx
import pytest

from tests.cli.terminal import Server, Terminal

WRITERS = 3


@dataclass
class Writer:
    """Sets secrets and makes tokens until the server is gone; remembers what was acknowledged."""

    name: str
    secrets: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    count: int = 0

    def write(self, client: httpx.Client, project: str, started: threading.Event) -> None:
        try:
            while True:
                self.count += 1
                name = f"{self.name}_{self.count}"
                answer = client.put(f"{project}/secrets/{name}", json={"value": name * 3})
                assert answer.status_code == 200, answer.text
                self.secrets.append(name)
                body = {"name": name, "role": "viewer", "expires_in_days": 1}
                answer = client.post(f"{project}/tokens", json=body)
                assert answer.status_code == 201, answer.text
                self.tokens.append(answer.json()["id"])
                started.set()
        except httpx.TransportError:
            return


def _all(client: httpx.Client, address: str, key: str) -> set[str]:
    found: set[str] = set()
    cursor = None
    while True:
        page = client.get(
            address, params={"limit": 200, **({"cursor": cursor} if cursor else {})}
        ).json()
        found |= {item[key] for item in page["items"]}
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def _kill_while_writing(server: Server, writers: list[Writer], pause: float) -> str:
    clients = [server.signed_in()]
    project = f"/projects/{clients[0].get('/session').json()['projects'][0]['id']}"
    started = threading.Event()
    threads = [
        threading.Thread(target=writer.write, args=(clients[0], project, started))
        for writer in writers
    ]
    for thread in threads:
        thread.start()
    assert started.wait(60)
    # A moment of random length, so that the kill falls anywhere in the work.
    threading.Event().wait(pause)
    server.process.send(signal.SIGKILL)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    server.process.wait()
    server.close_clients()
    return project


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_crash_of_the_server_loses_nothing_acknowledged(
    filled: Terminal, effort: Callable[[int, int], int]
) -> None:
    dice = random.Random(20261115)
    writers = [Writer(f"w{number}") for number in range(WRITERS)]
    filled.env["STEWARD_HTTP__REQUEST_BURST"] = "1000000"
    filled.env["STEWARD_LOG__LEVEL"] = "error"
    project = ""
    for _ in range(effort(4, 100)):
        project = _kill_while_writing(filled.up(), writers, dice.uniform(0, 0.3))
        with sqlite3.connect(filled.home / "steward.db") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()
    with filled.serving() as server:
        client = server.signed_in()
        secrets = _all(client, f"{project}/secrets", "name")
        tokens = _all(client, f"{project}/tokens", "id")
        events = _all(client, f"{project}/events", "subject")
    acknowledged = {name for writer in writers for name in writer.secrets}
    assert acknowledged <= secrets
    assert {token for writer in writers for token in writer.tokens} <= tokens
    # A change and the event that tells of it are one transaction: neither is there alone.
    assert tokens <= events
    # At most the one request of each writer in flight at each kill was kept without an answer.
    assert len(secrets - acknowledged) <= WRITERS * effort(4, 100)
