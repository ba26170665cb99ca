"""The chart of a reading's result: drawn from the rows that answer the question, so that both say the same.

Time axes are time axes, numbers have their unit, and a chart has no more marks than can be read: the largest ones, the rest
as one mark where adding up means something, and a line below the title that says so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from steward.agents.asking.answering import Result, number_in, places_of
from steward.agents.asking.reading import Measured, Reading
from steward.agents.asking.wording import Words, listed, plural
from steward.definitions import Definitions

_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
_MOST_MARKS: Final = {"bar": 20, "pie": 8, "line": 1_000, "area": 1_000}
_MOST_SERIES: Final = 8
_LINES: Final = frozenset({"line", "area"})
_DRAWN: Final = frozenset({"bar", "line", "area", "pie"})
_UNITS: Final = {
    "year": ("year", "%Y"),
    "quarter": ("yearquarter", "Q%q %Y"),
    "month": ("yearmonth", "%b %Y"),
    "week": ("yearweek", "%Y-%m-%d"),
    "day": ("yearmonthdate", "%Y-%m-%d"),
    "hour": ("yearmonthdatehours", "%Y-%m-%d %H:00"),
}
_BY_FIGURE: Final = {"field": "series", "type": "nominal", "title": None}
_ANY_FIGURE: Final = {"field": "value", "type": "quantitative", "title": None}
_EMPTY: Final = "(empty)"
_OTHER: Final = "other"


@dataclass(frozen=True)
class _Point:
    x: Any
    value: float
    series: str = ""


def chart_of(reading: Reading, result: Result, words: Words) -> dict[str, Any] | None:
    """The chart as a value with a Vega-Lite specification; None where rows or a sentence say it better."""
    of_all = reading
    reading, result, unit, mixed = _of_one_unit(reading, result)
    places = places_of(reading, result.names)
    groups = len(reading.groups)
    if not places or not 1 <= groups <= 2 or len(result.rows) < 2 or reading.groups[-1].is_unit:
        return None
    notes = []
    if mixed:
        units = plural(words.group(of_all.groups[-1], of_all.table))
        notes.append(f"Only {unit}: amounts in several {units} cannot be compared.")
    is_time = reading.groups[0].unit is not None
    # "Marriages and divorces over the years": each figure that was asked for is a series.
    several = groups == 1 and len(places) > 1 and reading.chart in _LINES
    points = [
        replace(point, series=words.measure(measured, reading.table)) if several else point
        for measured, place in zip(
            reading.measures, places if several else places[:1], strict=False
        )
        for point in _points(reading, result, place, is_time)
    ]
    shape = reading.chart or ("line" if is_time else "bar")
    if shape not in _DRAWN or len({point.x for point in points}) < 2:
        return None
    measured = reading.measures[0]
    if shape == "pie" and (groups > 1 or not _adds_up(measured, reading, words.definitions)):
        notes.append("Drawn as bars: a pie shows parts of one whole.")
        shape = "bar"
    points, said = _readable(points, shape, reading, words, is_time=is_time)
    notes += said
    shown = reading.measures[: len(places)] if several else [measured]
    name = listed([words.measure(each, reading.table) for each in shown])
    by = " and ".join(words.group(each, reading.table) for each in reading.groups)
    title = f"{name[:1].upper()}{name[1:]} by {by}"
    spec = {
        "$schema": _SCHEMA,
        "title": {"text": title, **({"subtitle": " ".join(notes)} if notes else {})},
        "data": {"values": [_row(point) for point in points]},
        "mark": {"type": "arc" if shape == "pie" else shape, "tooltip": True}
        | ({"point": True} if shape == "line" and len(points) <= 60 else {}),
        "encoding": _encoding(reading, words, shape, unit)
        | ({"color": _BY_FIGURE, "y": _ANY_FIGURE} if several else {}),
        "height": 280,
    }
    told = " ".join([f"{shape.capitalize()} chart: {title[:1].lower()}{title[1:]}.", *notes])
    return {"spec": spec, "description": told}


def _of_one_unit(reading: Reading, result: Result) -> tuple[Reading, Result, str, bool]:
    """The rows of the unit that most groups have, that unit, and whether there are more of them.

    Marks of euros and of crowns side by side would compare them.
    """
    place = len(reading.groups) - 1
    if place < 1 or not reading.groups[place].is_unit:
        return reading, result, "", False
    counted = Counter(_label(record[place]) for record in result.records)
    unit = max(counted, key=lambda each: counted[each], default="")
    rows = [
        [cell for at, cell in enumerate(record) if at != place]
        for record in result.records
        if _label(record[place]) == unit
    ]
    columns = [each for at, each in enumerate(result.columns) if at != place]
    alone = reading.model_copy(update={"groups": reading.groups[:-1]})
    return alone, Result(columns, rows), unit, len(counted) > 1


def _points(reading: Reading, result: Result, place: int, is_time: bool) -> Any:
    for record in result.records:
        value = number_in(record[place])
        if value is None or (is_time and record[0] is None):
            continue
        x = _moment(record[0]) if is_time else _label(record[0])
        series = _label(record[1]) if len(reading.groups) > 1 else ""
        yield _Point(x, float(value), series)


def _readable(
    points: Sequence[_Point], shape: str, reading: Reading, words: Words, *, is_time: bool
) -> tuple[list[_Point], list[str]]:
    """As many marks as can be read, the largest ones; the rest is added up where that means something."""
    adds_up = _adds_up(reading.measures[0], reading, words.definitions)
    notes: list[str] = []
    kept = list(points)
    if len(reading.groups) > 1:
        kept, said = _fewer(kept, "series", _MOST_SERIES, adds_up)
        if said:
            label = plural(words.group(reading.groups[1], reading.table))
            notes.append(f"{said} {label}{' and the rest as “other”' if adds_up else ''}.")
    if not is_time:
        kept, said = _fewer(kept, "x", _MOST_MARKS[shape], adds_up)
        if said:
            label = plural(words.group(reading.groups[0], reading.table))
            notes.append(f"{said} {label}{' and the rest as “other”' if adds_up else ''}.")
    return kept, notes


def _fewer(points: list[_Point], field: str, most: int, adds_up: bool) -> tuple[list[_Point], str]:
    sizes: dict[Any, float] = {}
    for point in points:
        key = getattr(point, field)
        sizes[key] = sizes.get(key, 0.0) + abs(point.value)
    if len(sizes) <= most:
        return points, ""
    room = most - 1 if adds_up else most
    named = set(sorted(sizes, key=lambda key: -sizes[key])[:room])
    kept = [point for point in points if getattr(point, field) in named]
    if adds_up:
        rest: dict[Any, _Point] = {}
        for point in points:
            if getattr(point, field) not in named:
                other = replace(point, x=_OTHER) if field == "x" else replace(point, series=_OTHER)
                key = (other.x, other.series)
                known = rest.get(key)
                rest[key] = (
                    other if known is None else replace(known, value=known.value + other.value)
                )
        kept += rest.values()
    return kept, f"Shows the {room:d} largest of {len(sizes):d}"


def _adds_up(measured: Measured, reading: Reading, definitions: Definitions) -> bool:
    """Whether groups may be put together by adding their figures."""
    if measured.where or measured.along is not None:
        return False
    if measured.metric is not None:
        return False
    if measured.function in (None, "count"):
        return True
    if measured.function != "sum" or measured.column is None:
        return False
    table = definitions.tables.get(measured.column.table or reading.table)
    known = table.columns.get(measured.column.column) if table is not None else None
    return known is None or known.additive == "always"


def _encoding(reading: Reading, words: Words, shape: str, unit: str) -> dict[str, Any]:
    measured, table = reading.measures[0], reading.table
    unit = unit or words.unit(measured, table)
    name = words.measure(measured, table)
    figure: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": f"{name} ({unit})" if unit else name,
    }
    if measured.share:
        figure["axis"] = {"format": ".0%"}
    x = _axis(reading, words, shape)
    if shape == "pie":
        order = {"field": "value", "type": "quantitative", "sort": "descending"}
        colour = {"field": "x", "type": "nominal", "title": x["title"], "sort": None}
        return {"theta": {**figure, "stack": True}, "color": colour, "order": order}
    encoding: dict[str, Any] = {"x": x, "y": figure}
    if shape == "bar" and reading.groups[0].unit is None:
        # Names are read from left to right.
        encoding = {"y": {**x, "axis": {"labelLimit": 180}}, "x": figure}
    if len(reading.groups) > 1:
        title = words.group(reading.groups[1], table)
        encoding["color"] = {"field": "series", "type": "nominal", "title": title}
    return encoding


def _axis(reading: Reading, words: Words, shape: str) -> dict[str, Any]:
    grouped = reading.groups[0]
    title = words.group(grouped, reading.table)
    if grouped.unit is None:
        return {"field": "x", "type": "nominal", "title": title, "sort": None}
    time_unit, wanted = _UNITS[grouped.unit]
    axis: dict[str, Any] = {
        "field": "x",
        "type": "temporal",
        "title": title,
        "axis": {"format": wanted, "labelOverlap": True},
    }
    # A bar is as wide as its stretch of time.
    return {**axis, "timeUnit": time_unit} if shape == "bar" else axis


def _row(point: _Point) -> dict[str, Any]:
    return {
        "x": point.x,
        "value": point.value,
        **({"series": point.series} if point.series else {}),
    }


def _label(value: Any) -> str:
    if value is None or value == "":
        return _EMPTY
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _moment(value: Any) -> str:
    """A moment without its zone: the day and hour that the result says, wherever the chart is looked at."""
    if isinstance(value, int | Decimal) or (isinstance(value, str) and value.isdigit()):
        return f"{int(value):04d}-01-01T00:00:00"
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return str(value)
    return found.replace(tzinfo=None).isoformat(timespec="seconds")


def is_chart(value: Any) -> bool:
    """Whether a result of a tool is a chart already."""
    spec = value.get("spec") if isinstance(value, Mapping) else None
    return isinstance(spec, Mapping) and "$schema" in spec
