"""What was spent, day by day, by flow, agent, model, tool or person, and what the coming days will cost."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.observe._tables import facts
from steward.observe.facts import NANO, hour_of
from steward.observe.forecast import Forecast, forecast_spend
from steward.observe.overview import Visible, seen
from steward.observe.projector import Projector
from steward.store import Database, Scope

_FACTS: Final = facts.c
Dimension = Literal["flow", "agent", "model", "tool", "person"]
_DAY: Final = 24
_FROM_HOUR: Final = (_FACTS.hour - _FACTS.hour % _DAY).label("from_hour")
"""The first hour of a fact's day."""
_HISTORY: Final = timedelta(days=120)
_AHEAD: Final = (7, 30)


@dataclass(frozen=True)
class CostLine:
    """What one flow, agent, model, tool or person spent on one day."""

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

    @property
    def nano_usd(self) -> int:
        return sum(line.nano_usd for line in self.lines)


class CostExplorer:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def report(
        self, scope: Scope, now: datetime, days: int, by: Dimension, visible: Visible = None
    ) -> CostReport:
        """The last so many days, today included; days are those of UTC."""
        is_complete = self._projector.catch_up(scope)
        last = now.astimezone(UTC).date()
        first = last - timedelta(days=days - 1)
        name = _FACTS.name if by in ("model", "tool") else _FACTS[by]
        wanted = sa.select(
            _FROM_HOUR,
            name.label("name"),
            *(
                sa.func.sum(_FACTS[each]).label(each)
                for each in ("nano_usd", "input_tokens", "output_tokens", "times")
            ),
        ).where(_kind(by), _FACTS.hour >= _first_hour(first), seen(_FACTS.flow, visible))
        rows = self._rows(scope, wanted.group_by(_FROM_HOUR, name).order_by(_FROM_HOUR, name))
        lines = [
            CostLine(
                _day(row.from_hour),
                row.name,
                int(row.nano_usd),
                int(row.input_tokens),
                int(row.output_tokens),
                int(row.times),
            )
            for row in rows
        ]
        daily = self._daily(scope, last, visible)
        found = [forecast_spend(daily, ahead) for ahead in _AHEAD]
        forecasts = [each for each in found if each is not None]
        return CostReport(first, last, by, lines, forecasts, len(daily), is_complete)

    def _daily(self, scope: Scope, today: date, visible: Visible) -> list[float]:
        """Dollars of each whole day since the first that cost anything."""
        wanted = sa.select(_FROM_HOUR, sa.func.sum(_FACTS.nano_usd).label("nano_usd")).where(
            _FACTS.hour.between(_first_hour(today - _HISTORY), _first_hour(today) - 1),
            _FACTS.nano_usd > 0,
            seen(_FACTS.flow, visible),
        )
        rows = self._rows(scope, wanted.group_by(_FROM_HOUR))
        spent: defaultdict[date, float] = defaultdict(float)
        for row in rows:
            spent[_day(row.from_hour)] = int(row.nano_usd) / NANO
        if not spent:
            return []
        start = min(spent)
        return [spent[start + timedelta(days=n)] for n in range((today - start).days)]

    def _rows(self, scope: Scope, wanted: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        with self._database.read(scope) as tx:
            return tx.rows(wanted)


def _kind(by: Dimension) -> sa.ColumnElement[bool]:
    """Only what costs something is counted: requests to models and calls of tools."""
    if by in ("model", "tool"):
        return _FACTS.kind == by
    return _FACTS.kind.in_(["model", "tool"])


def _first_hour(day: date) -> int:
    return hour_of(datetime(day.year, day.month, day.day, tzinfo=UTC))


def _day(first_hour: int) -> date:
    return datetime.fromtimestamp(first_hour * 3600, UTC).date()
