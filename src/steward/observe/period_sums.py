"""What happened in a period, read once and ordered in every way that a page shows it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steward.observe.rollups import About
from steward.runs import Status


@dataclass(frozen=True)
class Totals:
    runs: int = 0
    failed: int = 0
    cancelled: int = 0
    nano_usd: int = 0
    tokens: int = 0
    calls: int = 0
    milliseconds: int = 0
    """Of all runs that ended, added up."""


@dataclass(frozen=True)
class Ranked:
    """A flow, model, tool, agent or connector among those that cost or did most."""

    kind: str
    name: str
    count: int
    errors: int
    nano_usd: int
    tokens: int
    milliseconds: int


@dataclass(frozen=True)
class Failing:
    flow: str
    failed: int
    runs: int
    last_run_id: str


_Sums = tuple[int, int, int, int, int]


class PeriodSums:
    """Sums by what they are about: far fewer than what happened."""

    def __init__(self, rows: Iterable[tuple[About, Sequence[Any]]]) -> None:
        """Each row holds, in this order, how often, errors, billionths of a dollar, tokens, milliseconds, and the last
        run that failed."""
        self._rows: list[tuple[About, _Sums, str]] = [
            (about, (row[0], row[1], row[2], row[3], row[4]), row[5]) for about, row in rows
        ]

    def totals(self) -> Totals:
        runs = failed = cancelled = spent = used = calls = took = 0
        for about, (times, errors, nano_usd, tokens, milliseconds), _ in self._rows:
            spent += nano_usd
            used += tokens
            if about.kind == "tool":
                calls += times
            elif about.kind == "run" and about.is_root:
                runs += times
                failed += errors
                took += milliseconds
                cancelled += times * (about.name == Status.cancelled.value)
        return Totals(runs, failed, cancelled, spent, used, calls, took)

    def busiest(self, most: int) -> list[str]:
        """Flows with most tokens, then with most of everything."""
        found: dict[str, list[int]] = {}
        for about, (times, _, _, tokens, _), _ in self._rows:
            sums = found.setdefault(about.flow, [0, 0])
            sums[0] += tokens
            sums[1] += times
        return sorted(found, key=lambda flow: (-found[flow][0], -found[flow][1], flow))[:most]

    def ranked(self, most: int) -> list[Ranked]:
        """The costliest of each kind."""
        found: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}
        for about, (times, errors, nano_usd, tokens, milliseconds), _ in self._rows:
            for kind, name, counted in _places(about):
                sums = found[kind].get(name)
                if sums is None:
                    sums = found[kind][name] = [0] * 5
                sums[2] += nano_usd
                sums[3] += tokens
                # What a run asked and called counts for its flow in money; only runs count as times.
                if counted:
                    sums[0] += times
                    sums[1] += errors
                    sums[4] += milliseconds
        return [each for kind in KINDS for each in _first(kind, found[kind], most)]

    def failing(self, most: int, *, with_healthy: bool) -> list[Failing]:
        found: dict[str, tuple[int, int, str]] = {}
        for about, (times, errors, *_), last_failed in self._rows:
            if about.kind == "run" and about.is_root:
                failed, runs, last = found.get(about.flow, (0, 0, ""))
                found[about.flow] = (failed + errors, runs + times, max(last, last_failed))
        kept = [
            Failing(flow, failed, runs, last)
            for flow, (failed, runs, last) in found.items()
            if failed or with_healthy
        ]
        return sorted(kept, key=lambda each: (-each.failed, each.flow))[:most]


KINDS: Final = ("flow", "model", "tool", "agent", "connector")


def _places(about: About) -> Iterator[tuple[str, str, bool]]:
    """The rankings that a row belongs to, under which name, and whether it counts there as something done."""
    yield "flow", about.flow, about.kind == "run"
    if about.kind in ("model", "tool"):
        yield about.kind, about.name, True
    if about.connector:
        yield "connector", about.connector, True
    # Of agents, what was asked and called on their behalf.
    agent = about.name if about.kind == "agent" else about.agent
    if agent:
        yield "agent", agent, about.kind == "agent"


def _first(kind: str, found: dict[str, list[int]], most: int) -> list[Ranked]:
    every = [Ranked(kind, name, *sums) for name, sums in found.items()]
    order = sorted(every, key=lambda each: (-each.nano_usd, -each.tokens, -each.count, each.name))
    return order[:most]
