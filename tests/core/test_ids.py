"""Ids carry their kind, sort by creation and tell when they were made."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core import Ids, MovableClock, SystemClock
from steward.core.ids import created_at, is_id

_MOMENTS = st.datetimes(
    min_value=datetime(1990, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


class _SetClock:
    """A clock that shows what it is told, backwards too."""

    def __init__(self, moments: list[datetime]) -> None:
        self._moments = iter(moments)

    def now(self) -> datetime:
        return next(self._moments)

    def monotonic(self) -> float:
        return 0.0


@given(_MOMENTS)
def test_the_moment_reads_back_to_the_millisecond(moment: datetime) -> None:
    made = Ids(MovableClock(moment)).new("run")
    assert is_id(made, "run")
    assert created_at(made) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@given(st.lists(_MOMENTS, min_size=2, max_size=20))
def test_ids_increase_whatever_the_clock_does(moments: list[datetime]) -> None:
    ids = Ids(_SetClock(moments))
    made = [ids.new("run") for _ in moments]
    assert made == sorted(set(made))


@given(_MOMENTS, _MOMENTS)
def test_ids_of_two_processes_sort_by_time(one: datetime, other: datetime) -> None:
    early, late = sorted([one, other])
    if late - early >= timedelta(milliseconds=1):
        first, second = (Ids(MovableClock(moment)).new("ds") for moment in (early, late))
        assert first < second


def test_ids_increase_within_and_differ_across_threads() -> None:
    ids = Ids(SystemClock())

    def make(_: int) -> list[str]:
        return [ids.new("run") for _ in range(300)]

    with ThreadPoolExecutor(8) as threads:
        batches = list(threads.map(make, range(8)))
    assert all(batch == sorted(batch) for batch in batches)
    assert len({one for batch in batches for one in batch}) == 8 * 300


def test_two_processes_do_not_make_the_same_id(clock: MovableClock) -> None:
    assert Ids(clock).new("run") != Ids(clock).new("run")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run",
        "run_",
        "ds_" + "0" * 26,
        "run_" + "0" * 25,
        "run_" + "0" * 27,
        "run_" + "O" * 26,
        "run_" + "u" * 26,
        "run_" + "0" * 26 + "\n",
        " run_" + "0" * 26,
        "run_../" + "0" * 23,
    ],
)
def test_what_is_not_an_id(text: str) -> None:
    assert not is_id(text, "run")


def test_what_is_an_id() -> None:
    assert is_id("run_" + "0" * 26, "run")
