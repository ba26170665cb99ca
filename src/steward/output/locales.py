"""Numbers and dates as readers of a language write them, without a locale database."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import cache
from typing import NamedTuple

from steward.core import Invalid, Problem, package_yaml

NO_BREAK = "\u00a0"
MINUS = "\u2212"
# Wide enough for every DOUBLE and DECIMAL written out.
_WIDE = Context(prec=400)


@dataclass(frozen=True)
class Locale:
    """How one language writes numbers and dates; `{d}`, `{m}`, `{y}` and `{month}` stand in the patterns."""

    tag: str
    decimal: str
    group: str
    short_date: str
    long_date: str
    months: tuple[str, ...]
    currency_first: bool = False
    group_sizes: tuple[int, ...] = (3,)
    percent_space: str = NO_BREAK


class _Table(NamedTuple):
    locales: dict[str, Locale]
    by_language: dict[str, str]
    """The tag for each language, where a region is not listed."""
    currencies: dict[str, str]


@cache
def _table() -> _Table:
    read = package_yaml("steward.output", "locales.yaml")
    months = {name: tuple(words.split()) for name, words in read["months"].items()}
    locales = {}
    for each in read["locales"]:
        sizes = tuple(each.get("group_sizes", (3,)))
        locales[each["tag"]] = Locale(
            **{**each, "months": months[each["months"]], "group_sizes": sizes}
        )
    by_language = {tag.split("-")[0]: tag for tag in reversed(locales)}
    return _Table(locales, by_language, read["currencies"])


def locale(tag: str) -> Locale:
    """The locale of a tag such as `de-DE`; an unlisted region falls back to its language."""
    listed, by_language, _ = _table()
    found = listed.get(tag) or listed.get(by_language.get(tag.partition("-")[0].lower(), ""))
    if found is None:
        known = ", ".join(sorted(listed))
        message = f"No locale {tag[:20]!r}; choose one of {known}."
        raise Invalid(message, code="unknown-locale", problems=[Problem("/locale", message)])
    return found


def currency_symbol(code: str) -> str:
    """The sign of a currency, or its code where a sign would be ambiguous or unknown."""
    return _table().currencies.get(code, code)


def number(
    value: int | float | Decimal,
    where: Locale,
    *,
    decimals: int | None = None,
    grouped: bool = True,
) -> str:
    """A number with the locale's marks; without `decimals`, the shortest form that says it exactly."""
    exact = _as_decimal(value)
    if decimals is not None:
        exact = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=_WIDE)
    # Not abs(): it would round to 28 digits.
    text = format(exact.copy_abs(), "f")
    whole, _, fraction = text.partition(".")
    if decimals is None:
        fraction = fraction.rstrip("0")
    body = _grouped(whole, where) if grouped else whole
    if fraction:
        body = f"{body}{where.decimal}{fraction}"
    # A value that rounds to nothing has no sign.
    negative = exact < 0 and any(digit in "123456789" for digit in body)
    return f"{MINUS}{body}" if negative else body


def compact(value: int | float | Decimal, where: Locale) -> str:
    """A number for a label: three digits and k, M or bn from ten thousand on."""
    exact = _as_decimal(value)
    for power, mark in ((9, "bn"), (6, "M"), (3, "k")):
        if abs(exact) >= max(Decimal(10_000), Decimal(10) ** power):
            scaled = exact.scaleb(-power)
            whole = len(str(int(abs(scaled))))
            trimmed = scaled.quantize(Decimal(1).scaleb(-max(0, 3 - whole)), ROUND_HALF_UP)
            return f"{number(trimmed, where)}{mark}"
    places = 0 if abs(exact) >= 100 else 2
    return number(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP), where)


def percent(value: int | float | Decimal, where: Locale, *, decimals: int = 1) -> str:
    """A share, where 1 is the whole, as a percentage."""
    scaled = _as_decimal(value).scaleb(2, _WIDE)
    return f"{number(scaled, where, decimals=decimals)}{where.percent_space}%"


def currency(
    value: int | float | Decimal, where: Locale, code: str, *, decimals: int | None = 2
) -> str:
    body = number(value, where, decimals=decimals)
    sign, digits = (MINUS, body[1:]) if body.startswith(MINUS) else ("", body)
    symbol = currency_symbol(code)
    if not where.currency_first:
        return f"{sign}{digits}{NO_BREAK}{symbol}"
    glued = len(symbol) == 1 and where.tag.startswith(("en", "ja", "zh", "ko", "tr"))
    return f"{sign}{symbol}{'' if glued else NO_BREAK}{digits}"


def short_date(value: date, where: Locale) -> str:
    return where.short_date.format(d=value.day, m=value.month, y=value.year)


def long_date(value: date, where: Locale) -> str:
    return where.long_date.format(
        d=value.day, m=value.month, y=value.year, month=where.months[value.month - 1]
    )


def moment(value: datetime, where: Locale) -> str:
    """A date and time to the second (to the minute if it is whole); UTC where it has a zone."""
    shown = value.astimezone(UTC) if value.tzinfo is not None else value
    clock = f"{shown:%H:%M}" if shown.second == 0 else f"{shown:%H:%M:%S}"
    zone = " UTC" if value.tzinfo is not None else ""
    return f"{short_date(shown, where)} {clock}{zone}"


def vega_number_locale(where: Locale) -> dict[str, object]:
    """The definition that d3-format, inside Vega, takes."""
    return {
        "decimal": where.decimal,
        "thousands": where.group,
        "grouping": list(where.group_sizes) if len(where.group_sizes) == 1 else [3, 2, 2, 2, 2],
        "currency": ["", ""],
        "minus": MINUS,
    }


def vega_time_locale(where: Locale) -> dict[str, object]:
    """The definition that d3-time-format takes; weekdays stay English because our charts never print them."""
    days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    return {
        "dateTime": "%Y-%m-%d %H:%M:%S",
        "date": "%Y-%m-%d",
        "time": "%H:%M:%S",
        "periods": ["AM", "PM"],
        "days": days,
        "shortDays": [day[:3] for day in days],
        "months": list(where.months),
        "shortMonths": [month[:3] for month in where.months],
    }


def _as_decimal(value: int | float | Decimal) -> Decimal:
    try:
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation as problem:
        raise Invalid("A number could not be read.") from problem
    if not exact.is_finite():
        raise Invalid("Only finite numbers can be shown.")
    return exact


def _grouped(digits: str, where: Locale) -> str:
    sizes, end = where.group_sizes, len(digits)
    groups: list[str] = []
    while end > 0:
        size = sizes[min(len(groups), len(sizes) - 1)]
        groups.append(digits[max(0, end - size) : end])
        end -= size
    return where.group.join(reversed(groups))
