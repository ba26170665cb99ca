"""Figures by flow and hour, and how long approvals waited: what alert rules look at.

Everything a run did counts in the hour in which it ended. So a later look at a past hour finds what a look at its end
found, whereas a long run adds spending to hours long past when it ends.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from threading import Lock
from typing import Final

import sqlalchemy as sa

from steward.broker import approvals_table, period_budgets_table
from steward.core import created_at
from steward.observe._tables import ended_hours, projected
from steward.observe.ended_hours import FIGURES
from steward.observe.facts import NANO, hour_of
from steward.observe.open_gates import open_gates
from steward.observe.output_drift import OutputPast, RunOutput, outputs_by_flow
from steward.observe.overview import Visible, shows
from steward.observe.projector import OVERLAP
from steward.observe.run_outputs import RunOutputs
from steward.runs import flow_name, is_of_tests, runs_table
from steward.store import Database, Scope

MESSAGES: Final = "alerts"
"""The flow of messages that alerts send, or the end of it after the flow that they are about.

They count in no rule, or a failed message would raise an alert.
"""
_RUNS: Final = runs_table.c
_MOST_PROJECTS: Final = 50
_MOST_KEPT: Final = 24 * 60
"""Hours that are kept beyond those that were asked for last."""


@dataclass(frozen=True)
class Cell:
    """What runs of one flow that ended in one hour did."""

    runs: int = 0
    failed: int = 0
    milliseconds: int = 0
    nano_usd: int = 0
    tokens: int = 0

    def __add__(self, other: "Cell") -> "Cell":
        return Cell(
            self.runs + other.runs,
            self.failed + other.failed,
            self.milliseconds + other.milliseconds,
            self.nano_usd + other.nano_usd,
            self.tokens + other.tokens,
        )

    def __sub__(self, other: "Cell") -> "Cell":
        return Cell(
            self.runs - other.runs,
            self.failed - other.failed,
            self.milliseconds - other.milliseconds,
            self.nano_usd - other.nano_usd,
            self.tokens - other.tokens,
        )


@dataclass(frozen=True)
class Wait:
    """An approval that waited from one moment until another, which may lie ahead."""

    flow: str
    start: datetime
    end: datetime


@dataclass(frozen=True)
class WatchedBudget:
    """Dollars that the project, or one flow, may spend in each period."""

    flow: str | None
    period: str
    usd: float


class Series:
    """The figures of one flow, or of several together, hour by hour; sums over hours take no longer for more hours."""

    def __init__(
        self,
        cells: Iterable[Mapping[int, Cell]],
        waits: Iterable[Wait] = (),
        budgets: Iterable[WatchedBudget] = (),
        outputs: Iterable[RunOutput] = (),
        since: int = 0,
    ) -> None:
        self.since = since
        """The hour in which the project was made."""
        together: dict[int, Cell] = {}
        for each in cells:
            for hour, cell in each.items():
                together[hour] = together.get(hour, Cell()) + cell
        self._hours = sorted(together)
        self._sums = list(accumulate((together[hour] for hour in self._hours), initial=Cell()))
        self._waits = list(waits)
        self.budgets = tuple(budgets)
        self.outputs = OutputPast(outputs)
        self.values: dict[tuple[str, int, int], float | None] = {}
        """What was computed from these sums already, by figure, window and hour."""

    def total(self, first: int, last: int) -> Cell:
        """Of these hours, both included."""
        begin, end = bisect_left(self._hours, first), bisect_right(self._hours, last)
        return self._sums[end] - self._sums[begin] if begin < end else Cell()

    def first_hour(self, since: int) -> int | None:
        """The first hour from one on in which a run ended."""
        at = bisect_left(self._hours, since)
        return self._hours[at] if at < len(self._hours) else None

    def waiting_since(self, moment: datetime) -> list[datetime]:
        """When the approvals began to wait that wait at a moment."""
        return [wait.start for wait in self._waits if wait.start <= moment < wait.end]


@dataclass(frozen=True)
class Watched:
    """What rules of one project look at."""

    cells: Mapping[str, Mapping[int, Cell]]
    waits: tuple[Wait, ...] = ()
    budgets: tuple[WatchedBudget, ...] = ()
    outputs: Mapping[str, list[RunOutput]] = field(default_factory=dict)
    since: int = 0
    """The hour in which the project was made."""

    def flows(self, visible: Visible = None) -> list[str]:
        known = {*self.cells, *(wait.flow for wait in self.waits)}
        return sorted(flow for flow in known if shows(visible, flow) and not _is_apart(flow))

    def series(self, flows: Collection[str], flow: str | None = None) -> Series:
        """Of these flows together, with the budgets of one flow or, without it, of the project."""
        return Series(
            (self.cells[flow] for flow in flows if flow in self.cells),
            (wait for wait in self.waits if wait.flow in flows),
            (each for each in self.budgets if each.flow == flow),
            self.outputs.get(flow, ()) if flow is not None else (),
            self.since,
        )


@dataclass
class _Kept:
    first: int
    settled: int
    """Hours before this one change no more."""
    cells: dict[str, dict[int, Cell]] = field(default_factory=dict)


class Hourly:
    """Reads what changed since it last looked, and keeps the hours that are settled."""

    def __init__(self, database: Database, outputs: RunOutputs) -> None:
        self._database = database
        self._outputs = outputs
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def watched(
        self, scope: Scope, first: int, now: datetime, outputs_since: int | None = None
    ) -> Watched:
        """From an hour on; approvals too, where they waited since, and outputs where they are asked for."""
        return Watched(
            self._cells(scope, first),
            tuple(self._waits(scope, first, now)),
            tuple(self._budgets(scope)),
            {}
            if outputs_since is None
            else outputs_by_flow(self._outputs.since(scope, outputs_since)),
            hour_of(created_at(scope.project_id)),
        )

    def _budgets(self, scope: Scope) -> Iterator[WatchedBudget]:
        kept = period_budgets_table.c
        statement = sa.select(period_budgets_table).where(
            kept.kind.in_(["project", "flow"]), kept.limit_usd > 0
        )
        with self._database.read(scope) as tx:
            rows = tx.rows(statement)
        for row in rows:
            flow = row.name if row.kind == "flow" else None
            yield WatchedBudget(flow, row.period, row.limit_usd / NANO)

    def _cells(self, scope: Scope, first: int) -> dict[str, dict[int, Cell]]:
        with self._lock:
            kept = self._kept.get(scope.project_id)
            if kept is None or not first - _MOST_KEPT <= kept.first <= first:
                kept = _Kept(first, first)
            found = {flow: dict(hours) for flow, hours in kept.cells.items()}
            settled = self._settled(scope)
            fresh = list(self._read(scope, kept.settled))
            for flow, hour, cell in fresh:
                found.setdefault(flow, {})[hour] = cell
                if hour < settled:
                    kept.cells.setdefault(flow, {})[hour] = cell
            kept.settled = max(kept.settled, settled)
            self._kept[scope.project_id] = kept
            self._kept.move_to_end(scope.project_id)
            while len(self._kept) > _MOST_PROJECTS:
                self._kept.popitem(last=False)
        return found

    def _settled(self, scope: Scope) -> int:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(projected.c.until))
        return 0 if row is None else hour_of(row.until - OVERLAP)

    def _read(self, scope: Scope, first: int) -> Iterator[tuple[str, int, Cell]]:
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(ended_hours).where(ended_hours.c.at >= first))
        for row in rows:
            yield row.flow, row.at, Cell(*(getattr(row, name) for name in FIGURES))

    def _waits(self, scope: Scope, first: int, now: datetime) -> Iterator[Wait]:
        approvals, root = approvals_table.c, runs_table.alias("root")
        statement = sa.select(
            approvals.requested_at,
            approvals.decided_at,
            approvals.expires_at,
            _RUNS.ended_at,
            root.c.subject,
            root.c.program,
        ).where(
            approvals.run_id == _RUNS.id,
            root.c.id == _RUNS.root_id,
            approvals.expires_at >= _moment(first),
            approvals.requested_at <= now,
        )
        with self._database.read(scope) as tx:
            rows = tx.rows(statement)
            gates = open_gates(tx, now)
        for gate in gates:
            yield Wait(flow_name(gate.subject, gate.program), gate.asked_at, gate.expires_at)
        for row in rows:
            ends = [each for each in (row.decided_at, row.expires_at, row.ended_at) if each]
            yield Wait(flow_name(row.subject, row.program), row.requested_at, min(ends))


def is_of_messages(flow: str) -> bool:
    return flow == MESSAGES or flow.endswith(f":{MESSAGES}")


def _is_apart(flow: str) -> bool:
    return is_of_messages(flow) or is_of_tests(flow)


def _moment(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)


def end_of(hour: int) -> datetime:
    """The last moment of an hour."""
    return _moment(hour + 1) - timedelta(microseconds=1)
