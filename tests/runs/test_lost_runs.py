"""Runs that end their workers: counted while they get no further, driven one at a time, set aside at the third time."""

import asyncio
from typing import Any

import pytest

from steward.core import MovableClock
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
    [second] = _claim(room, "d")
    assert {first.id, second.id} < started
    clock.advance(seconds=LEASE.total_seconds() + 1)
    found = {run.id: run.lost for run in _claim(room, "e")}
    assert found[first.id] == found[second.id] == 3
    assert len([lost for lost in found.values() if lost == 2]) == 1
