"""Counts the values of a column: all of them where they fit, otherwise what can be known without."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from steward.analysis.pii.values import one_row
from steward.analysis.profile.sampling import sample_rows
from steward.analysis.profile.shapes import Reading, reading
from steward.tables import Column, Table, quote

DISTINCT_LIMIT = 1_000_000
"""Up to so many distinct values are counted exactly."""

BYTES_LIMIT = 256_000_000
"""Up to so many characters of distinct values are held to count them."""

TOP = 10
SHOWN = 200
"""Characters of a value that a profile shows."""

_VALUES = "steward_profile_values"
_ROWS = "steward_profile_rows"
_ROW_SAMPLE = 100_000
_SAMPLE_BYTES = 64_000_000
_MARGIN = 1.05
"""Estimates of about a million distinct values are hardly ever further off than this."""
_ONE_IN = 201
"""The share of values that estimates are made from; odd, because hashes are weak in low bits."""
_ESTIMATED_AT_ONCE = 1_000_000
"""Values held while estimating; decides how many columns share a scan."""
_FREQUENT = 3
_UNIQUE_SAMPLE = 20_000
_UNIQUE_PART = 2_000_000


@dataclass(frozen=True)
class Scope:
    """What is profiled: the rows of `source`, which may be a sample of the table."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    rows: int


@dataclass(frozen=True)
class Counted:
    """`source` is a FROM item with the values v and their rows n, without nulls.

    If `grouped`, every value occurs once; otherwise v repeats and n is 1.
    """

    source: str
    grouped: bool
    filled: int
    distinct: int
    exact: bool
    unique: bool | None
    sample: str | None
    """A FROM item with the values v of some rows, if not grouped."""


@dataclass(frozen=True)
class Estimate:
    """`repeats` when a value was met twice, which rules out that all are unique."""

    filled: int
    distinct: int
    repeats: bool
    width: float
    """Characters of a value as text, on average."""


class Survey:
    """Decides how each column is counted; for large tables by one scan over all columns."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._estimates: dict[str, Estimate] = {}
        self._samples: dict[str, str] = {}
        self._kept: list[str] = []
        if scope.rows > DISTINCT_LIMIT:
            self._estimate(scope.table.columns)
            self._keep_rows([column for column in scope.table.columns if self._too_many(column)])

    def _too_many(self, column: Column) -> bool:
        estimate = self._estimates[column.name]
        return (
            estimate.distinct > _MARGIN * DISTINCT_LIMIT
            or estimate.distinct * estimate.width > BYTES_LIMIT
        )

    def _estimate(self, columns: Sequence[Column]) -> None:
        """Counts the distinct values among those whose hash falls into one of many classes.

        All rows of a value fall into the same class, so the count scales up, within a few per cent
        for a million values and more. (`approx_count_distinct` is up to 15 per cent off.)
        """
        together = max(1, _ESTIMATED_AT_ONCE * _ONE_IN // self._scope.rows)
        for start in range(0, len(columns), together):
            part = columns[start : start + together]
            listed = []
            for column in part:
                name = quote(column.name)
                value = reading(column, name).value
                kept = f"CASE WHEN hash({value}) % {_ONE_IN} = 0 THEN {value} END"
                listed.append(
                    f"count({name}), count({kept}), count(DISTINCT {kept}), "
                    f"coalesce(avg(strlen({kept}::VARCHAR)), 0)"
                )
            row = one_row(
                self._scope.connection,
                f"SELECT {', '.join(listed)} FROM {self._scope.table.source}",
            )
            for column, filled, seen, distinct, width in zip(
                part, row[::4], row[1::4], row[2::4], row[3::4], strict=True
            ):
                self._estimates[column.name] = Estimate(
                    filled=int(filled),
                    distinct=min(int(distinct) * _ONE_IN, int(filled)),
                    repeats=seen != distinct,
                    width=float(width),
                )

    def _keep_rows(self, columns: Sequence[Column]) -> None:
        """A sample of rows of the columns with many values, to look for frequent ones in."""
        if not columns:
            return
        place = {column.name: f"c{number}" for number, column in enumerate(columns)}
        select = ", ".join(
            f"{reading(column, quote(column.name)).value} AS {place[column.name]}"
            for column in columns
        )
        width = sum(self._estimates[column.name].width for column in columns)
        wanted = min(_ROW_SAMPLE, max(1_000, int(_SAMPLE_BYTES / max(1.0, width))))
        name = f"{_ROWS}_{len(self._kept)}"
        self._kept.append(name)
        sample_rows(
            self._scope.connection,
            self._scope.table,
            self._scope.rows,
            min(wanted, self._scope.rows),
            select=select,
            name=name,
        )
        for column in columns:
            kept = place[column.name]
            self._samples[column.name] = (
                f"(SELECT {kept} AS v FROM {name} WHERE {kept} IS NOT NULL)"
            )

    @contextmanager
    def counted(self, column: Column) -> Iterator[Counted]:
        if column.name in self._samples:
            yield self._uncounted(column)
            return
        try:
            found = self._count(column)
        except duckdb.OutOfMemoryException:
            # Few but long values: what cannot be held is estimated like what is too many.
            self._estimate([column])
            self._keep_rows([column])
            found = self._uncounted(column)
        try:
            yield found
        finally:
            self._scope.connection.execute(f"DROP TABLE IF EXISTS {_VALUES}")

    def _count(self, column: Column) -> Counted:
        connection = self._scope.connection
        name = quote(column.name)
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_VALUES} AS "
            f"SELECT {reading(column, name).value} AS v, count(*) AS n "
            f"FROM {self._scope.table.source} WHERE {name} IS NOT NULL GROUP BY 1"
        )
        distinct, filled = one_row(
            connection, f"SELECT count(*), coalesce(sum(n), 0)::BIGINT FROM {_VALUES}"
        )
        return Counted(
            source=_VALUES,
            grouped=True,
            filled=filled,
            distinct=distinct,
            exact=True,
            unique=distinct == self._scope.rows,
            sample=None,
        )

    def _uncounted(self, column: Column) -> Counted:
        estimate = self._estimates[column.name]
        name = quote(column.name)
        source = (
            f"(SELECT {reading(column, name).value} AS v, 1 AS n "
            f"FROM {self._scope.table.source} WHERE {name} IS NOT NULL)"
        )
        unique = (
            estimate.filled == self._scope.rows
            and not estimate.repeats
            and is_unique(self._scope.connection, source, estimate.filled, estimate.width)
        )
        return Counted(
            source=source,
            grouped=False,
            filled=estimate.filled,
            distinct=estimate.filled if unique else estimate.distinct,
            exact=unique,
            unique=unique,
            sample=self._samples[column.name],
        )

    def close(self) -> None:
        for name in self._kept:
            self._scope.connection.execute(f"DROP TABLE IF EXISTS {name}")


def is_unique(
    connection: duckdb.DuckDBPyConnection, source: str, rows: int, width: float = 16.0
) -> bool:
    """Whether no v occurs twice; a sample of values refutes most columns at once.

    The sample keeps all rows of the values it keeps, so a value met twice there is met twice.
    Only columns that pass are read in full, in parts that fit into memory.
    """
    parts = max(1, -(-rows // _UNIQUE_PART), int(rows * width / _SAMPLE_BYTES))
    first_look = (max(1, rows // _UNIQUE_SAMPLE), 0)
    for divisor, remainder in (first_look, *((parts, part) for part in range(parts))):
        seen, distinct = one_row(
            connection,
            f"SELECT count(*), count(DISTINCT v) FROM {source} WHERE hash(v) % {divisor} = {remainder}",
        )
        if seen != distinct:
            return False
    return True


def top_values(
    scope: Scope, counted: Counted, read: Reading
) -> tuple[Sequence[tuple[str, int]], bool]:
    """The most frequent values with their rows, and whether no other can be more frequent.

    Of a longer column in which every value is unique, none is more frequent than the others.
    """
    shown = f"left({read.text}, {SHOWN})"
    if counted.unique and counted.distinct > TOP:
        return (), True
    if counted.grouped:
        rows = scope.connection.execute(
            f"SELECT {shown}, n FROM "
            f"(SELECT v, n FROM {counted.source} ORDER BY n DESC, v LIMIT {TOP}) "
            "ORDER BY n DESC, v"
        ).fetchall()
        return rows, True
    frequent = (
        f"SELECT v FROM {counted.sample} GROUP BY v HAVING count(*) >= {_FREQUENT} "
        f"ORDER BY count(*) DESC, v LIMIT {3 * TOP}"
    )
    if not one_row(scope.connection, f"SELECT count(*) FROM ({frequent})")[0]:
        return (), False
    # The candidates come from a sample; their rows are counted in the whole table.
    rows = scope.connection.execute(
        f"SELECT {shown}, sum(n)::BIGINT AS total FROM {counted.source} WHERE v IN ({frequent}) "
        f"GROUP BY v ORDER BY total DESC, v LIMIT {TOP}"
    ).fetchall()
    return rows, False
