"""Reads tables from PostgreSQL and MySQL servers through DuckDB's scanners.

Every value crosses as text and is typed here, so that nothing is rounded on the way: a scanner
would turn an unconstrained NUMERIC into a double. Rows arrive in the order of the primary key.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from steward.core.errors import Bug, Misconfigured, Unavailable
from steward.data import engine
from steward.data.ingest.address import Address, driver_text, parse_address
from steward.data.ingest.databases import choose_table
from steward.data.ingest.findings import ColumnFinding, Inspection, Loaded, Note, TableListing
from steward.data.ingest.job import Job, check_width
from steward.data.ingest.names import Naming, unique_names
from steward.data.ingest.reach import reachable
from steward.data.ingest.readings import Reading
from steward.data.ingest.stage import LINE, column_of
from steward.data.ingest.texts import TextColumn, TextTable
from steward.data.ingest.types import infer
from steward.data.ingest.writing import (
    DATA,
    REJECTS,
    TypedColumn,
    copy,
    misfits_sql,
    typed_columns,
    write_rejects,
    write_rows,
)
from steward.data.tables import describe, literal, parquet_source, quote

_SHOWN_ROWS = 50
ZONED = "TIMESTAMP WITH TIME ZONE"

# What a server calls a type, and how its text is read here; missing: kept as text.
_POSTGRES: Mapping[str, str] = {
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "boolean": "BOOLEAN",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "date": "DATE",
    "time without time zone": "TIME",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": ZONED,
    "uuid": "UUID",
    "json": "JSON",
    "jsonb": "JSON",
    "bytea": "BLOB",
}
_MYSQL: Mapping[str, str] = {
    "tinyint": "SMALLINT",
    "smallint": "INTEGER",
    "mediumint": "INTEGER",
    "int": "BIGINT",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "timestamp": "TIMESTAMP",
    "year": "SMALLINT",
    "bit": "UBIGINT",
    "json": "JSON",
    "binary": "BLOB",
    "varbinary": "BLOB",
    "tinyblob": "BLOB",
    "blob": "BLOB",
    "mediumblob": "BLOB",
    "longblob": "BLOB",
}
_TEXTS = (
    "text",
    "character varying",
    "character",
    "varchar",
    "char",
    "tinytext",
    "mediumtext",
    "longtext",
    "enum",
    "set",
)


@dataclass(frozen=True)
class _ServerColumn:
    name: str
    kind: str
    """What the server calls its type."""
    type: str | None
    """How its text is read; none: as text."""


def inspect(job: Job, url: str, *, private: bool) -> Inspection:
    """`private`: whether servers on private addresses may be reached."""
    address = reachable(parse_address(url), private=private)
    with connected(job, address) as connection:
        table = _table(job, connection, address, choose_first=True)
        staged = _staged(job, connection, table, job.limits.sample_records)
        findings, typed, notes = _types(job, connection, table, staged)
        shown = ", ".join(column.text for column in typed)
        rows = connection.execute(
            f"SELECT {shown} FROM {staged.source} ORDER BY {LINE} LIMIT {_SHOWN_ROWS}"
        ).fetchall()
        seen = _count(connection, staged.source)
    return Inspection(
        name=job.name,
        format=address.kind,
        columns=findings,
        tables=table.tables,
        table=table.name,
        rows=tuple(rows),
        records_seen=seen,
        complete=seen < job.limits.sample_records,
        warnings=(*table.naming.notes, *notes),
    )


def load(job: Job, url: str, out_dir: Path, *, private: bool) -> Loaded:
    address = reachable(parse_address(url), private=private)
    with connected(job, address) as connection:
        table = _table(job, connection, address, choose_first=False)
        job.progress("fetching rows", 0, None)
        staged = _staged(job, connection, table, None)
        records = _count(connection, staged.source)
        findings, typed, notes = _types(job, connection, table, staged)
        job.progress("writing", 0, records)
        rows = write_rows(connection, staged, typed, out_dir / DATA)
        rejected = write_rejects(connection, (misfits_sql(staged, typed),), out_dir / REJECTS)
        columns = describe(connection, parquet_source([out_dir / DATA]))
    if records != rows + rejected:
        raise Bug(f"{records} records of {job.name!r} became {rows} rows and {rejected} rejects.")
    return Loaded(
        name=job.name,
        format=address.kind,
        table=table.name,
        data=DATA,
        rejects=REJECTS,
        records=records,
        rows=rows,
        rejected=rejected,
        columns=columns,
        findings=findings,
        warnings=(*table.naming.notes, *notes),
    )


def extension(kind: str) -> Path:
    """The scanner's file, which comes with a package and is never downloaded."""
    package = (
        "duckdb_extension_postgres_scanner"
        if kind == "postgresql"
        else "duckdb_extension_mysql_scanner"
    )
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for place in places:
        files = sorted(Path(place).rglob(f"v{duckdb.__version__}/*.duckdb_extension"))
        if files:
            return files[0]
    wanted = f"{package.replace('_', '-')}=={duckdb.__version__}"
    raise Misconfigured(
        f"Reading from {kind} needs the package {wanted}, which comes with Steward on Linux and macOS; install it."
    )


@contextmanager
def connected(job: Job, address: Address) -> Iterator[duckdb.DuckDBPyConnection]:
    limits = engine.Limits(job.limits.engine_memory_mb, job.limits.threads, job.limits.output_mb)
    with engine.session(limits, job.scratch) as connection:
        connection.execute(f"LOAD {literal(str(extension(address.kind)))}")
        kind = "postgres" if address.kind == "postgresql" else "mysql"
        try:
            connection.execute(
                f"ATTACH {literal(driver_text(address))} AS source (TYPE {kind}, READ_ONLY)"
            )
            yield connection
        except duckdb.Error as problem:
            said = str(problem).partition("\n")[0]
            for secret in (driver_text(address), address.password):
                said = said.replace(secret, "…") if secret else said
            raise Unavailable(
                f"{address.shown()} could not be read: {said[:200]}", code="source-unavailable"
            ) from None


@dataclass(frozen=True)
class _Table:
    name: str
    schema: str
    table: str
    columns: tuple[_ServerColumn, ...]
    key: tuple[str, ...]
    naming: Naming
    tables: tuple[TableListing, ...]
    kind: str


def _ask(connection: duckdb.DuckDBPyConnection, kind: str, sql: str) -> list[tuple[Any, ...]]:
    """Runs a query on the server and brings its rows."""
    return connection.execute(f"SELECT * FROM {remote(kind, sql)}").fetchall()


def remote(kind: str, sql: str) -> str:
    function = "postgres_query" if kind == "postgresql" else "mysql_query"
    return f"{function}('source', {literal(sql)})"


def _server_literal(kind: str, text: str) -> str:
    return literal(text) if kind == "postgresql" else literal(text.replace("\\", "\\\\"))


def _server_name(kind: str, name: str) -> str:
    return quote(name) if kind == "postgresql" else "`" + name.replace("`", "``") + "`"


def _table(
    job: Job, connection: duckdb.DuckDBPyConnection, address: Address, *, choose_first: bool
) -> _Table:
    kind = address.kind
    where = (
        "table_schema NOT IN ('pg_catalog', 'information_schema')"
        if kind == "postgresql"
        else f"table_schema = {_server_literal(kind, address.database)}"
    )
    listed = _ask(
        connection,
        kind,
        "SELECT table_schema AS s, table_name AS n FROM information_schema.tables "
        f"WHERE table_type = 'BASE TABLE' AND {where} ORDER BY table_schema, table_name",
    )
    default = "public" if kind == "postgresql" else address.database
    places = {
        (name if schema == default else f"{schema}.{name}"): (schema, name)
        for schema, name in listed
    }
    chosen = choose_table(job, list(places), choose_first=choose_first)
    schema, name = places[chosen]
    columns = _server_columns(connection, kind, schema, name)
    check_width(len(columns), job.limits)
    naming = unique_names([column.name for column in columns])
    listing = tuple(TableListing(known) for known in places)
    key = _primary_key(connection, kind, schema, name)
    return _Table(chosen, schema, name, columns, key, naming, listing, kind)


def _server_columns(
    connection: duckdb.DuckDBPyConnection, kind: str, schema: str, name: str
) -> tuple[_ServerColumn, ...]:
    rows = _ask(
        connection,
        kind,
        "SELECT column_name AS n, data_type AS t, numeric_precision AS p, numeric_scale AS s, "
        f"{'NULL' if kind == 'postgresql' else 'column_type'} AS f "
        "FROM information_schema.columns "
        f"WHERE table_schema = {_server_literal(kind, schema)} "
        f"AND table_name = {_server_literal(kind, name)} ORDER BY ordinal_position",
    )
    columns = []
    for column, declared, precision, scale, full in rows:
        known = (_POSTGRES if kind == "postgresql" else _MYSQL).get(declared.lower())
        if declared.lower() in ("numeric", "decimal") and precision and int(precision) <= 38:
            known = f"DECIMAL({int(precision)},{int(scale or 0)})"
        elif declared.lower() in ("numeric", "decimal"):
            known = "number"
        if full and "unsigned" in str(full).lower() and known in ("SMALLINT", "INTEGER", "BIGINT"):
            known = "UBIGINT" if declared.lower() == "bigint" else "BIGINT"
        columns.append(_ServerColumn(column, declared, known))
    return tuple(columns)


def _primary_key(
    connection: duckdb.DuckDBPyConnection, kind: str, schema: str, name: str
) -> tuple[str, ...]:
    rows = _ask(
        connection,
        kind,
        "SELECT k.column_name AS n FROM information_schema.table_constraints c "
        "JOIN information_schema.key_column_usage k ON k.constraint_name = c.constraint_name "
        "AND k.table_schema = c.table_schema AND k.table_name = c.table_name "
        f"WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_schema = {_server_literal(kind, schema)} "
        f"AND c.table_name = {_server_literal(kind, name)} ORDER BY k.ordinal_position",
    )
    return tuple(row[0] for row in rows)


def _select(table: _Table, most: int | None) -> str:
    cells = []
    for i, column in enumerate(table.columns):
        cell = _server_name(table.kind, column.name)
        cells.append(f"{_text_sql(table.kind, column, cell)} AS {column_of(i)}")
    place = f"{_server_name(table.kind, table.schema)}.{_server_name(table.kind, table.table)}"
    order = ", ".join(_server_name(table.kind, name) for name in table.key)
    return (
        f"SELECT {', '.join(cells)} FROM {place}"
        + (f" ORDER BY {order}" if order else "")
        + (f" LIMIT {most}" if most is not None else "")
    )


def _text_sql(kind: str, column: _ServerColumn, cell: str) -> str:
    """The SQL, in the server's dialect, of a value's exact text."""
    if kind == "postgresql":
        return f"encode({cell}, 'hex')" if column.type == "BLOB" else f"{cell}::text"
    if column.type == "BLOB":
        return f"HEX({cell})"
    # MySQL prints six digits of a float, and the bytes of bits; as a double or number it prints all.
    exact = {"float": f"{cell} + 0e0", "bit": f"{cell} + 0"}.get(column.kind.lower(), cell)
    return f"CAST({exact} AS CHAR)"


def _staged(
    job: Job, connection: duckdb.DuckDBPyConnection, table: _Table, most: int | None
) -> TextTable:
    path = job.scratch / "fetched.parquet"
    cells = ", ".join(
        f"{column_of(i)}::VARCHAR AS {column_of(i)}" for i in range(len(table.columns))
    )
    rows = remote(table.kind, _select(table, most))
    copy(connection, f"SELECT row_number() OVER () AS {LINE}, {cells} FROM {rows}", path)
    columns = []
    for i, (name, original) in enumerate(
        zip(table.naming.names, table.naming.originals, strict=True)
    ):
        families = frozenset({"number"} if table.columns[i].type == "number" else ())
        columns.append(TextColumn(name, original, quote(column_of(i)), families))
    return TextTable(parquet_source([path]), tuple(columns), LINE)


def _count(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    return int(row[0]) if row else 0


def _types(
    job: Job, connection: duckdb.DuckDBPyConnection, table: _Table, staged: TextTable
) -> tuple[tuple[ColumnFinding, ...], tuple[TypedColumn, ...], tuple[Note, ...]]:
    """The server's own types, with a test for the values that they have and Parquet has not."""
    inferred = infer(connection, staged, job.options)
    wanted = []
    notes = list(inferred.notes)
    for finding, column in zip(inferred.findings, table.columns, strict=True):
        known = column.type
        if finding.declared or known == "number":
            wanted.append(finding)
            continue
        reason = f"The server declares {column.kind}."
        if known is None:
            if column.kind.lower() not in _TEXTS:
                message = f"{finding.name!r} is kept as text: its type is {column.kind}."
                notes.append(Note("kept-as-text", message, finding.name))
            wanted.append(replace(finding, reason=reason))
            continue
        wanted.append(replace(finding, type=known, reason=reason, candidates={}, samples=()))
    plain = typed_columns(staged.columns, wanted, job.options)
    typed = tuple(map(_kept_exactly, plain, wanted, staged.columns))
    return tuple(wanted), typed, tuple(notes)


def _kept_exactly(column: TypedColumn, finding: ColumnFinding, text: TextColumn) -> TypedColumn:
    kind = finding.type
    if kind in ("DOUBLE", "FLOAT") and not finding.declared:
        # The server's text of a float reads back as the same float, infinities included.
        value = f"CAST({column.text} AS {kind})"
        return TypedColumn(column.name, column.text, value, None, Reading(kind))
    if kind == "BLOB":
        # Here an empty text is a value: no bytes, which is not null.
        value = f"unhex({text.expression})"
        return TypedColumn(column.name, text.expression, value, None, Reading(kind))
    return column
