"""Pieces of query plans: columns, dates that are written as text, comparisons, tests."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from steward.agents.rules.asking import name_words
from steward.agents.rules.periods import Period
from steward.data.clean.countries import country_of
from steward.definitions import ColumnFacts

Piece = dict[str, Any]
_DAY_FIRST: Final = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}")


def column(name: str) -> Piece:
    return {"column": name}


def value(given: Any) -> Piece:
    return {"value": {"date": given.isoformat()} if isinstance(given, date) else given}


def call(function: str, *args: Piece) -> Piece:
    return {"function": function, "args": list(args)}


def compared(left: Piece, sign: str, right: Piece) -> Piece:
    return {"left": left, "compare": sign, "right": right}


def day_of(facts: ColumnFacts, name: str | None = None) -> Piece:
    """A column as dates; text is read in the ways in which its values are written."""
    here = column(name or facts.name)
    if facts.is_time:
        return here
    head = call("substring", call("trim", here), value(1), value(10))

    def part(start: int, length: int) -> Piece:
        return call("substring", head, value(start), value(length))

    def joined(*parts: Piece) -> Piece:
        return {"op": "||", "args": [parts[0], value("-"), parts[1], value("-"), parts[2]]}

    dotted = {
        "when": {"matches": "contains", "of": head, "text": "."},
        "then": joined(part(7, 4), part(4, 2), part(1, 2)),
    }
    empty = {"when": compared(head, "=", value("")), "then": value(None)}
    cases = [empty, dotted]
    order = slash_order(facts.values)
    if order is not None:
        day, month = (part(1, 2), part(4, 2)) if order == "day" else (part(4, 2), part(1, 2))
        slashed = {"matches": "contains", "of": head, "text": "/"}
        cases.append({"when": slashed, "then": joined(part(7, 4), month, day)})
    return {"cast": {"case": cases, "otherwise": head}, "to": "date"}


def slash_order(values: Sequence[str]) -> str | None:
    """Whether 03/04/2024 has the day or the month first, where values above 12 tell."""
    seen = [match for text in values if (match := _DAY_FIRST.match(text.strip()))]
    day_first = any(int(match.group(1)) > 12 for match in seen)
    month_first = any(int(match.group(2)) > 12 for match in seen)
    if day_first == month_first:
        return None
    return "day" if day_first else "month"


def truncated(unit: str, day: Piece) -> Piece:
    return call("year", day) if unit == "year" else call("date_trunc", value(unit), day)


def within(period: Period, day: Piece) -> list[Piece]:
    found = []
    if period.start is not None:
        found.append(compared(day, ">=", value(period.start)))
    if period.end is not None:
        found.append(compared(day, "<", value(period.end)))
    return found


def equal(facts: ColumnFacts, wanted: Sequence[Any], *, negate: bool = False) -> Piece:
    """The column has one of these values, however they are spelled in the data."""
    if facts.kind in {"number", "boolean"}:
        return _among(column(facts.name), list(wanted), negate)
    texts = [str(each) for each in wanted]
    if "country" in facts.meanings or "country" in name_words(facts.name):
        texts = [spelling for text in texts for spelling in _spellings(facts, text)]
    known = set(facts.values)
    if facts.spellings == 0 and all(text in known for text in texts):
        return _among(column(facts.name), texts, negate)
    plain = call("lower", call("trim", column(facts.name)))
    return _among(plain, list(dict.fromkeys(text.strip().lower() for text in texts)), negate)


def _spellings(facts: ColumnFacts, text: str) -> list[str]:
    wanted = country_of(text)
    if wanted is None:
        return [text]
    known = [each for each in facts.values if country_of(each) == wanted]
    # Of a column that nobody profiled no value is known: any way to write the country will do.
    return known or [wanted.alpha2, wanted.alpha3, wanted.name, *wanted.others]


def _among(left: Piece, wanted: list[Any], negate: bool) -> Piece:
    if len(wanted) == 1:
        return compared(left, "!=" if negate else "=", value(wanted[0]))
    found: Piece = {"among": [value(each) for each in wanted], "of": left}
    return {**found, "negate": True} if negate else found
