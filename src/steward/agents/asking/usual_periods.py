"""Periods to choose from: years that a column has rows of, usual stretches up to today, and a year or month that is typed."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from steward.agents.asking.reading import ColumnRef, Period, Reading
from steward.definitions import DatasetFacts

_MOST_YEARS: Final = 12
_YEAR: Final = re.compile(r"\d{4}")
_MONTH: Final = re.compile(r"(\d{4})-(\d{1,2})")
_NAMED: Final = re.compile(r"([A-Za-z]{3,})\s+(\d{4})")
_QUARTER: Final = re.compile(r"[Qq]([1-4])\s+(\d{4})")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)


def periods_of(
    reading: Reading, column: str, search: str, datasets: Mapping[str, DatasetFacts], today: date
) -> Iterator[Period]:
    """Periods of a time column that `search` names, or those that people usually want."""
    dataset = datasets.get(reading.table)
    facts = dataset.column(column) if dataset is not None else None
    if facts is not None and facts.kind == "number":
        # Years as numbers are compared as conditions.
        return
    first, last = (_day(facts.first), _day(facts.last)) if facts is not None else (None, None)
    found = _typed(search) if search.strip() else _usual(first, last, today)
    for said, start, end in found:
        yield Period(
            column=ColumnRef(column=column), start=start.isoformat(), end=end.isoformat(), said=said
        )


def _usual(first: date | None, last: date | None, today: date) -> Iterator[tuple[str, date, date]]:
    if last is not None and first is not None:
        years = range(last.year, max(first.year, last.year - _MOST_YEARS) - 1, -1)
        for year in years:
            yield str(year), date(year, 1, 1), date(year + 1, 1, 1)
    month = today.replace(day=1)
    yield "this year", date(today.year, 1, 1), date(today.year + 1, 1, 1)
    yield "last year", date(today.year - 1, 1, 1), date(today.year, 1, 1)
    yield "this month", month, _month_after(month, 1)
    yield "last month", _month_after(month, -1), month
    yield "last 12 months", _month_after(month, -12), month


def _typed(search: str) -> Iterator[tuple[str, date, date]]:
    text = search.strip()
    if _YEAR.fullmatch(text) and int(text) > 0:
        year = int(text)
        yield text, date(year, 1, 1), date(min(year + 1, 9999), 1, 1)
        for month in range(1, 13):
            begin = date(year, month, 1)
            yield f"{begin:%B %Y}", begin, _month_after(begin, 1)
        return
    found = _MONTH.fullmatch(text)
    month = int(found[2]) if found else 0
    year = int(found[1]) if found else 0
    if named := _NAMED.fullmatch(text):
        wanted = named[1].casefold()
        month = next((at for at, name in enumerate(_MONTHS, 1) if name.startswith(wanted)), 0)
        year = int(named[2])
    if 1 <= month <= 12 and 0 < year < 9999:
        begin = date(year, month, 1)
        yield f"{begin:%B %Y}", begin, _month_after(begin, 1)
    if (quarter := _QUARTER.fullmatch(text)) and 0 < int(quarter[2]) < 9999:
        begin = date(int(quarter[2]), int(quarter[1]) * 3 - 2, 1)
        yield f"Q{quarter[1]} {quarter[2]}", begin, _month_after(begin, 3)


def _month_after(month: date, count: int) -> date:
    number = month.year * 12 + month.month - 1 + count
    return date(number // 12, number % 12 + 1, 1)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
