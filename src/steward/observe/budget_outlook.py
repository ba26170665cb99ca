"""Where budgets of days, weeks and months will be when they reset: what is used so far and what the rest usually costs."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.broker.period_budgets import KeptBudget
from steward.observe._tables import facts
from steward.observe.facts import NANO, hour_of
from steward.observe.forecast import forecast_spend
from steward.observe.projector import Projector
from steward.store import Database, Scope

_FACTS: Final = facts.c
_DAY: Final = 24
_HISTORY_DAYS: Final = 60
_FROM_HOUR: Final = (_FACTS.hour - _FACTS.hour % _DAY).label("from_hour")


class BudgetOutlook:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def expected(
        self, scope: Scope, budgets: Iterable[KeptBudget], now: datetime
    ) -> dict[str, float]:
        """Dollars at the reset, by budget; nothing for those without a week of history."""
        self._projector.catch_up(scope)
        found: dict[str, float] = {}
        for budget in budgets:
            usual = forecast_spend(self._daily(scope, budget, now), 1)
            if usual is not None:
                used = budget.spent["usd"] + budget.reserved["usd"]
                left = (budget.resets_at - now) / timedelta(days=1)
                found[budget.id] = float(used) + usual.usd * left
        return found

    def _daily(self, scope: Scope, budget: KeptBudget, now: datetime) -> list[float]:
        """Dollars of each whole day since the first that cost anything."""
        today = hour_of(now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
        wanted = sa.select(_FROM_HOUR, sa.func.sum(_FACTS.nano_usd).label("nano_usd")).where(
            _FACTS.hour.between(today - _HISTORY_DAYS * _DAY, today - 1),
            _FACTS.nano_usd > 0,
            _is_of(budget),
        )
        with self._database.read(scope) as tx:
            rows: Sequence[sa.Row[Any]] = tx.rows(wanted.group_by(_FROM_HOUR))
        spent = {int(row.from_hour): int(row.nano_usd) / NANO for row in rows}
        if not spent:
            return []
        return [spent.get(hour, 0.0) for hour in range(min(spent), today, _DAY)]


def _is_of(budget: KeptBudget) -> sa.ColumnElement[bool]:
    kind = budget.document.kind
    return sa.true() if kind == "project" else _FACTS[kind] == budget.document.name
