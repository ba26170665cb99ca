"""A part of a table's rows, chosen by the hashes of their positions: always the same rows."""

import duckdb

from steward.tables import Table, quote

SAMPLE_TABLE = "steward_sample"


def sample_rows(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    rows: int,
    wanted: int,
    *,
    select: str | None = None,
    name: str = SAMPLE_TABLE,
) -> str:
    """Keeps `wanted` of the table's `rows` in a temporary table; returns its name as SQL.

    `select` may name expressions instead of all columns.
    """
    position = "position"
    while position in {column.casefold() for column in table.column_names}:
        position += "_"
    kept = quote(name)
    # A threshold a little above the share wanted spares sorting all positions.
    share = min(1.0, 1.1 * wanted / max(1, rows) + 1000 / max(1, rows))
    threshold = min(2**64 - 1, int(share * 2**64))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {kept} AS SELECT {select or f'* EXCLUDE ({position})'} "
        f"FROM (SELECT *, row_number() OVER () AS {position} FROM {table.source}) "
        f"WHERE {position} IN (SELECT p FROM (SELECT range + 1 AS p FROM range({rows})) "
        f"WHERE hash(p) <= {threshold} ORDER BY hash(p), p LIMIT {wanted}) ORDER BY {position}"
    )
    return kept
