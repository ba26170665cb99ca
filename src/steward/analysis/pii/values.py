"""What the detectors read: the values of one column as text, each with the rows that hold it."""

from dataclasses import dataclass
from typing import Any

import duckdb

from steward.core import Bug
from steward.tables import Column, Table, quote

SAMPLE = 1_000
"""Distinct values that are looked at one by one; more are counted by SQL."""

CHARACTERS = 2_000
"""Of a longer value only the beginning leaves the database."""


@dataclass(frozen=True)
class Values:
    """`source` is a FROM item with the columns v (text) and n (rows), without nulls.

    `v` may repeat; `distinct` is an estimate and only decides how thinly values are sampled.
    """

    source: str
    distinct: int


@dataclass(frozen=True)
class Sample:
    """Distinct values with their rows, sorted; `complete` when there are no others."""

    values: tuple[tuple[str, int], ...]
    complete: bool


def one_row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    """The row of an aggregate without GROUP BY, which always has exactly one."""
    row: tuple[Any, ...] | None = connection.execute(sql).fetchone()
    if row is None:
        raise Bug("An aggregate returned no row; the statement is not an aggregate.")
    return row


def column_values(table: Table, column: Column, distinct: int) -> Values:
    name = quote(column.name)
    return Values(
        f"(SELECT {name}::VARCHAR AS v, 1 AS n FROM {table.source} WHERE {name} IS NOT NULL)",
        distinct,
    )


def take(connection: duckdb.DuckDBPyConnection, values: Values, condition: str = "true") -> Sample:
    """A sample chosen by the values' hashes: the same data give the same sample in any order."""
    stride = max(1, -(-values.distinct // SAMPLE))
    rows = connection.execute(
        f"SELECT left(v, {CHARACTERS}), sum(n)::BIGINT FROM {values.source} "
        f"WHERE hash(v) % {stride} = 0 AND {condition} "
        f"GROUP BY v ORDER BY v LIMIT {4 * SAMPLE + 1}"
    ).fetchall()
    complete = stride == 1 and len(rows) <= 4 * SAMPLE
    return Sample(tuple((row[0], int(row[1])) for row in rows[: 4 * SAMPLE]), complete)
