"""Values as the reader writes them: dates, numbers, money and shares of a result, column by column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from steward.core import Invalid
from steward.output import locales
from steward.runs import Json

Writer = Callable[[Any, Mapping[str, Any]], str]
"""A cell of a column, with its whole row by names of columns."""

_PLAIN: Final = frozenset(
    {*("id", "no", "number", "code", "year", "month", "quarter", "week", "day", "hour"),
     *("zip", "postcode", "key", "version")}
)  # fmt: skip
"""Whole numbers with such names count nothing: 2025 is a year and not 2,025."""
_UNITS: Final = frozenset({"day", "week", "month", "quarter", "year"})
_TIMES: Final = ("DATE", "TIMESTAMP")
_MONEY_DECIMALS: Final = 2
_MOST_DECIMALS: Final = 4
_SMALL: Final = Decimal("0.01")


@dataclass(frozen=True)
class Amount:
    """What the amounts of a column are in: one currency, or the one that stands in each row."""

    column: str
    """The column of currencies."""
    code: str | None = None


class Writing:
    """How one reader wants values; nobody knows their locale: ISO dates and English marks."""

    def __init__(
        self,
        tag: str | None = None,
        amounts: Mapping[str, Amount] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> None:
        """`units` by column: a currency's code, or what is written behind the number."""
        self._marks = known_locale(tag) or locales.locale("en-GB")
        self._dates = known_locale(tag)
        self._amounts = amounts or {}
        self._units = units or {}

    def with_units(self, units: Mapping[str, str]) -> "Writing":
        """The same for a result whose columns have these units."""
        copy = Writing(None, self._amounts, {**self._units, **units})
        copy._marks, copy._dates = self._marks, self._dates
        return copy

    def currency_column(self, name: str) -> str | None:
        """The column that says the currency of each row, for a column of amounts in more than one, or in nobody knows which."""
        amount = self._amounts.get(name)
        return amount.column if amount is not None and amount.code is None else None

    def number(self, value: int | float) -> str:
        """A number by itself, exactly."""
        return locales.number(value, self._marks)

    def rows(self, columns: Sequence[Json], rows: Sequence[Any]) -> list[list[str]]:
        """Every cell as text, in the order of the columns."""
        names = [_name(each) for each in columns]
        records = [_record(row, names) for row in rows]
        writers = [
            self._writer(name, _type(column), [record.get(name) for record in records])
            for name, column in zip(names, columns, strict=True)
        ]
        return [
            [
                "" if record.get(name) is None else write(record[name], record)
                for name, write in zip(names, writers, strict=True)
            ]
            for record in records
        ]

    def _writer(self, name: str, kind: str, cells: Sequence[Any]) -> Writer:
        given = [cell for cell in cells if cell is not None]
        if kind.startswith(_TIMES):
            return self._time_writer(name, given)
        if kind == "BOOLEAN":
            return lambda cell, _: "yes" if cell is True else "no" if cell is False else str(cell)
        numbers = [_number(cell) for cell in given]
        if not given or any(number is None for number in numbers) or not _is_number(kind, given):
            return lambda cell, _: str(cell)
        return self._number_writer(name, [each for each in numbers if each is not None])

    # Numbers

    def _number_writer(self, name: str, numbers: Sequence[Decimal]) -> Writer:
        words = name.casefold().replace("_", " ").split()
        whole = all(number == number.to_integral_value() for number in numbers)
        if whole and words and words[-1] in _PLAIN:
            return lambda cell, _: str(cell)
        if "share" in words and all(0 <= number <= 1 for number in numbers):
            return lambda cell, _: locales.percent(_sure(cell), self._marks)
        places = _places(numbers)

        def write(cell: Any, record: Mapping[str, Any]) -> str:
            number = _sure(cell)
            code = self._currency(name, record)
            if code is not None:
                return locales.currency(number, self._marks, code, decimals=_MONEY_DECIMALS)
            written = locales.number(number, self._marks, decimals=places)
            unit = self._units.get(name, "")
            if unit == "%":
                return f"{written}{self._marks.percent_space}%"
            return f"{written}{locales.NO_BREAK}{unit}" if unit else written

        return write

    def _currency(self, name: str, record: Mapping[str, Any]) -> str | None:
        unit = self._units.get(name)
        if _is_code(unit):
            return unit
        amount = self._amounts.get(name)
        if amount is None or unit:
            return None
        code = record.get(amount.column, amount.code)
        return code if _is_code(code) else None

    # Times

    def _time_writer(self, name: str, cells: Sequence[Any]) -> Writer:
        moments = [_moment(cell) for cell in cells]
        if any(moment is None for moment in moments):
            return lambda cell, _: str(cell)
        found = [moment for moment in moments if moment is not None]
        days = all((each.hour, each.minute, each.second) == (0, 0, 0) for each in found)
        unit = name.casefold().split(" of ")[0]
        if days and unit in _UNITS and all(_begins(each, unit) for each in found):
            return lambda cell, _: self._period(_at(cell), unit)
        if days:
            return lambda cell, _: self.day(_at(cell).date())
        return lambda cell, _: self._time(_at(cell))

    def day(self, value: date) -> str:
        return value.isoformat() if self._dates is None else locales.short_date(value, self._dates)

    def _period(self, moment: datetime, unit: str) -> str:
        """A whole month is told as such and not as its first day."""
        if unit == "year":
            return str(moment.year)
        if unit == "quarter":
            return f"Q{(moment.month + 2) // 3} {moment.year}"
        if unit == "month":
            if self._dates is None or self._dates.months[0].isdigit():
                return f"{moment.year}-{moment.month:02}"
            return f"{self._dates.months[moment.month - 1]} {moment.year}"
        return self.day(moment.date())

    def _time(self, moment: datetime) -> str:
        if self._dates is not None:
            return locales.moment(moment, self._dates)
        shown = moment.astimezone(UTC) if moment.tzinfo is not None else moment
        clock = f"{shown:%H:%M}" if shown.second == 0 else f"{shown:%H:%M:%S}"
        return f"{shown:%Y-%m-%d} {clock}" + (" UTC" if moment.tzinfo is not None else "")


def known_locale(tag: str | None) -> locales.Locale | None:
    """The locale of a tag; None where nobody said or nobody knows it."""
    try:
        return locales.locale(tag) if tag else None
    except Invalid:
        return None


def _name(column: Json) -> str:
    return str(column.get("name", "")) if isinstance(column, Mapping) else str(column)


def _type(column: Json) -> str:
    return str(column.get("type", "")).upper() if isinstance(column, Mapping) else ""


def _record(row: Any, names: Sequence[str]) -> dict[str, Any]:
    return dict(row) if isinstance(row, Mapping) else dict(zip(names, row, strict=False))


def _is_number(kind: str, cells: Sequence[Any]) -> bool:
    """By the column's type; by its cells where a result has no types. Text stays as it is."""
    if kind:
        plain = kind.partition("(")[0].strip()
        return plain in {"FLOAT", "DOUBLE", "REAL", "DECIMAL"} or "INT" in plain
    return all(isinstance(cell, int | float) for cell in cells)


def _number(cell: Any) -> Decimal | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = Decimal(str(cell))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _sure(cell: Any) -> Decimal:
    number = _number(cell)
    return Decimal(0) if number is None else number


def _places(numbers: Sequence[Decimal]) -> int | None:
    """Decimals that a whole column is told with: two, none where all are whole, more where all are tiny."""
    if all(number == number.to_integral_value() for number in numbers):
        return 0
    tiny = all(abs(number) < _SMALL for number in numbers)
    return _MOST_DECIMALS + 2 if tiny else _MONEY_DECIMALS


def _is_code(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 3 and value.isalpha() and value.isupper()


def _moment(cell: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(cell) if isinstance(cell, str) else None
    except ValueError:
        return None


def _at(cell: Any) -> datetime:
    return datetime.fromisoformat(str(cell))


def _begins(moment: datetime, unit: str) -> bool:
    if unit == "month":
        return moment.day == 1
    if unit == "quarter":
        return moment.day == 1 and moment.month % 3 == 1
    if unit == "year":
        return (moment.day, moment.month) == (1, 1)
    return True
