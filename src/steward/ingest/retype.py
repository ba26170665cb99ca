"""Gives a column of a loaded table another type, and says first which values would not fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import duckdb

from steward.core import Invalid, NotFound
from steward.ingest.readings import Reading, declared_reading, fits_sql, value_sql
from steward.tables import Change, ColumnLineage, Table, literal, quote

Misfits = Literal["refuse", "null"]


@dataclass(frozen=True)
class _Wish:
    """A column's text and how it is to be read."""

    text: str
    reading: Reading
    fits: str


def retype_sql(
    table: Table,
    column: str,
    type: str,  # noqa: A002 - the word people use
    format: str | None = None,  # noqa: A002
    *,
    decimal_mark: str | None = None,
    thousands: str | None = None,
    null_markers: Sequence[str] = (),
    misfits: Misfits = "refuse",
) -> tuple[str, str]:
    """The SELECT with the new type, and the query that counts the values that do not fit.

    A value that does not fit fails the SELECT, or becomes null if `misfits` says so.
    """
    wish = _wish(table, column, type, format, decimal_mark, thousands, null_markers)
    message = literal(f"A value of {column!r} does not read as {wish.reading.type}.")
    otherwise = f"error({message})" if misfits == "refuse" else "NULL"
    value = (
        f"CASE WHEN {wish.text} IS NULL THEN NULL WHEN {wish.fits} "
        f"THEN {value_sql(wish.reading, wish.text)} ELSE {otherwise} END"
    )
    cells = ", ".join(
        f"{value} AS {quote(name)}" if name == column else quote(name)
        for name in table.column_names
    )
    return (
        f"SELECT {cells} FROM {table.source}",
        f"SELECT count(*) FROM {table.source} WHERE {_failing(wish)}",
    )


def retype(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    column: str,
    type: str,  # noqa: A002
    format: str | None = None,  # noqa: A002
    *,
    decimal_mark: str | None = None,
    thousands: str | None = None,
    null_markers: Sequence[str] = (),
    misfits: Misfits = "refuse",
) -> Change:
    """The change of a column's type, refused where values do not fit and were not given up."""
    wish = _wish(table, column, type, format, decimal_mark, thousands, null_markers)
    sql, counting = retype_sql(
        table,
        column,
        type,
        format,
        decimal_mark=decimal_mark,
        thousands=thousands,
        null_markers=null_markers,
        misfits=misfits,
    )
    row = connection.execute(counting).fetchone()
    failing = int(row[0]) if row else 0
    kind = wish.reading.type
    if failing and misfits == "refuse":
        raise Invalid(
            f"{failing} values of {column!r} do not read as {kind}; correct them first, or let "
            "them become null.",
            code="values-do-not-fit",
        )
    cell = quote(column)
    cells = (
        f'SELECT row_number() OVER () AS "row", {literal(column)} AS "column", '
        f'CAST({cell} AS VARCHAR) AS "old", NULL AS "new", ({_failing(wish)}) AS failing '
        f"FROM {table.source}"
    )
    arguments = {
        "column": column,
        "type": kind,
        "format": format,
        "decimal_mark": decimal_mark,
        "thousands": thousands,
        "null_markers": list(null_markers),
        "misfits": misfits,
    }
    lost = f"; {failing} values that do not fit become null" if failing else ""
    return Change(
        operation="retype",
        arguments=arguments,
        sql=sql,
        inputs=(table,),
        columns=tuple(
            replace(known, type=kind) if known.name == column else known for known in table.columns
        ),
        lineage=tuple(
            ColumnLineage(
                name, ((table.name, name),), f"read as {kind}" if name == column else "unchanged"
            )
            for name in table.column_names
        ),
        summary=f"Reads {column!r} of {table.name!r} as {kind}{lost}.",
        counts={"values_that_do_not_fit": failing},
        cells_sql=(
            f'SELECT "row", "column", "old", "new" FROM ({cells}) WHERE failing ORDER BY "row"'
        ),
    )


def _wish(
    table: Table,
    column: str,
    type_name: str,
    known: str | None,
    decimal_mark: str | None,
    thousands: str | None,
    null_markers: Sequence[str],
) -> _Wish:
    if column not in table.column_names:
        raise NotFound(
            f"There is no column {column!r} in {table.name!r}; "
            f"it has {', '.join(table.column_names[:20])}."
        )
    reading = declared_reading(type_name, known, decimal_mark, thousands)
    text = f"CAST({quote(column)} AS VARCHAR)"
    if reading.type != "VARCHAR":
        text = f"nullif({text}, '')"
    if null_markers:
        listed = ", ".join(literal(marker) for marker in null_markers)
        text = f"(CASE WHEN {text} IN ({listed}) THEN NULL ELSE {text} END)"
    return _Wish(text, reading, fits_sql(reading, text))


def _failing(wish: _Wish) -> str:
    return f"{wish.text} IS NOT NULL AND NOT {wish.fits}"
