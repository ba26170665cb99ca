"""The parts of a reading that a question names, before they are put together."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from steward.agents.asking.lexicon import Sense
from steward.agents.asking.reading import (
    ColumnRef,
    Filtered,
    Grouped,
    Measured,
    Ordered,
    Period,
    Reading,
)
from steward.agents.asking.tagging import Piece

COUNT: Final = Measured(function="count")


@dataclass(frozen=True)
class Choice:
    """Something that the question leaves open: the part of the reading, and what else it could be."""

    about: str
    part: BaseModel
    others: tuple[BaseModel | None, ...]
    """None: the reading without it."""


@dataclass
class Parsed:
    """The parts of a reading that a question names, and what it leaves open."""

    table: str
    measures: list[Measured] = field(default_factory=list)
    groups: list[Grouped] = field(default_factory=list)
    columns: list[ColumnRef] = field(default_factory=list)
    filters: list[Filtered] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)
    having: list[Filtered] = field(default_factory=list)
    order: list[Ordered] = field(default_factory=list)
    limit: int | None = None
    chart: str | None = None
    functions: list[str] = field(default_factory=list)
    """Functions without a column: what "the average instead" asks for."""
    function_pieces: list[Piece] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    shift: str = ""
    share: bool = False
    along: str | None = None
    rows: bool = False
    named_table: bool = False
    unused: list[Piece] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    ambiguous: dict[int, list[Sense]] = field(default_factory=dict)
    open: list["Choice"] = field(default_factory=list)
    """What must be asked, such as which of several time columns is meant."""
    asked: list[ColumnRef] = field(default_factory=list)
    """Columns that "when" and "who" ask for."""
    in_part: list[Piece] = field(default_factory=list)
    """Figures that are named in part: revenue for annual_revenue."""

    def reading(self) -> Reading:
        return Reading(
            table=self.table,
            measures=self.measures,
            groups=self.groups,
            columns=self.columns,
            filters=self.filters,
            segments=self.segments,
            periods=self.periods,
            having=self.having,
            order=self.order,
            limit=self.limit,
            chart=self.chart,
        )
