"""What is known before sources are brought together: what maps, what widens, what is lost, what multiplies."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Link:
    """One more table and how it hangs on an earlier one; `on` pairs the earlier column with the new one."""

    table: str
    on: tuple[tuple[str, str], ...]
    to: str
    how: str
    normalisation: str


@dataclass(frozen=True)
class OutputColumn:
    """One column of the result, from which columns it comes and what happens to it on the way."""

    name: str
    type: str
    sources: tuple[tuple[str, str, str], ...]
    """Table, column and type, one for each table that has it."""
    note: str


@dataclass(frozen=True)
class Loss:
    table: str
    column: str | None
    rows: int
    reason: str


@dataclass(frozen=True)
class Matching:
    """Exact counts of one link; `pairs` are the rows in which both sides meet."""

    left: str
    right: str
    on: tuple[tuple[str, str], ...]
    how: str
    normalisation: str
    cardinality: str
    left_rows: int
    left_null_keys: int
    left_unmatched: int
    right_rows: int
    right_null_keys: int
    right_unmatched: int
    pairs: int
    left_multiplied: int
    """Rows of the left that meet more than one row of the right."""
    largest_fan_out: int
    rows: int
    """Rows of the result of this link alone."""
    growth: float
    """Rows of the result for each row of the left."""


@dataclass(frozen=True)
class Compatibility:
    """The answer to "may these be brought together?"; with `problems` the answer is no."""

    columns: tuple[OutputColumn, ...]
    lost: tuple[Loss, ...]
    matchings: tuple[Matching, ...]
    rows: int
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def possible(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"possible": self.possible}
