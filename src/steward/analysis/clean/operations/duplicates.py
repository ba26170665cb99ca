"""Rows that occur more than once."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import check_columns
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.consolidate.naming import Names
from steward.tables import Change, Table, quote, unchanged


class DropDuplicates(Arguments):
    columns: list[str] | None = Field(
        None, min_length=1, description="Columns that make rows equal; all of them when left out."
    )
    keep: Literal["first", "last"] = Field("first", description="Which of the equal rows stays.")


@operation("drop_duplicates", "Remove duplicate rows", DropDuplicates)
def drop_duplicates(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: DropDuplicates
) -> Change:
    """Removes rows that equal another one, exactly and in the order of the table; missing values count as equal."""
    columns = arguments.columns or list(table.column_names)
    check_columns(table, columns)
    names = Names(table.column_names)
    row, rank = quote(names.take("steward_row")), quote(names.take("steward_rank"))
    same = ", ".join(quote(name) for name in columns)
    order = row if arguments.keep == "first" else f"{row} DESC"
    ranked = (
        f"(SELECT *, row_number() OVER (PARTITION BY {same} ORDER BY {order}) AS {rank} "
        f"FROM (SELECT *, row_number() OVER () AS {row} FROM {table.source}))"
    )
    kept = ", ".join(quote(name) for name in table.column_names)
    sql = f"SELECT {kept} FROM {ranked} WHERE {rank} = 1 ORDER BY {row}"
    content = ", ".join(f"{quote(name)} := {quote(name)}" for name in table.column_names)
    counted = connection.execute(
        f"SELECT count(*), count(*) FILTER ({rank} > 1) FROM {ranked}"
    ).fetchone()
    rows, removed = (int(number) for number in counted or (0, 0))
    by = "all columns" if arguments.columns is None else ", ".join(repr(name) for name in columns)
    return Change(
        operation="drop_duplicates",
        arguments=arguments.model_dump(mode="json"),
        sql=sql,
        inputs=(table,),
        columns=table.columns,
        lineage=unchanged(table),
        summary=f"Removes {removed:,} of {rows:,} rows that equal another one in {by}; the {arguments.keep} stays.",
        counts={"rows": rows - removed, "removed_rows": removed, "changed_cells": 0},
        cells_sql=(
            f'SELECT {row} AS "row", CAST(NULL AS VARCHAR) AS "column", '
            f'CAST(to_json(struct_pack({content})) AS VARCHAR) AS "old", CAST(NULL AS VARCHAR) AS "new" '
            f"FROM {ranked} WHERE {rank} > 1 ORDER BY {row}"
        ),
    )
