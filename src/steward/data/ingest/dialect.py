"""Finds how a delimited text is written: delimiter, quotes, line ends, preamble, header."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from steward.data.ingest.dates import DATE_LIKE
from steward.data.ingest.findings import Dialect, Header
from steward.data.ingest.numbers import NUMBER_LIKE
from steward.data.ingest.options import Options
from steward.data.ingest.records import Line, Record, Records, lines_of

_USUAL = (",", ";", "\t", "|", "\x1f", "\x01", "~", "^", "||", "::")
_LAST_RESORT = (":", " ")
_WITHIN_VALUES = (",", *_LAST_RESORT)
_CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?")
_SAMPLE = 1 << 16
_RECORDS = 300
_NUMBER = re.compile(NUMBER_LIKE)
_DATE = re.compile(DATE_LIKE)
_TYPED_WORDS = frozenset({"true", "false"})


@dataclass(frozen=True)
class Layout:
    """Where the data of a delimited text begin, and the names above them."""

    header: Header
    names: tuple[str | None, ...]
    preamble: tuple[Record, ...]
    first_line: int
    """The line of the first data record."""
    width: int


def find_dialect(text: str, options: Options) -> Dialect:
    """The way of writing under which most records have the same number of fields."""
    sample = list(lines_of((text[:_SAMPLE],)))
    # The last line may be cut; a text of one line has nothing else to go by.
    lines = sample[:-1] if len(sample) > 1 and len(text) > _SAMPLE else sample
    end = _line_end(lines)
    best: tuple[float, int, Dialect] | None = None
    for order, dialect in enumerate(_candidates(text[:_SAMPLE], options, end)):
        score = _score(lines, dialect)
        if best is None or (score, -order) > (best[0], -best[1]):
            best = (score, order, dialect)
    if best is None or best[0] <= 0:
        quote = '"' if options.quote is None else options.quote or None
        escape = options.escape or quote
        return Dialect(options.delimiter or ",", quote, escape, end, "Every line is one field.")
    dialect = best[2]
    return replace(dialect, reason=f"{best[0]:.0%} agreement among the first records.")


def _line_end(lines: Sequence[Line]) -> str:
    ends = {line.end for line in lines if line.end}
    return ends.pop() if len(ends) == 1 else ("mixed" if ends else "\n")


def _candidates(text: str, options: Options, end: str) -> list[Dialect]:
    if options.quote is not None:
        quotings = [(options.quote or None, options.escape or options.quote or None)]
    else:
        quotings = [('"', options.escape or '"')]
        if '\\"' in text and options.escape is None:
            quotings.append(('"', "\\"))
        if "'" in text:
            quotings.append(("'", options.escape or "'"))
        if '"' in text:
            quotings.append((None, None))
    if options.delimiter is not None:
        delimiters: tuple[str, ...] = (options.delimiter,)
    else:
        delimiters = tuple(mark for mark in (*_USUAL, *_LAST_RESORT) if mark in text)
    return [
        Dialect(delimiter, quote, escape, end)
        for quote, escape in quotings
        for delimiter in delimiters
        if quote != delimiter
    ]


def _score(lines: Sequence[Line], dialect: Dialect) -> float:
    """How regular the records are, how clean their cells, and how few have a problem."""
    records = []
    for record in Records(lines, dialect, _SAMPLE):
        records.append(record)
        if len(records) >= _RECORDS:
            break
    widths = Counter(len(record.fields) for record in records if record.fields is not None)
    wide = Counter({width: count for width, count in widths.items() if width > 1})
    if not wide:
        return 0.0
    width, count = max(wide.items(), key=lambda item: (item[1], item[0]))
    if dialect.delimiter in _LAST_RESORT and count < len(records):
        return 0.0
    if dialect.delimiter in _WITHIN_VALUES and _one_value_a_line(lines, dialect.delimiter):
        return 0.0
    regular = count / len(records)
    sound = sum(record.problem is None for record in records) / len(records)
    cells = [
        cell for record in records if record.fields and len(record.fields) == width
        for cell in record.fields
    ]  # fmt: skip
    clean = sum(_clean(cell, dialect) for cell in cells) / len(cells)
    prior = 0.8 if dialect.delimiter in _LAST_RESORT else 1.0
    quoted = 1.0 if dialect.quote == '"' else 0.97
    return regular * sound**2 * (0.5 + 0.5 * clean) * prior * quoted


def _one_value_a_line(lines: Sequence[Line], delimiter: str) -> bool:
    """A column of `10:30` or `1,5` is one column, and words are no columns."""
    whole = sum(typed(line.text) or _CLOCK.fullmatch(line.text) is not None for line in lines)
    if whole * 2 >= len(lines):
        return delimiter in _LAST_RESORT or delimiter not in lines[0].text
    if delimiter not in _LAST_RESORT:
        return False
    cells = [cell for line in lines for cell in line.text.split(delimiter)]
    return sum(map(typed, cells)) * 3 < len(cells)


def _clean(cell: str | None, dialect: Dialect) -> float:
    """A whole value scores best; one that holds another delimiter or a bare quote scores worst."""
    if cell is None:
        # Doubled delimiters leave every second field empty.
        return 0.5
    if dialect.quote is None and cell[:1] == '"' and cell[-1:] == '"' and len(cell) > 1:
        return 0.0
    if dialect.quote == '"' and len(cell) > 1 and cell[0] == "'" == cell[-1]:
        return 0.3
    if cell.count('"') % 2 and dialect.quote == "'":
        return 0.2
    if typed(cell):
        return 1.0
    return 0.4 if any(mark in cell for mark in ";\t|" if mark != dialect.delimiter) else 0.8


def typed(cell: str) -> bool:
    """Whether a cell is a number, a date or a truth value: nothing a column is called."""
    return (
        _NUMBER.fullmatch(cell) is not None
        or _DATE.fullmatch(cell) is not None
        or cell.lower() in _TYPED_WORDS
    )


def find_layout(records: Sequence[Record], options: Options) -> Layout:
    """Preamble, header and first line of data, from the first records."""
    sound = [record for record in records if record.fields is not None]
    widths = Counter(len(record.fields or ()) for record in sound[:_RECORDS])
    wide = {width: count for width, count in widths.items() if width > 1} or dict(widths)
    width = max(wide, key=lambda known: (wide[known], known)) if wide else 1
    if options.header_row is not None:
        return _given(records, options.header_row, width)
    start = _start(sound, width)
    candidate, body = sound[start] if start < len(sound) else None, sound[start + 1 :]
    preamble = tuple(r for r in records if candidate is not None and r.line < candidate.line)
    if candidate is None or candidate.fields is None:
        return Layout(Header(None, "There is no record."), (None,) * width, (), 1, width)
    same = [record.fields for record in body if record.fields and len(record.fields) == width]
    reason = header_reason(candidate.fields, same[:100], width)
    if reason is None:
        header = Header(None, "The first record looks like the ones below it.")
        return Layout(header, (None,) * width, preamble, candidate.line, width)
    names = _names(candidate.fields, same[:100], width)
    header = Header(candidate.line, reason)
    return Layout(header, names, preamble, _after(candidate), max(width, len(names)))


def _after(record: Record) -> int:
    return record.line + len(re.findall("\r\n|\r|\n", record.raw)) + 1


def _given(records: Sequence[Record], row: int, width: int) -> Layout:
    if row == 0:
        line = records[0].line if records else 1
        return Layout(Header(None, "No header was declared."), (None,) * width, (), line, width)
    header = next((record for record in records if record.line == row), None)
    preamble = tuple(record for record in records if record.line < row)
    names = tuple(header.fields or ()) if header is not None else ()
    names += (None,) * (width - len(names))
    first = _after(header) if header is not None else row + 1
    return Layout(Header(row, "The header row was declared."), names, preamble, first, len(names))


def _start(sound: Sequence[Record], width: int) -> int:
    """The first record as wide as most; the one above it where only that can hold the names."""
    exact = next(
        (i for i, r in enumerate(sound) if len(r.fields or ()) == width and any(r.fields or ())), 0
    )
    if exact == 0:
        return 0
    above, first = sound[exact - 1].fields or [], sound[exact].fields or []
    names = [cell for cell in above if cell]
    if len(above) < max(width - 1, 2) or len(names) < len(above) or any(map(typed, names)):
        return exact
    return exact - 1 if any(cell and typed(cell) for cell in first) else exact


def header_reason(
    cells: Sequence[str | None], body: Sequence[list[str | None]], width: int
) -> str | None:
    """Why a record is the header, or none if it is data."""
    named = [cell for cell in cells if cell]
    if not named:
        return None
    if not body:
        return (
            None if any(typed(cell) for cell in named) else "Its fields are names; no data follow."
        )
    offset = width - len(cells) if width > len(cells) and any(row[-1] for row in body) else 0
    differing = alike = 0
    for position, cell in enumerate(cells):
        below = [row[position + offset] for row in body if position + offset < len(row)]
        values = [value for value in below if value]
        if values and sum(map(typed, values)) * 10 >= len(values) * 9:
            if cell and typed(cell):
                alike += 1
            elif cell:
                differing += 1
    if differing or alike:
        return "Its fields are text above numbers or dates." if differing > alike else None
    repeated = len({cell.lower() for cell in named}) < len(named)
    recurring = any(
        cell and any(position < len(row) and row[position] == cell for row in body)
        for position, cell in enumerate(cells)
    )
    if repeated or recurring or len(named) < len(cells) or any(len(cell) > 80 for cell in named):
        return None
    return "Its fields differ from each other and from everything below."


def _names(
    cells: Sequence[str | None], body: Sequence[list[str | None]], width: int
) -> tuple[str | None, ...]:
    """The header's names; one that is missing is the last where that column is empty, else the first."""
    missing = width - len(cells)
    if missing <= 0:
        return tuple(cells)
    if any(row[-1] for row in body):
        return (*(None,) * missing, *cells)
    return (*cells, *(None,) * missing)
