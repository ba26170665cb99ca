"""kill -9 of the server while events of each kind of trigger arrive: each that was acknowledged runs exactly once."""

import itertools
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
from tests.crash.trigger_feeds import FEEDS, LOCAL, Feed, missing

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
FROM_SOURCE = (
    PLAYBOOK.partition("triggers:")[0]
    + """\
triggers:
  - TRIGGER
"""
)
AT_HAND = ("folder", "kafka", "postgres_changes")
"""Those that `make test` tries; the others run in the soak."""
KINDS = [
    name if name in AT_HAND else pytest.param(name, marks=pytest.mark.battery) for name in FEEDS
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
@pytest.mark.parametrize("kind", KINDS)
def test_triggers_run_each_event_of_a_source_exactly_once(
    terminal: Terminal, tmp_path: Path, kind: str, effort: Callable[[int, int], int]
) -> None:
    why = missing(kind)
    if why is not None:
        pytest.skip(why)
    dice, wanted, kills = random.Random(7), effort(120, 10_000), effort(2, 40)
    with FEEDS[kind](tmp_path) as feed:
        _prepare_source(terminal, feed)
        sent = 0
        for turn in range(kills):
            server = terminal.up()
            until_now = wanted * (turn + 1) // kills
            feed.publish([f"event-{number}" for number in range(sent, until_now)])
            sent = until_now
            threading.Event().wait(dice.uniform(0.05, effort(1, 3)))
            server.process.send(signal.SIGKILL)
            server.process.wait()
            server.close_clients()
        with terminal.serving():
            done = effort(180, 3_600)
            if feed.keeps:
                everything = lambda: len(_counted(terminal)) == wanted  # noqa: E731
                until(everything, seconds=done, what="every event")
            until(lambda: not _under_way(terminal), seconds=done)
    runs = _counted(terminal)
    assert set(runs.values()) <= {1}, [each for each in runs.items() if each[1] > 1][:10]
    if feed.keeps:
        assert set(runs) == {f"event-{number}" for number in range(wanted)}
    else:
        assert len(runs) == _ended(terminal) - _probes(terminal)


def _prepare_source(terminal: Terminal, feed: Feed) -> None:
    """An installation whose trigger has read the source once."""
    terminal.env |= {**LOCAL, **feed.env}
    inputs = f', inputs: {{n: "${{{feed.name_in}}}"}}}}'
    yaml = FROM_SOURCE.replace("TRIGGER", feed.trigger.removesuffix("}") + inputs)
    with terminal.serving() as server:
        client = server.signed_in()
        project = client.get("/projects").json()["items"][0]["id"]
        place = f"/projects/{project}"
        feed.prepare(client, place)
        made = client.post(f"{place}/playbooks", json={"yaml": yaml})
        assert made.status_code == 201, made.text
        deployed = client.post(f"{place}/playbooks/counted/deploy", json={})
        assert deployed.status_code < 300, deployed.text
        probes = itertools.count()

        def heard() -> bool:
            """Servers that keep nothing for readers whom they have not met lose the first ones."""
            feed.publish([f"probe-{next(probes)}"])
            threading.Event().wait(0.5)
            return bool(_outputs(terminal))

        until(heard, seconds=PATIENCE * 2, what="a first event")


def _counted(terminal: Terminal) -> Counter[str]:
    return Counter(each for each in _outputs(terminal) if not each.startswith("probe-"))


def _probes(terminal: Terminal) -> int:
    return sum(each.startswith("probe-") for each in _outputs(terminal))


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
