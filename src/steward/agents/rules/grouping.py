"""By what a request groups: columns, units of time, columns of datasets that are reached by a key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from steward.agents.rules.asking import Ask, phrase_words
from steward.agents.rules.naming import Link, columns_in, date_column, link, thing_at
from steward.agents.rules.vocabulary import BY, UNITS
from steward.definitions import ColumnFacts, DatasetFacts

_BETWEEN: Final = frozenset(
    {"and", "then", "the", "a", "an", "of", "each", "every", "by", "per", "their", "its"}
)


@dataclass(frozen=True)
class Dimension:
    """One thing to group by."""

    column: ColumnFacts
    unit: str | None = None
    link: Link | None = None


@dataclass
class Grouping:
    dimensions: list[Dimension] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    ranked: ColumnFacts | None = None
    """A measure that was named after "by": what a ranking goes by."""

    def add(self, dimension: Dimension, tokens: range) -> None:
        if all(
            (each.column.name, each.unit) != (dimension.column.name, dimension.unit)
            for each in self.dimensions
        ):
            self.dimensions.append(dimension)
        self.used |= set(tokens)


def grouping_in(ask: Ask, dataset: DatasetFacts) -> Grouping:
    found = Grouping()
    for start, end in sorted(set(ask.places(BY))):
        _after(ask, dataset, start, end, found)
    for unit, phrases in UNITS.items():
        # The last of them is the bare noun, which only counts after "by".
        for start, end in ask.places(phrases[:-1]):
            if not found.used & set(range(start, end)):
                _unit(ask, dataset, unit, range(start, end), found)
    return found


def _after(ask: Ask, dataset: DatasetFacts, start: int, end: int, found: Grouping) -> None:
    """Reads dimensions one after another from behind a "by"."""
    at = end
    if start in found.used and at - 1 in found.used:
        return
    while at < len(ask.tokens):
        if ask.words[at] in _BETWEEN:
            at += 1
            continue
        following = next(_dimension(ask, dataset, at, found), None)
        if following is None:
            return
        found.used |= set(range(start, following))
        at = following
        comma = (
            at < len(ask.tokens) and "," in ask.text[ask.tokens[at - 1].end : ask.tokens[at].start]
        )
        if not comma and (
            at >= len(ask.words) or ask.words[at] not in {"and", "then", "by", "per"}
        ):
            return


def _dimension(ask: Ask, dataset: DatasetFacts, at: int, found: Grouping) -> Iterator[int]:
    """Takes the dimension that begins at a token; yields where it ends."""
    unit = next((unit for unit in UNITS if ask.words[at] == phrase_words(unit)[0]), None)
    if unit is not None:
        _unit(ask, dataset, unit, range(at, at + 1), found)
        yield at + 1
        return
    own = [each for each in columns_in(ask, dataset, at) if each.start == at]
    for each in own:
        facts = each.column
        if facts.kind == "number" and not facts.is_reference and not _few(facts):
            found.ranked = facts
            found.used |= set(range(each.start, each.end))
        elif each.end < len(ask.words) and ask.words[each.end] in UNITS:
            found.add(Dimension(facts, ask.words[each.end]), range(each.start, each.end + 1))
            yield each.end + 1
            return
        else:
            unit = "day" if facts.is_time or facts.is_date_text else None
            found.add(Dimension(facts, unit), range(each.start, each.end))
        yield each.end
        return
    yield from _elsewhere(ask, dataset, at, found)


def _elsewhere(ask: Ask, dataset: DatasetFacts, at: int, found: Grouping) -> Iterator[int]:
    for other in ask.catalogue.datasets.values():
        reached = None if other.name == dataset.name else link(ask.catalogue, dataset, other)
        if reached is None:
            continue
        # "customer segment" is the segment of crm_customers.
        for begin in (at, at + 1):
            for each in columns_in(ask, other, begin, least=1.8):
                if each.start == begin and each.column.kind != "number":
                    found.add(Dimension(each.column, None, reached), range(at, each.end))
                    yield each.end
                    return
    thing = thing_at(ask, dataset, at)
    if thing is not None:
        found.add(Dimension(thing[0], None, thing[1]), range(at, at + 1))
        yield at + 1


def _few(facts: ColumnFacts) -> bool:
    return facts.distinct is not None and facts.distinct <= 12


def _unit(ask: Ask, dataset: DatasetFacts, unit: str, tokens: range, found: Grouping) -> None:
    time = date_column(ask, dataset)
    if time is not None:
        found.add(Dimension(time, unit), tokens)
