"""What the words in a column's name say about its numbers, by the declared table of quantities and units (`quantities.yaml`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from steward.analysis.relate import words_of
from steward.core import package_yaml
from steward.definitions.document import Additive

Words = tuple[str, ...]


@dataclass(frozen=True)
class Quantity:
    kind: str
    """Such as `price`, `count`, `identifier`."""
    additive: Additive | None = None
    unit: str = ""


@dataclass(frozen=True)
class CalendarPart:
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Product:
    """A figure made of two kinds of columns, such as revenue of prices and quantities."""

    name: str
    of: tuple[str, str]
    synonyms: tuple[str, ...]
    say: str


@dataclass(frozen=True)
class _Table:
    quantities: tuple[tuple[Quantity, frozenset[Words], frozenset[str]], ...]
    calendar: tuple[tuple[CalendarPart, frozenset[Words]], ...]
    units: dict[str, str]
    products: tuple[Product, ...]


@cache
def _declared() -> _Table:
    found: dict[str, Any] = package_yaml("steward.definitions", "quantities.yaml")

    def phrases(entry: dict[str, Any]) -> frozenset[Words]:
        return frozenset(tuple(str(each).split()) for each in entry["words"])

    return _Table(
        tuple(
            (
                Quantity(each["kind"], each.get("additive"), each.get("unit", "")),
                phrases(each),
                frozenset(each.get("first", ())),
            )
            for each in found["quantities"]
        ),
        tuple(
            (CalendarPart(each["unit"], each["low"], each["high"]), phrases(each))
            for each in found["calendar"]
        ),
        {word: unit for unit, words in found["units"].items() for word in words},
        tuple(
            Product(each["name"], tuple(each["of"]), tuple(each["synonyms"]), each["say"])
            for each in found["products"]
        ),
    )


@lru_cache(maxsize=16_384)
def words(name: str) -> Words:
    """The words of a column's or table's name, in lower case and in the singular."""
    return words_of(name)


@lru_cache(maxsize=16_384)
def quantity_of(name: str) -> Quantity | None:
    """The first declared quantity that the name has a word of."""
    split = words(name)
    said, first = frozenset(_phrases(split)), split[0] if len(split) > 1 else ""
    for quantity, known, beginnings in _declared().quantities:
        if first in beginnings or not known.isdisjoint(said):
            return quantity
    return None


@lru_cache(maxsize=16_384)
def calendar_part_of(name: str) -> CalendarPart | None:
    """The part of a date that the name ends with or consists of: `year`, `sale_month`."""
    said = words(name)
    endings = {said[-length:] for length in (1, 2, 3) if length <= len(said)}
    return next(
        (each for each, known in _declared().calendar if not known.isdisjoint(endings)), None
    )


@lru_cache(maxsize=16_384)
def unit_of(name: str) -> str:
    """The unit that the name ends with; empty where it names none."""
    said = words(name)
    if len(said) < 2:
        return ""
    return _declared().units.get(said[-1], "")


def products() -> tuple[Product, ...]:
    return _declared().products


def _phrases(said: Words) -> Iterator[Words]:
    for length in (1, 2):
        for start in range(len(said) - length + 1):
            yield said[start : start + length]
