"""The overview of a project: what runs, waits, failed and cost lately, beside the time before."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import _tables as broker_tables
from steward.observe._tables import facts
from steward.observe.facts import hour_of
from steward.observe.projector import Projector
from steward.runs import TESTS, Status
from steward.runs import _tables as run_tables
from steward.store import Database, Scope, Transaction

_FACTS: Final = facts.c
_TOKENS: Final = _FACTS.input_tokens + _FACTS.output_tokens
_RUNS: Final = run_tables.runs.c
_IS_NO_TEST: Final = sa.or_(_RUNS.subject.is_(None), _RUNS.subject.not_like(f"%:{TESTS}"))
_APPROVALS: Final = broker_tables.approvals.c
_DAY: Final = 24
_LIVE: Final = [status.value for status in Status if not status.is_final]
_MOST_TOOLS: Final = 5_000
CONNECTED: Final = ("api", "mcp")
"""How names of tools begin that belong to a connection: the next word is its name."""
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
    """So many whole hours, the last one under way."""

    first: int
    hours: int

    @classmethod
    def until(cls, now: datetime, hours: int) -> "Period":
        return cls(hour_of(now) - hours + 1, hours)

    @property
    def before(self) -> "Period":
        return Period(self.first - self.hours, self.hours)

    def holds(self, hour: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
        return hour.between(self.first, self.first + self.hours - 1)


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
class Heat:
    flow: str
    hour: int
    tokens: int
    runs: int
    errors: int


@dataclass(frozen=True)
class Failing:
    flow: str
    failed: int
    runs: int
    last_run_id: str


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
        self, scope: Scope, now: datetime, hours: int, visible: Visible = None
    ) -> OverviewFigures:
        is_complete = self._projector.catch_up(scope)
        with self._database.snapshot(scope) as tx:
            return self.read_within(tx, now, hours, visible, is_complete=is_complete)

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
        period, look = Period.until(now, hours), _Look(tx, visible)
        return OverviewFigures(
            period,
            self.standing_within(tx, now, visible),
            look.totals(period),
            look.totals(period.before),
            look.heat(period, extent.flows),
            look.ranked(period, extent.names),
            look.failing(period, extent),
            is_complete,
        )

    def standing_within(self, tx: Transaction, now: datetime, visible: Visible) -> Standing:
        look = _Look(tx, visible)
        roots = look.live_roots()
        today = hour_of(now) - hour_of(now) % _DAY
        waiting, oldest = look.approvals(now)
        return Standing(
            look.live(),
            max(0, self._spent(tx.project, roots) - look.counted_below(roots)),
            look.totals(Period(today, _DAY)).nano_usd,
            waiting,
            oldest,
            look.oldest_queued(),
            look.workers(now),
        )


class _Look:
    """Reads the facts that one person may see."""

    def __init__(self, tx: Transaction, visible: Visible) -> None:
        self._tx = tx
        self._visible = visible

    def live(self) -> dict[str, int]:
        wanted = sa.select(_RUNS.status, sa.func.count().label("times"))
        wanted = wanted.where(
            _RUNS.status.in_(_LIVE), seen(_RUNS.subject, self._visible), _IS_NO_TEST
        )
        return {row.status: row.times for row in self._rows(wanted.group_by(_RUNS.status))}

    def live_roots(self) -> list[str]:
        """Runs that people or triggers started and that are not over; the newest of very many."""
        wanted = sa.select(_RUNS.id).where(
            _RUNS.status.in_(_LIVE), _RUNS.parent_id.is_(None), seen(_RUNS.subject, self._visible)
        )
        rows = self._rows(wanted.order_by(_RUNS.id.desc()).limit(_MOST_LIVE))
        return [row.id for row in rows]

    def counted_below(self, roots: Sequence[str]) -> int:
        """What ended runs below these have spent: figures of ended runs hold it already."""
        wanted = sa.select(_sum(_FACTS.nano_usd, sa.true(), "nano_usd")).where(
            _FACTS.run_id == _RUNS.id, _RUNS.root_id.in_(roots), _RUNS.parent_id.is_not(None)
        )
        [row] = self._rows(wanted)
        return int(row.nano_usd)

    def approvals(self, now: datetime) -> tuple[int, datetime | None]:
        """How many wait, and since when the oldest of them does."""
        oldest = sa.func.min(_APPROVALS.requested_at).label("oldest")
        root = run_tables.runs.alias("root").c
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
        return int(row.times), row.oldest

    def oldest_queued(self) -> datetime | None:
        wanted = sa.select(sa.func.min(_RUNS.created_at).label("oldest")).where(
            _RUNS.status == Status.queued.value, seen(_RUNS.subject, self._visible), _IS_NO_TEST
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

    def totals(self, period: Period) -> Totals:
        is_run = sa.and_(_FACTS.kind == "run", _FACTS.is_root)
        [row] = self._rows(
            self._within(
                period,
                _sum(_FACTS.times, is_run, "runs"),
                _sum(_FACTS.errors, is_run, "failed"),
                _sum(
                    _FACTS.times,
                    sa.and_(is_run, _FACTS.name == Status.cancelled.value),
                    "cancelled",
                ),
                _sum(_FACTS.nano_usd, sa.true(), "nano_usd"),
                _sum(_FACTS.input_tokens + _FACTS.output_tokens, sa.true(), "tokens"),
                _sum(_FACTS.times, _FACTS.kind == "tool", "calls"),
                _sum(_FACTS.milliseconds, is_run, "milliseconds"),
            )
        )
        return Totals(*(int(value) for value in row))

    def heat(self, period: Period, most: int) -> list[Heat]:
        busiest = self._rows(
            self._within(period, _FACTS.flow)
            .group_by(_FACTS.flow)
            .order_by(sa.func.sum(_TOKENS).desc(), sa.func.sum(_FACTS.times).desc(), _FACTS.flow)
            .limit(most)
        )
        is_run = _FACTS.kind == "run"
        wanted = (
            self._within(
                period,
                _FACTS.flow,
                _FACTS.hour,
                _sum(_TOKENS, sa.true(), "tokens"),
                _sum(_FACTS.times, is_run, "runs"),
                _sum(_FACTS.errors, is_run, "errors"),
            )
            .where(_FACTS.flow.in_([row.flow for row in busiest]))
            .group_by(_FACTS.flow, _FACTS.hour)
            .order_by(_FACTS.flow, _FACTS.hour)
        )
        return [
            Heat(row.flow, row.hour, int(row.tokens), int(row.runs), int(row.errors))
            for row in self._rows(wanted)
        ]

    def ranked(self, period: Period, most: int) -> list[Ranked]:
        found = []
        for kind, name in (
            ("flow", _FACTS.flow),
            ("model", _FACTS.name),
            ("tool", _FACTS.name),
            ("agent", _FACTS.name),
        ):
            # Everything counts for its flow; of agents, what was asked and called on their behalf.
            which = sa.true() if kind == "flow" else _FACTS.kind == kind
            counted = _FACTS.kind == ("run" if kind == "flow" else kind)
            column: sa.ColumnElement[str] = name
            if kind == "agent":
                column = sa.case((_FACTS.kind == "agent", _FACTS.name), else_=_FACTS.agent)
                which = sa.or_(_FACTS.kind == "agent", _FACTS.agent != "")
            times = _sum(_FACTS.times, counted, "times")
            usd = _sum(_FACTS.nano_usd, sa.true(), "nano_usd")
            tokens = _sum(_TOKENS, sa.true(), "tokens")
            wanted = (
                self._within(
                    period,
                    column.label("name"),
                    times,
                    _sum(_FACTS.errors, counted, "errors"),
                    usd,
                    tokens,
                    _sum(_FACTS.milliseconds, counted, "milliseconds"),
                )
                .where(which)
                .group_by(column)
                .order_by(usd.desc(), tokens.desc(), times.desc(), column)
                .limit(most)
            )
            found += [
                Ranked(
                    kind,
                    row.name,
                    int(row.times),
                    int(row.errors),
                    int(row.nano_usd),
                    int(row.tokens),
                    int(row.milliseconds),
                )
                for row in self._rows(wanted)
            ]
        return found + self._connectors(period, most)

    def _connectors(self, period: Period, most: int) -> list[Ranked]:
        """Services outside, each with all its tools; of very many tools those that were called most."""
        is_outside = sa.or_(*(_FACTS.name.startswith(f"{word}.") for word in CONNECTED))
        times = sa.func.sum(_FACTS.times).label("times")
        wanted = self._within(
            period,
            _FACTS.name,
            times,
            *(
                sa.func.sum(_FACTS[name]).label(name)
                for name in ("errors", "nano_usd", "milliseconds")
            ),
            sa.func.sum(_TOKENS).label("tokens"),
        ).where(_FACTS.kind == "tool", is_outside)
        rows = self._rows(
            wanted.group_by(_FACTS.name).order_by(times.desc(), _FACTS.name).limit(_MOST_TOOLS)
        )
        found: dict[str, Ranked] = {}
        for row in rows:
            name = connector_of(row.name)
            known = found.get(name) or Ranked("connector", name, 0, 0, 0, 0, 0)
            found[name] = Ranked(
                "connector",
                name,
                known.count + int(row.times),
                known.errors + int(row.errors),
                known.nano_usd + int(row.nano_usd),
                known.tokens + int(row.tokens),
                known.milliseconds + int(row.milliseconds),
            )
        ordered = sorted(found.values(), key=lambda each: (-each.nano_usd, -each.count, each.name))
        return ordered[:most]

    def failing(self, period: Period, extent: Extent) -> list[Failing]:
        is_run = sa.and_(_FACTS.kind == "run", _FACTS.is_root)
        failed_run = sa.case((_FACTS.errors > 0, _FACTS.run_id))
        failed = _sum(_FACTS.errors, is_run, "failed")
        wanted = (
            self._within(
                period,
                _FACTS.flow,
                failed,
                _sum(_FACTS.times, is_run, "runs"),
                # Ids are ordered by time.
                sa.func.max(failed_run).label("last_run_id"),
            )
            .where(is_run)
            .group_by(_FACTS.flow)
            .having(sa.true() if extent.with_healthy else sa.func.sum(_FACTS.errors) > 0)
            .order_by(failed.desc(), _FACTS.flow)
            .limit(extent.names)
        )
        return [
            Failing(row.flow, int(row.failed), int(row.runs), row.last_run_id or "")
            for row in self._rows(wanted)
        ]

    def _within(self, period: Period, *columns: Any) -> sa.Select[Any]:
        return sa.select(*columns).where(
            period.holds(_FACTS.hour), seen(_FACTS.flow, self._visible)
        )

    def _rows(self, wanted: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        return self._tx.rows(wanted)


def connector_of(tool: str) -> str:
    """The connection that a tool belongs to, such as "crm" of "api.crm.find"; empty for Steward's own tools."""
    word, _, rest = tool.partition(".")
    return rest.partition(".")[0] if word in CONNECTED else ""


def seen(flow: sa.ColumnElement[Any], visible: Visible) -> sa.ColumnElement[bool]:
    """Which rows of a column of flows or subjects somebody may see."""
    if visible is None:
        return sa.true()
    beginning, known = visible
    return sa.or_(flow.is_(None), flow.not_like(f"{beginning}%"), flow.in_(sorted(known)))


def _sum(value: sa.ColumnElement[int], where: sa.ColumnElement[bool], name: str) -> sa.Label[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((where, value), else_=0)), 0).label(name)
