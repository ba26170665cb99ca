"""A change before it happens: the SELECT that yields the new table, what it does and where it comes from."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import duckdb

from steward.core import Invalid
from steward.tables.table import Column, Table, describe, quote

MAX_PAGE = 1_000


@dataclass(frozen=True)
class ColumnLineage:
    """Where one column of the result comes from; `inputs` are pairs of table and column."""

    output: str
    inputs: tuple[tuple[str, str], ...]
    transformation: str


@dataclass(frozen=True)
class Change:
    """A plan that writes nothing: whoever holds the versions commits the rows that `sql` yields.

    `sql` reads the inputs by their `source` only and keeps their row order. `cells_sql`, where there is one,
    yields `row` (position in the first input, from 1), `column`, `old` and `new` as text, in row order; a row
    that disappears has no `column` and its whole content in `old`. `leftovers_sql` lists, in the same shape with
    `new` empty, the values that the operation could not convert and therefore left as they were.
    `variables` names DuckDB session variables that must be set before `sql` runs (see `redact.unlock`).
    """

    operation: str
    arguments: dict[str, Any]
    sql: str
    inputs: tuple[Table, ...]
    columns: tuple[Column, ...]
    lineage: tuple[ColumnLineage, ...]
    summary: str
    counts: dict[str, int] = field(default_factory=dict)
    cells_sql: str | None = None
    leftovers_sql: str | None = None
    variables: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    row: int
    column: str | None
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Preview:
    """The first rows of the result, every value as text or null."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]


def preview(connection: duckdb.DuckDBPyConnection, change: Change, limit: int = 50) -> Preview:
    texts = ", ".join(f"CAST({quote(column.name)} AS VARCHAR)" for column in change.columns)
    rows = connection.execute(
        f"SELECT {texts} FROM ({change.sql}) LIMIT {_bounded(limit)}"
    ).fetchall()
    return Preview(columns=change.columns, rows=tuple(tuple(row) for row in rows))


def changed_cells(
    connection: duckdb.DuckDBPyConnection, change: Change, limit: int = 100, offset: int = 0
) -> tuple[Cell, ...]:
    return _cells(connection, change.cells_sql, limit, offset)


def leftovers(
    connection: duckdb.DuckDBPyConnection, change: Change, limit: int = 100, offset: int = 0
) -> tuple[Cell, ...]:
    return _cells(connection, change.leftovers_sql, limit, offset)


def result_columns(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Column, ...]:
    """The columns a SELECT yields, without running it."""
    return describe(connection, f"({sql})")


def unchanged(table: Table, names: Sequence[str] | None = None) -> tuple[ColumnLineage, ...]:
    """Lineage of columns that pass through as they are."""
    kept = table.column_names if names is None else names
    return tuple(ColumnLineage(name, ((table.name, name),), "unchanged") for name in kept)


def _cells(
    connection: duckdb.DuckDBPyConnection, sql: str | None, limit: int, offset: int
) -> tuple[Cell, ...]:
    if sql is None:
        return ()
    if offset < 0:
        raise Invalid(f"A page starts at row 0 or later, not at {offset}.")
    page = f'SELECT "row", "column", "old", "new" FROM ({sql}) LIMIT {_bounded(limit)} OFFSET {offset:d}'
    return tuple(Cell(*row) for row in connection.execute(page).fetchall())


def _bounded(limit: int) -> int:
    if not 1 <= limit <= MAX_PAGE:
        raise Invalid(f"A page holds 1 to {MAX_PAGE} rows, not {limit}.")
    return limit
