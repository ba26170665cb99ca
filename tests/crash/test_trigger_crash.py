"""kill -9 of the server while webhooks arrive: each event that was acknowledged runs exactly once."""

import random
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
import pytest

from tests.cli.terminal import PATIENCE, Server, Terminal, until

PLAYBOOK = """\
format: 1
id: counted
name: Counted
budget: {usd: 1}
inputs: {type: object, properties: {n: {type: string}}, required: [n]}
graph:
  nodes:
    - {id: result, type: output, value: "${inputs.n}"}
triggers:
  - {type: webhook, signature: none, inputs: {n: "${event.data.n}"}}
"""


@dataclass
class Sender:
    """Sends events until the server is gone; one that got no answer is sent again to the next server."""

    path: str
    wanted: int
    acknowledged: set[str] = field(default_factory=set)
    pending: list[str] = field(default_factory=list)
    made: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> str | None:
        with self.lock:
            if self.pending:
                return self.pending.pop()
            if self.made >= self.wanted:
                return None
            self.made += 1
            return f"event-{self.made}"

    def run(self, client: httpx.Client) -> None:
        while (name := self.next()) is not None:
            try:
                headers = {"webhook-id": name}
                answer = client.post(self.path, json={"n": name}, headers=headers)
            except httpx.TransportError:
                with self.lock:
                    self.pending.append(name)
                return
            assert answer.status_code in {200, 202}, answer.text
            with self.lock:
                self.acknowledged.add(name)


def _prepare(terminal: Terminal) -> tuple[str, str]:
    """An installation with a deployed playbook; its project and the path of its webhook."""
    terminal.env |= {"STEWARD_DEMO": "false", "STEWARD_LOG__LEVEL": "error"}
    with terminal.serving() as server:
        client = server.signed_in()
        project = client.get("/projects").json()["items"][0]["id"]
        place = f"/projects/{project}"
        made = client.post(f"{place}/playbooks", json={"yaml": PLAYBOOK})
        assert made.status_code == 201, made.text
        deployed = client.post(f"{place}/playbooks/counted/deploy", json={})
        assert deployed.status_code < 300, deployed.text
        [trigger] = client.get(f"{place}/triggers").json()["items"]
        address = trigger["addresses"]["stable"]
    return project, address.rpartition("/api/v1")[2]


def _send_and_kill(server: Server, sender: Sender, pause: float) -> None:
    clients = [server.client() for _ in range(4)]
    threads = [threading.Thread(target=sender.run, args=(each,)) for each in clients]
    for thread in threads:
        thread.start()
    threading.Event().wait(pause)
    server.process.send(signal.SIGKILL)
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    server.process.wait()
    server.close_clients()


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_triggers_run_each_acknowledged_event_exactly_once(
    terminal: Terminal, effort: Callable[[int, int], int]
) -> None:
    _, path = _prepare(terminal)
    sender = Sender(path, wanted=effort(120, 10_000))
    dice = random.Random(7)
    for _ in range(effort(2, 40)):
        _send_and_kill(terminal.up(), sender, dice.uniform(0.05, effort(1, 3)))
    with terminal.serving() as server:
        sender.run(server.client())
        assert len(sender.acknowledged) == sender.wanted
        until(lambda: _ended(terminal) == sender.wanted, seconds=effort(120, 1_800))
    runs = Counter(_outputs(terminal))
    assert set(runs.values()) == {1}
    assert set(runs) == sender.acknowledged


def _read(terminal: Terminal, statement: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{terminal.home}/steward.db?mode=ro", uri=True)) as file:
        return file.execute(statement).fetchall()


def _ended(terminal: Terminal) -> int:
    [(count,)] = _read(terminal, "SELECT count(*) FROM trigger_events WHERE state = 'done'")
    return int(count)


def _outputs(terminal: Terminal) -> list[str]:
    """What each run was for, by the inputs in its journal."""
    rows = _read(
        terminal,
        "SELECT json_extract(j.body, '$.data.request.inputs.n') FROM journal j"
        " JOIN runs r ON r.id = j.run_id WHERE j.seq = 1 AND r.status = 'done'",
    )
    return [row[0] for row in rows]
