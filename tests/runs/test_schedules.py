"""Schedules fire at the time people mean, make up for what was missed as asked, and once, whoever looks."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from steward.core.clock import MovableClock
from steward.core.errors import Invalid, Stale
from steward.runs import Missed, RunRequest, Schedule
from steward.runs.schedules import next_moment
from tests.runs.conftest import Room

pytestmark = pytest.mark.every_database

# The clock of these tests stands at Monday 2 March 2026, 09:00 UTC: 10:00 in Berlin.


def moments(cron: str, zone: str, after: datetime, count: int) -> list[str]:
    found = [after]
    for _ in range(count):
        found.append(next_moment(cron, zone, found[-1]))
    return [moment.strftime("%d %H:%M") for moment in found[1:]]


def scheduled(room: Room, cron: str, missed: Missed = Missed.once) -> Schedule:
    request = RunRequest("By the clock", "steps", {}, {"n": 1})
    return room.runs.schedules.create(
        room.scope, "usr_test", "Often", cron, "Europe/Berlin", request, missed
    )


def fired(room: Room) -> list[str]:
    """For which moments runs were started, oldest first."""
    started = reversed(room.runs.records.listed(room.scope, limit=200))
    asked = [room.runs.request(room.scope, run.id).inputs["scheduled_at"] for run in started]
    return [datetime.fromisoformat(moment).strftime("%d %H:%M") for moment in asked]


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        # The clock goes from 02:00 to 03:00 on the 29th: what has no time that day comes as the clock jumps.
        ("30 2 * * *", "Europe/Berlin", (3, 28), ["28 01:30", "29 01:00", "30 00:30"]),
        # From 03:00 back to 02:00 on the 25th: an hour that comes twice counts once.
        ("30 2 * * *", "Europe/Berlin", (10, 24), ["24 00:30", "25 00:30", "26 01:30"]),
        ("30 1 * * *", "America/New_York", (10, 31), ["31 05:30", "01 05:30", "02 06:30"]),
        # Half past eight stays half past eight.
        ("30 8 * * *", "Europe/Berlin", (3, 28), ["28 07:30", "29 06:30", "30 06:30"]),
        # What comes every hour comes every hour.
        ("0 */1 * * *", "Europe/Berlin", (10, 25), ["25 01:00", "25 02:00", "25 03:00"]),
        ("0 9 * * 1", "Asia/Kolkata", (3, 2), ["02 03:30", "09 03:30", "16 03:30"]),
    ],
)
def test_the_time_is_that_of_the_zone_also_when_clocks_change(
    cron: str, zone: str, after: tuple[int, int], expected: list[str]
) -> None:
    assert moments(cron, zone, datetime(2026, *after, tzinfo=UTC), 3) == expected


@pytest.mark.parametrize(
    ("cron", "zone"),
    [("every day", "Europe/Berlin"), ("0 0 31 2 *", "Europe/Berlin"), ("0 0 * * *", "Mars/Base")],
)
def test_what_never_comes_is_refused(room: Room, cron: str, zone: str) -> None:
    with pytest.raises(Invalid):
        room.runs.schedules.create(
            room.scope, "usr_test", "Never", cron, zone, RunRequest("x", "steps", {})
        )


def test_a_schedule_fires_when_it_is_due_and_the_run_knows_for_when(
    room: Room, clock: MovableClock
) -> None:
    made = scheduled(room, "30 10 * * *")
    assert made.next_at == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    assert room.runs.schedules.fire_due() == 0
    clock.advance(minutes=30)
    assert room.runs.schedules.fire_due() == 1
    assert room.runs.schedules.fire_due() == 0
    assert fired(room) == ["02 09:30"]
    room.drive()
    [run] = room.runs.records.listed(room.scope)
    assert run.status.value == "done"
    after = room.runs.schedules.get(room.scope, made.id)
    assert (after.last_at, after.next_at) == (made.next_at, datetime(2026, 3, 3, 9, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("missed", "expected"),
    [
        (Missed.skip, []),
        (Missed.once, ["02 12:00"]),
        (Missed.all, ["02 10:00", "02 11:00", "02 12:00"]),
    ],
)
def test_what_was_missed_is_made_up_for_as_asked(
    room: Room, clock: MovableClock, missed: Missed, expected: list[str]
) -> None:
    scheduled(room, "0 * * * *", missed)
    clock.advance(hours=3, minutes=40)
    assert room.runs.schedules.fire_due() == len(expected)
    assert fired(room) == expected
    clock.advance(minutes=21)
    assert room.runs.schedules.fire_due() == 1
    assert fired(room) == [*expected, "02 13:00"]


def test_a_moment_that_is_only_a_little_late_was_not_missed(
    room: Room, clock: MovableClock
) -> None:
    scheduled(room, "0 * * * *", Missed.skip)
    clock.advance(hours=2, minutes=1)
    assert room.runs.schedules.fire_due() == 1
    assert fired(room) == ["02 11:00"]


def test_a_disabled_schedule_rests_and_goes_on_from_now(room: Room, clock: MovableClock) -> None:
    made = scheduled(room, "0 * * * *", Missed.all)
    schedules = room.runs.schedules
    off = schedules.change(room.scope, made.id, made.revision, {"enabled": False})
    clock.advance(hours=5)
    assert schedules.fire_due() == 0
    with pytest.raises(Stale):
        schedules.change(room.scope, made.id, made.revision, {"enabled": True})
    on = schedules.change(room.scope, made.id, off.revision, {"enabled": True})
    assert on.next_at == clock.now() + timedelta(hours=1)
    clock.advance(hours=1)
    assert schedules.fire_due() == 1


def test_however_many_workers_look_each_moment_fires_once(room: Room, clock: MovableClock) -> None:
    for _ in range(5):
        scheduled(room, "0 * * * *")
    workers, rounds = 4, 3
    together = threading.Barrier(workers)

    def look(counts: list[int]) -> None:
        together.wait(30)
        counts.append(room.runs.schedules.fire_due())

    for _ in range(rounds):
        clock.advance(hours=1)
        counts: list[int] = []
        threads = [threading.Thread(target=look, args=(counts,)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sum(counts) == 5, counts
    assert len(room.runs.records.listed(room.scope, limit=200)) == 5 * rounds
