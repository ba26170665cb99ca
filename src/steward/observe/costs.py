"""What was spent, day by day, by flow, agent, model, tool, connector, person, tag or project, and what the coming days will cost."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from steward.observe._tables import abouts, people, rollups
from steward.observe.facts import NANO, hour_of
from steward.observe.forecast import Forecast, forecast_spend
from steward.observe.overview import Visible, seen
from steward.observe.projector import Projector
from steward.observe.rollups import DAY, HOUR, JOINED, PAID
from steward.runs import runs_table
from steward.store import EVERYWHERE, Database, Scope

_PAID: Final = people.c
_RUNS: Final = runs_table.c
Dimension = Literal["flow", "agent", "model", "tool", "connector", "person", "tag", "project"]
_EPOCH: Final = date(1970, 1, 1)
_HISTORY: Final = timedelta(days=120)
_AHEAD: Final = (7, 30)
_AT_ONCE: Final = 200
"""Parts of one statement; SQLite takes no more than 500."""


@dataclass(frozen=True)
class CostLine:
    """What one flow, agent, model, tool, connector, person, tag or project spent on one day."""

    day: date
    name: str
    nano_usd: int
    input_tokens: int
    output_tokens: int
    count: int
    """Requests to models and calls of tools."""


@dataclass(frozen=True)
class CostReport:
    first: date
    last: date
    by: Dimension
    lines: list[CostLine]
    forecasts: list[Forecast]
    """Of the coming days, from all days before today."""
    history_days: int
    """Whole days since the first that cost anything; below seven nothing is forecast."""
    is_complete: bool
    nano_usd: int
    """In all: by tag less than the lines added up, where flows have several."""


class CostExplorer:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def report(
        self,
        scope: Scope,
        now: datetime,
        days: int,
        by: Dimension,
        visible: Visible = None,
        tags_of: Callable[[str], Sequence[str]] = lambda _flow: (),
    ) -> CostReport:
        """The last so many days, today included; days are those of UTC. `tags_of` says which tags a flow has now."""
        is_complete = self._projector.catch_up(scope)
        last = now.astimezone(UTC).date()
        first = last - timedelta(days=days - 1)
        table, name, flow, which = _kept_by(by)
        wanted = sa.select(
            table.c.at,
            name.label("name"),
            *(
                sa.func.sum(table.c[each]).label(each)
                for each in ("nano_usd", "input_tokens", "output_tokens", "times")
            ),
        ).where(
            which,
            table.c.at.between(_number(first), _number(last)),
            seen(flow, visible),
        )
        rows = self._rows(scope, wanted.group_by(table.c.at, name).order_by(table.c.at, name))
        lines = [
            CostLine(
                _day(row.at),
                row.name,
                int(row.nano_usd),
                int(row.input_tokens),
                int(row.output_tokens),
                int(row.times),
            )
            for row in rows
        ]
        spent = sum(line.nano_usd for line in lines)
        if by == "tag":
            lines = _by_tag(lines, tags_of)
        daily = self._daily(scope, last, visible)
        found = [forecast_spend(daily, ahead) for ahead in _AHEAD]
        forecasts = [each for each in found if each is not None]
        return CostReport(first, last, by, lines, forecasts, len(daily), is_complete, spent)

    def by_project(
        self, seen_projects: Iterable[tuple[Scope, Visible]], now: datetime, days: int
    ) -> CostReport:
        """The same of several projects, each with what may be seen of it."""
        last = now.astimezone(UTC).date()
        lines: list[CostLine] = []
        daily: list[float] = []
        is_complete = True
        among = dict(seen_projects)
        for scope in self._busy(list(among), now - max(_HISTORY, timedelta(days=days))):
            visible = among[scope]
            found = self.report(scope, now, days, "flow", visible)
            named = (replace(line, name=scope.project_id) for line in found.lines)
            lines += _added_up(named)
            daily = _added_days(daily, self._daily(scope, last, visible))
            is_complete = is_complete and found.is_complete
        forecasts = [each for ahead in _AHEAD if (each := forecast_spend(daily, ahead)) is not None]
        lines.sort(key=lambda line: (line.day, line.name))
        spent = sum(line.nano_usd for line in lines)
        first = last - timedelta(days=days - 1)
        return CostReport(first, last, "project", lines, forecasts, len(daily), is_complete, spent)

    def by_day(
        self, scope: Scope, first: date, zone: ZoneInfo, visible: Visible = None
    ) -> dict[date, int]:
        """Billionths of a dollar of each day from the first on that cost anything, as days are in a time zone.

        Figures are by the hour: where midnight is within an hour, its hour counts for the day in which it begins.
        """
        self._projector.catch_up(scope)
        kept = rollups.c
        wanted = sa.select(kept.at, sa.func.sum(kept.nano_usd).label("nano_usd")).where(
            kept.grain == HOUR,
            JOINED,
            abouts.c.kind.in_(PAID),
            kept.at >= hour_of(datetime.combine(first, time(), zone)),
            seen(abouts.c.flow, visible),
        )
        spent: defaultdict[date, int] = defaultdict(int)
        for row in self._rows(scope, wanted.group_by(kept.at)):
            spent[datetime.fromtimestamp(row.at * 3600, zone).date()] += int(row.nano_usd)
        return {day: amount for day, amount in sorted(spent.items()) if amount}

    def _busy(self, scopes: Sequence[Scope], since: datetime) -> Iterator[Scope]:
        """Those in which a run ended since: a person may be in a thousand projects, and few of them are at work."""
        for at in range(0, len(scopes), _AT_ONCE):
            by_id = {scope.project_id: scope for scope in scopes[at : at + _AT_ONCE]}
            ended = [
                sa.select(sa.literal(project_id).label("id")).where(
                    sa.exists().where(_RUNS.project_id == project_id, _RUNS.ended_at >= since)
                )
                for project_id in by_id
            ]
            with self._database.read(EVERYWHERE) as tx:
                rows = tx.rows(sa.union_all(*ended))
            yield from (by_id[row.id] for row in rows)

    def _daily(self, scope: Scope, today: date, visible: Visible) -> list[float]:
        """Dollars of each whole day since the first that cost anything."""
        wanted = sa.select(_PAID.at, sa.func.sum(_PAID.nano_usd).label("nano_usd")).where(
            _PAID.at.between(_number(today - _HISTORY), _number(today) - 1),
            _PAID.nano_usd > 0,
            seen(_PAID.flow, visible),
        )
        rows = self._rows(scope, wanted.group_by(_PAID.at))
        spent: defaultdict[date, float] = defaultdict(float)
        for row in rows:
            spent[_day(row.at)] = int(row.nano_usd) / NANO
        if not spent:
            return []
        start = min(spent)
        return [spent[start + timedelta(days=n)] for n in range((today - start).days)]

    def _rows(
        self, scope: Scope, wanted: sa.Select[Any] | sa.CompoundSelect[Any]
    ) -> Sequence[sa.Row[Any]]:
        with self._database.read(scope) as tx:
            return tx.rows(wanted)


def _by_tag(lines: Iterable[CostLine], tags_of: Callable[[str], Sequence[str]]) -> list[CostLine]:
    """Lines of flows by their tags, with an empty name for those without; what has two tags counts for both."""
    return _added_up(
        replace(line, name=tag) for line in lines for tag in tags_of(line.name) or ("",)
    )


def _added_up(lines: Iterable[CostLine]) -> list[CostLine]:
    """One line for each day and name."""
    found: dict[tuple[date, str], CostLine] = {}
    for line in lines:
        known = found.get((line.day, line.name)) or CostLine(line.day, line.name, 0, 0, 0, 0)
        found[line.day, line.name] = replace(
            known,
            **{
                name: getattr(known, name) + getattr(line, name)
                for name in ("nano_usd", "input_tokens", "output_tokens", "count")
            },
        )
    return [found[key] for key in sorted(found)]


def _added_days(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Both end yesterday; the one that began later spent nothing before."""
    shorter, longer = sorted((one, other), key=len)
    apart = len(longer) - len(shorter)
    return [*longer[:apart], *(a + b for a, b in zip(longer[apart:], shorter, strict=True))]


def _kept_by(
    by: Dimension,
) -> tuple[sa.Table, sa.ColumnElement[str], sa.ColumnElement[str], sa.ColumnElement[bool]]:
    """Where days of a dimension are kept, in which column, whose flow, and which of the rows."""
    if by == "person":
        return people, people.c.person, people.c.flow, sa.true()
    kept = abouts.c
    if by == "tag":
        by = "flow"
    name, kinds = (kept.name, (by,)) if by in PAID else (kept[by], PAID)
    which = sa.and_(rollups.c.grain == DAY, JOINED, kept.kind.in_(kinds))
    if by == "connector":
        # What belongs to no connection is left out.
        which = sa.and_(which, kept.connector != "")
    return rollups, name, kept.flow, which


def _number(day: date) -> int:
    """Of days since 1970."""
    return (day - _EPOCH).days


def _day(number: int) -> date:
    return _EPOCH + timedelta(days=number)
