"""Finds the words of a message among the values of data: only those that are found become part of what a turn knows."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Final

from steward.agents.asking.grammar import grammar, phrases
from steward.agents.asking.lexicon import LONGEST_PHRASE
from steward.agents.asking.tokens import name_words, tokens_of
from steward.agents.asking.world import FoundValue

_MOST: Final = 200
_LONG: Final = 4
"""Letters from which a word by itself can be the beginning of a value."""
_STEM: Final = 5
"""Letters that words of one stem share: "Japanese" for Japan."""
_MOST_KEPT: Final = 100_000
"""Values of tables that are kept by their words."""

Phrase = tuple[str, ...]


class ValueIndex:
    """Values of one table by the word they begin with: what a message names is found without a look at the others."""

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        self._values: list[tuple[str, str, Phrase]] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for column, values in columns.items():
            for value in values:
                words = name_words(value)
                if not words:
                    continue
                place = len(self._values)
                self._values.append((column, value, words))
                self._by_word[words[0]].append(place)
                if len(words) == 1 and len(words[0]) >= _LONG:
                    self._by_stem[words[0][:_STEM]].append(place)

    def __len__(self) -> int:
        return len(self._values)

    def find(self, said: set[Phrase], stems: set[str]) -> Iterator[tuple[str, str]]:
        """Columns with values, in the order in which they were given."""
        # "Japanese" for Japan: the lexicon decides.
        places = {place for stem in stems for place in self._by_stem.get(stem, ())}
        for first in {phrase[0] for phrase in said}:
            places.update(
                place for place in self._by_word.get(first, ()) if self._says(said, place)
            )
        for place in sorted(places):
            column, value, _ = self._values[place]
            yield column, value

    def _says(self, said: set[Phrase], place: int) -> bool:
        _, _, words = self._values[place]
        if words in said:
            return True
        return len(words[0]) >= _LONG and any(words[:size] in said for size in range(1, len(words)))


class ValueIndexes:
    """Those of the tables that were asked about last. A version of a table never changes."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], ValueIndex] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def of(
        self, project: str, version: str, values: Callable[[], Mapping[str, Sequence[str]]]
    ) -> ValueIndex:
        """The index of a version; `values` reads it where it is not kept."""
        key = (project, version)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = ValueIndex(values())
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(made)
            while self._size > self._most and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest)
        return made


def find_values(message: str, tables: Mapping[str, ValueIndex]) -> list[FoundValue]:
    """Values that the message names, in full or by how they begin."""
    words = [token.word for token in tokens_of(message)]
    said = {
        tuple(words[first:last])
        for first in range(len(words))
        for last in range(first + 1, min(len(words), first + LONGEST_PHRASE) + 1)
    }
    said = {phrase for phrase in said if len(phrase) > 1 or _carries_meaning(phrase[0])}
    stems = {phrase[0][:_STEM] for phrase in said if len(phrase) == 1 and len(phrase[0]) > _STEM}
    found = [
        FoundValue(table, column, value)
        for table, index in tables.items()
        for column, value in index.find(said, stems)
    ]
    return found[:_MOST]


def _carries_meaning(word: str) -> bool:
    return word not in grammar().silent and (word,) not in phrases()
