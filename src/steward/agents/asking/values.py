"""Finds the words of a message among the values of data: only those that are found become part of what a turn knows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from steward.agents.asking.grammar import SILENT, phrases
from steward.agents.asking.lexicon import LONGEST_PHRASE
from steward.agents.asking.tokens import name_words, tokens_of
from steward.agents.asking.world import FoundValue

_MOST: Final = 200
_LONG: Final = 4
"""Letters from which a word by itself can be the beginning of a value."""
Index = Mapping[str, Mapping[str, Sequence[str]]]
"""Values by table and column."""


def find_values(message: str, index: Index) -> list[FoundValue]:
    """Values that the message names, in full or by how they begin."""
    words = [token.word for token in tokens_of(message)]
    said = {
        tuple(words[first:last])
        for first in range(len(words))
        for last in range(first + 1, min(len(words), first + LONGEST_PHRASE) + 1)
    }
    said = {phrase for phrase in said if len(phrase) > 1 or _carries_meaning(phrase[0])}
    return list(_found(said, index))[:_MOST]


def _carries_meaning(word: str) -> bool:
    return word not in SILENT and (word,) not in phrases()


def _found(said: set[tuple[str, ...]], index: Index) -> Iterator[FoundValue]:
    stems = {phrase[0][:5] for phrase in said if len(phrase) == 1 and len(phrase[0]) > 5}
    for table, columns in index.items():
        for column, values in columns.items():
            for value in values:
                words = name_words(value)
                begun = any(
                    words[:size] in said and len(words[0]) >= _LONG for size in range(1, len(words))
                )
                # "Japanese" for Japan: the lexicon decides.
                alike = len(words) == 1 and len(words[0]) >= _LONG and words[0][:5] in stems
                if words in said or begun or alike:
                    yield FoundValue(table, column, value)
