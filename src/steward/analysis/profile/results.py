"""What a profile says: plain values that become JSON as they are, without NaN or infinity."""

from dataclasses import asdict, dataclass
from typing import Any

from steward.analysis.pii import Finding


@dataclass(frozen=True)
class ValueCount:
    value: str
    rows: int


@dataclass(frozen=True)
class Pattern:
    """A shape such as `AA99` or `Aa+ 9+`: A and a stand for letters, 9 for digits, x for other
    letters; + means one or more; everything else stands for itself."""

    shape: str
    rows: int
    share: float


@dataclass(frozen=True)
class Text:
    shortest: int
    longest: int
    mean_length: float
    empty: int
    """Rows with an empty text."""
    blank: int
    """Rows with nothing but white space, the empty ones not counted."""
    padded: int
    """Rows that begin or end with white space."""
    placeholders: int
    """Rows that say `N/A`, `null`, `-` and the like."""
    patterns: tuple[Pattern, ...]
    patterns_from: int
    """Distinct values that were looked at for the patterns."""
    patterns_exact: bool
    """Whether these were all of them."""
    spellings: int
    """Distinct values that are another one in different case or spacing; 0 when not looked at."""


@dataclass(frozen=True)
class Quantile:
    share: float
    value: float | None
    text: str
    """The value as a person would write it: a number, a date or a moment."""


@dataclass(frozen=True)
class Histogram:
    """Bin i holds what lies between edge i and edge i+1; the first and last may be wider."""

    edges: tuple[float, ...]
    labels: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Outliers:
    method: str
    lower: str
    upper: str
    rows: int
    share: float
    examples: tuple[ValueCount, ...]
    """The most extreme ones, lowest first."""


@dataclass(frozen=True)
class Number:
    """Statistics of finite numbers; those of dates and times are days and seconds as numbers."""

    finite: int
    nan: int
    infinite: int
    zero: int
    negative: int
    mean: float | None
    deviation: float | None
    """Standard deviation of a sample (n - 1)."""
    median_deviation: float | None
    """Median absolute deviation from the median."""
    whole: bool
    """Every value is a whole number."""


@dataclass(frozen=True)
class Gap:
    first: str
    last: str
    length: int


@dataclass(frozen=True)
class Dates:
    first: str
    last: str
    span_days: int
    days_present: int
    unit: str
    """`day`, `working day` or `month`: the step in which the column is regular enough to miss one;
    `none` when it is not."""
    missing: int
    gaps: tuple[Gap, ...]
    """The longest first."""
    midnight_only: bool
    """A timestamp that never has a time of day."""


@dataclass(frozen=True)
class Meaning:
    """What the values probably are, such as `email` or `country`."""

    kind: str
    label: str
    share: float
    """Of the rows looked at."""
    checked: int
    """Distinct values looked at."""
    exact: bool
    """Whether these were all of them."""
    evidence: str


@dataclass(frozen=True)
class ColumnProfile:
    name: str
    type: str
    kind: str
    """`number`, `text`, `boolean`, `date`, `moment`, `time`, `nested`, `binary` or `other`."""
    rows: int
    filled: int
    """Rows that are not null."""
    nulls: int
    null_share: float
    distinct: int
    distinct_exact: bool
    unique: bool | None
    """Every row has a value of its own; None when that was not established."""
    constant: bool
    minimum: str | None
    maximum: str | None
    top: tuple[ValueCount, ...]
    top_exact: bool
    number: Number | None
    quantiles: tuple[Quantile, ...]
    histogram: Histogram | None
    outliers: Outliers | None
    text: Text | None
    dates: Dates | None
    meanings: tuple[Meaning, ...]
    pii: tuple[Finding, ...]
    masked: bool
    """Values of this column are shown masked because they are personal data."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Key:
    columns: tuple[str, ...]
    score: float
    why: str


@dataclass(frozen=True)
class AlikeColumns:
    first: str
    second: str
    relation: str
    """`equal`: in every row; `nearly equal`: in most rows."""
    equal_rows: int
    share: float


@dataclass(frozen=True)
class MissingTogether:
    """Columns that are null in the same rows, and in no other combination there."""

    columns: tuple[str, ...]
    rows: int
    share: float


@dataclass(frozen=True)
class MissingPair:
    first: str
    second: str
    rows: int
    """Rows in which both are null."""
    share: float
    """Of the rows in which at least one of them is."""


@dataclass(frozen=True)
class Missing:
    complete_rows: int
    combinations: tuple[MissingTogether, ...]
    pairs: tuple[MissingPair, ...]


@dataclass(frozen=True)
class Profile:
    table: str
    rows: int
    """Rows of the table."""
    profiled_rows: int
    sampled: bool
    """Only a sample was profiled, because that was asked for."""
    duplicate_rows: int | None
    """Rows that repeat an earlier one in full; None when that was not established."""
    columns: tuple[ColumnProfile, ...]
    keys: tuple[Key, ...]
    alike: tuple[AlikeColumns, ...]
    missing: Missing
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def column(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)
