"""Charts: what is drawn is what the rows say, however many they are, and what is left out is told."""

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from steward.core.errors import Invalid
from steward.output.chart_suggestions import suggest
from steward.output.charts import chart
from steward.output.requests import MAX_POINTS, Chart, ChartRequest
from steward.output.validate import check
from steward.tables.engine import session
from steward.tables.table import Table, describe

Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with session() as opened:
        opened.execute(
            """
            CREATE TABLE sales AS SELECT i AS id,
              DATE '2024-01-01' + CAST(i % 730 AS INTEGER) AS day,
              CASE WHEN i % 50 = 0 THEN NULL ELSE ['North', 'South', 'East', 'West'][1 + i % 4] END AS region,
              'Customer ' || (i % 400) AS customer,
              CAST(((i * 37) % 1000) - 100 AS DECIMAL(12, 2)) AS amount,
              (i * 13) % 100 / 10.0 AS score,
              CASE WHEN i % 10 = 0 THEN NULL ELSE (i * 7) % 50 END AS units,
              1 + i % 5 AS grade
            FROM range(8000) t(i)
            """
        )
        opened.execute("CREATE TABLE nothing AS SELECT * FROM sales LIMIT 0")
        yield opened


@pytest.fixture
def sales(connection: Connection) -> Table:
    return Table("sales", "sales", describe(connection, "sales"))


def table_of(connection: Connection, sql: str) -> Table:
    return Table("made", f"({sql})", describe(connection, f"({sql})"))


def drawn(connection: Connection, table: Table, **wish: Any) -> Chart:
    made = chart(connection, table, ChartRequest(**wish))
    assert check(made.spec) == (), "our own charts pass the check that others must pass"
    assert len(made.spec["data"]["values"]) == made.points
    json.dumps(made.as_dict(), allow_nan=False)
    return made


KINDS: list[dict[str, Any]] = [
    {"kind": "bar", "x": "region", "y": "amount"},
    {"kind": "bar", "x": "region", "colour": "grade", "stack": "grouped"},
    {"kind": "bar", "x": "day", "y": "amount", "time_unit": "month"},
    {"kind": "line", "x": "day", "y": "amount", "colour": "region"},
    {"kind": "line", "x": "score", "y": "units", "aggregate": "mean"},
    {"kind": "area", "x": "day", "colour": "region", "stack": "share"},
    {"kind": "scatter", "x": "score", "y": "amount", "colour": "region", "trend": True},
    {"kind": "histogram", "x": "amount", "bins": 12},
    {"kind": "histogram", "x": "day"},
    {"kind": "heatmap", "x": "region", "y": "grade", "value": "amount"},
    {"kind": "heatmap", "x": "day", "y": "score"},
    {"kind": "pie", "x": "region"},
    {"kind": "box", "x": "region", "y": "amount"},
    {"kind": "box", "y": "units"},
    {"kind": "waterfall", "x": "region", "y": "amount"},
]


@pytest.mark.parametrize("wish", KINDS, ids=lambda wish: "-".join(map(str, wish.values())))
def test_every_kind_is_deterministic_and_survives_an_empty_table(
    connection: Connection, sales: Table, wish: dict[str, Any]
) -> None:
    made = drawn(connection, sales, **wish)
    assert made.points > 0
    assert json.dumps(made.spec) == json.dumps(drawn(connection, sales, **wish).spec)
    empty = drawn(connection, Table("nothing", "nothing", sales.columns), **wish)
    assert empty.points == 0
    assert "nothing to draw" in " ".join(empty.notes)


def test_bars_hold_the_exact_sums_with_missing_categories_named(
    connection: Connection, sales: Table
) -> None:
    made = drawn(connection, sales, kind="bar", x="region", y="amount")
    truth = dict(
        connection.execute("SELECT region, sum(amount)::DOUBLE FROM sales GROUP BY 1").fetchall()
    )
    shown = {point["x"]: point["y"] for point in made.spec["data"]["values"]}
    assert shown == {name or "(no value)": total for name, total in truth.items()}
    assert made.spec["encoding"]["x"]["sort"] == sorted(shown, key=lambda name: -shown[name])


@pytest.mark.parametrize("aggregate", ["count", "sum", "mean", "median", "min", "max", "distinct"])
def test_other_is_computed_over_the_rows_it_stands_for(
    connection: Connection, sales: Table, aggregate: str
) -> None:
    made = drawn(
        connection, sales, kind="bar", x="customer", y="units", aggregate=aggregate, limit=10
    )
    points = {point["x"]: point["y"] for point in made.spec["data"]["values"]}
    assert len(points) == 11
    assert "The 10 largest of 400 values of customer; the other 390 are grouped." in made.notes
    named = [name for name in points if name != "Other"]
    sql = {"mean": "avg(units)", "distinct": "count(DISTINCT units)"}.get(
        aggregate, f"{aggregate}(units)"
    )
    rest = connection.execute(
        f"SELECT {sql} FROM sales WHERE NOT list_contains({named!r}, customer)"
    ).fetchone()
    assert rest is not None
    assert points["Other"] == pytest.approx(float(rest[0]))


def test_one_category_too_many_is_shown_rather_than_folded(connection: Connection) -> None:
    table = table_of(connection, "SELECT 'c' || i AS c FROM range(21) t(i)")
    made = drawn(connection, table, kind="bar", x="c", limit=20)
    assert made.points == 21
    assert made.notes == ()


def test_a_real_value_named_other_does_not_mix_with_the_fold(connection: Connection) -> None:
    sql = "SELECT 'Other' AS c FROM range(90) UNION ALL SELECT 'x' || i FROM range(50) t(i)"
    made = drawn(connection, table_of(connection, sql), kind="bar", x="c", limit=3)
    points = {point["x"]: point["y"] for point in made.spec["data"]["values"]}
    assert points["Other"] == 90
    assert points["Other…"] == 48


def test_long_and_unprintable_names_stay_distinct_and_bounded(connection: Connection) -> None:
    sql = (
        "SELECT repeat('a', 5000) || i AS c FROM range(3) t(i) UNION ALL "
        "SELECT chr(7) || 'bell' UNION ALL SELECT '   '"
    )
    made = drawn(connection, table_of(connection, sql), kind="bar", x="c")
    labels = [point["x"] for point in made.spec["data"]["values"]]
    assert len(set(labels)) == 5
    assert max(map(len, labels)) <= 70
    assert "␣bell" in labels
    assert "(blank)" in labels


def test_keys_with_quotes_and_nul_find_their_rows(connection: Connection) -> None:
    sql = """SELECT unnest(['it''s', 'a' || chr(0) || 'b', 'a' || chr(0) || 'c', NULL, '"; --']) AS c"""
    made = drawn(connection, table_of(connection, sql), kind="bar", x="c")
    assert [point["y"] for point in made.spec["data"]["values"]] == [1] * 5


def test_columns_may_have_any_name(connection: Connection) -> None:
    sql = (
        'SELECT i % 3 AS "a.b[0]", i AS m, i % 2 AS k, i AS "k0", i AS n, i AS w, i AS "x""; DROP TABLE sales; --", '
        "i AS px, i AS pn FROM range(30) t(i)"
    )
    table = table_of(connection, sql)
    for wish in (
        {"kind": "bar", "x": "a.b[0]", "y": "m"},
        {"kind": "bar", "x": "k", "y": "n", "colour": "a.b[0]"},
        {"kind": "waterfall", "x": "k", "y": 'x"; DROP TABLE sales; --'},
        {"kind": "scatter", "x": "px", "y": "pn"},
        {"kind": "box", "x": "k", "y": "m"},
    ):
        made = drawn(connection, table, **wish)
        total = sum(p.get("y", 0) for p in made.spec["data"]["values"])
        if wish["kind"] == "bar":
            assert total == sum(range(30))
    assert connection.execute("SELECT count(*) FROM sales").fetchone() == (8000,)


def test_every_row_with_a_value_is_in_exactly_one_class(
    connection: Connection, sales: Table
) -> None:
    made = drawn(connection, sales, kind="histogram", x="units")
    assert sum(point["y"] for point in made.spec["data"]["values"]) == 7200
    assert made.notes == ("800 rows without units left out.",)


@given(
    values=st.lists(
        st.floats(-1e12, 1e12, allow_nan=False)
        | st.sampled_from([0.1, 0.3, 0.7, 1.1, 5e-324, 1e-310]),
        min_size=1,
        max_size=60,
    ),
    bins=st.integers(2, 60),
)
def test_classes_hold_what_lies_between_their_edges(
    connection: Connection, values: list[float], bins: int
) -> None:
    table = table_of(connection, f"SELECT unnest(CAST({values!r} AS DOUBLE[])) AS x")
    points = drawn(connection, table, kind="histogram", x="x", bins=bins).spec["data"]["values"]
    assert sum(point["y"] for point in points) == len(values)
    assert len(points) <= 2 * bins + 2
    slack = 1e-6 * max(1.0, *map(abs, values))
    for point in points:
        inside = [v for v in values if point["x"] - slack <= v <= point["x2"] + slack]
        assert point["y"] <= len(inside)


def test_time_without_rows_counts_zero_but_has_no_mean(connection: Connection) -> None:
    sql = "SELECT * FROM (VALUES (DATE '2024-01-10', 4), (DATE '2024-04-02', 6)) v(d, y)"
    table = table_of(connection, sql)
    wish: dict[str, Any] = {"kind": "line", "x": "d", "y": "y", "time_unit": "month"}
    added = drawn(connection, table, **wish).spec["data"]["values"]
    assert [(p["x"][:7], p["y"]) for p in added] == [
        ("2024-01", 4.0),
        ("2024-02", 0),
        ("2024-03", 0),
        ("2024-04", 6.0),
    ]
    averaged = drawn(connection, table, **wish, aggregate="mean").spec["data"]["values"]
    assert [p["y"] for p in averaged] == [4.0, None, None, 6.0]


def test_a_unit_that_would_give_too_many_points_is_coarsened_and_told(
    connection: Connection, sales: Table
) -> None:
    made = drawn(connection, sales, kind="line", x="day", time_unit="minute", max_points=100)
    assert made.points <= 100
    assert made.notes == (
        "Grouped by month because by minute there would be more than 100 points.",
    )


def test_days_are_the_same_days_everywhere(connection: Connection) -> None:
    sql = "SELECT TIMESTAMPTZ '2024-03-01 00:30:00+02' AS d UNION ALL SELECT TIMESTAMPTZ '2024-03-01 23:30:00-05'"
    made = drawn(connection, table_of(connection, sql), kind="line", x="d", time_unit="day")
    assert [(p["x"], p["y"]) for p in made.spec["data"]["values"]] == [
        ("2024-02-29T00:00:00Z", 1),
        ("2024-03-01T00:00:00Z", 0),
        ("2024-03-02T00:00:00Z", 1),
    ]
    assert made.spec["encoding"]["x"]["scale"] == {"type": "utc"}


def test_infinite_numbers_and_dates_are_left_out_and_told(connection: Connection) -> None:
    sql = (
        "SELECT unnest([1.0, 2.0, 'nan'::DOUBLE, 'inf'::DOUBLE]) AS x, "
        "unnest(['2024-01-01', '2024-01-02', 'infinity', '2024-01-03']::DATE[]) AS d"
    )
    table = table_of(connection, sql)
    made = drawn(connection, table, kind="histogram", x="x")
    assert made.notes == ("2 rows without x left out.",)
    made = drawn(connection, table, kind="line", x="d", y="x")
    assert [p["y"] for p in made.spec["data"]["values"]] == [1.0, 2.0, None]
    assert "1 row without d left out." in made.notes


@pytest.mark.parametrize("most", [10, 137, 2000])
def test_a_sample_is_bounded_fair_and_always_the_same(
    connection: Connection, sales: Table, most: int
) -> None:
    made = drawn(connection, sales, kind="scatter", x="id", y="amount", max_points=most)
    ids = [point["x"] for point in made.spec["data"]["values"]]
    assert len(ids) == most
    assert made.notes == (f"A sample of {most:,} of 8,000 rows.",)
    assert ids == [
        p["x"]
        for p in drawn(connection, sales, kind="scatter", x="id", y="amount", max_points=most).spec[
            "data"
        ]["values"]
    ]
    if most == 2000:
        assert sum(ids) / most == pytest.approx(4000, rel=0.1)


def test_the_trend_is_that_of_all_rows(connection: Connection) -> None:
    table = table_of(connection, "SELECT i AS x, 3 * i + 2 AS y FROM range(5000) t(i)")
    made = drawn(connection, table, kind="scatter", x="x", y="y", trend=True, max_points=50)
    line = made.spec["layer"][1]["data"]["values"]
    assert line == [{"x": 0.0, "y": 2.0}, {"x": 4999.0, "y": 14999.0}]
    assert "Trend over all rows, R² 1.00." in made.notes


def test_boxes_are_quartiles_with_whiskers_to_real_values(connection: Connection) -> None:
    table = table_of(connection, "SELECT unnest([1, 2, 3, 4, 100]) AS v")
    made = drawn(connection, table, kind="box", y="v")
    assert made.spec["data"]["values"] == [
        {"x": "", "rows": 5, "q1": 2.0, "median": 3.0, "q3": 4.0, "low": 1.0, "high": 4.0}
    ]
    assert made.notes == ("1 row beyond the whiskers not drawn.",)


def test_a_waterfall_steps_in_the_order_of_the_data_and_ends_at_the_total(
    connection: Connection,
) -> None:
    sql = "SELECT * FROM (VALUES ('Plan', 100), ('Price', -30), ('Volume', 15.5), ('Price', -1)) v(c, y)"
    made = drawn(connection, table_of(connection, sql), kind="waterfall", x="c", y="y")
    steps = [(p["x"], p["start"], p["end"], p["kind"]) for p in made.spec["data"]["values"]]
    assert steps == [
        ("Plan", 0.0, 100.0, "Increase"),
        ("Price", 100.0, 69.0, "Decrease"),
        ("Volume", 69.0, 84.5, "Increase"),
        ("Total", 0.0, 84.5, "Total"),
    ]


@pytest.mark.parametrize("most", [10, 50, MAX_POINTS])
@pytest.mark.parametrize(
    "wish",
    [
        {"kind": "bar", "x": "customer", "colour": "grade", "limit": 200},
        {"kind": "line", "x": "day", "colour": "customer", "time_unit": "hour"},
        {"kind": "heatmap", "x": "customer", "y": "customer", "limit": 200},
        {"kind": "histogram", "x": "amount", "bins": 200, "colour": "region"},
        {"kind": "waterfall", "x": "customer", "y": "amount", "limit": 200},
        {"kind": "box", "x": "customer", "y": "amount", "limit": 200},
    ],
    ids=lambda wish: wish["kind"] if isinstance(wish, dict) else str(wish),
)
def test_no_chart_holds_more_points_than_allowed(
    connection: Connection, sales: Table, wish: dict[str, Any], most: int
) -> None:
    made = drawn(connection, sales, **wish, max_points=most)
    assert 0 < made.points <= most


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"kind": "bar", "x": "nowhere"}, "/x"),
        ({"kind": "bar", "x": "region", "y": "customer", "aggregate": "sum"}, "/y"),
        ({"kind": "scatter", "x": "region", "y": "amount"}, "/x"),
        ({"kind": "histogram", "x": "region"}, "/x"),
        ({"kind": "box", "y": "region"}, "/y"),
        ({"kind": "pie", "x": "customer", "y": "amount", "aggregate": "min"}, "/kind"),
        ({"kind": "waterfall", "x": "region", "y": "amount", "aggregate": "mean"}, "/aggregate"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_place(
    connection: Connection, sales: Table, wish: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        drawn(connection, sales, **wish)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]


@pytest.mark.parametrize(
    "wish",
    [
        {"kind": "bar"},
        {"kind": "scatter", "x": "a"},
        {"kind": "pie", "x": "a", "colour": "b"},
        {"kind": "histogram", "x": "a", "y": "b"},
        {"kind": "line", "x": "a", "trend": True},
        {"kind": "bar", "x": "a", "aggregate": "sum"},
        {"kind": "bar", "x": "a", "max_points": MAX_POINTS + 1},
        {"kind": "bar", "x": "a", "colour_by": "b"},
        {"kind": "map", "x": "a"},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChartRequest(**wish)


def test_notes_speak_the_readers_numbers(connection: Connection, sales: Table) -> None:
    made = chart(
        connection, sales, ChartRequest(kind="scatter", x="id", y="amount"), locale="de-DE"
    )
    assert made.notes == ("A sample of 2.000 of 8.000 rows.",)


def test_suggestions_use_groups_amounts_and_dates_but_no_identifiers(
    connection: Connection, sales: Table
) -> None:
    found = suggest(connection, sales)
    assert found == suggest(connection, sales)
    first = found[0]
    assert (first.kind, first.x, first.y, first.aggregate) == ("line", "day", "amount", "sum")
    assert len({request.kind for request in found}) >= 4
    assert all("id" not in {r.x, r.y, r.colour, r.value} for r in found)
    for request in found:
        assert drawn(connection, sales, **request.model_dump()).points > 0


def test_nothing_is_suggested_for_nothing(connection: Connection, sales: Table) -> None:
    assert suggest(connection, Table("nothing", "nothing", sales.columns)) == []
    assert suggest(connection, table_of(connection, "SELECT 1 AS id")) == []
    assert len(suggest(connection, sales, limit=2)) == 2
