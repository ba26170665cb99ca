"""Bars, lines, areas and histograms: a measure over one dimension, in colours for another."""

import math
from typing import Any

from steward.core import Invalid, Problem
from steward.output import aggregate, dimensions, specs
from steward.output.aggregate import Measure, Scale
from steward.output.requests import Chart, ChartRequest
from steward.output.sketch import Sketch, across, finite, ordered, title


def series_chart(sketch: Sketch) -> Chart:
    request, notes = sketch.request, sketch.notes
    used = aggregate.measure(sketch.table, request.y, request.aggregate, pointer="/y")
    colours = _colours(sketch, used)
    scale = across(sketch, used, max(3, request.max_points // max(1, _count(colours))))
    aggregate.note_left_out(sketch.connection, sketch.table, used, notes)
    scales = [scale] if colours is None else [scale, colours]
    found = aggregate.grouped(sketch.connection, sketch.table, scales, used)
    heights = {(row[0], row[1] if colours else 0): finite(row[-1]) for row in found}
    places = _places(sketch, scale, heights)
    values = _values(request, scale, colours, used, heights, places)
    order = tuple(str(label) for _, label in places)
    body = _body(request, scale, colours, used, order)
    return sketch.done(values, title(used, scale, colours), body)


def histogram(sketch: Sketch) -> Chart:
    column = dimensions.find(sketch.table, sketch.request.x or "", "/x")
    if dimensions.is_number(column):
        wanted = sketch.request.bins or _usual_bins(sketch.rows)
        return series_chart(sketch.asking(kind="bar", bins=wanted))
    if dimensions.is_temporal(column):
        return series_chart(sketch.asking(kind="bar", bins=None))
    message = (
        f"{column.name} is {column.type}; a histogram needs numbers or dates. Use a bar chart."
    )
    raise Invalid(message, code="not-a-number", problems=[Problem("/x", message)])


def _usual_bins(rows: int) -> int:
    """Sturges' rule and a little more: enough to see a shape, few enough to read."""
    return min(40, max(10, math.ceil(math.log2(max(rows, 2))) + 5))


def _count(colours: Scale | None) -> int:
    return len(colours.places) if colours else 1


def _colours(sketch: Sketch, used: Measure) -> Scale | None:
    request = sketch.request
    if request.colour is None:
        return None
    column = dimensions.find(sketch.table, request.colour, "/colour")
    most = min(request.series_limit, max(1, request.max_points // 3 - 1))
    return aggregate.largest(
        sketch.connection, sketch.table, dimensions.category(column), used, most, sketch.notes
    )


def _places(
    sketch: Sketch, scale: Scale, heights: dict[tuple[Any, Any], Any]
) -> list[tuple[Any, Any]]:
    """Keys and labels of the horizontal axis in drawing order; empty spans and classes are places too."""
    if not heights:
        return []
    if scale.dimension.kind == "time":
        spans = aggregate.spans(sketch.connection, sketch.table, scale.dimension)
        return [(span, span) for span in spans]
    if scale.dimension.kind == "bins":
        keys = sorted({key for key, _ in heights})
        return [(key, key) for key in range(keys[0], keys[-1] + 1)]
    totals: dict[int, float] = {}
    for (key, _), height in heights.items():
        totals[key] = totals.get(key, 0.0) + float(height or 0.0)
    return [(place.position, place.label) for place in ordered(sketch.request, scale, totals)]


def _values(
    request: ChartRequest,
    scale: Scale,
    colours: Scale | None,
    used: Measure,
    heights: dict[tuple[Any, Any], Any],
    places: list[tuple[Any, Any]],
) -> list[dict[str, Any]]:
    dimension = scale.dimension
    series = {place.position: place.label for place in colours.places} if colours else {0: ""}
    # Nothing counted or added is zero; the mean of nothing is a gap in the line.
    fill = 0 if used.additive and dimension.kind != "category" else None
    values = []
    for key, label in places:
        for line, name in series.items():
            y = heights.get((key, line), fill)
            if y is None and dimension.kind != "time":
                continue
            point: dict[str, Any] = {"x": label, "y": y}
            if dimension.kind == "bins":
                point |= _class_edges(request, scale, key)
            if colours:
                point["series"] = name
            values.append(point)
    return values


def _class_edges(request: ChartRequest, scale: Scale, key: int) -> dict[str, float]:
    low, high = scale.dimension.edge(key), scale.dimension.edge(key + 1)
    if request.kind == "bar":
        return {"x": low, "x2": high}
    # A line runs through single whole numbers, or through the middles of classes.
    return {"x": low if scale.dimension.last is None else (low + high) / 2}


def _body(
    request: ChartRequest,
    scale: Scale,
    colours: Scale | None,
    used: Measure,
    order: tuple[str, ...],
) -> dict[str, Any]:
    name = scale.dimension.column.name
    colour = None
    if colours is not None:
        legend = colours.dimension.column.name
        colour = specs.series(legend, colours.labels, folded=colours.folded > 0)
    share = request.stack == "share" and colour is not None
    from_zero = used.additive or request.kind != "line"
    y = specs.value_axis(used.title, log=request.log, zero=from_zero, share=share)
    if share:
        y["stack"] = "normalize"
    bars = request.kind == "bar"
    if scale.dimension.kind == "time":
        x = specs.time_axis(name, scale.dimension.unit or "day", bars=bars)
    elif scale.dimension.kind == "bins":
        x = specs.class_axis(name, float(scale.dimension.step), bars=bars)
    else:
        x = specs.category_axis(name, order)
    if bars:
        body = specs.bars(request, x, y, colour, order)
        if scale.dimension.kind == "bins":
            body["encoding"]["x2"] = {"field": "x2"}
    else:
        body = specs.lines(request, x, y, colour)
    body["encoding"]["tooltip"] = specs.tooltip(x, used.title, colour, scale.dimension.unit)
    return body
