"""Whether the output of a flow is still like those of its earlier runs: what changed, and what was usual.

A number has drifted when it is further from its mean than three standard deviations and than a floor, in one run or on
average in the last four. Numbers that are mostly small and sometimes large are judged on a log scale, and by weekday where
that explains most of their spread. With many numbers one of them is far off by chance, and with few earlier runs their
spread is not well known: the limit is wider then.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from math import expm1, fsum, log, log1p, sqrt
from typing import Any, Final, Literal

from steward.observe.run_outputs import MOST_FIELDS, OUTPUT, Measures

LEAST_RUNS: Final = 10
_SIGMAS: Final = 3.0
_LATELY: Final = 4
"""So many runs together show a change that is too small to be seen in one of them."""
_LEAST_WEEKLY: Final = 21
_LEAST_SAME: Final = 3
"""Weekdays are told apart where so many runs are known, in all and of the same weekday."""
_Key = tuple[str, str, str]
_Field = tuple[str, str]
_Stretch = tuple[tuple[int, int], int, float, float, float | None, dict[int, tuple[int, float]]]
_FULL: Final = ("", "")
"""Runs with more fields than are measured."""
_NOTHING_LEFT: Final = {"rows": 0.0, "empty": 100.0}
"""No rows, or a column without values: drift where it was never so before, however much the numbers vary."""
_What = Literal["rows", "number", "empty", "mean", "new", "missing"]


@dataclass(frozen=True)
class Drifted:
    """One number, column or step of an output that is not as usual."""

    place: str
    name: str
    what: _What
    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 1
    """Above one: the value is the mean of so many runs, the latest last."""

    @property
    def sentence(self) -> str:
        """Names in it are those of columns and fields, which anyone may have chosen."""
        where = "the output" if self.place == OUTPUT else f"“{self.place.removeprefix('output.')}”"
        of = f"“{self.name}” in {where}" if self.name else where
        said = of[0].upper() + of[1:]
        if self.what in ("new", "missing"):
            return f"{said} is {self.what}."
        value, low, high = (_amount(each or 0.0) for each in (self.value, self.low, self.high))
        usual = f"usually {low}" if low == high else f"usually {low} to {high}"
        over = f" on average in the last {self.runs} runs" if self.runs > 1 else ""
        match self.what:
            case "rows":
                return f"{said} has {value} rows{over} ({usual})."
            case "empty":
                return f"{said} is empty in {value} %{over} ({usual} %)."
            case "mean":
                return f"The mean of {of} is {value}{over} ({usual})."
            case _:
                return f"{said} is {value}{over} ({usual})."


@dataclass(frozen=True)
class Drift:
    """What of the latest output is not as usual."""

    run_id: str
    drifted: tuple[Drifted, ...]

    def to_json(self) -> dict[str, Any]:
        return {"run_id": self.run_id, "drifted": [asdict(each) for each in self.drifted]}


def drift_from(kept: Mapping[str, Any] | None) -> Drift | None:
    if kept is None:
        return None
    return Drift(kept["run_id"], tuple(Drifted(**each) for each in kept["drifted"]))


@dataclass(frozen=True)
class RunOutput:
    hour: int
    run_id: str
    measures: Measures


class _Sums:
    """Sums of one number over the runs that have it, so that any stretch of them is known without adding it up again."""

    def __init__(self, found: Sequence[tuple[int, float]]) -> None:
        self._at = [at for at, _ in found]
        # Sums of differences from one of the values: powers of large numbers would lose the small differences.
        self._from = found[0][1]
        apart = [value - self._from for _, value in found]
        self._powers = [
            list(accumulate((each**power for each in apart), initial=0.0)) for power in (1, 2, 3)
        ]
        following = (one * next_ for one, next_ in pairwise(apart))
        self._products = [0.0, *accumulate(following, initial=0.0)]

    def between(self, first: int, end: int) -> tuple[int, float, float]:
        """Of the runs from one up to another, which is left out: count, mean and the sum of squares around it."""
        begin, over = bisect_left(self._at, first), bisect_left(self._at, end)
        count = over - begin
        if count < 1:
            return 0, 0.0, 0.0
        total, squares, _ = self._moments(begin, over)
        mean = total / count
        return count, self._from + mean, max(0.0, squares - total * mean)

    def shape(self, first: int, end: int) -> tuple[float, float]:
        """How lopsided the values are, and how much each is like the one before it (0 to 0.9)."""
        begin, over = bisect_left(self._at, first), bisect_left(self._at, end)
        count = over - begin
        total, squares, cubes = self._moments(begin, over)
        mean = total / count
        spread = squares - total * mean
        if spread <= squares * 1e-12:
            return 0.0, 0.0
        third = cubes - 3 * mean * squares + 3 * mean * mean * total - count * mean**3
        products = self._products[over] - self._products[begin + 1]
        likeness = (products - (count - 1) * mean * mean) / spread
        return third / count / (spread / count) ** 1.5, min(0.9, max(0.0, likeness))

    def _moments(self, begin: int, over: int) -> list[float]:
        return [sums[over] - sums[begin] for sums in self._powers]


@dataclass(frozen=True)
class _Usual:
    """What is usual for one number at one run, on the scale on which it is judged."""

    count: int
    centre: float
    deviation: float
    likeness: float
    is_log: bool

    def shown(self, value: float) -> float:
        return expm1(value) if self.is_log else value


class _Number:
    """One number of the outputs of a flow over its runs: as it is and on a log scale, in all and by weekday."""

    def __init__(
        self, found: Sequence[tuple[int, float]], days: Sequence[int], aspect: str
    ) -> None:
        self._aspect = aspect
        self._values = dict(found)
        self._plain = _Scale(found, days)
        may_log = aspect != "empty" and all(value >= 0 for _, value in found)
        logged = [(at, log1p(value)) for at, value in found] if may_log else None
        self._log = _Scale(logged, days) if logged else None

    def usual(self, at: int, first: int, end: int) -> _Usual:
        """By the runs from one up to another. Numbers that are mostly small and sometimes large are judged on a log scale."""
        count, _, _ = self._plain.whole.between(first, end)
        if count < LEAST_RUNS:
            return _Usual(count, 0.0, 0.0, 0.0, is_log=False)
        skew, likeness = self._plain.whole.shape(first, end)
        if self._log is not None:
            log_skew, log_likeness = self._log.whole.shape(first, end)
            if abs(log_skew) < abs(skew):
                centre, deviation, is_daily = self._log.centre(at, first, end)
                return _Usual(count, centre, deviation, 0.0 if is_daily else log_likeness, True)
        centre, deviation, is_daily = self._plain.centre(at, first, end)
        return _Usual(count, centre, deviation, 0.0 if is_daily else likeness, is_log=False)

    def judged(
        self, at: int, first: int, end: int, runs: int, floor: float, numbers: int
    ) -> tuple[float, float, float] | None:
        """Where the last so many runs up to this one are, with the bounds of what is usual by those up to `end`.

        None where too little is known, or where the latest of several runs is near the middle again.
        """
        usual = self.usual(at, first, end)
        if usual.count < LEAST_RUNS:
            return None
        if runs > 1 and abs(self._apart(at, first, end, usual) or 0.0) < usual.deviation:
            return None
        lately = range(at - runs + 1, at + 1)
        apart = [each for at in lately if (each := self._apart(at, first, end, usual)) is not None]
        mean = fsum(apart) / len(apart)
        if len(apart) < runs or apart[-1] * mean < 0:
            return None
        # Runs that are like the ones before them tell less than as many others.
        alike = (1 + usual.likeness) / (1 - usual.likeness) if runs > 1 else 1.0
        less = (alike / runs + 1 / usual.count) / (1 + 1 / usual.count)
        width = _width(usual.count, numbers) * sqrt(less) * usual.deviation
        centre = usual.shown(usual.centre)
        floored = floor if self._aspect == "empty" else abs(centre) * floor / 100
        # Of a number that was the same each time, only what sums lose is left.
        floored = max(floored, abs(centre) * 1e-9)
        low = min(usual.shown(usual.centre - width), centre - floored)
        high = max(usual.shown(usual.centre + width), centre + floored)
        shown = self._values[at] if runs == 1 else usual.shown(usual.centre + mean)
        return shown, *_bounds(self._aspect, low, high)

    def _apart(self, at: int, first: int, end: int, usual: _Usual) -> float | None:
        """How far a run is from what is usual for its weekday; None where it does not have the number."""
        if at not in self._values:
            return None
        scale = self._log if usual.is_log and self._log is not None else self._plain
        value = log1p(self._values[at]) if usual.is_log else self._values[at]
        return value - scale.centre(at, first, end)[0]


class _Scale:
    def __init__(self, found: Sequence[tuple[int, float]], days: Sequence[int]) -> None:
        self.whole = _Sums(found)
        by_day: dict[int, list[tuple[int, float]]] = {}
        for at, value in found:
            by_day.setdefault(days[at], []).append((at, value))
        self._by_day = {day: _Sums(values) for day, values in by_day.items()}
        self._days = days
        self._known: _Stretch | None = None

    def centre(self, at: int, first: int, end: int) -> tuple[float, float, bool]:
        """The mean and standard deviation that count for a run, and whether they are those of its weekday."""
        if self._known is None or self._known[0] != (first, end):
            self._known = ((first, end), *self._stretch(first, end))
        _, count, mean, variance, within, days = self._known
        same, own = days.get(self._days[at], (0, 0.0))
        if within is None or same < _LEAST_SAME:
            return mean, sqrt(variance), False
        return own, sqrt(within * (1 + 1 / same) / (1 + 1 / count)), True

    def _stretch(
        self, first: int, end: int
    ) -> tuple[int, float, float, float | None, dict[int, tuple[int, float]]]:
        """Count, mean and variance of the runs from one up to another; the variance within weekdays, where it is
        much less; and count and mean by weekday.
        """
        count, mean, squares = self.whole.between(first, end)
        variance = squares / max(1, count - 1)
        if count < _LEAST_WEEKLY or not variance:
            return count, mean, variance, None, {}
        parts = {day: sums.between(first, end) for day, sums in self._by_day.items()}
        used = [part for part in parts.values() if part[0]]
        within = sum(part[2] for part in used) / max(1, count - len(used))
        # Chance alone makes it half as much about once in a thousand times.
        is_weekly = len(used) > 1 and within < variance / 2
        days = {day: (part[0], part[1]) for day, part in parts.items()}
        return count, mean, variance, within if is_weekly else None, days


class OutputPast:
    """The outputs of one flow, oldest first."""

    def __init__(self, runs: Iterable[RunOutput]) -> None:
        self._runs = list(runs)
        self._hours = [run.hour for run in self._runs]
        found: dict[_Key, list[tuple[int, float]]] = {}
        self._nothing: dict[_Key, list[int]] = {}
        for at, run in enumerate(self._runs):
            for key, value in _numbers(run.measures):
                found.setdefault(key, []).append((at, value))
                if value == _NOTHING_LEFT.get(key[2]):
                    self._nothing.setdefault(key, []).append(at)
        self._there: dict[_Field, list[int]] = {}
        for at, run in enumerate(self._runs):
            for field in (*_fields(run.measures), *([_FULL] if _is_full(run.measures) else ())):
                self._there.setdefault(field, []).append(at)
        days = [(hour // 24 + 3) % 7 for hour in self._hours]
        self._numbers = {key: _Number(values, days, key[2]) for key, values in found.items()}
        self._known: dict[tuple[int, float, int], Drift | None] = {}

    def learned_hours(self, hour: int, back: int) -> int:
        """For how long outputs are known, at most `back` hours."""
        at = bisect_left(self._hours, hour - back)
        return hour - self._hours[at] if at < len(self._hours) and self._hours[at] < hour else 0

    def drift(self, hour: int, floor: float, since: int, *, back: int, least: int) -> Drift | None:
        """Of the runs in the last hour up to this one in which any ended, against those before it.

        Those of `back` hours count, or the latest ten where there are fewer, but none before `since`. None while they
        are too few, or cover less than `least` hours.
        """
        end = bisect_left(self._hours, hour + 1)
        if end == 0 or self._hours[end - 1] <= hour - back:
            return None
        latest = self._hours[end - 1]
        known = (latest, floor, since)
        if known not in self._known:
            self._known[known] = self._drift(end, latest, floor, since, back, least)
        return self._known[known]

    def _drift(
        self, end: int, latest: int, floor: float, since: int, back: int, least: int
    ) -> Drift | None:
        fresh = bisect_left(self._hours, latest)
        first = max(
            min(bisect_left(self._hours, latest - back), fresh - LEAST_RUNS),
            bisect_left(self._hours, since),
            0,
        )
        if fresh - first < LEAST_RUNS or latest - self._hours[first] < least:
            return None
        for at in range(end - 1, fresh - 1, -1):
            if found := tuple(self._judged(at, first, fresh, floor)):
                return Drift(self._runs[at].run_id, found)
        return Drift(self._runs[end - 1].run_id, ())

    def _judged(self, at: int, first: int, fresh: int, floor: float) -> Iterable[Drifted]:
        yield from self._other_fields(at, first, fresh)
        numbers = list(_numbers(self._runs[at].measures))
        for key, _ in numbers:
            number = self._numbers[key]
            for runs in (1, _LATELY):
                before = min(fresh, at - runs + 1)
                found = number.judged(at, first, before, runs, floor, 2 * len(numbers))
                if found is None:
                    continue
                shown, low, high = found
                is_far = not low <= shown <= high
                if is_far or (runs == 1 and self._is_gone(key, at, first, fresh)):
                    place, name, aspect = key
                    yield Drifted(place, name, _what(aspect), shown, low, high, runs)
                    break

    def _is_gone(self, key: _Key, at: int, first: int, fresh: int) -> bool:
        nothing = self._nothing.get(key, ())
        return at in nothing and bisect_left(nothing, first) == bisect_left(nothing, fresh)

    def _other_fields(self, at: int, first: int, fresh: int) -> Iterable[Drifted]:
        """Steps, columns and fields that were there each time and are not, or are there for the first time."""
        if self._times(_FULL, first, fresh) or self._times(_FULL, at, at + 1):
            # What did not fit in is not missing.
            return
        times = {field: self._times(field, first, fresh) for field in self._there}
        now = set(_fields(self._runs[at].measures))
        for place, name in sorted(times.keys() - now):
            if times[place, name] == fresh - first and (not name or (place, "") in now):
                yield Drifted(place, name, "missing")
        for place, name in sorted(now):
            if not times[place, name] and (not name or times[place, ""]):
                yield Drifted(place, name, "new")

    def _times(self, field: _Field, first: int, end: int) -> int:
        at = self._there.get(field, ())
        return bisect_left(at, end) - bisect_left(at, first)


def _numbers(measures: Measures) -> Iterable[tuple[_Key, float]]:
    for place, fields in measures.items():
        for name, aspects in fields.items():
            for aspect, value in aspects.items():
                yield (place, name, aspect), value


def _fields(measures: Measures) -> Iterable[_Field]:
    """Places, with an empty name, and what is in them."""
    return {(place, name) for place in measures for name in ("", *measures[place])}


def _is_full(measures: Measures) -> bool:
    return sum(len(fields) for fields in measures.values()) >= MOST_FIELDS


def _width(count: int, numbers: int) -> float:
    """How many standard deviations are too far."""
    return sqrt((_SIGMAS**2 + 2 * log(numbers)) * (1 + 1 / count) * (count - 1) / (count - 3))


def _bounds(aspect: str, low: float, high: float) -> tuple[float, float]:
    if aspect == "empty":
        return max(0.0, low), min(100.0, high)
    return (max(0.0, low) if aspect == "rows" else low), high


def _what(aspect: str) -> _What:
    match aspect:
        case "rows" | "empty" | "mean":
            return aspect
        case _:
            return "number"


def _amount(value: float) -> str:
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.3g}"


def outputs_by_flow(
    rows: Iterable[tuple[str, int, str, Measures]],
) -> Mapping[str, list[RunOutput]]:
    found: dict[str, list[RunOutput]] = {}
    for flow, hour, run_id, measures in rows:
        found.setdefault(flow, []).append(RunOutput(hour, run_id, measures))
    return found
