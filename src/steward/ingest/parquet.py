"""Reads Parquet: types come from the file, rows are written anew so that equal rows are equal bytes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from steward.core import Invalid
from steward.ingest.columns import Kept, keep, select_sql
from steward.ingest.findings import DATA, REJECTS, Inspection, Loaded, Note
from steward.ingest.job import Job, check_width, locked_session
from steward.ingest.names import unique_names
from steward.ingest.writing import copy, write_rejects
from steward.tables import describe, literal, parquet_source

_SHOWN_ROWS = 50


@dataclass(frozen=True)
class _File:
    rows: int
    kept: tuple[Kept, ...]
    notes: tuple[Note, ...]
    source: str


def inspect(job: Job) -> Inspection:
    with locked_session(job) as connection:
        file = _opened(job, connection)
        shown = ", ".join(
            f"CAST({part} AS VARCHAR)"
            for part in (column.sql.rpartition(" AS ")[0] for column in file.kept)
        )
        rows = _guarded(job, connection, f"SELECT {shown} FROM {file.source} LIMIT {_SHOWN_ROWS}")
    return Inspection(
        name=job.name,
        format="parquet",
        columns=tuple(column.finding for column in file.kept),
        wrappers=job.wrappers,
        tables=job.listed(),
        table=job.table_name(None),
        rows=tuple(tuple(row) for row in rows),
        records_seen=file.rows,
        complete=True,
        warnings=(*job.notes, *file.notes),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    with locked_session(job, out_dir) as connection:
        file = _opened(job, connection)
        job.progress("writing", 0, file.rows)
        try:
            rows = copy(connection, select_sql(file.kept, file.source), out_dir / DATA)
        except duckdb.Error as problem:
            raise _damaged(job, problem) from problem
        if rows != file.rows:
            raise Invalid(
                f"{job.name!r} says it has {file.rows} rows but holds {rows}; it is damaged.",
                code="damaged",
            )
        write_rejects(connection, (), out_dir / REJECTS)
        columns = describe(connection, parquet_source([out_dir / DATA]))
    return Loaded(
        name=job.name,
        format="parquet",
        table=job.table_name(None),
        records=file.rows,
        rows=rows,
        rejected=0,
        columns=columns,
        findings=tuple(column.finding for column in file.kept),
        wrappers=job.wrappers,
        warnings=(*job.notes, *file.notes),
    )


def _opened(job: Job, connection: duckdb.DuckDBPyConnection) -> _File:
    source = parquet_source([job.path])
    path = literal(str(job.path))
    counted = _guarded(job, connection, f"SELECT num_rows FROM parquet_file_metadata({path})")
    try:
        columns = describe(connection, source)
    except duckdb.Error as problem:
        raise _damaged(job, problem) from problem
    check_width(len(columns), job.limits)
    naming = unique_names([column.name for column in columns])
    kept = tuple(
        keep(column, name, column.name) for column, name in zip(columns, naming.names, strict=True)
    )
    notes = [*naming.notes, *(column.note for column in kept if column.note)]
    if job.options.columns:
        message = "The file declares its types; change them after loading."
        notes.append(Note("types-declared", message))
    return _File(int(counted[0][0]), kept, tuple(notes), source)


def _guarded(job: Job, connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql).fetchall()
    except duckdb.Error as problem:
        raise _damaged(job, problem) from problem


def _damaged(job: Job, problem: duckdb.Error) -> Invalid:
    said = str(problem).partition("\n")[0].replace(str(job.path), job.name)[:200]
    return Invalid(f"{job.name!r} is a damaged Parquet file: {said}", code="damaged")
