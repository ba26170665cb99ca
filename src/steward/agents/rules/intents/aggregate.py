"""Figures: totals, averages, counts, rankings, by something or over time."""

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.drawing import add_chart, kind_in
from steward.agents.rules.leftovers import mixed_money, remark
from steward.agents.rules.naming import best_dataset, columns_in, query_dataset
from steward.agents.rules.querying import Query, function_in, measure_in, query_in


def plan(ask: Ask) -> Draft | None:
    dataset = query_dataset(ask)
    if dataset is None:
        return None
    query = query_in(ask, dataset)
    if query is None:
        return _not_numbers(ask)
    missed = remark(ask, dataset, query.used)
    draft = Draft(goal_of(ask), notes=remarks(query), said=missed)
    if not draft.add(
        ask,
        "query",
        title_of(query),
        "execute_query_plan",
        {"plan": query.document},
        reason=f"{query.function} over {dataset.name}",
        confidence=query.sure - 0.3 * bool(missed),
    ):
        return None
    kind = kind_in(ask)
    if kind is not None or any(each.unit for each in query.dimensions) or _is_natural(query):
        add_chart(ask, draft, dataset, query.document, kind or "auto")
    return draft


def _is_natural(query: Query) -> bool:
    """One category with a handful of values is read faster as bars."""
    if len(query.dimensions) != 1 or query.dimensions[0].link is not None:
        return False
    distinct = query.dimensions[0].column.distinct
    return distinct is not None and 2 < distinct <= 40 and not query.document.get("filters")


def title_of(query: Query) -> str:
    what = query.document["aggregate"][0]["name"].replace("_", " ")
    by = " and ".join(query.document.get("group", []))
    which = " of the rows that match" if query.document.get("filters") else ""
    return f"{what.capitalize()}{which} in {query.dataset.name}" + (f", by {by}" if by else "")


def remarks(query: Query) -> str:
    """What a reader must know about the figures."""
    said = []
    texts = [each.column.name for each in query.dimensions if each.unit and not each.column.is_time]
    if texts:
        said.append(
            f"{texts[0]} is text; it was read as dates written like 2025-03-31 or 31.03.2025. "
            f'"Clean the dates in {query.dataset.name}" makes real dates of it.'
        )
    said.append(mixed_money(query.dataset, query.document))
    spelled = [each.column for each in query.dimensions if each.column.spellings]
    if spelled:
        said.append(
            f"Some values of {spelled[0].name} are spelled in several ways and count apart."
        )
    return " ".join(each for each in said if each)


def _not_numbers(ask: Ask) -> Draft | None:
    """A figure was asked for of a column whose numbers are text: said so, and its values shown."""
    dataset = best_dataset(ask)
    function, said = function_in(ask, None)
    if dataset is None or function not in {"sum", "avg", "median", "min", "max"}:
        return None
    measure = measure_in(ask, dataset, set(said), function)
    if measure is None or not measure.is_number_text:
        named = [each.column for each in columns_in(ask, dataset) if each.column.is_number_text]
        if not named:
            return None
        measure = named[0]
    draft = Draft(
        goal_of(ask),
        said=(
            f"{measure.name} of {dataset.name} is text, so it cannot be added up as it is. "
            f'Say "read {measure.name} of {dataset.name} as numbers" first; that can be taken back. '
            "Here are its most frequent values."
        ),
    )
    document = {
        "source": dataset.name,
        "group": [measure.name],
        "aggregate": [{"name": "count", "function": "count"}],
        "order": [{"column": "count", "direction": "descending"}],
        "limit": 20,
    }
    added = draft.add(
        ask, "values", f"Values of {measure.name}", "execute_query_plan", {"plan": document},
        reason="They show why it is not a number yet", confidence=0.6,
    )  # fmt: skip
    return draft if added else None
