"""Finds how a delimited text is written: delimiter, quotes, line ends, preamble, header."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from steward.ingest.findings import Alternative, Dialect, Header
from steward.ingest.layout import Arrangement, alternatives, arrange, names_with_units, typed
from steward.ingest.options import Options
from steward.ingest.records import Line, Record, Records, lines_of

_USUAL = (",", ";", "\t", "|", "\x1f", "\x01", "~", "^", "||", "::")
_LAST_RESORT = (":", " ")
_WITHIN_VALUES = (",", *_LAST_RESORT)
_NUMBERS = re.compile(r"[\d.,+\-eE ]+")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?")
_QUOTED = re.compile('"(?:[^"]|"")*"')
_GROUPED = re.compile(r"[+-]?\d{1,3}( \d{3})+([.,]\d+)?")
_SAMPLE = 1 << 16
_WEAK = 0.5
"""Below this score no usual delimiter is believed without looking at others."""
_NEAR = 0.9
_LEAST = 0.2
"""Below this score every line is one field."""
_NEVER = frozenset("\"'.,;:|~^-_ \t()[]{}")
_RECORDS = 300
_FEW = 3


@dataclass(frozen=True)
class Layout:
    """Where the data of a delimited text begin, and the names above them."""

    header: Header
    names: tuple[str | None, ...]
    preamble: tuple[Record, ...]
    first_line: int
    """The line of the first data record."""
    width: int
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Dialects:
    chosen: Dialect
    rivals: tuple[Dialect, ...] = ()
    """Other delimiters that are nearly as good."""


def find_dialect(text: str, options: Options) -> Dialects:
    """The way of writing under which most records have the same number of fields."""
    sample = list(lines_of((text[:_SAMPLE],)))
    # The last line may be cut; a text of one line has nothing else to go by.
    lines = sample[:-1] if len(sample) > 1 and len(text) > _SAMPLE else sample
    end = _line_end(lines)
    if options.delimiter is None and _one_quoted_field(lines):
        quote = '"' if options.quote is None else options.quote or None
        reason = "Every line is one field in quotes."
        return Dialects(Dialect(",", quote, options.escape or quote, end, reason))
    candidates = _candidates(text[:_SAMPLE], options, end)
    scored = [(_score(lines, dialect), -order, dialect) for order, dialect in enumerate(candidates)]
    ranked = sorted(scored, key=lambda item: item[:2], reverse=True)
    if not ranked or ranked[0][0] < _WEAK:
        # Nothing usual splits it well: any other sign that stands in every line may.
        unusual = _unusual(lines, options, end)
        scored += [(_score(lines, d), -len(scored) - i, d) for i, d in enumerate(unusual)]
        ranked = sorted(scored, key=lambda item: item[:2], reverse=True)
    if not ranked or ranked[0][0] < _LEAST:
        quote = '"' if options.quote is None else options.quote or None
        escape = options.escape or quote
        reason = "Every line is one field."
        return Dialects(Dialect(options.delimiter or ",", quote, escape, end, reason))
    best, _, chosen = ranked[0]
    rivals: dict[str, Dialect] = {}
    for score, _, dialect in ranked[1:]:
        if score >= best * _NEAR and dialect.delimiter != chosen.delimiter:
            rivals.setdefault(dialect.delimiter, dialect)
    reason = f"{best:.0%} agreement among the first records."
    return Dialects(replace(chosen, reason=reason), tuple(rivals.values())[:2])


def _one_quoted_field(lines: Sequence[Line]) -> bool:
    whole = sum(_QUOTED.fullmatch(line.text) is not None for line in lines)
    return whole * 2 >= len(lines) > 0


def _unusual(lines: Sequence[Line], options: Options, end: str) -> list[Dialect]:
    """Other signs that stand equally often in nearly every line."""
    if options.delimiter is not None:
        return []
    filled = [line.text for line in lines if line.text][:_RECORDS]
    if len(filled) < _FEW:
        return []
    found = []
    for sign in sorted({c for c in filled[0] if not c.isalnum() and c not in _NEVER}):
        counts = Counter(line.count(sign) for line in filled)
        count, times = counts.most_common(1)[0]
        if count and times * 10 >= len(filled) * 9:
            found.append(Dialect(sign, '"', '"', end))
    return found


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
    # A first line of names may lack the one above the names of the rows.
    least = len(records) - (len(records) > _FEW and len(records[0].fields or ()) == width - 1)
    if dialect.delimiter in _LAST_RESORT and count < least:
        return 0.0
    unusual = dialect.delimiter not in _USUAL
    if (unusual or dialect.delimiter in _WITHIN_VALUES) and _one_value_a_line(
        lines, dialect.delimiter
    ):
        return 0.0
    regular = count / len(records)
    sound = sum(record.problem is None for record in records) / len(records)
    cells = [
        cell for record in records if record.fields and len(record.fields) == width
        for cell in record.fields
    ]  # fmt: skip
    clean = sum(_clean(cell, dialect) for cell in cells) / len(cells)
    prior = 0.8 if dialect.delimiter in _LAST_RESORT else 1.0
    quoted = 1.0 if dialect.quote == '"' or _encloses(lines, dialect) else 0.97
    return regular * sound**2 * (0.5 + 0.5 * clean) * prior * quoted


def _encloses(lines: Sequence[Line], dialect: Dialect) -> bool:
    """Whether single quotes stand around whole fields and nowhere else, and there are no double ones."""
    quote = dialect.quote
    if quote != "'" or any('"' in line.text for line in lines):
        return False
    cells = [cell for line in lines for cell in line.text.split(dialect.delimiter) if quote in cell]
    return bool(cells) and all(
        len(cell) > 1 and cell[0] == quote == cell[-1] and cell.count(quote) == 2 for cell in cells
    )


def _one_value(text: str, delimiter: str) -> bool:
    """Whether a line is one number, date or time; several numbers between spaces are not."""
    if delimiter == " " and " " in text and _NUMBERS.fullmatch(text):
        return _GROUPED.fullmatch(text) is not None
    return typed(text) or _CLOCK.fullmatch(text) is not None


def _one_value_a_line(lines: Sequence[Line], delimiter: str) -> bool:
    """A column of `10:30` or `1,5` is one column, and words are no columns."""
    whole = sum(_one_value(line.text, delimiter) for line in lines)
    if whole * 2 >= len(lines):
        return delimiter != "," or delimiter not in lines[0].text
    if delimiter not in _LAST_RESORT:
        return False
    cells = [cell for line in lines for cell in line.text.split(delimiter)]
    return sum(map(typed, cells)) * 3 < len(cells)


def _clean(cell: str | None, dialect: Dialect) -> float:
    """A whole value scores best; one that holds another delimiter or a bare quote scores worst."""
    if cell is None:
        # Doubled delimiters leave every second field empty.
        return 0.5
    if dialect.quote != '"' and cell[:1] == '"' and cell[-1:] == '"' and len(cell) > 1:
        return 0.0
    if dialect.quote == '"' and len(cell) > 1 and cell[0] == "'" == cell[-1]:
        return 0.3
    if cell.count('"') % 2 and dialect.quote == "'":
        return 0.2
    if typed(cell):
        return 1.0
    return 0.4 if any(mark in cell for mark in ";\t|" if mark != dialect.delimiter) else 0.8


def find_layout(records: Sequence[Record], options: Options) -> Layout:
    """Preamble, header and first line of data, from the first records."""
    sound = [record for record in records if record.fields is not None][:_RECORDS]
    width = _usual_width(sound)
    if options.header_row is not None:
        return _given(records, options, width)
    if not sound:
        return Layout(Header(None, "There is no record."), (None,) * width, (), 1, width)
    rows = _aligned(sound, width)
    arranged = arrange(rows, width)
    layout = _laid_out(records, sound, rows, arranged.chosen, width, options.units or "name")
    numbers = [record.line for record in sound]
    return replace(layout, alternatives=alternatives(arranged, numbers, "line", options.units))


def _usual_width(sound: Sequence[Record]) -> int:
    widths = Counter(len(record.fields or ()) for record in sound)
    wide = {width: count for width, count in widths.items() if width > 1} or dict(widths)
    return max(wide, key=lambda known: (wide[known], known)) if wide else 1


def _aligned(sound: Sequence[Record], width: int) -> list[list[str | None]]:
    """The fields of records, as wide as most; one that lacks the first field is moved to the right."""
    last = [r.fields[-1] for r in sound if r.fields is not None and len(r.fields) == width]
    numbered = width > 1 and sum(map(bool, last)) * 2 > len(last)
    comments = sum(record.raw.startswith("#") for record in sound)
    names = _commented_names(sound, width)
    rows: list[list[str | None]] = []
    for place, record in enumerate(sound):
        fields: list[str | None] = list(record.fields or ())
        if record.raw.startswith("#") and comments * 2 < len(sound) and place != names:
            fields = []
        missing = width - len(fields)
        if missing == 1 and numbered and len(rows) < _FEW and all(fields):
            fields = [None, *fields]
        rows.append([*fields, *[None] * (width - len(fields))])
    return rows


def _commented_names(sound: Sequence[Record], width: int) -> int | None:
    """The last of the comments on top, where it has a text for every column and values follow at once."""
    first = next((i for i, record in enumerate(sound) if not record.raw.startswith("#")), 0)
    if first == 0 or width < 2:
        return None
    names, values = sound[first - 1].fields or (), sound[first].fields or ()
    named = len(names) == width and all(cell and not typed(cell) for cell in names)
    return first - 1 if named and any(cell and typed(cell) for cell in values) else None


def _laid_out(
    records: Sequence[Record],
    sound: Sequence[Record],
    rows: Sequence[Sequence[str | None]],
    chosen: Arrangement,
    width: int,
    units: str,
) -> Layout:
    start = sound[chosen.names_from]
    preamble = tuple(record for record in records if record.line < start.line)
    if not chosen.name_rows:
        header = Header(None, chosen.reason)
        return Layout(header, (None,) * width, preamble, start.line, width)
    named = [rows[i] for i in range(chosen.names_from, chosen.names_to)]
    names = names_with_units(named, width, units if chosen.units else None)
    while len(names) > width and not names[-1]:
        names = names[:-1]
    header = Header(start.line, chosen.reason, chosen.name_rows)
    first = _after(sound[chosen.names_to - 1])
    return Layout(header, names, preamble, first, max(width, len(names)))


def _after(record: Record) -> int:
    return record.line + len(re.findall("\r\n|\r|\n", record.raw)) + 1


def _given(records: Sequence[Record], options: Options, width: int) -> Layout:
    row, count = options.header_row or 0, options.header_rows
    if row == 0:
        line = records[0].line if records else 1
        return Layout(Header(None, "No header was declared."), (None,) * width, (), line, width)
    start = next((i for i, record in enumerate(records) if record.line == row), None)
    preamble = tuple(record for record in records if record.line < row)
    held = list(records[start : start + count]) if start is not None else []
    named = [list(record.fields or ()) for record in held]
    widest = max([width, *map(len, named)])
    names = names_with_units(named, widest, options.units) if named else ()
    while len(names) > width and not names[-1]:
        names = names[:-1]
    names += (None,) * (width - len(names))
    first = _after(held[-1]) if held else row + 1
    header = Header(row, "The header row was declared.", count)
    return Layout(header, names, preamble, first, len(names))
