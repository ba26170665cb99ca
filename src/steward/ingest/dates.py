"""Date and time formats that a text may have, and which of them agree with a whole column."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from steward.ingest.readings import ISO, Reading
from steward.ingest.texts import Evidence

ZONED = "TIMESTAMP WITH TIME ZONE"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"

DATE_LIKE = (
    "(?i)(?:[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"
    f"|[0-9]{{1,2}}[-. ]{{1,2}}{_MONTH}[-., ]{{1,2}}[0-9]{{2,4}}"
    f"|{_MONTH} [0-9]{{1,2}},? [0-9]{{4}})"
    "(?:[T, ]{1,2}[0-9].{0,24})?"
)
"""What is worth trying as a date; RE2 and Python read it alike."""

_TIME = re.compile(r"^(.*?\S)(T|, | )(\d{1,2}:\d{2}(?::\d{2}(\.\d{1,6})?)?)( ?)([AaPp][Mm])?$")
_ZONE = re.compile(
    r"^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(?:Z|[+-]\d{2}(?::?\d{2})?)$"
)
_YEAR_FIRST = re.compile(r"^\d{4}([-/.])\d{1,2}\1\d{1,2}$")
_YEAR_LAST = re.compile(r"^\d{1,2}([-/.])\d{1,2}\1(\d{4}|\d{2})$")
_NAMED_MONTH = (
    (re.compile(r"^\d{1,2}([-. ])[A-Za-z]{3}\1\d{4}$"), "%d{0}%b{0}%Y"),
    (re.compile(r"^\d{1,2}([-. ])[A-Za-z]{3}\1\d{2}$"), "%d{0}%b{0}%y"),
    (re.compile(r"^\d{1,2}( )[A-Za-z]{3,9} \d{4}$"), "%d %B %Y"),
    (re.compile(r"^\d{1,2}(\. )[A-Za-z]{3,9} \d{4}$"), "%d. %B %Y"),
    (re.compile(r"^[A-Za-z]{3}( )\d{1,2}, \d{4}$"), "%b %d, %Y"),
    (re.compile(r"^[A-Za-z]{3,9}( )\d{1,2}, \d{4}$"), "%B %d, %Y"),
)
_MOST = 24


def possible_readings(values: Iterable[str]) -> tuple[Reading, ...]:
    """Every reading that some of these values could have, in a fixed order."""
    found: dict[Reading, None] = {}
    for value in values:
        for reading in _readings_of(value):
            found.setdefault(reading)
        if len(found) >= _MOST:
            break
    return tuple(found)[:_MOST]


def _readings_of(value: str) -> list[Reading]:
    if _ZONE.match(value):
        return [Reading(ZONED, ISO)]
    timed = _TIME.match(value)
    if not timed:
        return [
            Reading("DATE", ISO if known == "%Y-%m-%d" and len(value) == 10 else known)
            for known in _date_formats(value)
        ]
    date, joint, clock, fraction, gap, half = timed.groups()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", date) and joint in "T " and not half:
        return [Reading("TIMESTAMP", ISO)]
    hours = "%I" if half else "%H"
    seconds = ":%S" if clock.count(":") == 2 else ""
    places = ".%f" if fraction else ""
    tail = f"{hours}:%M{seconds}{places}" + (f"{gap}%p" if half else "")
    return [Reading("TIMESTAMP", f"{known}{joint}{tail}") for known in _date_formats(date)]


def _date_formats(value: str) -> list[str]:
    year_first = _YEAR_FIRST.match(value)
    if year_first:
        mark = year_first[1]
        return [f"%Y{mark}%m{mark}%d"]
    year_last = _YEAR_LAST.match(value)
    if year_last:
        mark, year = year_last[1], "%Y" if len(year_last[2]) == 4 else "%y"
        return [f"%d{mark}%m{mark}{year}", f"%m{mark}%d{mark}{year}"]
    return [
        known.format(match[1]) for shape, known in _NAMED_MONTH if (match := shape.match(value))
    ]


@dataclass(frozen=True)
class Choice:
    """The reading that holds a column's dates, or why there is none."""

    reading: Reading | None
    code: str
    rivals: tuple[Reading, ...] = ()


def choose(fits: Mapping[Reading, int], fitting_any: int, values: int, allowed: int) -> Choice:
    """Picks the one reading that fits everything that is a date at all."""
    whole = [
        reading
        for reading, count in fits.items()
        if count == fitting_any and count >= values - allowed
    ]
    if not fitting_any or not whole:
        return Choice(None, "no-format", tuple(reading for reading, n in fits.items() if n))
    if any("%y" in (reading.format or "") for reading in whole):
        return Choice(None, "two-digit-year", tuple(whole))
    orders = {order(reading.format) for reading in whole}
    if len(orders) > 1:
        return Choice(None, "ambiguous-date", tuple(whole))
    return Choice(whole[0], "format")


def likely(
    rivals: Sequence[Reading], evidence: Evidence, one_day: Reading | None
) -> tuple[Reading, str]:
    """The likelier of several readings that hold every date, and why."""
    by_order = {order(reading.format): reading for reading in reversed(rivals)}
    if len(by_order) == 1:
        return rivals[0], "no other format holds every value"
    day, month = by_order["dm"], by_order["md"]
    if evidence.day_first is not None:
        return (day if evidence.day_first else month), evidence.order_reason
    if one_day is not None:
        return one_day, "every date is then the same day of its month"
    if "/" in (day.format or ""):
        return month, "no day above 12 appears, and dates with slashes mostly begin with the month"
    return day, "no day above 12 appears, and dates like these mostly begin with the day"


_SHOWN = {
    "%d": "day", "%m": "month", "%Y": "year", "%y": "year", "%b": "month", "%B": "month", "%H": "hour",
    "%I": "hour", "%M": "minute", "%S": "second", "%f": "fraction", "%p": "AM/PM",
}  # fmt: skip


def shown(known: str | None) -> str:
    """A format as people say it: `day.month.year`."""
    text = known or ISO
    for directive, word in _SHOWN.items():
        text = text.replace(directive, word)
    return text


def order(known: str | None) -> str:
    """The order of day and month, which is all that two readings of one text can differ in."""
    if known is None or known == ISO:
        return "md"
    return "".join("m" if letter in "mbB" else "d" for letter in re.findall("%([dmbB])", known))
