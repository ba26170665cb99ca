"""Whether the rows that an answer shows are the rows that were asked for."""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from itertools import permutations
from typing import Any

Row = Sequence[Any]
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})|-?Q([1-4]))?(?:-(\d{2}))?(?:[T ].*)?")
_MONTHS = "january february march april may june july august september october november december"
_MOST_COLUMNS = 12


def same_rows(
    expected: Sequence[Row], shown: Sequence[Row], *, in_all: int | None = None, ordered: bool
) -> bool:
    """Whether the shown rows contain the expected columns, under any name and in any order of columns.

    `in_all`: how many rows there are when only the first of them are shown; those must all be expected.
    """
    in_all = len(shown) if in_all is None else in_all
    if len(expected) != in_all or not shown:
        return not expected and not in_all
    if len(shown[0]) > _MOST_COLUMNS and len(expected[0]) > 3:
        shown = [row[:_MOST_COLUMNS] for row in shown]
    return any(
        _matches(expected, [[row[place] for place in places] for row in shown], ordered)
        for places in _placements(expected, shown)
    )


def _placements(expected: Sequence[Row], shown: Sequence[Row]) -> list[tuple[int, ...]]:
    """Which shown column could be which expected one, judged by the values of the first shown row."""
    found = []
    for places in permutations(range(len(shown[0])), len(expected[0])):
        first = [shown[0][place] for place in places]
        if any(_same_row(row, first) for row in expected):
            found.append(places)
    return found


def _matches(expected: Sequence[Row], shown: Sequence[Row], ordered: bool) -> bool:
    if ordered:
        return all(_same_row(*pair) for pair in zip(expected, shown, strict=False))
    left = list(expected)
    for row in shown:
        found = next((n for n, each in enumerate(left) if _same_row(each, row)), None)
        if found is None:
            return False
        del left[found]
    return True


def _same_row(expected: Row, shown: Row) -> bool:
    return all(same_value(*pair) for pair in zip(expected, shown, strict=True))


def same_value(expected: Any, shown: Any) -> bool:
    """Equal, or the same in another dress: 3 and "3.0", 2015-01-01 and "2015-01", true and "Yes"."""
    if expected is None or shown is None:
        return expected is None and shown in {None, ""}
    if isinstance(expected, bool):
        return _truth(shown) is expected
    if isinstance(expected, datetime):
        return same_value(expected.date(), shown)
    if isinstance(expected, date):
        return _same_period(expected, shown)
    if isinstance(expected, int | float | Decimal):
        return _same_number(expected, shown)
    if isinstance(expected, time):
        return str(shown).startswith(expected.isoformat("minutes"))
    return str(expected).strip().casefold() == str(shown).strip().casefold()


def _truth(shown: Any) -> bool | None:
    if isinstance(shown, int | float) and shown in {0, 1}:
        return bool(shown)
    return _WORDS.get(str(shown).casefold())


def _same_number(expected: int | float | Decimal, shown: Any) -> bool:
    value = _number(shown)
    if value is None:
        # A year or a month may be shown as a period or by its name.
        return expected in {_month(shown), _whole_year(shown)}
    wanted = float(expected)
    if isinstance(expected, int):
        return abs(value - wanted) < 1e-6 * max(1.0, abs(wanted))
    return math.isclose(value, wanted, rel_tol=1e-3, abs_tol=0.0051)


def _number(shown: Any) -> float | None:
    if isinstance(shown, bool):
        return None
    if isinstance(shown, int | float | Decimal):
        return float(shown)
    try:
        return float(str(shown).replace(",", "").rstrip("% "))
    except ValueError:
        return None


def _month(shown: Any) -> int | None:
    """The number of a month that is named."""
    text = str(shown).casefold()[:3]
    names = [name[:3] for name in _MONTHS.split()]
    return names.index(text) + 1 if text in names else None


def _period(shown: Any) -> date | None:
    """The first day of the year, quarter, month or day that a text names."""
    found = _PERIOD.fullmatch(str(shown).strip())
    if found is None:
        return None
    year, month, quarter, day = found.groups()
    number = int(quarter) * 3 - 2 if quarter else int(month or 1)
    try:
        return date(int(year), number, int(day or 1))
    except ValueError:
        return None


def _whole_year(shown: Any) -> int | None:
    period = _period(shown)
    return period.year if period and (period.month, period.day) == (1, 1) else None


def _same_period(expected: date, shown: Any) -> bool:
    if _period(shown) == expected:
        return True
    # Of one year, the number or name of the month or quarter says as much.
    number = _number(shown)
    if number is not None and expected.day == 1:
        return number in {expected.month, (expected.month + 2) / 3}
    return expected.day == 1 and _month(shown) == expected.month
