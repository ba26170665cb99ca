"""Values as JSON that loses nothing: decimals, dates and moments as text beside their declared types."""

import base64
import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

_DEEPEST: Final = 64


class TooMuch(Exception):
    """More bytes than the answer may have."""


class Budget:
    """Counts the bytes of an answer while it is made, so that a flood ends early."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooMuch


def encode(value: Any, budget: Budget, depth: int = 0) -> Any:
    """A value of DuckDB, pandas, numpy or plain Python as JSON."""
    if depth > _DEEPEST:
        raise RecursionError
    if value is None or isinstance(value, bool):
        budget.spend(5)
        return value
    if isinstance(value, str):
        budget.spend(len(value) + 3)
        return value
    if isinstance(value, int):
        budget.spend(max(value.bit_length() // 3, 2))
        return int(value)
    if isinstance(value, float):
        budget.spend(12)
        return float(value) if math.isfinite(value) else _unusual(value)
    return _encode_rarer(value, budget, depth)


def _unusual(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _encode_rarer(value: Any, budget: Budget, depth: int) -> Any:
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {
                _key(key, budget): encode(inner, budget, depth + 1) for key, inner in value.items()
            }
        pairs = value.items()
        return [[encode(k, budget, depth + 1), encode(v, budget, depth + 1)] for k, v in pairs]
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(inner, budget, depth + 1) for inner in value]
    if isinstance(value, bytes | bytearray | memoryview):
        text = base64.b64encode(bytes(value)).decode()
    elif isinstance(value, dt.datetime | dt.date | dt.time):
        # A missing moment of pandas says so in words, not in ISO form.
        text = value.isoformat()
        if text == "NaT":
            return None
    elif isinstance(value, dt.timedelta):
        text = _duration(value)
    elif isinstance(value, Decimal | UUID):
        text = str(value)
    else:
        return _encode_foreign(value, budget, depth)
    budget.spend(len(text) + 3)
    return text


def _key(key: str, budget: Budget) -> str:
    budget.spend(len(key) + 4)
    return str(key)


def _duration(value: dt.timedelta) -> str:
    """ISO 8601, in days and seconds, exact to the microsecond."""
    sign = "-" if value < dt.timedelta(0) else ""
    value = abs(value)
    seconds = f"{value.seconds}.{value.microseconds:06d}".rstrip("0").rstrip(".")
    return f"{sign}P{value.days}DT{seconds}S"


def _encode_foreign(value: Any, budget: Budget, depth: int) -> Any:
    """numpy's scalars and arrays, and whatever else: by what they can do, else as text."""
    plain = getattr(value, "tolist", None)
    if plain is not None:
        made = plain()
        if type(made) is not type(value):
            return encode(made, budget, depth + 1)
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    text = str(value)[:10_000]
    budget.spend(len(text) + 3)
    return text


def encode_rows(rows: Iterable[Sequence[Any]], budget: Budget) -> list[list[Any]]:
    return [[encode(value, budget) for value in row] for row in rows]
