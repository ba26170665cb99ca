"""The overview of a project: what runs, waits, failed and cost lately, beside the time before."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import approvals_table
from steward.observe._tables import facts, people, rollups
from steward.observe.facts import hour_of
from steward.observe.open_gates import open_gates
from steward.observe.period_sums import Failing, PeriodSums, Ranked, Totals
from steward.observe.projector import Projector
from steward.observe.rollups import Rollups, by_day, by_hour, summed
from steward.runs import TESTS, Status, is_of_tests, runs_table
from steward.store import Database, Scope, Transaction

_SUMS: Final = rollups.c
_TOKENS: Final = _SUMS.input_tokens + _SUMS.output_tokens
_ADDED: Final = {
    "times": _SUMS.times,
    "errors": _SUMS.errors,
    "nano_usd": _SUMS.nano_usd,
    "tokens": _TOKENS,
    "milliseconds": _SUMS.milliseconds,
}
_RUNS: Final = runs_table.c
_IS_NO_TEST: Final = sa.or_(_RUNS.subject.is_(None), _RUNS.subject.not_like(f"%:{TESTS}"))
_APPROVALS: Final = approvals_table.c
_DAY: Final = 24
_MOST_ASKED: Final = 5_000
"""Databases take so many values in one statement."""
_HEATING: Final = ("run", "model")
"""Only requests to models use tokens."""
MOST_HOURS: Final = 48
"""Longer periods are made of whole days."""
_LIVE: Final = [status.value for status in Status if not status.is_final]
# The end comes first: an index has it, and few runs of a project are not over.
_IS_LIVE: Final = sa.and_(_RUNS.ended_at.is_(None), _RUNS.status.in_(_LIVE))
_MOST_LIVE: Final = 1_000

Visible = tuple[str, Collection[str]] | None
"""A beginning of flows and those of them that somebody may see; other flows are everybody's. None: all."""


@dataclass(frozen=True)
class Extent:
    """How much of long lists is read."""

    flows: int
    """In the heat map."""
    names: int
    """In each ranking."""
    with_healthy: bool = False
    """Whether flows none of whose runs failed are among the failing ones."""


_SHOWN: Final = Extent(12, 8)


@dataclass(frozen=True)
class Period:
    """So many whole hours, the last one under way; or so many whole days (UTC), today included."""

    first: int
    hours: int

    @classmethod
    def until(cls, now: datetime, hours: int) -> "Period":
        last = hour_of(now)
        if hours > MOST_HOURS and hours % _DAY == 0:
            return cls(last - last % _DAY + _DAY - hours, hours)
        return cls(last - hours + 1, hours)

    @property
    def is_of_days(self) -> bool:
        return self.hours > MOST_HOURS and self.hours % _DAY == 0

    @property
    def before(self) -> "Period":
        return Period(self.first - self.hours, self.hours)

    @property
    def last(self) -> int:
        return self.first + self.hours - 1

    def holds(self, hour: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
        return hour.between(self.first, self.last)


@dataclass(frozen=True)
class Heat:
    flow: str
    hour: int
    tokens: int
    runs: int
    errors: int


@dataclass(frozen=True)
class Standing:
    """What holds at this moment, whatever the period."""

    live: dict[str, int]
    """Runs that are under way or wait, by status."""
    live_nano_usd: int
    """What runs that are not over have spent so far, in addition to what ended runs have."""
    today_nano_usd: int
    """What ended runs have spent since midnight UTC."""
    approvals: int
    oldest_approval_at: datetime | None
    oldest_queued_at: datetime | None
    workers: int
    """Workers that drive runs of the project now."""


@dataclass(frozen=True)
class OverviewFigures:
    period: Period
    standing: Standing
    now: Totals
    before: Totals
    heat: list[Heat] = field(default_factory=list)
    ranked: list[Ranked] = field(default_factory=list)
    failing: list[Failing] = field(default_factory=list)
    is_complete: bool = True
    """False while many journals are still to be counted."""


class Overview:
    def __init__(
        self,
        database: Database,
        projector: Projector,
        spent: Callable[[Scope, Sequence[str]], int],
    ) -> None:
        """`spent` says what runs with all below them have spent, in billionths of a dollar."""
        self._database = database
        self._projector = projector
        self._spent = spent

    def figures(
        self,
        scope: Scope,
        now: datetime,
        hours: int,
        visible: Visible = None,
        extent: Extent = _SHOWN,
    ) -> OverviewFigures:
        is_complete = self._projector.catch_up(scope)
        with self._database.snapshot(scope) as tx:
            return self.read_within(tx, now, hours, visible, is_complete=is_complete, extent=extent)

    def read_within(
        self,
        tx: Transaction,
        now: datetime,
        hours: int,
        visible: Visible,
        *,
        is_complete: bool,
        extent: Extent = _SHOWN,
    ) -> OverviewFigures:
        """Figures of the facts that there are."""
        period, look = Period.until(now, hours), _Look(tx, visible, self._projector.sums)
        sums = look.sums(period)
        return OverviewFigures(
            period,
            self.standing_within(tx, now, visible),
            sums.totals(),
            look.sums(period.before).totals(),
            look.heat(period, sums.busiest(extent.flows)),
            sums.ranked(extent.names),
            sums.failing(extent.names, with_healthy=extent.with_healthy),
            is_complete,
        )

    def standing_within(self, tx: Transaction, now: datetime, visible: Visible) -> Standing:
        look = _Look(tx, visible, self._projector.sums)
        roots = look.live_roots()
        waiting, oldest = look.approvals(now)
        return Standing(
            look.live(),
            max(0, self._spent(tx.project, roots) - look.counted_below(roots)),
            look.spent(hour_of(now) // _DAY),
            waiting,
            oldest,
            look.oldest_queued(),
            look.workers(now),
        )


class _Look:
    """Reads the facts that one person may see."""

    def __init__(self, tx: Transaction, visible: Visible, kept: Rollups) -> None:
        self._kept = kept
        self._tx = tx
        self._visible = visible

    def live(self) -> dict[str, int]:
        wanted = sa.select(_RUNS.status, sa.func.count().label("times"))
        wanted = wanted.where(_IS_LIVE, seen(_RUNS.subject, self._visible), _IS_NO_TEST)
        return {row.status: row.times for row in self._rows(wanted.group_by(_RUNS.status))}

    def live_roots(self) -> list[str]:
        """Runs that people or triggers started and that are not over; the newest of very many."""
        wanted = sa.select(_RUNS.id).where(
            _IS_LIVE, _RUNS.parent_id.is_(None), seen(_RUNS.subject, self._visible)
        )
        rows = self._rows(wanted.order_by(_RUNS.id.desc()).limit(_MOST_LIVE))
        return [row.id for row in rows]

    def counted_below(self, roots: Sequence[str]) -> int:
        """What ended runs below these have spent: figures of ended runs hold it already."""
        if not roots:
            return 0
        spent = summed(facts.c.nano_usd).label("nano_usd")
        wanted = sa.select(spent).where(
            facts.c.run_id == _RUNS.id, _RUNS.root_id.in_(roots), _RUNS.parent_id.is_not(None)
        )
        [row] = self._rows(wanted)
        return int(row.nano_usd)

    def approvals(self, now: datetime) -> tuple[int, datetime | None]:
        """How many wait, of calls and of steps of flows, and since when the oldest of them does."""
        oldest = sa.func.min(_APPROVALS.requested_at).label("oldest")
        root = runs_table.alias("root").c
        columns: list[Any] = [sa.func.count().label("times"), oldest]
        wanted = sa.select(*columns).where(
            _APPROVALS.run_id == _RUNS.id,
            root.id == _RUNS.root_id,
            _APPROVALS.status == "pending",
            _APPROVALS.expires_at > now,
            _RUNS.status.in_(_LIVE),
            seen(root.subject, self._visible),
        )
        [row] = self._rows(wanted)
        gates = [
            gate
            for gate in open_gates(self._tx, now)
            if not is_of_tests(gate.subject) and shows(self._visible, gate.subject or "")
        ]
        moments = [gate.asked_at for gate in gates] + ([row.oldest] if row.oldest else [])
        return int(row.times) + len(gates), min(moments, default=None)

    def oldest_queued(self) -> datetime | None:
        wanted = sa.select(sa.func.min(_RUNS.created_at).label("oldest")).where(
            _IS_LIVE,
            _RUNS.status == Status.queued.value,
            seen(_RUNS.subject, self._visible),
            _IS_NO_TEST,
        )
        [row] = self._rows(wanted)
        oldest: datetime | None = row.oldest
        return oldest

    def workers(self, now: datetime) -> int:
        wanted = sa.select(sa.func.count(_RUNS.holder.distinct()).label("times")).where(
            _RUNS.lease_until > now
        )
        [row] = self._rows(wanted)
        return int(row.times)

    def spent(self, day: int) -> int:
        """By ended runs on one day, in billionths of a dollar."""
        wanted = sa.select(summed(people.c.nano_usd).label("nano_usd")).where(
            people.c.at == day, seen(people.c.flow, self._visible)
        )
        [row] = self._rows(wanted)
        return int(row.nano_usd)

    def sums(self, period: Period) -> PeriodSums:
        """All that happened in a period, read once."""
        wanted = sa.select(
            _SUMS.about,
            *(
                # PostgreSQL adds whole numbers up to decimals, which take long to read.
                sa.cast(sa.func.sum(value), sa.BigInteger).label(name)
                for name, value in _ADDED.items()
            ),
            sa.func.max(_SUMS.last_failed).label("last_failed"),
        ).where(self._kept.between(period.first, period.last))
        rows = self._rows(wanted.group_by(_SUMS.about))
        known = self._kept.known(self._tx, [row[0] for row in rows])
        return PeriodSums(
            (about, row[1:]) for row in rows if shows(self._visible, (about := known[row[0]]).flow)
        )

    def heat(self, period: Period, flows: Sequence[str]) -> list[Heat]:
        """By the hour, or by the day where the period is made of days; for flows of which the sums were read."""
        known = {
            digest: about
            for digest, about in self._kept.known(self._tx, ()).items()
            if about.kind in _HEATING and about.flow in flows
        }
        held = (by_day if period.is_of_days else by_hour)(period.first, period.last)
        columns = (_SUMS.about, _SUMS.at, _TOKENS.label("tokens"), _SUMS.times, _SUMS.errors)
        found: dict[tuple[str, int], list[int]] = {}
        digests = list(known)
        for begin in range(0, len(digests), _MOST_ASKED):
            some = digests[begin : begin + _MOST_ASKED]
            for row in self._rows(sa.select(*columns).where(held, _SUMS.about.in_(some))):
                about = known[row.about]
                cell = found.setdefault((about.flow, row.at), [0, 0, 0])
                cell[0] += row.tokens
                if about.kind == "run":
                    cell[1] += row.times
                    cell[2] += row.errors
        hours = _DAY if period.is_of_days else 1
        return [Heat(flow, at * hours, *found[flow, at]) for flow, at in sorted(found)]

    def _rows(self, wanted: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        return self._tx.rows(wanted)


def shows(visible: Visible, flow: str) -> bool:
    """Whether somebody may see a flow; the same as `seen` for what is read already."""
    return visible is None or not flow.startswith(visible[0]) or flow in visible[1]


def seen(flow: sa.ColumnElement[Any], visible: Visible) -> sa.ColumnElement[bool]:
    """Which rows of a column of flows or subjects somebody may see."""
    if visible is None:
        return sa.true()
    beginning, known = visible
    return sa.or_(flow.is_(None), flow.not_like(f"{beginning}%"), flow.in_(sorted(known)))
