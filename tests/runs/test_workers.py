"""Workers: what is due is driven, what was given up is driven again, and the doorbell only ever saves time."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import nats
import pytest
import sqlalchemy as sa

from steward.core.errors import Unavailable
from steward.runs import Execution, RunRequest, Runs
from steward.runs._turns import next_runs
from steward.runs.doorbell import Call
from steward.runs.driver import Drive, JournalScribe
from steward.runs.model import Run
from steward.runs.nats import NatsDoorbell, NatsLine
from steward.runs.worker import Worker
from steward.store import EVERYWHERE, Database, Scope, Transaction, migrate
from steward.testing import Installation, NatsServer
from tests.runs.conftest import Room, World, programs

pytestmark = pytest.mark.every_database

LEASE = timedelta(seconds=1)
PATIENCE = 60.0


async def until(condition: Callable[[], Any], what: str = "it") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(*workers: Worker) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(worker.serve()) for worker in workers]
    try:
        yield
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*tasks)


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def bell(nats_server: NatsServer) -> Iterator[NatsDoorbell]:
    made = NatsDoorbell(nats_server.url, uuid4().hex[:8])
    yield made
    made.close()


def rung(installation: Installation, doorbell: NatsDoorbell) -> Room:
    """A room whose runs are rung for; its clock stands, so nothing is ever overdue."""
    parts, world = installation.steward, World()
    runs = Runs(
        parts.database,
        parts.blobs,
        parts.bus,
        parts.events,
        parts.clock,
        parts.ids,
        parts.runs.heads,
        doorbell=doorbell,
    )
    runs.programs.update(programs(world))
    return Room(runs, installation.scope, world)


def test_a_worker_drives_what_is_due_and_leaves_nothing_held(room: Room) -> None:
    worker = room.runs.worker(concurrency=2)
    first = [room.start("steps", n=2) for _ in range(5)]

    async def work() -> None:
        async with serving(worker):
            await until(lambda: all(room.status(each) == "done" for each in first))
            late = await asyncio.to_thread(room.start, "branches")
            await until(lambda: room.status(late) == "blocked")

    asyncio.run(work())
    assert room.world.done["look 0"] == 5
    for run_id in first:
        assert room.runs.verify(room.scope, run_id).is_intact


def test_a_stopped_worker_gives_its_runs_back_at_once(room: Room) -> None:
    begun = asyncio.Event()

    async def hanging(execution: Execution) -> Any:
        begun.set()
        await asyncio.Event().wait()

    room.runs.programs["hanging"] = hanging
    run_id = room.start("hanging")

    async def work() -> None:
        async with serving(room.runs.worker()):
            await asyncio.wait_for(begun.wait(), PATIENCE)

    asyncio.run(work())
    assert room.runs.get(room.scope, run_id).holder is None
    [claimed] = room.runs.records.claim("other", ["cpu"], 5, LEASE)
    assert claimed.id == run_id


def test_a_run_that_does_not_end_keeps_no_worker_from_stopping(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do threads that are all busy: the lease is given back without one."""
    monkeypatch.setattr("steward.runs.worker._LET_GO_SECONDS", 0.05)
    begun, ends = asyncio.Event(), asyncio.Event()

    async def stubborn(execution: Execution) -> Any:
        begun.set()
        while not ends.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await ends.wait()

    room.runs.programs["stubborn"] = stubborn
    run_id = room.start("stubborn")

    async def work() -> None:
        async with serving(room.runs.worker()):
            await asyncio.wait_for(begun.wait(), PATIENCE)
        [claimed] = room.runs.records.claim("other", ["cpu"], 5, LEASE)
        assert (claimed.id, claimed.lost) == (run_id, 0)
        ends.set()

    asyncio.run(asyncio.wait_for(work(), PATIENCE))
    assert room.status(run_id) == "running", "what ends late can write nothing"


def test_a_run_that_was_given_up_is_not_kept_from_others(
    room: Room, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker lives on and renews leases, but not this one."""
    given_up, held = room.start("steps"), asyncio.Event()

    async def hanging(execution: Execution) -> Any:
        held.set()
        await asyncio.Event().wait()

    room.runs.programs["hanging"] = hanging
    going_on = room.start("hanging")
    drive = Drive.go

    async def go(self: Drive) -> None:
        if self.run.id == given_up:
            raise Unavailable("The database went away.")
        await drive(self)

    monkeypatch.setattr(Drive, "go", go)
    records = room.runs.records
    claim, claimed = records.claim_within, set[str]()

    def claim_once(tx: Transaction, holder: str, *args: Any, **kwargs: Any) -> list[Run]:
        """The worker looks every second, and must not be the one who takes the run again."""
        if holder != "other" and claimed == {given_up, going_on}:
            return []
        runs = claim(tx, holder, *args, **kwargs)
        claimed.update(run.id for run in runs)
        return runs

    monkeypatch.setattr(records, "claim_within", claim_once)

    async def work() -> None:
        worker = room.runs.worker(lease=LEASE)
        async with serving(worker):
            await asyncio.wait_for(held.wait(), PATIENCE)
            await until(lambda: given_up not in worker._drives, "giving up")
            installation.clock.advance(seconds=0.9)
            leases = await asyncio.to_thread(records.renew, worker.holder, [*worker._drives], LEASE)
            assert [run_id for run_id, _ in leases] == [going_on]
            installation.clock.advance(seconds=0.5)
            [taken] = await asyncio.to_thread(records.claim, "other", ["cpu"], 5, LEASE)
            assert taken.id == given_up

    asyncio.run(work())


def test_a_run_that_just_ended_is_not_taken_for_lost(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last write ends the lease; what follows that write is done all the same."""
    run_id, told = room.start("steps"), list[str]()
    room.runs.parts.on_end.append(lambda run: told.append(run.id))
    write, renew, records = JournalScribe.write, room.runs.records.renew, room.runs.records
    ended, looked = threading.Event(), list[str]()

    async def write_and_linger(self: JournalScribe, *args: Any, **kwargs: Any) -> None:
        await write(self, *args, **kwargs)
        if kwargs.get("end") is not None:
            ended.set()
            # The second time, what was found the first time has been acted upon.
            await until(lambda: len(looked) >= 2, "looking at leases")

    def look(*args: Any) -> Any:
        held = renew(*args)
        if ended.is_set():
            looked.append("looked")
        return held

    monkeypatch.setattr(JournalScribe, "write", write_and_linger)
    monkeypatch.setattr(records, "renew", look)

    async def work() -> None:
        worker = room.runs.worker(lease=LEASE)
        async with serving(worker):
            await until(lambda: ended.is_set() and run_id not in worker._drives, "the end")

    asyncio.run(work())
    assert told == [run_id]
    assert room.status(run_id) == "done"


def test_the_longest_due_of_the_highest_priority_is_claimed_first(
    room: Room, installation: Installation
) -> None:
    started = []
    for priority in (0, 5, -1, 5):
        request = RunRequest("A run", "steps", {}, priority=priority)
        started.append(room.runs.start(room.scope, "usr_test", request).id)
        installation.clock.advance(seconds=1)
    order = [room.runs.records.claim("h", ["cpu"], 1, LEASE)[0].id for _ in started]
    assert order == [started[1], started[3], started[0], started[2]]
    assert room.runs.records.claim("h", ["cpu"], 1, LEASE) == []


def test_projects_and_people_are_claimed_by_turns(room: Room, installation: Installation) -> None:
    request, records = RunRequest("A run", "steps", {}), room.runs.records
    other = Scope(room.scope.org_id, installation.project("Second"))
    for scope, author, count in (
        (room.scope, "ann", 6),
        (room.scope, "bob", 2),
        (other, "carl", 2),
        (other, "ann", 1),
    ):
        for _ in range(count):
            room.runs.start(scope, author, request)

    def claimed(limit: int) -> list[str]:
        runs = records.claim("h", ["cpu"], limit, LEASE)
        return [
            f"{run.created_by}{'' if run.scope == room.scope else ' elsewhere'}" for run in runs
        ]

    turns = ["ann", "carl elsewhere", "bob", "ann elsewhere", "ann", "carl elsewhere", "bob"]
    assert sorted(claimed(2)) == sorted(turns[:2])
    # What is being driven counts as well.
    assert sorted(claimed(2)) == sorted(turns[2:4])
    assert sorted(claimed(3)) == sorted(turns[4:])
    assert claimed(9) == ["ann"] * 4


def test_only_people_without_a_driven_run_may_use_the_reserve(
    room: Room, installation: Installation
) -> None:
    for author in ("ann", "ann", "ann", "bob", "bob"):
        room.start_as(author, "steps")

    def claimed(*, newcomers: bool) -> list[str]:
        with installation.steward.database.write(EVERYWHERE) as tx:
            runs = room.runs.records.claim_within(
                tx, "h", ["cpu"], 1 if not newcomers else 9, LEASE, newcomers=newcomers
            )
        return [run.created_by for run in runs]

    assert claimed(newcomers=False) == ["ann"]
    assert claimed(newcomers=True) == ["bob"]
    assert claimed(newcomers=True) == []


@pytest.mark.parametrize("called", [True, False])
@pytest.mark.parametrize("innocent", [True, False])
@pytest.mark.parametrize("newcomers", [True, False])
def test_a_claim_looks_at_no_run_that_is_over(
    tmp_path: Path, *, called: bool, innocent: bool, newcomers: bool
) -> None:
    """A claim that reads all runs there ever were gets slower with each of them."""
    database = Database(f"sqlite:///{tmp_path / 'plan.db'}")
    migrate(database)
    statement = next_runs(called=called, innocent=innocent, newcomers=newcomers)
    wanted = {"queues": ["cpu", "model"], "ids": ["run_1"], "most": 9}
    moments = dict.fromkeys(("now", "due"), datetime.now(UTC))
    with database.raw_writer() as connection:
        asked = statement.params(**{**wanted, **moments}).compile(
            connection, compile_kwargs={"literal_binds": True}
        )
        plan = [row.detail for row in connection.execute(sa.text(f"EXPLAIN QUERY PLAN {asked}"))]
    database.close()
    assert any("SEARCH runs" in line for line in plan)
    assert [line for line in plan if line.startswith("SCAN runs")] == []


def test_a_run_is_driven_though_somebody_else_fills_the_worker(room: Room) -> None:
    for _ in range(5):
        room.start_as("ann", "held")
    worker = room.runs.worker(concurrency=2)

    async def work() -> None:
        async with serving(worker):
            await until(lambda: len(worker._drives) == 2)
            quick = await asyncio.to_thread(room.start_as, "bob", "steps")
            await until(lambda: room.status(quick) == "done")
            await until(lambda: len(worker._drives) == 2)

    asyncio.run(work())


def test_nats_does_not_make_anybody_wait_for_somebody_who_fills_the_worker(
    installation: Installation, bell: NatsDoorbell
) -> None:
    room = rung(installation, bell)
    worker = room.runs.worker(lease=LEASE, concurrency=2)

    async def work() -> None:
        async with serving(worker):
            await until(lambda: worker._on_line, "the line")
            for _ in range(5):
                await asyncio.to_thread(room.start_as, "ann", "held")
            await until(lambda: len(worker._drives) == 2)
            quick = await asyncio.to_thread(room.start_as, "bob", "steps")
            await until(lambda: room.status(quick) == "done")

    asyncio.run(work())


def test_a_called_run_is_claimed_once_and_a_held_one_comes_again(
    room: Room, installation: Installation
) -> None:
    run_id, records = room.start("branches"), room.runs.records

    def claimed(holder: str, queue: str, *run_ids: str) -> tuple[list[str], set[str]]:
        with installation.steward.database.write(EVERYWHERE) as tx:
            runs, later = records.claim_called(tx, holder, [queue], run_ids, LEASE)
        return [run.id for run in runs], set(later)

    assert claimed("a", "cpu", run_id, "run_unknown") == ([run_id], set())
    assert claimed("b", "cpu", run_id) == ([], set())
    records.signal(room.scope, run_id, "ask/a", 1)
    assert claimed("b", "cpu", run_id) == ([], {run_id})
    assert claimed("b", "llm", run_id)[0] == []


def test_nats_hands_out_runs_and_forgets_them_when_they_are_driven(
    installation: Installation, bell: NatsDoorbell
) -> None:
    room = rung(installation, bell)
    workers = [room.runs.worker(lease=LEASE, concurrency=2) for _ in range(2)]

    async def work() -> None:
        async with serving(*workers):
            await until(lambda: all(worker._on_line for worker in workers), "the line")
            started = [await asyncio.to_thread(room.start, "branches") for _ in range(6)]
            await until(lambda: all(room.status(each) == "blocked" for each in started))
            for run_id in started:
                for key in ("ask/a", "ask/b"):
                    await asyncio.to_thread(
                        room.runs.records.signal, room.scope, run_id, key, "yes"
                    )
            await until(lambda: all(room.status(each) == "done" for each in started))
            await until_published(bell, lambda count: count == 0)

    asyncio.run(work())
    assert room.world.done["world"] == 6


@asynccontextmanager
async def line(bell: NatsDoorbell) -> AsyncIterator[NatsLine]:
    made = bell.line(["cpu", "llm"], LEASE)
    await made.open(lambda: None)
    await until(lambda: made.connected, "the connection")
    try:
        yield made
    finally:
        await made.close()


async def taken(made: NatsLine) -> Any:
    """The next call, as soon as there is one."""
    deadline = time.monotonic() + PATIENCE
    while not (found := await made.take(1)):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    return found[0]


def test_nats_delivers_urgent_calls_first_and_each_reason_once(bell: NatsDoorbell) -> None:
    async def work() -> None:
        async with line(bell) as made:
            for name, priority, reason in (
                ("low", -1, "1"),
                ("normal", 0, "1"),
                ("normal", 0, "1"),
                ("high", 9, "1"),
                ("normal", 0, "2"),
                ("last", -1, "1"),
            ):
                bell.ring(Call(name, "cpu", priority, reason))
            await until_published(bell, lambda count: count == 5)
            order = []
            for most in (2, 9, 9):
                calls = await made.take(most)
                order.append([call.run_id for call in calls])
                await asyncio.gather(*(call.done() for call in calls))
            assert order == [["high", "normal"], ["normal", "low", "last"], []]

    asyncio.run(work())


async def until_published(bell: NatsDoorbell, enough: Callable[[int], bool]) -> None:
    """Until so many calls wait or are being answered."""
    client = await nats.connect(bell._url)
    stream = client.jetstream()
    deadline = time.monotonic() + PATIENCE
    while not enough((await stream.stream_info(f"steward_{bell._name}_cpu")).state.messages):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    await client.close()


def test_nats_redelivers_when_a_worker_falls_silent_and_not_while_it_works(
    bell: NatsDoorbell,
) -> None:
    async def work() -> None:
        async with line(bell) as silent, line(bell) as busy, line(bell) as other:
            calls = {}
            for name, holder in (("silent", silent), ("busy", busy)):
                bell.ring(Call(name, "cpu", 0, "1"))
                call = await taken(holder)
                calls[call.run_id] = call
            assert calls.keys() == {"silent", "busy"}
            found: Any = []
            while not found:
                await calls["busy"].keep()
                found = await other.take(1)
            assert found[0].run_id == "silent"
            await calls["busy"].done()

    asyncio.run(work())


def test_losing_nats_loses_no_run_and_workers_come_back_by_themselves(
    installation: Installation, tmp_path: Path
) -> None:
    server = NatsServer(tmp_path / "nats")
    bell = NatsDoorbell(server.url, "lost")
    room = rung(installation, bell)
    worker = room.runs.worker(lease=LEASE)

    async def done(count: int) -> None:
        started = [await asyncio.to_thread(room.start, "steps") for _ in range(count)]
        await until(lambda: all(room.status(each) == "done" for each in started))

    async def work() -> None:
        async with serving(worker):
            await done(3)
            assert not worker._on_line, "it was never there"
            for _ in range(2):
                server.start()
                await until(lambda: worker._on_line, "the line")
                await done(3)
                server.kill()
                await until(lambda: not worker._on_line, "noticing")
                await done(3)

    try:
        asyncio.run(work())
    finally:
        server.kill()
        bell.close()
    assert room.world.done["look 0"] == 15
