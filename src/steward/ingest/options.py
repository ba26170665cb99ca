"""What a caller may correct about a file before it is read, and the limits of reading it."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from steward.core import Invalid

FORMATS = ("delimited", "json", "parquet", "excel", "sqlite", "duckdb", "postgresql", "mysql")


@dataclass(frozen=True)
class ColumnOption:
    """How one column is to be read; unset parts are found from the data."""

    type: str | None = None
    format: str | None = None
    """A date or time format in strptime's letters, as in `%d.%m.%Y`."""
    decimal_mark: str | None = None
    thousands: str | None = None
    null_markers: tuple[str, ...] | None = None
    """Texts that mean "no value" in this column; none given: as found, empty: none are."""


@dataclass(frozen=True)
class Options:
    format: str | None = None
    table: str | None = None
    """A sheet, a table, or a member of an archive; `member#table` for a table inside a member.

    `Sheet!A3:D20` is a range of cells of a sheet.
    """
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    """An empty text: nothing is quoted."""
    escape: str | None = None
    header_row: int | None = None
    """The line (in a sheet: the row) that holds the names, the first of several; 0: there is none."""
    header_rows: int = 1
    """How many rows hold the names, from `header_row` on."""
    units: Literal["name", "drop"] | None = None
    """What becomes of units in the last of these rows: behind the name in brackets, or left out; unset: as found."""
    columns: Mapping[str, ColumnOption] = field(default_factory=dict)
    null_markers: tuple[str, ...] = ()
    """Texts that mean "no value" in every column, beside those that are found."""
    date_format: str | None = None
    decimal_mark: str | None = None
    thousands: str | None = None
    ragged: Literal["reject", "pad"] | None = None
    """What becomes of records with too few fields; those with too many are always rejected.

    Unset: they are filled where only fields are missing that most records leave empty.
    """
    tolerance: float = 0.001
    """Largest share of values that may not fit a type found from the data; they are rejected."""
    formula_marks: Literal["remove", "keep"] = "remove"
    """What becomes of the apostrophe before a text that a spreadsheet would run."""
    fill_merged: bool = False
    """Whether every cell of a merged range gets the range's value."""
    flatten: bool = False
    """Whether the fields of nested records become columns, named by their path, as in `address.city`."""
    rejects_allowed: float = 0.01
    """Largest share of records that may be rejected without asking."""


@dataclass(frozen=True)
class Limits:
    memory_mb: int = 2048
    threads: int = 2
    cpu_seconds: int = 1800
    wall_seconds: int = 3600
    output_mb: int = 50_000
    """Largest single file that may be written, unpacked input included."""
    unpacked_mb: int = 20_000
    unpack_ratio: int = 250
    """Largest ratio of unpacked to packed size, once `unpack_free_mb` have been unpacked."""
    unpack_free_mb: int = 64
    nesting: int = 2
    """How many archives may lie inside each other."""
    columns: int = 5_000
    record_mb: int = 16
    """Longest single record."""
    sample_mb: int = 8
    sample_records: int = 20_000

    @property
    def engine_memory_mb(self) -> int:
        """What DuckDB may use: the rest is for Python, Arrow and buffers."""
        return max(self.memory_mb // 2, 128)


DEFAULT_OPTIONS = Options()
DEFAULT_LIMITS = Limits()


def checked(options: Options) -> Options:
    """The options, refused with a reason where they cannot mean anything."""
    if options.format is not None and options.format not in FORMATS:
        raise Invalid(f"There is no format {options.format!r}; use one of {', '.join(FORMATS)}.")
    if options.encoding is not None:
        _check_encoding(options.encoding)
    _check_characters(options)
    if options.header_row is not None and options.header_row < 0:
        raise Invalid("The header row is a line number, counted from 1; 0 means no header.")
    if not 1 <= options.header_rows <= 20:
        raise Invalid("Between 1 and 20 rows can hold the names.")
    if not 0 <= options.rejects_allowed <= 1:
        raise Invalid("The share of records that may be rejected lies between 0 and 1.")
    if not 0 <= options.tolerance < 1:
        raise Invalid("The tolerance is a share of the values: at least 0 and less than 1.")
    return options


def _check_characters(options: Options) -> None:
    for label, mark in (("decimal mark", options.decimal_mark), ("thousands", options.thousands)):
        if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-"):
            raise Invalid(f"The {label} must be one character that is no letter, digit or sign.")
    if options.delimiter is not None and (
        not 1 <= len(options.delimiter) <= 4 or set(options.delimiter) & set('\r\n"')
    ):
        raise Invalid("The delimiter must be one to four characters, no quote and no line end.")
    for label, character in (("quote", options.quote), ("escape", options.escape)):
        if character is not None and (len(character) > 1 or character in "\r\n"):
            raise Invalid(f"The {label} must be one character, or empty for none.")
    if options.quote and options.delimiter and options.quote in options.delimiter:
        raise Invalid("The quote cannot be part of the delimiter.")


def _check_encoding(name: str) -> None:
    try:
        # Some codecs (rot13, base64) are no character encodings: they do not decode to text.
        text = codecs.lookup(name).decode(b"")[0]
    except (LookupError, TypeError, ValueError, ImportError) as problem:
        raise Invalid(f"The encoding {name!r} is not known; try utf-8 or cp1252.") from problem
    if not isinstance(text, str):
        raise Invalid(f"{name!r} is no character encoding; try utf-8 or cp1252.")
