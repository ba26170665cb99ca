"""Vega-Lite specifications of our own charts, from points that are already aggregated.

Fields have fixed names (`x`, `y`, `series` …): a column's own name may contain dots and brackets, which Vega
would read as paths, so it appears only in titles. Moments are UTC on UTC scales, so that a day is the same
day wherever the chart is looked at.
"""

from collections.abc import Sequence
from typing import Any

from steward.output.requests import ChartRequest, TimeUnit
from steward.output.themes import LIGHT

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
Encoding = dict[str, Any]

# Plain digits up to 10,000, then k, M, bn: SI prefixes alone would write a half as 500m and a milliard as 1G.
READABLE = {
    "labelExpr": "abs(datum.value) < 10000 ? format(datum.value, ',.6~f') "
    ": replace(format(datum.value, '~s'), 'G', 'bn')"
}
_CHARACTER = 6.2

_TIME_FORMAT: dict[TimeUnit, str] = {
    "minute": "%Y-%m-%d %H:%M",
    "hour": "%Y-%m-%d %H:%M",
    "day": "%Y-%m-%d",
    "week": "%Y-%m-%d",
    "month": "%b %Y",
    "quarter": "%Y Q%q",
    "year": "%Y",
}
_VEGA_UNIT: dict[TimeUnit, str] = {
    "minute": "yearmonthdatehoursminutes",
    "hour": "yearmonthdatehours",
    "day": "yearmonthdate",
    "week": "yearweek",
    "month": "yearmonth",
    "quarter": "yearquarter",
    "year": "year",
}


def document(
    values: Sequence[dict[str, Any]],
    title: str,
    notes: Sequence[str],
    description: str,
    body: dict[str, Any],
) -> dict[str, Any]:
    heading: dict[str, Any] = {"text": title}
    if notes:
        heading["subtitle"] = list(notes)
    return {
        "$schema": SCHEMA,
        "title": heading,
        "description": description,
        "data": {"values": list(values)},
        **body,
    }


def value_axis(
    title: str, *, log: bool = False, zero: bool = True, share: bool = False
) -> Encoding:
    encoding: Encoding = {"field": "y", "type": "quantitative", "title": title}
    if log:
        # A symmetrical log shows zero and negative values too.
        encoding["scale"] = {"type": "symlog"}
    elif not zero:
        encoding["scale"] = {"zero": False}
    encoding["axis"] = {"format": "%"} if share else dict(READABLE)
    return encoding


def time_axis(title: str, unit: TimeUnit, *, bars: bool) -> Encoding:
    encoding: Encoding = {
        "field": "x",
        "type": "temporal",
        "title": title,
        "axis": {"tickCount": 8, "format": "%Y"} if unit == "year" else {"tickCount": 8},
    }
    if bars:
        # A bar is as wide as its span; our spans are cut already.
        encoding["timeUnit"] = _span(unit)
    else:
        encoding["scale"] = {"type": "utc"}
    return encoding


def category_axis(
    title: str | None, order: Sequence[str], *, field: str = "x", room: float = 600
) -> Encoding:
    """Categories in their order; labels lean only where they would not fit into `room`."""
    longest = max((len(label) for label in order), default=0)
    fits = longest * _CHARACTER <= room / max(1, len(order))
    return {
        "field": field,
        "type": "nominal",
        "title": title,
        "sort": list(order),
        "axis": {"labelAngle": 0 if fits or field == "y" else -40, "labelOverlap": False},
    }


def class_axis(title: str, step: float, *, bars: bool) -> Encoding:
    encoding: Encoding = {"field": "x", "type": "quantitative", "title": title}
    if bars:
        encoding["bin"] = {"binned": True, "step": step}
    else:
        encoding["scale"] = {"zero": False}
    encoding["axis"] = {**READABLE, "tickCount": 10}
    return encoding


def series(title: str, names: Sequence[str], *, folded: bool) -> Encoding:
    """Colours in a fixed order; what was folded is grey."""
    colours = list(LIGHT.categories[: len(names)])
    if folded:
        colours = [*LIGHT.categories[: len(names) - 1], LIGHT.other]
    return {
        "field": "series",
        "type": "nominal",
        "title": title,
        "scale": {"domain": list(names), "range": colours},
        "sort": list(names),
        "legend": {"columns": len(names) if sum(map(len, names)) <= 70 else 4},
    }


def tooltip(
    x: Encoding, y_title: str, colour: Encoding | None, unit: TimeUnit | None
) -> list[Encoding]:
    place: Encoding = {"field": "x", "type": x["type"], "title": x["title"]}
    if unit is not None:
        place |= {"timeUnit": _span(unit), "format": _TIME_FORMAT[unit]}
    shown = [place, {"field": "y", "type": "quantitative", "title": y_title, "format": ",.6~f"}]
    if colour is not None:
        shown.insert(1, {"field": "series", "type": "nominal", "title": colour["title"]})
    return shown


def _span(unit: TimeUnit) -> dict[str, Any]:
    return {"unit": _VEGA_UNIT[unit], "utc": True, "binned": True}


def upright(request: ChartRequest, labels: Sequence[str]) -> bool:
    """Whether bars stand: they lie down where their labels would not fit below them."""
    if request.horizontal is not None:
        return not request.horizontal
    return len(labels) <= 12 and max((len(label) for label in labels), default=0) <= 12


def bars(
    request: ChartRequest, x: Encoding, y: Encoding, colour: Encoding | None, labels: Sequence[str]
) -> dict[str, Any]:
    encoding: dict[str, Any] = {"x": x, "y": y}
    if colour is not None:
        encoding["color"] = colour
    body: dict[str, Any] = {"mark": {"type": "bar"}, "encoding": encoding}
    discrete = x["type"] == "nominal"
    if discrete and not upright(request, labels):
        encoding["x"], encoding["y"] = y, x
        x["axis"] = {"labelOverlap": False}
        y["axis"]["tickCount"] = 6
        body["height"] = {"step": 22 if colour is None or request.stack != "grouped" else 14}
        body["width"] = 520
    else:
        body |= {"width": 600, "height": 280}
    if colour is not None and request.stack == "grouped" and discrete:
        offset = "yOffset" if encoding["y"] is x else "xOffset"
        encoding[offset] = {"field": "series", "type": "nominal", "sort": colour["sort"]}
    return body


def lines(
    request: ChartRequest, x: Encoding, y: Encoding, colour: Encoding | None
) -> dict[str, Any]:
    mark: dict[str, Any] = {"type": request.kind}
    if request.kind == "line" and x["type"] == "nominal":
        mark["point"] = True
    if request.kind == "area" and colour is not None and request.stack == "grouped":
        y["stack"] = None
        mark |= {"opacity": 0.4, "line": True}
    encoding = {"x": x, "y": y} | ({"color": colour} if colour else {})
    return {"mark": mark, "encoding": encoding, "width": 600, "height": 280}


def heat_cells(x: Encoding, y: Encoding, value_title: str, *, columns: int) -> dict[str, Any]:
    return {
        "width": {"step": cell_width(columns)},
        "height": {"step": 24},
        "mark": {"type": "rect"},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "field": "value",
                "type": "quantitative",
                "title": value_title,
                "legend": {**READABLE, "gradientLength": 200},
            },
            "tooltip": [
                {"field": "x", "type": x["type"], "title": x["title"]},
                {"field": "y", "type": y["type"], "title": y["title"]},
                {"field": "value", "type": "quantitative", "title": value_title, "format": ",.6~f"},
            ],
        },
    }


def cell_width(columns: int) -> int:
    return max(14, min(48, 640 // max(1, columns)))


def slices(names: Sequence[str], title: str, y_title: str, *, folded: bool) -> dict[str, Any]:
    return {
        "mark": {"type": "arc", "innerRadius": 60, "outerRadius": 120},
        "encoding": {
            "theta": {"field": "y", "type": "quantitative", "title": y_title, "stack": True},
            "order": {"field": "order", "type": "quantitative"},
            "color": series(title, names, folded=folded)
            | {"legend": {"orient": "right", "direction": "vertical"}},
            "tooltip": [
                {"field": "series", "type": "nominal", "title": title},
                {"field": "y", "type": "quantitative", "title": y_title, "format": ",.6~f"},
                {"field": "share", "type": "quantitative", "title": "Share", "format": ".1%"},
            ],
        },
        "width": 360,
        "height": 260,
    }


def boxes(x: Encoding, y_title: str, *, log: bool, count: int) -> dict[str, Any]:
    scale: dict[str, Any] = {"type": "symlog"} if log else {"zero": False}

    def on_y(field: str) -> Encoding:
        return {
            "field": field,
            "type": "quantitative",
            "title": y_title,
            "scale": scale,
            "axis": dict(READABLE),
        }

    shared = [
        {"field": name, "type": "quantitative", "title": title, "format": ",.6~f"}
        for name, title in (
            ("high", "Upper whisker"),
            ("q3", "Upper quartile"),
            ("median", "Median"),
            ("q1", "Lower quartile"),
            ("low", "Lower whisker"),
            ("rows", "Rows"),
        )
    ]
    return {
        "width": max(160, min(600, 90 * count)),
        "height": 280,
        "encoding": {"x": x, "tooltip": shared},
        "layer": [
            {"mark": {"type": "rule"}, "encoding": {"y": on_y("low"), "y2": {"field": "high"}}},
            {
                "mark": {"type": "bar", "width": {"band": 0.5}},
                "encoding": {"y": on_y("q1"), "y2": {"field": "q3"}},
            },
            {
                "mark": {
                    "type": "tick",
                    "color": "#ffffff",
                    "thickness": 2,
                    "width": {"band": 0.5},
                },
                "encoding": {"y": on_y("median")},
            },
        ],
    }


def bridge(x: Encoding, y_title: str) -> dict[str, Any]:
    kinds = ["Increase", "Decrease", "Total"]
    colours = [LIGHT.categories[0], LIGHT.categories[1], LIGHT.other]
    return {
        "width": 600,
        "height": 280,
        "encoding": {"x": x},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "y": {
                        "field": "start",
                        "type": "quantitative",
                        "title": y_title,
                        "axis": dict(READABLE),
                    },
                    "y2": {"field": "end"},
                    "color": {
                        "field": "kind",
                        "type": "nominal",
                        "title": None,
                        "scale": {"domain": kinds, "range": colours},
                    },
                    "tooltip": [
                        {"field": "x", "type": "nominal", "title": x["title"]},
                        {
                            "field": "amount",
                            "type": "quantitative",
                            "title": y_title,
                            "format": "+,.6~f",
                        },
                        {
                            "field": "end",
                            "type": "quantitative",
                            "title": "Running total",
                            "format": ",.6~f",
                        },
                    ],
                },
            },
            {
                "mark": {"type": "text", "dy": -6, "baseline": "bottom"},
                "encoding": {
                    "y": {"field": "top", "type": "quantitative"},
                    "text": {"field": "label", "type": "nominal"},
                },
            },
        ],
    }
