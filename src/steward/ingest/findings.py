"""What reading a file brings to light: format, columns with evidence, warnings, counts that tie out."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from steward.tables import Column

DATA: Final = "data.parquet"
REJECTS: Final = "rejects.parquet"


@dataclass(frozen=True)
class Note:
    """Something a person should know about the file; `code` is stable."""

    code: str
    message: str
    column: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Sample:
    """A value that decided something, with where it stands."""

    line: int | None
    value: str
    says: str


@dataclass(frozen=True)
class Alternative:
    """Another reading that a person may prefer, and the corrections that choose it."""

    says: str
    why: str
    options: dict[str, Any]
    """In the form of the options; those of columns are by name."""
    column: str | None = None


@dataclass(frozen=True)
class ColumnFinding:
    name: str
    original_name: str | None
    """What the file calls it; none where the file gives no name."""
    type: str
    reason: str
    format: str | None = None
    decimal_mark: str | None = None
    thousands: str | None = None
    declared: bool = False
    assumed: bool = False
    """Whether the rest of the file decided between readings that all hold every value."""
    rounded: bool = False
    """Whether digits beyond those that a double holds are dropped."""
    null_markers: tuple[str, ...] = ()
    """Words that are read as no value in this column."""
    padded: bool = False
    """Whether spaces around its values are taken off."""
    misfits: int = 0
    """How many of the values looked at do not fit the type; their records would be rejected."""
    records: int = 0
    """How many records were looked at to find the type; the counts below are of these."""
    values: int = 0
    nulls: int = 0
    empty_texts: int = 0
    candidates: dict[str, int] = field(default_factory=dict)
    """How many values each type or format that was tried could hold."""
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class Encoding:
    name: str
    reason: str
    byte_order_mark: bool = False


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    quote: str | None
    escape: str | None
    """The quote itself where a quote is doubled; none where nothing is escaped."""
    line_end: str
    """`\\n`, `\\r\\n`, `\\r` or `mixed`."""
    reason: str = ""


@dataclass(frozen=True)
class Header:
    row: int | None
    """The line that holds the names, the first of several; none when there is no header."""
    reason: str
    rows: int = 1


@dataclass(frozen=True)
class TableListing:
    name: str
    rows: int | None = None
    columns: int | None = None
    note: str | None = None


@dataclass(frozen=True)
class Inspection:
    name: str
    format: str
    columns: tuple[ColumnFinding, ...]
    wrappers: tuple[str, ...] = ()
    """Compressions and archives around the data, outermost first."""
    tables: tuple[TableListing, ...] = ()
    table: str | None = None
    encoding: Encoding | None = None
    dialect: Dialect | None = None
    header: Header | None = None
    preamble: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    """The first rows, as text."""
    records_seen: int = 0
    complete: bool = False
    """Whether every record was looked at, not only the first ones."""
    warnings: tuple[Note, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    would_reject: int = 0
    """How many of the records looked at would be rejected."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Loaded:
    """What was written: `records == rows + rejected` always holds.

    `rejects` has the columns line, column, raw, reason and fields: where the record stands, the
    first column that did not fit (none: the record as a whole), its text as it stands in the file,
    why, and the record's fields as a JSON array where it could be split into fields.
    """

    name: str
    format: str
    table: str | None
    records: int
    rows: int
    rejected: int
    columns: tuple[Column, ...]
    findings: tuple[ColumnFinding, ...]
    data: str = DATA
    rejects: str = REJECTS
    blank_lines: int = 0
    """Lines without any character; in a file of several columns they are no records."""
    preamble: tuple[str, ...] = ()
    encoding: Encoding | None = None
    dialect: Dialect | None = None
    header: Header | None = None
    wrappers: tuple[str, ...] = ()
    warnings: tuple[Note, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    reject_reasons: tuple[str, ...] = ()
    """Why most rejects were rejected, the most frequent reason first."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
