"""Rows: a page of a dataset, or those that match."""

from typing import Any, Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.conditions import conditions_in, money
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.leftovers import remark
from steward.agents.rules.naming import best_dataset, columns_in, datasets_in, name_spans
from steward.agents.rules.ordering import order_in
from steward.agents.rules.querying import Ranking, ranking_in
from steward.definitions import DatasetFacts

_SHOW: Final = ("show", "preview", "list", "display", "look at", "see", "give me", "find", "rows", "records", "get",
                "print", "which", "open", "view", "sample", "head", "who", "what are")  # fmt: skip
_FIRST: Final = ("first", "top", "limit", "some")
_USUAL: Final = 20
_MOST: Final = 100


def plan(ask: Ask) -> Draft | None:
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    wanted = ask.says(*_SHOW)
    order, taken = order_in(ask, dataset)
    ranking = ranking_in(ask)
    if ranking is not None and not order:
        order = _ranked(ask, dataset, ranking)
        taken |= set(ranking.tokens) if order else set()
    conditions = conditions_in(ask, dataset, taken)
    ranked = ranking is not None and bool(order)
    told = wanted or ranked or _only_named(ask)
    if not told and not (conditions.filters and datasets_in(ask)):
        return None
    limit = (
        (ranking.limit if ranking is not None and ranked else None)
        or limit_in(ask, dataset)
        or (_USUAL if not conditions.filters else _MOST)
    )
    columns = columns_in(ask, dataset, least=1.5)
    named = {n for each in columns_in(ask, dataset) for n in range(each.start, each.end)}
    draft = Draft(goal_of(ask), said=remark(ask, dataset, conditions.used | taken | named))
    chosen = [
        each.column.name
        for each in columns
        if not (conditions.used | taken) & set(range(each.start, each.end))
    ]
    if not conditions.filters and not chosen:
        sort = [
            {"column": each["column"], "descending": each["direction"] == "descending"}
            for each in order
        ]
        arguments: dict[str, Any] = {"dataset": dataset.name, "limit": min(limit, 1_000)}
        if sort:
            arguments["sort"] = sort
        title = f"The first {limit} rows of {dataset.name}"
        done = draft.add(
            ask, "rows", title, "preview", arguments, reason="Rows were asked for", confidence=0.85
        )
        return draft if done else None
    document: dict[str, Any] = {"source": dataset.name}
    if conditions.filters:
        document["filters"] = conditions.filters
    if chosen:
        names = (
            list(dict.fromkeys([*dataset.key, *chosen]))
            if conditions.filters
            else list(dict.fromkeys(chosen))
        )
        document["select"] = names
    document["order"] = order or [{"column": name} for name in dataset.key]
    if not document["order"]:
        del document["order"]
    document["limit"] = limit
    title = f"Rows of {dataset.name}" + (" that match" if conditions.filters else "")
    done = draft.add(
        ask, "rows", title, "execute_query_plan", {"plan": document},
        reason="Rows with conditions or some columns were asked for", confidence=0.75,
    )  # fmt: skip
    return draft if done else None


def _ranked(ask: Ask, dataset: DatasetFacts, ranking: Ranking) -> list[dict[str, Any]]:
    """The largest rows: by the measure that is named, else by the amount."""
    named = [each.column for each in columns_in(ask, dataset, least=1.5)]
    numbers = [each for each in named if each.kind == "number" and not each.is_reference]
    measure = numbers[0] if numbers else money(dataset)
    if measure is None:
        return []
    return [
        {
            "column": measure.name,
            "direction": "ascending" if ranking.ascending else "descending",
        }
    ]


def limit_in(ask: Ask, dataset: DatasetFacts | None = None) -> int | None:
    """How many rows: "first 5", "20 rows", and "5 tickets" of the tickets."""
    for start, end in ask.places(_FIRST):
        number = ask.tokens[end].number if end < len(ask.tokens) else None
        if isinstance(number, int) and 0 < number <= 10_000:
            return number
        before = ask.tokens[start - 1].number if start else None
        if isinstance(before, int) and 0 < before <= 10_000:
            return before
    own = name_spans(ask, dataset) if dataset is not None else []
    for start, _ in [*ask.places(("rows", "records", "lines", "examples")), *own]:
        before = ask.tokens[start - 1].number if start else None
        if isinstance(before, int) and 0 < before <= 10_000:
            return before
    return None


def _only_named(ask: Ask) -> bool:
    """Nothing but the name of a dataset: it is to be looked at."""
    return len(ask.tokens) <= 3 and bool(datasets_in(ask))
