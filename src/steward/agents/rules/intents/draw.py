"""Charts that are no query: spreads, two measures against each other."""

from typing import Any

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.drawing import kind_in
from steward.agents.rules.naming import best_dataset, columns_in


def plan(ask: Ask) -> Draft | None:
    kind = kind_in(ask)
    dataset = best_dataset(ask)
    if kind not in {"histogram", "scatter", "box", "heatmap"} or dataset is None:
        return None
    columns = [each.column for each in columns_in(ask, dataset, least=1.5)]
    numbers = [each.name for each in columns if each.kind == "number" and not each.is_reference]
    others = [each.name for each in columns if each.kind == "text"]
    chart: dict[str, Any]
    if kind == "histogram" and numbers:
        chart = {"kind": "histogram", "x": numbers[0]}
    elif kind == "histogram" and others:
        chart = {"kind": "bar", "x": others[0], "aggregate": "count", "sort": "-y"}
    elif kind == "scatter" and len(numbers) >= 2:
        chart = {"kind": "scatter", "x": numbers[0], "y": numbers[1]}
    elif kind == "box" and numbers:
        chart = {"kind": "box", "y": numbers[0], **({"x": others[0]} if others else {})}
    elif kind == "heatmap" and len(others) >= 2:
        chart = {"kind": "heatmap", "x": others[0], "y": others[1]}
    else:
        return None
    draft = Draft(goal_of(ask))
    title = f"Draw a {chart['kind']} of {' and '.join((numbers + others)[:2])}"
    arguments = {"dataset": dataset.name, "chart": chart}
    added = draft.add(
        ask, "chart", title, "chart", arguments, reason="That picture was asked for", confidence=0.8
    )
    return draft if added else None
