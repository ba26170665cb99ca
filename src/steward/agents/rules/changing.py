"""Changes a query plan as a follow-up says: other groups, more conditions, another function, order, columns."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from steward.agents.planning.facts import DatasetFacts
from steward.agents.rules.asking import Ask
from steward.agents.rules.conditions import Conditions, conditions_in
from steward.agents.rules.grouping import Dimension, Grouping, grouping_in
from steward.agents.rules.intents.rows import limit_in
from steward.agents.rules.naming import columns_in, link
from steward.agents.rules.ordering import order_in
from steward.agents.rules.querying import (
    Ranking,
    aggregated,
    function_in,
    measure_in,
    ordered,
    placed,
    ranking_in,
)

_ADDING = ("also", "additionally", "too", "as well", "and by", "and per", "in addition")


@dataclass(frozen=True)
class Changed:
    document: dict[str, Any]
    said: str


def changed(ask: Ask, dataset: DatasetFacts, document: dict[str, Any]) -> Changed | None:
    """The plan with everything that the request changes; None when that is nothing."""
    made: dict[str, Any] = copy.deepcopy(document)
    said: list[str] = []
    order, taken = order_in(ask, dataset)
    grouping = grouping_in(ask, dataset)
    if order:
        # "sorted by net" says "by" too; that is not a group.
        grouping = Grouping()
    ranking = ranking_in(ask)
    function, spoken = function_in(ask, ranking)
    taken |= grouping.used | set(spoken) | (set(ranking.tokens) if ranking else set())
    taken |= _shown_tokens(ask, dataset, made, taken)
    conditions = conditions_in(ask, dataset, taken)
    if made.get("aggregate"):
        _figures(ask, dataset, made, grouping, function, taken | conditions.used, said)
    _shown(ask, dataset, made, said)
    _rows(made, conditions, said)
    _sequence(ask, made, order, ranking, said)
    if not said:
        return None
    _without_leftovers(made)
    return Changed(made, "; ".join(said).capitalize() + ".")


def _figures(
    ask: Ask,
    dataset: DatasetFacts,
    made: dict[str, Any],
    grouping: Grouping,
    function: str | None,
    taken: set[int],
    said: list[str],
) -> None:
    measure = grouping.ranked or measure_in(ask, dataset, taken, function)
    if measure is not None and measure.kind != "number":
        measure = None
    first = made["aggregate"][0]
    if function is not None or measure is not None:
        chosen = function or (first["function"] if first["function"] != "count" else "sum")
        facts = measure or dataset.column(first.get("column") or "")
        if facts is not None or chosen == "count":
            made["aggregate"] = [aggregated(chosen, facts, made.get("group", []))]
            _renamed(made, first["name"], made["aggregate"][0]["name"])
            said.append(made["aggregate"][0]["name"].replace("_", " "))
    if grouping.dimensions:
        _regrouped(ask, dataset, made, grouping.dimensions, said)


def _regrouped(
    ask: Ask,
    dataset: DatasetFacts,
    made: dict[str, Any],
    dimensions: list[Dimension],
    said: list[str],
) -> None:
    adding = ask.says(*_ADDING)
    kept = list(made.get("group", [])) if adding else []
    derived = [each for each in made.get("derive", []) if each["name"] not in _names(dimensions)]
    made["derive"] = derived
    added = [placed(made, dataset, each) for each in dimensions]
    made["group"] = list(dict.fromkeys([*kept, *added]))
    made.pop("limit", None)
    times = {each["name"] for each in made["derive"]}
    units = [
        Dimension(dataset.columns[0], "day" if name in times else None) for name in made["group"]
    ]
    ordered(made, units, None)
    said.append(f"by {' and '.join(made['group'])}")


def _names(dimensions: list[Dimension]) -> set[str]:
    return {each.unit for each in dimensions if each.unit is not None}


def _shown_tokens(
    ask: Ask, dataset: DatasetFacts, made: dict[str, Any], taken: set[int]
) -> set[int]:
    """Tokens of columns that are to be shown too: they are no conditions."""
    return {n for _, tokens in _wanted(ask, dataset, made) for n in tokens if n not in taken}


def _wanted(ask: Ask, dataset: DatasetFacts, made: dict[str, Any]) -> list[tuple[Dimension, range]]:
    """ "With product name": columns here, or in a dataset that is reached by a key."""
    found: list[tuple[Dimension, range]] = []
    for _, end in ask.places(
        ("with the", "with", "plus", "include", "including", "add", "show also")
    ):
        own = [each for each in columns_in(ask, dataset, end) if each.start - end <= 1]
        if own and made.get("aggregate") and own[0].column.kind == "number":
            # Another measure, not another group.
            continue
        if own and not _compares(ask, own[0].end):
            found.append((Dimension(own[0].column), range(own[0].start, own[0].end)))
            continue
        for other in ask.catalogue.datasets.values():
            reached = None if other.name == dataset.name else link(ask.catalogue, dataset, other)
            theirs = [
                each for each in columns_in(ask, other, end, least=1.5) if each.start - end <= 1
            ]
            if reached is not None and theirs:
                one = theirs[0]
                found.append((Dimension(one.column, None, reached), range(one.start, one.end)))
                break
    return found


def _compares(ask: Ask, at: int) -> bool:
    return at < len(ask.words) and ask.words[at] in {
        "is",
        "=",
        "over",
        "above",
        "under",
        "below",
        "more",
        "less",
        "of",
    }


def _shown(ask: Ask, dataset: DatasetFacts, made: dict[str, Any], said: list[str]) -> None:
    for dimension, _ in _wanted(ask, dataset, made):
        name = placed(made, dataset, dimension)
        target = "group" if made.get("aggregate") else "select"
        if target == "select" and not made.get("select"):
            if dimension.link is None:
                continue
        elif name not in made.get(target, []):
            made.setdefault(target, []).append(name)
        said.append(f"with {name}")


def _rows(made: dict[str, Any], conditions: Conditions, said: list[str]) -> None:
    if not conditions.filters:
        return
    # A new condition on a column takes the place of the old one: "only 2024" after "only 2025".
    about = {json.dumps({"column": name}) for name in conditions.about}
    kept = [
        each
        for each in made.get("filters", [])
        if not any(name in json.dumps(each) for name in about)
    ]
    made["filters"] = [*kept, *conditions.filters]
    said.append(f"only rows by {' and '.join(dict.fromkeys(conditions.about))}")


def _sequence(
    ask: Ask,
    made: dict[str, Any],
    order: list[dict[str, Any]],
    ranking: Ranking | None,
    said: list[str],
) -> None:
    if order:
        made["order"] = [_fitting(made, each) for each in order]
        said.append(f"sorted by {made['order'][0]['column']}")
    elif ask.says("descending", "ascending") and made.get("order"):
        direction = "descending" if ask.says("descending") else "ascending"
        made["order"] = [{**made["order"][0], "direction": direction}, *made["order"][1:]]
        said.append(direction)
    limit = ranking.limit if ranking is not None else limit_in(ask)
    if limit is None:
        return
    made["limit"] = limit
    said.append(f"the first {limit}")
    if ranking is not None and made.get("aggregate"):
        direction = "ascending" if ranking.ascending else "descending"
        made["order"] = [{"column": made["aggregate"][0]["name"], "direction": direction}]


def _fitting(made: dict[str, Any], order: dict[str, Any]) -> dict[str, Any]:
    """After aggregating, a measure is sorted by its aggregate."""
    if not made.get("aggregate") or order["column"] in made.get("group", []):
        return order
    by_column = {each.get("column"): each["name"] for each in made["aggregate"]}
    return {**order, "column": by_column.get(order["column"], made["aggregate"][0]["name"])}


def _renamed(made: dict[str, Any], before: str, after: str) -> None:
    for each in made.get("order", []):
        if each["column"] == before:
            each["column"] = after
    if made.get("having"):
        made["having"] = json.loads(
            json.dumps(made["having"]).replace(json.dumps(before), json.dumps(after))
        )


def _without_leftovers(made: dict[str, Any]) -> None:
    """Derived columns that nothing uses any more go."""
    used = json.dumps({key: value for key, value in made.items() if key != "derive"})
    kept = [each for each in made.get("derive", []) if json.dumps(each["name"]) in used]
    made.pop("derive", None)
    if kept:
        made["derive"] = kept
