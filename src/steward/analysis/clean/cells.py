"""From new values of some columns to a change: the SELECT, the counts and the list of changed cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.clean.lookups import Lookup
from steward.analysis.clean.registry import Arguments
from steward.analysis.clean.steps import Steps
from steward.analysis.consolidate.naming import fresh
from steward.core import Invalid
from steward.tables import Change, ColumnLineage, Table, literal, quote, result_columns, unchanged


@dataclass(frozen=True)
class Edit:
    """The new value of one column as SQL over the row `s`.

    `failed` is a condition that holds where a value could not be converted and is therefore left as it was.
    """

    column: str
    expression: str
    transformation: str
    failed: str | None = None
    lookup: Lookup | None = None
    """A mapping of values that `expression` uses."""
    leftover: Lookup | None = None
    """A list of values that `failed` uses."""
    steps: Steps | None = None
    """Intermediate values that `expression` and `failed` use."""
    shown: str | None = None
    """The new value as text where its type would print it otherwise: 12 as DECIMAL(18,2) is still 12."""


def value(column: str) -> str:
    """The old value of a column, as `Edit.expression` refers to it."""
    return f"s.{quote(column)}"


def position(table: Table) -> str:
    """The row's position from 1, as `Edit.expression` refers to it."""
    return f"s.{quote(_marker(table))}"


def text_columns(table: Table, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The text columns asked for, or all of them."""
    texts = tuple(column.name for column in table.columns if column.type == "VARCHAR")
    if wanted is None:
        return texts
    check_columns(table, wanted)
    for name in wanted:
        if name not in texts:
            kind = column_type(table, name)
            raise Invalid(
                f"Column {name!r} holds {kind}, not text; this operation changes texts only."
            )
    return tuple(dict.fromkeys(wanted))


def check_columns(table: Table, wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        known = ", ".join(table.column_names[:50])
        raise Invalid(f"Table {table.name!r} has no column {missing[0]!r}. It has: {known}.")


def column_type(table: Table, name: str) -> str:
    return next(column.type for column in table.columns if column.name == name)


def cell_change(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    operation: str,
    arguments: Arguments,
    edits: Sequence[Edit],
    what: str,
    warnings: Sequence[str] = (),
) -> Change:
    """A change of values that keeps all rows and columns; `what` says in words what is done."""
    by_column = {edit.column: edit for edit in edits}
    terms = [
        f"{by_column[name].expression} AS {quote(name)}"
        if name in by_column
        else f"s.{quote(name)}"
        for name in table.column_names
    ]
    sql = f"SELECT {', '.join(terms)} FROM {_from(table, edits)}{_order(table, edits)}"
    columns = result_columns(connection, sql)
    new_types = {column.name: column.type for column in columns}
    retyped = {
        edit.column for edit in edits if new_types[edit.column] != column_type(table, edit.column)
    }
    counts = _counts(connection, table, edits, retyped)
    changed, left = sum(changed for changed, _ in counts), sum(failed for _, failed in counts)
    lineage = tuple(
        ColumnLineage(each.output, each.inputs, by_column[each.output].transformation)
        if each.output in by_column
        else each
        for each in unchanged(table)
    )
    return Change(
        operation=operation,
        arguments=arguments.model_dump(mode="json"),
        sql=sql,
        inputs=(table,),
        columns=columns,
        lineage=lineage,
        summary=_summary(what, edits, counts, retyped, new_types),
        counts={"changed_cells": changed, "unconverted_cells": left},
        cells_sql=_cells(table, edits, retyped),
        leftovers_sql=_leftovers(table, edits) if any(edit.failed for edit in edits) else None,
        warnings=tuple(warnings),
    )


def _marker(table: Table) -> str:
    return fresh(table.column_names, "steward_row")


def _from(table: Table, edits: Sequence[Edit]) -> str:
    """The rows as `s`: numbered where the order must be restored or a value depends on it."""
    numbered = _numbered(table, edits)
    rows = _rows(table, edits) if numbered else _stepped(table, edits)
    joins = "".join(f" {edit.lookup.join}" for edit in edits if edit.lookup and edit.lookup.join)
    return f"{rows}{joins}"


def _rows(table: Table, edits: Sequence[Edit]) -> str:
    """The rows with their number. The numbering comes last: it keeps DuckDB from moving a condition on the result
    down through the steps, where it would compute each of them over and over."""
    marker = quote(_marker(table))
    return f"(SELECT s.*, row_number() OVER () AS {marker} FROM {_stepped(table, edits)}) AS s"


def _stepped(table: Table, edits: Sequence[Edit]) -> str:
    rows = f"{table.source} AS s"
    for edit in edits:
        if edit.steps is not None:
            rows = edit.steps.over(rows)
    return rows


def _numbered(table: Table, edits: Sequence[Edit]) -> bool:
    return any(
        (edit.lookup is not None and edit.lookup.join) or position(table) in edit.expression
        for edit in edits
    )


def _order(table: Table, edits: Sequence[Edit]) -> str:
    # A join does not keep the order of rows.
    return f" ORDER BY {position(table)}" if _numbered(table, edits) else ""


def _counts(
    connection: duckdb.DuckDBPyConnection, table: Table, edits: Sequence[Edit], retyped: set[str]
) -> list[tuple[int, int]]:
    """For each edit how many cells it changes and how many it had to leave, in one pass over the rows."""
    if not edits:
        return []
    inner, outer = [], []
    for index, edit in enumerate(edits):
        inner.append(f"{_is_changed(edit, edit.column in retyped)} AS c{index}")
        inner.append(f"{edit.failed or 'FALSE'} AS f{index}")
        outer.append(f"count(*) FILTER (c{index}), count(*) FILTER (f{index})")
    rows = _everything(table, edits)
    if position(table) not in f"{' '.join(inner)}{_joins(edits)}":
        # Numbering takes one thread; nothing asks for it here.
        rows = f"{_stepped(table, edits)}{_joins(edits)}"
    row = connection.execute(
        f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {rows})"
    ).fetchone()
    numbers = [int(number) for number in row or ()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _everything(table: Table, edits: Sequence[Edit]) -> str:
    return f"{_rows(table, edits)}{_joins(edits)}"


def _joins(edits: Sequence[Edit]) -> str:
    return "".join(
        f" {lookup.join}"
        for edit in edits
        for lookup in (edit.lookup, edit.leftover)
        if lookup is not None and lookup.join
    )


def _is_changed(edit: Edit, retyped: bool) -> str:
    if retyped:
        return f"CAST({value(edit.column)} AS VARCHAR) IS DISTINCT FROM {_shown(edit)}"
    return f"{value(edit.column)} IS DISTINCT FROM {edit.expression}"


def _shown(edit: Edit) -> str:
    return edit.shown or f"CAST({edit.expression} AS VARCHAR)"


def _cells(table: Table, edits: Sequence[Edit], retyped: set[str]) -> str | None:
    parts = [
        f'SELECT {position(table)} AS "row", {index} AS part, {literal(edit.column)} AS "column", '
        f'CAST({value(edit.column)} AS VARCHAR) AS "old", {_shown(edit)} AS "new", '
        f"{_is_changed(edit, edit.column in retyped)} AS listed FROM {_everything(table, [edit])}"
        for index, edit in enumerate(edits)
    ]
    return _listing(parts)


def _leftovers(table: Table, edits: Sequence[Edit]) -> str | None:
    parts = [
        f'SELECT {position(table)} AS "row", {index} AS part, {literal(edit.column)} AS "column", '
        f'CAST({value(edit.column)} AS VARCHAR) AS "old", CAST(NULL AS VARCHAR) AS "new", '
        f"({edit.failed}) AS listed FROM {_everything(table, [edit])}"
        for index, edit in enumerate(edits)
        if edit.failed
    ]
    return _listing(parts)


def _listing(parts: Sequence[str]) -> str | None:
    if not parts:
        return None
    return (
        f'SELECT "row", "column", "old", "new" FROM ({" UNION ALL ".join(parts)}) '
        'WHERE listed ORDER BY "row", part'
    )


def _summary(
    what: str,
    edits: Sequence[Edit],
    counts: Sequence[tuple[int, int]],
    retyped: set[str],
    types: dict[str, str],
) -> str:
    said = []
    for edit, (changed, failed) in zip(edits, counts, strict=True):
        if not changed and not failed and edit.column not in retyped:
            continue
        words = f"{changed:,} in {edit.column!r}"
        if edit.column in retyped:
            words += f", which becomes {types[edit.column]}"
        if failed:
            words += f" ({failed:,} could not be converted and stay as they are)"
        said.append(words)
    total = sum(changed for changed, _ in counts)
    listed = f": {'; '.join(said)}" if said else ""
    return f"{what}: {total:,} cells change{listed}."
