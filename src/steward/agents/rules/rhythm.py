"""How often something is wanted: "every Monday at 8", "daily at 7:30"."""

import calendar
import re
from dataclasses import dataclass
from typing import Final, Literal

_DAYS: Final = tuple(name.casefold() for name in calendar.day_name)
_RHYTHM: Final = re.compile(
    rf"""\b(?:(?:every|each)\s+(?P<of>{"|".join(_DAYS)}|weekday|day|week|month)|(?P<adverb>daily|weekly|monthly))s?\b
    (?:,?\s+at\s+(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?\s*(?P<half>am|pm|o'clock)?\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
_ADVERBS: Final = {"daily": "day", "weekly": "week", "monthly": "month"}


@dataclass(frozen=True)
class Rhythm:
    every: Literal["day", "weekday", "week", "month"]
    weekday: str
    """Of a week: its number as cron counts, Sunday 0."""
    time: str
    said: str
    """As the person wrote it."""


def rhythm_in(message: str) -> Rhythm | None:
    """The rhythm that a message names: with a day of the week or a time, because "every month" can also be a group."""
    for match in _RHYTHM.finditer(message[:2_000]):
        of = (match["of"] or _ADVERBS[match["adverb"].casefold()]).casefold()
        hour = int(match["hour"] or 8) + 12 * ((match["half"] or "").casefold() == "pm")
        if (match["hour"] is None and of not in _DAYS) or hour > 23:
            continue
        weekday = str((_DAYS.index(of) + 1) % 7) if of in _DAYS else "1"
        return Rhythm(
            every="week" if of in _DAYS else of,  # type: ignore[arg-type]
            weekday=weekday,
            time=f"{hour:02}:{match['minute'] or '00'}",
            said=match[0].strip(),
        )
    return None
