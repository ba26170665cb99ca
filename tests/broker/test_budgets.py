"""Budgets: nothing is taken that is not there, by nobody, in no order, and nothing is counted twice."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
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
from steward.core.errors import Invalid, NotFound
from steward.store import Database, Scope, legal_holds, metadata
from steward.testing import Installation
from tests.broker.budget_child import SCOPE, Drawer, Ledger

pytestmark = pytest.mark.every_database

ROOT = Path(__file__).resolve().parents[2]


RUN = Drawer("root")


def _usd(amount: str | int) -> Cost:
    return Cost(usd=Decimal(amount))


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
    path = tmp_path_factory.mktemp("budgets") / "steward.db"
    opened = _with_tables(Database(f"sqlite:///{path}"))
    yield opened
    opened.close()


def _shown(budgets: Ledger, run: Drawer, name: str) -> tuple[str | None, ...]:
    """Limit, spent, reserved, left."""
    return tuple(budgets.status(run).to_json()[name].values())


def _spent(budgets: Ledger, run: Drawer = RUN, name: str = "usd") -> Decimal:
    return budgets.status(run).usage[name].spent


def test_a_call_is_reserved_and_settled(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(usd=Decimal(10), rows=100))
    budgets.reserve(RUN, "a", Cost(usd=Decimal(4), rows=60))
    assert _shown(budgets, RUN, "usd") == ("10", "0", "4", "6")
    budgets.settle(RUN, "a", Cost(usd=Decimal("1.5"), rows=60))
    assert _shown(budgets, RUN, "rows") == ("100", "60", "0", "40")
    assert _shown(budgets, RUN, "tokens") == (None, "0", "0", None)
    assert budgets.status(RUN).to_json()["usd"] == {
        "limit": "10",
        "spent": "1.5",
        "reserved": "0",
        "left": "8.5",
    }


def test_a_breach_says_what_is_left_and_takes_nothing(budgets: Ledger) -> None:
    child = Drawer("child", parent_id="root")
    budgets.open(RUN, Budget(usd=Decimal(10)))
    budgets.open(child, Budget(usd=Decimal(3)))
    with pytest.raises(BudgetExceeded) as breach:
        budgets.reserve(child, "a", _usd("3.5"))
    assert breach.value.specific_code == "budget-exceeded"
    assert breach.value.to_json() == {
        "run_id": "child",
        "limit": "usd",
        "asked": "3.5",
        "left": "3",
        "total": "3",
        "message": "The budget of run child allows $3.00; $3.00 are left and this call may need $3.50. "
        "Grant more, or make the call smaller.",
    }
    assert budgets.status(RUN).usage["usd"].reserved == 0
    budgets.reserve(RUN, "own", _usd(9))
    with pytest.raises(BudgetExceeded) as breach:
        budgets.reserve(child, "b", _usd(2))
    assert breach.value.run_id == "root"
    assert budgets.status(child).usage["usd"].left == 1


def test_everything_counts_once(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(usd=Decimal(10)))
    for _ in range(3):
        assert not budgets.reserve(RUN, "a", _usd(4)).settled
    for _ in range(3):
        budgets.settle(RUN, "a", _usd(3))
    again = budgets.reserve(RUN, "a", _usd(4))
    assert (again.settled, again.estimate) == (True, _usd(4))
    assert budgets.status(RUN).usage["usd"].left == 7
    budgets.open(RUN, Budget(usd=Decimal(1000)))
    assert budgets.status(RUN).usage["usd"].left == 7


def test_what_was_not_reserved_is_counted_all_the_same(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(usd=Decimal(10)))
    budgets.release(RUN, "never")
    for _ in range(2):
        budgets.settle(RUN, "late", _usd(4))
    assert _spent(budgets) == 4


def test_a_call_that_costs_more_stops_the_next_one(budgets: Ledger) -> None:
    budgets.open(RUN, Budget(tokens=10))
    budgets.reserve(RUN, "a", Cost(tokens=10))
    budgets.settle(RUN, "a", Cost(tokens=15))
    assert budgets.status(RUN).usage["tokens"].left == 0
    with pytest.raises(BudgetExceeded):
        budgets.reserve(RUN, "b", Cost())


def test_a_limit_is_reached_and_not_passed(budgets: Ledger) -> None:
    limits = Budget(usd=Decimal("0.000000005"), tokens=5, rows=5, bytes=5, seconds=0.005)
    budgets.open(RUN, limits)
    least: dict[str, Any] = {
        "usd": Decimal("0.000000001"),
        "tokens": 1,
        "rows": 1,
        "bytes": 1,
        "seconds": 0.001,
    }
    for name, amount in least.items():
        with pytest.raises(BudgetExceeded) as breach:
            budgets.reserve(RUN, name, Cost(**{name: amount * 6}))
        assert breach.value.limit == name
        budgets.reserve(RUN, name, Cost(**{name: amount * 5}))


def test_a_person_grants_more(budgets: Ledger) -> None:
    child = Drawer("child", parent_id="root")
    budgets.open(RUN, Budget(usd=Decimal(1)))
    budgets.open(child, Budget())
    with pytest.raises(BudgetExceeded) as breach:
        budgets.reserve(child, "a", _usd(2))
    for _ in range(2):
        budgets.raise_limit(child, Budget(usd=Decimal(2), tokens=5), at=breach.value.run_id)
    budgets.raise_limit(child, Budget(usd=Decimal(1)), at="root")
    budgets.reserve(child, "a", _usd(2))
    assert _shown(budgets, RUN, "usd") == ("2", "0", "2", "0")
    # Where there was no limit, a grant sets none.
    assert _shown(budgets, RUN, "tokens")[0] is None
    with pytest.raises(Invalid):
        budgets.raise_limit(RUN, Budget(usd=Decimal(9)), at="child")


def test_time_is_shared_by_calls_side_by_side(budgets: Ledger, clock: MovableClock) -> None:
    budgets.open(RUN, Budget(seconds=60))
    budgets.reserve(RUN, "a", Cost())
    clock.advance(seconds=10)
    budgets.reserve(RUN, "b", Cost())
    clock.advance(seconds=10)
    budgets.settle(RUN, "a", Cost(seconds=20))
    clock.advance(seconds=10)
    budgets.settle(RUN, "b", Cost(seconds=20))
    assert _spent(budgets, name="seconds") == 30
    clock.advance(days=3)
    assert budgets.status(RUN).usage["seconds"].left == 30, "waiting for people does not count"
    with pytest.raises(BudgetExceeded) as breach:
        budgets.reserve(RUN, "c", Cost(seconds=31))
    assert breach.value.limit == "seconds"
    budgets.reserve(RUN, "c", Cost(seconds=30))
    clock.advance(seconds=31)
    with pytest.raises(BudgetExceeded):
        budgets.reserve(RUN, "d", Cost())


def test_days_between_a_crash_and_its_repetition_do_not_count(
    budgets: Ledger, clock: MovableClock
) -> None:
    budgets.open(RUN, Budget(seconds=60))
    budgets.reserve(RUN, "a", Cost())
    clock.advance(days=3)
    budgets.reserve(RUN, "a", Cost())
    budgets.settle(RUN, "a", Cost(seconds=5))
    assert _spent(budgets, name="seconds") == 5


def test_another_project_has_no_such_budget(budgets: Ledger) -> None:
    budgets.open(RUN, Budget())
    elsewhere = Drawer("root", Scope("org_1", "prj_2"))
    with pytest.raises(NotFound):
        budgets.reserve(elsewhere, "a", Cost())
    with pytest.raises(NotFound):
        budgets.open(Drawer("child", elsewhere.scope, "root"), Budget())


@pytest.mark.parametrize(
    "cost",
    [_usd(-1), _usd("NaN"), _usd("Infinity"), Cost(tokens=-1), Cost(rows=10**19), Cost(seconds=float("inf"))],
)  # fmt: skip
def test_impossible_costs_are_refused(budgets: Ledger, cost: Cost) -> None:
    budgets.open(RUN, Budget())
    with pytest.raises(Invalid):
        budgets.reserve(RUN, "a", cost)


def test_a_budget_is_read_strictly() -> None:
    assert Budget.parse({"usd": "0.5", "on_breach": "abort"}).usd == Decimal("0.5")
    for wrong in ({"usd": -1}, {"dollars": 1}, {"seconds": float("inf")}, {"on_breach": "hope"}):
        with pytest.raises(Invalid) as refused:
            Budget.parse(wrong)
        assert refused.value.problems[0].pointer.startswith("/budget/")


def test_fifty_children_in_three_processes(installation: Installation, budgets: Ledger) -> None:
    budgets.open(RUN, Budget(usd=Decimal("10.0"), tokens=1000))
    children = [Drawer(f"child{number}", parent_id="root") for number in range(50)]
    for child in children:
        budgets.open(child, Budget(usd=Decimal("2.0")))
    url = installation.steward.database.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "tests.broker.budget_child", url]
    processes = [
        subprocess.Popen(
            [*command, *(child.id for child in children[part::3])],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for part in range(3)
    ]
    made = sum(int(process.communicate(timeout=100)[0]) for process in processes)
    assert made == 33, "as often as 0.3 fits into 10"
    assert _shown(budgets, RUN, "usd") == ("10", "9.9", "0", "0.1")
    assert _shown(budgets, RUN, "tokens") == ("1000", "231", "0", "769")
    assert sum(_spent(budgets, child) for child in children) == Decimal("9.9")


@dataclass
class _Model:
    """What the budgets of a small tree must say, worked out the long way round."""

    parents: list[int | None]
    limits: list[int | None]
    calls: dict[tuple[int, str], list[int]]

    def chain(self, run: int) -> list[int]:
        parent = self.parents[run]
        return [run] if parent is None else [*self.chain(parent), run]

    def reserved(self, run: int) -> int:
        return sum(c[0] for (r, _), c in self.calls.items() if len(c) == 1 and run in self.chain(r))

    def spent(self, run: int) -> int:
        return sum(c[1] for (r, _), c in self.calls.items() if len(c) > 1 and run in self.chain(r))

    def fits(self, run: int, amount: int) -> bool:
        return all(
            (limit := self.limits[above]) is None
            or self.reserved(above) + self.spent(above) + amount <= limit
            for above in self.chain(run)
        )


trees = st.lists(st.integers(0, 3), max_size=4).map(
    lambda picks: [None, *(pick % (number + 1) for number, pick in enumerate(picks))]
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "settle", "settle", "release"]),
        st.integers(0, 4),
        st.sampled_from("abcd"),
        st.integers(0, 12),
    ),
    max_size=25,
)


@given(
    trees, st.lists(st.none() | st.integers(0, 40), min_size=5, max_size=5), steps, st.booleans()
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_interleaving(
    database: Database,
    clock: MovableClock,
    parents: list[int | None],
    limits: list[int | None],
    steps: list[tuple[str, int, str, int]],
    honest: bool,
) -> None:
    model = _Model(parents, limits, {})
    budgets = Budgets(database, clock)
    runs = [
        Drawer(str(n), SCOPE, None if p is None else str(p)) for n, p in enumerate(model.parents)
    ]
    with database.write(SCOPE) as tx:
        tx.execute(sa.delete(budget_entries))
        tx.execute(sa.delete(budget_table))
        for number, run in enumerate(runs):
            budgets.open(tx, run, Budget(tokens=limits[number]))
        for action, pick, key, amount in steps:
            number = pick % len(runs)
            run, known = runs[number], model.calls.get((number, key))
            if action == "reserve":
                if known is None and not model.fits(number, amount):
                    with pytest.raises(BudgetExceeded) as breach:
                        budgets.reserve(tx, run, key, Cost(tokens=amount))
                    assert breach.value.asked == amount > breach.value.left
                    continue
                again = budgets.reserve(tx, run, key, Cost(tokens=amount))
                assert again.settled == (known is not None and len(known) > 1)
                model.calls.setdefault((number, key), [amount])
            elif known is not None:
                used = min(amount, known[0]) if honest else amount
                used = 0 if action == "release" else used
                budgets.settle(tx, run, key, Cost(tokens=used))
                if len(known) == 1:
                    known.append(used)
        rows: dict[str, Any] = {row.run_id: row for row in tx.rows(sa.select(budget_table))}
    for number, limit in enumerate(limits[: len(runs)]):
        row = rows[str(number)]
        assert (row.reserved_tokens, row.spent_tokens) == (
            model.reserved(number),
            model.spent(number),
        )
        if honest and limit is not None:
            assert row.spent_tokens + row.reserved_tokens <= limit
        parent = parents[number]
        if parent is not None:
            assert row.spent_tokens <= rows[str(parent)].spent_tokens


def test_waiting_for_a_person_uses_no_time(budgets: Ledger, clock: MovableClock) -> None:
    budgets.open(RUN, Budget(seconds=60))
    budgets.reserve(RUN, "send", _usd(0), waits=True)
    clock.advance(hours=2)
    assert _shown(budgets, RUN, "seconds") == ("60", "0", "0", "60")
    budgets.reserve(RUN, "read", _usd(0))
    clock.advance(seconds=5)
    budgets.settle(RUN, "read", Cost(seconds=5))
    budgets.settle(RUN, "send", Cost(seconds=2))
    assert _spent(budgets, name="seconds") == 7
    budgets.reserve(RUN, "next", _usd(0))
    clock.advance(seconds=3)
    budgets.settle(RUN, "next", Cost(seconds=3))
    assert _spent(budgets, name="seconds") == 10
