"""Reads spreadsheets (XLSX, XLSM, XLSB, XLS, ODS): a sheet is a table, or holds several.

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
from steward.ingest.layout import Arrangement, alternatives, arrange, names_with_units
from steward.ingest.names import Naming, unique_names
from steward.ingest.null_words import is_null_word
from steward.ingest.readings import Reading
from steward.ingest.sheet_tables import Region, find_regions, parse_region
from steward.ingest.stage import LINE, Stage, column_of
from steward.ingest.texts import Inferred, TextColumn, TextTable
from steward.ingest.types import infer
from steward.ingest.workbook import check_package, oddities
from steward.ingest.writing import TypedColumn, typed_columns, write_table
from steward.tables import literal, quote

_SHOWN_ROWS = 50
_HEADER_WITHIN = 60
_REGION_CELLS = 2_000_000
"""A larger sheet is one table: looking for several in it costs a pass over its cells."""
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
    tables: tuple[TableListing, ...]
    sheet: CalamineSheet
    name: str
    notes: tuple[Note, ...]
    region: Region | None = None
    """The part of the sheet that is read; none: all of it."""
    alternatives: tuple[Alternative, ...] = ()

    @property
    def offset(self) -> int:
        """How many columns lie before the first one that is read."""
        return self.region.left - 1 if self.region else (self.sheet.start or (0, 0))[1]

    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """Rows with their numbers, counted as a spreadsheet program does."""
        region, before = self.region, (self.sheet.start or (0, 0))[1]
        for number, row in enumerate(self.sheet.iter_rows(), start=1):
            cells = [None if cell == "" else cell for cell in row]
            if region is None:
                yield number, cells
            elif region.top <= number <= region.bottom:
                held = [
                    *[None] * (before - region.left + 1),
                    *cells[max(region.left - 1 - before, 0) :],
                ]
                yield number, [*held[: region.width], *[None] * (region.width - len(held))]


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
    layout = _find_layout(book, job)
    staged = _stage(job, book, layout, job.limits.sample_records)
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
        alternatives=(*book.alternatives, *layout.alternatives, *others),
    )


def load(job: Job, out_dir: Path) -> Loaded:
    book = _open(job, choose_first=False)
    layout = _find_layout(book, job)
    staged = _stage(job, book, layout, None)
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
        alternatives=(*book.alternatives, *layout.alternatives, *others),
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
        name, region = _chosen(
            job, workbook, [meta.name for meta in listed], choose_first=choose_first
        )
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
    book = _Book(tables, sheet, name, (*notes, *oddities(job.path, name).notes()), region)
    return _with_regions(job, book, choose_first=choose_first)


def _with_regions(job: Job, book: _Book, *, choose_first: bool) -> _Book:
    """The book with the tables of its sheet, where that holds several; one of them has to be chosen."""
    sheet = book.sheet
    if sheet.total_height * sheet.total_width > _REGION_CELLS:
        return _named(book)
    rows = [[None if cell == "" else str(cell) for cell in row] for row in sheet.iter_rows()]
    regions = find_regions(rows, (sheet.start or (0, 0))[1] + 1)
    if not regions:
        return _named(book)
    listed = [f"{book.name}!{region}" for region in regions]
    asked = job.options.table is None
    if asked and not choose_first:
        raise Invalid(
            f"The sheet {book.name!r} of {job.name!r} holds {len(regions)} tables. Set the table to one of "
            f"{', '.join(listed)}; or to {book.name} for the whole sheet.",
            code="which-table",
        )
    chosen = replace(book, region=regions[0]) if asked else book
    why = "The sheet holds several tables with names of their own."
    others = [
        Alternative(f"Only the table in {region}", why, {"table": name})
        for region, name in zip(regions, listed, strict=True)
        if region != chosen.region
    ]
    note = Note("several-tables", f"The sheet {book.name!r} holds tables in {_listed(regions)}.")
    if chosen.region is not None:
        whole = "Blank rows and columns then lie within one table."
        others.append(Alternative("The whole sheet as one table", whole, {"table": book.name}))
    inner = tuple(
        TableListing(name, region.height, region.width, "part of the sheet")
        for region, name in zip(regions, listed, strict=True)
    )
    return _named(
        replace(
            chosen,
            tables=(*book.tables, *inner),
            notes=(*book.notes, note),
            alternatives=tuple(others),
        )
    )


def _listed(regions: Sequence[Region]) -> str:
    return ", ".join(map(str, regions[:-1])) + f" and {regions[-1]}"


def _named(book: _Book) -> _Book:
    return replace(book, name=f"{book.name}!{book.region}") if book.region else book


def _chosen(
    job: Job, workbook: CalamineWorkbook, names: Sequence[str], *, choose_first: bool
) -> tuple[str, Region | None]:
    wanted = job.options.table
    if wanted is not None:
        if wanted in names:
            return wanted, None
        sheet, _, reference = wanted.rpartition("!")
        region = parse_region(reference)
        if sheet in names and region is not None:
            return sheet, region
        raise NotFound(
            f"There is no sheet {wanted!r} in {job.name!r}; there are {', '.join(names)}. "
            f"A range of cells is written as in {names[0] if names else 'Sheet1'}!A3:D20."
        )
    filled = [name for name in names if workbook.get_sheet_by_name(name).start is not None]
    if not filled:
        raise Invalid(f"{job.name!r} has no sheet with anything in it.", code="empty")
    if len(filled) > 1 and not choose_first:
        raise Invalid(
            f"{job.name!r} has several sheets; say which: {', '.join(filled)}.", code="which-table"
        )
    return filled[0], None


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


def _find_layout(book: _Book, job: Job) -> _Layout:
    head = []
    for number, row in book.rows():
        head.append((number, [text[1:] if (text := cell_text(cell)) else None for cell in row]))
        if len(head) > _HEADER_WITHIN * 4:
            break
    width = max((len(row) for _, row in head), default=0)
    check_width(width, job.limits)
    if not width:
        raise Invalid(f"The sheet of {job.name!r} is empty.", code="empty")
    merged = _merged_names(book, head)
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
        return _laid_out(rows, numbers, chosen, width, job.options.units)
    arranged = arrange(rows, width)
    units = (job.options.units or "name") if arranged.chosen.units else None
    layout = _laid_out(rows, numbers, arranged.chosen, width, units)
    others = alternatives(arranged, numbers, "row", job.options.units)
    return replace(layout, alternatives=others)


def _laid_out(
    rows: Sequence[list[str | None]],
    numbers: Sequence[int],
    chosen: Arrangement,
    width: int,
    units: str | None,
) -> _Layout:
    above = [row for row in rows[: chosen.names_from] if any(row)]
    preamble = tuple("\t".join(dict.fromkeys(cell for cell in row if cell)) for row in above)
    number = numbers[chosen.names_from]
    if not chosen.name_rows:
        header = Header(None, chosen.reason)
        return _Layout(header, unique_names([None] * width), preamble, number)
    names = names_with_units(rows[chosen.names_from : chosen.names_to], width, units)
    naming = unique_names([*names, *[None] * (width - len(names))])
    header = Header(number, chosen.reason, chosen.name_rows)
    return _Layout(header, naming, preamble, numbers[chosen.names_to - 1] + 1, naming.notes)


def _merged_names(
    book: _Book, head: Sequence[tuple[int, list[str | None]]]
) -> dict[int, list[str | None]]:
    """Rows near the top with merged cells spread over the columns they span."""
    offset = book.offset
    rows = {number: list(row) for number, row in head}
    spread: dict[int, list[str | None]] = {}
    for (top, left), (_, right) in book.sheet.merged_cell_ranges or ():
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


def _stage(job: Job, book: _Book, layout: _Layout, most: int | None) -> _Staged:
    width = len(layout.naming.names)
    stage = Stage(job.scratch, "sheet", width)
    kinds: list[Counter[str]] = [Counter() for _ in range(width)]
    words: list[set[str]] = [set() for _ in range(width)]
    ranges = _ranges_below(book, layout.first_row)
    fill = _Filler(ranges, book.offset) if job.options.fill_merged else None
    blank, complete = 0, True
    with stage:
        for number, row in book.rows():
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
                job.progress("reading rows", number, book.sheet.total_height)
    return _Staged(stage, kinds, words, blank, complete, len(ranges))


def _ranges_below(book: _Book, first_row: int) -> list[tuple[int, int, int, int]]:
    last, columns = (
        (book.region.bottom, range(book.region.left - 1, book.region.right))
        if book.region
        else (None, None)
    )
    return [
        (top + 1, left, bottom + 1, right)
        for (top, left), (bottom, right) in book.sheet.merged_cell_ranges or ()
        if top + 1 >= first_row
        and (last is None or columns is None or (top < last and left in columns))
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
