"""The words of English that say how, not what: the only closed list there is. Everything else must be found in definitions or data."""

from functools import cache
from typing import NamedTuple

from steward.agents.asking.tokens import name_words, plain
from steward.core import package_yaml


class Mark(NamedTuple):
    """What a phrase does in a question."""

    kind: str
    argument: str = ""


class Grammar(NamedTuple):
    phrases: dict[str, str]
    silent: frozenset[str]
    """Words that restrict nothing."""
    adjectives: dict[str, tuple[str, tuple[str, ...]]]
    """Those that speak of a quantity, with what it can be called; they count only where one column is called so."""
    made: frozenset[str]
    """Verbs that say no more than that a row exists, where they lead to a condition: flown by, sold in, found on."""


@cache
def grammar() -> Grammar:
    read = package_yaml("steward.agents.asking", "grammar.yaml")
    silent = read["silent"].split()
    adjectives = {word: text.split() for word, text in read["adjectives"].items()}
    return Grammar(
        read["phrases"],
        frozenset(plain(word) for word in silent) | frozenset(silent),
        {word: (order, tuple(names)) for word, (order, *names) in adjectives.items()},
        frozenset(read["made"].split()),
    )


@cache
def phrases() -> dict[tuple[str, ...], Mark]:
    found: dict[tuple[str, ...], Mark] = {}
    for key, several in grammar().phrases.items():
        kind, _, argument = key.partition(": ")
        for phrase in several.split(" | "):
            found.setdefault(name_words(phrase), Mark(kind, argument))
    return found


@cache
def longest_phrase() -> int:
    return max(map(len, phrases()))


@cache
def vocabulary() -> frozenset[str]:
    """Words of the grammar that can be misspelled."""
    words = {word for phrase in phrases() for word in phrase} | set(grammar().adjectives)
    return frozenset(word for word in words if len(word) > 4)
