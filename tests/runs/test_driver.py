"""Runs go on exactly where they were: after answers, crashes, pauses, and whoever drives them."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
import sqlalchemy as sa

from steward.core.clock import MovableClock
from steward.core.errors import Conflict, NotFound
from steward.core.faults import install
from steward.runs import Effect, Entry, Execution, RunRequest, _tables
from steward.runs._commit import GroupCommit
from steward.runs.driver import Drive, Parts
from steward.runs.worker import LEASE
from steward.store import EVERYWHERE, Scope
from steward.testing.installation import Installation
from tests.runs.conftest import Room

pytestmark = pytest.mark.every_database


def test_a_run_is_driven_to_its_end_and_every_step_is_recorded(room: Room) -> None:
    run_id = room.start("steps", n=3)
    assert room.status(run_id) == "queued"
    room.drive()
    assert room.status(run_id) == "done"
    assert room.outcome(run_id) == {"output": {"seen": ["look 0", "look 1", "look 2"]}}
    assert room.kinds(run_id) == ["run.created", *["step.outcome"] * 3, "run.done"]
    assert room.runs.verify(room.scope, run_id).is_intact


def test_waits_park_and_answers_in_any_order_resume(room: Room) -> None:
    run_id = room.start("branches")
    room.drive()
    found = room.runs.get(room.scope, run_id)
    assert (found.status.value, found.reason) == ("blocked", "question a; question b")
    assert room.world.done["look"] == 1, "a parked branch holds up no other"
    room.runs.records.signal(room.scope, run_id, "ask/b", "second")
    room.drive()
    assert room.status(run_id) == "blocked"
    room.runs.records.signal(room.scope, run_id, "ask/a", "first")
    room.drive()
    assert room.outcome(run_id) == {"output": ["first", "second", {"sent": "world"}]}
    assert (room.world.done["look"], room.world.done["world"]) == (1, 1)


def test_of_two_answers_the_first_counts(room: Room) -> None:
    run_id = room.start("branches")
    room.drive()
    room.runs.records.signal(room.scope, run_id, "ask/a", 1)
    with pytest.raises(Conflict, match="first answer counts"):
        room.runs.records.signal(room.scope, run_id, "ask/a", 2)


def test_nobody_answers_or_sees_runs_of_another_project(room: Room) -> None:
    run_id = room.start("branches")
    room.drive()
    other = Scope(room.scope.org_id, "prj_other")
    with pytest.raises(NotFound):
        room.runs.records.signal(other, run_id, "ask/a", 1)
    with pytest.raises(NotFound):
        room.runs.verify(other, run_id)
    assert list(room.runs.journal.entries(other, run_id)) == []
    assert room.runs.records.listed(other) == []


def test_pause_resume_and_cancel_take_hold_before_the_next_step(room: Room) -> None:
    run_id = room.start("branches")
    room.drive()
    room.runs.records.control(room.scope, run_id, "pause", "usr_boss")
    room.runs.records.signal(room.scope, run_id, "ask/a", 1)
    room.runs.records.signal(room.scope, run_id, "ask/b", 2)
    room.drive()
    found = room.runs.get(room.scope, run_id)
    assert (found.status.value, found.reason) == ("blocked", "paused")
    assert room.world.done["world"] == 0
    room.runs.records.control(room.scope, run_id, "resume", "usr_boss")
    room.drive()
    assert room.status(run_id) == "done"
    said = [
        e.data for e in room.runs.journal.entries(room.scope, run_id) if e.kind == "run.control"
    ]
    assert said == [
        {"action": "paused", "by": "usr_boss"},
        {"action": "resumed", "by": "usr_boss"},
    ]
    with pytest.raises(Conflict):
        room.runs.records.control(room.scope, run_id, "cancel", "usr_boss")


def test_cancelling_a_run_cancels_what_it_started(room: Room) -> None:
    run_id = room.start("parent", child="branches")
    room.drive()
    (child,) = room.runs.records.listed(room.scope, parent=run_id)
    assert (room.status(run_id), child.status.value) == ("blocked", "blocked")
    room.runs.records.control(room.scope, run_id, "cancel", "usr_boss")
    room.drive()
    assert (room.status(run_id), room.status(child.id)) == ("cancelled", "cancelled")


def test_a_child_hands_its_result_to_its_parent(room: Room) -> None:
    run_id = room.start("parent")
    room.drive()
    output = room.outcome(run_id)["output"]
    assert (output["status"], output["output"]) == ("done", {"seen": ["look 0", "look 1"]})


def test_failures_are_told_in_words(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    wrong, bug = room.start("wrong"), room.start("bug")
    room.drive()
    assert room.status(wrong) == room.status(bug) == "failed"
    assert room.runs.get(room.scope, wrong).reason == "The document makes no sense."
    assert "ZeroDivision" not in str(room.outcome(bug))


def test_the_reason_of_a_failure_is_as_clean_as_its_entry(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scrub(_scope: Scope, data: Any) -> Any:
        return json.loads(json.dumps(data).replace("sense", "[secret]"))

    monkeypatch.setattr(room.runs.parts, "scrub", scrub)
    wrong = room.start("wrong")
    room.drive()
    assert room.runs.get(room.scope, wrong).reason == "The document makes no [secret]."
    assert room.runs.verify(room.scope, wrong).is_intact


def test_what_is_away_is_tried_again_and_the_tries_are_recorded(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def pause(_: Any, seconds: float) -> None:
        waited.append(seconds)
        room.world.broken.clear()

    monkeypatch.setattr("steward.runs.driver.JournalScribe.pause_for", pause)
    room.world.broken.add("shaky")
    run_id = room.start("retried")
    room.drive()
    assert room.status(run_id) == "done"
    assert waited == [1.0]
    assert room.kinds(run_id)[1:3] == ["step.retry", "step.outcome"]


def test_a_step_that_takes_too_long_is_ended(room: Room) -> None:
    run_id = room.start("slow")
    room.drive()
    assert room.outcome(run_id)["error"]["code"] == "timeout"


def test_a_run_without_end_meets_its_step_limit(room: Room) -> None:
    request = RunRequest("Endless", "endless", {}, max_steps=20)
    run_id = room.runs.start(room.scope, "usr_test", request).id
    room.drive()
    assert room.outcome(run_id)["error"]["code"] == "too-many-steps"
    assert room.world.done["look"] == 20


def test_large_payloads_live_beside_the_journal(room: Room, installation: Installation) -> None:
    run_id = room.start("large")
    room.drive()
    assert room.outcome(run_id)["output"]["again"] == "ä" * 30_000
    entries = list(room.runs.journal.entries(room.scope, run_id))
    assert max(len(entry.body) for entry in entries) < 1_000
    held = sa.select(_tables.run_blobs.c.digest)
    with installation.steward.database.read(room.scope) as tx:
        assert {row.digest for row in tx.rows(held)} == {
            entries[1].data["result"]["$blob"],
            entries[2].data["output"]["$blob"],
        }


def test_expired_waits_answer_themselves(room: Room, clock: MovableClock) -> None:
    async def asks(execution: Any) -> Any:
        begun = await execution.now("begun")
        return await execution.wait("q", {}, expires_at=begun + timedelta(hours=1))

    room.runs.programs["asks"] = asks
    run_id = room.start("asks")
    room.drive()
    assert room.status(run_id) == "blocked"
    clock.advance(minutes=59)
    assert room.drive() == 0
    clock.advance(minutes=1)
    room.drive()
    assert room.outcome(run_id) == {"output": {"expired": True}}


class Crash(BaseException):
    pass


def test_a_crash_between_any_two_entries_changes_nothing(room: Room, clock: MovableClock) -> None:
    """The driver dies after every single entry in turn; the next one takes over when the lease is up."""
    survived = 0
    while True:
        run_id = room.start("branches", title=f"crash {survived}")
        for key in ("ask/a", "ask/b"):
            room.runs.records.signal(room.scope, run_id, key, key)
        room.world.done.clear()
        crashed = _drive_and_die(room, after=survived)
        clock.advance(seconds=LEASE.total_seconds() + 1)
        room.drive()
        assert room.status(run_id) == "done"
        assert room.outcome(run_id)["output"] == ["ask/a", "ask/b", {"sent": "world"}]
        assert room.world.done["world"] == 1
        assert room.runs.verify(room.scope, run_id).is_intact
        if not crashed:
            break
        survived += 1
    assert survived >= 7


def _drive_and_die(room: Room, after: int) -> bool:
    count = 0

    async def go() -> None:
        nonlocal count
        (run,) = room.runs.records.claim("doomed", ["cpu"], 1, LEASE)
        drive = Drive(room.runs.parts, run, room.runs.programs[run.program])
        write = room.runs.parts.commit.write

        async def counted(unit: Any) -> None:
            nonlocal count
            if count >= after:
                raise Crash
            await write(unit)
            count += 1

        parts = replace_commit(room, counted)
        drive._parts = parts
        await drive.go()

    try:
        asyncio.run(go())
    except Crash:
        return True
    return False


class Commit:
    """Stands in for the group commit of one doomed driver."""

    def __init__(self, write: Any) -> None:
        self.write = write


def replace_commit(room: Room, write: Any) -> Parts:
    old, commit = room.runs.parts, cast(GroupCommit, Commit(write))
    return Parts(old.database, old.blobs, old.clock, old.records, old.journal, commit, old.scrub)


def test_an_effect_whose_outcome_was_lost_is_reconciled_repeated_or_asked_about(
    room: Room, clock: MovableClock
) -> None:
    kinds = {
        "looks": Effect(room.world.send, reconcile=room.world.find),
        "repeats": Effect(room.world.send, idempotent=True),
        "asks": Effect(room.world.send),
    }
    ends = {}
    for name, effect in kinds.items():

        async def sends(execution: Any, effect: Effect = effect, name: str = name) -> Any:
            return await execution.effect("send", {"to": name}, effect)

        room.runs.programs[name] = sends
        run_id = room.start(name)
        # Dies after the effect and before its outcome.
        previous = install(lambda point: _die(point, "runs.effect.done"))
        try:
            with pytest.raises(Crash):
                room.drive()
        finally:
            install(previous)
        clock.advance(seconds=LEASE.total_seconds() + 1)
        room.drive()
        ends[name] = run_id
        assert room.world.done[name] == 1
    assert room.outcome(ends["looks"]) == {"output": {"sent": "found"}}
    assert room.outcome(ends["repeats"]) == {"output": {"sent": "repeats"}}
    assert room.status(ends["asks"]) == "blocked"
    answer = {"decision": "happened", "result": {"sent": "I looked"}}
    room.runs.records.signal(room.scope, ends["asks"], "send/uncertain", answer)
    room.drive()
    assert room.outcome(ends["asks"]) == {"output": {"sent": "I looked"}}
    assert room.world.done["asks"] == 1


def _die(point: str, at: str) -> None:
    if point == at:
        raise Crash


def test_a_driver_that_lost_its_lease_can_append_nothing(
    room: Room, clock: MovableClock, installation: Installation
) -> None:
    run_id = room.start("steps", n=2)
    (first,) = room.runs.records.claim("first", ["cpu"], 1, LEASE)
    clock.advance(seconds=LEASE.total_seconds() + 1)
    room.drive()
    before = room.kinds(run_id)
    assert room.status(run_id) == "done"

    async def stale() -> None:
        await Drive(room.runs.parts, first, room.runs.programs["steps"]).go()

    asyncio.run(stale())
    assert room.kinds(run_id) == before
    with installation.steward.database.read(EVERYWHERE) as tx:
        row = tx.first(sa.select(_tables.runs).where(_tables.runs.c.id == run_id))
    assert row is not None
    assert row.status == "done"


def test_two_claimers_never_get_the_same_run(room: Room) -> None:
    ids = {room.start("steps") for _ in range(5)}
    one = room.runs.records.claim("one", ["cpu"], 3, LEASE)
    two = room.runs.records.claim("two", ["cpu"], 9, LEASE)
    assert {run.id for run in one} | {run.id for run in two} == ids
    assert len(one) + len(two) == 5


def test_priority_goes_first_and_queues_are_apart(room: Room) -> None:
    low = room.start("steps")
    request = replace(RunRequest("High", "steps", {}), priority=5)
    high = room.runs.start(room.scope, "usr_test", request).id
    other = room.runs.start(room.scope, "usr_test", replace(request, queue="llm")).id
    claimed = [room.runs.records.claim("w", ["cpu"], 1, LEASE)[0].id for _ in range(2)]
    assert claimed == [high, low]
    assert [run.id for run in room.runs.records.claim("w", ["llm"], 1, LEASE)] == [other]


def test_entries_are_handed_over_once_they_are_durable(room: Room) -> None:
    run_id = room.start("steps", n=3)
    seen: list[tuple[int, bool]] = []

    def read(entries: Sequence[Entry]) -> None:
        stored = {entry.seq for entry in room.runs.journal.entries(room.scope, run_id)}
        seen.extend((entry.seq, entry.seq in stored) for entry in entries)

    with room.runs.reading(run_id, read, lambda: None):
        room.drive()
    assert seen == [(seq, True) for seq in range(2, 6)]
    room.start("steps", n=1)
    room.drive()
    assert len(seen) == 4, "nobody reads any more"


def test_what_an_entry_takes_along_is_written_with_it(room: Room) -> None:
    written: list[str] = []

    async def program(execution: Execution) -> None:
        async def look() -> None:
            execution.take_along(lambda tx: written.append(tx.project.project_id))

        await execution.step("look", {}, look)
        assert await execution.share(lambda tx: len(tx.rows(sa.select(_tables.runs)))) == 1

    room.runs.programs["along"] = program
    run_id = room.start("along")
    room.drive()
    assert room.status(run_id) == "done"
    assert written == [room.scope.project_id]


def test_a_command_that_drives_hears_of_a_cancel_at_once_and_keeps_its_lease(room: Room) -> None:
    """Without a worker: `steward chat` drives by itself, and a model may take longer than a lease."""
    lease, began, kept = timedelta(seconds=0.3), threading.Event(), threading.Event()
    renew = room.runs.records.renew

    def renewed(*given: Any) -> Any:
        found = renew(*given)
        kept.set()
        return found

    async def slow(execution: Execution) -> Any:
        async def hang() -> Any:
            began.set()
            await asyncio.Event().wait()

        return await execution.step("hang", {}, hang, interruptible=True)

    room.runs.programs["hanging"] = slow
    for patience, name in ((lease, "kept"), (timedelta(hours=1), "cancelled")):
        began.clear()
        run_id = room.start("hanging")
        room.runs.records.renew = renewed  # type: ignore[method-assign, assignment]
        driving = threading.Thread(
            target=room.runs.drive_until_idle, args=("here", patience), daemon=True
        )
        driving.start()
        assert began.wait(20)
        assert name != "kept" or kept.wait(20), "nobody takes it over while it is driven"
        room.runs.records.control(room.scope, run_id, "cancel", "usr_me")
        driving.join(20)
        assert not driving.is_alive()
        assert room.status(run_id) == "cancelled"
