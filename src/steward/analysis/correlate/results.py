"""What a search for associations returns: named measures, how sure they are, and warnings."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    name: str
    """`pearson`, `spearman`, `mutual_information`, `cramers_v`, `theils_u_first` (how much the
    second column tells about the first), `theils_u_second` or `correlation_ratio`."""
    value: float
    p_value: float | None
    """How likely a value like this is if the columns are independent."""
    low: float | None
    high: float | None
    """The 95 % confidence interval, where one is defined."""


@dataclass(frozen=True)
class Association:
    first: str
    second: str
    measure: str
    """The measure that describes this pair best; `strength` is its size."""
    relation: str
    """`linear`, `monotone`, `non-linear`, `categorical` or `groups differ`."""
    strength: float
    """Between 0 and 1."""
    direction: str | None
    """`rising` or `falling`, where that makes sense."""
    rows: int
    """Rows in which both columns have a value."""
    p_value: float
    """By tests that assume no distribution, before and …"""
    p_adjusted: float
    """… after allowing for the number of pairs that were tried (Holm)."""
    measures: tuple[Measure, ...]
    summary: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ColumnRole:
    name: str
    role: str
    """`number`, `category` or `left out`."""
    reason: str
    categories: int | None


@dataclass(frozen=True)
class Matrix:
    """The strength of every pair that was tried, by the measure of the same place."""

    columns: tuple[str, ...]
    strengths: tuple[tuple[float | None, ...], ...]
    measures: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Correlations:
    table: str
    rows: int
    used_rows: int
    sampled: bool
    """Computed from a sample that is always the same, because the table is large."""
    columns: tuple[ColumnRole, ...]
    associations: tuple[Association, ...]
    """Only what chance does not explain, strongest first."""
    matrix: Matrix
    pairs_tried: int
    pairs_left_out: int
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
