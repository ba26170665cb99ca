"""Numbers and dates as readers of a language write them, without a locale database."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

from steward.core import Invalid, Problem

NO_BREAK = "\u00a0"
NARROW_NO_BREAK = "\u202f"
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


def _months(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ENGLISH = _months(
    "January February March April May June July August September October November December"
)
_GERMAN = _months(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
)
_FRENCH = _months(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
)
_SPANISH = _months(
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_ITALIAN = _months(
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
)
_PORTUGUESE = _months(
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
)
_DUTCH = _months(
    "januari februari maart april mei juni juli augustus september oktober november december"
)
_POLISH = _months(
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"
)
_SWEDISH = _months(
    "januari februari mars april maj juni juli augusti september oktober november december"
)
_DANISH = _months(
    "januar februar marts april maj juni juli august september oktober november december"
)
_NORWEGIAN = _months(
    "januar februar mars april mai juni juli august september oktober november desember"
)
_FINNISH = _months(
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta"
)
_CZECH = _months(
    "ledna února března dubna května června července srpna září října listopadu prosince"
)
_TURKISH = _months("Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık")
_NUMBERED = tuple(f"{number}" for number in range(1, 13))

_ALL = (
    Locale("en-GB", ".", ",", "{d:02}/{m:02}/{y:04}", "{d} {month} {y}", _ENGLISH, True, (3,), ""),
    Locale("en-US", ".", ",", "{m:02}/{d:02}/{y:04}", "{month} {d}, {y}", _ENGLISH, True, (3,), ""),
    Locale(
        "en-IN", ".", ",", "{d:02}/{m:02}/{y:04}", "{d} {month} {y}", _ENGLISH, True, (3, 2), ""
    ),
    Locale("de-DE", ",", ".", "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _GERMAN),
    Locale("de-AT", ",", ".", "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _GERMAN, True),
    Locale("de-CH", ".", "’", "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _GERMAN, True, (3,), ""),
    Locale("fr-FR", ",", NARROW_NO_BREAK, "{d:02}/{m:02}/{y:04}", "{d} {month} {y}", _FRENCH),
    Locale("es-ES", ",", ".", "{d:02}/{m:02}/{y:04}", "{d} de {month} de {y}", _SPANISH),
    Locale("it-IT", ",", ".", "{d:02}/{m:02}/{y:04}", "{d} {month} {y}", _ITALIAN, False, (3,), ""),
    Locale(
        "pt-PT",
        ",",
        NO_BREAK,
        "{d:02}/{m:02}/{y:04}",
        "{d} de {month} de {y}",
        _PORTUGUESE,
        False,
        (3,),
        "",
    ),
    Locale(
        "pt-BR",
        ",",
        ".",
        "{d:02}/{m:02}/{y:04}",
        "{d} de {month} de {y}",
        _PORTUGUESE,
        True,
        (3,),
        "",
    ),
    Locale("nl-NL", ",", ".", "{d:02}-{m:02}-{y:04}", "{d} {month} {y}", _DUTCH, True, (3,), ""),
    Locale(
        "pl-PL",
        ",",
        NO_BREAK,
        "{d:02}.{m:02}.{y:04}",
        "{d} {month} {y}",
        _POLISH,
        False,
        (3,),
        "",
    ),
    Locale("sv-SE", ",", NO_BREAK, "{y:04}-{m:02}-{d:02}", "{d} {month} {y}", _SWEDISH),
    Locale("da-DK", ",", ".", "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _DANISH),
    Locale("nb-NO", ",", NO_BREAK, "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _NORWEGIAN),
    Locale("fi-FI", ",", NO_BREAK, "{d}.{m}.{y:04}", "{d}. {month} {y}", _FINNISH),
    Locale("cs-CZ", ",", NO_BREAK, "{d:02}.{m:02}.{y:04}", "{d}. {month} {y}", _CZECH),
    Locale("tr-TR", ",", ".", "{d:02}.{m:02}.{y:04}", "{d} {month} {y}", _TURKISH, True, (3,), ""),
    Locale(
        "ja-JP", ".", ",", "{y:04}/{m:02}/{d:02}", "{y}年{month}月{d}日", _NUMBERED, True, (3,), ""
    ),
    Locale(
        "zh-CN", ".", ",", "{y:04}/{m:02}/{d:02}", "{y}年{month}月{d}日", _NUMBERED, True, (3,), ""
    ),
    Locale(
        "ko-KR",
        ".",
        ",",
        "{y:04}. {m:02}. {d:02}.",
        "{y}년 {month}월 {d}일",
        _NUMBERED,
        True,
        (3,),
        "",
    ),
    # For machines and mixed audiences: ISO dates, a point, thin spaces between thousands.
    Locale("iso", ".", NARROW_NO_BREAK, "{y:04}-{m:02}-{d:02}", "{y:04}-{m:02}-{d:02}", _NUMBERED),
)
LOCALES = {locale.tag: locale for locale in _ALL}
_BY_LANGUAGE = {tag.split("-")[0]: tag for tag in reversed(LOCALES)}

_SYMBOLS = {
    "EUR": "€",
    "USD": "$",
    "GBP": "£",
    "JPY": "¥",
    "CNY": "CN¥",
    "INR": "₹",
    "KRW": "₩",
    "PLN": "zł",
    "TRY": "₺",
    "CZK": "Kč",
    "BRL": "R$",
    "ILS": "₪",
}


def locale(tag: str) -> Locale:
    """The locale of a tag such as `de-DE`; an unlisted region falls back to its language."""
    found = LOCALES.get(tag) or LOCALES.get(_BY_LANGUAGE.get(tag.partition("-")[0].lower(), ""))
    if found is None:
        known = ", ".join(sorted(LOCALES))
        message = f"No locale {tag[:20]!r}; choose one of {known}."
        raise Invalid(message, code="unknown-locale", problems=[Problem("/locale", message)])
    return found


def currency_symbol(code: str) -> str:
    """The sign of a currency, or its code where a sign would be ambiguous or unknown."""
    return _SYMBOLS.get(code, code)


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
