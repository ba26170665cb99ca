"""A process of its own that makes calls for several children of one run until the budget is used up."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

from steward.broker.budgets import BudgetExceeded, Budgets
from steward.broker.tool import Cost
from steward.core import SystemClock
from steward.store import Database, Scope

CALLS_AT_MOST = 20
SCOPE = Scope("org_1", "prj_1")


@dataclass(frozen=True)
class Drawer:
    id: str
    scope: Scope = SCOPE
    parent_id: str | None = None


def draw(budgets: Budgets, run: Drawer) -> int:
    """Calls that cost what was estimated; returns how many were made."""
    for number in range(CALLS_AT_MOST):
        try:
            budgets.reserve(run, f"call/{number}", Cost(usd=Decimal("0.3"), tokens=7))
        except BudgetExceeded:
            return number
        budgets.settle(run, f"call/{number}", Cost(usd=Decimal("0.3"), tokens=7))
    return CALLS_AT_MOST


def main(url: str, *children: str) -> None:
    database = Database(url)
    budgets = Budgets(database, SystemClock())
    runs = [Drawer(name, parent_id="root") for name in children]
    with ThreadPoolExecutor(len(runs)) as threads:
        made = sum(threads.map(lambda run: draw(budgets, run), runs))
    database.close()
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
