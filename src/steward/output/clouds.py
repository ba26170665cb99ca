"""Single rows as points: all of them while they are few, a fair sample when they are many."""

import math
from dataclasses import dataclass
from typing import Any

import duckdb

from steward.core import Invalid, Problem
from steward.output import dimensions
from steward.output.aggregate import Measure, Notes, Scale, largest
from steward.output.requests import ChartRequest
from steward.tables import Column, Table


@dataclass(frozen=True)
class Cloud:
    values: list[dict[str, Any]]
    x: Column
    y: Column
    colour: Column | None
    scale: Scale | None
    """The colours, where they are categories; a numeric colour has none."""
    trend: list[dict[str, Any]]


def cloud(
    connection: duckdb.DuckDBPyConnection, table: Table, request: ChartRequest, notes: Notes
) -> Cloud:
    """Points for a scatter plot; the trend is always that of all rows."""
    x = _axis(table, request.x or "", "/x")
    y = _axis(table, request.y or "", "/y")
    colour = dimensions.find(table, request.colour, "/colour") if request.colour else None
    scale = None
    c_sql = "NULL"
    if colour is not None and dimensions.is_number(colour):
        c_sql = dimensions.number_sql(colour)
    elif colour is not None:
        dimension = dimensions.category(colour)
        counted = Measure("count", None, "1")
        scale = largest(connection, table, dimension, counted, request.series_limit, notes)
        c_sql = dimension.key
    x_sql, y_sql = _point_sql(x), _point_sql(y)
    base = (
        f"SELECT {x_sql} AS px, {y_sql} AS py, {c_sql} AS pc, row_number() OVER () AS pn "
        f"FROM {table.source}"
    )
    total, drawn = _counts(connection, base)
    if total - drawn:
        notes.add(f"{notes.rows(total - drawn)} without {x.name} or {y.name} left out.")
    if drawn > request.max_points:
        notes.add(f"A sample of {notes.number(request.max_points)} of {notes.rows(drawn)}.")
    rows = connection.execute(
        f"SELECT {_out(x, 'px')}, {_out(y, 'py')}, pc FROM (SELECT * FROM ({base}) "
        f"WHERE px IS NOT NULL AND py IS NOT NULL ORDER BY hash(pn), pn LIMIT {request.max_points}) ORDER BY pn"
    ).fetchall()
    names = {place.key: place.label for place in scale.places if place.position} if scale else {}
    rest = scale.places[-1].label if scale and scale.folded else ""
    values = []
    for row in rows:
        point = {"x": row[0], "y": row[1]}
        if colour is not None:
            point["series"] = names.get(row[2], rest) if scale else row[2]
        values.append(point)
    trend = _trend(connection, base, x, y, notes) if request.trend else []
    return Cloud(values, x, y, colour, scale, trend)


def _axis(table: Table, name: str, pointer: str) -> Column:
    column = dimensions.find(table, name, pointer)
    if dimensions.is_number(column) or dimensions.is_temporal(column):
        return column
    message = f"{name} is {column.type}; a scatter plot needs numbers or dates on both axes."
    raise Invalid(message, code="not-a-number", problems=[Problem(pointer, message)])


def _point_sql(column: Column) -> str:
    if dimensions.is_temporal(column):
        return dimensions.moment_sql(column)
    return dimensions.number_sql(column)


def _out(column: Column, alias: str) -> str:
    if dimensions.is_temporal(column):
        return f"strftime({alias}, '%Y-%m-%dT%H:%M:%S.%gZ')"
    return alias


def _counts(connection: duckdb.DuckDBPyConnection, base: str) -> tuple[int, int]:
    found = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE px IS NOT NULL AND py IS NOT NULL) FROM ({base})"
    ).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def _trend(
    connection: duckdb.DuckDBPyConnection, base: str, x: Column, y: Column, notes: Notes
) -> list[dict[str, Any]]:
    if dimensions.is_temporal(x) or dimensions.is_temporal(y):
        raise Invalid("A trend line needs numbers on both axes.", code="not-a-number")
    found = connection.execute(
        "SELECT regr_slope(py, px), regr_intercept(py, px), regr_r2(py, px), min(px), max(px) "
        f"FROM ({base}) WHERE px IS NOT NULL AND py IS NOT NULL"
    ).fetchone()
    if found is None or any(value is None or math.isnan(value) for value in found):
        notes.add("No trend line: the values do not vary.")
        return []
    slope, intercept, fit, low, high = (float(value) for value in found)
    notes.add(f"Trend over all rows, R² {fit:.2f}.")
    return [{"x": at, "y": round(intercept + slope * at, 12)} for at in (low, high)]
