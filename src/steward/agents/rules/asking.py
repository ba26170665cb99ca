"""A request as the rules read it: words with their places, in one language, and what surrounds it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from steward.agents.asking.languages import language_of
from steward.agents.checking import Catalogue
from steward.agents.planning.task import Task
from steward.agents.planning.words import stem
from steward.agents.rules.seen import with_seen
from steward.agents.rules.vocabulary import SAME
from steward.definitions import DatasetFacts

_TOKEN: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d[\d.,]*\d[kKmM]?|\d[kKmM]?\b|>=|<=|!=|<>|[=<>]|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|%",
    re.UNICODE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
LONGEST: Final = 2_000
"""Characters that are read; nobody asks a question of that length to rules."""


@dataclass(frozen=True)
class Token:
    text: str
    """As written, in lower case."""
    word: str
    """Its stem, by the name the rules use for it."""
    start: int
    end: int

    @property
    def number(self) -> float | int | None:
        return number_of(self.text)


@lru_cache(maxsize=4096)
def canonical(word: str) -> str:
    """The one word that stands for it and what means the same."""
    stemmed = stem(word.casefold())
    return SAME.get(stemmed, stemmed)


def name_words(name: str) -> tuple[str, ...]:
    """The words of a dataset's or column's name."""
    spaced = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ")
    return tuple(canonical(match.group()) for match in _TOKEN.finditer(spaced))


def number_of(text: str) -> float | int | None:
    plain = text.casefold().replace(",", "")
    scale = {"k": 1_000, "m": 1_000_000}.get(plain[-1:], 1)
    try:
        value = float(plain.rstrip("km"))
    except ValueError:
        return None
    scaled = value * scale
    return int(scaled) if scaled == int(scaled) and abs(scaled) < 2**53 else scaled


@dataclass(frozen=True)
class Ask:
    task: Task
    catalogue: Catalogue
    text: str
    tokens: tuple[Token, ...] = field(default=())
    year: int | None = None
    """The year that is spoken of, where a month is named without one."""

    @classmethod
    def of(cls, task: Task, catalogue: Catalogue) -> "Ask":
        # Halves of characters and nulls are in no document.
        readable = task.message[:LONGEST].encode("utf-8", "replace").decode().replace("\0", " ")
        text = " ".join(readable.replace("_", " ").split())
        found = [(match.group().casefold(), *match.span()) for match in _TOKEN.finditer(text)]
        known = with_seen(catalogue, task.last)
        return cls(task, known, text, tuple(_tokens(found, known)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(token.word for token in self.tokens)

    def says(self, *phrases: str) -> bool:
        """Whether one of the phrases stands in the request, in whatever number."""
        return any(True for _ in self.places(phrases))

    def places(self, phrases: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Where the phrases stand, as ranges of tokens."""
        for phrase in phrases:
            yield from spans(self.words, phrase_words(phrase))

    def written(self, start: int, end: int) -> str:
        """The original text of a range of tokens."""
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]


def _tokens(found: Sequence[tuple[str, int, int]], catalogue: Catalogue) -> Iterator[Token]:
    """The words by the names that the rules use; those of another language as the English for them."""
    spoken = [word for word, _, _ in found]
    named = {word for each in catalogue.datasets.values() for word in _said(each)}
    language = language_of(spoken, named)
    if language is None:
        yield from (Token(word, canonical(word), start, end) for word, start, end in found)
        return
    for first, last, english in language.translated(spoken, named):
        start, end = found[first][1], found[last - 1][2]
        yield from (Token(word, canonical(word), start, end) for word in english)


@lru_cache(maxsize=256)
def _said(dataset: DatasetFacts) -> frozenset[str]:
    """Words of a dataset's names as they are written there."""
    spaced = " ".join((dataset.name, *dataset.names)).replace("_", " ").replace("-", " ")
    return frozenset(match.group().casefold() for match in _TOKEN.finditer(spaced))


@lru_cache(maxsize=4096)
def phrase_words(phrase: str) -> tuple[str, ...]:
    return tuple(canonical(match.group()) for match in _TOKEN.finditer(phrase))


def spans(words: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Every place where the wanted words follow one another."""
    size = len(wanted)
    if not size:
        return
    for start in range(len(words) - size + 1):
        if tuple(words[start : start + size]) == tuple(wanted):
            yield start, start + size
