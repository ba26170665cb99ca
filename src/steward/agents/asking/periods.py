"""Stretches of time that people name: a year, last month, since March 2024, the last 30 days, between two."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from steward.agents.asking.tokens import Token

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_SHORT: Final = {name[:3]: number for number, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_YEAR: Final = re.compile(r"(?:17|18|19|20)\d{2}")
_DECADE: Final = re.compile(r"((?:17|18|19|20)\d0)s")
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_UNITS: Final = ("day", "week", "month", "quarter", "year")
_DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_AHEAD: Final = frozenset({"next", "coming", "upcoming"})


@dataclass(frozen=True)
class Span:
    """From the first day on, up to but without the last; None: open. `size` tokens say so."""

    start: date | None
    end: date | None
    size: int
    assumed: str = ""
    """What was not said, such as the year of a month."""


class Calendar:
    """Reads stretches of time in the words of one message."""

    def __init__(self, tokens: Sequence[Token], today: date, year: int | None = None) -> None:
        self._tokens = tokens
        self._today = today
        self._year = year

    def at(self, place: int) -> Span | None:
        """The stretch of time that is named from this token on."""
        return (
            self._between(place)
            or self._relative(place)
            or self._bounded(place)
            or self.point(place)
        )

    def _text(self, place: int) -> str:
        return self._tokens[place].text if 0 <= place < len(self._tokens) else ""

    def _between(self, at: int) -> Span | None:
        joined = {"between": ("and",), "from": ("to", "until", "till", "through")}
        links = joined.get(self._text(at))
        first = self.point(at + 1) if links else None
        if links is None or first is None or self._text(at + 1 + first.size) not in links:
            return self._range(at)
        second = self.point(at + first.size + 2)
        if second is None:
            return None
        if first.assumed and first.start and second.end:
            # "Between March and May 2013": the year is said once.
            year = (second.end - timedelta(days=1)).year
            first = Calendar(self._tokens, self._today, year).point(at + 1) or first
        return Span(first.start, second.end, first.size + second.size + 2)

    def _range(self, at: int) -> Span | None:
        """2019 to 2021, 2019-2021."""
        first = self._year_at(at)
        link = self._text(at + 1) in {"to", "through", "until"}
        second = self._year_at(at + 2) if first is not None and link else None
        if first is None or second is None or second < first:
            return None
        return Span(date(first, 1, 1), date(second + 1, 1, 1), 3)

    def _bounded(self, at: int) -> Span | None:
        word = self._text(at)
        if word not in {"since", "after", "before", "until", "till", "from", "starting"}:
            return None
        skipped = 1 + (self._text(at + 1) in {"the", "from", "in", "year"})
        found = self.point(at + skipped)
        if found is None:
            return None
        size = found.size + skipped
        if word in {"since", "starting"} or (word == "from" and self._goes_on(at + size)):
            size += self._goes_on(at + size)
            return Span(found.start, None, size, found.assumed)
        if word == "from":
            return Span(found.start, found.end, size, found.assumed)
        if word == "after":
            return Span(found.end, None, size, found.assumed)
        end = found.start if word == "before" else found.end
        return Span(None, end, size, found.assumed)

    def _goes_on(self, at: int) -> int:
        """How many words say that a stretch has no end: "from 2010 on"."""
        return 1 if self._text(at) in {"on", "onward", "onwards"} else 0

    def point(self, at: int) -> Span | None:
        """A day, a month, a quarter or a year at this place."""
        if at >= len(self._tokens):
            return None
        found = self._day(at) or self._month(at) or self._quarter(at) or self._decade(at)
        return found or self._whole_year(at)

    def _decade(self, at: int) -> Span | None:
        """The 1970s."""
        match = _DECADE.fullmatch(self._text(at))
        if match is None:
            return None
        year = int(match.group(1))
        return Span(date(year, 1, 1), date(year + 10, 1, 1), 1)

    def _day(self, at: int) -> Span | None:
        text = self._text(at)
        if text in _DAYS:
            day = self._today + timedelta(days=_DAYS[text])
            return Span(day, day + timedelta(days=1), 1)
        if len(text) == 10 and _YEAR.match(text):
            try:
                day = date.fromisoformat(text)
            except ValueError:
                return None
            return Span(day, day + timedelta(days=1), 1)
        return self._spelled_day(at)

    def _spelled_day(self, at: int) -> Span | None:
        """March 5, 2013; 5 March 2013; 5th of March."""
        for month_at, day_at in ((at, at + 1), (at + 1, at), (at + 2, at)):
            month, day = self._month_number(self._text(month_at)), self._ordinal(day_at)
            if month is None or day is None or (month_at == at + 2 and self._text(at + 1) != "of"):
                continue
            after = max(month_at, day_at + self._ordinal_size(day_at) - 1) + 1
            year = self._year_at(after)
            chosen = year or self._year
            try:
                found = date(chosen or self._today.year, month, day)
            except ValueError:
                return None
            said = "" if chosen else f"I took the year {found.year}."
            return Span(found, found + timedelta(days=1), after - at + (year is not None), said)
        return None

    def _ordinal(self, at: int) -> int | None:
        match = re.fullmatch(r"(\d{1,2})", self._text(at))
        return int(match.group(1)) if match and 1 <= int(match.group(1)) <= 31 else None

    def _ordinal_size(self, at: int) -> int:
        return 2 if self._text(at + 1) in {"st", "nd", "rd", "th"} else 1

    def _month(self, at: int) -> Span | None:
        text = self._text(at)
        month = self._month_number(text)
        if month is None:
            return None
        skipped = 1 + (self._text(at + 1) in {"of", "in"})
        year = self._year_at(at + skipped)
        if year is not None:
            return Span(*_months(year, month, 1), skipped + 1)
        # "may" is a word too, and so is "mar"; alone only whole names count, and "may" not at all.
        if text not in _MONTHS or (text == "may" and self._text(at - 1) != "in"):
            return None
        last = self._today.year if month <= self._today.month else self._today.year - 1
        chosen = self._year or last
        said = "" if self._year else f"I took {text.capitalize()} of the year {chosen}."
        return Span(*_months(chosen, month, 1), 1, said)

    def _quarter(self, at: int) -> Span | None:
        text, following = self._text(at), self._text(at + 1)
        number, size = 0, 0
        if text == "q" and following in {"1", "2", "3", "4"}:
            number, size = int(following), 2
        elif re.fullmatch(r"q[1-4]", text):
            number, size = int(text[1]), 1
        elif following == "quarter" and text in _QUARTERS:
            number, size = _QUARTERS[text], 2
        if not number:
            return None
        size += self._text(at + size) in {"of", "in"}
        year = self._year_at(at + size)
        if year is None and self._text(at + size - 1) in {"of", "in"}:
            size -= 1
        chosen = year or self._year or self._today.year
        said = "" if year or self._year else f"I took quarter {number} of the year {chosen}."
        return Span(*_months(chosen, 3 * number - 2, 3), size + (year is not None), said)

    def _whole_year(self, at: int) -> Span | None:
        year = self._year_at(at)
        if year is not None:
            return Span(date(year, 1, 1), date(year + 1, 1, 1), 1)
        if self._text(at) == "year" and self._year_at(at + 1) is not None:
            year = self._year_at(at + 1) or 0
            return Span(date(year, 1, 1), date(year + 1, 1, 1), 2)
        return None

    def _year_at(self, at: int) -> int | None:
        text = self._text(at)
        return int(text) if _YEAR.fullmatch(text) else None

    @staticmethod
    def _month_number(text: str) -> int | None:
        return _MONTHS.index(text) + 1 if text in _MONTHS else _SHORT.get(text)

    def _relative(self, at: int) -> Span | None:
        """Last year, this month, the last 30 days, the year before."""
        word = self._text(at)
        if word not in {"last", "past", "this", "current", "previous", *_AHEAD}:
            return None
        number = self._tokens[at + 1].number if at + 1 < len(self._tokens) else None
        if isinstance(number, int) and 0 < number <= 1_000:
            unit = self._unit(at + 2)
            if unit and word in _AHEAD:
                return Span(self._today, shifted(self._today, unit, number), 3)
            start = shifted(self._today, unit, -number) if unit else None
            return None if start is None else Span(start, self._today + timedelta(days=1), 3)
        unit = self._unit(at + 1)
        if unit is None:
            return None
        back = -1 if word in _AHEAD else word not in {"this", "current"}
        return Span(*whole_unit(self._today, unit, back), 2)

    def _unit(self, at: int) -> str | None:
        word = self._tokens[at].word if at < len(self._tokens) else ""
        return word if word in _UNITS else None


def whole_unit(today: date, unit: str, back: int) -> tuple[date, date]:
    """The day, week, month, quarter or year that a day is in, or one so many before."""
    if unit == "day":
        day = today - timedelta(days=back)
        return day, day + timedelta(days=1)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return monday, monday + timedelta(days=7)
    size = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = today.year * 12 + (today.month - 1) // size * size - size * back
    return _months(first // 12, first % 12 + 1, size)


def shifted(day: date, unit: str, count: int) -> date:
    """The same day so many units later; the last of a month where that has no such day."""
    if unit in {"day", "week"}:
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    first = day.year * 12 + day.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    begin, end = _months(first // 12, first % 12 + 1, 1)
    return min(begin + timedelta(days=day.day - 1), end - timedelta(days=1))


def in_words(start: date | None, end: date | None) -> str:
    """A stretch of time as people say it: 2024, March 2024, since 2024-05-01."""
    if start is None or end is None:
        if start is None and end is None:
            return "any time"
        return f"since {start}" if start is not None else f"before {end}"
    if (start.month, start.day, end.month, end.day) == (1, 1, 1, 1):
        last = end.year - 1
        return str(start.year) if last == start.year else f"{start.year} to {last}"
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months == 1:
        return f"{start:%B %Y}"
    if start.day == end.day == 1 and months == 3 and start.month % 3 == 1:
        return f"Q{(start.month + 2) // 3} {start.year}"
    last_day = end - timedelta(days=1)
    return start.isoformat() if last_day == start else f"{start} to {last_day}"


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    ending = year * 12 + month - 1 + count
    return date(year, month, 1), date(ending // 12, ending % 12 + 1, 1)
