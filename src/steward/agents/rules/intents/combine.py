"""Two datasets become one: joined on a key, or put under one another."""

from typing import Any, Final

from steward.agents.asking.tokens import name_words
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import columns_in, datasets_in, link
from steward.agents.rules.request import Ask
from steward.agents.rules.targets import free_name
from steward.definitions import DatasetFacts

_JOIN: Final = ("join", "combine", "merge", "link", "enrich", "consolidate", "bring together", "look up", "lookup",
                "connect", "verbinde", "joindre", "put together", "attach")  # fmt: skip
_UNION: Final = ("union", "append", "stack", "under one another", "put under", "concatenate")
_HOW: Final = {
    "inner": ("inner",),
    "full": ("full", "outer"),
    "anti": ("anti", "without a match", "no match"),
}


def plan(ask: Ask) -> Draft | None:
    named = datasets_in(ask)
    if ask.says(*_UNION) and len(named) >= 2:
        return _union(ask, named[:5])
    if not ask.says(*_JOIN) or len(named) < 2:
        return None
    first, second = _in_order(ask, named)
    pair = _pair(ask, first, second)
    if pair is None:
        return _relate_first(ask, first, second)
    how = next((how for how, words in _HOW.items() if ask.says(*words)), "left")
    left, right = pair
    arguments: dict[str, Any] = {
        "datasets": [first.name, second.name],
        "target": free_name(ask, f"{first.name} with {second.name}"),
        "on": [{"left": left, "right": right}],
        "how": how,
    }
    draft = Draft(
        goal_of(ask), notes="The preview says how many rows find a partner before anything is kept."
    )
    added = draft.add(
        ask, "join", f"Join {first.name} and {second.name} on {left} = {right}", "join", arguments,
        reason="A column of one refers to the key of the other",
    )  # fmt: skip
    return draft if added else None


def _in_order(ask: Ask, named: list[DatasetFacts]) -> tuple[DatasetFacts, DatasetFacts]:
    """The one that refers to the other comes first: so no row is multiplied."""
    first, second = sorted(named[:2], key=lambda each: _place(ask, each))
    if (
        link(ask.catalogue, first, second) is None
        and link(ask.catalogue, second, first) is not None
    ):
        return second, first
    return first, second


def _place(ask: Ask, dataset: DatasetFacts) -> int:
    words = name_words(dataset.name)
    return min((n for n, word in enumerate(ask.words) if word in words), default=len(ask.words))


def _pair(ask: Ask, first: DatasetFacts, second: DatasetFacts) -> tuple[str, str] | None:
    """The columns to join on: those named after "on", a known key, or one that both have by the same name."""
    for _, end in ask.places(("on", "by", "using", "over")):
        left = [each for each in columns_in(ask, first, end) if each.start == end]
        right = [each for each in columns_in(ask, second, end) if each.start == end]
        if left and right:
            return left[0].column.name, right[0].column.name
    known = link(ask.catalogue, first, second)
    if known is not None:
        return known.left, known.right
    for each in ask.catalogue.relations:
        if (each.dataset, each.other_dataset) == (first.name, second.name):
            return each.column, each.other_column
        if (each.other_dataset, each.dataset) == (first.name, second.name):
            return each.other_column, each.column
    keys = [
        name
        for name in first.names
        if name_words(name)[-1:] in {("id",), ("no",), ("key",), ("code",)}
    ]
    return next(((name, name) for name in keys if second.column(name) is not None), None)


def _relate_first(ask: Ask, first: DatasetFacts, second: DatasetFacts) -> Draft | None:
    draft = Draft(
        goal_of(ask),
        said=(
            f"Rules found no key between {first.name} and {second.name}, so this looks for one. Then say, for "
            f'instance, "join {first.name} and {second.name} on" and the column.'
        ),
    )
    added = draft.add(
        ask, "relate", f"Look for keys between {first.name} and {second.name}", "relate",
        {"datasets": [first.name, second.name]}, reason="A join needs a key with evidence",
    )  # fmt: skip
    return draft if added else None


def _union(ask: Ask, named: list[DatasetFacts]) -> Draft | None:
    names = [each.name for each in sorted(named, key=lambda each: _place(ask, each))]
    draft = Draft(goal_of(ask))
    arguments = {"datasets": names, "target": free_name(ask, " and ".join(names))}
    added = draft.add(
        ask, "union", f"Put {' and '.join(names)} under one another", "union", arguments,
        reason="They were to be appended",
    )  # fmt: skip
    return draft if added else None
