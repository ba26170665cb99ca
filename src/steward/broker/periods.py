"""Days, weeks and months in which budgets hold: when one starts and when the next does, in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

Period = Literal["day", "week", "month"]
PERIOD_WORDS: Final[dict[str, str]] = {"day": "daily", "week": "weekly", "month": "monthly"}


def start_of(period: str, moment: datetime) -> datetime:
    """Midnight of the day, of the Monday, or of the first of the month."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case _:
            return day


def end_of(period: str, moment: datetime) -> datetime:
    """When the period of a moment is over and its budget starts again."""
    start = start_of(period, moment)
    # A month and a few days after its first is in the next month.
    longest = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=35)}
    return start_of(period, start + longest[period])
