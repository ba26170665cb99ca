"""A request that changes the last query: "those again but by month", "only 2024", "as a bar chart"."""

from typing import Any, Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.changing import Changed, changed
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.drawing import add_chart, drawn_plan, kind_in
from steward.agents.rules.naming import datasets_in
from steward.core.errors import Invalid
from steward.sandbox.query_plan import QueryPlan

_AGAIN: Final = ("again", "those", "same", "instead", "them", "that", "it", "these", "also", "what about", "how about",
                 "but", "now", "too", "additionally", "the result", "this")  # fmt: skip
_STARTS: Final = frozenset(
    {
        "and",
        "only",
        "just",
        "by",
        "per",
        "as",
        "sorted",
        "sort",
        "order",
        "with",
        "without",
        "in",
        "for",
        "top",
        "then",
    }
    | {
        "make",
        "except",
        "excluding",
        "draw",
        "plot",
        "chart",
        "group",
        "limit",
        "since",
        "monthly",
        "split",
        "ok",
        "or",
    }
)
_SHORT: Final = 4


def plan(ask: Ask) -> Draft | None:
    document = last_plan(ask)
    if document is None or not ask.tokens or not _refers(ask, document):
        return None
    dataset = ask.catalogue.datasets.get(document["source"])
    if dataset is None:
        return None
    result = changed(ask, dataset, document)
    kind = kind_in(ask)
    if result is None and kind is None and not ask.says("again", "same"):
        return None
    made = Changed(document, "The last query again") if result is None else result
    draft = Draft(goal_of(ask), notes=made.said)
    if not draft.add(
        ask,
        "query",
        f"The last query, changed: {made.said.rstrip('.')}"[:200],
        "execute_query_plan",
        {"plan": made.document},
        reason="A follow-up changes the last query and keeps the rest of it",
        confidence=0.75,
    ):
        return None
    if kind is not None or _over_time(made.document):
        add_chart(ask, draft, dataset, made.document, kind or "auto")
    return draft


def last_plan(ask: Ask) -> dict[str, Any] | None:
    """The last query as a plan's document; None when it was none, as with SQL."""
    last = ask.task.last
    if last is None:
        return None
    if last.tool == "execute_query_plan":
        given = last.arguments.get("plan")
    else:
        # The query and its chart run side by side; either may have ended last.
        given = drawn_plan(last.tool, last.arguments)
    try:
        if isinstance(given, str):
            plan = QueryPlan.parse(given)
        elif isinstance(given, dict):
            plan = QueryPlan.model_validate(given)
        else:
            return None
    except (Invalid, ValueError, RecursionError):
        return None
    found: dict[str, Any] = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found


def _refers(ask: Ask, document: dict[str, Any]) -> bool:
    named = datasets_in(ask)
    if named and named[0].name != document["source"]:
        return False
    if ask.says(*_AGAIN) or ask.words[0] in _STARTS:
        return True
    return len(ask.tokens) <= _SHORT and not named


def _over_time(document: dict[str, Any]) -> bool:
    derived = {each["name"] for each in document.get("derive", [])}
    return any(name in derived for name in document.get("group", []))
