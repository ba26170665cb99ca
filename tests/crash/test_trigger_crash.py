"""kill -9 of the server while events of each kind of trigger arrive: each that was acknowledged runs exactly once."""

import itertools
import json
import random
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import sqlalchemy as sa

from steward.testing.servers import PostgresServer
from tests.cli.terminal import PATIENCE, Server, Terminal, until
from tests.crash.trigger_doors import DOORS, Door, deploy
from tests.crash.trigger_feeds import FEEDS, LOCAL, Feed, missing

Effort = Callable[[int, int], int]
AT_HAND = ("folder", "kafka", "postgres_changes", *DOORS)
"""Those that `make test` tries; the others run in the soak."""


def _kinds(names: Iterable[str]) -> list[Any]:
    return [
        name if name in AT_HAND else pytest.param(name, marks=pytest.mark.battery) for name in names
    ]


@dataclass
class Sender:
    """Sends events until the server is gone; one that got no answer is sent again where the server knows it by its id."""

    door: Door
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
                known_as = self.door.send(client, name)
            except httpx.TransportError:
                with self.lock:
                    if self.door.knows_ids:
                        self.pending.append(name)
                    else:
                        # Another one instead of it: whether this one is stored, no one can say.
                        self.wanted += 1
                return
            with self.lock:
                self.acknowledged.add(known_as)


def _send_and_kill(
    server: Server, sender: Sender, pause: float, beside: Sequence[httpx.Client] = ()
) -> None:
    clients = [*(server.client() for _ in range(4)), *beside]
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
@pytest.mark.parametrize("kind", _kinds(DOORS))
def test_triggers_run_each_acknowledged_event_exactly_once(
    terminal: Terminal, kind: str, effort: Effort, events: int
) -> None:
    terminal.env |= LOCAL
    with terminal.serving() as server:
        door = DOORS[kind](*_project(server))
    sender = Sender(door, wanted=events)
    dice = random.Random(7)
    for _ in range(_kills(events)):
        _send_and_kill(terminal.up(), sender, dice.uniform(0.05, effort(1, 3)))
    with terminal.serving() as server:
        sender.run(server.client())
        assert len(sender.acknowledged) == events
        everything = lambda: sender.acknowledged <= set(_outputs(terminal))  # noqa: E731
        until(everything, seconds=effort(180, 3_600), what="every acknowledged event")
        until(lambda: not _under_way(terminal), seconds=effort(180, 3_600))
    runs = Counter(_outputs(terminal))
    assert set(runs.values()) == {1}, [each for each in runs.items() if each[1] > 1][:10]
    if door.knows_ids:
        assert set(runs) == sender.acknowledged


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", _kinds(FEEDS))
def test_triggers_run_each_event_of_a_source_exactly_once(
    terminal: Terminal, tmp_path: Path, kind: str, effort: Effort, events: int
) -> None:
    why = missing(kind)
    if why is not None:
        pytest.skip(why)
    dice, wanted, kills = random.Random(7), events, _kills(events)
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


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_servers_that_share_a_database_run_each_acknowledged_event_exactly_once(
    terminal: Terminal,
    effort: Effort,
    events: int,
    postgres: PostgresServer,
    postgres_template: str,
) -> None:
    """Both store, start and claim; one of them is killed, and the other one goes on."""
    dice = random.Random(7)
    with postgres.database(postgres_template) as url:
        terminal.env |= {**LOCAL, "STEWARD_DATABASE__URL": url}
        with terminal.serving() as server:
            door = DOORS["webhook"](*_project(server))
        sender, kills = Sender(door, wanted=0), _kills(events)
        second = terminal.folder / "second"
        shutil.copytree(terminal.home, second)
        staying = terminal.up(env={"STEWARD_HOME": str(second)})
        beside = [staying.client() for _ in range(4)]
        for turn in range(kills):
            server = terminal.up()
            sender.wanted = events * (turn + 1) // kills
            _send_and_kill(server, sender, dice.uniform(0.05, effort(1, 3)), beside)
        sender.run(beside[0])
        assert len(sender.acknowledged) == events
        patience = effort(180, 3_600)
        until(lambda: not _under_way(terminal), seconds=patience, what="the end of every run")
        assert Counter(_outputs(terminal)) == Counter(sender.acknowledged)
        staying.process.send(signal.SIGTERM)
        assert staying.process.wait() == 0


def _prepare_source(terminal: Terminal, feed: Feed) -> None:
    """An installation whose trigger has read the source once."""
    terminal.env |= {**LOCAL, **feed.env}
    with terminal.serving() as server:
        client, place = _project(server)
        feed.prepare(client, place)
        deploy(client, place, feed.trigger, feed.name_in)
        probes = itertools.count()

        def heard() -> bool:
            """Servers that keep nothing for readers whom they have not met lose the first ones."""
            feed.publish([f"probe-{next(probes)}"])
            threading.Event().wait(0.5)
            return bool(_outputs(terminal))

        until(heard, seconds=PATIENCE * 2, what="a first event")


def _kills(events: int) -> int:
    return max(2, events // 250)


def _project(server: Server) -> tuple[httpx.Client, str]:
    client = server.signed_in()
    return client, f"/projects/{client.get('/projects').json()['items'][0]['id']}"


def _counted(terminal: Terminal) -> Counter[str]:
    return Counter(each for each in _outputs(terminal) if not each.startswith("probe-"))


def _probes(terminal: Terminal) -> int:
    return sum(each.startswith("probe-") for each in _outputs(terminal))


def _under_way(terminal: Terminal) -> bool:
    ended = "SELECT count(*) FROM trigger_events WHERE state <> 'done'"
    return bool(_read(terminal, ended)[0][0])


def _read(terminal: Terminal, statement: str) -> list[Any]:
    file = f"sqlite:///file:{terminal.home}/steward.db?mode=ro&uri=true"
    url = terminal.env.get("STEWARD_DATABASE__URL", file)
    url = url.replace("postgresql:", "postgresql+psycopg:")
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute(statement)
        return list(cursor.fetchall())


def _ended(terminal: Terminal) -> int:
    [(count,)] = _read(terminal, "SELECT count(*) FROM trigger_events WHERE state = 'done'")
    return int(count)


def _outputs(terminal: Terminal) -> list[str]:
    """What each run was for, by the inputs in its journal."""
    rows = _read(
        terminal,
        "SELECT j.body FROM journal j JOIN runs r ON r.id = j.run_id"
        " WHERE j.seq = 1 AND r.status = 'done' AND r.subject IN"
        " (SELECT t.subject FROM runs t JOIN trigger_events e ON e.run_id = t.id)",
    )
    return [json.loads(body)["data"]["request"]["inputs"]["n"] for (body,) in rows]
