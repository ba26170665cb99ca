"""Joins and unions against polars, with hostile names, null keys, fan-out and types that widen."""

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.analysis import consolidate
from steward.analysis.consolidate import check_join, join, union
from steward.analysis.consolidate.mapping import suggest_mapping
from steward.analysis.consolidate.model import Link
from steward.analysis.consolidate.types import common_type
from steward.analysis.consolidate.unions import check_union
from steward.core.errors import Invalid, TooLarge
from steward.tables.changes import preview
from steward.tables.table import Table
from tests.kits.shelf import Shelf


@pytest.fixture
def connection(shelf: Shelf) -> duckdb.DuckDBPyConnection:
    return shelf.connection


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


ORDERS = pl.DataFrame(
    {
        "order_id": [1, 2, 3, 4, 5],
        "customer": ["a", "b", None, "z", "a"],
        "amount": [10.0, 20.0, 30.0, 40.0, 50.0],
    }
)
CUSTOMERS = pl.DataFrame(
    {"code": ["a", "b", "b", "c", None], "amount": [1, 2, 3, 4, 5], "city": list("VWXYZ")}
)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_a_join_agrees_with_polars(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf, how: str
) -> None:
    orders, customers = shelf.put("orders", ORDERS), shelf.put("customers", CUSTOMERS)
    change = join(connection, [orders, customers], [("customer", "code")], how=how)
    expected = ORDERS.join(
        CUSTOMERS,
        left_on="customer",
        right_on="code",
        how=how,  # type: ignore[arg-type]
        coalesce=True,
        suffix="_customers",
    )
    key = "customer" if how != "right" else "code"
    wanted = expected.select("order_id", key, "amount", "amount_customers", "city").rows()
    found = rows_of(connection, change.sql)
    assert [column.name for column in change.columns] == [
        "order_id",
        "customer",
        "amount",
        "amount_customers",
        "city",
    ]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert change.counts["rows"] == len(found)


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_a_join_that_only_chooses_rows(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf, how: str
) -> None:
    tables = [shelf.put("orders", ORDERS), shelf.put("customers", CUSTOMERS)]
    change = join(connection, tables, [("customer", "code")], how=how, provenance="from")
    expected = ORDERS.join(CUSTOMERS, left_on="customer", right_on="code", how=how)  # type: ignore[arg-type]
    assert rows_of(connection, change.sql) == [(*row, "orders") for row in expected.rows()]
    checked = check_join(connection, tables, [("customer", "code")], how=how)
    assert checked.rows == change.counts["rows"] == len(expected)
    lost = {loss.table: loss.rows for loss in checked.lost if loss.column is None}
    assert lost == {"orders": 5 - len(expected)}
    chain = [
        Link("customers", (("customer", "code"),), "orders", how, "exact"),
        Link("more", (("code", "code"),), "customers", "left", "exact"),
    ]
    problems = check_join(connection, [*tables, shelf.put("more", CUSTOMERS)], chain).problems
    assert problems == ("more is linked to customers, whose columns are not there before it.",)


def test_a_join_keeps_the_order_of_the_first_table(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    # The larger right side is what DuckDB would rather walk through: without ORDER BY its order would win.
    small, large = 5_000, 300_000
    left = shelf.put("l", {"n": range(small), "k": [i * 7919 % large for i in range(small)]})
    right = shelf.put("r", {"k": [i * 104_729 % large for i in range(large)], "v": range(large)})
    change = join(connection, [left, right], [("k", "k")])
    numbers = [row[0] for row in rows_of(connection, change.sql)]
    assert numbers == list(range(small))


def test_the_check_counts_both_sides_and_the_fan_out(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    checked = check_join(
        connection,
        [shelf.put("orders", ORDERS), shelf.put("customers", CUSTOMERS)],
        [("customer", "code")],
    )
    (matching,) = checked.matchings
    assert checked.possible
    assert checked.rows == 6
    assert (matching.left_null_keys, matching.right_null_keys) == (1, 1)
    assert (matching.left_unmatched, matching.right_unmatched) == (2, 2)
    assert (matching.left_multiplied, matching.largest_fan_out) == (1, 2)
    assert matching.cardinality == "n:m"
    assert matching.growth == pytest.approx(1.2)
    assert any("amount_customers" in warning for warning in checked.warnings)
    assert any("more than one row" in warning for warning in checked.warnings)
    lost = {(loss.table, loss.column): loss.rows for loss in checked.lost}
    assert lost["customers", None] == 2
    assert ("customers", "code") in lost


def test_keys_are_normalised_when_asked(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    left = shelf.put("l", pl.DataFrame({"k": [" ab-1 ", "AB-2", "ab3", "007"]}))
    right = shelf.put("r", pl.DataFrame({"k": ["AB-1", "ab-2", "AB-3", "7"], "v": [1, 2, 3, 7]}))
    matched = {
        level: check_join(connection, [left, right], [("k", "k")], key_normalisation=level)
        .matchings[0]
        .pairs
        for level in ("exact", "trim", "case", "compact", "number")
    }
    assert matched == {"exact": 0, "trim": 0, "case": 2, "compact": 3, "number": 4}
    change = join(connection, [left, right], [("k", "k")], key_normalisation="number")
    assert [row[1] for row in rows_of(connection, change.sql)] == [1, 2, 3, 7]


def test_keys_of_different_types_compare_by_value(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    left = shelf.put("l", pl.DataFrame({"k": [1.0, 2.0, 2.5, None]}))
    right = shelf.put("r", pl.DataFrame({"k": ["1", "2", "2.5", "x"], "v": [1, 2, 3, 4]}))
    change = join(connection, [left, right], [("k", "k")], how="inner")
    assert [row[1] for row in rows_of(connection, change.sql)] == [1, 2, 3]


def test_three_tables_in_a_chain_and_rows_counted_without_making_them(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    lines = shelf.put("lines", pl.DataFrame({"o": [1, 1, 2, 3, 9], "n": range(5)}))
    orders = shelf.put("orders", pl.DataFrame({"id": [1, 1, 2, 3], "c": ["a", "b", "a", None]}))
    people = shelf.put("people", pl.DataFrame({"id": ["a", "a", "b"], "name": ["A", "A2", "B"]}))
    chain = [
        Link("orders", (("o", "id"),), "lines", "left", "exact"),
        Link("people", (("c", "id"),), "orders", "left", "exact"),
    ]
    change = join(connection, [lines, orders, people], chain)
    found = rows_of(connection, change.sql)
    assert change.counts["rows"] == len(found) == 10
    assert [row[1] for row in found] == sorted(row[1] for row in found)  # type: ignore[type-var]


def test_a_full_join_of_three_meets_on_whichever_side_has_the_key(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    frames = [("a", [1, 2]), ("b", [2, 3]), ("c", [3, 4])]
    tables = [shelf.put(n, pl.DataFrame({"id": ids, n: ids})) for n, ids in frames]
    change = join(connection, tables, [("id", "id")], how="full", provenance="from")
    found = {row[0]: row[1:] for row in rows_of(connection, change.sql)}
    assert found == {
        1: (1, None, None, "a"),
        2: (2, 2, None, "a + b"),
        3: (None, 3, 3, "b + c"),
        4: (None, None, 4, "c"),
    }


HOSTILE = 'we"ird; DROP TABLE x --'


def test_hostile_names_and_values_are_only_names_and_values(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    name = "tab'le\"; --"
    left = shelf.put(name, pl.DataFrame({HOSTILE: ["'; DROP", "b"], "steward_row": [1, 2]}))
    right = shelf.put("r'", pl.DataFrame({HOSTILE: ["'; DROP", "c"], "STEWARD_ROW": [3, 4]}))
    change = join(connection, [left, right], [(HOSTILE, HOSTILE)], how="full", provenance="p'")
    found = rows_of(connection, change.sql)
    assert len(found) == 3
    assert found[0][-1] == f"{name} + r'"
    stacked = union(connection, [left, right], provenance=HOSTILE)
    assert [row[0] for row in rows_of(connection, stacked.sql)] == ["'; DROP", "b", "'; DROP", "c"]
    assert stacked.columns[-1].name == f"{HOSTILE}_2"


@pytest.mark.parametrize(
    ("on", "how", "words"),
    [
        ([("nope", "code")], "left", "no column 'nope'"),
        ([("customer", "nope")], "left", "no column 'nope'"),
        ([("customer", "code")], "cross", "no 'cross' join"),
        ([], "left", "No columns are given"),
    ],
)
def test_impossible_joins_are_refused_in_words(
    connection: duckdb.DuckDBPyConnection,
    shelf: Shelf,
    on: list[tuple[str, str]],
    how: str,
    words: str,
) -> None:
    tables = [shelf.put("orders", ORDERS), shelf.put("customers", CUSTOMERS)]
    assert not check_join(connection, tables, on, how=how).possible
    with pytest.raises(Invalid, match=words):
        join(connection, tables, on, how=how)


def test_a_join_that_explodes_is_refused_before_it_is_made(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    same = shelf.put("l", pl.DataFrame({"k": [1] * 40_000}))
    other = Table("r", same.source, same.columns, same.rows)
    with pytest.raises(TooLarge, match="1,600,000,000 rows"):
        join(connection, [same, other], [("k", "k")])


def test_empty_tables_join_and_unite(connection: duckdb.DuckDBPyConnection, shelf: Shelf) -> None:
    empty = shelf.put("empty", ORDERS.clear())
    customers = shelf.put("customers", CUSTOMERS)
    change = join(connection, [empty, customers], [("customer", "code")])
    assert rows_of(connection, change.sql) == []
    assert union(connection, [empty, shelf.put("orders", ORDERS)]).counts["rows"] == 5


def test_a_union_maps_by_meaning_and_widens_types(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    crm = pl.DataFrame(
        {"Customer Name": ["Ann", "Bob"], "E-Mail": ["a@x.de", "b@x.de"], "age": [30, 40]},
        schema_overrides={"age": pl.Int16},
    )
    shop = pl.DataFrame(
        {
            "mail": ["c@x.de", "a@x.de"],
            "customer_name": ["Cy", "Ann"],
            "AGE": [20.5, 30.0],
            "note": ["n", None],
        }
    )
    tables = [shelf.put("crm", crm), shelf.put("shop", shop)]
    suggested = {each.name: each.columns for each in suggest_mapping(connection, tables)}
    assert suggested == {
        "Customer Name": {"crm": "Customer Name", "shop": "customer_name"},
        "E-Mail": {"crm": "E-Mail", "shop": "mail"},
        "age": {"crm": "age", "shop": "AGE"},
        "note": {"shop": "note"},
    }
    change = union(connection, tables, provenance="source")
    assert {column.name: column.type for column in change.columns}["age"] == "DOUBLE"
    assert rows_of(connection, change.sql) == [
        ("Ann", "a@x.de", 30.0, None, "crm"),
        ("Bob", "b@x.de", 40.0, None, "crm"),
        ("Cy", "c@x.de", 20.5, "n", "shop"),
        ("Ann", "a@x.de", 30.0, None, "shop"),
    ]
    lineage = {each.output: each.inputs for each in change.lineage}
    assert lineage["E-Mail"] == (("crm", "E-Mail"), ("shop", "mail"))
    assert preview(connection, change).rows[2][0] == "Cy"
    distinct = union(connection, tables, distinct=True)
    assert (distinct.counts["rows"], distinct.counts["duplicates_removed"]) == (3, 1)


def test_a_union_says_what_it_leaves_out(
    connection: duckdb.DuckDBPyConnection, shelf: Shelf
) -> None:
    tables = [shelf.put("orders", ORDERS), shelf.put("customers", CUSTOMERS)]
    mapping = {"who": {"orders": "customer", "customers": "code"}, "n": {"orders": "order_id"}}
    checked = check_union(connection, tables, mapping)
    assert {(loss.table, loss.column) for loss in checked.lost} == {
        ("orders", "amount"),
        ("customers", "amount"),
        ("customers", "city"),
    }
    assert checked.warnings == ("n: empty for the rows of customers",)
    bad = {"who": {"orders": "customer", "elsewhere": "x"}, "WHO": {"orders": "customer"}}
    problems = check_union(connection, tables, bad).problems
    assert len(problems) == 3


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["INTEGER", "BIGINT"], "BIGINT"),
        (["BIGINT", "UBIGINT"], "HUGEINT"),
        (["INTEGER", "DOUBLE"], "DOUBLE"),
        (["BIGINT", "DOUBLE"], "VARCHAR"),
        (["DECIMAL(10,2)", "DECIMAL(8,4)"], "DECIMAL(12,4)"),
        (["DATE", "TIMESTAMP"], "TIMESTAMP"),
        (["TIMESTAMP", "TIMESTAMP WITH TIME ZONE"], "VARCHAR"),
        (["BOOLEAN", "INTEGER"], "VARCHAR"),
        (["DATE", "VARCHAR"], "VARCHAR"),
    ],
)
def test_types_widen_without_losing_values(
    connection: duckdb.DuckDBPyConnection, types: list[str], expected: str
) -> None:
    assert common_type(connection, types) == expected


@given(
    left=st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=12),
    right=st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=12),
    how=st.sampled_from(["inner", "left", "right", "full"]),
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_counted_rows_are_the_rows_made(
    connection: duckdb.DuckDBPyConnection,
    shelf: Shelf,
    left: list[int | None],
    right: list[int | None],
    how: str,
) -> None:
    a = shelf.put("a", pl.DataFrame({"k": pl.Series(left, dtype=pl.Int64)}))
    b = shelf.put("b", pl.DataFrame({"k": pl.Series(right, dtype=pl.Int64)}))
    checked = consolidate.check_join(connection, [a, b], [("k", "k")], how=how)
    change = join(connection, [a, b], [("k", "k")], how=how)
    assert checked.rows == len(rows_of(connection, change.sql))
