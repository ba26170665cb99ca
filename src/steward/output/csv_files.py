"""CSV files written by DuckDB, exact by default, or made safe for people who open them in a spreadsheet."""

from pathlib import Path
from typing import Any, Literal

import duckdb

from steward.core import Invalid
from steward.tables import Column, Table, literal, needs_mark, needs_mark_sql, quote

Delimiter = Literal[",", ";", "\t", "|"]
_FIRST_WIDE = "＋"
"""No dangerous mark in full-width form comes before this one."""


def write_csv(
    path: Path,
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    *,
    spreadsheet_safe: bool,
    delimiter: Delimiter = ",",
) -> int:
    """Write a table in its order. With `spreadsheet_safe`, texts that would run as formulas start with an apostrophe;
    plain numbers such as -12.5 stay as they are. Returns how many rows there are."""
    if not table.columns:
        raise Invalid("A table without columns cannot be written as CSV.")
    names = [_header(column.name, safe=spreadsheet_safe) for column in table.columns]
    columns = ", ".join(
        f"{_value(column, safe=spreadsheet_safe)} AS {quote(name)}"
        for column, name in zip(table.columns, _distinct(names), strict=True)
    )
    written = connection.execute(
        f"COPY (SELECT {columns} FROM {table.source}) TO {literal(str(path))} "
        f"(FORMAT csv, HEADER true, DELIMITER {literal(delimiter)}, QUOTE '\"', ESCAPE '\"')"
    ).fetchone()
    return int(written[0]) if written else 0


def spreadsheet_safe(cell: Any) -> Any:
    """One cell with an apostrophe in front if a spreadsheet would run it; for rows that are in no table."""
    return f"'{cell}" if isinstance(cell, str) and needs_mark(cell) else cell


def _value(column: Column, *, safe: bool) -> str:
    name = quote(column.name)
    if not safe or not _is_text(column):
        return name
    text = f"CAST({name} AS VARCHAR)"
    # Most texts begin with a digit or a letter: comparing alone spares them the regular expressions.
    harmless = f"{text} >= 'A' AND {text} < '{_FIRST_WIDE}' OR {text} >= '0' AND {text} < ':'"
    return f"CASE WHEN {harmless} THEN {text} WHEN {needs_mark_sql(text)} THEN '''' || {text} ELSE {text} END"


def _is_text(column: Column) -> bool:
    """Numbers, dates and booleans cannot be formulas; everything else is written as text."""
    kind = column.type.upper()
    plain = (
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "DOUBLE",
        "FLOAT",
        "DECIMAL",
        "BOOLEAN",
    )
    temporal = ("DATE", "TIME", "TIMESTAMP")
    return kind.endswith("]") or not kind.removeprefix("U").startswith(plain + temporal)


def _header(name: str, *, safe: bool) -> str:
    return f"'{name}" if safe and needs_mark(name) else name


def _distinct(names: list[str]) -> list[str]:
    """DuckDB compares column names without case: headers that became equal get an apostrophe more."""
    taken: set[str] = set()
    result = []
    for name in names:
        unique = name
        while unique.lower() in taken:
            unique = f"'{unique}"
        taken.add(unique.lower())
        result.append(unique)
    return result
