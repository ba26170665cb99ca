"""What is held for a list of items: taken once, by the calls it is for, and given back in the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.broker._budget_tables import budget_entries
from steward.broker._budget_tables import budgets as budget_table
from steward.broker.budgets import Budgets
from steward.broker.limits import Budget, BudgetExceeded
from steward.broker.tool import Cost
from steward.core import MovableClock
from steward.store import Database, legal_holds, metadata
from steward.testing import Installation
from tests.broker.budget_child import SCOPE, Drawer, Ledger

pytestmark = pytest.mark.every_database

RUN = Drawer("root")
CHILD = Drawer("child", parent_id="root")
ITEMS = ("root", "each:items")


def _with_tables(database: Database) -> Database:
    with database.raw_writer() as connection:
        metadata.create_all(connection, tables=[budget_table, budget_entries, legal_holds])
        connection.commit()
    return database


@pytest.fixture
def budgets(installation: Installation) -> Ledger:
    return Ledger(_with_tables(installation.steward.database), installation.clock)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("holdings") / "steward.db"
    opened = _with_tables(Database(f"sqlite:///{path}"))
    yield opened
    opened.close()


def shown(budgets: Ledger, run: Drawer = RUN) -> tuple[int, int]:
    """Spent and reserved tokens."""
    found = budgets.status(run).usage["tokens"]
    return int(found.spent), int(found.reserved)


def tokens(amount: int) -> Cost:
    return Cost(tokens=amount)


def test_calls_take_what_is_held_for_them_first(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.hold(RUN, "each:items", tokens(60))
    assert shown(budgets) == (0, 60)
    # A call estimates what it may need at most, and uses less.
    budgets.reserve(RUN, "each[0]/a", tokens(50), within=ITEMS)
    assert shown(budgets) == (0, 60)
    budgets.settle(RUN, "each[0]/a", tokens(20), ITEMS)
    assert shown(budgets) == (20, 40)
    # Others find what is left beside it, and no more.
    with pytest.raises(BudgetExceeded) as breach:
        budgets.reserve(RUN, "other", tokens(41))
    assert breach.value.left == 40
    budgets.reserve(RUN, "each[1]/a", tokens(70), within=ITEMS)
    assert shown(budgets) == (20, 70)
    budgets.settle(RUN, "each[1]/a", tokens(5), ITEMS)
    assert shown(budgets) == (25, 35)
    budgets.release(RUN, "each:items")
    assert shown(budgets) == (25, 0)
    budgets.release(RUN, "each:items")
    assert shown(budgets) == (25, 0)


def test_what_is_not_there_is_not_held_and_nothing_is_taken(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.reserve(RUN, "before", tokens(30))
    with pytest.raises(BudgetExceeded) as breach:
        budgets.hold(RUN, "each:items", tokens(71))
    assert breach.value.asked == 71
    assert breach.value.left == 70
    assert shown(budgets) == (0, 30)
    budgets.hold(RUN, "each:items", tokens(70))
    # After a crash it is asked for again, whatever is estimated then.
    assert budgets.hold(RUN, "each:items", tokens(99)).estimate.tokens == 70
    assert shown(budgets) == (0, 100)


def test_calls_that_cost_more_than_expected_use_the_rest_of_the_budget(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.hold(RUN, "each:items", tokens(10))
    for number in range(3):
        budgets.reserve(RUN, f"each[{number}]", tokens(8), within=ITEMS)
        budgets.settle(RUN, f"each[{number}]", tokens(9), ITEMS)
    assert shown(budgets) == (27, 0)
    budgets.release(RUN, "each:items")
    assert shown(budgets) == (27, 0)


def test_a_sub_run_takes_what_its_caller_holds(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.open(CHILD, Budget(tokens=50))
    budgets.hold(RUN, "each:items", tokens(90))
    budgets.reserve(CHILD, "a", tokens(40), within=ITEMS)
    assert (shown(budgets), shown(budgets, CHILD)) == ((0, 90), (0, 40))
    budgets.settle(CHILD, "a", tokens(30), ITEMS)
    assert (shown(budgets), shown(budgets, CHILD)) == ((30, 60), (30, 0))
    with pytest.raises(BudgetExceeded):
        budgets.reserve(CHILD, "b", tokens(21), within=ITEMS)


def test_a_list_inside_a_list_holds_out_of_what_is_held(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.hold(RUN, "each:items", tokens(80))
    inner = ("root", "each[0]/in:items")
    budgets.hold(RUN, inner[1], tokens(50), ITEMS)
    assert shown(budgets) == (0, 80)
    budgets.reserve(RUN, "each[0]/in[0]", tokens(20), within=inner)
    budgets.settle(RUN, "each[0]/in[0]", tokens(20), inner)
    assert shown(budgets) == (20, 60)
    budgets.settle(RUN, inner[1], Cost(), ITEMS)
    assert shown(budgets) == (20, 60)
    budgets.give_back_all(RUN)
    assert shown(budgets) == (20, 0)


def test_a_sub_run_that_is_given_up_gives_back_what_its_caller_holds(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=100))
    budgets.open(CHILD, Budget(tokens=60))
    budgets.hold(RUN, ITEMS[1], tokens(80))
    budgets.hold(CHILD, "in:items", tokens(30), ITEMS)
    budgets.reserve(CHILD, "in[0]/a", tokens(20), within=("child", "in:items"))
    budgets.reserve(CHILD, "b", tokens(10), within=ITEMS)
    budgets.settle(CHILD, "b", tokens(4), ITEMS)
    assert (shown(budgets), shown(budgets, CHILD)) == ((4, 76), (4, 30))
    budgets.give_back_all(CHILD, ITEMS)
    assert (shown(budgets), shown(budgets, CHILD)) == ((4, 76), (4, 0))
    # The next item takes it again.
    budgets.reserve(RUN, "each[1]/a", tokens(76), within=ITEMS)
    assert shown(budgets) == (4, 76)
    budgets.give_back_all(RUN)
    assert shown(budgets) == (4, 0)


# Sums

PARENTS = {"root": None, "child": "root"}
HOLDINGS = {"outer:items": None, "outer[0]/in:items": "outer:items"}
"""Two lists of the root, one inside the other."""


@dataclass
class Taken:
    run: str
    estimate: int
    within: str | None
    is_list: bool = False
    actual: int | None = None


@dataclass
class Model:
    """What the sums are by definition: nothing is counted on the way."""

    entries: dict[tuple[str, str], Taken] = field(default_factory=dict)

    def drawn(self, name: str) -> int:
        return sum(self.weight(each) for each in self.entries.values() if each.within == name)

    def weight(self, taken: Taken) -> int:
        """What an entry counts for the list around it: its estimate until it is over."""
        return taken.estimate if taken.actual is None else taken.actual

    def reserved(self, run: str) -> int:
        return sum(
            self._open(key, each) for key, each in self.entries.items() if self._below(each, run)
        )

    def spent(self, run: str) -> int:
        calls = (each for each in self.entries.values() if not each.is_list)
        return sum(each.actual or 0 for each in calls if self._below(each, run))

    def _open(self, key: tuple[str, str], taken: Taken) -> int:
        if taken.actual is not None:
            return 0
        if taken.is_list:
            return max(0, taken.estimate - self.drawn(key[1]))
        return taken.estimate

    def _below(self, taken: Taken, run: str) -> bool:
        return taken.run == run or PARENTS[taken.run] == run


actions = st.lists(
    st.tuples(
        st.sampled_from(["hold", "reserve", "reserve", "settle", "settle", "end"]),
        st.sampled_from([RUN, CHILD]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([None, *HOLDINGS]),
        st.integers(0, 12),
    ),
    max_size=30,
)


@dataclass
class Played:
    """Budgets and the model beside them, each told of the same."""

    budgets: Budgets
    tx: Any
    honest: bool
    model: Model = field(default_factory=Model)

    def hold(self, name: str | None, amount: int) -> None:
        if name is None or ("root", name) in self.model.entries:
            return
        within = self._open(HOLDINGS[name])
        try:
            self.budgets.hold(self.tx, RUN, name, tokens(amount), within)
        except BudgetExceeded:
            return
        self.model.entries["root", name] = Taken("root", amount, within and within[1], True)

    def reserve(self, run: Drawer, key: str, name: str | None, amount: int) -> None:
        if (run.id, key) in self.model.entries:
            return
        within = self._open(name)
        try:
            self.budgets.reserve(self.tx, run, key, tokens(amount), within=within)
        except BudgetExceeded:
            return
        self.model.entries[run.id, key] = Taken(run.id, amount, within and within[1])

    def settle(self, run: Drawer, key: str, amount: int) -> None:
        known = self.model.entries.get((run.id, key))
        if known is None or known.actual is not None:
            return
        used = min(amount, known.estimate) if self.honest else amount
        within = ("root", known.within) if known.within else None
        self.budgets.settle(self.tx, run, key, tokens(used), within=within)
        known.actual = used

    def end(self, name: str | None) -> None:
        if self._open(name) is None or name is None:
            return
        taken = self.model.entries["root", name]
        total = self.model.drawn(name)
        within = ("root", taken.within) if taken.within else None
        self.budgets.settle(self.tx, RUN, name, Cost(), within=within)
        taken.actual = total

    def check(self, limit: int | None) -> None:
        rows: dict[str, Any] = {row.run_id: row for row in self.tx.rows(sa.select(budget_table))}
        for run in PARENTS:
            assert rows[run].spent_tokens == self.model.spent(run)
            assert rows[run].reserved_tokens == self.model.reserved(run)
        if limit is not None and self.honest:
            assert rows["root"].spent_tokens + rows["root"].reserved_tokens <= limit

    def _open(self, name: str | None) -> tuple[str, str] | None:
        """Where something is held under a name, while it is."""
        found = self.model.entries.get(("root", name or ""))
        return None if name is None or found is None or found.actual is not None else ("root", name)


@given(
    st.none() | st.integers(0, 60),
    st.none() | st.integers(0, 30),
    st.none() | st.integers(0, 15),
    actions,
    st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_sums_are_right_in_any_order(
    database: Database,
    clock: MovableClock,
    limit: int | None,
    outer: int | None,
    inner: int | None,
    actions: list[tuple[str, Drawer, str, str | None, int]],
    honest: bool,
) -> None:
    with database.write(SCOPE) as tx:
        tx.execute(sa.delete(budget_entries))
        tx.execute(sa.delete(budget_table))
        played = Played(Budgets(database, clock), tx, honest)
        played.budgets.open(tx, RUN, Budget(tokens=limit))
        played.budgets.open(tx, CHILD, Budget())
        for around, first in zip(HOLDINGS, (outer, inner), strict=True):
            if first is not None:
                played.hold(around, first)
        for action, run, key, name, amount in actions:
            if action == "hold":
                played.hold(name, amount)
            elif action == "reserve":
                played.reserve(run, key, name, amount)
            elif action == "settle":
                played.settle(run, key, amount)
            else:
                played.end(name)
            played.check(limit)
        for run in (RUN, CHILD):
            for key in "ab":
                played.settle(run, key, 0)
        for around in reversed(HOLDINGS):
            played.end(around)
        played.check(None)
        assert played.model.reserved("root") == 0
