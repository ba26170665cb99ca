"""Formulas and conditions as people write them, computed by the query plan they become."""

from typing import Any

import duckdb
import pytest

from steward.core.errors import Invalid
from steward.definitions import columns_in, parse_condition, parse_formula
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.query_plan import QueryPlan

COLUMNS = ["unit_price", "quantity", "late", "state", "sold on", "day"]
ROWS = [
    (2.0, 3, True, "open", "x", "2024-01-05"),
    (5.0, 1, False, "overdue", "y", "2024-02-05"),
    (1.0, 4, None, "paid", None, "2025-03-05"),
]


def run(plan: QueryPlan) -> Any:
    with duckdb.connect() as connection:
        connection.execute(
            'CREATE TABLE t (unit_price DOUBLE, quantity INT, late BOOLEAN, state TEXT, "sold on" TEXT, day DATE)'
        )
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", ROWS)
        return connection.execute(compile_plan(plan, {"t": COLUMNS})).fetchall()


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("sum(unit_price * quantity)", 15.0),
        ("SUM(Unit_Price)", 8.0),
        ("count(*)", 3),
        ('count("sold on")', 2),
        ("count(distinct state)", 3),
        ("sum(unit_price * quantity) / sum(quantity)", 1.875),
        ("100 * count(*) filter (where late) / count(*)", 100 / 3),
        ("sum(case when state = 'open' then quantity else 0 end)", 3),
        ("round(avg(unit_price), 1)", 2.7),
        ("max(quantity) - min(quantity)", 3),
        ("sum(quantity) / nullif(count(*), 3)", None),
        ("sum(quantity) / (count(*) - 3)", None),
        ("coalesce(sum(quantity) filter (where state = 'lost'), 0)", 0),
        ("(sum(quantity) + sum(quantity)) * 2", 32),
        ("median(quantity)", 3.0),
    ],
)
def test_a_formula_is_computed(formula: str, expected: Any) -> None:
    found = parse_formula(formula, COLUMNS, "figure")
    plan = QueryPlan(
        source="t",
        derive=found.derive,
        aggregate=found.aggregate,
        compute=found.compute,
        select=["figure"],
    )

    ((value,),) = run(plan)

    assert value == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("late = false", 1),
        ("late", 1),
        ("not late", 1),
        ("state in ('open', 'overdue') and quantity > 1", 1),
        ("state not in ('open')", 2),
        ("state != 'paid' or quantity >= 4", 3),
        ('"sold on" is null', 1),
        ('"sold on" is not null', 2),
        ("state like 'o%'", 2),
        ("state like '%pe%'", 1),
        ("quantity between 2 and 3", 1),
        ("day >= date '2024-02-01'", 2),
        ("year(day) = 2024", 2),
        ("date_trunc('month', day) = date '2024-02-01'", 1),
        ("unit_price > -1", 3),
        ("(late is true)", 1),
    ],
)
def test_a_condition_keeps_the_rows_it_says(condition: str, rows: int) -> None:
    plan = QueryPlan(source="t", filters=[parse_condition(condition, COLUMNS)])

    assert len(run(plan)) == rows


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sum(price)", "there is no column 'price'; there are: unit_price, quantity"),
        ("sum(", "not written as SQL"),
        ("unit_price", "no aggregate"),
        ("sum(unit_price) / quantity", "quantity is outside of an aggregate"),
        ("sum(max(quantity))", "an aggregate cannot hold another one"),
        ("sum(t.quantity)", "write the column's name alone"),
        ("sum(quantity) from t", "no FROM"),
        ("sum(quantity), 1", "it must be one formula"),
        ("(select 1)", "no aggregate"),
        ("sum((select 1))", "is not known here"),
        ("read_csv('/etc/passwd')", "no aggregate"),
        ("sum(read_text('/etc/passwd'))", "is not known here"),
        ("string_agg(state, ',')", "is not known here"),
        ("sum(quantity) over ()", "is not known here|no aggregate"),
        ("(" * 40 + "1" + ")" * 40, "nested too deeply"),
        ("sum(quantity); drop table t", "it must be one formula"),
    ],
)
def test_a_formula_that_a_plan_cannot_say_is_refused_with_the_reason(
    text: str, reason: str
) -> None:
    with pytest.raises(Invalid, match=reason):
        parse_formula(text, COLUMNS, "figure")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("late = null", "write IS NULL"),
        ("state", None),
        ("quantity + 1", "is not a condition"),
        ("state like 'a_b'", "LIKE takes"),
        ("state in (quantity)", "IN takes a list of values"),
        ("day > date '2024-13-01'", "is not a date"),
        ("lost = 1", "there is no column 'lost'"),
        ("state = 'a' as x", "leave out AS"),
    ],
)
def test_a_condition_that_a_plan_cannot_say_is_refused(text: str, reason: str | None) -> None:
    if reason is None:
        parse_condition(text, COLUMNS)
        return
    with pytest.raises(Invalid, match=reason):
        parse_condition(text, COLUMNS)


def test_the_columns_that_a_formula_uses_are_known() -> None:
    assert columns_in("sum(a * b) / count(*)") == {"a", "b"}
    assert columns_in("sum(") == frozenset()
