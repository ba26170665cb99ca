"""Draw a table: `chart` answers a request with a Vega-Lite specification whose data is aggregated and bounded."""

from collections.abc import Callable
from typing import Any

import duckdb

from steward.output import aggregate, dimensions, locales, specs
from steward.output.clouds import cloud
from steward.output.requests import Chart, ChartKind, ChartRequest
from steward.output.series import histogram, series_chart
from steward.output.sketch import Sketch
from steward.output.summaries import box, heatmap, pie, waterfall
from steward.output.themes import LIGHT
from steward.tables import Column, Table


def chart(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    request: ChartRequest,
    *,
    locale: str = "en-GB",
) -> Chart:
    """The chart that a request asks for; what was left out, grouped or sampled stands in its subtitle."""
    notes = aggregate.Notes(locales.locale(locale))
    rows = aggregate.count_rows(connection, table)
    return _DRAW[request.kind](Sketch(connection, table, request, notes, rows))


def _scatter(sketch: Sketch) -> Chart:
    request = sketch.request
    points = cloud(sketch.connection, sketch.table, request, sketch.notes)
    axes = {
        field: {"field": field, "title": column.name} | _point_axis(column, log=request.log)
        for field, column in (("x", points.x), ("y", points.y))
    }
    encoding = dict(axes)
    if points.colour is not None and points.scale is not None:
        encoding["color"] = specs.series(
            points.colour.name, points.scale.labels, folded=points.scale.folded > 0
        )
    elif points.colour is not None:
        encoding["color"] = {
            "field": "series",
            "type": "quantitative",
            "title": points.colour.name,
            "legend": {**specs.READABLE, "gradientLength": 200},
        }
    dots = {"mark": {"type": "point"}, "encoding": encoding}
    size = {"width": 600, "height": 320}
    title = f"{points.y.name} against {points.x.name}"
    if not points.trend:
        return sketch.done(points.values, title, dots | size)
    line = {
        "data": {"values": points.trend},
        "mark": {"type": "line", "strokeDash": [6, 4], "color": LIGHT.quiet_ink},
        "encoding": axes,
    }
    return sketch.done(points.values, title, {**size, "layer": [dots, line]})


def _point_axis(column: Column, *, log: bool) -> dict[str, Any]:
    if dimensions.is_temporal(column):
        return {"type": "temporal", "scale": {"type": "utc"}, "axis": {"tickCount": 8}}
    scale: dict[str, Any] = {"type": "symlog"} if log else {"zero": False}
    return {"type": "quantitative", "scale": scale, "axis": dict(specs.READABLE)}


_DRAW: dict[ChartKind, Callable[[Sketch], Chart]] = {
    "bar": series_chart,
    "line": series_chart,
    "area": series_chart,
    "histogram": histogram,
    "scatter": _scatter,
    "heatmap": heatmap,
    "pie": pie,
    "box": box,
    "waterfall": waterfall,
}
