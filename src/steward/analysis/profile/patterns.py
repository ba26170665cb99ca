"""Generalises texts to shapes such as `AA99 9999`, and counts the shapes."""

import re
from collections import Counter
from collections.abc import Iterable

from steward.analysis.profile.results import Pattern

TOP = 10
LENGTH = 60
_RUN = re.compile(r"([Aa9x])\1+")
_ENOUGH = 0.9


class _Classes(dict[int, str]):
    """The class of every character, learnt as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isdigit():
            found = "9"
        elif character.isupper():
            found = "A"
        elif character.islower():
            found = "a"
        elif character.isalpha():
            found = "x"
        elif character.isspace():
            found = " "
        else:
            found = character
        self[code] = found
        return found


_CLASSES = _Classes()


def shape(text: str) -> str:
    """Every character by its class: `Anna-12` becomes `Aaaa-99`."""
    cut = text[:LENGTH].translate(_CLASSES)
    return cut + "…" if len(text) > LENGTH else cut


def shorten(full: str) -> str:
    """Runs of one class written once: `Aaaa-99` becomes `Aa+-9+`."""
    return _RUN.sub(r"\1+", full)


def patterns(values: Iterable[tuple[str, int]]) -> tuple[Pattern, ...]:
    """The most frequent shapes; with their lengths where a few of them cover nearly everything."""
    full: Counter[str] = Counter()
    for text, rows in values:
        full[shape(text)] += rows
    total = sum(full.values())
    if not total:
        return ()
    counted = full
    if sum(rows for _, rows in _top(full)) < _ENOUGH * total:
        counted = Counter()
        for one, rows in full.items():
            counted[shorten(one)] += rows
    return tuple(Pattern(one, rows, round(rows / total, 6)) for one, rows in _top(counted))


def _top(counted: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))[:TOP]
