"""Speaks to MySQL and MariaDB servers: a session that cannot write, ends in time, and tells no secret.

The server is not trusted either: it gets no file of this machine, and no password in the clear unless the connection
is encrypted by the user's own wish.
"""

import socket
import ssl
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pymysql  # type: ignore[import-untyped]
from pymysql.constants import ER, FIELD_TYPE  # type: ignore[import-untyped]
from pymysql.converters import conversions  # type: ignore[import-untyped]
from pymysql.cursors import SSCursor  # type: ignore[import-untyped]

from steward.core import Denied, Invalid, StewardError, Unavailable
from steward.ingest.address import Address
from steward.ingest.stage import LINE, column_of

_CONNECT_SECONDS: Final = 10
_BATCH: Final = 5_000
_ENCRYPTED: Final = ("require", "verify-ca", "verify-full")
VERIFIED: Final = ("verify-ca", "verify-full")
# Ways of signing in that hand the password over as it is.
_CLEAR: Final = (b"mysql_clear_password", b"dialog", b"mysql_old_password")
# As people write them; the protocol has one name for texts and blobs.
_NAMES: Final = {
    FIELD_TYPE.TINY: "TINYINT",
    FIELD_TYPE.SHORT: "SMALLINT",
    FIELD_TYPE.INT24: "MEDIUMINT",
    FIELD_TYPE.LONG: "INT",
    FIELD_TYPE.LONGLONG: "BIGINT",
    FIELD_TYPE.NEWDECIMAL: "DECIMAL",
    FIELD_TYPE.FLOAT: "FLOAT",
    FIELD_TYPE.DOUBLE: "DOUBLE",
    FIELD_TYPE.DATE: "DATE",
    FIELD_TYPE.TIME: "TIME",
    FIELD_TYPE.DATETIME: "DATETIME",
    FIELD_TYPE.TIMESTAMP: "TIMESTAMP",
    FIELD_TYPE.YEAR: "YEAR",
    FIELD_TYPE.BIT: "BIT",
    FIELD_TYPE.JSON: "JSON",
    FIELD_TYPE.BLOB: "TEXT",
    FIELD_TYPE.STRING: "CHAR",
    FIELD_TYPE.VAR_STRING: "VARCHAR",
    FIELD_TYPE.GEOMETRY: "GEOMETRY",
}
_NOT_SIGNED_IN: Final = frozenset({ER.ACCESS_DENIED_ERROR, 1698, 1820, 4151})
_NO_DATABASE: Final = frozenset({ER.DBACCESS_DENIED_ERROR, ER.BAD_DB_ERROR})
_TOO_LONG: Final = frozenset({1969, 3024})
_READ_ONLY: Final = 1792
# Names that are not there or are ambiguous, what may not be read, wrong arguments of functions.
_WRONG_QUESTION: Final = frozenset(
    {
        1052,
        1054,
        1055,
        1056,
        1060,
        1111,
        1140,
        1142,
        1143,
        1222,
        1241,
        1242,
        1292,
        1305,
        1370,
        1582,
        1690,
    }
)
# What the driver raises at bytes of another form than it expects.
_MALFORMED: Final = (OSError, RuntimeError, ValueError, LookupError, AssertionError, struct.error)


class Mysql:
    """An open session; one statement at a time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """A few rows of our own questions."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]

    def fetch(self, sql: str, width: int, path: Path, seen: Callable[[int], None]) -> None:
        """Writes rows of nothing but text to a Parquet file, numbered in the order in which they come."""
        names = [column_of(i) for i in range(width)]
        fields = [pa.field(LINE, pa.int64()), *(pa.field(name, pa.string()) for name in names)]
        schema = pa.schema(fields)
        done = 0
        with pq.ParquetWriter(path, schema) as out, self._connection.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            while rows := cursor.fetchmany(_BATCH):
                lines = pa.array(range(done + 1, done + len(rows) + 1), pa.int64())
                cells = [pa.array([row[i] for row in rows], pa.string()) for i in range(width)]
                out.write_batch(pa.record_batch([lines, *cells], schema=schema))
                done += len(rows)
                seen(done)

    def query(
        self, sql: str, most: int
    ) -> tuple[Sequence[str], Sequence[str], list[tuple[Any, ...]]]:
        """Names, types and at most so many rows of somebody's question, which has a limit of its own."""
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            described = cursor.description or ()
            rows = [tuple(row) for row in cursor.fetchmany(most)]
        names = [str(each[0]) for each in described]
        types = [_NAMES.get(each[1], "") for each in described]
        return names, types, rows


@contextmanager
def mysql_session(address: Address, seconds: int) -> Iterator[Mysql]:
    """A read-only session for at most so many seconds a statement; what goes wrong becomes one of our errors."""
    try:
        connection = _opened(address, seconds)
        try:
            _restrict(connection, address, seconds)
            yield Mysql(connection)
        finally:
            with suppress(pymysql.MySQLError, OSError):
                connection.close()
    except StewardError:
        raise
    except pymysql.MySQLError as problem:
        raise _source_error(address, problem) from None
    except _MALFORMED as problem:
        # The driver trusts the form of what it reads; a server may send anything.
        raise Unavailable(
            f"{address.shown()} does not answer as a MySQL server should ({type(problem).__name__}).",
            code="source-unavailable",
        ) from None


def _opened(address: Address, seconds: int) -> Any:
    refused = {} if address.tls in _ENCRYPTED else dict.fromkeys(_CLEAR, _Refused)
    connection: Any = pymysql.Connection(
        host=address.host,
        user=address.user,
        password=address.password.encode(),
        database=address.database,
        charset="utf8mb4",
        ssl=_tls(address.tls, address.root),
        ssl_disabled=address.tls == "disable" or address.host.startswith("/"),
        read_timeout=_CONNECT_SECONDS,
        write_timeout=_CONNECT_SECONDS,
        local_infile=False,
        auth_plugin_map=refused,
        conv=_conversions(),
        autocommit=True,
        program_name="steward",
        defer_connect=True,
    )
    # To the address that was looked at; the name is still what a certificate must be for.
    connection.connect(_socket(address))
    connection._read_timeout = seconds + _CONNECT_SECONDS
    return connection


def _socket(address: Address) -> socket.socket:
    try:
        if address.host.startswith("/"):
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.settimeout(_CONNECT_SECONDS)
            made.connect(address.host)
            return made
        return socket.create_connection(
            (address.place or address.host, address.port), _CONNECT_SECONDS
        )
    except OSError as problem:
        why = "no answer in time" if isinstance(problem, TimeoutError) else problem.strerror or ""
        raise Unavailable(
            f"No connection to {address.shown()}: {why or type(problem).__name__}.",
            code="source-unavailable",
        ) from None


def _tls(mode: str, root: str) -> ssl.SSLContext | None:
    """None where the driver decides: encrypted if the server can, whoever it is."""
    if mode not in _ENCRYPTED:
        return None
    context = ssl.create_default_context()
    if root:
        # Nobody else is trusted then.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=root)
    context.check_hostname = mode == "verify-full"
    if mode not in VERIFIED:
        context.verify_mode = ssl.CERT_NONE
    return context


def _restrict(connection: Any, address: Address, seconds: int) -> None:
    """The session reads and cannot write, whatever the user may; texts mean the same on every server."""
    maria = "mariadb" in str(connection.get_server_info()).lower()
    longest = (
        f"max_statement_time = {seconds}" if maria else f"max_execution_time = {seconds * 1000}"
    )
    flag = "tx_read_only" if maria else "transaction_read_only"
    with connection.cursor() as cursor:
        cursor.execute(f"SET SESSION sql_mode = '', time_zone = '+00:00', {longest}")
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute(f"SELECT @@session.{flag}")
        row = cursor.fetchone()
    if row is None or int(row[0]) != 1:
        raise Denied(
            f"{address.shown()} does not keep a session read-only; it is not asked anything.",
            code="not-read-only",
        )


class _Refused:
    """Stands where a way of signing in would send the password as it is."""

    def __init__(self, _connection: Any) -> None:
        """Nothing of the connection is needed to refuse it."""

    def authenticate(self, _packet: Any) -> Any:
        raise Denied(
            "The server asks for the password in the clear. It is sent only with encryption “require” or more.",
            code="password-in-the-clear",
        )


def _conversions() -> Mapping[Any, Any]:
    """Values as they are; what Python has no value for stays text."""
    return {
        **conversions,
        FIELD_TYPE.TIME: str,
        FIELD_TYPE.BIT: lambda value: int.from_bytes(value, "big"),
    }


def _source_error(address: Address, problem: pymysql.MySQLError) -> StewardError:
    number = problem.args[0] if problem.args and isinstance(problem.args[0], int) else 0
    said = str(problem.args[-1]) if problem.args else type(problem).__name__
    said = said.replace(address.password, "…") if address.password else said
    said = " ".join("".join(c for c in said if c.isprintable() or c.isspace()).split())[:200]
    where = address.shown()
    if number in _NOT_SIGNED_IN:
        return Unavailable(
            f"{where} refuses the user or the password ({number}).", code="source-refused"
        )
    if number in _NO_DATABASE:
        return Unavailable(
            f"{where}: there is no database {address.database!r}, or the user may not use it ({number}).",
            code="source-refused",
        )
    if number in _TOO_LONG:
        return Unavailable(f"{where} stopped the question: it took too long.", code="query-timeout")
    if number == _READ_ONLY:
        return Denied(
            f"{where}: the question would change something, and the session is read-only.",
            code="not-a-select",
        )
    if number in _WRONG_QUESTION or isinstance(problem, pymysql.ProgrammingError):
        return Invalid(f"{where} did not accept the question: {said}", code="query-failed")
    return Unavailable(f"{where} could not be read: {said}", code="source-unavailable")
