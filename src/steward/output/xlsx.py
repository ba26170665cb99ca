"""Excel workbooks of any number of rows: typed cells, number formats, frozen headers, and a sheet that says where from.

Rows stream from DuckDB to the file, so memory does not grow with them. Texts are always written as texts: one that
starts with `=`, `+`, `-` or `@` is a text in Excel too. The same input gives the same bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import duckdb

from steward.core import Invalid, TooLarge, work
from steward.output import formats
from steward.output.cells import Cell, Tally, cell
from steward.output.formats import Format
from steward.output.reports import Provenance
from steward.tables import Column, Table, quote

MAX_ROWS = 1_048_576
"""Of a sheet, the header included; Excel's own limit."""
MAX_COLUMNS = 16_384
MAX_CELLS = 100_000_000
_CHUNK = 5_000
_SAMPLE = 200
_ABOUT = "About"
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Sheet:
    """A table as a sheet; `formats` may say more about a column than its type does (currency, percentage)."""

    name: str
    table: Table
    formats: Mapping[str, Format] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """What went into the workbook; `notes` name everything that could not be written as it is."""

    sheets: tuple[str, ...]
    rows: int
    notes: tuple[str, ...]


def write_xlsx(
    target: Path | BinaryIO,
    connection: duckdb.DuckDBPyConnection,
    sheets: Sequence[Sheet],
    *,
    provenance: Provenance,
    generated_at: datetime,
    title: str = "",
    rows_per_sheet: int = MAX_ROWS,
) -> Written:
    """Write a workbook; a table with more rows than a sheet holds continues on further sheets."""
    import xlsxwriter  # type: ignore[import-untyped]

    if not sheets:
        raise Invalid("A workbook needs at least one sheet.")
    if not 2 <= rows_per_sheet <= MAX_ROWS:
        raise Invalid(f"A sheet holds 2 to {MAX_ROWS:,} rows, the header included.")
    options = {
        # Rows are written through as they come; nothing is kept but the current one.
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "default_date_format": "yyyy-mm-dd",
    }
    for sheet in sheets:
        check_size(sheet.name, sheet.table.rows or 0, len(sheet.table.columns))
    with ExitStack() as stack:
        file = stack.enter_context(target.open("wb")) if isinstance(target, Path) else target
        options["tmpdir"] = stack.enter_context(TemporaryDirectory(dir=_beside(target)))
        # Not as a context manager: after a failure it would finish the workbook first.
        book = xlsxwriter.Workbook(_Watched(file), options)
        stack.callback(_close_pages, book)
        made = generated_at.astimezone(UTC).replace(tzinfo=None)
        book.set_properties({"title": title, "created": made, "author": "", "comments": ""})
        writer = _Writer(book, connection, rows_per_sheet)
        for sheet in sheets:
            writer.sheet(sheet)
        writer.about(title, provenance, generated_at)
        work.report("Packing the workbook")
        book.close()
    return Written(tuple(writer.names), writer.rows, tuple(writer.notes))


def check_size(name: str, rows: int, columns: int) -> None:
    """Refuses what no workbook holds, before any work is begun."""
    if not 1 <= columns <= MAX_COLUMNS:
        raise Invalid(f"A sheet has 1 to {MAX_COLUMNS:,} columns; {name!r} has {columns:,}.")
    if rows * columns > MAX_CELLS:
        raise TooLarge(
            f"{name!r} has {rows * columns:,} cells; a workbook holds at most {MAX_CELLS:,} here. "
            "Export it as CSV or Parquet, or fewer columns or rows."
        )


def _close_pages(book: Any) -> None:
    """Lets go of the temporary files in which a workbook keeps its rows until it is packed."""
    for page in book.worksheets():
        page._opt_close()


def _beside(target: Path | BinaryIO) -> Path | None:
    return target.parent if isinstance(target, Path) else None


class _Watched:
    """A file that is written until somebody stops the work: packing a workbook asks nobody in between."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._work = work.current()

    def write(self, content: bytes) -> int:
        self._work.check()
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Writer:
    """One workbook in the making."""

    def __init__(
        self, book: Any, connection: duckdb.DuckDBPyConnection, rows_per_sheet: int
    ) -> None:
        self._book = book
        self._connection = connection
        self._room = rows_per_sheet - 1
        self._header = book.add_format(
            {"bold": True, "bg_color": "#E4E7EB", "bottom": 1, "text_wrap": True, "valign": "top"}
        )
        self._bold = book.add_format({"bold": True})
        self._wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        self._formats: dict[str | None, Any] = {}
        self._cells = 0
        self.names: list[str] = []
        self.notes: list[str] = []
        self.rows = 0

    def sheet(self, wanted: Sheet) -> None:
        columns = wanted.table.columns
        chosen = [wanted.formats.get(c.name) or formats.format_of(c) for c in columns]
        unknown = set(wanted.formats) - {column.name for column in columns}
        if unknown:
            raise Invalid(f"{wanted.name!r} has no column {min(unknown)!r} to format.")
        tallies = [Tally() for _ in columns]
        styles = [self._style(one) for one in chosen]
        rows = self._stream(wanted.table)
        sample = next(rows, [])
        widths = _widths(columns, chosen, sample[:_SAMPLE])
        page, at = self._page(wanted.name, columns, chosen, widths), 0
        while sample:
            for row in sample:
                if at == self._room:
                    self._finish(page, at, len(columns))
                    page, at = self._page(wanted.name, columns, chosen, widths), 0
                at += 1
                self._row(page, at, row, styles, tallies)
            self._count(len(sample), len(columns))
            work.report(f"Writing the rows of {wanted.name}", self.rows, wanted.table.rows)
            sample = next(rows, [])
        self._finish(page, at, len(columns))
        for column, tally in zip(columns, tallies, strict=True):
            if _is_temporal(column):
                tally.counts["infinite"] += self._infinite(wanted.table, column)
            self.notes += [
                f"{wanted.name}, {sentence}" for sentence in tally.sentences(column.name)
            ]

    def about(self, title: str, provenance: Provenance, generated_at: datetime) -> None:
        """The last sheet: sources, operations, and what could not be written as it is."""
        page = self._book.add_worksheet(_sheet_name(_ABOUT, self.names))
        self.names.append(page.name)
        page.set_column(0, 0, 24)
        page.set_column(1, 1, 60, self._wrapped)
        page.set_column(2, 4, 24)
        lines: list[tuple[Any, ...]] = [
            ("Title", title),
            ("Made (UTC)", generated_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")),
            ("Run", provenance.run),
            (),
            ("Dataset", "Content hash", "Version", "Commit", "Rows"),
            *((s.dataset, s.content_hash, s.version, s.commit, s.rows) for s in provenance.sources),
            (),
            ("Operation", "What it did", "By"),
            *((step.operation, step.summary, step.by) for step in provenance.steps),
            (),
            ("Notes", "Every cell was written as it is." if not self.notes else ""),
            *(("", note) for note in self.notes),
        ]
        for number, line in enumerate(lines):
            heading = bool(line) and line[0] in {"Dataset", "Operation", "Notes", "Title"}
            for index, value in enumerate(line):
                style = self._bold if heading or index == 0 else None
                self._write(page, number, index, cell(value, Tally()), style)

    def _stream(self, table: Table) -> Iterator[list[tuple[Any, ...]]]:
        names = ", ".join(_selected(column) for column in table.columns)
        result = self._connection.execute(f"SELECT {names} FROM {table.source}")
        while chunk := result.fetchmany(_CHUNK):
            yield chunk

    def _infinite(self, table: Table, column: Column) -> int:
        found = self._connection.execute(
            f"SELECT count(*) FROM {table.source} WHERE {quote(column.name)} IS NOT NULL "
            f"AND ({_selected(column)}) IS NULL"
        ).fetchone()
        return int(found[0]) if found else 0

    def _count(self, rows: int, columns: int) -> None:
        self.rows += rows
        self._cells += rows * columns
        if self._cells > MAX_CELLS:
            raise TooLarge(
                f"A workbook holds at most {MAX_CELLS:,} cells here. Export fewer columns or rows, or use CSV or Parquet."
            )

    def _page(
        self,
        name: str,
        columns: Sequence[Column],
        chosen: Sequence[Format],
        widths: Sequence[float],
    ) -> Any:
        page = self._book.add_worksheet(_sheet_name(name, self.names))
        self.names.append(page.name)
        page.freeze_panes(1, 0)
        for index, (wanted, width) in enumerate(zip(chosen, widths, strict=True)):
            page.set_column(index, index, width, self._style(wanted))
        for index, column in enumerate(columns):
            page.write_string(0, index, column.name[:32_767], self._header)
        return page

    def _finish(self, page: Any, rows: int, columns: int) -> None:
        page.autofilter(0, 0, rows, columns - 1)

    def _row(
        self,
        page: Any,
        at: int,
        row: Sequence[Any],
        styles: Sequence[Any],
        tallies: Sequence[Tally],
    ) -> None:
        for index, value in enumerate(row):
            if value is not None:
                self._write(page, at, index, cell(value, tallies[index]), styles[index])

    def _write(self, page: Any, row: int, column: int, value: Cell, style: Any) -> None:
        """Each type by its own method: xlsxwriter's general one would guess."""
        if value is None or value == "":
            return
        if isinstance(value, bool):
            page.write_boolean(row, column, value, style)
        elif isinstance(value, (int, float)):
            page.write_number(row, column, value, style)
        elif isinstance(value, datetime):
            page.write_datetime(row, column, value, style)
        else:
            page.write_string(row, column, value, style)

    def _style(self, wanted: Format) -> Any:
        code = formats.excel_code(wanted)
        if code not in self._formats:
            self._formats[code] = self._book.add_format({"num_format": code}) if code else None
        return self._formats[code]


def _is_temporal(column: Column) -> bool:
    return column.type.upper() in formats.TEMPORAL_TYPES


def _selected(column: Column) -> str:
    """The SQL of a cell. An infinite date would arrive as the year 9999, so it is left empty and noted."""
    name = quote(column.name)
    kind = column.type.upper()
    if _is_temporal(column):
        plain = f"CAST({name} AS TIMESTAMP)" if kind.startswith("TIMESTAMP_") else name
        return f"CASE WHEN isfinite({plain}) THEN {plain} END"
    if kind in {"INTERVAL", "TIME WITH TIME ZONE"}:
        return f"CAST({name} AS VARCHAR)"
    return name


def _widths(
    columns: Sequence[Column], chosen: Sequence[Format], sample: Sequence[Sequence[Any]]
) -> list[float]:
    """Wide enough for the header and the first rows, never absurd."""
    widths = []
    for index, (column, wanted) in enumerate(zip(columns, chosen, strict=True)):
        lengths = [len(_seen(row[index], wanted)) for row in sample]
        longest = max([len(column.name) + 3, *lengths])
        widths.append(float(min(60, max(8, longest + 2))))
    return widths


def _seen(value: Any, wanted: Format) -> str:
    if value is None:
        return ""
    if wanted.kind == "datetime":
        return "2026-01-01 00:00:00"
    if wanted.numeric and isinstance(value, (int, float)):
        return f"{value:,.{wanted.decimals or 2}f}" + ("" if wanted.currency is None else "    ")
    return str(value)[:100]


def _sheet_name(wanted: str, taken: Sequence[str]) -> str:
    """A name that Excel accepts: no marks it reserves, at most 31 characters, different from all others."""
    plain = _FORBIDDEN.sub("_", wanted).strip().strip("'")[:31].strip("'") or "Sheet"
    if plain.lower() == "history":
        plain = "History_"
    used = {name.lower() for name in taken}
    name, number = plain, 1
    while name.lower() in used:
        number += 1
        suffix = f" ({number})"
        name = plain[: 31 - len(suffix)] + suffix
    return name
