"""Inspects and loads any file: unpacks it, finds its format, and hands it to that format's module."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from steward.core import Invalid, NotFound
from steward.ingest.archive import unpacked
from steward.ingest.findings import Inspection, Loaded
from steward.ingest.job import Job, Progress, locked_session, no_progress
from steward.ingest.options import (
    DEFAULT_LIMITS,
    DEFAULT_OPTIONS,
    Limits,
    Options,
    checked,
)
from steward.ingest.reach import PUBLIC, Reach
from steward.tables import parquet_source

if TYPE_CHECKING:
    from steward.ingest.querying import Asked

_REASONS = 3
_Inspect = Callable[[Job], Inspection]
_Load = Callable[[Job, Path], Loaded]


def inspect(
    path: Path,
    name: str,
    options: Options | None = None,
    *,
    limits: Limits | None = None,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """What a file holds and how it would be read; nothing is written."""
    with _job(path, name, options, limits, scratch, progress) as job:
        opened, found = unpacked(job)
        return _reader(found)[0](opened)


def load(
    path: Path,
    options: Options | None,
    out_dir: Path,
    limits: Limits | None = None,
    *,
    name: str | None = None,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Loaded:
    """Writes a file's rows and rejects as Parquet to `out_dir`; every record ends in one of the two."""
    with _job(path, name or path.name, options, limits, scratch, progress) as job:
        opened, found = unpacked(job)
        if len(opened.members) > 1 and job.options.table is None:
            listed = ", ".join(member.name for member in opened.members[:20])
            raise Invalid(
                f"{job.name!r} holds several files; say which: {listed}.", code="which-table"
            )
        out_dir.mkdir(parents=True, exist_ok=True)
        return _with_reasons(opened, _reader(found)[1](opened, out_dir), out_dir)


def _with_reasons(job: Job, loaded: Loaded, out_dir: Path) -> Loaded:
    """The load with the most frequent reasons of its rejects."""
    if not loaded.rejected:
        return loaded
    with locked_session(job, out_dir) as connection:
        rows = connection.execute(
            f"SELECT reason, count(*) FROM {parquet_source([out_dir / loaded.rejects])} "
            f"GROUP BY reason ORDER BY 2 DESC, 1 LIMIT {_REASONS}"
        ).fetchall()
    return replace(loaded, reject_reasons=tuple(f"{why} ({count:,})" for why, count in rows))


def inspect_server(
    url: str,
    options: Options | None = None,
    *,
    reach: Reach = PUBLIC,
    limits: Limits | None = None,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """The tables of a database server, and how one of them would be read."""
    from steward.ingest import servers

    with _job(None, "the server", options, limits, scratch, progress) as job:
        return servers.inspect(job, url, reach=reach)


def load_server(
    url: str,
    options: Options | None,
    out_dir: Path,
    limits: Limits | None = None,
    *,
    reach: Reach = PUBLIC,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Loaded:
    """Writes one table of a database server as Parquet to `out_dir`."""
    from steward.ingest import servers

    with _job(None, "the server", options, limits, scratch, progress) as job:
        out_dir.mkdir(parents=True, exist_ok=True)
        return _with_reasons(job, servers.load(job, url, out_dir, reach=reach), out_dir)


def query(
    source: Path | str,
    name: str,
    sql: str | None,
    most: int,
    *,
    reach: Reach = PUBLIC,
    limits: Limits | None = None,
    scratch: Path | None = None,
) -> "Asked":
    """A few rows of a database: of a server by its URL, of a file by its path. Without SQL: what it is."""
    from steward.ingest import querying

    path, url = (source, None) if isinstance(source, Path) else (None, source)
    with _job(path, name, None, limits, scratch, no_progress) as job:
        if sql is None:
            return querying.probe(job, url, reach=reach)
        if url is not None:
            return querying.query_server(job, url, sql, most, reach=reach)
        return querying.query_file(job, sql, most)


@contextmanager
def _job(
    path: Path | None,
    name: str,
    options: Options | None,
    limits: Limits | None,
    scratch: Path | None,
    progress: Progress,
) -> Iterator[Job]:
    if path is not None and not path.is_file():
        raise NotFound(f"There is no file for {name!r}.")
    with TemporaryDirectory(prefix="steward-ingest-", dir=scratch) as folder:
        yield Job(
            path=(path or Path(folder)).resolve(),
            name=name,
            options=checked(options or DEFAULT_OPTIONS),
            limits=limits or DEFAULT_LIMITS,
            scratch=Path(folder).resolve(),
            progress=progress,
        )


def _reader(found: str) -> tuple[_Inspect, _Load]:
    """The functions of a format; each module is loaded when first needed."""
    if found == "delimited":
        from steward.ingest import delimited

        return delimited.inspect, delimited.load
    if found == "json":
        from steward.ingest import json_lines

        return json_lines.inspect, json_lines.load
    if found == "parquet":
        from steward.ingest import parquet

        return parquet.inspect, parquet.load
    if found == "excel":
        from steward.ingest import excel

        return excel.inspect, excel.load
    if found == "sqlite":
        from steward.ingest import sqlite

        return sqlite.inspect, sqlite.load
    if found == "duckdb":
        from steward.ingest import databases

        return databases.inspect, databases.load
    raise Invalid(f"{found!r} is no format of a file; use a connection URL for servers.")
