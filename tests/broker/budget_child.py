"""A process of its own that makes calls for several children of one run until the budget is used up."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

from steward.broker.budgets import Budgets
from steward.broker.holdings import Holding
from steward.broker.limits import Budget, BudgetExceeded, Reservation
from steward.broker.tool import Cost
from steward.core import SystemClock
from steward.core.clock import Clock
from steward.store import Database, Scope

CALLS_AT_MOST = 20
SCOPE = Scope("org_1", "prj_1")


@dataclass(frozen=True)
class Drawer:
    id: str
    scope: Scope = SCOPE
    parent_id: str | None = None


class Ledger:
    """Budgets with a transaction for each thing that is done; the broker takes those of the journal."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._budgets = Budgets(database, clock)
        self.status = self._budgets.status
        self.raise_limit = self._budgets.raise_limit

    def open(self, run: Drawer, budget: Budget) -> None:
        with self._database.write(run.scope) as tx:
            self._budgets.open(tx, run, budget)

    def reserve(
        self,
        run: Drawer,
        key: str,
        estimate: Cost,
        *,
        waits: bool = False,
        within: Holding | None = None,
    ) -> Reservation:
        with self._database.write(run.scope) as tx:
            return self._budgets.reserve(tx, run, key, estimate, waits=waits, within=within)

    def hold(
        self, run: Drawer, key: str, estimate: Cost, within: Holding | None = None
    ) -> Reservation:
        with self._database.write(run.scope) as tx:
            return self._budgets.hold(tx, run, key, estimate, within)

    def settle(self, run: Drawer, key: str, actual: Cost, within: Holding | None = None) -> None:
        with self._database.write(run.scope) as tx:
            self._budgets.settle(tx, run, key, actual, within=within)

    def give_back_all(self, run: Drawer, outer: Holding | None = None) -> None:
        with self._database.write(run.scope) as tx:
            self._budgets.give_back_all(tx, run, outer)

    def release(self, run: Drawer, key: str) -> None:
        self.settle(run, key, Cost())


def draw(budgets: Ledger, run: Drawer) -> int:
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
    budgets = Ledger(database, SystemClock())
    runs = [Drawer(name, parent_id="root") for name in children]
    with ThreadPoolExecutor(len(runs)) as threads:
        made = sum(threads.map(lambda run: draw(budgets, run), runs))
    database.close()
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
