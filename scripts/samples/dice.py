"""Seeded draws that give the same values on every Python and platform."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Odds(Generic[T]):
    """Values with whole-number weights, ready to be drawn from."""

    values: tuple[T, ...]
    steps: tuple[int, ...]

    @classmethod
    def of(cls, *pairs: tuple[T, int]) -> "Odds[T]":
        return cls(tuple(v for v, _ in pairs), tuple(accumulate(w for _, w in pairs)))


class Dice:
    """Draws built on `Random.random()` alone, the one sequence Python promises to keep.

    Nothing here calls the C mathematics library either: its last digit differs between
    platforms, and one digit is enough to change the bytes of a file.
    """

    def __init__(self, seed: int) -> None:
        self._next = Random(seed).random

    def chance(self, share: float) -> bool:
        return self._next() < share

    def below(self, limit: int) -> int:
        return int(self._next() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        return values[int(self._next() * len(values))]

    def odds(self, odds: Odds[T]) -> T:
        return odds.values[bisect_right(odds.steps, int(self._next() * odds.steps[-1]))]

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """Up to `count` different members of `values`, in drawn order."""
        rest = list(values)
        return [rest.pop(int(self._next() * len(rest))) for _ in range(min(count, len(rest)))]

    def normal(self) -> float:
        """A bell-shaped value around 0 with deviation 1: twelve uniform draws, added up."""
        draw = self._next
        total = draw() + draw() + draw() + draw() + draw() + draw()
        return total + draw() + draw() + draw() + draw() + draw() + draw() - 6.0

    def lognormal(self, median: float, spread: float) -> float:
        return median * exponential(spread * self.normal())

    def whole(self, expected: float) -> int:
        """A whole number whose average is `expected`."""
        floor = int(expected)
        return floor + (1 if self._next() < expected - floor else 0)

    def fill(self, pattern: str) -> str:
        """The pattern with `#` as digits, `%` as digits from 1 to 9 and `@` as letters."""
        return "".join(self._symbol(mark) for mark in pattern)

    def _symbol(self, mark: str) -> str:
        if mark == "#":
            return str(self.below(10))
        if mark == "%":
            return str(self.between(1, 9))
        if mark == "@":
            return "ABCDEFGHJKLNPQRSTUWXYZ"[self.below(22)]
        return mark


def exponential(power: float) -> float:
    """e to the power, by multiplication only: (1 + power/1024) to the 1024th."""
    value = 1.0 + power / 1024.0
    for _ in range(10):
        value *= value
    return value
