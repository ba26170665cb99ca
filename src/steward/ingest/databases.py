"""Reads tables out of DuckDB files; only tables, never views or macros stored in them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from steward.core import Invalid, NotFound
from steward.ingest.columns import Kept, keep, select_sql
from steward.ingest.findings import DATA, REJECTS, Inspection, Loaded, Note, TableListing
from steward.ingest.job import Job, check_width
from steward.ingest.writing import copy, write_rejects
from steward.tables import Column, describe, engine, literal, parquet_source, quote

_SHOWN_ROWS = 50


def choose_table(job: Job, names: Sequence[str], *, choose_first: bool) -> str:
    """The table that was asked for; the only one, or for a first look the first, if none was."""
    wanted = job.options.table
    if not names:
        raise Invalid(f"{job.name!r} holds no tables.", code="empty")
    if wanted is not None:
        if wanted not in names:
            listed = ", ".join(names[:20])
            raise NotFound(f"There is no table {wanted!r} in {job.name!r}; there are {listed}.")
        return wanted
    if len(names) > 1 and not choose_first:
        raise Invalid(
            f"{job.name!r} holds several tables; say which: {', '.join(names[:20])}.",
            code="which-table",
        )
    return names[0]


@dataclass(frozen=True)
class _DuckTable:
    name: str
    tables: tuple[TableListing, ...]
    source: str
    rows: int
    kept: tuple[Kept, ...]
    notes: tuple[Note, ...]


def inspect(job: Job) -> Inspection:
    with duckdb_session(job) as connection:
        table = _duck_table(job, connection, choose_first=True)
        shown = select_sql(table.kept, table.source)
        rows = connection.execute(
            f"SELECT COLUMNS(*)::VARCHAR FROM ({shown}) LIMIT {_SHOWN_ROWS}"
        ).fetchall()
    return Inspection(
        name=job.name,
        format="duckdb",
        columns=tuple(column.finding for column in table.kept),
        wrappers=job.wrappers,
        tables=job.listed(table.tables),
        table=job.table_name(table.name),
        rows=tuple(rows),
        records_seen=table.rows,
        complete=True,
        warnings=(*job.notes, *table.notes),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    with duckdb_session(job, out_dir) as connection:
        table = _duck_table(job, connection, choose_first=False)
        job.progress("writing", 0, table.rows)
        rows = copy(connection, select_sql(table.kept, table.source), out_dir / DATA)
        write_rejects(connection, (), out_dir / REJECTS)
        columns = describe(connection, parquet_source([out_dir / DATA]))
    if rows != table.rows:
        raise Invalid(f"{job.name!r} is damaged: {table.rows} rows are {rows}.", code="damaged")
    return Loaded(
        name=job.name,
        format="duckdb",
        table=job.table_name(table.name),
        records=table.rows,
        rows=rows,
        rejected=0,
        columns=columns,
        findings=tuple(column.finding for column in table.kept),
        wrappers=job.wrappers,
        warnings=(*job.notes, *table.notes),
    )


@contextmanager
def duckdb_session(job: Job, *writable: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The file attached for reading, with every other access to files closed before it is queried."""
    limits = engine.Limits(job.limits.engine_memory_mb, job.limits.threads, job.limits.output_mb)
    with engine.session(limits, job.scratch) as connection:
        try:
            connection.execute(f"ATTACH {literal(str(job.path))} AS source (READ_ONLY)")
            folders = ", ".join(literal(str(folder)) for folder in (job.scratch, *writable))
            connection.execute(f"SET allowed_directories = [{folders}]")
            connection.execute("SET enable_external_access = false")
            yield connection
        except duckdb.Error as problem:
            said = str(problem).partition("\n")[0].replace(str(job.path), job.name)[:200]
            raise Invalid(
                f"{job.name!r} cannot be read as DuckDB: {said}", code="damaged"
            ) from problem


def _duck_table(
    job: Job, connection: duckdb.DuckDBPyConnection, *, choose_first: bool
) -> _DuckTable:
    listed = connection.execute(
        "SELECT schema_name, table_name, column_count FROM duckdb_tables() "
        "WHERE database_name = 'source' AND NOT internal ORDER BY ALL"
    ).fetchall()
    places = {
        (table if schema == "main" else f"{schema}.{table}"): (schema, table, width)
        for schema, table, width in listed
    }
    name = choose_table(job, list(places), choose_first=choose_first)
    schema, table, width = places[name]
    check_width(width, job.limits)
    source = f"source.{quote(schema)}.{quote(table)}"
    columns: tuple[Column, ...] = describe(connection, source)
    counted = connection.execute(f"SELECT count(*) FROM {source}").fetchone()
    kept = tuple(
        keep(column, column.name, column.name, short=_short(connection, source, column))
        for column in columns
    )
    return _DuckTable(
        name,
        tuple(TableListing(known, columns=place[2]) for known, place in places.items()),
        source,
        int(counted[0]) if counted else 0,
        kept,
        tuple(column.note for column in kept if column.note),
    )


def _short(connection: duckdb.DuckDBPyConnection, source: str, column: Column) -> bool:
    """Whether whole numbers of up to 39 digits have at most 38, which a decimal holds."""
    if column.type != "HUGEINT":
        return False
    cell = quote(column.name)
    row = connection.execute(
        f"SELECT count_if(TRY_CAST({cell} AS DECIMAL(38,0)) IS NULL AND {cell} IS NOT NULL) "
        f"FROM {source}"
    ).fetchone()
    return row is not None and row[0] == 0
