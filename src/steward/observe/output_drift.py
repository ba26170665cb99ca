"""Whether the output of a flow is still like those of its earlier runs: what changed, and what was usual.

A number has drifted when it is further from its mean than three standard deviations and than a floor. With many numbers
one of them is far off by chance, and with few earlier runs their spread is not well known: the limit is wider then.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from math import log, sqrt
from typing import Any, Final, Literal

from steward.observe.run_outputs import MOST_FIELDS, OUTPUT, Measures

LEAST_RUNS: Final = 10
_SIGMAS: Final = 3.0
_Key = tuple[str, str, str]
_Field = tuple[str, str]
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
        match self.what:
            case "rows":
                return f"{said} has {value} rows ({usual})."
            case "empty":
                return f"{said} is empty in {value} % ({usual} %)."
            case "mean":
                return f"The mean of {of} is {value} ({usual})."
            case _:
                return f"{said} is {value} ({usual})."


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
    """How often a number was there, with its sum and squares: of any row of runs without adding them up again."""

    def __init__(self, found: Sequence[tuple[int, float]]) -> None:
        self._at = [at for at, _ in found]
        # Sums of differences from one of the values: squares of large numbers would lose the small differences.
        self._from = found[0][1]
        apart = [value - self._from for _, value in found]
        self._totals = list(accumulate(apart, initial=0.0))
        self._squares = list(accumulate((each * each for each in apart), initial=0.0))

    def between(self, first: int, end: int) -> tuple[int, float, float]:
        """Of the runs from one up to another, which is left out: count, mean and standard deviation."""
        begin, over = bisect_left(self._at, first), bisect_left(self._at, end)
        count = over - begin
        if count < 2:
            return count, 0.0, 0.0
        total = self._totals[over] - self._totals[begin]
        mean = total / count
        left = self._squares[over] - self._squares[begin] - total * mean
        return count, self._from + mean, sqrt(max(0.0, left) / (count - 1))


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
        self._sums = {key: _Sums(values) for key, values in found.items()}
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
        for (place, name, aspect), value in numbers:
            count, mean, deviation = self._sums[place, name, aspect].between(first, fresh)
            if count < LEAST_RUNS:
                continue
            floored = floor if aspect == "empty" else abs(mean) * floor / 100
            apart = max(_width(count, len(numbers)) * deviation, floored)
            # Of a number that was the same each time, only what sums lose is left.
            is_far = abs(value - mean) > max(apart, abs(mean) * 1e-9)
            nothing = self._nothing.get((place, name, aspect), ())
            is_gone = at in nothing and bisect_left(nothing, first) == bisect_left(nothing, fresh)
            if is_far or is_gone:
                low, high = _bounds(aspect, mean, apart)
                yield Drifted(place, name, _what(aspect), value, low, high)

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


def _bounds(aspect: str, mean: float, apart: float) -> tuple[float, float]:
    low, high = mean - apart, mean + apart
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
