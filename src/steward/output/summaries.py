"""Pies, heat maps, box plots and waterfalls: tables too large to read, as a few shapes."""

import math
from typing import Any

from steward.core import Invalid, Problem
from steward.output import aggregate, dimensions, locales, specs
from steward.output.aggregate import Measure
from steward.output.requests import Chart
from steward.output.sketch import (
    Sketch,
    across,
    cell_names,
    finite,
    ordered,
    place_name,
    title,
)

_SLICES = 7


def pie(sketch: Sketch) -> Chart:
    request = sketch.request
    used = aggregate.measure(sketch.table, request.y, request.aggregate, pointer="/y")
    column = dimensions.find(sketch.table, request.x or "", "/x")
    around = aggregate.largest(
        sketch.connection,
        sketch.table,
        dimensions.category(column),
        used,
        min(request.limit, _SLICES),
        sketch.notes,
    )
    aggregate.note_left_out(sketch.connection, sketch.table, used, sketch.notes)
    found = aggregate.grouped(sketch.connection, sketch.table, [around], used)
    heights = {row[0]: float(finite(row[1]) or 0.0) for row in found}
    if any(height < 0 for height in heights.values()):
        message = (
            f"{used.title} is negative for some {column.name}; a pie cannot show that. Use bars."
        )
        raise Invalid(message, code="negative-slice", problems=[Problem("/kind", message)])
    total = sum(heights.values()) or 1.0
    places = ordered(request, around, heights)
    values = [
        {
            "series": place.label,
            "y": heights[place.position],
            "share": heights[place.position] / total,
            "order": position,
        }
        for position, place in enumerate(places)
    ]
    names = [place.label for place in places]
    body = specs.slices(names, column.name, used.title, folded=around.folded > 0)
    return sketch.done(values, title(used, around), body)


def heatmap(sketch: Sketch) -> Chart:
    request = sketch.request
    used = aggregate.measure(sketch.table, request.value, request.aggregate, pointer="/value")
    most = max(3, math.isqrt(request.max_points))
    sideways = sketch.asking(x=request.y)
    x_scale, y_scale = across(sketch, used, most), across(sideways, used, most)
    aggregate.note_left_out(sketch.connection, sketch.table, used, sketch.notes)
    found = aggregate.grouped(sketch.connection, sketch.table, [x_scale, y_scale], used)
    cells = [row for row in found if finite(row[2]) is not None]
    x_order, x_names = cell_names(x_scale, {row[0] for row in cells}, sketch)
    y_order, y_names = cell_names(y_scale, {row[1] for row in cells}, sideways)
    values = [
        {"x": x_names[row[0]], "y": y_names[row[1]], "value": finite(row[2])} for row in cells
    ]
    x = specs.category_axis(
        place_name(x_scale.dimension), x_order, room=specs.cell_width(len(x_order)) * len(x_order)
    )
    y = specs.category_axis(place_name(y_scale.dimension), y_order, field="y")
    if y_scale.dimension.kind == "bins":
        y["sort"] = list(reversed(y_order))
    body = specs.heat_cells(x, y, used.title, columns=len(x_order))
    return sketch.done(values, f"{title(used, x_scale)} and {y['title']}", body)


def box(sketch: Sketch) -> Chart:
    request, notes = sketch.request, sketch.notes
    column = dimensions.find(sketch.table, request.y or "", "/y")
    if not dimensions.is_number(column):
        message = f"{column.name} is {column.type}; a box plot needs numbers."
        raise Invalid(message, code="not-a-number", problems=[Problem("/y", message)])
    used = Measure("count", column, dimensions.number_sql(column))
    scale = None
    if request.x is not None:
        grouping = dimensions.category(dimensions.find(sketch.table, request.x, "/x"))
        limit = min(request.limit, request.max_points - 1)
        scale = aggregate.largest(sketch.connection, sketch.table, grouping, used, limit, notes)
    aggregate.note_left_out(sketch.connection, sketch.table, used, notes)
    boxes, outliers = aggregate.quartiles(sketch.connection, sketch.table, scale, used)
    if outliers:
        notes.add(f"{notes.rows(outliers)} beyond the whiskers not drawn.")
    medians = {one["position"]: float(one["median"]) for one in boxes}
    x = specs.category_axis(None, [""])
    suffix = ""
    if scale is not None:
        order = [place.label for place in ordered(request, scale, medians)]
        x = specs.category_axis(scale.dimension.column.name, order, room=min(600, 90 * len(order)))
        suffix = f" by {scale.dimension.column.name}"
    values = [{key: one[key] for key in one if key != "position"} for one in boxes]
    body = specs.boxes(x, column.name, log=request.log, count=len(values))
    return sketch.done(values, f"Spread of {column.name}{suffix}", body)


def waterfall(sketch: Sketch) -> Chart:
    request = sketch.request
    used = aggregate.measure(sketch.table, request.y, request.aggregate, pointer="/y")
    if not used.additive:
        message = f"A waterfall adds up; {used.aggregate} values do not. Use sum or count."
        raise Invalid(message, code="not-additive", problems=[Problem("/aggregate", message)])
    scale = across(sketch, used, max(3, request.max_points - 1))
    aggregate.note_left_out(sketch.connection, sketch.table, used, sketch.notes)
    found = aggregate.grouped(sketch.connection, sketch.table, [scale], used, first_seen=True)
    amounts = {row[0]: float(finite(row[1]) or 0.0) for row in found}
    names = cell_names(scale, set(amounts), sketch)[1]
    if scale.dimension.kind == "category":
        # Without a wish the steps come in the order of the data: that is the story a bridge tells.
        seen = {row[0]: float(row[2]) for row in found}
        places = ordered(
            request if request.sort else request.model_copy(update={"sort": "y"}),
            scale,
            amounts if request.sort else seen,
        )
        names = {place.position: place.label for place in places}
    values = _steps(names, amounts, sketch.notes.where)
    x = specs.category_axis(place_name(scale.dimension), [value["x"] for value in values])
    return sketch.done(values, title(used, scale), specs.bridge(x, used.title))


def _steps(
    names: dict[Any, str], amounts: dict[Any, float], where: locales.Locale
) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = []
    level = 0.0
    for key, label in names.items():
        values.append(_step(label, level, level + amounts[key]))
        level = values[-1]["end"]
    if values:
        total = dimensions.labels([*names.values(), "Total"])[-1]
        values.append(_step(total, 0.0, level) | {"kind": "Total"})
    for value in values:
        sign = "+" if value["kind"] == "Increase" else ""
        value["label"] = sign + locales.compact(value["amount"], where)
    return values


def _step(label: str, start: float, end: float) -> dict[str, Any]:
    end = round(end, 10)
    return {
        "x": label,
        "start": start,
        "end": end,
        "top": max(start, end),
        "amount": round(end - start, 10),
        "kind": "Increase" if end >= start else "Decrease",
    }
