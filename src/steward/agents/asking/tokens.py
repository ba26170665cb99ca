"""A message as words with their places, and words in the one form in which they are compared."""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from steward.agents.asking.languages import language_of
from steward.agents.planning.words import stem

LONGEST: Final = 2_000
"""Characters that are read."""
_TOKEN: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d+0s\b|(?<![\w)])[-−]\d+(?:\.\d+)?\b|\d[\d.,]*\d[kKmM]?\b|\d+[kKmM]?\b|>=|<=|!=|<>|[=<>%]|[^\W\d_]+(?:['’][^\W\d_]+)*|\d+",
    re.UNICODE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=\d)")
_NUMBERS: Final = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_SPELLED: Final = {word: number for number, word in enumerate(_NUMBERS, 2)} | {
    "zero": 0,
    "twenty": 20,
    "fifty": 50,
    "hundred": 100,
}
MULTIPLIERS: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}  # fmt: skip
NOTHING: Final = ("", "NA", "N/A", "NULL", "NAN", "NONE", "-", "?")
"""What people write where there is no value."""
_MINUS: Final = ("-", "−")
_NUMBER: Final = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?|\d+,\d{1,2})([km]?)")


@dataclass(frozen=True)
class Token:
    text: str
    """As written, in small letters."""
    word: str
    """Without plural and accents: what is compared."""
    start: int
    end: int

    @property
    def number(self) -> float | int | None:
        return _SPELLED.get(self.text, number_of(self.text))


@lru_cache(maxsize=8192)
def plain(word: str) -> str:
    """A word without case, accents, a possessive ending and plural."""
    folded = unicodedata.normalize("NFKD", word.casefold())
    bare = "".join(each for each in folded if not unicodedata.combining(each))
    bare = re.sub(r"['’]s?$", "", bare)
    stemmed = stem(bare)
    return f"{stemmed[:-2]}y" if stemmed.endswith("ie") and len(stemmed) > 4 else stemmed


@lru_cache(maxsize=8192)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name or value: arr_delay, lifeExp, "United Air Lines"."""
    spaced = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ")
    return tuple(plain(match.group()) for match in _TOKEN.finditer(spaced))


def number_of(text: str) -> float | int | None:
    if text[:1] in _MINUS and (positive := number_of(text[1:])) is not None:
        return -positive
    match = _NUMBER.fullmatch(text.casefold())
    if match is None:
        return None
    written = match.group(1)
    decimal = "," in written and "." not in written and len(written.rpartition(",")[2]) < 3
    value = float(written.replace(",", "." if decimal else ""))
    value *= {"k": 1_000, "m": 1_000_000}.get(match.group(2), 1)
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def readable(message: str) -> str:
    # Halves of characters and nulls are in no document.
    return message[:LONGEST].encode("utf-8", "replace").decode().replace("\0", " ")


def tokens_of(message: str, names: Container[str] = frozenset()) -> tuple[Token, ...]:
    """The words of a message; those of another language as the English for them, `names` as they are."""
    text = readable(message).replace("_", " ")
    found = [(match.group().casefold(), *match.span()) for match in _TOKEN.finditer(text)]
    return tuple(_translated(found, names))


def _translated(found: Sequence[tuple[str, int, int]], names: Container[str]) -> Iterator[Token]:
    spoken = [word for word, _, _ in found]
    language = language_of(spoken, names)
    if language is None:
        yield from (Token(word, plain(word), start, end) for word, start, end in found)
        return
    for first, last, english in language.translated(spoken, names):
        start, end = found[first][1], found[last - 1][2]
        yield from (Token(word, plain(word), start, end) for word in english)


def said_words(name: str) -> frozenset[str]:
    """The words of a name as people write them, for telling names from another language."""
    spaced = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ")
    return frozenset(match.group().casefold() for match in _TOKEN.finditer(spaced))
