"""Time as a dependency: code asks a clock, so that tests can move it and a replay can record it."""

import time
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The current moment, always in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for measuring durations."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError(
                "a clock starts at a moment with a time zone; use datetime(..., tzinfo=UTC)"
            )
        self._now = start.astimezone(UTC)
        self._monotonic = 0.0
        self._lock = Lock()

    def now(self) -> datetime:
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        with self._lock:
            return self._monotonic

    def advance(self, **amount: float) -> datetime:
        """Moves on by a timedelta's arguments, as in `advance(minutes=5)`."""
        step = timedelta(**amount)
        if step < timedelta(0):
            raise ValueError("a clock moves forward only")
        with self._lock:
            self._now += step
            self._monotonic += step.total_seconds()
            return self._now
