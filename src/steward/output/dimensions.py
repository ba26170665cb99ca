"""The places of a chart's axis: categories, spans of time or classes of numbers, as SQL keys and as labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import duckdb

from steward.core import Invalid, Problem
from steward.output.formats import INTEGER_TYPES, TEMPORAL_TYPES, is_numeric_type
from steward.output.requests import TIME_UNITS, TimeUnit
from steward.tables import Column, Table, quote

NO_VALUE = "(no value)"
_LABEL_LENGTH = 60
_FINEST = 1e-290
_SECONDS: dict[TimeUnit, float] = {
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_746,
    "quarter": 7_889_238,
    "year": 31_556_952,
}


@dataclass(frozen=True)
class Dimension:
    """One column cut into places; `key` is the SQL that says in which place a row is."""

    column: Column
    kind: Literal["category", "time", "bins"]
    key: str
    unit: TimeUnit | None = None
    start: Decimal = Decimal(0)
    step: Decimal = Decimal(1)
    note: str | None = None
    last: int | None = None
    """The last class, which includes its upper edge; None where every class leaves its upper edge out."""

    def edge(self, index: int) -> float:
        return float(self.start + self.step * index)


def find(table: Table, name: str, pointer: str) -> Column:
    for column in table.columns:
        if column.name == name:
            return column
    known = ", ".join(table.column_names[:20])
    message = f"{table.name} has no column {name[:100]!r}; it has {known or 'no columns'}."
    raise Invalid(message, code="unknown-column", problems=[Problem(pointer, message)])


def is_temporal(column: Column) -> bool:
    return column.type.upper() in TEMPORAL_TYPES


def is_number(column: Column) -> bool:
    return is_numeric_type(column.type)


def is_integer(column: Column) -> bool:
    return column.type.upper() in INTEGER_TYPES


def number_sql(column: Column) -> str:
    """The column as a finite DOUBLE, or null."""
    name = quote(column.name)
    if column.type.upper() in {"DOUBLE", "FLOAT"}:
        return f"(CASE WHEN isfinite({name}) THEN CAST({name} AS DOUBLE) END)"
    return f"CAST({name} AS DOUBLE)"


def moment_sql(column: Column) -> str:
    """The column as a TIMESTAMP of the years that calendars and JSON know, or null."""
    name = quote(column.name)
    if column.type.upper() == "TIMESTAMP WITH TIME ZONE":
        plain = f"({name} AT TIME ZONE 'UTC')"
    else:
        plain = f"CAST({name} AS TIMESTAMP)"
    return (
        f"(CASE WHEN isfinite({name}) AND {plain} BETWEEN TIMESTAMP '0001-01-01' "
        f"AND TIMESTAMP '9999-12-31' THEN {plain} END)"
    )


def category(column: Column) -> Dimension:
    """Every value is a place; a long text is cut, with a fingerprint so that it stays distinct."""
    text = f"CAST({quote(column.name)} AS VARCHAR)"
    key = (
        f"(CASE WHEN length({text}) <= 200 THEN {text} "
        f"ELSE left({text}, 180) || '… ' || left(md5({text}), 8) END)"
    )
    return Dimension(column, "category", key)


def by_time(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    column: Column,
    wanted: TimeUnit | None,
    *,
    pleasant: int,
    most: int,
) -> Dimension:
    """Spans of time: the unit asked for, or the finest with a pleasant number of spans; never over `most`."""
    moment = moment_sql(column)
    found = connection.execute(
        f"SELECT epoch(max(moment)) - epoch(min(moment)) FROM (SELECT {moment} AS moment FROM {table.source})"
    ).fetchone()
    seconds = float(found[0] or 0) if found else 0.0
    finest: TimeUnit = "day" if column.type.upper() == "DATE" else "minute"
    allowed = TIME_UNITS[TIME_UNITS.index(finest) :]
    unit = wanted or _finest(allowed, seconds, pleasant)
    # Two spare: months and years differ in length, and both ends may be partial.
    bearable = _finest(TIME_UNITS, seconds, max(1, most - 2))
    note = None
    if TIME_UNITS.index(bearable) > TIME_UNITS.index(unit):
        note = f"Grouped by {bearable} because by {unit} there would be more than {most} points."
        unit = bearable
    return Dimension(column, "time", f"date_trunc('{unit}', {moment})", unit=unit, note=note)


def by_bins(
    connection: duckdb.DuckDBPyConnection, table: Table, column: Column, wanted: int
) -> Dimension:
    """Classes of equal, round width that cover every finite value."""
    value = number_sql(column)
    found = connection.execute(
        f"SELECT min(value), max(value) FROM (SELECT {value} AS value FROM {table.source})"
    ).fetchone()
    low, high = found if found is not None and found[0] is not None else (0.0, 1.0)
    whole = is_integer(column) or (float(low).is_integer() and low == high)
    step = _round_step(float(low), float(high), wanted, whole=whole)
    start = (_exact(low) / step).to_integral_value("ROUND_FLOOR") * step
    # The quotient is rounded first: 0.3 / 0.1 is a hair below 3 in floating point.
    key = f"CAST(floor(round(({value} - {start!s}) / {step!s}, 9)) AS BIGINT)"
    if whole and step == 1:
        return Dimension(column, "bins", key, start=start, step=step)
    last = max(0, int(((_exact(high) - start) / step).to_integral_value("ROUND_CEILING")) - 1)
    # Not least(): it would put rows without a value into the last class.
    key = f"(CASE WHEN {key} > {last} THEN {last} ELSE {key} END)"
    return Dimension(column, "bins", key, start=start, step=step, last=last)


def labels(keys: Sequence[str | None]) -> tuple[str, ...]:
    """Short texts for keys, all different, safe to draw: no control characters, bounded length."""
    taken: set[str] = set()
    result = []
    for key in keys:
        short = NO_VALUE if key is None else _drawable(key)
        label, count = short, 1
        while label in taken:
            count += 1
            label = f"{short} ({count})"
        taken.add(label)
        result.append(label)
    return tuple(result)


def _drawable(key: str) -> str:
    shown = "".join(char if char.isprintable() else "␣" for char in key)
    if not shown.strip():
        return "(blank)"
    return shown if len(shown) <= _LABEL_LENGTH else shown[: _LABEL_LENGTH - 1] + "…"


def _finest(units: Sequence[TimeUnit], seconds: float, most: int) -> TimeUnit:
    for unit in units:
        # A span that starts mid-unit touches one unit more than its length says.
        if seconds / _SECONDS[unit] + 1 <= most:
            return unit
    return "year"


def _round_step(low: float, high: float, wanted: int, *, whole: bool) -> Decimal:
    span = high - low
    if not math.isfinite(span):
        raise Invalid("The values span more than a number can say; filter the extremes first.")
    if span <= 0:
        tiny = whole or abs(low) < _FINEST
        return Decimal(1) if tiny else _power(math.floor(math.log10(abs(low))) - 1)
    # Floating numbers end at about 1e-308; classes are never finer than what a chart can be told.
    rough = max(span / wanted, _FINEST)
    base = _power(math.floor(math.log10(rough)))
    step = next(
        base * factor
        for factor in (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
        if float(base * factor) >= rough * 0.999_999
    )
    if whole and step < 1:
        return Decimal(1)
    return Decimal(3) if whole and step == Decimal("2.5") else step


def _exact(value: float) -> Decimal:
    return Decimal(repr(float(value)))


def _power(exponent: int) -> Decimal:
    return Decimal(1).scaleb(exponent)
