"""Pieces of query plans: columns, dates that are written as text, comparisons, tests."""

import re
from calendar import day_name, month_name
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from steward.agents.asking.tokens import NOTHING, name_words
from steward.analysis.clean import country_of
from steward.definitions import ColumnFacts

Piece = dict[str, Any]
_SPELLED: Final = re.compile(r"[A-Z][a-z]{2} \d{1,2} \d{4}")
_MONTHS: Final = (
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
)
_A_MONDAY: Final = date(1, 1, 1)
_DAY_FIRST: Final = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}")


def column(name: str) -> Piece:
    return {"column": name}


def value(given: Any) -> Piece:
    return {"value": {"date": given.isoformat()} if isinstance(given, date) else given}


def call(function: str, *args: Piece) -> Piece:
    return {"function": function, "args": list(args)}


def compared(left: Piece, sign: str, right: Piece) -> Piece:
    return {"left": left, "compare": sign, "right": right}


def day_of(facts: ColumnFacts, name: str) -> Piece:
    """A column as dates; text is read in the ways in which its values are written."""
    here = column(name)
    if facts.is_time:
        return here
    if any(_SPELLED.fullmatch(each.strip()) for each in facts.values):
        return _spelled_day(call("trim", here))
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


def _spelled_day(text: Piece) -> Piece:
    """ "Jan 1 2000" as a date."""
    size = call("length", text)

    def from_end(count: int) -> Piece:
        return {"op": "-", "args": [size, value(count)]}

    year = call("substring", text, from_end(3), value(4))
    day = call("trim", call("substring", text, value(5), from_end(8)))
    name = call("substring", text, value(1), value(3))
    cases = [
        {"when": compared(name, "=", value(month)), "then": value(f"{number:02d}")}
        for number, month in enumerate(_MONTHS, 1)
    ]
    month = {"case": cases, "otherwise": value(None)}
    written = {"op": "||", "args": [year, value("-"), month, value("-"), day]}
    return {"cast": written, "to": "date"}


def number_of(name: str) -> Piece:
    """A column of text as numbers; what people write for nothing is nothing."""
    trimmed = call("trim", column(name))
    nothing = {"among": [value(each) for each in NOTHING], "of": call("upper", trimmed)}
    empty = {"when": nothing, "then": value(None)}
    return {"cast": {"case": [empty], "otherwise": trimmed}, "to": "number"}


def is_empty(facts: ColumnFacts, name: str) -> Piece:
    """Nothing there, or what people write for nothing."""
    null: Piece = {"is_null": column(name)}
    if facts.kind != "text":
        return null
    known = {each.strip().upper() for each in facts.values}
    written = [each for each in NOTHING if each in known]
    if "country" in facts.meanings:
        written = [each for each in written if each != "NA"]
    if not written:
        return null
    return {"any": [null, among(call("upper", call("trim", column(name))), written, negate=False)]}


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


def time_part(part: str, facts: ColumnFacts, name: str) -> tuple[Piece, dict[int, str]]:
    """The number of a part of time that comes again, and how its numbers are called; an hour has no name."""
    if part == "hour of the day":
        return call("hour", column(name)), {}
    day = day_of(facts, name)
    if part == "month of the year":
        return call("month", day), {at: month_name[at] for at in range(1, 13)}
    since = call("date_diff", value("day"), value(_A_MONDAY), day)
    return {"op": "%", "args": [since, value(7)]}, dict(enumerate(day_name))


def within(facts: ColumnFacts, name: str, start: str | None, end: str | None) -> list[Piece]:
    """From a day on, up to but without another; over a column of years by the years."""
    years = facts.kind == "number"
    here = column(name) if years else day_of(facts, name)

    def bound(text: str) -> Piece:
        return value(int(text[:4]) if years else date.fromisoformat(text))

    if years and start and end and int(end[:4]) - int(start[:4]) == 1:
        return [compared(here, "=", bound(start))]
    found = []
    if start is not None:
        found.append(compared(here, ">=", bound(start)))
    if end is not None:
        found.append(compared(here, "<", bound(end)))
    return found


def equal(facts: ColumnFacts, name: str, wanted: Sequence[Any], *, negate: bool = False) -> Piece:
    """The column has one of these values, however they are spelled in the data."""
    if facts.kind != "text":
        return among(column(name), list(wanted), negate)
    texts = [str(each) for each in wanted]
    texts = [spelling for text in texts for spelling in spellings(facts, text)]
    known = set(facts.values)
    if facts.spellings == 0 and all(text in known for text in texts):
        return among(column(name), texts, negate)
    folded = call("lower", call("trim", column(name)))
    return among(folded, list(dict.fromkeys(text.strip().lower() for text in texts)), negate)


def spellings(facts: ColumnFacts, text: str) -> list[str]:
    """The ways in which a column writes a value: one of a country, several."""
    is_country = "country" in facts.meanings or "country" in name_words(facts.name)
    wanted = country_of(text) if is_country else None
    if wanted is None:
        return [text]
    known = [each for each in facts.values if country_of(each) == wanted]
    # Of a column that nobody profiled no value is known: any way to write the country will do.
    return known or [wanted.alpha2, wanted.alpha3, wanted.name, *wanted.others]


def among(left: Piece, wanted: list[Any], negate: bool) -> Piece:
    if len(wanted) == 1:
        return compared(left, "!=" if negate else "=", value(wanted[0]))
    found: Piece = {"among": [value(each) for each in wanted], "of": left}
    return {**found, "negate": True} if negate else found
