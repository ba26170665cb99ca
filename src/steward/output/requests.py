"""What a chart request says, and the chart that answers it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

ChartKind = Literal[
    "bar", "line", "area", "scatter", "histogram", "heatmap", "pie", "box", "waterfall"
]
Aggregate = Literal["count", "distinct", "sum", "mean", "median", "min", "max"]
TimeUnit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
Sort = Literal["x", "-x", "y", "-y"]
Stack = Literal["stacked", "grouped", "share"]

TIME_UNITS: tuple[TimeUnit, ...] = ("minute", "hour", "day", "week", "month", "quarter", "year")
MAX_POINTS = 20_000

_NEEDS: dict[ChartKind, tuple[str, ...]] = {
    "bar": ("x",),
    "line": ("x",),
    "area": ("x",),
    "scatter": ("x", "y"),
    "histogram": ("x",),
    "heatmap": ("x", "y"),
    "pie": ("x",),
    "box": ("y",),
    "waterfall": ("x", "y"),
}
_UNUSED: dict[ChartKind, tuple[str, ...]] = {
    "bar": ("value", "trend"),
    "line": ("value", "trend", "horizontal"),
    "area": ("value", "trend", "horizontal", "log"),
    "scatter": ("value", "aggregate", "bins", "time_unit", "sort", "horizontal"),
    "histogram": ("y", "value", "aggregate", "time_unit", "sort", "horizontal", "trend"),
    "heatmap": ("colour", "horizontal", "log", "trend"),
    "pie": ("colour", "value", "bins", "horizontal", "log", "trend"),
    "box": ("colour", "value", "aggregate", "bins", "time_unit", "horizontal", "trend"),
    "waterfall": ("colour", "value", "bins", "horizontal", "log", "trend"),
}


class ChartRequest(BaseModel):
    """Which columns to draw and how; what is left out is chosen from the data.

    `x` and `y` are columns: for bars, lines, areas, pies and waterfalls `y` is what is measured (rows are counted
    without it); for a heat map both are categories and `value` is measured; for a box plot `y` is measured per `x`.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")

    kind: ChartKind
    x: str | None = None
    y: str | None = None
    colour: str | None = None
    value: str | None = None
    aggregate: Aggregate | None = Field(
        default=None,
        description="How rows that share a place are combined; count or sum by default.",
    )
    bins: int | None = Field(default=None, ge=2, le=200, description="About how many classes.")
    time_unit: TimeUnit | None = Field(default=None, description="Chosen from the span by default.")
    sort: Sort | None = Field(default=None, description="By category (x) or by value (y).")
    limit: int = Field(
        default=20, ge=1, le=200, description="Categories shown; the rest are 'Other'."
    )
    series_limit: int = Field(
        default=6, ge=1, le=8, description="Colours shown; the rest are 'Other'."
    )
    stack: Stack = "stacked"
    horizontal: bool | None = Field(default=None, description="Bars lie down; by label length.")
    log: bool = Field(default=False, description="A logarithmic value axis.")
    trend: bool = Field(default=False, description="A straight line of best fit in a scatter plot.")
    title: str | None = Field(default=None, max_length=200)
    description: str | None = Field(default=None, max_length=1_000)
    max_points: int = Field(default=2_000, ge=10, le=MAX_POINTS)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        missing = [name for name in _NEEDS[self.kind] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a {self.kind} chart needs {' and '.join(missing)}")
        unused = [name for name in _UNUSED[self.kind] if getattr(self, name) not in {None, False}]
        if unused:
            raise ValueError(f"a {self.kind} chart does not use {' or '.join(unused)}")
        measured = self.value if self.kind == "heatmap" else self.y
        if self.aggregate not in {None, "count"} and measured is None:
            raise ValueError(f"{self.aggregate} needs a column to measure")
        return self


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification with its data, and what a reader must know about that data."""

    spec: dict[str, Any]
    title: str
    description: str
    notes: tuple[str, ...]
    rows: int
    points: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
