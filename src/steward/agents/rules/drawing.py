"""Charts of queries: drawn by the chart tool where a dataset alone will do, from the query's rows otherwise."""

import json
from collections.abc import Mapping
from typing import Any, Final

from steward.agents.asking.compiling import FUNCTION_NAMES
from steward.agents.asking.reading import Reading
from steward.agents.rules.drafting import Draft
from steward.agents.rules.request import Ask
from steward.core import Invalid
from steward.sandbox import QueryPlan, compile_plan

_AGGREGATES: Final = {
    "count": "count",
    "count_distinct": "distinct",
    "sum": "sum",
    "avg": "mean",
    "median": "median",
    "min": "min",
    "max": "max",
}
_GROUPED: Final = ("bar", "line", "area", "pie")
CODE: Final = """rows = con.execute(parameters["sql"]).fetchall()
names = [parameters["x"]] + ([parameters["colour"]] if parameters["colour"] else []) + [parameters["y"]]
values = []
for row in rows:
    cells = []
    for cell in row:
        cells.append(cell if isinstance(cell, (int, float)) or cell is None else str(cell))
    cells[-1] = None if row[-1] is None else float(row[-1])
    values.append(dict(zip(names, cells)))
x = {"field": parameters["x"], "type": parameters["scale"], "title": parameters["x"], "sort": None}
y = {"field": parameters["y"], "type": "quantitative", "title": parameters["y"]}
encoding = {"x": x, "y": y}
if parameters["mark"] == "arc":
    encoding = {"theta": y, "color": {"field": parameters["x"], "type": "nominal"}}
elif parameters["colour"]:
    encoding["color"] = {"field": parameters["colour"], "type": "nominal"}
chart = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "title": parameters["title"],
    "data": {"values": values},
    "mark": {"type": parameters["mark"], "tooltip": True},
    "encoding": encoding,
}
result = len(values)
"""


def drawn_plan(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | str | None:
    """The query behind a chart that `add_chart` planned; None for any other call."""
    if tool == "execute_python" and arguments.get("code") == CODE:
        plan = arguments.get("parameters", {}).get("plan")
        return plan if isinstance(plan, str) else None
    chart = arguments.get("chart")
    if tool != "chart" or not isinstance(chart, Mapping) or chart.get("kind") not in _GROUPED:
        return None
    measure = chart.get("y")
    wanted = chart.get("aggregate") or ("count" if measure is None else "sum")
    function = next((each for each, name in _AGGREGATES.items() if name == wanted), "count")
    name = f"{FUNCTION_NAMES[function]}_{measure}" if measure else FUNCTION_NAMES[function]
    aggregate = {"name": name, "function": function, **({"column": measure} if measure else {})}
    group = [each for each in (chart.get("x"), chart.get("colour")) if each]
    return {
        "source": arguments.get("dataset"),
        "group": group,
        "aggregate": [aggregate],
        "order": [{"column": name, "direction": "descending"}],
    }


def add_plain_chart(ask: Ask, draft: Draft, reading: Reading, title: str) -> bool:
    """Adds a chart that is no query: the spread of one column, or two columns against each other."""
    world = ask.catalogue.world
    found = [world.of(reading.table, each) for each in reading.columns if each.table is None]
    columns = [(each[1], each[2].role) for each in found if each is not None]
    numbers = [
        facts.name for facts, role in columns if facts.kind == "number" and role == "measure"
    ]
    others = [facts.name for facts, _ in columns if facts.name not in numbers]
    chart: dict[str, Any]
    match reading.chart:
        case "histogram" if numbers:
            chart = {"kind": "histogram", "x": numbers[0]}
        case "histogram" if others:
            chart = {"kind": "bar", "x": others[0], "aggregate": "count", "sort": "-y"}
        case "scatter" if len(numbers) > 1:
            chart = {"kind": "scatter", "x": numbers[0], "y": numbers[1]}
        case "box" if numbers:
            chart = {"kind": "box", "y": numbers[0], **({"x": others[0]} if others else {})}
        case "heatmap" if len(others) > 1:
            chart = {"kind": "heatmap", "x": others[0], "y": others[1]}
        case _:
            return False
    arguments = {"dataset": reading.table, "chart": chart}
    return draft.add(ask, "chart", f"Draw {title}", "chart", arguments, reason=f"Reads: {title}")


def add_chart(ask: Ask, draft: Draft, document: dict[str, Any], kind: str) -> bool:
    """Adds a step that draws the query's result; False where that makes no picture."""
    if document.get("compute"):
        return False
    # Shares and running totals are in the table beside it.
    document = {key: value for key, value in document.items() if key not in {"window", "select"}}
    group, aggregate = document.get("group", []), document.get("aggregate", [])
    if not 1 <= len(group) <= 2 or len(aggregate) != 1 or document.get("limit") == 1:
        return False
    times = {each["name"] for each in document.get("derive", [])}
    chosen = (
        kind if kind in {"bar", "line", "area", "pie"} else "line" if group[0] in times else "bar"
    )
    plain = not any(document.get(key) for key in ("derive", "filters", "joins", "having"))
    if plain and ask.catalogue.usable("chart") and not (chosen == "pie" and len(group) > 1):
        return _native(ask, draft, document, chosen)
    return _from_rows(ask, draft, document, chosen)


def _native(ask: Ask, draft: Draft, document: dict[str, Any], kind: str) -> bool:
    group, aggregate = document["group"], document["aggregate"][0]
    function = _AGGREGATES.get(aggregate["function"])
    if function is None:
        return _from_rows(ask, draft, document, kind)
    chart: dict[str, Any] = {"kind": kind, "x": group[0], "aggregate": function}
    if "column" in aggregate:
        chart["y"] = aggregate["column"]
    if len(group) > 1:
        chart["colour"] = group[1]
    if kind in {"bar", "pie"}:
        ascending = document.get("order", [{}])[0].get("direction") == "ascending"
        chart["sort"] = "y" if ascending else "-y"
        chart["limit"] = min(document.get("limit", 20), 200)
    title = f"Draw {aggregate['name'].replace('_', ' ')} by {' and '.join(group)}"
    arguments = {"dataset": document["source"], "chart": chart}
    return draft.add(
        ask, "chart", title, "chart", arguments, reason="A picture of the same figures"
    )


def _from_rows(ask: Ask, draft: Draft, document: dict[str, Any], kind: str) -> bool:
    """The query again, in the sandbox, with a chart of its rows."""
    if not ask.catalogue.usable("execute_python"):
        return False
    schema = {name: facts.names for name, facts in ask.catalogue.datasets.items()}
    try:
        sql = compile_plan(QueryPlan.model_validate(document), schema)
    except (Invalid, ValueError):
        return False
    group, measure = document["group"], document["aggregate"][0]["name"]
    times = {each["name"] for each in document.get("derive", [])}
    title = f"{measure.replace('_', ' ')} by {' and '.join(group)}".capitalize()
    scale = "temporal" if group[0] in times and group[0] != "year" else "nominal"
    parameters = {
        "sql": sql,
        "mark": "arc" if kind == "pie" else kind,
        "x": group[0],
        "y": measure,
        "colour": group[1] if len(group) > 1 else "",
        "scale": scale if kind in {"line", "area"} or scale == "nominal" else "ordinal",
        "title": title,
        # Not for the code: a follow-up to a chart changes the query behind it.
        "plan": json.dumps(document),
    }
    names = [document["source"], *(each["dataset"] for each in document.get("joins", []))]
    arguments = {"datasets": names, "code": CODE, "parameters": parameters, "limit": 1}
    return draft.add(
        ask, "chart", f"Draw {title[0].lower()}{title[1:]}", "execute_python", arguments,
        reason="A picture of the same rows",
    )  # fmt: skip
