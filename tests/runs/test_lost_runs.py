"""Runs that end their workers: counted while they get no further, driven one at a time, set aside at the third time."""

import asyncio
from typing import Any

import pytest

from steward.core import MovableClock, Unavailable
from steward.runs import Execution
from steward.runs.driver import Drive
from steward.runs.model import Run
from steward.runs.worker import LEASE, QUEUES
from tests.runs.conftest import Room

pytestmark = pytest.mark.every_database


def _claim(room: Room, holder: str, limit: int = 10) -> list[Run]:
    return room.runs.records.claim(holder, QUEUES, limit, LEASE)


def _lose(room: Room, clock: MovableClock, holder: str) -> list[Run]:
    """A worker claims what is due and is never heard of again."""
    claimed = _claim(room, holder)
    clock.advance(seconds=LEASE.total_seconds() + 1)
    return claimed


def test_a_run_that_stopped_its_worker_three_times_is_set_aside(
    room: Room, clock: MovableClock
) -> None:
    run_id = room.start("steps", n=1)
    for number in range(3):
        [run] = _lose(room, clock, f"worker {number}")
        assert run.lost == number
    room.drive()
    assert room.status(run_id) == "failed"
    error = room.outcome(run_id)["error"]
    assert error["code"] == "stopped-its-worker"
    assert error["message"].startswith("This run stopped its worker three times")
    assert room.runs.get(room.scope, run_id).reason == error["message"]
    assert not room.world.done, "no step was tried again"
    assert room.runs.verify(room.scope, run_id).is_intact


def test_a_run_that_gets_further_is_counted_anew(room: Room, clock: MovableClock) -> None:
    async def one_step_further(execution: Execution) -> Any:
        for number in range(4):
            known = len(room.kinds(execution.run.id))
            await execution.step(f"step-{number}", {}, _nothing)
            if len(room.kinds(execution.run.id)) > known:
                raise asyncio.CancelledError
        return "arrived"

    async def _nothing() -> Any:
        return None

    room.runs.programs["further"] = one_step_further
    run_id = room.start("further")
    for number in range(4):
        [run] = _claim(room, f"worker {number}")
        assert run.lost <= 1
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(Drive(room.runs.parts, run, one_step_further).go())
        clock.advance(seconds=LEASE.total_seconds() + 1)
    room.drive()
    assert room.outcome(run_id) == {"output": "arrived"}
    assert room.runs.get(room.scope, run_id).lost <= 1


def test_what_is_given_back_or_claimed_again_by_a_living_worker_is_no_loss(
    room: Room, clock: MovableClock
) -> None:
    room.start("steps", n=1)
    for _ in range(4):
        [run] = _lose(room, clock, "the same worker")
        assert run.lost == 0
    room.runs.records.release("the same worker")
    [run] = _claim(room, "another worker")
    assert run.lost == 0


def test_a_run_that_parks_is_counted_anew(room: Room, clock: MovableClock) -> None:
    run_id = room.start("steps", n=1)
    _lose(room, clock, "a")
    _lose(room, clock, "b")
    room.drive()
    assert room.status(run_id) == "done"


def test_a_worker_drives_one_suspect_at_a_time(room: Room, clock: MovableClock) -> None:
    """Of the runs that were lost together, one ended the worker; the others must not be set aside for it."""
    started = {room.start("steps", n=1) for _ in range(4)}
    assert len(_lose(room, clock, "a")) == 4
    assert len(_lose(room, clock, "b")) == 4, "after one loss all go on at once"
    [first] = _claim(room, "c")
    assert first.lost == 2
    fresh = room.start("steps", n=1)
    assert [run.id for run in _claim(room, "c")] == [fresh], "others are not held up by it"
    clock.advance(seconds=LEASE.total_seconds() + 1)
    found = {run.id: run.lost for run in _claim(room, "d")}
    assert found[first.id] == 3
    assert found.get(fresh, 0) <= 1
    assert {lost for run_id, lost in found.items() if run_id != first.id} <= {1, 2}
    assert len([lost for lost in found.values() if lost == 2]) == 1
    assert first.id in started


def test_a_suspect_is_driven_beside_no_other_run_that_was_lost(
    room: Room, clock: MovableClock
) -> None:
    """Otherwise it would be set aside for what the other one did."""
    suspect = room.start("steps", n=1)
    for holder in "ab":
        assert [run.id for run in _lose(room, clock, holder)] == [suspect]
    once = room.start("steps", n=1)
    other = room.runs.records.claim_these("c", QUEUES, [once], LEASE)
    assert [run.id for run in other] == [once]
    clock.advance(seconds=LEASE.total_seconds() + 1)
    first = {run.id: run.lost for run in _claim(room, "d")}
    assert len(first) == 1, "the suspect, or the one that was lost once, but not both"
    assert _claim(room, "d") == [], "nor after one another"
    second = {run.id: run.lost for run in _claim(room, "e")}
    assert first | second == {suspect: 2, once: 1}


def test_no_run_is_to_blame_when_several_workers_fall_silent_at_once(
    room: Room, clock: MovableClock
) -> None:
    run_id = room.start("steps", n=1)
    other = room.start("steps", n=1)
    for number in range(4):
        claimed = []
        for each in (run_id, other):
            holder = f"machine/{number}-{each}/x"
            claimed += room.runs.records.claim_these(holder, QUEUES, [each], LEASE)
        assert [run.lost for run in claimed] == [0, 0], "the first claim of each round sees both"
        clock.advance(seconds=LEASE.total_seconds() + 1)
        both = _claim(room, f"next/{number}/x")
        assert [run.lost for run in both] == [0, 0]
        room.runs.records.release(f"next/{number}/x")
    room.drive()
    assert {room.status(run_id), room.status(other)} == {"done"}


def test_a_worker_that_lives_takes_the_blame_from_its_run(room: Room, clock: MovableClock) -> None:
    """It was stopped for a while, or cut off: the run did not end it."""
    run_id = room.start("steps", n=1)
    for number in range(4):
        [run] = _lose(room, clock, f"stopped/{number}/x")
        [taken] = _claim(room, "next")
        assert (run.lost, taken.lost) == (0, 1)
        room.runs.records.clear_loss([run])
        room.runs.records.clear_loss([taken])
        assert room.runs.get(room.scope, run_id).lost == 0, "nor for an epoch that nobody took"
        room.runs.records.release("next")
    room.drive()
    assert room.status(run_id) == "done"


def test_a_run_goes_on_when_the_blob_store_is_back(
    room: Room, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def large(execution: Execution) -> Any:
        async def result() -> Any:
            return "x" * 20_000

        return len(await execution.step("large", {}, result))

    def away(_chunks: object) -> Any:
        raise Unavailable("The blob store is away.")

    room.runs.programs["large"] = large
    run_id = room.start("large")
    with monkeypatch.context() as patch:
        patch.setattr(room.runs.parts.blobs, "put", away)
        for _ in range(5):
            room.runs.drive_until_idle(holder="one")
            assert room.status(run_id) == "running", "it neither failed nor was it lost"
            clock.advance(seconds=3)
    assert room.runs.get(room.scope, run_id).lost == 0
    room.drive()
    assert room.outcome(run_id) == {"output": 20_000}
