"""kill -9 of the server while webhooks or messages of queues arrive: each event that was acknowledged runs exactly once."""

import random
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.cli.terminal import PATIENCE, Server, Terminal, until
from tests.playbooks.brokers import BROKERS, Broker, program

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
FROM_QUEUE = (
    PLAYBOOK.partition("triggers:")[0]
    + """\
triggers:
  - TRIGGER
"""
)
BATTERIES = [
    name if name == "kafka" else pytest.param(name, marks=pytest.mark.battery) for name in BROKERS
]


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


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", BATTERIES)
def test_triggers_run_each_message_of_a_queue_exactly_once(
    terminal: Terminal, tmp_path: Path, kind: str, effort: Callable[[int, int], int]
) -> None:
    start, needed = BROKERS[kind]
    if any(program(name) is None for name in needed):
        pytest.skip(f"needs {', '.join(needed)} on this machine")
    dice, wanted, kills = random.Random(7), effort(120, 10_000), effort(2, 40)
    with start(tmp_path) as broker:
        broker.empty()
        _prepare_queue(terminal, broker)
        sent = 0
        for turn in range(kills):
            server = terminal.up()
            until_now = wanted * (turn + 1) // kills
            broker.publish([_body(number) for number in range(sent, until_now)])
            sent = until_now
            threading.Event().wait(dice.uniform(0.05, effort(1, 3)))
            server.process.send(signal.SIGKILL)
            server.process.wait()
            server.close_clients()
        with terminal.serving():
            done = effort(180, 3_600)
            until(lambda: len(_counted(terminal)) == wanted, seconds=done, what="every message")
            until(lambda: not _under_way(terminal), seconds=done)
    runs = _counted(terminal)
    assert set(runs.values()) == {1}
    assert set(runs) == {f"event-{number}" for number in range(wanted)}


def _body(number: int) -> bytes:
    return b'{"n": "event-%d"}' % number


def _prepare_queue(terminal: Terminal, broker: Broker) -> None:
    """An installation whose trigger the server of the queue knows."""
    terminal.env |= {
        "STEWARD_DEMO": "false",
        "STEWARD_LOG__LEVEL": "error",
        "STEWARD_NETWORK__ALLOW_PRIVATE": '["127.0.0.1"]',
    }
    field_of = "event.data.body.n" if "redis" in broker.trigger else "event.data.n"
    inputs = f', inputs: {{n: "${{{field_of}}}"}}}}'
    yaml = FROM_QUEUE.replace("TRIGGER", broker.trigger.removesuffix("}") + inputs)
    with terminal.serving() as server:
        client = server.signed_in()
        project = client.get("/projects").json()["items"][0]["id"]
        place = f"/projects/{project}"
        kept = client.put(f"{place}/secrets/queue", json={"value": broker.url})
        assert kept.status_code < 300, kept.text
        made = client.post(f"{place}/playbooks", json={"yaml": yaml})
        assert made.status_code == 201, made.text
        deployed = client.post(f"{place}/playbooks/counted/deploy", json={})
        assert deployed.status_code < 300, deployed.text

        def heard() -> bool:
            """Servers that keep nothing for readers whom they have not met lose the first ones."""
            broker.publish([b'{"n": "probe"}'])
            threading.Event().wait(0.5)
            return bool(_outputs(terminal))

        until(heard, what="a first message")


def _counted(terminal: Terminal) -> Counter[str]:
    return Counter(each for each in _outputs(terminal) if each != "probe")


def _under_way(terminal: Terminal) -> bool:
    ended = "SELECT count(*) FROM trigger_events WHERE state <> 'done'"
    return bool(_read(terminal, ended)[0][0])


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
