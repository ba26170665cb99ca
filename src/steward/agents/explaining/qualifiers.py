"""Whether a model's text says more about a result than question, plan and result together support.

A figure may only be qualified by what the plan did: "406 cars with 8 cylinders" is false where no filter looked at
cylinders, however true 406 is. So every value, column or number that a text names beside a figure must be part of the
plan or of the rows it found; otherwise Steward's own words are used.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.agents.explaining.figures import figures_in
from steward.agents.planning.words import LITTLE, stem, tokens
from steward.definitions import DatasetFacts
from steward.runs import Json

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBERS: Final = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
_SHORTEST_VALUE: Final = 2


def unsupported(
    text: str, plans: Sequence[Json], results: Sequence[Json], datasets: Iterable[DatasetFacts]
) -> list[str]:
    """What the text says of a figure that neither plan nor result says; empty when all of it is supported."""
    said = [each for each in _SENTENCE.split(text) if figures_in(each) or _NUMBERS.search(each)]
    if not said or not plans:
        return []
    known = _stems(_strings(plans)) | _stems(_strings(results))
    numbers = {*_plain_numbers(_strings(plans)), *_plain_numbers(_strings(results))}
    names = set(_strings(plans))
    tables = [each for each in datasets if each.name in names] or list(datasets)
    found: list[str] = []
    for sentence in said:
        for table in tables:
            found += _columns(sentence, table, known, numbers)
            found += _values(sentence, table, known)
    return list(dict.fromkeys(found))


def _columns(
    sentence: str, table: DatasetFacts, known: frozenset[str], numbers: set[str]
) -> Iterator[str]:
    """Columns that a number stands beside, where the plan does not use the column or nothing has the number."""
    words = [stem(word) for word in tokens(sentence)]
    there = set(words)
    for column in table.columns:
        parts = {stem(word) for word in tokens(column.name) if word not in LITTLE}
        if not parts or not parts <= there:
            continue
        beside = _numbers_beside(words, parts)
        if (beside and not parts <= known) or any(each not in numbers for each in beside):
            yield column.name


def _numbers_beside(words: Sequence[str], parts: set[str]) -> list[str]:
    """Numbers next to a column's name, as in "8 cylinders" or "cylinders = 8"."""
    return [
        each.replace(",", "")
        for place, word in enumerate(words)
        if word in parts
        for each in words[max(0, place - 2) : place + 3]
        if each[:1].isdigit()
    ]


def _values(sentence: str, table: DatasetFacts, known: frozenset[str]) -> Iterator[str]:
    """Values of the table's columns that the plan did not ask for and the result does not show."""
    lowered = sentence.casefold()
    for column in table.columns:
        if column.kind != "text":
            continue
        for value in column.values:
            plain = value.casefold().strip()
            if len(plain) <= _SHORTEST_VALUE or plain in LITTLE:
                continue
            if re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", lowered):
                parts = {stem(word) for word in tokens(value)}
                if parts and not parts <= known:
                    yield value


def _strings(value: Any) -> list[str]:
    """Every text and number of a document, as text."""
    match value:
        case None | bool():
            return []
        case str():
            return [value]
        case int() | float():
            return [json.dumps(value)]
        case Mapping():
            return [text for key, inner in value.items() for text in [str(key), *_strings(inner)]]
        case list() | tuple():
            return [text for inner in value for text in _strings(inner)]
        case _:
            return [str(value)]


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in tokens(text))


def _plain_numbers(texts: Iterable[str]) -> list[str]:
    return [found.replace(",", "") for text in texts for found in _NUMBERS.findall(text)]
