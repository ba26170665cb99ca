"""Words of a request that the rules made nothing of: said to the person, so that nobody takes a part for the whole."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from steward.agents.planning.words import LITTLE
from steward.agents.rules.asking import Ask, name_words, phrase_words
from steward.agents.rules.vocabulary import (
    BY,
    COMPARE,
    EMPTY,
    FILLED,
    FUNCTIONS,
    MEASURES,
    STOP,
    UNITS,
)
from steward.definitions import DatasetFacts

_SAID_ANYWAY: Final = """
    show preview list display look see give find row record get print view sample head data dataset table value number
    chart plot graph bar pie line area draw visualise visualize diagram make made did do have has there want know need
    please would could like calculate compute tell using used use come came made sale top bottom best worst largest biggest
    highest lowest smallest most least fewest ascending descending asc desc sorted sort order first last next this that
    year month people person current much many kind type different own name thing one two info detail result
    figure amount everything every whole entire overall total again same instead also those these them now only just
    their its both share percent chart page more ok thanks thank hello hi excel file
"""
_MOST: Final = 6


@cache
def _familiar() -> frozenset[str]:
    phrases: list[str] = [
        *BY,
        *EMPTY,
        *FILLED,
        *STOP,
        *MEASURES,
        *COMPARE,
    ]
    for group in (FUNCTIONS, UNITS):
        phrases += [phrase for several in group.values() for phrase in several]
    words = {word for phrase in phrases for word in phrase_words(phrase)}
    return frozenset(words | set(phrase_words(_SAID_ANYWAY.replace("\n", " "))))


def ignored(ask: Ask, dataset: DatasetFacts, used: Iterable[int]) -> list[str]:
    """Words that carry meaning and were not used, in order, as they were written."""
    taken, own = set(used), set(name_words(dataset.name))
    # "Open the tickets" is a verb; "open tickets" are those that are open.
    if ask.words[:2] in {("open", "the"), ("open", "my"), ("open", "our")}:
        taken.add(0)
    names = {word for each in ask.catalogue.datasets for word in name_words(each)}
    found = [
        ask.written(number, number + 1)
        for number, token in enumerate(ask.tokens)
        if number not in taken
        and token.word not in own | names | _familiar()
        and token.text not in LITTLE
        and len(token.text) > 2
        and token.number is None
    ]
    return list(dict.fromkeys(found))[:_MOST]


def remark(ask: Ask, dataset: DatasetFacts, used: Iterable[int]) -> str:
    """What to say about them; empty when everything was used."""
    words = ignored(ask, dataset, used)
    if not words:
        return ""
    listed = ", ".join(f'"{word}"' for word in words)
    more = "" if dataset.profiled else f' "Profile {dataset.name}" lets rules know its values.'
    return f"Not taken into account, because rules do not know it here: {listed}.{more}"


def mixed_money(dataset: DatasetFacts, document: Mapping[str, Any]) -> str:
    """What to say where amounts of several currencies end up in one figure."""
    currency = next((each for each in dataset.columns if "currency" in each.meanings), None)
    if currency is None or (currency.distinct or 0) <= 1:
        return ""
    apart = currency.name in document.get("group", ())
    told = json.dumps(document.get("filters", ()))
    if apart or json.dumps({"column": currency.name}) in told:
        return ""
    if all(each["function"] != "sum" for each in document.get("aggregate", ())):
        return ""
    return (
        f"Amounts are in {currency.distinct} currencies and were added up as they are; "
        f'add "by {currency.name}" to keep them apart.'
    )
