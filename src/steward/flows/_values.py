"""JSON values as expressions see them: converted where they are touched, each touch charged to a budget."""

import math
import threading
from collections.abc import Iterator
from typing import Any, Final

from celpy import celtypes as cel

LONGEST_INT: Final = 2**63
_JSON: Final = frozenset((bool, int, float, str, list, dict))
"""The types of what is not converted yet; converted values have types of the library."""


class Exhausted(Exception):
    """The expression costs more than one may."""


class Budget(threading.local):
    """What the evaluation under way in this thread may still spend; evaluation never leaves its thread."""

    left: int = 0
    given: set[int]
    """Values of the flow that are in the result already, by their identity."""

    def begin(self, steps: int) -> None:
        self.left = steps
        self.given = set()

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise Exhausted


BUDGET: Final = Budget()


class LazyList(cel.ListType):
    """A list of a flow, whose items are converted when they are read: its length costs nothing."""

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.json = items

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return cel.ListType([self[each] for each in range(*index.indices(len(self)))])
        found = super().__getitem__(index)
        if type(found) in _JSON:
            found = to_cel(found)
            self[index] = found
        return found

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


class LazyMap(cel.MapType):
    """An object of a flow, whose fields are converted when they are read."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__()
        self.update(fields)
        self.json = fields

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if type(found) in _JSON:
            found = to_cel(found)
            self[key] = found
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else super().get(key, default)

    def __iter__(self) -> Iterator[Any]:
        for key in super().__iter__():
            yield cel.StringType(str(key))

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def values(self) -> Any:
        return [self[key] for key in self]


def whole(value: int) -> cel.IntType:
    """A number of at most 64 bits, as it is; the library's own way looks at all that could be made into one."""
    return int.__new__(cel.IntType, value)


def to_cel(value: Any) -> Any:
    """A JSON value as the library wants it; whole numbers that do not fit 64 bits become fractions."""
    BUDGET.spend(1)
    if value is None:
        return None
    if isinstance(value, bool):
        return cel.BoolType(value)
    if isinstance(value, int):
        return whole(value) if -LONGEST_INT <= value < LONGEST_INT else double(value)
    if isinstance(value, float):
        return cel.DoubleType(value)
    if isinstance(value, str):
        BUDGET.spend(len(value) // 64)
        return cel.StringType(value)
    return LazyList(value) if isinstance(value, list) else LazyMap(value)


def from_cel(value: Any) -> Any:
    """The JSON value of a result; TypeError for what JSON does not know."""
    BUDGET.spend(1)
    if value is None:
        return None
    if isinstance(value, bool | cel.BoolType):
        return bool(value)
    if isinstance(value, str):
        BUDGET.spend(len(value) // 64)
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return finite(float(value))
    if isinstance(value, LazyList | LazyMap) and id(value.json) not in BUDGET.given:
        # Passed on as it is. Once: many times the same would make a small expression a huge result.
        BUDGET.given.add(id(value.json))
        return value.json
    if isinstance(value, list):
        return [from_cel(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): from_cel(item) for key, item in value.items()}
    raise TypeError("only text, numbers, booleans, null, lists, and objects with text keys")


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("overflow")
    return value


def double(value: Any) -> cel.DoubleType:
    try:
        return cel.DoubleType(finite(float(value)))
    except OverflowError:
        raise ValueError("overflow") from None
