"""Dates written in many ways, read without guessing."""

from dataclasses import dataclass
from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.operations.spaces import trimmed
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.clean.steps import Steps
from steward.core import Invalid
from steward.tables import Change, Table, literal

Order = Literal["auto", "day first", "month first"]
Output = Literal["auto", "typed", "text"]

# Month names in English, German, French, Spanish, Italian and Dutch, without accents.
_MONTHS = (
    "january jan januar janvier janv enero ene gennaio gen januari",
    "february feb februar fevrier fevr fev febrero febbraio febr februari",
    "march mar marz maerz mrz mars marzo maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei",
    "june jun juni juin junio giugno giu",
    "july jul juli juillet juil julio luglio lug",
    "august aug aout agosto ago augustus",
    "september sep sept septembre septiembre settembre set",
    "october oct oktober okt octobre octubre ottobre ott",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre dic dicembre",
)
_POINT = r"\."
_WORDS = {word: number for number, line in enumerate(_MONTHS, 1) for word in line.split(" ")}
_TIME = r"[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?: ?[AaPp]\.?[Mm]\.?)?$"


class ParseDates(Arguments):
    columns: list[str] = Field(min_length=1, description="Text columns with dates.")
    order: Order = Field("auto", description="How 03/04/2024 reads; auto decides from the column.")
    two_digit_years: bool = Field(True, description="Read 24 as 2024 and 87 as 1987.")
    output: Output = Field(
        "auto", description="typed: dates, refused if any fails; text: ISO; auto: typed if all fit."
    )


@operation("parse_dates", "Read dates", ParseDates)
def parse_dates(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: ParseDates
) -> Change:
    """Reads dates and times in ISO, numeric and named-month forms (six languages).

    `03/04/2024` is read only when it is certain which number is the day: because the order is given, because other
    values of the column (such as 25/04/2024) settle it, or because points separate the numbers (day first
    everywhere). Otherwise the value stays as it is and is counted. Times with a zone are left alone.
    """
    edits, warnings = [], []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        steps = Steps(table, index)
        reading = Reading.of(steps, value(name), arguments.two_digit_years)
        seen = _seen(connection, table, steps, reading)
        order = arguments.order if arguments.order != "auto" else seen.order
        if arguments.order == "auto" and seen.day_first and seen.month_first:
            warnings.append(
                f"{name!r} has values that can only be day first and values that can only be month first; "
                "those that could be either stay as they are."
            )
        edits.append(_edit(name, reading, order, seen, arguments.output, steps))
    return cell_change(connection, table, "parse_dates", arguments, edits, "Reads dates", warnings)


@dataclass(frozen=True)
class Reading:
    """The ways to read one column, as SQL over the row: certain dates, both orders of numbers, the time of day."""

    old: str
    certain: str
    day_first: str
    month_first: str
    time: str
    timed: str

    @classmethod
    def of(cls, steps: Steps, old: str, two_digit_years: bool = True) -> "Reading":
        text = steps.one(trimmed(old))
        day, timed, clock = steps.add(
            f"regexp_replace({text}, '{_TIME}', '')",
            f"regexp_matches({text}, '{_TIME}')",
            f"upper(regexp_extract({text}, '{_TIME}'))",
        )
        certain, first, second, time = steps.add(
            f"coalesce({_iso(day)}, {_named(day)}, {_numeric(day, _POINT, 'day first', two_digit_years)})",
            _numeric(day, "[/-]", "day first", two_digit_years),
            _numeric(day, "[/-]", "month first", two_digit_years),
            _time(clock),
        )
        return cls(old, certain, first, second, time, timed)

    def day(self, order: Order) -> str:
        """The date, or null where it is not certain."""
        if order == "day first":
            return f"coalesce({self.certain}, {self.day_first})"
        if order == "month first":
            return f"coalesce({self.certain}, {self.month_first})"
        first, second = self.day_first, self.month_first
        either = f"CASE WHEN {first} IS NULL OR {second} IS NULL OR {first} = {second} THEN coalesce({first}, {second}) END"
        return f"coalesce({self.certain}, {either})"

    def moment(self, order: Order) -> str:
        """Date and time; a date alone is its midnight, a time that is none makes the whole null."""
        return (
            f"({self.day(order)} + CASE WHEN {self.timed} THEN {self.time} ELSE TIME '00:00' END)"
        )


@dataclass(frozen=True)
class Seen:
    """What a column holds: values, those that settle the order, and those read under either order."""

    filled: int
    day_first: int
    month_first: int
    read: dict[Order, int]
    timed: int

    @property
    def order(self) -> Order:
        if self.day_first and not self.month_first:
            return "day first"
        return "month first" if self.month_first and not self.day_first else "auto"


def _seen(
    connection: duckdb.DuckDBPyConnection, table: Table, steps: Steps, reading: Reading
) -> Seen:
    orders: tuple[Order, ...] = ("auto", "day first", "month first")
    first, second = reading.day_first, reading.month_first
    terms = [
        f"count({reading.old})",
        f"count(*) FILTER ({first} IS NOT NULL AND {second} IS NULL)",
        f"count(*) FILTER ({second} IS NOT NULL AND {first} IS NULL)",
        *(f"count({reading.moment(order)})" for order in orders),
        f"count(*) FILTER ({reading.timed} AND {reading.time} IS NOT NULL)",
    ]
    rows = steps.over(f"{table.source} AS s")
    found = connection.execute(f"SELECT {', '.join(terms)} FROM {rows}").fetchone()
    numbers = [int(number) for number in found or (0,) * len(terms)]
    read = dict(zip(orders, numbers[3:6], strict=True))
    return Seen(numbers[0], numbers[1], numbers[2], read, numbers[6])


def _edit(
    name: str, reading: Reading, order: Order, seen: Seen, output: Output, steps: Steps
) -> Edit:
    missed = seen.filled - seen.read[order]
    if output == "typed" and missed:
        raise Invalid(
            f"{missed:,} values of {name!r} are not dates that can be read with certainty. "
            "Give the order of day and month, correct them, or take the output 'text'."
        )
    moment = reading.moment(order)
    failed = f"{value(name)} IS NOT NULL AND {moment} IS NULL"
    if not missed and output != "text" and seen.filled:
        typed = moment if seen.timed else reading.day(order)
        return Edit(name, typed, "read as date", failed, steps=steps)
    shape = literal("%Y-%m-%d %H:%M:%S" if seen.timed else "%Y-%m-%d")
    expression = f"coalesce(strftime({moment}, {shape}), {value(name)})"
    return Edit(name, expression, "written as ISO date", failed, steps=steps)


def _time(clock: str) -> str:
    bare = f"regexp_replace({clock}, '^[T ,]+|\\.(?:M)', '', 'g')"
    plain = f"trim(regexp_replace({bare}, '([AP])\\.?M?\\.?$', ' \\1M'))"
    formats = "['%H:%M:%S.%f', '%H:%M:%S', '%H:%M', '%I:%M:%S %p', '%I:%M %p']"
    return f"CAST(try_strptime(nullif(regexp_replace({plain}, ' +', ' ', 'g'), ''), {formats}) AS TIME)"


def _iso(text: str) -> str:
    numeric = r"^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$"
    compact = r"^((?:19|20)\d{2})(\d{2})(\d{2})$"
    return (
        f"TRY_CAST(CASE WHEN regexp_matches({text}, '{numeric}') "
        f"THEN regexp_replace({text}, '{numeric}', '\\1-\\2-\\3') "
        f"WHEN regexp_matches({text}, '{compact}') "
        f"THEN regexp_replace({text}, '{compact}', '\\1-\\2-\\3') END AS DATE)"
    )


def _numeric(text: str, separator: str, order: Order, two_digit_years: bool) -> str:
    day, month = (1, 2) if order == "day first" else (2, 1)
    head = rf"^(\d{{1,2}}){separator}(\d{{1,2}}){separator}"
    written = f"\\{month}-\\{day}"
    cases = [(rf"{head}(\d{{4}})$", f"\\3-{written}")]
    if two_digit_years:
        cases.append((rf"{head}([0-6]\d)$", f"20\\3-{written}"))
        cases.append((rf"{head}([7-9]\d)$", f"19\\3-{written}"))
    whens = " ".join(
        f"WHEN regexp_matches({text}, '{pattern}') THEN regexp_replace({text}, '{pattern}', '{result}')"
        for pattern, result in cases
    )
    return f"TRY_CAST(CASE {whens} END AS DATE)"


def _named(text: str) -> str:
    """`5 March 2024`, `5. März 2024`, `March 5th, 2024`, `5-Mar-2024`."""
    plain = f"lower(strip_accents({text}))"
    has_letters = f"regexp_matches({text}, '\\p{{L}}{{3,}}')"
    words = ", ".join(literal(word) for word in _WORDS)
    numbers = ", ".join(str(number) for number in _WORDS.values())
    month = f"map([{words}], [{numbers}])[regexp_extract({plain}, '[a-z]{{3,}}')]"
    first = r"^(\d{1,2})(?:st|nd|rd|th|\.)?[ -]*(?:de |of )?[a-z]{3,}\.?,?[ -]*(?:de )?(\d{4})$"
    last = r"^[a-z]{3,}\.?[ -]*(\d{1,2})(?:st|nd|rd|th)?,?[ -]+(\d{4})$"
    cases = " ".join(
        f"WHEN {has_letters} AND regexp_matches({plain}, '{pattern}') "
        f"THEN regexp_replace({plain}, '{pattern}', '\\2-') || {month} || regexp_replace({plain}, '{pattern}', '-\\1')"
        for pattern in (first, last)
    )
    return f"TRY_CAST(CASE {cases} END AS DATE)"
