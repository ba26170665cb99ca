"""From a SELECT to parts: deterministic Parquet files of bounded size, in row order.

The rows are first laid down in a DuckDB table (which spills to disk), then cut by position. A part is one row group
written by one thread, so its bytes depend on its rows alone; several parts are written side by side.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, Final

import duckdb

from steward.core import Bug, Invalid, fault, work
from steward.tables import describe, literal, parquet_source, quote
from steward.versions._manifest import Stat, Stats, StoredColumn
from steward.versions._parts import NewFile, measured
from steward.versions._storage import encoded

_numbers = count(1)
_SAMPLE: Final = 10_000
# Version 2 encodings and light zstd were both smaller and faster than the defaults. The row group is larger than any
# part, so each file holds exactly one.
_FORMAT: Final = (
    "FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
    "ROW_GROUP_SIZE 1000000000"
)
_LONGEST_STAT: Final = 100


@dataclass(frozen=True)
class Sizes:
    """How tables are cut; the defaults suit one machine, tests use small ones."""

    part_rows: int = 122_880
    part_bytes: int = 64_000_000
    """Uncompressed size at which a part of wide rows is cut earlier."""
    patch_share: float = 0.25
    """Part of a part's rows that a patch may cover before the part is rewritten."""
    small_part_rows: int = 4_096
    """Parts up to this size are rewritten rather than patched: a second file would cost more."""


@dataclass(frozen=True)
class Part:
    file: NewFile
    rows: int
    stats: Stats


@contextmanager
def laid_down(connection: duckdb.DuckDBPyConnection, select: str) -> Iterator[str]:
    """The rows of a SELECT as a table that every cursor of the session sees, dropped afterwards."""
    name = f"memory.main.{quote(f'__steward_rows_{next(_numbers)}')}"
    with clear_failures():
        connection.execute(f"CREATE TABLE {name} AS {select}")
    try:
        yield name
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {name}")


@contextmanager
def clear_failures() -> Iterator[None]:
    """Says in plain words that data does not fit; DuckDB's own words would quote rows."""
    try:
        yield
    except duckdb.ConversionException:
        raise Invalid(
            "A value cannot be converted to the type of its column. Correct the value or change the type."
        ) from None
    except duckdb.OutOfMemoryException:
        raise Invalid(
            "The result does not fit into the memory and disk allowed for one operation. "
            "Work on fewer rows or raise the limits."
        ) from None


def storage_select(columns: Sequence[StoredColumn], select: str, sort: Sequence[str]) -> str:
    """The SELECT in stored form; sorted rows that tie stay in the order they came in."""
    fields = ", ".join(
        f"{encoded(column, quote(column.name))} AS {quote(column.stored_name)}"
        for column in columns
    )
    if not sort:
        return f"SELECT {fields} FROM ({select})"
    order = ", ".join(f"{quote(name)} ASC NULLS LAST" for name in sort)
    number = quote("__steward_number")
    return (
        f"SELECT {fields} FROM (SELECT *, row_number() OVER () AS {number} FROM ({select})) "
        f"ORDER BY {order}, {number}"
    )


def part_rows(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[StoredColumn], sizes: Sizes
) -> int:
    """Rows per part: fewer for wide rows, judged by a sample that depends on the rows alone."""
    width = " + ".join(_width(column) for column in columns)
    row = connection.execute(
        f"SELECT coalesce(sum({width}), 0)::BIGINT, count(*) FROM {table} WHERE rowid % "
        f"greatest((SELECT count(*) FROM {table}) // {_SAMPLE}, 1) = 0"
    ).fetchone()
    total, sampled = row or (0, 0)
    return min(sizes.part_rows, int(sizes.part_bytes * sampled // max(total, 1)) or 1)


def cuts(total: int, rows: int) -> list[int]:
    full, rest = divmod(total, rows)
    return [rows] * full + ([rest] if rest else [])


def write_parts(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[StoredColumn],
    counts: Sequence[int],
    folder: Path,
    measure: Sequence[str] = (),
) -> list[Part]:
    """Writes consecutive runs of a laid-down table as parts, `counts` rows each."""
    bounds: list[tuple[int, int]] = []
    start = 0
    for rows in counts:
        bounds.append((start, start + rows - 1))
        start += rows
    stats = [
        measured_stats(
            connection, f"{table} WHERE rowid BETWEEN {low} AND {high}", columns, measure
        )
        for low, high in bounds
    ]
    names = ", ".join(quote(column.stored_name) for column in columns)
    files = _copy_all(
        connection,
        [f"SELECT {names} FROM {table} WHERE rowid BETWEEN {a} AND {b}" for a, b in bounds],
        folder,
    )
    if files:
        _check_types(connection, files[0].path, columns)
    fault("data.write.parts_written")
    return [Part(file, rows, stat) for file, rows, stat in zip(files, counts, stats, strict=True)]


def copy_one(connection: duckdb.DuckDBPyConnection, select: str, folder: Path) -> NewFile:
    """One SELECT as one file."""
    return _copy_all(connection, [select], folder)[0]


def _copy_all(
    connection: duckdb.DuckDBPyConnection, selects: Sequence[str], folder: Path
) -> list[NewFile]:
    setting = connection.execute("SELECT current_setting('threads')").fetchone()
    threads = int(setting[0]) if setting else 1
    # The threads of the pool do not inherit whose work this is.
    watched = work.current()

    def copy(select: str) -> NewFile:
        path = folder / f"{next(_numbers)}.parquet"
        with connection.cursor() as cursor, watched.ended_by(cursor.interrupt):
            cursor.execute(f"COPY ({select}) TO {literal(str(path))} ({_FORMAT})")
        return measured(path)

    # One thread per file makes its bytes repeatable, and costs less than sharing each file.
    connection.execute("SET threads = 1")
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(copy, selects))
    finally:
        connection.execute(f"SET threads = {threads}")


def _check_types(
    connection: duckdb.DuckDBPyConnection, path: Path, columns: Sequence[StoredColumn]
) -> None:
    found = {column.name: column.type for column in describe(connection, parquet_source([path]))}
    for column in columns:
        if found.get(column.stored_name) != column.stored_type:
            raise Bug(
                f"Column {column.name!r} of type {column.type} came back from Parquet as "
                f"{found.get(column.stored_name)}; nothing was committed."
            )


def _width(column: StoredColumn) -> str:
    name = quote(column.stored_name)
    if column.stored_type == "VARCHAR":
        return f"coalesce(strlen({name}), 0)"
    if column.stored_type == "BLOB":
        return f"coalesce(octet_length({name}), 0)"
    if any(mark in column.stored_type for mark in "[(") and "DECIMAL" not in column.stored_type[:7]:
        return f"coalesce(strlen(CAST({name} AS VARCHAR)), 0)"
    return "8"


def measured_stats(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    columns: Sequence[StoredColumn],
    measure: Sequence[str],
) -> Stats:
    """Least and greatest value of the measured columns, where both can be told exactly."""
    chosen = [column for column in columns if column.name in measure and column.is_plain]
    if not chosen:
        return {}
    fields = ", ".join(f"min({quote(column.name)}), max({quote(column.name)})" for column in chosen)
    row = connection.execute(f"SELECT {fields} FROM {rows}").fetchone() or ()
    found: dict[str, tuple[Stat, Stat]] = {}
    for index, column in enumerate(chosen):
        least, greatest = _stat(row[2 * index]), _stat(row[2 * index + 1])
        if least is not None and greatest is not None:
            found[column.name] = (least, greatest)
    return found


def _stat(value: Any) -> Stat | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return None
    return value if isinstance(value, str) and len(value) <= _LONGEST_STAT else None
