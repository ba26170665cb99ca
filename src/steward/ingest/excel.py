"""Reads spreadsheets (XLSX, XLSM, XLSB, XLS, ODS): one sheet is one table.

Cells carry types of their own: numbers, dates, times, truth values, texts. A column takes the type
that all of its cells share, and is text where they differ. Formulas are read as their last
computed values; an empty cell is null.
"""

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from steward.core import Invalid, NotFound
from steward.ingest.findings import (
    Alternative,
    ColumnFinding,
    Header,
    Inspection,
    Loaded,
    Note,
    TableListing,
)
from steward.ingest.job import Job, check_width, locked_session
from steward.ingest.layout import Arrangement, arrange, joined_names
from steward.ingest.names import Naming, unique_names
from steward.ingest.null_words import is_null_word
from steward.ingest.readings import Reading
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import Inferred, TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.workbook import check_package, oddities
from steward.ingest.writing import TypedColumn, typed_columns, write_table
from steward.tables import literal, quote

_SHOWN_ROWS = 50
_HEADER_WITHIN = 60
_SEEN_AS = {
    "s": "text", "n": "numbers", "w": "whole numbers", "b": "truth values",
    "d": "dates", "t": "moments", "c": "times", "p": "durations",
}  # fmt: skip
_TYPES = {
    frozenset("w"): "BIGINT",
    frozenset("n"): "DOUBLE",
    frozenset("wn"): "DOUBLE",
    frozenset("b"): "BOOLEAN",
    frozenset("d"): "DATE",
    frozenset("t"): "TIMESTAMP",
    frozenset("dt"): "TIMESTAMP",
    frozenset("c"): "TIME",
}


@dataclass(frozen=True)
class _Book:
    workbook: CalamineWorkbook
    tables: tuple[TableListing, ...]
    sheet: CalamineSheet
    name: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class _Layout:
    header: Header
    naming: Naming
    preamble: tuple[str, ...]
    first_row: int
    notes: tuple[Note, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def inspect(job: Job) -> Inspection:
    book = _open(job, choose_first=True)
    layout = _find_layout(book.sheet, job)
    staged = _stage(job, book.sheet, layout, job.limits.sample_records)
    with locked_session(job) as connection:
        table = _text_table(staged, layout)
        inferred = infer(connection, table, job.options)
        findings, typed, notes, others = _types(job, staged, inferred, table)
        shown = ", ".join(column.text for column in typed)
        rows = connection.execute(
            f"SELECT {shown} FROM {table.source} ORDER BY {LINE} LIMIT {_SHOWN_ROWS}"
        ).fetchall()
    return Inspection(
        name=job.name,
        format="excel",
        columns=findings,
        wrappers=job.wrappers,
        tables=job.listed(book.tables),
        table=job.table_name(book.name),
        header=layout.header,
        preamble=layout.preamble,
        rows=tuple(rows),
        records_seen=staged.stage.rows,
        complete=staged.complete,
        would_reject=sum(f.misfits for f in findings),
        warnings=(*job.notes, *book.notes, *layout.notes, *notes),
        alternatives=(*layout.alternatives, *others),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    book = _open(job, choose_first=False)
    layout = _find_layout(book.sheet, job)
    staged = _stage(job, book.sheet, layout, None)
    with locked_session(job, out_dir) as connection:
        table = _text_table(staged, layout)
        inferred = infer(connection, table, job.options)
        findings, typed, notes, others = _types(job, staged, inferred, table)
        job.progress("writing", 0, staged.stage.rows)
        written = write_table(connection, table, typed, out_dir, staged.stage.rows)
    return Loaded(
        name=job.name,
        format="excel",
        table=job.table_name(book.name),
        **vars(written),
        findings=findings,
        blank_lines=staged.blank,
        preamble=layout.preamble,
        header=layout.header,
        wrappers=job.wrappers,
        warnings=(*job.notes, *book.notes, *layout.notes, *notes),
        alternatives=(*layout.alternatives, *others),
    )


def _open(job: Job, *, choose_first: bool) -> _Book:
    notes = check_package(job.path, job.name, job.limits)
    try:
        workbook = CalamineWorkbook.from_path(job.path)
        listed = [meta for meta in workbook.sheets_metadata if meta.typ == SheetTypeEnum.WorkSheet]
        if any(
            meta.typ in (SheetTypeEnum.MacroSheet, SheetTypeEnum.Vba)
            for meta in workbook.sheets_metadata
        ):
            notes = (*notes, Note("macros", "The workbook contains macros; they are ignored."))
        name = _chosen(job, workbook, [meta.name for meta in listed], choose_first=choose_first)
        sheet = workbook.get_sheet_by_name(name)
    except PasswordError as problem:
        raise Invalid(
            f"{job.name!r} is protected by a password. Save it again without one.", code="encrypted"
        ) from problem
    except CalamineError as problem:
        said = str(problem)[:160]
        raise Invalid(f"{job.name!r} is a damaged spreadsheet: {said}", code="damaged") from problem
    tables = tuple(
        TableListing(meta.name, note=None if meta.visible == SheetVisibleEnum.Visible else "hidden")
        for meta in listed
    )
    return _Book(workbook, tables, sheet, name, (*notes, *oddities(job.path, name).notes()))


def _chosen(
    job: Job, workbook: CalamineWorkbook, names: Sequence[str], *, choose_first: bool
) -> str:
    wanted = job.options.table
    if wanted is not None:
        if wanted not in names:
            raise NotFound(
                f"There is no sheet {wanted!r} in {job.name!r}; there are {', '.join(names)}."
            )
        return wanted
    filled = [name for name in names if workbook.get_sheet_by_name(name).start is not None]
    if not filled:
        raise Invalid(f"{job.name!r} has no sheet with anything in it.", code="empty")
    if len(filled) > 1 and not choose_first:
        raise Invalid(
            f"{job.name!r} has several sheets; say which: {', '.join(filled)}.", code="which-table"
        )
    return filled[0]


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, list[Any]]]:
    """Rows with their numbers, counted as a spreadsheet program does."""
    for number, row in enumerate(sheet.iter_rows(), start=1):
        yield number, [None if cell == "" else cell for cell in row]


def cell_text(cell: Any) -> str | None:
    """A cell as a letter for its kind and its exact text."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "btrue" if cell else "bfalse"
    if isinstance(cell, int):
        return f"w{cell}"
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < 2**53
        return f"w{int(cell)}" if whole else f"n{cell!r}"
    if isinstance(cell, datetime.datetime):
        return f"t{cell.isoformat(' ')}"
    if isinstance(cell, datetime.date):
        return f"d{cell.isoformat()}"
    if isinstance(cell, datetime.time):
        return f"c{cell.isoformat()}"
    if isinstance(cell, datetime.timedelta):
        seconds = cell.total_seconds()
        return f"p{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}:{seconds % 60:09.6f}"
    return f"s{cell}"


def _find_layout(sheet: CalamineSheet, job: Job) -> _Layout:
    head = []
    for number, row in _rows(sheet):
        head.append((number, [text[1:] if (text := cell_text(cell)) else None for cell in row]))
        if number > _HEADER_WITHIN * 4:
            break
    width = max((len(row) for _, row in head), default=0)
    check_width(width, job.limits)
    if not width:
        raise Invalid(f"The sheet of {job.name!r} is empty.", code="empty")
    merged = _merged_names(sheet, head)
    rows = [merged.get(number, row) for number, row in head]
    numbers = [number for number, _ in head]
    given = job.options.header_row
    if given == 0:
        first = next((number for number, row in head if any(row)), 1)
        return _Layout(
            Header(None, "No header was declared."), unique_names([None] * width), (), first
        )
    if given is not None:
        if given not in numbers:
            raise Invalid(f"There is no row {given} near the top of the sheet.")
        place = numbers.index(given)
        end = min(place + job.options.header_rows, len(rows))
        chosen = Arrangement(place, end, end, "The header row was declared.")
        return _laid_out(rows, numbers, chosen, width)
    arranged = arrange(rows, width)
    layout = _laid_out(rows, numbers, arranged.chosen, width)
    others = tuple(_alternative(numbers, other) for other in arranged.rivals)
    return replace(layout, alternatives=others)


def _laid_out(
    rows: Sequence[list[str | None]], numbers: Sequence[int], chosen: Arrangement, width: int
) -> _Layout:
    above = [row for row in rows[: chosen.names_from] if any(row)]
    preamble = tuple("\t".join(dict.fromkeys(cell for cell in row if cell)) for row in above)
    number = numbers[chosen.names_from]
    if not chosen.name_rows:
        header = Header(None, chosen.reason)
        return _Layout(header, unique_names([None] * width), preamble, number)
    names = joined_names(rows[chosen.names_from : chosen.names_to], width)
    naming = unique_names([*names, *[None] * (width - len(names))])
    header = Header(number, chosen.reason, chosen.name_rows)
    return _Layout(header, naming, preamble, numbers[chosen.names_to - 1] + 1, naming.notes)


def _alternative(numbers: Sequence[int], other: Arrangement) -> Alternative:
    if not other.name_rows:
        return Alternative("No row has names", other.reason, {"header_row": 0})
    row = numbers[other.names_from]
    which = f"{other.name_rows} rows from row" if other.name_rows > 1 else "row"
    options = {"header_row": row, "header_rows": other.name_rows}
    return Alternative(f"Names in {which} {row}", other.reason, options)


def _merged_names(
    sheet: CalamineSheet, head: Sequence[tuple[int, list[str | None]]]
) -> dict[int, list[str | None]]:
    """Rows near the top with merged cells spread over the columns they span."""
    offset = (sheet.start or (0, 0))[1]
    rows = {number: list(row) for number, row in head}
    spread: dict[int, list[str | None]] = {}
    for (top, left), (_, right) in sheet.merged_cell_ranges or ():
        row = rows.get(top + 1)
        if row is not None and right > left and 0 <= left - offset < len(row):
            for column in range(left - offset + 1, min(right - offset + 1, len(row))):
                row[column] = row[column] or row[left - offset]
            spread[top + 1] = row
    return spread


@dataclass(frozen=True)
class _Staged:
    stage: Stage
    kinds: list[Counter[str]]
    words: list[set[str]]
    """Words that mean no value, by column; they are no kind of their own."""
    blank: int
    complete: bool
    merged: int


def _stage(job: Job, sheet: CalamineSheet, layout: _Layout, most: int | None) -> _Staged:
    width = len(layout.naming.names)
    stage = Stage(job.scratch, "sheet", width)
    kinds: list[Counter[str]] = [Counter() for _ in range(width)]
    words: list[set[str]] = [set() for _ in range(width)]
    ranges = _ranges_below(sheet, layout.first_row)
    fill = _Filler(ranges, (sheet.start or (0, 0))[1]) if job.options.fill_merged else None
    blank, complete = 0, True
    with stage:
        for number, row in _rows(sheet):
            if number < layout.first_row:
                continue
            cells = fill.filled(number, row) if fill else row
            texts = [cell_text(cell) for cell in cells]
            if not any(texts):
                blank += 1
                continue
            if most is not None and stage.added >= most:
                complete = False
                break
            for kind, known, text in zip(kinds, words, texts, strict=False):
                if text is None:
                    continue
                if text[0] == "s" and is_null_word(text[1:]):
                    known.add(text[1:])
                else:
                    kind[text[0]] += 1
            stage.add(number, texts, sum(len(text) for text in texts if text))
            if number % 20_000 == 0:
                job.progress("reading rows", number, sheet.total_height)
    return _Staged(stage, kinds, words, blank, complete, len(ranges))


def _ranges_below(sheet: CalamineSheet, first_row: int) -> list[tuple[int, int, int, int]]:
    return [
        (top + 1, left, bottom + 1, right)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
        if top + 1 >= first_row
    ]


class _Filler:
    """Gives every cell of a merged range the value of its first one, row by row."""

    def __init__(self, ranges: Sequence[tuple[int, int, int, int]], offset: int) -> None:
        self._starting: dict[int, list[tuple[int, int, int, int]]] = {}
        for merged in ranges:
            self._starting.setdefault(merged[0], []).append(merged)
        self._offset = offset
        self._open: list[tuple[tuple[int, int, int, int], Any]] = []

    def filled(self, number: int, row: list[Any]) -> list[Any]:
        cells = list(row)
        self._open = [(merged, value) for merged, value in self._open if merged[2] >= number]
        for merged in self._starting.get(number, ()):
            left = merged[1] - self._offset
            if 0 <= left < len(cells):
                self._open.append((merged, cells[left]))
        for (_, left, _, right), value in self._open:
            for column in range(left - self._offset, min(right - self._offset + 1, len(cells))):
                cells[column] = value
        return cells


def _text_table(staged: _Staged, layout: _Layout) -> TextTable:
    columns = tuple(
        TextColumn(name, original, f"substr({quote(column_of(i))}, 2)", frozenset())
        for i, (name, original) in enumerate(
            zip(layout.naming.names, layout.naming.originals, strict=True)
        )
    )
    return TextTable(staged.stage.source, columns, LINE)


def _types(
    job: Job, staged: _Staged, inferred: Inferred, table: TextTable
) -> tuple[
    tuple[ColumnFinding, ...],
    tuple[TypedColumn, ...],
    tuple[Note, ...],
    tuple[Alternative, ...],
]:
    """Columns typed by the kinds of their cells, unless a type was declared."""
    findings, typed, notes, others = [], [], [], []
    plain = typed_columns(table.columns, inferred.findings, job.options)
    for finding, column, kinds, words in zip(
        inferred.findings, plain, staged.kinds, staged.words, strict=True
    ):
        if finding.declared or not kinds:
            findings.append(finding)
            typed.append(column)
            continue
        seen = ", ".join(f"{count} {_SEEN_AS[kind]}" for kind, count in sorted(kinds.items()))
        kind = _TYPES.get(frozenset(kinds), "VARCHAR")
        counts = {_SEEN_AS[letter]: count for letter, count in sorted(kinds.items())}
        reason = f"Its cells are {seen}."
        findings.append(replace(finding, type=kind, reason=reason, candidates=counts))
        if kind == "VARCHAR" and set(kinds) != {"s"}:
            notes.append(Note("mixed-cells", f"{column.name!r} is text: {reason}", column.name))
        text = f"nullif({column.text}, '')" if kind != "VARCHAR" else column.text
        kept = job.options.columns.get(column.name)
        if words and kind != "VARCHAR":
            if kept is not None and kept.null_markers == ():
                findings[-1] = finding
                typed.append(column)
                continue
            text, note, other = _without_words(column.name, text, sorted(words))
            notes.append(note)
            others.append(other)
            findings[-1] = replace(
                findings[-1], null_markers=tuple(sorted(words)), reason=f"{reason} {note.message}"
            )
        value = f"CAST({text} AS {kind})" if kind != "VARCHAR" else text
        typed.append(TypedColumn(column.name, text, value, None, Reading(kind)))
    if staged.merged and not job.options.fill_merged:
        message = (
            f"{staged.merged} merged ranges lie in the data; only the first cell of each has the "
            "value. Set fill_merged to repeat it."
        )
        notes.append(Note("merged-cells", message))
    return tuple(findings), tuple(typed), tuple(notes), tuple(others)


def _without_words(name: str, text: str, words: Sequence[str]) -> tuple[str, Note, Alternative]:
    """The text with words for "no value" taken out, what to say of it, and how to keep them."""
    listed = ", ".join(f'"{word}"' for word in words)
    sql = f"(CASE WHEN {text} IN ({', '.join(map(literal, words))}) THEN NULL ELSE {text} END)"
    note = Note("null-marker", f"{name!r}: {listed} is read as empty.", name)
    why = "All other cells are of one type."
    options: dict[str, Any] = {"columns": {name: {"null_markers": []}}}
    return sql, note, Alternative(f"Keep {name!r} as text, with {listed}", why, options, name)
