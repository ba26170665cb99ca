"""Reads the columns as arrays: numbers with their order, categories as codes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from steward.analysis.correlate.results import ColumnRole
from steward.analysis.pii.values import one_row
from steward.analysis.profile.sampling import SAMPLE_TABLE, sample_rows
from steward.analysis.profile.shapes import ColumnKind, reading
from steward.tables import Column, Table, literal, quote

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

ROWS = 100_000
CELLS = 5_000_000
"""Of wide tables fewer rows are read, so that memory stays bounded."""
FEWEST_ROWS = 5_000
CATEGORIES = 50
MOST_CATEGORIES = 1_000
LONGEST_CATEGORY = 200
BINS = 16

_NUMBERS = (ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.MOMENT, ColumnKind.TIME)
_CATEGORIES = (ColumnKind.TEXT, ColumnKind.BOOLEAN)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers; `order` is each value's place among the distinct ones, -1 for none."""

    name: str
    values: Floats
    order: Codes
    bins: Codes
    """Which of a few bins of about equal size a value falls into; -1 for none."""


@dataclass(frozen=True)
class Categories:
    """Codes by falling frequency, -1 for null; the last code is all others if `lumped`."""

    name: str
    codes: Codes
    count: int
    lumped: bool


Loaded = Numbers | Categories


@dataclass(frozen=True)
class Loading:
    columns: tuple[Loaded, ...]
    roles: tuple[ColumnRole, ...]
    rows: int
    used_rows: int


def load(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str] | None
) -> Loading:
    chosen = table.chosen(columns)
    rows = int(one_row(connection, f"SELECT count(*) FROM {table.source}")[0])
    used = min(rows, ROWS, max(FEWEST_ROWS, CELLS // max(1, len(chosen))))
    source = table.source
    try:
        if used < rows:
            listed = ", ".join(quote(column.name) for column in chosen)
            source = sample_rows(connection, table, rows, used, select=listed)
        return _read(connection, source, chosen, rows, used)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {SAMPLE_TABLE}")


def _read(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    columns: Sequence[Column],
    rows: int,
    used: int,
) -> Loading:
    roles: list[ColumnRole] = []
    parts: list[tuple[ColumnRole, str, int, bool]] = []
    for column in columns:
        role, expression, lumped = _role(connection, source, column)
        roles.append(role)
        if expression:
            parts.append((role, expression, role.categories or 0, lumped))
    if not parts:
        return Loading((), tuple(roles), rows, used)
    listed = ", ".join(
        f"{expression} AS c{place}" for place, (_, expression, _, _) in enumerate(parts)
    )
    fetched = connection.execute(f"SELECT {listed} FROM {source}").fetchnumpy()
    loaded: list[Loaded] = []
    for place, (role, _, count, lumped) in enumerate(parts):
        raw = fetched[f"c{place}"]
        if role.role == "number":
            numbers = _numbers(role.name, raw)
            if numbers is None:
                at = roles.index(role)
                roles[at] = ColumnRole(role.name, "left out", "it has one value only", None)
            else:
                loaded.append(numbers)
        else:
            codes = np.asarray(np.ma.filled(raw, 0), dtype=np.int64) - 1
            loaded.append(Categories(role.name, codes, count, lumped))
    return Loading(tuple(loaded), tuple(roles), rows, used)


def _role(
    connection: duckdb.DuckDBPyConnection, source: str, column: Column
) -> tuple[ColumnRole, str | None, bool]:
    """What a column counts as, and the SQL that reads it as such."""
    name = quote(column.name)
    read = reading(column, name)
    if read.kind in _NUMBERS and read.number is not None:
        return ColumnRole(column.name, "number", column.type, None), read.number, False
    if read.kind not in _CATEGORIES:
        return _left_out(column, f"values of type {column.type} have no order and no categories")
    found = connection.execute(
        f"SELECT left({name}::VARCHAR, {LONGEST_CATEGORY + 1}), count(*) AS n FROM {source} "
        f"WHERE {name} IS NOT NULL GROUP BY {name} ORDER BY n DESC, {name} LIMIT {MOST_CATEGORIES + 1}"
    ).fetchall()
    if len(found) < 2:
        return _left_out(column, "it has one value only" if found else "it has no values")
    filled = sum(int(count) for _, count in found)
    if len(found) > MOST_CATEGORIES or len(found) > 0.5 * filled:
        return _left_out(column, "it has too many different values to be categories")
    if any(len(text) > LONGEST_CATEGORY for text, _ in found):
        return _left_out(column, "its texts are too long to be categories")
    lumped = len(found) > CATEGORIES
    kept = [text for text, _ in found[: CATEGORIES - 1 if lumped else CATEGORIES]]
    codes = f"list_position([{', '.join(literal(text) for text in kept)}], {name}::VARCHAR)"
    if lumped:
        codes = f"CASE WHEN {name} IS NOT NULL THEN coalesce({codes}, {CATEGORIES}) END"
    count = len(kept) + lumped
    role = ColumnRole(column.name, "category", f"{len(found)} categories", count)
    return role, codes, lumped


def _left_out(column: Column, reason: str) -> tuple[ColumnRole, None, bool]:
    return ColumnRole(column.name, "left out", reason, None), None, False


def _numbers(name: str, raw: "npt.NDArray[np.float64]") -> Numbers | None:
    values: Floats = np.asarray(np.ma.filled(raw, np.nan), dtype=np.float64)
    filled = np.isfinite(values)
    distinct, places = np.unique(values[filled], return_inverse=True)
    if len(distinct) < 2:
        return None
    order = np.full(len(values), -1, dtype=np.int64)
    order[filled] = places
    bins = np.full(len(values), -1, dtype=np.int64)
    bins[filled] = equal_bins(places, len(distinct))
    return Numbers(name, values, order, bins)


def equal_bins(places: Codes, distinct: int) -> Codes:
    """Bins of about equal size over the ordered values; equal values share a bin.

    As many bins as leave at least five rows per cell when two columns are crossed.
    """
    rows = len(places)
    wanted = max(2, min(BINS, math.isqrt(rows // 5)))
    if distinct <= wanted:
        return places
    upto = np.cumsum(np.bincount(places, minlength=distinct))
    middle = upto - np.diff(upto, prepend=0) / 2
    bins = np.minimum((middle * wanted / rows).astype(np.int64), wanted - 1)
    _, dense = np.unique(bins, return_inverse=True)
    return np.asarray(dense, dtype=np.int64)[places]
