"""The last command again, for another dataset: "and for invoices", "the same for tickets"."""

from typing import Any, Final

from steward.agents.asking.grammar import grammar
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

_FOLLOWING: Final = frozenset({"and", "also", "now", "same", "too", "again", "then", "next"})
_LONGEST: Final = 9


def plan(ask: Ask) -> Draft | None:
    """Only where the message says no more than the other dataset, and the last command named one."""
    acted, named = ask.task.acted, datasets_in(ask)
    if acted is None or not named or len(ask.tokens) > _LONGEST or "plan" in acted.arguments:
        return None
    other = named[0].name
    if other == acted.dataset or not any(token.text in _FOLLOWING for token in ask.tokens[:2]):
        return None
    if any(
        token.text not in _FOLLOWING | grammar().silent and not _names(ask, place, other)
        for place, token in enumerate(ask.tokens)
    ):
        return None
    draft = Draft(goal_of(ask))
    added = draft.add(
        ask, "again", f"The same for {other}", acted.tool, _renamed(acted.arguments, acted.dataset, other),
        reason="A follow-up repeats the last command for another dataset",
    )  # fmt: skip
    return draft if added else None


def _names(ask: Ask, place: int, dataset: str) -> bool:
    senses = ask.catalogue.lexicon.senses(ask.words[place : place + 1])
    whole = dataset.casefold().replace("_", " ").replace("-", " ").split()
    return ask.tokens[place].text in whole or any(
        sense.kind == "table" and sense.table == dataset for sense in senses
    )


def _renamed(value: Any, before: str, after: str) -> Any:
    """Arguments of a call with another dataset in place of its own."""
    if isinstance(value, str):
        return value.replace(before, after)
    if isinstance(value, dict):
        return {key: _renamed(each, before, after) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(each, before, after) for each in value]
    return value
