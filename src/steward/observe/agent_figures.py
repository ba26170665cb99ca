"""What one agent did and cost lately: its pieces of work, their requests to models and their calls of tools."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.observe._tables import abouts, facts, rollups
from steward.observe.details import undone_in
from steward.observe.overview import Period, Visible, seen
from steward.observe.projector import Projector
from steward.observe.rollups import DAY, JOINED, Rollups, summed
from steward.runs import runs_table
from steward.store import Database, Scope, Transaction

_F: Final = facts.c
_C: Final = rollups.c
_DAY: Final = 24
_MOST_RUNS: Final = 500
_MOST_TOOLS: Final = 20
_SHOWN_RUNS: Final = 10


@dataclass(frozen=True)
class AgentDay:
    first_hour: int
    """Of the day, in UTC."""
    works: int
    nano_usd: int
    tokens: int
    milliseconds: int
    """Of the finished pieces of work, added up."""
    judged: int
    adhered: int


@dataclass(frozen=True)
class AgentRun:
    id: str
    title: str
    status: str
    ended_at: datetime


@dataclass(frozen=True)
class AgentTool:
    name: str
    calls: int
    errors: int


@dataclass(frozen=True)
class AgentFailure:
    where: str
    """The tool or model that failed; empty for the agent's own work."""
    code: str
    times: int


@dataclass(frozen=True)
class AgentFigures:
    works: int = 0
    """Pieces of work that it finished."""
    runs: int = 0
    """Runs that it took part in, at most 500 of the latest."""
    failed_runs: int = 0
    requests: int = 0
    """Requests to models."""
    tokens: int = 0
    nano_usd: int = 0
    milliseconds: int = 0
    """Of all finished pieces of work, added up."""
    days: tuple[AgentDay, ...] = ()
    tools: tuple[AgentTool, ...] = ()
    failures: tuple[AgentFailure, ...] = ()
    changes: int = 0
    """Calls of those runs that changed something and can be undone."""
    undone: int = 0
    """Of the changes, those that are undone now."""
    judged: int = 0
    """Steps of plans that named a tool for it."""
    adhered: int = 0
    """Of these, the ones in which such a tool did the work, and no fallback."""
    last_runs: tuple[AgentRun, ...] = ()
    """Newest first."""
    is_complete: bool = True


class AgentExplorer:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def figures(
        self, scope: Scope, now: datetime, days: int, name: str, visible: Visible = None
    ) -> AgentFigures:
        """Of the last so many days; of runs that somebody may see."""
        is_complete = self._projector.catch_up(scope)
        period = Period.until(now, days * _DAY)
        with self._database.snapshot(scope) as tx:
            look = _Look(tx, name, visible, self._projector.sums)
            sums = look.sums(period)
            runs = look.latest_runs(period, sorted({row.first_hour for row in sums}, reverse=True))
            failed = look.failed(runs)
            changes, undone = undone_in(tx, runs_table.c.id.in_(runs))
            shown = _titled(tx, runs[:_SHOWN_RUNS])
        works = [row for row in sums if row.kind == "agent"]
        return AgentFigures(
            sum(row.times for row in works),
            len(runs),
            failed,
            sum(row.times for row in sums if row.kind == "model"),
            sum(row.tokens for row in sums),
            sum(row.nano_usd for row in sums),
            sum(row.milliseconds for row in works),
            _days(sums),
            _tools(sums),
            _failures(sums),
            changes,
            undone,
            sum(row.judged for row in sums),
            sum(row.adhered for row in sums),
            shown,
            is_complete,
        )


@dataclass(frozen=True)
class _Sum:
    first_hour: int
    kind: str
    name: str
    code: str
    times: int
    errors: int
    tokens: int
    nano_usd: int
    milliseconds: int
    judged: int
    adhered: int


class _Look:
    """Reads what one agent did, as far as one person may see it."""

    def __init__(self, tx: Transaction, name: str, visible: Visible, kept: Rollups) -> None:
        self._tx = tx
        self._kept = kept
        self._own = _is_of(abouts.c, name, visible)
        self._facts = _is_of(facts.c, name, visible)

    def sums(self, period: Period) -> list[_Sum]:
        """By the day and what it did, from sums of hours and days."""
        day = sa.case((_C.grain == DAY, _C.at * _DAY), else_=_C.at - _C.at % _DAY)
        counted = (_C.times, _C.errors, _C.input_tokens + _C.output_tokens, _C.nano_usd)
        columns: list[Any] = [day.label("first_hour"), abouts.c.kind, abouts.c.name]
        columns.append(abouts.c.code)
        also = (_C.milliseconds, _C.judged, _C.adhered)
        columns += [sa.func.sum(each) for each in (*counted, *also)]
        held = self._kept.between(period.first, period.last)
        rows = self._tx.rows(
            sa.select(*columns).where(held, JOINED, self._own).group_by(*columns[:4])
        )
        return [
            _Sum(int(first_hour), kind, name, code, *(int(each) for each in figures))
            for first_hour, kind, name, code, *figures in map(tuple, rows)
        ]

    def latest_runs(self, period: Period, days: list[int]) -> list[str]:
        """Those that it took part in, newest first: back from now, and no further than needed.

        `days` are those on which it did something, newest first. On a busy one, an hour has enough of them.
        """
        found: set[str] = set()
        for parts in _back(period, days):
            held = sa.or_(*(_F.hour.between(first, last) for first, last in parts))
            wanted = sa.select(_F.run_id).where(held, self._facts).distinct()
            rows = self._tx.rows(wanted.order_by(_F.run_id.desc()).limit(_MOST_RUNS))
            found.update(row.run_id for row in rows)
            if len(found) >= _MOST_RUNS:
                break
        return sorted(found, reverse=True)[:_MOST_RUNS]

    def failed(self, runs: list[str]) -> int:
        wanted = sa.select(summed(_F.errors).label("failed")).where(
            _F.kind == "run", _F.run_id.in_(runs)
        )
        [row] = self._tx.rows(wanted)
        return int(row.failed)


def _titled(tx: Transaction, runs: list[str]) -> tuple[AgentRun, ...]:
    run = runs_table.c
    rows = tx.rows(
        sa.select(run.id, run.title, run.status, run.ended_at)
        .where(run.id.in_(runs), run.ended_at.is_not(None))
        .order_by(run.id.desc())
    )
    return tuple(AgentRun(row.id, row.title, row.status, row.ended_at) for row in rows)


def _back(period: Period, days: list[int]) -> Iterator[list[tuple[int, int]]]:
    """Hours of some days, from the newest on: a few of the newest day first, then more and more days at once."""
    held = [(max(day, period.first), min(day + _DAY - 1, period.last)) for day in days]
    if not held:
        return
    first, last = held.pop(0)
    for hours in (1, 4, _DAY):
        if first <= last:
            yield [(max(first, last - hours + 1), last)]
            last -= hours
    count = 1
    while held:
        yield held[:count]
        held, count = held[count:], count * 2


def _is_of(about: Any, name: str, visible: Visible) -> sa.ColumnElement[bool]:
    own = sa.or_(sa.and_(about.kind == "agent", about.name == name), about.agent == name)
    return sa.and_(own, seen(about.flow, visible))


def _days(sums: list[_Sum]) -> tuple[AgentDay, ...]:
    found: dict[int, list[int]] = {}
    for row in sums:
        day = found.setdefault(row.first_hour, [0] * 6)
        day[0] += row.times * (row.kind == "agent")
        day[1] += row.nano_usd
        day[2] += row.tokens
        day[3] += row.milliseconds * (row.kind == "agent")
        day[4] += row.judged
        day[5] += row.adhered
    return tuple(AgentDay(first, *found[first]) for first in sorted(found))


def _tools(sums: list[_Sum]) -> tuple[AgentTool, ...]:
    found: dict[str, list[int]] = {}
    for row in sums:
        if row.kind == "tool":
            tool = found.setdefault(row.name, [0, 0])
            tool[0] += row.times
            tool[1] += row.errors
    order = sorted(found, key=lambda name: (-found[name][0], name))[:_MOST_TOOLS]
    return tuple(AgentTool(name, *found[name]) for name in order)


def _failures(sums: list[_Sum]) -> tuple[AgentFailure, ...]:
    """How its work, its requests and its calls failed, the most frequent first."""
    found: dict[tuple[str, str], int] = {}
    for row in sums:
        if row.errors:
            where = "" if row.kind == "agent" else row.name
            found[where, row.code] = found.get((where, row.code), 0) + row.errors
    order = sorted(found, key=lambda each: (-found[each], each))[:_MOST_TOOLS]
    return tuple(AgentFailure(*each, found[each]) for each in order)
