"""Reads JSON: arrays, one document, or one value a line (NDJSON).

Every top-level key is a column; a key that is missing and one that is null are both null. Numbers
are typed from how they are written, so that long ones are not rounded. Nested values become
structures where all records agree, JSON otherwise.
"""

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from steward.core import Invalid
from steward.ingest.encoding import find_encoding
from steward.ingest.findings import Alternative, ColumnFinding, Encoding, Inspection, Loaded, Note
from steward.ingest.job import Job, check_width, locked_session
from steward.ingest.json_values import Document, Item, open_document
from steward.ingest.names import unique_names
from steward.ingest.nesting import Shape, dump, flat, kind_of
from steward.ingest.options import Options
from steward.ingest.readings import Reading
from steward.ingest.records import has_marks, unmarked
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import Inferred, TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.writing import TypedColumn, typed_columns, write_table
from steward.tables import literal, quote

_SHOWN_ROWS = 50
_PREFIX = {"text": "s", "number": "n", "boolean": "b", "object": "j", "array": "j"}
_FAMILIES = {
    "n": frozenset({"number"}),
    "s": frozenset({"date"}),
    "b": frozenset({"boolean"}),
}
_SEEN_AS = {"s": "text", "n": "numbers", "b": "truth values", "j": "nested values"}


def inspect(job: Job) -> Inspection:
    encoding, notes = _encoding(job)
    document = open_document(job, encoding)
    staged = _stage(job, document, job.limits.sample_records)
    columns = _columns(staged)
    with locked_session(job) as connection:
        table = TextTable(staged.rows.source, columns.texts, LINE)
        inferred = infer(connection, table, job.options)
        findings, typed = _typed(staged, job, columns, inferred)
        shown = ", ".join(f"{column.text} AS {quote(column.name)}" for column in typed)
        rows = connection.execute(
            f"SELECT {shown} FROM {table.source} ORDER BY {LINE} LIMIT {_SHOWN_ROWS}"
        ).fetchall()
    return Inspection(
        name=job.name,
        format="json",
        columns=findings,
        wrappers=job.wrappers,
        tables=job.listed(document.tables),
        table=job.table_name(document.table),
        encoding=encoding,
        rows=tuple(rows),
        records_seen=staged.rows.rows + staged.odd.rows,
        complete=staged.complete,
        would_reject=sum(f.misfits for f in findings),
        warnings=(*job.notes, *notes, *document.notes, *columns.notes, *inferred.notes),
        alternatives=(*_flattening(staged.keys, job.options), *inferred.alternatives),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    encoding, notes = _encoding(job)
    document = open_document(job, encoding)
    if len(document.tables) > 1 and job.options.table is None:
        listed = ", ".join(table.name for table in document.tables)
        raise Invalid(f"{job.name!r} holds several lists; say which: {listed}.", code="which-table")
    staged = _stage(job, document)
    columns = _columns(staged)
    with locked_session(job, out_dir) as connection:
        table = TextTable(staged.rows.source, columns.texts, LINE)
        job.progress("finding types", 0, None)
        inferred = infer(connection, table, job.options)
        findings, typed = _typed(staged, job, columns, inferred)
        job.progress("writing", 0, staged.rows.rows)
        records = staged.rows.rows + staged.odd.rows
        written = write_table(connection, table, typed, out_dir, records, odd=staged.odd.source)
    return Loaded(
        name=job.name,
        format="json",
        table=job.table_name(document.table),
        **vars(written),
        findings=findings,
        encoding=encoding,
        wrappers=job.wrappers,
        warnings=(*job.notes, *notes, *document.notes, *columns.notes, *inferred.notes),
        alternatives=(*_flattening(staged.keys, job.options), *inferred.alternatives),
    )


def _encoding(job: Job) -> tuple[Encoding, tuple[Note, ...]]:
    if job.options.encoding is not None:
        return Encoding(job.options.encoding, "The encoding was declared."), ()
    return find_encoding(job.path)


def _flattening(keys: "_Keys", options: Options) -> tuple[Alternative, ...]:
    """The choice between nested records and a column for each of their fields."""
    if options.flatten:
        why = "Each nested record then stays one value with fields."
        return (Alternative("Keep nested records", why, {"flatten": False}),)
    held = {name: keys.shapes[place].records for name, place in keys.positions.items()}
    nested = [name for name, fields in held.items() if fields]
    if not nested:
        return ()
    first = nested[0][:80]
    why = f"{first!r} has {held[nested[0]]} fields; they become columns, named as in {first}.field."
    return (Alternative("Flatten nested records into columns", why, {"flatten": True}),)


class _Keys:
    """The keys seen so far, with the kinds of their values."""

    def __init__(self, job: Job) -> None:
        self._limits = job.limits
        self._flatten = job.options.flatten
        self.positions: dict[str, int] = {}
        self.kinds: list[Counter[str]] = []
        self.shapes: list[Shape] = []

    def row(self, value: object) -> list[str | None]:
        cells = value if isinstance(value, dict) else {"value": value}
        if self._flatten:
            cells = flat(cells)
        row: list[str | None] = [None] * len(self.positions)
        for name, inner in cells.items():
            position = self.positions.get(name)
            if position is None:
                position = self._new(name)
                row.append(None)
            if inner is not None:
                row[position] = self._cell(position, inner)
        return row

    def _new(self, name: str) -> int:
        check_width(len(self.positions) + 1, self._limits)
        self.positions[name] = len(self.positions)
        self.kinds.append(Counter())
        self.shapes.append(Shape())
        return self.positions[name]

    def _cell(self, position: int, value: object) -> str:
        prefix = _PREFIX[kind_of(value)]
        self.kinds[position][prefix] += 1
        if prefix == "j":
            self.shapes[position].see(value)
            return prefix + dump(value)
        if prefix == "b":
            return "btrue" if value else "bfalse"
        return f"{prefix}{value}"


@dataclass(frozen=True)
class _Staged:
    rows: Stage
    odd: Stage
    keys: _Keys
    complete: bool


def _stage(job: Job, document: Document, most: int | None = None) -> _Staged:
    rows, odd = Stage(job.scratch, "json-rows", 0), Stage(job.scratch, "json-odd", 2)
    keys = _Keys(job)
    complete = True
    with rows, odd:
        for count, item in enumerate(document.items):
            if most is not None and count >= most:
                complete = False
                break
            problem = item.problem or _half_characters(item)
            if problem is None:
                try:
                    row = keys.row(item.value)
                except RecursionError:
                    problem = "is nested too deeply"
                else:
                    rows.width = len(keys.positions)
                    rows.add(item.line, row, len(item.raw))
            if problem is not None:
                odd.add(item.line, (unmarked(item.raw), problem), len(item.raw))
            if count % 20_000 == 0:
                job.progress("reading records", count, None)
    return _Staged(rows, odd, keys, complete)


def _half_characters(item: Item) -> str | None:
    if has_marks(item.raw):
        return "contains bytes that are not valid in the file's encoding"
    if "\\u" in item.raw and has_marks(dump(item.value)):
        return "contains half of a character (a lone surrogate)"
    return None


@dataclass(frozen=True)
class _Columns:
    texts: tuple[TextColumn, ...]
    nested: dict[str, str]
    """Columns whose type is known from the JSON itself."""
    notes: tuple[Note, ...]


def _columns(staged: _Staged) -> _Columns:
    keys = staged.keys
    if not keys.positions:
        raise Invalid("No record has a key, so there are no columns.", code="empty")
    naming = unique_names(tuple(keys.positions))
    nested: dict[str, str] = {}
    texts = []
    for position, (name, original) in enumerate(zip(naming.names, keys.positions, strict=True)):
        kinds = set(keys.kinds[position])
        cell = quote(column_of(position))
        text = f"substr({cell}, 2)"
        families: frozenset[str] = frozenset()
        if kinds == {"j"}:
            nested[name] = keys.shapes[position].type() or "JSON"
        elif "j" not in kinds and len(kinds) > 1:
            # Texts, numbers and truth values side by side are text, as they are written.
            families = frozenset()
        elif len(kinds) > 1:
            nested[name] = "JSON"
            text = f"(CASE WHEN {cell}[1] = 's' THEN to_json({text})::VARCHAR ELSE {text} END)"
        elif kinds:
            families = _FAMILIES[kinds.pop()]
        texts.append(TextColumn(name, original, text, families, floats=True))
    return _Columns(tuple(texts), nested, naming.notes)


def _typed(
    staged: _Staged, job: Job, columns: _Columns, inferred: Inferred
) -> tuple[tuple[ColumnFinding, ...], tuple[TypedColumn, ...]]:
    """Findings and SQL of every column, nested ones included."""
    findings, typed = [], []
    plain = typed_columns(columns.texts, inferred.findings, job.options)
    for position, (finding, column) in enumerate(zip(inferred.findings, plain, strict=True)):
        kind = columns.nested.get(finding.name)
        if kind is None or finding.declared:
            held = staged.keys.kinds[position]
            if len(held) > 1 and not finding.declared:
                seen = ", ".join(f"{count:,} {_SEEN_AS[k]}" for k, count in sorted(held.items()))
                finding = replace(finding, reason=f"Its values are {seen}.")  # noqa: PLW2901
            findings.append(finding)
            typed.append(column)
            continue
        reason = "Its nested values are all alike."
        structure = literal(json.dumps(staged.keys.shapes[position].structure()))
        value = f"CAST(json_transform({column.text}::JSON, {structure}) AS {kind})"
        if kind == "JSON":
            kinds = sorted(staged.keys.kinds[position])
            reason = f"Kept as JSON: it holds {', '.join(_SEEN_AS[kind] for kind in kinds)}."
            value = f"{column.text}::JSON"
        findings.append(replace(finding, type=kind, reason=reason, candidates={}, samples=()))
        typed.append(TypedColumn(column.name, column.text, value, None, Reading(kind)))
    return tuple(findings), tuple(typed)
