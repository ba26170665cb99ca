"""Where budgets of days, weeks and months will be when they reset: what is used so far and what the rest usually costs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import KeptBudget
from steward.observe._tables import abouts, people, rollups
from steward.observe.facts import NANO, minute_of
from steward.observe.forecast import forecast_rest
from steward.observe.projector import Projector
from steward.observe.rollups import DAY, JOINED
from steward.store import Database, Scope

_HISTORY_DAYS: Final = 60


@dataclass(frozen=True)
class ExpectedUse:
    """Dollars when a budget resets."""

    usd: float
    low: float | None
    high: float | None
    """Four of five past forecasts were within such a band; None with too few past forecasts."""


class BudgetOutlook:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def expected(
        self, scope: Scope, budgets: Iterable[KeptBudget], now: datetime
    ) -> dict[str, ExpectedUse]:
        """By budget; nothing for those without a week of history."""
        self._projector.catch_up(scope)
        found: dict[str, ExpectedUse] = {}
        for budget in budgets:
            left = (budget.resets_at - now) / timedelta(days=1)
            rest = forecast_rest(self._daily(scope, budget, now), left)
            if rest is not None:
                used = float(budget.spent["usd"] + budget.reserved["usd"])
                found[budget.id] = ExpectedUse(
                    used + rest.usd,
                    None if rest.low is None else used + rest.low,
                    None if rest.high is None else used + rest.high,
                )
        return found

    def _daily(self, scope: Scope, budget: KeptBudget, now: datetime) -> list[float]:
        """Dollars of each whole day since the first that cost anything."""
        today = minute_of(now) // DAY
        table, which = _kept_of(budget)
        wanted = sa.select(table.c.at, sa.func.sum(table.c.nano_usd).label("nano_usd")).where(
            which, table.c.at.between(today - _HISTORY_DAYS, today - 1), table.c.nano_usd > 0
        )
        with self._database.read(scope) as tx:
            rows: Sequence[sa.Row[Any]] = tx.rows(wanted.group_by(table.c.at))
        spent = {int(row.at): int(row.nano_usd) / NANO for row in rows}
        if not spent:
            return []
        return [spent.get(day, 0.0) for day in range(min(spent), today)]


def _kept_of(budget: KeptBudget) -> tuple[sa.Table, sa.ColumnElement[bool]]:
    """Where days of what a budget limits are kept, and which of the rows."""
    match budget.document.kind:
        case "agent":
            own = sa.and_(JOINED, abouts.c.agent == budget.document.name)
            return rollups, sa.and_(rollups.c.grain == DAY, own)
        case "project":
            return people, sa.true()
        case kind:
            return people, people.c[kind] == budget.document.name
