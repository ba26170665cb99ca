"""The common shape of nested JSON values, as a DuckDB type that holds all of them exactly."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from json.encoder import encode_basestring as _quoted
from typing import Any

from steward.tables import quote

_MOST_FIELDS = 200
_MOST_DIGITS = 15


class Number(str):
    """A JSON number as it is written: parsing it to a float would round it."""

    __slots__ = ()


def flat(record: Mapping[str, object]) -> dict[str, object]:
    """A record with the fields of nested records as its own, each named by its path, as in `address.city`.

    Dots and backslashes within a name get a backslash before them, so that every path can be told from every name.
    An empty record and a list stay as they are.
    """
    found: dict[str, object] = {}
    for name, value in record.items():
        own = name.replace("\\", "\\\\").replace(".", "\\.")
        if isinstance(value, dict) and value:
            found.update((f"{own}.{inner}", cell) for inner, cell in flat(value).items())
        else:
            found[own] = value
    return found


class Shape:
    """What was seen at one place of nested values."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._fields: dict[str, Shape] = {}
        self._items: Shape | None = None

    def see(self, value: object) -> None:
        if value is None:
            return
        self._kinds.add(_number_kind(value) if isinstance(value, Number) else kind_of(value))
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in self._fields:
                    self._fields[name].see(inner)
                elif len(self._fields) <= _MOST_FIELDS:
                    self._fields.setdefault(name, Shape()).see(inner)
        elif isinstance(value, list):
            self._items = self._items or Shape()
            for inner in value:
                self._items.see(inner)

    def type(self) -> str | None:
        """The type that holds everything seen; none where only JSON does."""
        if not self._kinds:
            return "VARCHAR"
        if self._kinds <= {"whole", "long"}:
            return "BIGINT"
        if self._kinds <= {"whole", "double"}:
            return "DOUBLE"
        if len(self._kinds) > 1:
            return None
        kind = next(iter(self._kinds))
        if kind == "object":
            return self._struct()
        if kind == "array":
            inner = self._items.type() if self._items is not None else None
            return f"{inner}[]" if inner and self._items and self._items._kinds else None
        return {"text": "VARCHAR", "boolean": "BOOLEAN"}.get(kind)

    @property
    def records(self) -> int:
        """How many fields its records have; 0 where it holds none."""
        return len(self._fields) if "object" in self._kinds else 0

    def structure(self) -> Any:
        """The same as DuckDB's `json_transform` wants it; what a value lacks is then empty."""
        if self._kinds == {"object"}:
            return {name: shape.structure() for name, shape in self._fields.items()}
        if self._kinds == {"array"} and self._items is not None:
            return [self._items.structure()]
        return self.type()

    def _struct(self) -> str | None:
        names = {name.lower() for name in self._fields}
        if not self._fields or len(self._fields) > _MOST_FIELDS or len(names) < len(self._fields):
            return None
        if "" in names:
            return None
        inner = {name: shape.type() for name, shape in self._fields.items()}
        if any(kind is None for kind in inner.values()):
            return None
        return f"STRUCT({', '.join(f'{quote(name)} {kind}' for name, kind in inner.items())})"


def kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, dict) else "array"


def _number_kind(value: Number) -> str:
    digits = value.lstrip("-")
    if digits.isdigit() and len(digits) <= 18 and value != "-0":
        # A double holds it only up to 15 digits, should other values turn out to be decimals.
        return "whole" if len(digits) <= _MOST_DIGITS else "long"
    if len(value) > 400:
        return "inexact"
    number = Decimal(value)
    double = float(value)
    finite = double not in (float("inf"), float("-inf"))
    return "double" if finite and Decimal(repr(double)) == number else "inexact"


def dump(value: object) -> str:
    """A parsed value as JSON again, its numbers as they were written."""
    return "".join(_dumped(value))


def _dumped(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for position, (name, inner) in enumerate(value.items()):
            yield ("," if position else "") + _quoted(name) + ":"
            yield from _dumped(inner)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for position, inner in enumerate(value):
            if position:
                yield ","
            yield from _dumped(inner)
        yield "]"
    elif isinstance(value, Number):
        yield str(value)
    elif isinstance(value, str):
        yield _quoted(value)
    elif value is None:
        yield "null"
    else:
        yield "true" if value else "false"
