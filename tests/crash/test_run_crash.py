"""kill -9 of workers wherever it hurts: every run ends as it would have, and each message goes out once."""

import asyncio
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP
from typing import Any

import pytest

from steward.app import Steward, open_steward
from steward.broker.approvals import State, Verdict
from steward.core import MovableClock, load_settings
from steward.core.errors import Unavailable
from steward.flows.launch import Start
from steward.identity import Access
from steward.runs import RunRequest
from steward.testing import Installation, NatsServer, Person, PostgresServer, fast_passwords
from steward.testing.installation import Installation as Opened
from tests.cli.terminal import until
from tests.crash.nursery import Children, Kill, Nursery, chosen, points_met
from tests.crash.run_child import SERVING

pytestmark = pytest.mark.every_database

SECRET = "whsec_" + "c3Rld2FyZCBjcmFzaCB0ZXN0cyBzaWduIHRoaXM="
POINTS = {
    "runs.append.written",
    "runs.append.durable",
    "runs.drive.loaded",
    "runs.effect.intended",
    "runs.effect.done",
    "runs.drive.parked",
    "runs.drive.finished",
    "broker.approved",
    "broker.executed",
}
PHASES = 5


def flow() -> dict[str, Any]:
    """Two messages, one after the other, each approved by a person."""

    def send(name: str, **more: Any) -> dict[str, Any]:
        arguments = {"endpoint": "world", "type": f"crash.{name}", "data": {"n": "${inputs.n}"}}
        return {"id": name, "type": "tool", "tool": "send_webhook", "arguments": arguments, **more}

    told = {"first": "${nodes.first.output.status}", "second": "${nodes.second.output.status}"}
    return {
        "format": 1,
        "id": "two_messages",
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "nodes": [
            send("first"),
            send("second", needs=["first"]),
            {"id": "told", "type": "output", "value": told, "needs": ["first", "second"]},
        ],
    }


class Receiver:
    """Takes webhooks as the standard wants it: a message whose id it has seen counts once."""

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()
        self.messages: dict[str, tuple[str, int]] = {}
        lock, receiver = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    name = self.headers["webhook-id"]
                    receiver.heard[name] += 1
                    said = (body["type"], body["data"]["n"])
                    assert receiver.messages.setdefault(name, said) == said
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass
class Site:
    """An installation with a project that may send webhooks to the receiver, and the processes that work for it."""

    steward: Steward
    person: Person
    receiver: Receiver
    children: Children
    folder: Path
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def access(self) -> Access:
        return self.person.access

    def start(self) -> str:
        number = len(self.numbers)
        run = self.steward.governing.launcher.start(self.access, Start(flow(), {"n": number}))
        self.numbers[run.id] = number
        return run.id

    def approve_all(self) -> int:
        governing = self.steward.governing
        pending = governing.approvals.listed(self.access, status=State.pending, limit=200)
        for each in pending:
            verdict = Verdict(approve=True, body_hash=each.body_hash)
            asyncio.run(governing.deciding.decide(self.access, each.id, verdict))
        return len(pending)

    def status(self, run_id: str) -> str:
        return self.steward.runs.get(self.access.scope, run_id).status.value

    def is_over(self) -> bool:
        return all(
            self.steward.runs.get(self.access.scope, each).status.is_final for each in self.numbers
        )

    def check(self) -> None:
        """Every run ended as it would have, said everything once, and has an intact journal."""
        scope, runs = self.access.scope, self.steward.runs
        for run_id in self.numbers:
            assert runs.outcome(scope, run_id) == {"output": {"first": 204, "second": 204}}
            assert runs.verify(scope, run_id).is_intact
            assert asyncio.run(runs.replay(scope, run_id)).is_same
            asked = self.steward.governing.approvals.listed(self.access, run_id=run_id)
            assert [each.status for each in asked] == [State.used, State.used]
        expected = Counter(
            (f"crash.{name}", n) for n in self.numbers.values() for name in ("first", "second")
        )
        assert Counter(self.receiver.messages.values()) == expected


@contextmanager
def site(
    steward: Steward, person: Person, folder: Path, nursery: Nursery, **place: Any
) -> Iterator[Site]:
    with ExitStack() as stack:
        receiver = Receiver()
        stack.callback(receiver.close)
        endpoint = {"url": receiver.url, "secret": "HOOK"}
        steward.secrets.set(person.access.scope, "HOOK", SECRET, author=person.user.id)
        steward.governing.rulebook.change_settings(
            person.access, 0, tools={"send_webhook": {"endpoints": {"world": endpoint}}}
        )
        home = steward.settings.home
        children = Children(nursery, {"home": str(home), **place})
        stack.callback(children.close)
        yield Site(steward, person, receiver, children, folder)


@pytest.fixture
def standing(
    installation: Installation, nursery: Nursery, database_url: str | None, tmp_path: Path
) -> Iterator[Site]:
    """Time moves only when the test says so."""
    steward, owner = installation.steward, installation.owner
    with site(steward, owner, tmp_path, nursery, url=database_url) as made:
        yield made


@contextmanager
def lively(
    nursery: Nursery,
    database_url: str | None,
    folder: Path,
    nats: str | None = None,
    **more: Any,
) -> Iterator[Site]:
    """Time is real, as it is for the workers."""
    home = folder / "home"
    settings = load_settings(
        home=home, database={"url": database_url}, runs={"nats_url": nats}, **more
    )
    steward = open_steward(settings, passwords=fast_passwords())
    opened = Opened(steward, MovableClock(steward.clock.now()))
    try:
        with site(steward, opened.owner, folder, nursery, url=database_url, nats=nats) as made:
            yield made
    finally:
        opened.close()


def points(standing: Site, clock: MovableClock) -> list[Kill]:
    """Every fault point a run meets on its way, by phase; a phase ends where it waits."""
    run_id, found = standing.start(), []
    for phase in range(PHASES):
        listing = standing.folder / "points.json"
        at = clock.now().isoformat()
        assert standing.children.drive(at, run=run_id, listing=str(listing)) == 0
        found += points_met(phase, listing)
        standing.approve_all()
        clock.advance(seconds=7)
    assert standing.status(run_id) == "done"
    return found


@pytest.mark.timeout(900)
def test_a_worker_dies_at_every_fault_point(
    standing: Site, clock: MovableClock, effort: Callable[[int, int], int]
) -> None:
    found = points(standing, clock)
    assert {name for _, name, _ in found} == POINTS
    kills = {standing.start(): kill for kill in chosen(found, every=effort(0, 1) == 1)}
    children = standing.children
    for phase in range(PHASES):
        for run_id, (when, point, occurrence) in kills.items():
            if when == phase:
                at = clock.now().isoformat()
                ended = children.drive(at, run=run_id, point=point, occurrence=occurrence)
                assert ended == -SIGKILL, (phase, point, occurrence)
        # The leases of the dead run out; somebody else goes on.
        clock.advance(seconds=7)
        assert children.drive(clock.now().isoformat()) == 0
        standing.approve_all()
        clock.advance(seconds=7)
    while not standing.is_over():
        assert children.drive(clock.now().isoformat()) == 0
        standing.approve_all()
        clock.advance(seconds=7)
    standing.check()
    repeated = sum(count - 1 for count in standing.receiver.heard.values())
    assert repeated > 0, "some message was sent again, and the receiver knew it by its id"


@pytest.mark.timeout(600)
def test_a_process_dies_while_somebody_changes_data_by_hand(
    standing: Site, clock: MovableClock, effort: Callable[[int, int], int]
) -> None:
    """What was intended is done by the next worker, once; what was not written down has not happened."""
    steward, access = standing.steward, standing.access
    call = {
        "user": access.user_id,
        "project": access.scope.project_id,
        "tool": "snapshot",
        "arguments": {"name": "listed", "kind": "branch"},
    }
    listing = standing.folder / "points.json"
    at = clock.now().isoformat()
    assert standing.children.drive(at, call=call, listing=str(listing)) == 0
    found = points_met(0, listing)
    met = {point for _, point, _ in found}
    assert {"runs.append.durable", "runs.effect.intended", "broker.executed"} <= met
    kills = chosen(found, every=effort(0, 1) == 1)
    for number, (_, point, occurrence) in enumerate(kills):
        asked = {**call, "arguments": {"name": f"by-hand-{number}", "kind": "branch"}}
        at = clock.now().isoformat()
        ended = standing.children.drive(at, call=asked, point=point, occurrence=occurrence)
        assert ended == -SIGKILL, (point, occurrence)
    clock.advance(seconds=7)
    assert standing.children.drive(clock.now().isoformat()) == 0
    runs = steward.runs.records.listed(access.scope, limit=100)
    assert {run.status.value for run in runs} == {"done"}
    done = [
        steward.runs.request(access.scope, run.id).document["arguments"]["name"] for run in runs
    ]
    place = steward.workbench.datasets.workspace(access.scope, access.user_id)
    made = {branch.name for branch in place.branches()} - {"main"}
    assert sorted(done) == sorted(made), (
        "each run that is on record made its branch, and no other is there"
    )
    assert len(kills) > len(done) - 1 >= 2, (
        "some died before anything was written down, and some after"
    )
    for run in runs:
        assert steward.runs.verify(access.scope, run.id).is_intact
        assert asyncio.run(steward.runs.replay(access.scope, run.id)).is_same


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_crash_of_workers_at_random_times(
    nursery: Nursery,
    database_url: str | None,
    tmp_path: Path,
    effort: Callable[[int, int], int],
) -> None:
    with lively(nursery, database_url, tmp_path) as made:
        for _ in range(effort(15, 500)):
            made.start()
        log = tmp_path / "worker.log"
        for _ in range(effort(4, 200)):
            # No run is to blame for these deaths, however often it is hit.
            pid = made.children.serve(log, 0.5, most_lost=1000)
            _serve_for(made, random.uniform(0.05, 0.9))
            made.children.send(pid, SIGKILL)
        made.children.serve(log, 0.5, most_lost=1000)
        until(lambda: (made.approve_all(), made.is_over())[1], seconds=600, what="the end")
        made.check()


def _serve_for(made: Site, seconds: float) -> None:
    """A moment of random length, so that the kill falls anywhere in the work; people go on approving."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while time.monotonic() < deadline:
        made.approve_all()
        pause.wait(0.02)


@pytest.fixture
def postgres_url(postgres: PostgresServer, postgres_template: str) -> Iterator[str]:
    with postgres.database(postgres_template) as url:
        yield url


def test_another_worker_takes_over_within_the_lease(
    nursery: Nursery, postgres_url: str, tmp_path: Path
) -> None:
    with lively(nursery, postgres_url, tmp_path) as made:
        run_id = _gated(made)
        dying = made.children.serve(tmp_path / "a.log", 1.0, name="a")
        home = made.steward.settings.home
        until((home / "reached-a").exists, what="the gate")
        (home / "gate-b").touch()
        made.children.serve(tmp_path / "b.log", 1.0, name="b")
        made.children.send(dying, SIGKILL)
        killed_at = time.monotonic()
        until(lambda: made.status(run_id) == "done", what="the end")
        assert time.monotonic() - killed_at < 10, "seconds, also on a busy machine"
        outcome = made.steward.runs.outcome(made.access.scope, run_id)
        assert outcome["output"]["passed"] == {"by": "b"}


@pytest.mark.parametrize("deaf", [False, True], ids=["keeps its leases", "believes in its lease"])
def test_a_stopped_worker_that_goes_on_can_append_nothing(
    nursery: Nursery, postgres_url: str, tmp_path: Path, *, deaf: bool
) -> None:
    with lively(nursery, postgres_url, tmp_path) as made:
        home, run_id = made.steward.settings.home, _gated(made)
        log = tmp_path / "a.log"
        stopped = made.children.serve(log, 1.0, name="a", deaf=deaf)
        until((home / "reached-a").exists, what="the gate")
        made.children.send(stopped, SIGSTOP)
        (home / "gate-b").touch()
        made.children.serve(tmp_path / "b.log", 1.0, name="b")
        until(lambda: made.status(run_id) == "done", what="the take-over")
        scope, runs = made.access.scope, made.steward.runs
        before = [entry.hash for entry in runs.journal.entries(scope, run_id)]
        (home / "gate-a").touch()
        made.children.send(stopped, SIGCONT)
        words = ("run_taken_over",) if deaf else ("run_taken_over", "lease_lost")
        until(lambda: any(word in log.read_text() for word in words), what="being told")
        assert [entry.hash for entry in runs.journal.entries(scope, run_id)] == before
        assert runs.verify(scope, run_id).is_intact
        assert runs.outcome(scope, run_id)["output"]["passed"] == {"by": "b"}


@pytest.mark.timeout(300)
def test_a_run_whose_worker_is_killed_three_times_is_set_aside(
    nursery: Nursery, database_url: str | None, tmp_path: Path
) -> None:
    with lively(nursery, database_url, tmp_path) as made:
        home, run_id = made.steward.settings.home, _gated(made)
        for name in "abc":
            pid = made.children.serve(tmp_path / f"{name}.log", 0.5, name=name)
            until((home / f"reached-{name}").exists, what=f"the gate of worker {name}")
            made.children.send(pid, SIGKILL)
        made.children.serve(tmp_path / "d.log", 0.5, name="d")
        until(lambda: made.status(run_id) == "failed", what="the end")
        assert not (home / "reached-d").exists()
        outcome = made.steward.runs.outcome(made.access.scope, run_id)
        assert outcome["error"]["code"] == "stopped-its-worker"
        assert made.steward.runs.verify(made.access.scope, run_id).is_intact


def _gated(made: Site) -> str:
    request = RunRequest("Through the gate", "gated", {})
    return made.steward.runs.start(made.access.scope, made.person.user.id, request).id


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_crash_of_nats_and_postgres_during_runs(
    nursery: Nursery,
    postgres: PostgresServer,
    postgres_url: str,
    tmp_path: Path,
    effort: Callable[[int, int], int],
) -> None:
    if not postgres.can_crash:
        pytest.skip("the PostgreSQL server is not ours to crash")
    with (
        NatsServer(tmp_path / "nats") as nats,
        lively(nursery, postgres_url, tmp_path, nats.url) as made,
    ):
        logs = [tmp_path / f"worker-{number}.log" for number in range(2)]
        for log in logs:
            made.children.serve(log, 1.0)
        # Whoever is started while the database is away says so and ends, as it should.
        until(lambda: all(_serves(log) for log in logs), seconds=300, what="the workers")
        for _ in range(effort(1, 40)):
            for _ in range(8):
                made.start()
            _serve_for(made, random.uniform(0.2, 1.0))
            nats.kill()
            postgres.crash()
            _serve_patiently(made, random.uniform(0.2, 1.0))
            nats.start()
            until(lambda: _settled(made), seconds=300, what="the end")
        made.check()


def _serves(log: Path) -> bool:
    return log.exists() and log.read_text().startswith(SERVING)


def _serve_patiently(made: Site, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        _settled(made)


def _settled(made: Site) -> bool:
    """People try again when the server is away for a moment."""
    try:
        made.approve_all()
        return made.is_over()
    except Unavailable:
        return False
