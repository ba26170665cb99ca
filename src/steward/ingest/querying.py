"""Asks a database one question and brings a few rows: of a server, or of a file by its engine."""

import math
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as moment
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote as url_quote

import duckdb

from steward.core import Invalid, Unavailable
from steward.ingest.address import parse_address
from steward.ingest.databases import duckdb_session
from steward.ingest.foreign_sql import fenced
from steward.ingest.job import Job
from steward.ingest.opening import connected, remote
from steward.ingest.reach import Reach, reachable

MOST_ROWS: Final = 10_000
_LONGEST_CELL: Final = 10_000
_SQLITE_HEAD: Final = b"SQLite format 3\x00"
_READING: Final = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)


@dataclass(frozen=True)
class Asked:
    """What a database answered."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there were more rows than were brought."""
    seconds: float
    """From opening the connection to the last row."""
    kind: str


def query_server(job: Job, url: str, sql: str, most: int, *, reach: Reach) -> Asked:
    address = parse_address(url)
    statement = fenced(sql, address.kind, most + 1)
    started = time.monotonic()
    address = reachable(address, reach)
    with connected(job, address) as server:
        if server.mysql is None:
            found = server.session.execute(f"SELECT * FROM {remote(statement)}")
            return _answer(found, most, started, address.kind)
        names, types, rows = server.mysql.query(statement, most + 1)
    return Asked(
        tuple(names),
        tuple(types),
        _plain(rows[:most]),
        len(rows) > most,
        time.monotonic() - started,
        address.kind,
    )


def query_file(job: Job, sql: str, most: int) -> Asked:
    kind = _kind(job.path)
    statement = fenced(sql, kind, most + 1)
    started = time.monotonic()
    if kind == "sqlite":
        return _sqlite(job, statement, most, started)
    with duckdb_session(job) as connection:
        connection.execute("USE source")
        connection.execute("SET lock_configuration = true")
        return _answer(connection.execute(statement), most, started, kind)


def _kind(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(16)
    if head == _SQLITE_HEAD:
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise Invalid("The file is neither a SQLite nor a DuckDB database.", code="unknown-format")


def _sqlite(job: Job, statement: str, most: int, started: float) -> Asked:
    place = f"file:{url_quote(str(job.path))}?mode=ro"
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=5)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_authorizer(_only_reading)
            cursor = connection.execute(statement)
            rows = cursor.fetchmany(most + 1)
            names = tuple(each[0] for each in cursor.description or ())
    except sqlite3.Error as problem:
        raise Invalid(
            f"{job.name!r} did not answer: {problem}"[:300], code="query-failed"
        ) from None
    return Asked(
        names,
        ("",) * len(names),
        _plain(rows[:most]),
        len(rows) > most,
        time.monotonic() - started,
        "sqlite",
    )


def _only_reading(action: int, first: str | None, second: str | None, *_: Any) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (second or first or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _answer(found: duckdb.DuckDBPyConnection, most: int, started: float, kind: str) -> Asked:
    described = found.description or []
    rows = found.fetchmany(most + 1)
    return Asked(
        tuple(str(each[0]) for each in described),
        tuple(str(each[1]) for each in described),
        _plain(rows[:most]),
        len(rows) > most,
        time.monotonic() - started,
        kind,
    )


def _plain(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(_cell(value) for value in row) for row in rows)


_SHOWN: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (Decimal, str),
    (datetime, lambda value: value.isoformat()),
    (date, lambda value: value.isoformat()),
    (moment, lambda value: value.isoformat()),
    (bytes, lambda value: value.hex()),
)


def _cell(value: Any) -> Any:
    """A value as JSON takes it; exact numbers stay exact, as text."""
    if value is None or isinstance(value, bool | int):
        return value if value is None or abs(value) <= 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    for kind, shown in _SHOWN:
        if isinstance(value, kind):
            value = shown(value)
            break
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…"


def version(kind: str) -> str:
    """The question that tells what a database is."""
    return "SELECT sqlite_version()" if kind == "sqlite" else "SELECT version()"


def probe(job: Job, url: str | None, *, reach: Reach) -> Asked:
    """Opens the connection and asks the database what it is."""
    if url is not None:
        return query_server(job, url, version(parse_address(url).kind), 1, reach=reach)
    if not job.path.is_file():
        raise Unavailable(f"There is no file {job.name!r}.", code="source-unavailable")
    return query_file(job, version(_kind(job.path)), 1)
