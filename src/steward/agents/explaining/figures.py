"""Numbers in an answer, and where they come from: a model's figure without a source is not shown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from steward.runs import Json

_NUMBER: Final = re.compile(
    r"(?<![\w.,])[-−]?\d(?:[\d,.'’\u00a0\u202f]*\d)?(?:[eE][+-]?\d{1,3})?(?![\w])(%?)"
)
_HARMLESS: Final = frozenset(str(number) for number in range(11))
"""Small counts are words of a sentence: "the first 3 rows", "two of 5 steps"."""
_LONGEST_TEXT: Final = 2_000
_ITEM = re.compile(r"^[^\S\n]*\d+[.)]\s", re.MULTILINE)
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True)
class Figure:
    text: str
    source: str | None
    """The call whose result holds it; None: nobody knows."""

    def to_json(self) -> Json:
        return {"text": self.text, "source": self.source}


def figures_in(text: str) -> list[str]:
    """The numbers that a reader would take for facts, each once, in order."""
    bare = _CODE.sub(" ", _ITEM.sub(" ", text))
    found = (match.group() for match in _NUMBER.finditer(bare))
    return [each for each in dict.fromkeys(found) if each not in _HARMLESS]


def sourced(
    text: str, results: Sequence[tuple[str, Json]], given: Sequence[str] = ()
) -> list[Figure]:
    """Each figure with the first result that holds it; numbers that the person used need no source."""
    known = [(key, set(_values(value))) for key, value in results]
    asked = {value for each in given for figure in figures_in(each) for value, _ in _meant(figure)}
    told = []
    for figure in figures_in(text):
        meanings = list(_meant(figure))
        if any(value in asked for value, _ in meanings):
            continue
        source = next(
            (key for key, values in known if any(_within(m, values) for m in meanings)), None
        )
        told.append(Figure(figure, source))
    return told


def is_found(figure: str, sources: Iterable[str]) -> bool:
    """Whether a number stands in one of the texts, however it is written there."""
    meanings = list(_meant(figure))
    for source in sources:
        values = {value for each in figures_in(source) for value, _ in _meant(each)}
        values |= {Decimal(word) for word in _HARMLESS if re.search(rf"\b{word}\b", source)}
        if any(_within(meaning, values) for meaning in meanings):
            return True
    return False


def _meant(figure: str) -> Iterator[tuple[Decimal, int]]:
    """What a figure can mean, with its decimals: 1,234 is 1234 in one country and 1.234 in another."""
    percent = figure.endswith("%")
    bare = re.sub(r"['’\u00a0\u202f]", "", figure.rstrip("%").replace("−", "-"))
    spellings = {bare.replace(",", "")}
    if "," in bare:
        spellings.add(bare.replace(".", "").replace(",", ".", 1).replace(",", ""))
    if bare.count(".") > 1 or re.fullmatch(r"-?\d{1,3}(\.\d{3})+", bare):
        spellings.add(bare.replace(".", ""))
    for spelling in sorted(spellings):
        try:
            value = Decimal(spelling)
        except InvalidOperation:
            continue
        decimals = max(0, -int(value.as_tuple().exponent))
        yield value, decimals
        if percent:
            yield value / 100, decimals + 2


def _within(meaning: tuple[Decimal, int], values: set[Decimal]) -> bool:
    """Equal, or equal once rounded as far as the figure was."""
    wanted, decimals = meaning
    if wanted in values:
        return True
    step = Decimal(1).scaleb(-decimals)
    half = step / 2
    return any(abs(value - wanted) <= half for value in values)


def _values(value: Json) -> Iterator[Decimal]:
    """Every number of a result, texts that are numbers and lengths of lists among them."""
    match value:
        case None | bool():
            return
        case int() | float():
            number = Decimal(str(value))
            if number.is_finite():
                yield number
        case str():
            yield from _numbers_in(value)
        case list():
            yield Decimal(len(value))
            for inner in value:
                yield from _values(inner)
        case dict():
            for inner in value.values():
                yield from _values(inner)


def _numbers_in(text: str) -> Iterator[Decimal]:
    if len(text) <= _LONGEST_TEXT:
        for figure in figures_in(text):
            for number, _ in _meant(figure):
                yield number
