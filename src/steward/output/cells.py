"""Values as spreadsheet cells: typed where Excel can hold them exactly, text where it cannot, never a formula."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

MAX_TEXT = 32_767
_EXACT_DIGITS = 15
_FIRST_DAY = date(1900, 3, 1)
"""Excel's calendar holds a 29 February 1900 that never was: days before March 1900 are written as text."""

NOTES = {
    "long-number": "numbers with more than 15 digits are written as text: Excel would round them",
    "old-date": "dates before March 1900 are written as text: Excel's calendar does not hold them",
    "not-finite": "values that are not finite numbers (NaN, infinity) are left empty",
    "infinite": "infinite dates are left empty",
    "zone": "moments are in UTC",
    "fraction": "fractions of a second beyond milliseconds are cut",
    "long-text": f"texts are cut after {MAX_TEXT:,} characters, the most a cell holds",
    "nested": "lists and structures are written as JSON text",
    "binary": "binary values are written as hexadecimal text",
}


@dataclass
class Tally:
    """How often a column could not be written as it is."""

    counts: Counter[str] = field(default_factory=Counter)

    def sentences(self, column: str) -> list[str]:
        return [
            f"{column}: {NOTES[reason]} ({count:,} cells)."
            for reason, count in sorted(self.counts.items())
            if count
        ]


Cell = str | int | float | bool | datetime | None
"""What is written: a text stays a text, whatever it starts with."""


def cell(value: Any, tally: Tally) -> Cell:
    """One value as a cell; what Excel cannot hold is counted."""
    if value is None or isinstance(value, bool):
        return value
    convert = _BY_TYPE.get(type(value))
    return convert(value, tally) if convert else _text(_as_json(value, tally), tally)


def _integer(value: int, tally: Tally) -> Cell:
    if abs(value) < 10**_EXACT_DIGITS:
        return value
    tally.counts["long-number"] += 1
    return str(value)


def _float(value: float, tally: Tally) -> Cell:
    if math.isfinite(value):
        return value
    tally.counts["not-finite"] += 1
    return None


def _decimal(value: Decimal, tally: Tally) -> Cell:
    if not value.is_finite():
        tally.counts["not-finite"] += 1
        return None
    digits = len(value.normalize().as_tuple().digits)
    exponent = value.normalize().as_tuple().exponent
    whole = digits + max(0, exponent if isinstance(exponent, int) else 0)
    if whole <= _EXACT_DIGITS:
        return float(value)
    tally.counts["long-number"] += 1
    return format(value, "f")


def _moment(value: datetime, tally: Tally) -> Cell:
    if value.tzinfo is not None:
        tally.counts["zone"] += 1
        value = value.astimezone(UTC).replace(tzinfo=None)
    if value.date() < _FIRST_DAY:
        tally.counts["old-date"] += 1
        return value.isoformat(sep=" ")
    if value.microsecond % 1_000:
        tally.counts["fraction"] += 1
        value = value.replace(microsecond=value.microsecond // 1_000 * 1_000)
    return value


def _day(value: date, tally: Tally) -> Cell:
    if value < _FIRST_DAY:
        tally.counts["old-date"] += 1
        return value.isoformat()
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001 (Excel knows no zones)


def _clock(value: time, _tally: Tally) -> Cell:
    return value.isoformat()


def _span(value: timedelta, _tally: Tally) -> Cell:
    return str(value)


def _binary(value: bytes, tally: Tally) -> Cell:
    tally.counts["binary"] += 1
    return _text(value[: MAX_TEXT // 2 + 1].hex(), tally)


def _text(value: str, tally: Tally) -> Cell:
    if len(value) <= MAX_TEXT:
        return value
    tally.counts["long-text"] += 1
    return value[:MAX_TEXT]


def _as_json(value: Any, tally: Tally) -> str:
    if isinstance(value, (list, dict, tuple)):
        tally.counts["nested"] += 1
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


_BY_TYPE: dict[type, Callable[[Any, Tally], Cell]] = {
    int: _integer,
    float: _float,
    Decimal: _decimal,
    datetime: _moment,
    date: _day,
    time: _clock,
    timedelta: _span,
    bytes: _binary,
    str: _text,
}
