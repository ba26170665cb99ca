"""Days and months that are missing from a column of dates that is otherwise regular."""

import numpy as np
import numpy.typing as npt

from steward.analysis.profile.results import Dates, Gap

Days = npt.NDArray[np.int64]

SHOWN = 10
_REGULAR = 0.75
"""With fewer than this share of the steps present, an absent one says nothing."""
_FEWEST = 5
_MONDAY = 4
"""The epoch, 1 January 1970, was a Thursday; four days later a week began."""


def dates(days: Days, *, midnight_only: bool) -> Dates:
    """Of the sorted distinct days since 1970 on which the column has rows."""
    first, last = int(days[0]), int(days[-1])
    unit, missing = _missing(days)
    longest = _runs(missing, working=unit == "working day")
    label = _month if unit == "month" else iso
    return Dates(
        first=iso(first),
        last=iso(last),
        span_days=last - first + 1,
        days_present=len(days),
        unit=unit,
        missing=len(missing),
        gaps=tuple(Gap(label(start), label(end), length) for start, end, length in longest),
        midnight_only=midnight_only,
    )


def iso(day: int) -> str:
    return str(np.datetime64(day, "D"))


def _month(month: int) -> str:
    return str(np.datetime64(month, "M"))


def _missing(days: Days) -> tuple[str, Days]:
    """The step in which the dates are regular, and the steps of it that have no row."""
    nothing = np.array([], dtype=np.int64)
    span = int(days[-1] - days[0]) + 1
    if len(days) >= _FEWEST:
        weekends = int(np.count_nonzero(_weekday(days) >= 5))
        if weekends == 0 and span >= 14 and len(days) >= _REGULAR * span * 5 / 7:
            working = np.arange(days[0], days[-1] + 1)
            working = working[_weekday(working) < 5]
            return "working day", np.setdiff1d(working, days, assume_unique=True)
        if len(days) >= _REGULAR * span:
            every = np.arange(days[0], days[-1] + 1)
            return "day", np.setdiff1d(every, days, assume_unique=True)
    months = np.unique(days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64))
    span = int(months[-1] - months[0]) + 1
    if len(months) >= _FEWEST and len(months) >= _REGULAR * span:
        every = np.arange(months[0], months[-1] + 1)
        return "month", np.setdiff1d(every, months, assume_unique=True)
    return "none", nothing


def _weekday(days: Days) -> Days:
    """Monday is 0."""
    return (days - _MONDAY) % 7


def _runs(missing: Days, *, working: bool) -> list[tuple[int, int, int]]:
    """Consecutive missing steps as (first, last, length); a Monday follows on a Friday."""
    if not len(missing):
        return []
    steps = (missing - _MONDAY) // 7 * 5 + _weekday(missing) if working else missing
    breaks = np.flatnonzero(np.diff(steps) != 1)
    starts = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(missing) - 1]))
    lengths = ends - starts + 1
    order = np.lexsort((starts, -lengths))[:SHOWN]
    return [
        (int(missing[starts[run]]), int(missing[ends[run]]), int(lengths[run])) for run in order
    ]
