"""Questions that work on the data at hand: made of its tables and columns, and read back before they are offered."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from steward.agents.asking.asking import reads_whole
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.wording import plural, spaced
from steward.agents.asking.world import World

_MOST_TRIES: Final = 24
_FEW: Final = (2, 40)


def example_questions(world: World, lexicon: Lexicon, today: date, count: int = 3) -> list[str]:
    """Up to so many questions, each of which is read whole; of several tables rather than of one."""
    found: list[str] = []
    waiting = [_questions(world, table) for table in _by_size(world)]
    tries = 0
    while waiting and len(found) < count and tries < _MOST_TRIES:
        questions = waiting.pop(0)
        for message in questions:
            tries += 1
            if reads_whole(message, world, lexicon, today):
                found.append(message)
                waiting.append(questions)
                break
    return found


def _by_size(world: World) -> list[str]:
    """Tables with the most columns first: there is more to ask about them."""
    return sorted(world.datasets, key=lambda name: -len(world.datasets[name].columns))[:6]


def _questions(world: World, table: str) -> Iterator[str]:
    known, facts = world.table(table), world.datasets[table]
    noun = plural(known.row or spaced(table))
    groups, figures = [], []
    for each in facts.columns:
        definition = world.column(table, each.name) if each.name else None
        if definition is None:
            continue
        few = each.distinct is not None and _FEW[0] <= each.distinct <= _FEW[1]
        if definition.role == "dimension" and few:
            groups.append(spaced(each.name))
        elif definition.role == "measure":
            function = "total" if definition.additive == "always" else "average"
            figures.append(f"{function} {spaced(each.name)}")
    for figure, group in zip(figures, groups, strict=False):
        yield f"{figure} by {group}"
    for group in groups[:2]:
        yield f"How many {noun} per {group}?"
    if world.time_of(table) is not None:
        yield f"How many {noun} per month?"
    yield f"How many {noun} are there?"
