"""Pages of rows: sorted and filtered by DuckDB, every value as exact text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from steward.core import Invalid, Problem
from steward.tables import Column, Table, literal, quote

Operator = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "starts", "empty", "filled"]
MAX_LIMIT = 1000
_COMPARE = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True)
class Filter:
    column: str
    operator: Operator
    value: str = ""


@dataclass(frozen=True)
class Sort:
    column: str
    descending: bool = False


@dataclass(frozen=True)
class RowPage:
    columns: tuple[Column, ...]
    rows: list[list[str | None]]
    offset: int
    total: int
    """Rows that pass the filters."""


def read_page(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    *,
    offset: int,
    limit: int,
    filters: Sequence[Filter] = (),
    sort: Sequence[Sort] = (),
) -> RowPage:
    types = {column.name: column.type for column in table.columns}
    conditions = [_condition(wanted, types, number) for number, wanted in enumerate(filters)]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    order = ", ".join(_order(item, types, number) for number, item in enumerate(sort))
    ordered = f" ORDER BY {order}" if order else ""
    total = table.rows
    if total is None or conditions:
        counted = connection.execute(f"SELECT count(*) FROM {table.source}{where}").fetchone()
        total = int(counted[0]) if counted else 0
    texts = ", ".join(f"CAST({quote(column.name)} AS VARCHAR)" for column in table.columns)
    rows = connection.execute(
        f"SELECT {texts} FROM {table.source}{where}{ordered} LIMIT {limit:d} OFFSET {offset:d}"
    ).fetchall()
    return RowPage(table.columns, [list(row) for row in rows], offset, total)


def read_values(
    connection: duckdb.DuckDBPyConnection, table: Table, column: str, text: str, limit: int
) -> list[tuple[str, int]]:
    """Different values of a column that contain a text, with how many rows have each; the most frequent first."""
    types = {each.name: each.type for each in table.columns}
    name = _known(column, types, "/column")
    contained = f"AND {_condition(Filter(column, 'contains', text), types, 0)}" if text else ""
    found = connection.execute(
        f"SELECT CAST({name} AS VARCHAR), count(*) FROM {table.source} WHERE {name} IS NOT NULL {contained} "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {limit:d}"
    ).fetchall()
    return [(str(value), int(count)) for value, count in found]


def _condition(wanted: Filter, types: dict[str, str], number: int) -> str:
    column = _known(wanted.column, types, f"/filter/{number}/column")
    # Literals, not parameters: binding one makes DuckDB's client load pandas and Arrow into the server.
    value = literal(wanted.value)
    if wanted.operator == "empty":
        return f"({column} IS NULL OR CAST({column} AS VARCHAR) = '')"
    if wanted.operator == "filled":
        return f"({column} IS NOT NULL AND CAST({column} AS VARCHAR) <> '')"
    if wanted.operator == "contains":
        return f"contains(lower(CAST({column} AS VARCHAR)), lower({value}))"
    if wanted.operator == "starts":
        return f"starts_with(lower(CAST({column} AS VARCHAR)), lower({value}))"
    # A value that is none of the column's type matches nothing, and says so by an empty page.
    return f"{column} {_COMPARE[wanted.operator]} TRY_CAST({value} AS {types[wanted.column]})"


def _order(item: Sort, types: dict[str, str], number: int) -> str:
    column = _known(item.column, types, f"/sort/{number}")
    return f"{column} {'DESC' if item.descending else 'ASC'} NULLS LAST"


def _known(name: str, types: dict[str, str], pointer: str) -> str:
    if name not in types:
        message = f"There is no column {name[:80]!r}. Columns are: {', '.join(list(types)[:30])}."
        raise Invalid(message, problems=[Problem(pointer, message)])
    return quote(name)
