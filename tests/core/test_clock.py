"""The clock of tests moves only when told, and only forward."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from steward.core import MovableClock, SystemClock


def test_it_stands_still_until_moved() -> None:
    start = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    clock = MovableClock(start)
    assert (clock.now(), clock.monotonic()) == (start, 0.0)
    assert clock.advance(minutes=5, seconds=1) == start + timedelta(seconds=301)
    assert (clock.now(), clock.monotonic()) == (start + timedelta(seconds=301), 301.0)


def test_it_shows_utc_whatever_it_started_with() -> None:
    there = timezone(timedelta(hours=2))
    clock = MovableClock(datetime(2026, 3, 2, 11, 0, tzinfo=there))
    assert clock.now().tzinfo is UTC
    assert clock.now().hour == 9


def test_it_refuses_to_go_back_or_to_start_without_a_zone() -> None:
    with pytest.raises(ValueError, match="forward"):
        MovableClock(datetime(2026, 1, 1, tzinfo=UTC)).advance(seconds=-1)
    with pytest.raises(ValueError, match="time zone"):
        MovableClock(datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake under test


def test_the_real_clock_speaks_utc_and_does_not_go_back() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
