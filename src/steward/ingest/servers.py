"""Reads tables from PostgreSQL servers, through DuckDB's scanner, and from MySQL servers.

Every value crosses as text and is typed here, so that nothing is rounded on the way: a scanner
would turn an unconstrained NUMERIC into a double. Rows arrive in the order of the primary key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from steward.core import package_yaml
from steward.ingest.address import Address, parse_address
from steward.ingest.databases import choose_table
from steward.ingest.findings import ColumnFinding, Inspection, Loaded, Note, TableListing
from steward.ingest.job import Job, check_width
from steward.ingest.names import Naming, unique_names
from steward.ingest.numbers import ROUNDED
from steward.ingest.opening import Server, connected
from steward.ingest.reach import Reach, reachable
from steward.ingest.readings import Reading
from steward.ingest.stage import LINE, column_of
from steward.ingest.texts import TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.writing import TypedColumn, typed_columns, write_table
from steward.tables import literal, parquet_source, quote

_SHOWN_ROWS = 50
ZONED = "TIMESTAMP WITH TIME ZONE"


def _types_of(kind: str) -> Any:
    """What a server calls a type and how its text is read here, the types of shapes, or those of texts."""
    return package_yaml("steward.ingest", "server_types.yaml")[kind]


@dataclass(frozen=True)
class _ServerColumn:
    name: str
    kind: str
    """What the server calls its type."""
    type: str | None
    """How its text is read; none: as text."""
    padded: bool = False
    """Whether the server prints zeros before its numbers."""


def inspect(job: Job, url: str, *, reach: Reach) -> Inspection:
    """`reach`: which servers may be reached."""
    address = reachable(parse_address(url), reach)
    with connected(job, address) as server:
        connection = server.session
        table = _table(job, server, address, choose_first=True)
        staged = _staged(job, server, table, job.limits.sample_records)
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


def load(job: Job, url: str, out_dir: Path, *, reach: Reach) -> Loaded:
    address = reachable(parse_address(url), reach)
    with connected(job, address) as server:
        connection = server.session
        table = _table(job, server, address, choose_first=False)
        job.progress("fetching rows", 0, None)
        staged = _staged(job, server, table, None)
        records = _count(connection, staged.source)
        findings, typed, notes = _types(job, connection, table, staged)
        job.progress("writing", 0, records)
        written = write_table(connection, staged, typed, out_dir, records)
    return Loaded(
        name=job.name,
        format=address.kind,
        table=table.name,
        **vars(written),
        findings=findings,
        warnings=(*table.naming.notes, *notes),
    )


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


def _server_literal(kind: str, text: str) -> str:
    return literal(text) if kind == "postgresql" else literal(text.replace("\\", "\\\\"))


def _server_name(kind: str, name: str) -> str:
    return quote(name) if kind == "postgresql" else "`" + name.replace("`", "``") + "`"


def _table(job: Job, server: Server, address: Address, *, choose_first: bool) -> _Table:
    kind = address.kind
    where = (
        "table_schema NOT IN ('pg_catalog', 'information_schema')"
        if kind == "postgresql"
        else f"table_schema = {_server_literal(kind, address.database)}"
    )
    listed = server.ask(
        "SELECT table_schema AS s, table_name AS n FROM information_schema.tables "
        f"WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') AND {where} "
        "ORDER BY table_schema, table_name"
    )
    default = "public" if kind == "postgresql" else address.database
    places = {
        (name if schema == default else f"{schema}.{name}"): (schema, name)
        for schema, name in listed
    }
    chosen = choose_table(job, list(places), choose_first=choose_first)
    schema, name = places[chosen]
    columns = _server_columns(server, schema, name)
    check_width(len(columns), job.limits)
    naming = unique_names([column.name for column in columns])
    listing = tuple(TableListing(known) for known in places)
    key = _primary_key(server, schema, name)
    return _Table(chosen, schema, name, columns, key, naming, listing, kind)


def _server_columns(server: Server, schema: str, name: str) -> tuple[_ServerColumn, ...]:
    kind = server.kind
    rows = server.ask(
        "SELECT column_name AS n, data_type AS t, numeric_precision AS p, numeric_scale AS s, "
        f"{'NULL' if kind == 'postgresql' else 'column_type'} AS f "
        "FROM information_schema.columns "
        f"WHERE table_schema = {_server_literal(kind, schema)} "
        f"AND table_name = {_server_literal(kind, name)} ORDER BY ordinal_position",
    )
    columns = []
    for column, declared, precision, scale, full in rows:
        known = _types_of(kind).get(declared.lower())
        if declared.lower() in ("numeric", "decimal") and precision and int(precision) <= 38:
            known = f"DECIMAL({int(precision)},{int(scale or 0)})"
        elif declared.lower() in ("numeric", "decimal"):
            known = "number"
        if full and "unsigned" in str(full).lower() and known in ("SMALLINT", "INTEGER", "BIGINT"):
            known = "UBIGINT" if declared.lower() == "bigint" else "BIGINT"
        padded = kind == "mysql" and (declared == "year" or "zerofill" in str(full).lower())
        columns.append(_ServerColumn(column, declared, known, padded))
    return tuple(columns)


def _primary_key(server: Server, schema: str, name: str) -> tuple[str, ...]:
    kind = server.kind
    rows = server.ask(
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
    if column.kind.lower() in _types_of("shapes"):
        return f"ST_AsText({cell})"
    if column.kind.lower() == "timestamp":
        # The session's zone is UTC; the text says so.
        return f"CONCAT(CAST({cell} AS CHAR), '+00')"
    # MySQL prints six digits of a float, and the bytes of bits; as a double or number it prints all.
    exact = {"float": f"{cell} + 0e0", "bit": f"{cell} + 0"}.get(column.kind.lower(), cell)
    exact = f"{cell} + 0" if column.padded else exact
    return f"CAST({exact} AS CHAR)"


def _staged(job: Job, server: Server, table: _Table, most: int | None) -> TextTable:
    path = job.scratch / "fetched.parquet"
    server.fetch(job, _select(table, most), len(table.columns), path)
    columns = []
    for i, (name, original) in enumerate(
        zip(table.naming.names, table.naming.originals, strict=True)
    ):
        families = frozenset({"number"} if table.columns[i].type == "number" else ())
        text = quote(column_of(i))
        if _has_zero_dates(table, table.columns[i]):
            text = f"CASE WHEN {_is_zero_date(text)} THEN NULL ELSE {text} END"
        columns.append(TextColumn(name, original, text, families))
    return TextTable(parquet_source([path]), tuple(columns), LINE)


def _has_zero_dates(table: _Table, column: _ServerColumn) -> bool:
    """MySQL has a date of zeros where others have none."""
    return table.kind == "mysql" and column.kind.lower() in ("date", "datetime", "timestamp")


def _is_zero_date(text: str) -> str:
    return rf"regexp_full_match({text}, '0000-00-00( 00:00:00(\.0+)?(\+00)?)?')"


def _zero_dates(
    connection: duckdb.DuckDBPyConnection, table: _Table, staged: TextTable
) -> tuple[Note, ...]:
    """Tells which columns had dates of zeros, which are read as no date."""
    notes = []
    for i, column in enumerate(table.columns):
        if not _has_zero_dates(table, column):
            continue
        found = _count(connection, f"{staged.source} WHERE {_is_zero_date(quote(column_of(i)))}")
        if found:
            name = staged.columns[i].name
            dates = "One date" if found == 1 else f"{found:,} dates"
            message = f"{dates} of zeros (0000-00-00) in {name!r} read as no date."
            notes.append(Note("zero-dates", message, name))
    return tuple(notes)


def _count(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    return int(row[0]) if row else 0


def _types(
    job: Job, connection: duckdb.DuckDBPyConnection, table: _Table, staged: TextTable
) -> tuple[tuple[ColumnFinding, ...], tuple[TypedColumn, ...], tuple[Note, ...]]:
    """The server's own types, with a test for the values that they have and Parquet has not."""
    inferred = infer(connection, staged, job.options)
    wanted = []
    rounded = [note for note in inferred.notes if note.code == ROUNDED]
    exact = [note for note in inferred.notes if note not in rounded]
    notes = [*exact, *_zero_dates(connection, table, staged)]
    for finding, column in zip(inferred.findings, table.columns, strict=True):
        known = column.type
        reason = f"The server declares {column.kind}."
        if known == "number" and not finding.declared and _names(rounded, finding):
            # The server keeps every digit, and so does the text.
            wanted.append(replace(finding, type="VARCHAR", reason=reason))
            message = f"{finding.name!r} is kept as text: it has more digits than a number holds."
            notes.append(Note("kept-as-text", message, finding.name))
            continue
        if finding.declared or known == "number":
            notes += [note for note in rounded if note.column == finding.name]
            wanted.append(finding)
            continue
        if known is None:
            if column.kind.lower() not in _types_of("texts"):
                message = f"{finding.name!r} is kept as text: its type is {column.kind}."
                notes.append(Note("kept-as-text", message, finding.name))
            wanted.append(replace(finding, reason=reason))
            continue
        wanted.append(replace(finding, type=known, reason=reason, candidates={}, samples=()))
    plain = typed_columns(staged.columns, wanted, job.options)
    typed = tuple(map(_kept_exactly, plain, wanted, staged.columns))
    return tuple(wanted), typed, tuple(notes)


def _names(notes: Sequence[Note], finding: ColumnFinding) -> bool:
    return any(note.column == finding.name for note in notes)


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
