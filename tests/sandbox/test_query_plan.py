"""Query plans: one meaning, one text, the same bytes of SQL; compared with the same query in polars."""

import contextlib
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Invalid
from steward.sandbox import guard_sql
from steward.sandbox import query_plan as q
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.query_plan import QueryPlan
from steward.sandbox.refused import Refused

SCHEMA = {"t": ["a", "b", "s"], 'odd "name"': ["a", "w", "Ünï ' code"]}
JOINED = 'odd "name"'
ENGINE = duckdb.connect(config={"threads": 1})

_small = st.none() | st.integers(-3, 3)
_word = st.none() | st.sampled_from(["x", "y", "it's", "", "Ü"])
_left = st.lists(st.tuples(_small, _small, _word), max_size=8)
_right = st.lists(st.tuples(_small, _small, _word), max_size=5)


# Plans, and beside each part its meaning in polars

Part = tuple[dict[str, Any], pl.Expr]


def _number(columns: tuple[str, ...]) -> st.SearchStrategy[Part]:
    column = st.sampled_from(columns).map(lambda c: ({"column": c}, pl.col(c)))
    value = st.integers(-3, 3).map(lambda v: ({"value": v}, pl.lit(v, pl.Int64)))
    leaf = column | value

    def grown(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        arithmetic = st.tuples(st.sampled_from("+-*"), inner, inner).map(_operation)
        first = st.tuples(inner, inner).map(
            lambda p: (
                {"function": "coalesce", "args": [p[0][0], p[1][0]]},
                pl.coalesce(p[0][1], p[1][1]),
            )
        )
        return arithmetic | first

    return st.recursive(leaf, grown, max_leaves=4)


def _operation(given: tuple[str, Part, Part]) -> Part:
    sign, (left, mine), (right, theirs) = given
    meaning = {"+": mine + theirs, "-": mine - theirs, "*": mine * theirs}[sign]
    return {"op": sign, "args": [left, right]}, meaning


def _condition(columns: tuple[str, ...]) -> st.SearchStrategy[Part]:
    number = _number(columns)
    signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    compare = st.tuples(signs, number, number).map(_comparison)
    null = st.tuples(number, st.booleans()).map(
        lambda p: (
            {"is_null": p[0][0], "negate": p[1]},
            p[0][1].is_not_null() if p[1] else p[0][1].is_null(),
        )
    )
    among = st.tuples(number, st.lists(st.integers(-3, 3), min_size=1, max_size=3)).map(
        lambda p: (
            {"of": p[0][0], "among": [{"value": v} for v in p[1]]},
            pl.any_horizontal([p[0][1] == v for v in p[1]]),
        )
    )

    def grown(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        several = st.lists(inner, min_size=1, max_size=3)
        return (
            several.map(
                lambda p: ({"all": [x for x, _ in p]}, pl.all_horizontal([m for _, m in p]))
            )
            | several.map(
                lambda p: ({"any": [x for x, _ in p]}, pl.any_horizontal([m for _, m in p]))
            )
            | inner.map(lambda p: ({"not": p[0]}, ~p[1]))
        )

    return st.recursive(compare | null | among, grown, max_leaves=4)


def _comparison(given: tuple[str, Part, Part]) -> Part:
    sign, (left, mine), (right, theirs) = given
    meaning = {
        "=": mine == theirs,
        "!=": mine != theirs,
        "<": mine < theirs,
        "<=": mine <= theirs,
        ">": mine > theirs,
        ">=": mine >= theirs,
    }[sign]
    return {"left": left, "compare": sign, "right": right}, meaning


def _frames(left: list[Any], right: list[Any]) -> dict[str, pl.DataFrame]:
    types = [pl.Int64, pl.Int64, pl.String]
    return {
        name: pl.DataFrame(rows, schema=list(zip(SCHEMA[name], types, strict=True)), orient="row")
        for name, rows in (("t", left), (JOINED, right))
    }


def _run(plan: dict[str, Any], frames: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    parsed = QueryPlan.model_validate(plan)
    sql = compile_plan(parsed, SCHEMA)
    assert compile_plan(QueryPlan.parse(parsed.text()), SCHEMA) == sql
    checked = guard_sql.check(sql, SCHEMA)
    for name, frame in frames.items():
        ENGINE.register(name, frame)
    return ENGINE.execute(checked.sql).fetchall()


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


@given(_left, _number(("a", "b")), st.lists(_condition(("a", "b", "d")), max_size=2))
def test_derive_and_filters(left: list[Any], derived: Part, conditions: list[Part]) -> None:
    frames = _frames(left, [])
    plan = {
        "source": "t",
        "derive": [{"name": "d", "expression": derived[0]}],
        "filters": [condition for condition, _ in conditions],
    }
    expected = frames["t"].with_columns(derived[1].cast(pl.Int64).alias("d"))
    for _, meaning in conditions:
        expected = expected.filter(meaning)
    assert _sorted(_run(plan, frames)) == _sorted(expected.rows())


_KINDS = {"inner": "inner", "left": "left", "semi": "semi", "anti": "anti"}


@given(_left, _right, st.sampled_from(sorted(_KINDS)))
def test_joins(left: list[Any], right: list[Any], kind: Any) -> None:
    frames = _frames(left, right)
    on = [{"left": "a", "right": "a"}]
    plan = {"source": "t", "joins": [{"dataset": JOINED, "alias": "o", "kind": kind, "on": on}]}
    other = frames[JOINED].with_columns(pl.col("a").alias("o.a"))
    joined = frames["t"].join(other, on="a", how=kind)
    if kind in {"inner", "left"}:
        joined = joined.select("a", "b", "s", "o.a", "w", "Ünï ' code")
    assert _sorted(_run(plan, frames)) == _sorted(joined.rows())


@given(_left, st.sampled_from([["s"], ["a", "s"], []]), st.integers(0, 2))
def test_group_aggregate_having(left: list[Any], group: list[str], least: int) -> None:
    frames = _frames(left, [])
    functions = ("sum", "min", "max", "count", "count_distinct")
    plan = {
        "source": "t",
        "group": group,
        "aggregate": [{"name": "n", "function": "count"}]
        + [{"name": f"{f} b", "function": f, "column": "b"} for f in functions],
        "having": [{"left": {"column": "n"}, "compare": ">=", "right": {"value": least}}],
    }
    b = pl.col("b")
    several = [
        pl.len().cast(pl.Int64).alias("n"),
        pl.when(b.count() > 0).then(b.sum()).alias("sum b"),
        b.min().alias("min b"),
        b.max().alias("max b"),
        b.count().cast(pl.Int64).alias("count b"),
        b.drop_nulls().n_unique().cast(pl.Int64).alias("distinct"),
    ]
    table = frames["t"]
    expected = table.group_by(group).agg(several) if group else table.select(several)
    expected = expected.filter(pl.col("n") >= least)
    assert _sorted(_run(plan, frames)) == _sorted(expected.rows())


@given(_left, st.sampled_from(["first", "last"]), st.integers(1, 5), st.integers(0, 3))
def test_order_limit_select(left: list[Any], nulls: Any, limit: int, offset: int) -> None:
    frames = _frames(left, [])
    keys = [("b", "descending"), ("a", "ascending"), ("s", "ascending")]
    plan = {
        "source": "t",
        "select": ["s", "a"],
        "order": [{"column": c, "direction": d, "nulls": nulls} for c, d in keys],
        "limit": limit,
        "offset": offset,
    }
    ordered = frames["t"].sort(
        ["b", "a", "s"], descending=[True, False, False], nulls_last=nulls == "last"
    )
    assert _run(plan, frames) == ordered.select("s", "a").slice(offset, limit).rows()


def test_compute_works_on_aggregates_and_having_sees_it() -> None:
    rows = [(1, 4, "x"), (1, 6, "y"), (2, 9, "x")]
    plan = {
        "source": "t",
        "group": ["a"],
        "aggregate": [
            {"name": "total", "function": "sum", "column": "b"},
            {"name": "n", "function": "count"},
        ],
        "compute": [
            {
                "name": "mean",
                "expression": {"op": "/", "args": [{"column": "total"}, {"column": "n"}]},
            }
        ],
        "having": [{"left": {"column": "mean"}, "compare": ">", "right": {"value": 5}}],
    }

    assert _run(plan, _frames(rows, [])) == [(2, 9, 1, 9.0)]


@given(_left)
def test_windows(left: list[Any]) -> None:
    numbered = [(n, b, s) for n, (_, b, s) in enumerate(left)]
    frames = _frames(numbered, [])
    order = [{"column": "a"}]
    plan = {
        "source": "t",
        "window": [
            {"name": "r", "function": "row_number", "partition": ["s"], "order": order},
            {"name": "p", "function": "lag", "column": "b", "partition": ["s"], "order": order},
            {"name": "c", "function": "count", "partition": ["s"]},
            {
                "name": "d",
                "function": "difference",
                "column": "a",
                "partition": ["s"],
                "order": order,
            },
        ],
    }
    expected = frames["t"].with_columns(
        pl.int_range(1, pl.len() + 1).over("s", order_by="a").alias("r"),
        pl.col("b").shift(1).over("s", order_by="a").alias("p"),
        pl.len().over("s").cast(pl.Int64).alias("c"),
        pl.col("a").diff().over("s", order_by="a").alias("d"),
    )
    assert _sorted(_run(plan, frames)) == _sorted(expected.rows())


def test_share_is_of_the_partition_and_nothing_of_nothing() -> None:
    frames = _frames([(1, 1, "x"), (3, 1, "x"), (0, 2, "y")], [])
    share = {"name": "share", "function": "share", "column": "a", "partition": ["b"]}
    plan = {"source": "t", "window": [share], "select": ["a", "share"]}
    assert _sorted(_run(plan, frames)) == [(0, None), (1, 0.25), (3, 0.75)]


@given(_left)
def test_pivot(left: list[Any]) -> None:
    frames = _frames(left, [])
    values = ["x", "it's"]
    plan = {
        "source": "t",
        "pivot": {
            "column": "s",
            "values": [{"value": v} for v in values],
            "function": "max",
            "value": "b",
            "group": ["a"],
        },
    }
    expected = (
        frames["t"]
        .group_by("a")
        .agg(pl.col("b").filter(pl.col("s") == v).max().alias(v) for v in values)
    )
    assert _sorted(_run(plan, frames)) == _sorted(expected.rows())


_name = st.text(min_size=1, max_size=8).filter(lambda t: "\0" not in t)


@given(_name, _name, st.text(max_size=10))
def test_any_name_and_text_is_quoted(dataset: str, column: str, text: str) -> None:
    condition = {"left": {"column": column}, "compare": "=", "right": {"value": text}}
    try:
        plan = QueryPlan.model_validate({"source": dataset, "filters": [condition]})
    except ValueError:
        assert "\0" in text
        return
    sql = compile_plan(plan, {dataset: [column]})
    try:
        sql.encode()
    except UnicodeEncodeError:
        return
    # Two parsers may differ on odd white space; then nothing runs.
    with contextlib.suppress(Refused):
        assert guard_sql.check(sql, {dataset: [column]}).tables == (dataset,)
    assert QueryPlan.parse(plan.text()) == plan


WRONG = {
    "source: x": "no dataset 'x'",
    "{}": "source: Field required",
    "[1]": "object with at least",
    "{": "neither JSON nor YAML: line 1",
    "source: [": "neither JSON nor YAML",
    "source: t\nextra: 1": "Extra inputs",
    "source: t\nselect: [z]": "no column 'z'",
    "source: t\ngroup: [a]": "group needs an aggregate",
    "source: t\nhaving: [{is_null: {column: a}}]": "having looks at aggregates",
    "source: t\ncompute: [{name: d, expression: {value: 1}}]": "compute works on aggregates",
    "source: t\naggregate: [{name: n, function: count}]\ncompute: [{name: d, expression: {column: a}}]": "only grouped",
    "source: t\naggregate: [{name: n, function: sum}]": "needs a column",
    "source: t\naggregate: [{name: n, function: sum, column: b}]\norder: [{column: a}]": "only grouped",
    "source: t\noffset: 3": "offset needs a limit",
    "source: t\nlimit: 3\noffset: 3": "at random",
    "source: t\nfilters: [{what: 1}]": "a condition is one of",
    "source: t\nfilters: [{left: {column: a}, compare: '=', right: {value: null}}]": "use is_null",
    "source: t\nderive: [{name: A, expression: {value: 1}}]": "already",
    "source: t\nderive: [{name: d, expression: {function: round, args: [{value: 1}, {value: 1}, {value: 1}]}}]": "1 to 2 arguments",
    "source: t\nderive: [{name: d, expression: {function: date_trunc, args: [{value: eon}, {column: a}]}}]": "the unit is one of",
    "source: t\nwindow: [{name: w, function: rank}]": "needs an order",
    "source: t\nwindow: [{name: w, function: difference, column: a}]": "needs an order",
    "source: t\nwindow: [{name: w, function: share, column: a, order: [{column: a}]}]": "no order",
    "source: t\nwindow: [{name: w, function: rank, column: a, order: [{column: a}]}]": "takes no column",
    "source: t\npivot: {column: s, values: [{value: x}]}": "needs a value column",
    "source: t\nlimit: 0": "greater than or equal to 1",
    "source: &a t\ngroup: [*a]": "neither JSON nor YAML",
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_say_what_is_wrong(text: str) -> None:
    with pytest.raises(Invalid, match=WRONG[text]):
        compile_plan(QueryPlan.parse(text), SCHEMA)


def test_yaml_words_stay_words() -> None:
    text = "source: t\njoins: [{dataset: t, alias: u, on: [{left: a, right: a}]}]\nfilters: [{of: {column: s}, among: [{value: NO}, {value: 2026-01-01}, {value: true}]}]"
    plan = QueryPlan.parse(text)
    condition = plan.filters[0]
    assert isinstance(condition, q.Among)
    kinds = [type(v.value).__name__ for v in condition.among]
    assert kinds == ["str", "DateValue", "bool"]
    assert QueryPlan.parse(plan.model_dump_json(by_alias=True)) == plan


def test_the_schema_is_published() -> None:
    schema = QueryPlan.model_json_schema()
    assert schema["required"] == ["source"]
    assert set(schema["properties"]) >= {
        "joins",
        "filters",
        "derive",
        "group",
        "aggregate",
        "pivot",
    }


@pytest.mark.parametrize(("kind", "left"), [("anti", [1, 3]), ("semi", [2])])
def test_a_join_sees_only_the_rows_that_its_condition_leaves(kind: str, left: list[int]) -> None:
    where = {"left": {"column": "w"}, "compare": ">", "right": {"value": 5}}
    join = {"dataset": JOINED, "kind": kind, "on": [{"left": "a", "right": "a"}], "where": where}
    document = {"source": "t", "joins": [join], "select": ["a"], "order": [{"column": "a"}]}
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE t AS SELECT i AS a, 0 AS b, '' AS s FROM range(1, 4) r(i)")
        rows = "(VALUES (1, 5, 'x'), (2, 6, 'x')) v(a, w, \"Ünï ' code\")"
        engine.execute(f'CREATE TABLE "odd ""name""" AS SELECT * FROM {rows}')
        sql = compile_plan(QueryPlan.model_validate(document), SCHEMA)
        assert [a for (a,) in engine.execute(sql).fetchall()] == left
