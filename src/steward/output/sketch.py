"""A chart in the making: its inputs, its notes, and how its axes are cut and ordered."""

import math
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from steward.output import aggregate, dimensions, locales, specs
from steward.output.aggregate import OTHER, Measure, Notes, Place, Scale
from steward.output.dimensions import Dimension
from steward.output.requests import Chart, ChartRequest
from steward.tables import Table

_PLEASANT_SPANS = {"bar": 40, "heatmap": 40, "waterfall": 24}
_USUAL_BINS = 30
_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Sketch:
    connection: duckdb.DuckDBPyConnection
    table: Table
    request: ChartRequest
    notes: Notes
    rows: int

    def asking(self, **changes: Any) -> "Sketch":
        """The same sketch with a changed request; notes are shared."""
        return replace(self, request=self.request.model_copy(update=changes))

    def done(self, values: list[dict[str, Any]], title: str, body: dict[str, Any]) -> Chart:
        if not values:
            self.notes.add("There is nothing to draw: no row has a value here.")
        shown = self.request.title or title
        notes = tuple(self.notes.sentences)
        words = self.request.description or " ".join(
            [f"Chart: {shown}.", f"{self.notes.rows(self.rows)} read.", *notes]
        )
        spec = specs.document(values, shown, notes, words, body)
        return Chart(spec, shown, words, notes, self.rows, len(values))


def across(sketch: Sketch, used: Measure, most: int) -> Scale:
    """The horizontal axis: time stays time, numbers become classes, all else categories."""
    request, table = sketch.request, sketch.table
    column = dimensions.find(table, request.x or "", "/x")
    if dimensions.is_temporal(column):
        pleasant = min(most, _PLEASANT_SPANS.get(request.kind, 150))
        dimension = dimensions.by_time(
            sketch.connection, table, column, request.time_unit, pleasant=pleasant, most=most
        )
    elif dimensions.is_number(column) and not _few_numbers(sketch, column.name):
        wanted = max(2, min(request.bins or _USUAL_BINS, most - 2))
        dimension = dimensions.by_bins(sketch.connection, table, column, wanted)
    else:
        limit = max(1, min(request.limit, most - 1))
        return aggregate.largest(
            sketch.connection, table, dimensions.category(column), used, limit, sketch.notes
        )
    if dimension.note:
        sketch.notes.add(dimension.note)
    aggregate.note_outside(sketch.connection, table, dimension, sketch.notes)
    return Scale(dimension)


def _few_numbers(sketch: Sketch, name: str) -> bool:
    """Whether a numeric column is a handful of codes or grades: those are drawn as categories."""
    request = sketch.request
    if request.kind == "waterfall":
        return True
    if request.bins is not None or request.kind in {"line", "area"}:
        return False
    value = dimensions.number_sql(dimensions.find(sketch.table, name, "/x"))
    found = sketch.connection.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT {value} FROM {sketch.table.source} "
        f"LIMIT {request.limit + 2})"
    ).fetchone()
    return found is not None and int(found[0]) <= request.limit + 1


def ordered(request: ChartRequest, scale: Scale, totals: dict[int, float]) -> list[Place]:
    """Categories in the order asked for: by value unless they have an order of their own; 'Other' last."""
    numeric = dimensions.is_number(scale.dimension.column)
    natural = numeric or request.kind in {"line", "area", "heatmap"}
    sort = request.sort or ("x" if natural else "-y")
    named = [p for p in scale.places if p.position in totals and p.position != OTHER]
    folded = [p for p in scale.places if p.position in totals and p.position == OTHER]

    def name(place: Place) -> tuple[float, str]:
        if place.key is None:
            return (math.inf, _LAST)
        return (float(place.key), "") if numeric else (0.0, place.key)

    named.sort(key=name, reverse=sort == "-x")
    if sort.endswith("y"):
        sign = -1 if sort == "-y" else 1
        named.sort(key=lambda place: sign * totals[place.position])
    return named + folded


def cell_names(
    scale: Scale, keys: set[Any], sketch: Sketch
) -> tuple[tuple[str, ...], dict[Any, str]]:
    """Names, in order, where spans of time and classes of numbers are drawn as categories too."""
    dimension = scale.dimension
    if dimension.kind == "category":
        places = ordered(sketch.request, scale, dict.fromkeys(keys, 0.0))
        return tuple(p.label for p in places), {p.position: p.label for p in places}
    if dimension.kind == "time":
        names = {key: span_name(key, dimension) for key in sorted(keys)}
    else:
        names = {key: bin_name(key, dimension, sketch.notes.where) for key in sorted(keys)}
    return tuple(names.values()), names


def span_name(span: str, dimension: Dimension) -> str:
    if dimension.unit == "quarter":
        return f"{span[:4]} Q{(int(span[5:7]) + 2) // 3}"
    cut = {"year": 4, "month": 7, "minute": 16, "hour": 16}.get(dimension.unit or "day", 10)
    return span[:cut].replace("T", " ")


def bin_name(key: int, dimension: Dimension, where: locales.Locale) -> str:
    low, high = dimension.edge(key), dimension.edge(key + 1)
    return f"{locales.number(low, where)} – {locales.number(high, where)}"


def place_name(dimension: Dimension) -> str:
    return (
        f"{dimension.unit} of {dimension.column.name}" if dimension.unit else dimension.column.name
    )


def title(used: Measure, scale: Scale, colours: Scale | None = None) -> str:
    words = f"{used.title} by {place_name(scale.dimension)}"
    return f"{words} and {colours.dimension.column.name}" if colours else words


def finite(value: Any) -> float | int | None:
    if value is None or isinstance(value, int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
