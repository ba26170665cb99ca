"""Reads tables out of SQLite files, value by value: SQLite enforces no types, so values decide."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote as url_quote

from steward.core import Invalid
from steward.ingest.databases import choose_table
from steward.ingest.findings import ColumnFinding, Inspection, Loaded, Note, TableListing
from steward.ingest.job import Job, check_width, locked_session
from steward.ingest.names import Naming, unique_names
from steward.ingest.readings import Reading
from steward.ingest.records import decode_marked, has_marks, unmarked
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import Inferred, TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.writing import TypedColumn, typed_columns, write_table
from steward.tables import literal, quote

_SHOWN_ROWS = 50
_FETCH = 10_000
_LARGEST_EXACT = 2**53
_CLASSES = ("integer", "real", "text", "blob")


@dataclass(frozen=True)
class _Tally:
    """How many values of a column have which storage class; SQLite enforces none."""

    declared: str
    integer: int
    real: int
    text: int
    blob: int
    longest_integer: int

    @property
    def classes(self) -> frozenset[str]:
        named = (
            ("integer", self.integer),
            ("real", self.real),
            ("text", self.text),
            ("blob", self.blob),
        )
        return frozenset(name for name, count in named if count)


@dataclass(frozen=True)
class _SqliteTable:
    name: str
    tables: tuple[TableListing, ...]
    naming: Naming
    tallies: tuple[_Tally, ...]
    stage: Stage
    odd: Stage
    complete: bool


def inspect(job: Job) -> Inspection:
    staged = _staged(job, job.limits.sample_records, choose_first=True)
    with locked_session(job) as connection:
        table = _text_table(staged)
        findings, typed, notes = _sqlite_types(
            job, staged, infer(connection, table, job.options), table
        )
        shown = ", ".join(column.text for column in typed)
        rows = connection.execute(
            f"SELECT {shown} FROM {table.source} ORDER BY {LINE} LIMIT {_SHOWN_ROWS}"
        ).fetchall()
    return Inspection(
        name=job.name,
        format="sqlite",
        columns=findings,
        wrappers=job.wrappers,
        tables=job.listed(staged.tables),
        table=job.table_name(staged.name),
        rows=tuple(rows),
        records_seen=staged.stage.rows + staged.odd.rows,
        complete=staged.complete,
        warnings=(*job.notes, *staged.naming.notes, *notes),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    staged = _staged(job, None, choose_first=False)
    with locked_session(job, out_dir) as connection:
        table = _text_table(staged)
        findings, typed, notes = _sqlite_types(
            job, staged, infer(connection, table, job.options), table
        )
        job.progress("writing", 0, staged.stage.rows)
        records = staged.stage.rows + staged.odd.rows
        written = write_table(connection, table, typed, out_dir, records, odd=staged.odd.source)
    return Loaded(
        name=job.name,
        format="sqlite",
        table=job.table_name(staged.name),
        **vars(written),
        findings=findings,
        wrappers=job.wrappers,
        warnings=(*job.notes, *staged.naming.notes, *notes),
    )


@contextmanager
def _sqlite(job: Job) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, load code or trust what the file's schema says."""
    address = f"file:{url_quote(str(job.path))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = decode_marked
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, job.limits.record_mb << 20)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            _check_whole(job, connection)
            yield connection
    except sqlite3.Error as problem:
        raise Invalid(
            f"{job.name!r} is a damaged SQLite file: {str(problem)[:160]}.", code="damaged"
        ) from problem


def _check_whole(job: Job, connection: sqlite3.Connection) -> None:
    """A file that was cut short reads as an empty table, so its pages are checked first."""
    [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    [(size,)] = connection.execute("PRAGMA page_size").fetchall()
    checked = connection.execute("PRAGMA quick_check(1)").fetchall()
    if job.path.stat().st_size < pages * size or checked != [("ok",)]:
        raise Invalid(f"{job.name!r} is a damaged SQLite file; send it again.", code="damaged")


def _staged(job: Job, most: int | None, *, choose_first: bool) -> _SqliteTable:
    with _sqlite(job) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
                "ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
            )
        ]
        name = choose_table(job, names, choose_first=choose_first)
        declared = connection.execute(
            "SELECT name, type FROM pragma_table_info(?) ORDER BY cid", (name,)
        ).fetchall()
        check_width(len(declared), job.limits)
        naming = unique_names([column for column, _ in declared])
        columns = ", ".join(quote(column) for column, _ in declared)
        limit = f" LIMIT {most + 1}" if most is not None else ""
        source = f"(SELECT {columns} FROM {quote(name)}{limit})"
        tallies = _tallies(connection, source, declared)
        cursor = connection.execute(f"SELECT {columns} FROM {quote(name)}{limit}")
        stage, odd = _stage(job, cursor, tallies, most)
    complete = most is None or stage.rows + odd.rows < most
    listing = tuple(TableListing(table) for table in names)
    return _SqliteTable(name, listing, naming, tallies, stage, odd, complete)


def _tallies(
    connection: sqlite3.Connection, source: str, declared: Sequence[tuple[str, str]]
) -> tuple[_Tally, ...]:
    tallies = []
    for name, kind in declared:
        column = quote(name)
        counts = connection.execute(
            f"SELECT {', '.join(f'sum(typeof({column}) = {literal(c)})' for c in _CLASSES)}, "
            f"max(max(CASE WHEN typeof({column}) = 'integer' THEN {column} END), "
            f"-min(CASE WHEN typeof({column}) = 'integer' THEN max({column}, -{2**62}) END)) "
            f"FROM {source}"
        ).fetchone()
        tallies.append(_Tally(kind.upper(), *(int(count or 0) for count in counts)))
    return tuple(tallies)


def _stage(
    job: Job, cursor: sqlite3.Cursor, tallies: Sequence[_Tally], most: int | None
) -> tuple[Stage, Stage]:
    stage, odd = Stage(job.scratch, "table", len(tallies)), Stage(job.scratch, "table-odd", 2)
    binary = ["blob" in tally.classes for tally in tallies]
    number = 0
    with stage, odd:
        while rows := cursor.fetchmany(_FETCH):
            for row in rows:
                number += 1
                if most is not None and number > most:
                    return stage, odd
                texts = [_text(cell, hexed) for cell, hexed in zip(row, binary, strict=True)]
                if any(text and has_marks(text) for text in texts):
                    raw = "\t".join(unmarked(text) if text else "" for text in texts)
                    odd.add(number, (raw, "contains text that is not valid UTF-8"), len(raw))
                else:
                    stage.add(number, texts, sum(len(text) for text in texts if text))
            job.progress("reading rows", number, None)
    return stage, odd


def _text(cell: Any, hexed: bool) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return cell.hex()
    text = cell if isinstance(cell, str) else repr(cell)
    return text.encode("utf-8", "surrogatepass").hex() if hexed else text


def _text_table(staged: _SqliteTable) -> TextTable:
    columns = []
    for i, (name, original) in enumerate(
        zip(staged.naming.names, staged.naming.originals, strict=True)
    ):
        tally = staged.tallies[i]
        dated = tally.classes == {"text"} and ("DATE" in tally.declared or "TIME" in tally.declared)
        families = frozenset({"date"} if dated else ())
        columns.append(TextColumn(name, original, quote(column_of(i)), families))
    return TextTable(staged.stage.source, tuple(columns), LINE)


def _sqlite_types(
    job: Job, staged: _SqliteTable, inferred: Inferred, table: TextTable
) -> tuple[tuple[ColumnFinding, ...], tuple[TypedColumn, ...], tuple[Note, ...]]:
    findings, typed, notes = [], [], []
    plain = typed_columns(table.columns, inferred.findings, job.options)
    for finding, column, tally in zip(inferred.findings, plain, staged.tallies, strict=True):
        kind = _sqlite_type(tally)
        if finding.declared or kind is None:
            findings.append(finding)
            typed.append(column)
            continue
        counts = {name: getattr(tally, name) for name in _CLASSES if getattr(tally, name)}
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        reason = f"Its values are stored as {listed}."
        findings.append(replace(finding, type=kind, reason=reason, candidates=counts))
        if len(counts) > 1 and kind in ("VARCHAR", "BLOB"):
            notes.append(Note("mixed-storage", f"{column.name!r} is {kind}: {reason}", column.name))
        text = column.text
        value = text if kind == "VARCHAR" else f"CAST({text} AS {kind})"
        if kind == "BLOB":
            value = f"unhex({text})"
        typed.append(TypedColumn(column.name, text, value, None, Reading(kind)))
    return tuple(findings), tuple(typed), tuple(notes)


def _sqlite_type(tally: _Tally) -> str | None:
    """The type that holds every value; none where the texts decide."""
    classes = tally.classes
    if not classes or classes == {"text"}:
        return None
    if "blob" in classes:
        return "BLOB"
    if classes == {"integer"}:
        return "BIGINT"
    if classes == {"real"} or (
        classes == {"integer", "real"} and tally.longest_integer <= _LARGEST_EXACT
    ):
        return "DOUBLE"
    return "VARCHAR"
