"""Stretches of time that people name: a year, last month, since March 2024, the last 30 days, between two."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from steward.agents.rules.asking import Ask

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_SHORT: Final = {name[:3]: number for number, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_QUARTER: Final = re.compile(r"q([1-4])")
_COMPARING: Final = frozenset(
    {"than", "over", "above", "under", "below", "least", "most", ">", "<", ">=", "<=", "top"}
)


@dataclass(frozen=True)
class Period:
    """From the first day on, up to but without the last; None: open."""

    start: date | None
    end: date | None
    first: int
    last: int
    """The tokens that said so."""


def period_in(ask: Ask, begin: int = 0) -> Period | None:
    """The stretch of time that a request names, if it does."""
    for position in range(begin, len(ask.tokens)):
        found = (
            _between(ask, position)
            or _relative(ask, position)
            or _bounded(ask, position)
            or _named(ask, position)
        )
        if found is not None:
            return found
    return None


def shifted(day: date, unit: str, count: int) -> date:
    """The same day so many units later; the last of a month where that has no such day."""
    if unit in {"day", "week"}:
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = day.year * 12 + day.month - 1 + months
    begin, end = _months(first // 12, first % 12 + 1, 1)
    return min(begin + timedelta(days=day.day - 1), end - timedelta(days=1))


def _between(ask: Ask, at: int) -> Period | None:
    words = ask.words
    if words[at] not in {"between", "from"}:
        return None
    first = _point(ask, at + 1)
    if (
        first is None
        or first.last >= len(words)
        or words[first.last] not in {"and", "to", "until", "till"}
    ):
        return None
    second = _point(ask, first.last + 1)
    return None if second is None else Period(first.start, second.end, at, second.last)


def _bounded(ask: Ask, at: int) -> Period | None:
    word = ask.words[at]
    if word not in {"since", "after", "before", "until", "till", "from", "starting"}:
        return None
    found = _point(ask, at + 1)
    if found is None:
        return None
    if word in {"since", "from", "starting"}:
        return Period(found.start, None, at, found.last)
    if word == "after":
        return Period(found.end, None, at, found.last)
    end = found.start if word == "before" else found.end
    return Period(None, end, at, found.last)


def _named(ask: Ask, at: int) -> Period | None:
    if at and ask.words[at - 1] in _COMPARING:
        return None
    return _point(ask, at)


def _point(ask: Ask, at: int) -> Period | None:
    """A year, a month, a quarter or a day at this place."""
    if at >= len(ask.tokens):
        return None
    for read in (_day, _month, _quarter, _year):
        found = read(ask, at)
        if found is not None:
            return found
    return None


def _day(ask: Ask, at: int) -> Period | None:
    text = ask.tokens[at].text
    if text in {"today", "yesterday"}:
        day = ask.task.today - timedelta(days=text == "yesterday")
        return Period(day, day + timedelta(days=1), at, at + 1)
    if len(text) != 10 or not _YEAR.match(text):
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return Period(day, day + timedelta(days=1), at, at + 1)


def _month(ask: Ask, at: int) -> Period | None:
    month = _month_number(ask.tokens[at].text)
    if month is None:
        return None
    year = _year_at(ask, at + 1)
    if year is None:
        # "may" is a word too, and so is "mar"; alone only whole names count, and "may" not at all.
        if ask.tokens[at].text not in _MONTHS or ask.tokens[at].text == "may":
            return None
        today = ask.task.today
        year = ask.year or (today.year if month <= today.month else today.year - 1)
        return Period(*_months(year, month, 1), at, at + 1)
    return Period(*_months(year, month, 1), at, at + 2)


def _quarter(ask: Ask, at: int) -> Period | None:
    match = _QUARTER.fullmatch(ask.written(at, at + 1).casefold())
    number, size = (int(match.group(1)), 1) if match else (None, 0)
    if number is None and ask.tokens[at].text == "q" and at + 1 < len(ask.tokens):
        following = ask.tokens[at + 1].text
        number, size = (int(following), 2) if following in {"1", "2", "3", "4"} else (None, 0)
    if number is None:
        return None
    year = _year_at(ask, at + size)
    end = at + size + (year is not None)
    return Period(*_months(year or ask.year or ask.task.today.year, 3 * number - 2, 3), at, end)


def _year(ask: Ask, at: int) -> Period | None:
    year = _year_at(ask, at)
    if year is None:
        return None
    return Period(date(year, 1, 1), date(year + 1, 1, 1), at, at + 1)


def _year_at(ask: Ask, at: int) -> int | None:
    if at < len(ask.tokens) and _YEAR.fullmatch(ask.tokens[at].text):
        return int(ask.tokens[at].text)
    return None


def _month_number(text: str) -> int | None:
    if text in _MONTHS:
        return _MONTHS.index(text) + 1
    return _SHORT.get(text)


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    ending = year * 12 + month - 1 + count
    return date(year, month, 1), date(ending // 12, ending % 12 + 1, 1)


def _relative(ask: Ask, at: int) -> Period | None:
    """Last year, this month, the last 30 days."""
    words, today = ask.words, ask.task.today
    if words[at] not in {"last", "past", "this", "current", "previous"} or at + 1 >= len(words):
        return None
    back = words[at] not in {"this", "current"}
    count = ask.tokens[at + 1].number
    if isinstance(count, int) and at + 2 < len(words) and 0 < count <= 1_000:
        start = _ago(today, count, words[at + 2])
        return None if start is None else Period(start, today + timedelta(days=1), at, at + 3)
    whole = next(_whole(today, words[at + 1], back), None)
    return None if whole is None else Period(*whole, at, at + 2)


def _ago(today: date, count: int, unit: str) -> date | None:
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        return None
    earlier = today.year * 12 + today.month - 1 - months * count
    if earlier < 12:
        return None
    first = date(earlier // 12, earlier % 12 + 1, 1)
    return min(first + timedelta(days=today.day - 1), _months(first.year, first.month, 1)[1])


def _whole(today: date, unit: str, back: bool) -> Iterator[tuple[date, date]]:
    if unit == "year":
        yield date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)
    elif unit in {"month", "quarter"}:
        size = 1 if unit == "month" else 3
        first = today.year * 12 + (today.month - 1) // size * size - size * back
        yield _months(first // 12, first % 12 + 1, size)
    elif unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        yield monday, monday + timedelta(days=7)
