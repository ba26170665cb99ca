"""Columns renamed, dropped, cast, split and merged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, check_columns, text_columns, value
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.consolidate.naming import Names
from steward.core import Invalid
from steward.tables import Change, ColumnLineage, Table, literal, quote, result_columns, unchanged

TypeName = Literal[
    "BOOLEAN",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "DOUBLE",
    "DECIMAL(18,2)",
    "DECIMAL(18,4)",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE",
    "UUID",
    "VARCHAR",
]


class RenameColumns(Arguments):
    names: dict[str, str] = Field(min_length=1, description="Old name to new name.")


@operation("rename_columns", "Rename columns", RenameColumns)
def rename_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: RenameColumns
) -> Change:
    """Gives columns other names; values and order stay. Names must differ in more than their case."""
    check_columns(table, list(arguments.names))
    outputs = {name: arguments.names.get(name, name) for name in table.column_names}
    _check_new_names(list(outputs.values()))
    renamed = ", ".join(f"{old!r} to {new!r}" for old, new in arguments.names.items())
    lineage = [
        ColumnLineage(
            new, ((table.name, old),), "unchanged" if old == new else f"renamed from {old}"
        )
        for old, new in outputs.items()
    ]
    terms = [f"{quote(old)} AS {quote(new)}" for old, new in outputs.items()]
    return _columns_change(
        connection, table, "rename_columns", arguments, terms, lineage, f"Renames {renamed}."
    )


class DropColumns(Arguments):
    columns: list[str] = Field(min_length=1)


@operation("drop_columns", "Remove columns", DropColumns)
def drop_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: DropColumns
) -> Change:
    """Removes columns with all their values."""
    check_columns(table, arguments.columns)
    kept = [name for name in table.column_names if name not in arguments.columns]
    if not kept:
        raise Invalid("All columns would go; keep at least one.")
    said = f"Removes {', '.join(repr(name) for name in dict.fromkeys(arguments.columns))}."
    terms = [quote(name) for name in kept]
    lineage = unchanged(table, kept)
    return _columns_change(connection, table, "drop_columns", arguments, terms, lineage, said)


class CastColumns(Arguments):
    types: dict[str, TypeName] = Field(min_length=1, description="Column to type.")
    on_failure: Literal["refuse", "empty"] = Field(
        "refuse", description="empty: values that do not fit become missing, and are listed."
    )


@operation("cast_columns", "Change types", CastColumns)
def cast_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: CastColumns
) -> Change:
    """Changes the types of columns. Values that do not fit refuse the change, or, when asked, are emptied and listed."""
    check_columns(table, list(arguments.types))
    edits = []
    for name, target in arguments.types.items():
        converted = f"TRY_CAST({value(name)} AS {target})"
        failed = f"{value(name)} IS NOT NULL AND {converted} IS NULL"
        edits.append(Edit(name, converted, f"cast to {target}", failed))
    change = cell_change(connection, table, "cast_columns", arguments, edits, "Changes types")
    failures = change.counts["unconverted_cells"]
    if failures and arguments.on_failure == "refuse":
        raise Invalid(
            f"{failures:,} values do not fit their new type. Clean them first (parse_dates, parse_numbers, "
            "null_markers), or say on_failure 'empty' to lose them knowingly."
        )
    return change


class SplitColumn(Arguments):
    column: str
    separator: str = Field(min_length=1, description="What stands between the parts, literally.")
    into: list[str] = Field(min_length=2, max_length=50, description="Names of the new columns.")
    keep: bool = Field(False, description="Keep the old column beside the new ones.")


@operation("split_column", "Split a column", SplitColumn)
def split_column(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: SplitColumn
) -> Change:
    """Splits texts at a separator. The last new column takes all that is left, so nothing is lost; parts that are
    not there are missing values."""
    (name,) = text_columns(table, [arguments.column])
    parts = f"string_split({quote(name)}, {literal(arguments.separator)})"
    last = len(arguments.into)
    new = {
        into: f"{parts}[{index}]"
        if index < last
        else f"CASE WHEN len({parts}) >= {last} "
        f"THEN array_to_string({parts}[{last}:], {literal(arguments.separator)}) END"
        for index, into in enumerate(arguments.into, 1)
    }
    counted = connection.execute(
        f"SELECT count(*) FILTER (len({parts}) < {last}), count(*) FILTER (len({parts}) > {last}) FROM {table.source}"
    ).fetchone()
    fewer, more = (int(number) for number in counted or (0, 0))
    said = f"Splits {name!r} into {', '.join(repr(each) for each in arguments.into)}; {fewer:,} values have fewer parts, {more:,} have more."
    return _rebuilt(
        connection,
        table,
        "split_column",
        arguments,
        [name],
        new,
        said,
        {"fewer": fewer, "more": more},
    )


class MergeColumns(Arguments):
    columns: list[str] = Field(min_length=2, max_length=50, description="Columns, in this order.")
    into: str = Field(min_length=1, description="Name of the new column.")
    separator: str = " "
    keep: bool = Field(False, description="Keep the old columns beside the new one.")


@operation("merge_columns", "Merge columns", MergeColumns)
def merge_columns(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: MergeColumns
) -> Change:
    """Puts the values of several columns into one text, with a separator between those that are there."""
    check_columns(table, arguments.columns)
    texts = ", ".join(f"CAST({quote(name)} AS VARCHAR)" for name in arguments.columns)
    some = " OR ".join(f"{quote(name)} IS NOT NULL" for name in arguments.columns)
    merged = f"CASE WHEN {some} THEN concat_ws({literal(arguments.separator)}, {texts}) END"
    said = f"Merges {', '.join(repr(name) for name in arguments.columns)} into {arguments.into!r}."
    return _rebuilt(
        connection,
        table,
        "merge_columns",
        arguments,
        arguments.columns,
        {arguments.into: merged},
        said,
        {},
    )


def _rebuilt(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    operation_name: str,
    arguments: SplitColumn | MergeColumns,
    sources: Sequence[str],
    new: Mapping[str, str],
    summary: str,
    counts: dict[str, int],
) -> Change:
    """New columns in the place of the old ones, or after them where those are kept."""
    place = min(table.column_names.index(name) for name in sources)
    inputs = tuple((table.name, name) for name in dict.fromkeys(sources))
    terms: list[str] = []
    lineage: list[ColumnLineage] = []
    names: list[str] = []
    for index, name in enumerate(table.column_names):
        if arguments.keep or name not in sources:
            terms.append(quote(name))
            names.append(name)
            lineage.extend(unchanged(table, [name]))
        if index == place:
            terms.extend(f"{expression} AS {quote(into)}" for into, expression in new.items())
            names.extend(new)
            lineage.extend(ColumnLineage(into, inputs, operation_name) for into in new)
    _check_new_names(names)
    change = _columns_change(connection, table, operation_name, arguments, terms, lineage, summary)
    return replace(change, counts=change.counts | counts)


def _columns_change(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    operation_name: str,
    arguments: Arguments,
    terms: Sequence[str],
    lineage: Sequence[ColumnLineage],
    summary: str,
) -> Change:
    sql = f"SELECT {', '.join(terms)} FROM {table.source}"
    return Change(
        operation=operation_name,
        arguments=arguments.model_dump(mode="json"),
        sql=sql,
        inputs=(table,),
        columns=result_columns(connection, sql),
        lineage=tuple(lineage),
        summary=summary,
        counts={"changed_cells": 0},
    )


def _check_new_names(names: Sequence[str]) -> None:
    taken = Names()
    for name in names:
        if not name.strip():
            raise Invalid("A column needs a name.")
        if name in taken:
            raise Invalid(
                f"There would be two columns called {name!r}; case does not tell them apart."
            )
        taken.take(name)
