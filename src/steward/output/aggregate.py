"""Many rows to few points, in DuckDB: groups, the largest categories, and honest notes about the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from steward.core import Invalid, Problem
from steward.output import dimensions, locales
from steward.output.dimensions import Dimension
from steward.output.requests import Aggregate
from steward.tables import Column, Table, literal, quote

_SQL: dict[Aggregate, str] = {
    "count": "count(m)",
    "distinct": "count(DISTINCT m)",
    "sum": "CAST(sum(m) AS DOUBLE)",
    "mean": "CAST(avg(m) AS DOUBLE)",
    "median": "CAST(median(m) AS DOUBLE)",
    "min": "CAST(min(m) AS DOUBLE)",
    "max": "CAST(max(m) AS DOUBLE)",
}
OTHER = 0
"""The position of the rows whose category is not among the largest; the largest count from 1."""


@dataclass(frozen=True)
class Measure:
    """What is measured: the SQL over `m`, and the SQL that makes `m` of a row."""

    aggregate: Aggregate
    column: Column | None
    operand: str

    @property
    def sql(self) -> str:
        return _SQL[self.aggregate]

    @property
    def additive(self) -> bool:
        return self.aggregate in {"count", "sum"}

    @property
    def title(self) -> str:
        if self.column is None:
            return "Rows"
        words = {"distinct": "Distinct", "count": "Rows with", "min": "Lowest", "max": "Highest"}
        word = words.get(self.aggregate, self.aggregate.capitalize())
        joint = " " if self.aggregate in {"distinct", "count", "min", "max"} else " of "
        return f"{word}{joint}{self.column.name}"


@dataclass(frozen=True)
class Place:
    """A place on an axis or a colour: its key in the data and the label that is drawn."""

    key: str | None
    label: str
    position: int


@dataclass(frozen=True)
class Scale:
    """The places of one dimension in drawing order; `folded` says how many categories became 'Other'."""

    dimension: Dimension
    places: tuple[Place, ...] = ()
    folded: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(place.label for place in self.places)


@dataclass
class Notes:
    """Sentences that a reader of the chart must see; numbers in the reader's locale."""

    where: locales.Locale
    sentences: list[str] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def number(self, value: int) -> str:
        return locales.number(value, self.where)

    def rows(self, count: int) -> str:
        return f"{self.number(count)} row{'' if count == 1 else 's'}"


def measure(
    table: Table, name: str | None, aggregate: Aggregate | None, *, pointer: str
) -> Measure:
    if name is None:
        return Measure("count", None, "1")
    column = dimensions.find(table, name, pointer)
    chosen = aggregate or ("sum" if dimensions.is_number(column) else "count")
    if chosen == "distinct":
        return Measure(chosen, column, quote(column.name))
    if chosen == "count":
        return Measure("count", column, quote(column.name))
    if not dimensions.is_number(column):
        message = (
            f"{column.name} is {column.type}: its {chosen} cannot be drawn; use count or distinct."
        )
        raise Invalid(message, code="not-a-number", problems=[Problem(pointer, message)])
    if column.type.upper() in {"DOUBLE", "FLOAT"}:
        return Measure(chosen, column, dimensions.number_sql(column))
    # Integers and decimals are added exactly; only the result becomes a floating number.
    return Measure(chosen, column, quote(column.name))


def count_rows(connection: duckdb.DuckDBPyConnection, table: Table) -> int:
    found = connection.execute(f"SELECT count(*) FROM {table.source}").fetchone()
    return int(found[0]) if found else 0


def note_left_out(
    connection: duckdb.DuckDBPyConnection, table: Table, used: Measure, notes: Notes
) -> None:
    """Say how many rows have nothing to measure."""
    if used.column is None:
        return
    found = connection.execute(
        f"SELECT count(*) FROM {table.source} WHERE ({used.operand}) IS NULL"
    ).fetchone()
    if found and found[0]:
        notes.add(f"{notes.rows(int(found[0]))} without {used.column.name} left out.")


def largest(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    dimension: Dimension,
    used: Measure,
    limit: int,
    notes: Notes,
    *,
    other: str = "Other",
) -> Scale:
    """The places of a category that weigh most, the rest folded into one."""
    weight = f"abs({used.sql})" if used.aggregate == "sum" else used.sql
    rows = connection.execute(
        f"SELECT k, count(*) OVER () FROM ("
        f"  SELECT k, {weight} AS w FROM ("
        f"    SELECT {dimension.key} AS k, {used.operand} AS m FROM {table.source}) GROUP BY k"
        f") ORDER BY w DESC NULLS LAST, k NULLS LAST LIMIT {limit + 1}"
    ).fetchall()
    distinct = int(rows[0][1]) if rows else 0
    # Folding a single category would hide a name and save nothing.
    kept = [row[0] for row in rows[: limit if distinct > limit + 1 else limit + 1]]
    folded = distinct - len(kept)
    shown = dimensions.labels(kept)
    places = tuple(
        Place(key, label, i + 1) for i, (key, label) in enumerate(zip(kept, shown, strict=True))
    )
    if folded:
        name = dimension.column.name
        notes.add(
            f"The {notes.number(len(kept))} largest of {notes.number(distinct)} values of {name}; "
            f"the other {notes.number(folded)} are grouped."
        )
        label = other
        while label in shown:
            label += "…"
        places = (*places, Place(None, label, OTHER))
    return Scale(dimension, places, folded)


def grouped(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    scales: Sequence[Scale],
    used: Measure,
    *,
    first_seen: bool = False,
) -> list[tuple[Any, ...]]:
    """One row per occupied combination of places: its keys, the measure, and (if wanted) where it first occurs."""
    keys = [_joined(scale, f"d{i}") for i, scale in enumerate(scales)]
    joins = [
        _join(scale, f"k{i}", f"d{i}")
        for i, scale in enumerate(scales)
        if scale.dimension.kind == "category"
    ]
    raw = ", ".join(f"{scale.dimension.key} AS k{i}" for i, scale in enumerate(scales))
    seen = ", row_number() OVER () AS n" if first_seen else ""
    extra = ", min(n) AS first" if first_seen else ""
    kept = " AND ".join(
        f"k{i} IS NOT NULL" for i, s in enumerate(scales) if s.dimension.kind != "category"
    )
    return connection.execute(
        f"SELECT {', '.join(f'{key} AS p{i}' for i, key in enumerate(keys))}, {used.sql} AS y{extra} "
        f"FROM (SELECT {raw}, {used.operand} AS m{seen} FROM {table.source}) AS base {' '.join(joins)} "
        f"WHERE {kept or 'true'} GROUP BY ALL ORDER BY ALL"
    ).fetchall()


def note_outside(
    connection: duckdb.DuckDBPyConnection, table: Table, dimension: Dimension, notes: Notes
) -> None:
    """Say how many rows have no place on an axis of time or numbers."""
    found = connection.execute(
        f"SELECT count(*) FROM {table.source} WHERE ({dimension.key}) IS NULL"
    ).fetchone()
    if found and found[0]:
        notes.add(f"{notes.rows(int(found[0]))} without {dimension.column.name} left out.")


def spans(
    connection: duckdb.DuckDBPyConnection, table: Table, dimension: Dimension
) -> tuple[str, ...]:
    """Every span of time from first to last, also the empty ones, as ISO moments."""
    unit = "INTERVAL 3 MONTH" if dimension.unit == "quarter" else f"INTERVAL 1 {dimension.unit}"
    rows = connection.execute(
        f"SELECT strftime(unnest(generate_series(min(k), max(k), {unit})), '%Y-%m-%dT%H:%M:%SZ') "
        f"FROM (SELECT {dimension.key} AS k FROM {table.source})"
    ).fetchall()
    return tuple(row[0] for row in rows)


def quartiles(
    connection: duckdb.DuckDBPyConnection, table: Table, scale: Scale | None, used: Measure
) -> tuple[list[dict[str, Any]], int]:
    """Median, quartiles, and whiskers to the last value within 1.5 times the quartiles' distance, per place."""
    place, join, key = "0", "", "NULL"
    if scale is not None:
        key = scale.dimension.key
        place = f"coalesce(d.p, {OTHER})"
        join = _join(scale, "k", "d")
    rows = connection.execute(
        f"WITH placed AS (SELECT {place} AS p, m FROM "
        f"(SELECT {key} AS k, {used.operand} AS m FROM {table.source}) AS base {join} WHERE m IS NOT NULL), "
        "boxes AS (SELECT p, count(*) AS n, quantile_cont(m, [0.25, 0.5, 0.75]) AS q FROM placed GROUP BY p) "
        "SELECT boxes.p, any_value(n), any_value(q[1]), any_value(q[2]), any_value(q[3]), "
        "  min(m) FILTER (WHERE m >= q[1] - 1.5 * (q[3] - q[1])), "
        "  max(m) FILTER (WHERE m <= q[3] + 1.5 * (q[3] - q[1])), "
        "  count(*) FILTER (WHERE m < q[1] - 1.5 * (q[3] - q[1]) OR m > q[3] + 1.5 * (q[3] - q[1])) "
        "FROM placed JOIN boxes USING (p) GROUP BY boxes.p ORDER BY boxes.p"
    ).fetchall()
    names = {one.position: one.label for one in scale.places} if scale else {0: ""}
    values = [
        {
            "position": row[0],
            "x": names[row[0]],
            "rows": row[1],
            "q1": row[2],
            "median": row[3],
            "q3": row[4],
            "low": min(row[5], row[2]),
            "high": max(row[6], row[4]),
        }
        for row in rows
    ]
    return values, sum(row[7] for row in rows)


def _join(scale: Scale, key: str, alias: str) -> str:
    """The named places of a category as a small table to join with.

    Keys are literals: for any parameter at all, DuckDB's Python package would import pandas and PyArrow.
    """
    named = [place for place in scale.places if place.position != OTHER]
    rows = ", ".join(f"({_key_literal(place.key)}, {place.position})" for place in named)
    return (
        f"LEFT JOIN (SELECT CAST(k AS VARCHAR) AS k, p FROM (VALUES {rows or '(NULL, NULL)'}) AS places(k, p)) "
        f"AS {alias} ON base.{key} IS NOT DISTINCT FROM {alias}.k"
    )


def _key_literal(key: str | None) -> str:
    return "NULL" if key is None else literal(key)


def _joined(scale: Scale, alias: str) -> str:
    index = alias[1:]
    if scale.dimension.kind == "category":
        return f"coalesce({alias}.p, {OTHER})"
    if scale.dimension.kind == "time":
        return f"strftime(base.k{index}, '%Y-%m-%dT%H:%M:%SZ')"
    return f"base.k{index}"
