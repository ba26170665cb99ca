"""Reads CSV, TSV and any other delimited text.

Small and odd files are split by `records`, exactly. Large regular ones go through DuckDB's reader,
whose result is believed only when an independent count of the records agrees with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from steward.core import Bug, Invalid
from steward.ingest import fast
from steward.ingest.dialect import Layout, find_dialect, find_layout
from steward.ingest.encoding import find_encoding
from steward.ingest.findings import (
    DATA,
    REJECTS,
    Alternative,
    Dialect,
    Encoding,
    Inspection,
    Loaded,
    Note,
)
from steward.ingest.job import Job, check_width, locked_session
from steward.ingest.names import Naming, unique_names
from steward.ingest.records import Record, Records, decoded, has_marks, lines_of, unmarked
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.writing import (
    Outcome,
    misfits_sql,
    ragged_reason,
    typed_columns,
    write_rejects,
    write_rows,
)
from steward.tables import Column, describe, parquet_source, quote, without_mark

_SHOWN_ROWS = 50
_SAMPLE_CELLS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Everything known about a delimited file before its records are read."""

    encoding: Encoding
    dialect: Dialect
    layout: Layout
    naming: Naming
    sample: tuple[Record, ...]
    complete: bool
    """Whether the sample is the whole file."""
    notes: tuple[Note, ...]
    pads: bool = False
    """Whether records that lack fields are filled up."""

    @property
    def width(self) -> int:
        return len(self.naming.names)


def inspect(job: Job) -> Inspection:
    plan = make_plan(job)
    with locked_session(job) as connection:
        rows, odd = _staged(job, plan, plan.sample, "sample")
        inferred = infer(
            connection,
            _text_table(rows.source, plan.naming),
            job.options,
            delimiter=plan.dialect.delimiter,
        )
    seen = [row for row in (_fitted(r, plan) for r in plan.sample) if isinstance(row, list)]
    return Inspection(
        name=job.name,
        format="delimited",
        columns=inferred.findings,
        wrappers=job.wrappers,
        tables=job.listed(),
        table=job.table_name(None),
        encoding=plan.encoding,
        dialect=plan.dialect,
        header=plan.layout.header,
        preamble=tuple(unmarked(record.raw) for record in plan.layout.preamble),
        rows=tuple(tuple(row) for row in seen[:_SHOWN_ROWS]),
        records_seen=len(plan.sample),
        complete=plan.complete,
        would_reject=min(odd.rows + sum(f.misfits for f in inferred.findings), len(plan.sample)),
        warnings=(*job.notes, *plan.notes, *_sample_notes(plan, job), *inferred.notes),
        alternatives=(
            *plan.layout.alternatives,
            *_padding(plan),
            *inferred.alternatives,
        ),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    plan = make_plan(job)
    with locked_session(job, out_dir) as connection:
        outcome = None
        if not plan.complete:
            outcome = _load_fast(job, plan, connection, out_dir)
        if outcome is None:
            outcome = _load_exactly(job, plan, connection, out_dir)
        columns = describe(connection, parquet_source([out_dir / DATA]))
    return _loaded(job, plan, outcome, columns)


def make_plan(job: Job) -> Plan:
    """Encoding, dialect and layout, from the first megabytes."""
    size = job.path.stat().st_size
    if size == 0:
        raise Invalid(f"{job.name!r} is empty.", code="empty")
    encoding, notes = _encoding(job)
    limit = job.limits.sample_mb << 20
    text = "".join(decoded(job.path, encoding.name, limit))
    cut = size > limit
    dialects = find_dialect(text.removeprefix("\ufeff"), job.options)
    dialect = dialects.chosen
    reader = Records(
        lines_of((text.removeprefix("\ufeff"),)),
        dialect,
        job.limits.record_mb << 20,
        cut=cut,
    )
    records, complete = _first(reader, job)
    if cut and not records:
        raise Invalid(
            f"The first record of {job.name!r} is longer than {job.limits.sample_mb} MB; "
            "is this a table?",
            code="record-too-long",
        )
    if not records:
        raise Invalid(f"{job.name!r} has no record: every line is blank.", code="empty")
    layout = find_layout(records, job.options)
    if layout.width == 1:
        # With one column an empty line is a record without a value.
        lines = lines_of((text.removeprefix("\ufeff"),))
        reader = Records(lines, dialect, job.limits.record_mb << 20, keep_blank=True, cut=cut)
        records, complete = _first(reader, job)
    check_width(layout.width, job.limits)
    data = tuple(record for record in records if record.line >= layout.first_line)
    names = layout.names
    if job.options.formula_marks == "remove":
        names = tuple(name and without_mark(name) for name in names)
    naming = unique_names(names)
    others = tuple(_delimited_by(rival) for rival in dialects.rivals)
    layout = replace(layout, alternatives=(*others, *layout.alternatives))
    wish = job.options.ragged
    pads = wish == "pad" or (wish is None and _lacks_empties(data, len(naming.names)))
    told = (*notes, *naming.notes)
    return Plan(encoding, dialect, layout, naming, data, complete and not cut, told, pads)


_SIGNS = {"\t": "tabs", " ": "spaces", ",": "commas", ";": "semicolons", ":": "colons", "|": "|"}


def _delimited_by(dialect: Dialect) -> Alternative:
    sign = _SIGNS.get(dialect.delimiter, dialect.delimiter)
    why = "The first records have about as regular fields then."
    return Alternative(f"Fields separated by {sign}", why, {"delimiter": dialect.delimiter})


def _lacks_empties(sample: Sequence[Record], width: int) -> bool:
    """Whether records are too short only by fields that most others leave empty."""
    full = [r.fields for r in sample if r.fields is not None and len(r.fields) == width]
    short = [len(r.fields) for r in sample if r.fields is not None and len(r.fields) < width]
    if not short or min(short) < 2:
        return False
    return all(
        sum(not row[column] for row in full) * 2 > len(full) for column in range(min(short), width)
    )


def _padding(plan: Plan) -> tuple[Alternative, ...]:
    """The offer to fill up records that lack fields."""
    narrow = sum(r.fields is not None and len(r.fields) < plan.width for r in plan.sample)
    if not narrow or plan.pads:
        return ()
    records = "1 record has" if narrow == 1 else f"{narrow:,} records have"
    says = "Fill missing fields with empty values"
    return (Alternative(says, f"{records} fewer than {plan.width} fields.", {"ragged": "pad"}),)


def _encoding(job: Job) -> tuple[Encoding, tuple[Note, ...]]:
    if job.options.encoding is not None:
        return Encoding(job.options.encoding, "The encoding was declared."), ()
    return find_encoding(job.path)


def _first(reader: Records, job: Job) -> tuple[list[Record], bool]:
    """The records to judge by: fewer when they are wide."""
    records: list[Record] = []
    cells = 0
    for record in reader:
        records.append(record)
        cells += len(record.fields or ())
        if len(records) == 1:
            check_width(cells, job.limits)
        if len(records) >= job.limits.sample_records or cells >= _SAMPLE_CELLS:
            return records, False
    return records, True


def _text_table(source: str, naming: Naming) -> TextTable:
    columns = tuple(
        TextColumn(name, original, quote(column_of(i)), marked=True)
        for i, (name, original) in enumerate(zip(naming.names, naming.originals, strict=True))
    )
    return TextTable(source, columns, LINE)


def _fitted(record: Record, plan: Plan) -> list[str | None] | str:
    """The fields of a record, as many as there are columns, or why it has none."""
    if record.fields is None:
        return record.problem or "the record could not be split"
    if has_marks(record.raw):
        return f"contains bytes that are not valid {plan.encoding.name.removesuffix('-sig')}"
    missing = plan.width - len(record.fields)
    if missing == 0:
        return record.fields
    if missing > 0 and plan.pads:
        return [*record.fields, *[None] * missing]
    return ragged_reason(len(record.fields), plan.width)


def _staged(
    job: Job, plan: Plan, records: "Iterator[Record] | tuple[Record, ...]", name: str
) -> tuple[Stage, Stage]:
    """Records as two staged tables: those with the right fields, and the others with the reason."""
    rows = Stage(job.scratch, f"{name}-rows", plan.width)
    odd = Stage(job.scratch, f"{name}-odd", 2)
    with rows, odd:
        for record in records:
            fields = _fitted(record, plan)
            if isinstance(fields, str):
                odd.add(record.line, (unmarked(record.raw), fields), len(record.raw))
            else:
                rows.add(record.line, fields, len(record.raw))
    return rows, odd


def _all_records(job: Job, plan: Plan, reader: Records) -> Iterator[Record]:
    total = job.path.stat().st_size
    done = 0
    for count, record in enumerate(reader):
        done += len(record.raw) + 1
        if count % 100_000 == 0:
            job.progress("splitting records", min(done, total), total)
        if record.line >= plan.layout.first_line:
            yield record


def _load_exactly(
    job: Job, plan: Plan, connection: duckdb.DuckDBPyConnection, out_dir: Path
) -> Outcome:
    pieces = _without_mark(decoded(job.path, plan.encoding.name))
    reader = Records(
        lines_of(pieces), plan.dialect, job.limits.record_mb << 20, keep_blank=plan.width == 1
    )
    rows, odd = _staged(job, plan, _all_records(job, plan, reader), "all")
    table = _text_table(rows.source, plan.naming)
    job.progress("finding types", 0, None)
    inferred = infer(connection, table, job.options, delimiter=plan.dialect.delimiter)
    typed = typed_columns(table.columns, inferred.findings, job.options)
    job.progress("writing", 0, rows.rows)
    written = write_rows(connection, table, typed, out_dir / DATA)
    structural = f'SELECT line, NULL AS "column", c0 AS raw, c1 AS reason FROM {odd.source}'
    rejected = write_rejects(connection, (misfits_sql(table, typed), structural), out_dir / REJECTS)
    return Outcome(inferred, rows.rows + odd.rows, written, rejected, reader.blank_lines)


def _load_fast(
    job: Job, plan: Plan, connection: duckdb.DuckDBPyConnection, out_dir: Path
) -> Outcome | None:
    multiline = any("\n" in record.raw for record in plan.sample)
    source = fast.prepare(
        job, plan.encoding, plan.dialect, plan.layout, plan.naming, pads=plan.pads
    )
    if source is None:
        return None
    sample, _ = _staged(job, plan, plan.sample, "sample")
    inferred = infer(
        connection,
        _text_table(sample.source, plan.naming),
        job.options,
        delimiter=plan.dialect.delimiter,
    )
    return fast.load(job, connection, source, inferred, out_dir, parallel=not multiline)


def _without_mark(pieces: Iterator[str]) -> Iterator[str]:
    """Some codecs leave a byte order mark in the text; it is no part of the first name."""
    first = next(pieces, "")
    yield first.removeprefix("\ufeff")
    yield from pieces


def _sample_notes(plan: Plan, job: Job) -> list[Note]:
    notes = []
    narrow = [r for r in plan.sample if r.fields is not None and len(r.fields) < plan.width]
    if len(narrow) * 2 > len(plan.sample):
        message = f"Most records have fewer than {plan.width} fields and would be rejected."
        notes.append(Note("ragged", message, line=narrow[0].line))
    for record in plan.sample:
        if any(cell and cell[0] in "=@" for cell in record.fields or ()):
            message = "Some values begin like a formula; they are kept as text, and never run."
            notes.append(Note("formula-like", message, line=record.line))
            break
    if job.options.formula_marks == "remove":
        for record in plan.sample:
            if any(cell and without_mark(cell) != cell for cell in record.fields or ()):
                message = "Apostrophes that keep a spreadsheet from running a text are taken off."
                notes.append(Note("formula-marks", message, line=record.line))
                break
    if plan.pads and narrow:
        message = f"{len(narrow)} of the first records are filled with nulls to full width."
        notes.append(Note("padded", message, line=narrow[0].line))
    return notes


def _loaded(job: Job, plan: Plan, outcome: Outcome, columns: tuple[Column, ...]) -> Loaded:
    if outcome.records != outcome.rows + outcome.rejected:
        raise Bug(
            f"{outcome.records} records of {job.name!r} became {outcome.rows} rows and "
            f"{outcome.rejected} rejects."
        )
    inferred = outcome.inferred
    return Loaded(
        name=job.name,
        format="delimited",
        table=job.table_name(None),
        records=outcome.records,
        rows=outcome.rows,
        rejected=outcome.rejected,
        columns=columns,
        findings=inferred.findings,
        blank_lines=outcome.blank_lines,
        preamble=tuple(unmarked(record.raw) for record in plan.layout.preamble),
        encoding=plan.encoding,
        dialect=plan.dialect,
        header=plan.layout.header,
        wrappers=job.wrappers,
        warnings=(*job.notes, *plan.notes, *_sample_notes(plan, job), *inferred.notes),
        alternatives=(
            *plan.layout.alternatives,
            *_padding(plan),
            *inferred.alternatives,
        ),
    )
