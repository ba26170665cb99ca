"""Periods to choose from: years that a column has rows of, usual stretches up to today, and a year or month that is typed."""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from steward.agents.asking.periods import Calendar, in_words
from steward.agents.asking.reading import ColumnRef, Period, Reading
from steward.agents.asking.tokens import tokens_of
from steward.definitions import DatasetFacts

_MOST_YEARS: Final = 12
_YEAR: Final = re.compile(r"\d{4}")
_MONTH: Final = re.compile(r"(\d{4})-(\d{1,2})")


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
    found = _typed(search, today) if search.strip() else _usual(first, last, today)
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


def _typed(search: str, today: date) -> Iterator[tuple[str, date, date]]:
    """What a question would mean by the same words; of a year, its months too."""
    tokens = tokens_of(_MONTH.sub(_as_named, search.strip()))
    span = Calendar(tokens, today).point(0) if tokens else None
    if span is None or span.assumed or span.size != len(tokens) or not (span.start and span.end):
        return
    yield in_words(span.start, span.end), span.start, span.end
    if _YEAR.fullmatch(search.strip()):
        for month in range(1, 13):
            begin = date(span.start.year, month, 1)
            yield f"{begin:%B %Y}", begin, _month_after(begin, 1)


def _as_named(month: re.Match[str]) -> str:
    """2024-03 as March 2024."""
    number = int(month[2])
    return f"{month_name[number]} {month[1]}" if 1 <= number <= 12 else month[0]


def _month_after(month: date, count: int) -> date:
    number = month.year * 12 + month.month - 1 + count
    return date(number // 12, number % 12 + 1, 1)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
