"""Worked examples for the planner's prompt: a small model that fails without any succeeds with three that fit."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from steward.agents.planning.words import words_of
from steward.core import package_yaml


@dataclass(frozen=True)
class Example:
    message: str
    tables: str
    """The data it is about, as the prompt's schema cards say it."""
    plan: dict[str, Any]


@cache
def shipped_examples() -> tuple[Example, ...]:
    return tuple(
        Example(each["message"], each["tables"], each["plan"])
        for each in package_yaml("steward.agents.planning", "examples.yaml")
    )


def worked_examples(
    message: str, count: int, examples: Sequence[Example] | None = None
) -> list[Example]:
    """Those most like the message, the likest last: the last one read counts most."""
    known = shipped_examples() if examples is None else examples
    rarity = _rarity(known)
    wanted = words_of(message)
    ranked = sorted(
        enumerate(known),
        key=lambda pair: (-_likeness(wanted, words_of(pair[1].message), rarity), pair[0]),
    )
    return [example for _, example in reversed(ranked[:count])]


def _rarity(examples: Sequence[Example]) -> dict[str, float]:
    """Words that few examples share tell more than those in every one."""
    counts = Counter(word for each in examples for word in words_of(each.message))
    return {word: math.log(1 + len(examples) / number) for word, number in counts.items()}


def _likeness(wanted: frozenset[str], there: frozenset[str], rarity: dict[str, float]) -> float:
    shared = sum(rarity.get(word, 0.0) for word in wanted & there)
    size = math.sqrt(sum(rarity.get(word, 1.0) for word in there)) or 1.0
    return shared / size
