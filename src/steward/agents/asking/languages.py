"""Requests in other languages, read word by word as the English that the rules know."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from steward.core import read_yaml

_LONGEST: Final = 4
"""Words of the longest phrase."""
_ENDINGS: Final = ("en", "er", "es", "em", "e", "n", "s")


@dataclass(frozen=True)
class Language:
    code: str
    words: Mapping[tuple[str, ...], tuple[str, ...]]
    marks: frozenset[str]
    """Words that are of this language and not English."""

    def translated(
        self, spoken: Sequence[str], kept: Container[str]
    ) -> list[tuple[int, int, tuple[str, ...]]]:
        """Ranges of words with the English for them; words in `kept` are names and stay."""
        found: list[tuple[int, int, tuple[str, ...]]] = []
        at = 0
        while at < len(spoken):
            size, english = self._at(spoken, at, kept)
            found.append((at, at + size, english))
            at += size
        return found

    def _at(
        self, spoken: Sequence[str], at: int, kept: Container[str]
    ) -> tuple[int, tuple[str, ...]]:
        for size in range(min(_LONGEST, len(spoken) - at), 0, -1):
            phrase = tuple(spoken[at : at + size])
            if size == 1 and phrase[0] in kept:
                break
            english = self.words.get(phrase)
            if english is not None:
                return size, english
        word = spoken[at]
        if word not in kept:
            for ending in _ENDINGS:
                stem = word.removesuffix(ending)
                if stem != word and len(stem) > 2 and (stem,) in self.words:
                    return 1, self.words[(stem,)]
        return 1, (word,)


@cache
def languages() -> tuple[Language, ...]:
    """Every language there is a file for."""
    folder = files("steward.agents.asking") / "words"
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".yaml"))
    return tuple(_read(name, (folder / name).read_text(encoding="utf-8")) for name in names)


def _read(name: str, text: str) -> Language:
    document = read_yaml(text)
    words = {
        tuple(str(phrase).casefold().split()): tuple(str(english).casefold().split())
        for phrase, english in document["words"].items()
    }
    shared = {str(word).casefold() for word in document["shared"]}
    marks = {phrase[0] for phrase in words if len(phrase) == 1} - shared
    # A word that is spelled alike in English says nothing about the language.
    marks -= {word for word in marks if words[(word,)] == (word,)}
    return Language(name.removesuffix(".yaml"), words, frozenset(marks))


def language_of(spoken: Sequence[str], kept: Container[str]) -> Language | None:
    """The language with the most words of its own in a request; None: English, or none that is known."""
    best, most = None, 0
    for language in languages():
        told = sum(_is_mark(word, language) for word in spoken if word not in kept)
        ranges = language.translated(spoken, kept)
        told += sum(last - first > 1 for first, last, _ in ranges)
        if told > most:
            best, most = language, told
    return best


def _is_mark(word: str, language: Language) -> bool:
    if word in language.marks:
        return True
    stems = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return any(len(stem) > 3 and stem in language.marks for stem in stems)
