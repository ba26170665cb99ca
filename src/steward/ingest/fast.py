"""Large regular files through DuckDB's parallel reader, believed only when the records tie out."""

import codecs
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from steward.ingest.arrow import arrow, arrow_parquet
from steward.ingest.dialect import Layout
from steward.ingest.findings import DATA, REJECTS, ColumnFinding, Dialect, Encoding, Sample
from steward.ingest.job import Job
from steward.ingest.names import Naming
from steward.ingest.records import Records, lines_of
from steward.ingest.scan import Scan, lines_at, locate, scan
from steward.ingest.segments import Segment, cut
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import Inferred, TextColumn, TextTable, reading_of
from steward.ingest.types import gathered, infer, open_questions
from steward.ingest.writing import (
    Outcome,
    TypedColumn,
    copy,
    misfits_sql,
    ragged_reason,
    typed_columns,
    values_once,
    write_rejects,
    write_rows,
)
from steward.tables import literal, parquet_source, quote

_MOST_COLUMNS = 1_000
_FEW = 0.01
"""The share of records up to which misfits are kept before it is known whether the types stay."""
_RAGGED = ("MISSING COLUMNS", "TOO MANY COLUMNS")
_UNREADABLE = (
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfMemoryException,
    duckdb.IOException,
)
_Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """A UTF-8 file that DuckDB can read, and what its reader has to be told."""

    path: Path
    dialect: Dialect
    first_line: int
    naming: Naming
    longest: int
    segments: tuple[Segment, ...] = ()
    """The same records in several files, each to be read serially."""

    @property
    def parallel(self) -> bool:
        return not self.segments

    @property
    def files(self) -> tuple[Segment, ...]:
        return self.segments or (Segment(self.path, 0),)

    @property
    def width(self) -> int:
        return len(self.naming.names)

    def reader(self, rejects: str | None = None) -> str:
        columns = ", ".join(f"{literal(column_of(i))}: 'VARCHAR'" for i in range(self.width))
        mark = self.dialect.quote or ""
        errors = (
            f"store_rejects = true, rejects_table = {literal(rejects)}, "
            f"rejects_scan = {literal(rejects + '_scans')}"
            if rejects
            else "ignore_errors = true"
        )
        files = ", ".join(literal(str(file.path)) for file in self.files)
        skip = 0 if self.segments else self.first_line - 1
        return (
            f"read_csv([{files}], auto_detect = false, header = false, "
            f"skip = {skip}, delim = {literal(self.dialect.delimiter)}, "
            f"quote = {literal(mark)}, escape = {literal(mark)}, columns = {{{columns}}}, "
            f"allow_quoted_nulls = false, strict_mode = true, comment = '', "
            # Left to itself, DuckDB takes buffers of sixteen times the longest line.
            f"max_line_size = {self.longest}, buffer_size = {self.longest * 2}, parallel = {str(self.parallel).lower()}, {errors})"
        )

    def columns(self) -> tuple[TextColumn, ...]:
        return tuple(
            TextColumn(name, original, quote(column_of(i)), marked=True)
            for i, (name, original) in enumerate(
                zip(self.naming.names, self.naming.originals, strict=True)
            )
        )


def prepare(
    job: Job,
    encoding: Encoding,
    dialect: Dialect,
    layout: Layout,
    naming: Naming,
    *,
    pads: bool,
) -> Source | None:
    """The file in a form DuckDB reads exactly, or none if it is too odd for that."""
    marks = dialect.delimiter + (dialect.quote or "")
    simple = (
        len(dialect.delimiter) == 1
        and marks.isascii()
        and dialect.escape in (None, dialect.quote)
        and dialect.line_end in ("\n", "\r\n")
        and not pads
        and 2 <= len(naming.names) <= _MOST_COLUMNS
    )
    if not simple:
        return None
    path: Path | None = job.path
    if codecs.lookup(encoding.name).name not in ("utf-8", "utf-8-sig", "ascii"):
        job.progress("converting to UTF-8", 0, job.path.stat().st_size)
        path = _transcoded(job, encoding.name)
    if path is None or not _plain_start(path, layout.first_line, dialect):
        return None
    return Source(path, dialect, layout.first_line, naming, job.limits.record_mb << 20)


def _transcoded(job: Job, encoding: str) -> Path | None:
    path = job.scratch / "utf8.txt"
    try:
        with (
            job.path.open("r", encoding=encoding, newline="") as text,
            path.open("w", encoding="utf-8", newline="") as out,
        ):
            while piece := text.read(1 << 20):
                out.write(piece)
    except UnicodeError:
        return None
    return path


def _plain_start(path: Path, first_line: int, dialect: Dialect) -> bool:
    """Whether the lines above the data can be skipped as lines: no quote spans two of them."""
    if dialect.quote is None:
        return True
    mark = dialect.quote.encode()
    with path.open("rb") as file:
        return all(file.readline(1 << 20).count(mark) % 2 == 0 for _ in range(first_line - 1))


def load(
    job: Job,
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    inferred: Inferred,
    out_dir: Path,
    *,
    parallel: bool,
) -> Outcome | None:
    """Types, rows and rejects of a whole file; none if the exact way must be taken after all."""
    with ThreadPoolExecutor(max_workers=1) as watcher:
        watch = watcher.submit(_watched, source, connection, parallel)
        try:
            if parallel:
                return _Loading(job, connection, source, inferred, out_dir, watch).run()
        except duckdb.InterruptException:
            if not watch.result().regular:
                return None
        except _UNREADABLE:
            # Whatever DuckDB cannot read, the exact way rejects with a line and a reason.
            return None
        return _load_segments(job, connection, source, inferred, out_dir, watch)


def _load_segments(
    job: Job,
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    inferred: Inferred,
    out_dir: Path,
    watch: Future[Scan],
) -> Outcome | None:
    """The way for line ends inside quotes."""
    job.progress("cutting between records", 0, source.path.stat().st_size)
    segments = cut(source.path, source.dialect, source.first_line, job.scratch / "segments")
    if not segments:
        return None
    source = replace(source, segments=segments)
    try:
        return _Loading(job, connection, source, inferred, out_dir, watch).run()
    except (duckdb.InterruptException, *_UNREADABLE):
        return None


def _watched(source: Source, connection: duckdb.DuckDBPyConnection, parallel: bool) -> Scan:
    """Scans beside DuckDB's reading, and stops it once its result cannot be used."""
    seen = scan(source.path, source.dialect)
    if not seen.regular or (parallel and seen.quoted_line_ends):
        connection.interrupt()
    return seen


class _Loading:
    def __init__(
        self,
        job: Job,
        connection: duckdb.DuckDBPyConnection,
        source: Source,
        inferred: Inferred,
        out_dir: Path,
        watch: Future[Scan],
    ) -> None:
        self._job = job
        self._connection = connection
        self._source = source
        self._inferred = inferred
        self._out = out_dir
        self._watch = watch
        self._attempt = 0
        self._looks = 0
        self._evidence = gathered(inferred.findings, source.dialect.delimiter)

    def run(self) -> Outcome | None:
        self._look_again([f.name for f in self._inferred.findings if _unsure(f, self._inferred)])
        self._job.progress("reading and writing", 0, self._source.path.stat().st_size)
        rows = self._write()
        seen = self._watch.result()
        if not seen.regular:
            return None
        if seen.quoted_line_ends and self._source.parallel:
            raise duckdb.InterruptException("the parallel reader cannot read this file")
        ragged = self._ragged()
        if ragged is None:
            return None
        structural, skip = ragged
        records, blank = seen.lines - (self._source.first_line - 1), 0
        if rows + len(skip) != records:
            records, blank = self._count()
        misfits = None
        if rows + len(skip) < records:
            rows, misfits = self._settle_misfits(rows, records, skip)
        rejected = write_rejects(self._connection, (structural, misfits), self._out / REJECTS)
        if records != rows + rejected:
            return None
        return Outcome(self._inferred, records, rows, rejected, blank)

    def _typed(self) -> tuple[TypedColumn, ...]:
        return typed_columns(self._source.columns(), self._inferred.findings, self._job.options)

    def _write(self) -> int:
        self._attempt += 1
        reader = self._source.reader(self._rejects)
        table = TextTable(reader, self._source.columns(), LINE)
        return write_rows(self._connection, table, self._typed(), self._out / DATA)

    @property
    def _rejects(self) -> str:
        return f"rejects_{'p' if self._source.parallel else 's'}{self._attempt}"

    def _ragged(self) -> tuple[str, _Positions] | None:
        """Rejects of the wrong width, and the offsets of their records; none if one is odd."""
        found = self._rejected(self._rejects)
        offsets = np.array([place for place, _, _ in found], dtype=np.int64)
        lines = lines_at(self._source.path, offsets)
        stage = Stage(self._job.scratch, f"ragged-{self._rejects}", 2)
        with stage:
            for line, (_, raw, expected) in zip(lines.tolist(), found, strict=True):
                width = _width_of(raw, self._source.dialect) if expected else None
                if width is None or width == self._source.width:
                    return None
                stage.add(line, (raw, ragged_reason(width, self._source.width)), len(raw))
        rejects = f'SELECT line, NULL AS "column", c0 AS raw, c1 AS reason FROM {stage.source}'
        return rejects, offsets

    def _rejected(self, table: str) -> list[tuple[int, str, bool]]:
        """Offset and text of what DuckDB rejected, and whether for nothing but its width."""
        files = ", ".join(
            f"({literal(str(file.path))}, {file.offset})" for file in self._source.files
        )
        rows = self._connection.execute(
            f"SELECT f.start + r.line_byte_position - 1 AS place, any_value(r.csv_line), "
            f"bool_and(r.error_type IN {_RAGGED}) FROM {quote(table)} r "
            f"JOIN {quote(table + '_scans')} s ON s.scan_id = r.scan_id AND s.file_id = r.file_id "
            f"JOIN (VALUES {files}) f(path, start) ON f.path = s.file_path GROUP BY place ORDER BY place"
        ).fetchall()
        found = []
        for place, raw, expected in rows:
            # Its text may begin with the end of the line before, and with blank lines.
            record = raw.lstrip("\r\n")
            found.append((place + len(raw) - len(record), record, expected))
        return found

    def _count(self) -> tuple[int, int]:
        nothing = np.zeros(0, dtype=np.int64)
        source = self._source
        places = locate(source.path, source.dialect, source.first_line, nothing, nothing)
        return places.records, places.blank_lines

    def _numbered(self, columns: Sequence[int], rejects: str | None = None) -> str:
        """The file's rows with their number; the reader keeps their order."""
        cells = ", ".join(quote(column_of(i)) for i in columns)
        reader = self._source.reader(rejects)
        return f"(SELECT row_number() OVER () - 1 AS line, {cells} FROM {reader})"

    def _settle_misfits(self, rows: int, records: int, skip: _Positions) -> tuple[int, str | None]:
        """Rows and misfits, after a look at every value of the columns that have some; written anew if a type changes."""
        few = records - rows - len(skip) <= records * _FEW
        # Few are kept on the way, so that the file need not be read again for them; many may be a column of its own kind.
        found = self._find_misfits() if few else None
        failing = self._failing() if found is None else self._named(found)
        before = [reading_of(finding) for finding in self._inferred.findings]
        self._look_again(failing)
        if before != [reading_of(finding) for finding in self._inferred.findings]:
            rows, found = self._write(), None
        if rows + len(skip) >= records:
            return rows, None
        found = found or self._find_misfits()
        return rows, self._placed(found, skip) if found is not None else None

    def _failing(self) -> list[str]:
        """The columns with values that do not fit."""
        checked = [(each.name, each.fits) for each in self._typed() if each.fits is not None]
        counts = self._connection.execute(
            f"SELECT {', '.join(f'count_if(NOT {fits})' for _, fits in checked)} "
            f"FROM {self._source.reader()}"
        ).fetchone()
        return [name for (name, _), count in zip(checked, counts or (), strict=True) if count]

    def _named(self, misfits: Path) -> list[str]:
        """The columns that some misfits are in."""
        rows = self._connection.execute(
            f"SELECT DISTINCT unnest(columns) FROM {parquet_source([misfits])}"
        ).fetchall()
        return [name for (name,) in rows]

    def _look_again(self, names: Sequence[str]) -> None:
        """Infers some columns from all records instead of the first ones, then those that they put in doubt."""
        looked: set[str] = set()
        while names:
            looked.update(names)
            self._look_at(names)
            evidence = gathered(self._inferred.findings, self._source.dialect.delimiter)
            names = [
                finding.name
                for finding in self._inferred.findings
                if finding.name not in looked
                and (
                    (finding.assumed and evidence != self._evidence)
                    or open_questions(finding, self._inferred.notes, evidence)
                )
            ]
            self._evidence = evidence

    def _look_at(self, names: Sequence[str]) -> None:
        self._job.progress("looking at every value of some columns", 0, None)
        columns = self._source.columns()
        chosen = [i for i, column in enumerate(columns) if column.name in names]
        path = self._job.scratch / "look.parquet"
        self._looks += 1
        rejects = f"{self._rejects}_look{self._looks}"
        copy(self._connection, f"SELECT * FROM {self._numbered(chosen, rejects)}", path)
        table = TextTable(parquet_source([path]), tuple(columns[i] for i in chosen), LINE)
        again = infer(
            self._connection,
            table,
            self._job.options,
            beside=[f for f in self._inferred.findings if f.name not in names],
            delimiter=self._source.dialect.delimiter,
        )
        skip = np.array([place for place, _, _ in self._rejected(rejects)], dtype=np.int64)
        found = {finding.name: finding for finding in self._with_lines(again.findings, skip)}
        before = self._inferred
        self._inferred = Inferred(
            tuple(found.get(finding.name, finding) for finding in before.findings),
            (*(note for note in before.notes if note.column not in found), *again.notes),
            (*(o for o in before.alternatives if o.column not in found), *again.alternatives),
        )

    def _with_lines(
        self, findings: Sequence[ColumnFinding], skip: _Positions
    ) -> list[ColumnFinding]:
        """Samples by line instead of by number among the rows that were read."""
        numbers = {s.line for f in findings for s in f.samples if s.line is not None}
        wanted = np.array(sorted(numbers), dtype=np.int64)
        source = self._source
        places = locate(source.path, source.dialect, source.first_line, wanted, skip)
        lines = dict(zip(wanted.tolist(), places.lines.tolist(), strict=True))
        return [
            replace(
                finding,
                samples=tuple(
                    Sample(lines.get(s.line) if s.line is not None else None, s.value, s.says)
                    for s in finding.samples
                ),
            )
            for finding in findings
        ]

    def _find_misfits(self) -> Path | None:
        """Records with values that do not fit their types, by their number; none where every text fits."""
        table = TextTable(self._numbered(range(self._source.width)), self._source.columns(), LINE)
        select = misfits_sql(table, self._typed())
        if select is None:
            return None
        path = self._job.scratch / "misfits.parquet"
        with values_once(self._connection):
            copy(self._connection, select, path)
        return path

    def _placed(self, misfits: Path, skip: _Positions) -> str:
        """The same as rejects, by the lines at which they stand."""
        lines = self._job.scratch / "lines.parquet"
        wanted = self._connection.execute(
            f"SELECT line FROM {parquet_source([misfits])} ORDER BY line"
        ).fetchnumpy()["line"]
        places = locate(
            self._source.path, self._source.dialect, self._source.first_line, wanted, skip
        )
        arrow_parquet().write_table(arrow().table({"line": wanted, "place": places.lines}), lines)
        return (
            f'SELECT l.place AS line, m."column", m.raw, m.reason, m.fields '
            f"FROM {parquet_source([misfits])} m JOIN {parquet_source([lines])} l ON l.line = m.line"
        )


def _unsure(finding: ColumnFinding, inferred: Inferred) -> bool:
    """Whether the first records left open what a column is: no value yet, or no one format."""
    doubts = ("assumed-date", "assumed-number", "ambiguous-date", "ambiguous-number", "mixed-dates")
    return not finding.declared and (
        finding.values == 0
        or any(note.column == finding.name and note.code in doubts for note in inferred.notes)
    )


def _width_of(raw: str, dialect: Dialect) -> int | None:
    records = list(Records(lines_of((raw,)), dialect, len(raw) + 1))
    if len(records) != 1 or records[0].fields is None:
        return None
    return len(records[0].fields)
