"""How a text becomes a typed value in SQL, and the test that the value holds exactly what stood there.

A reading has two expressions over a text: `value` (the typed value, null where it cannot be read)
and `fits` (whether that value keeps what the text says). Readings found from the data are strict:
`007` is no integer, `1.234` no `DECIMAL(…, 2)`. Readings a person declared may drop what does not
matter to the type (`007` is the integer 7) but never round.
"""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from steward.core import Invalid
from steward.tables import literal

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_PLAIN = ("BOOLEAN", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "VARCHAR", "UUID", "JSON")
_ZONED = "TIMESTAMP WITH TIME ZONE"
_SYNONYMS = {
    "TEXT": "VARCHAR",
    "STRING": "VARCHAR",
    "INT": "INTEGER",
    "LONG": "BIGINT",
    "BOOL": "BOOLEAN",
    "FLOAT8": "DOUBLE",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMPTZ": _ZONED,
    "NUMERIC": "DECIMAL",
}
_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)")

ISO = "ISO 8601"
_ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ISO_TIME = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
_UTC = "(Z|[+-]00(:?00)?)"
_ANY_OFFSET = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"

_DIRECTIVES: Mapping[str, str] = {
    "d": "[0-9]{1,2}",
    "m": "[0-9]{1,2}",
    "y": "[0-9]{2}",
    "Y": "[0-9]{4}",
    "b": "[A-Za-z]{3}",
    "B": "[A-Za-z]{3,9}",
    "a": "[A-Za-z]{3}",
    "A": "[A-Za-z]{6,9}",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,6}",
    "p": "[AaPp][Mm]",
    "z": "([+-][0-9]{2}(:?[0-9]{2})?|Z)",
    "j": "[0-9]{1,3}",
    "%": "%",
}


INFINITE = "[+-]?([Ii]nf(inity)?|INF(INITY)?)"
"""How programs print a number beyond all others; only a double holds it."""


@dataclass(frozen=True)
class Reading:
    type: str
    format: str | None = None
    decimal_mark: str | None = None
    thousands: str | None = None
    declared: bool = False
    rounded: bool = False
    """Whether more digits than a double holds may be dropped, as in numbers that a program printed in full."""


TEXT = Reading("VARCHAR")


def declared_reading(
    type_name: str,
    format: str | None = None,  # noqa: A002 - the word people use
    decimal_mark: str | None = None,
    thousands: str | None = None,
) -> Reading:
    """A reading a person asked for, by any usual name of the type."""
    name = " ".join(type_name.upper().split())
    name = _SYNONYMS.get(name, name)
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        width, scale = int(decimal[1]), int(decimal[2] or 0)
        if not 1 <= width <= 38 or scale > width:
            raise Invalid(f"{type_name!r} is out of range: DECIMAL goes up to 38 digits.")
        name = f"DECIMAL({width},{scale})"
    elif name == "DECIMAL":
        name = "DECIMAL(18,3)"
    elif name not in (*_INTEGERS, *_UNSIGNED, *_PLAIN, _ZONED):
        known = ", ".join((*_INTEGERS, *_UNSIGNED, *_PLAIN, _ZONED, "DECIMAL(width,scale)"))
        raise Invalid(f"{type_name!r} is no type a column can be read as; use one of {known}.")
    if format is not None:
        if name not in ("DATE", "TIME", "TIMESTAMP", _ZONED):
            raise Invalid(f"A format applies to dates and times, not to {name}.")
        format_pattern(format)
        letters = set(re.findall("%(.)", format))
        if (name == "DATE" and letters & set("HIMSfpz")) or (
            name == "TIME" and letters & set("dmyYbBjz")
        ):
            raise Invalid(f"The format {format!r} says more than a {name} can hold; use TIMESTAMP.")
    return Reading(name, format, decimal_mark, thousands, declared=True)


def format_pattern(format: str) -> str:  # noqa: A002
    """The regular expression of texts that have this strptime format, refusing unknown letters."""
    if format == ISO:
        return f"{_ISO_DATE}([T ]{_ISO_TIME})?"
    if not 2 <= len(format) <= 64:
        raise Invalid("A date format has between 2 and 64 characters, as in %d.%m.%Y.")
    pattern, position = "", 0
    while position < len(format):
        character = format[position]
        if character == "%":
            directive = format[position + 1 : position + 2]
            if directive not in _DIRECTIVES:
                raise Invalid(
                    f"The date format {format!r} has %{directive}, which is not understood; "
                    f"use {', '.join('%' + letter for letter in _DIRECTIVES)}."
                )
            pattern += _DIRECTIVES[directive]
            position += 2
        else:
            pattern += _escaped(character)
            position += 1
    return pattern


def value_sql(reading: Reading, text: str) -> str:
    """The typed value of `text`, an SQL expression of type VARCHAR."""
    kind = reading.type
    if kind == "VARCHAR":
        return text
    if kind == "BOOLEAN":
        return f"(lower({text}) IN {_words(_TRUE if reading.declared else ('true',))})"
    if kind == "JSON":
        return f"CASE WHEN json_valid({text}) THEN {text}::JSON END"
    if reading.format not in (None, ISO):
        parsed = f"try_strptime({text}, {literal(reading.format or '')})"
        return f"CAST({parsed} AS {kind})"
    if is_number(kind):
        return f"TRY_CAST({_plain_number(reading, text)} AS {kind})"
    return f"TRY_CAST({text} AS {kind})"


def fits_sql(reading: Reading, text: str, value: str | None = None) -> str:
    """Whether `text`, which is not null, is kept by its typed value; never null itself.

    `value` names the value where it has been computed already.
    """
    kind = reading.type
    value = value or value_sql(reading, text)
    if kind == "VARCHAR":
        return "TRUE"
    if kind == "BOOLEAN":
        words = (*_TRUE, *_FALSE) if reading.declared else ("true", "false")
        return f"(lower({text}) IN {_words(words)})"
    if kind in ("JSON", "UUID"):
        return f"({value} IS NOT NULL)"
    if reading.format not in (None, ISO):
        return f"({_matches(text, format_pattern(reading.format or ''))} AND {value} IS NOT NULL)"
    if kind in ("DATE", "TIME", "TIMESTAMP", _ZONED):
        return _moment_fits(reading, text, value)
    if kind == "DOUBLE":
        return _double_fits(reading, text, value)
    return _exact_number_fits(reading, text, value)


def kept_sql(reading: Reading, text: str, value: str) -> str:
    """The same for a text that may be null, which always fits.

    Printing back is quicker than a pattern and nearly always settles it, so it comes first. CASE, because
    DuckDB computes the rest of a CASE for the other rows alone, but both sides of an OR within it for all.
    """
    printed = _printed(reading, text, value)
    otherwise = f"({text} IS NULL OR {fits_sql(reading, text, value)})"
    return otherwise if printed is None else f"CASE WHEN {printed} THEN TRUE ELSE {otherwise} END"


def _printed(reading: Reading, text: str, value: str) -> str | None:
    """A quick test that settles most texts: true only where they fit; none if there is no such test."""
    kind = reading.type
    if kind == "BOOLEAN":
        return f"{text} IN ('true', 'false')"
    if reading.format not in (None, ISO) or (reading.declared and is_number(kind)):
        return None
    if kind == "TIME":
        return f"{value}::VARCHAR = {text}"
    if kind in ("DATE", "TIMESTAMP"):
        # An infinite date is a number like any other to whoever reads the Parquet file.
        return f"({value}::VARCHAR = {text} AND isfinite({value}))"
    if kind == "DOUBLE" or not is_number(kind) or not _plain_marks(reading):
        return None
    if not scale_of(kind):
        return f"{value}::VARCHAR = {text}"
    # All places are printed; a text that stops earlier says the same, unless it stops at the mark.
    return f"(starts_with({value}::VARCHAR, {text}) AND NOT ends_with({text}, '.'))"


def is_number(kind: str) -> bool:
    return kind in (*_INTEGERS, *_UNSIGNED, "DOUBLE") or kind.startswith("DECIMAL")


def scale_of(kind: str) -> int:
    decimal = _DECIMAL.fullmatch(kind)
    return int(decimal[2] or 0) if decimal else 0


_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")


def _words(words: tuple[str, ...]) -> str:
    return "(" + ", ".join(literal(word) for word in words) + ")"


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, {literal(pattern)})"


def _plain_marks(reading: Reading) -> bool:
    return reading.decimal_mark in (None, ".") and not reading.thousands


def _plain_number(reading: Reading, text: str) -> str:
    plain = _unadorned(text) if reading.declared else text
    if reading.thousands:
        plain = f"replace({plain}, {literal(reading.thousands)}, '')"
    if reading.decimal_mark not in (None, "."):
        plain = f"replace({plain}, {literal(reading.decimal_mark or '')}, '.')"
    return plain


def _unadorned(text: str) -> str:
    """A number without what people write around it: currencies, percent signs, brackets for minus."""
    bare = (
        f"regexp_replace(regexp_replace({text}, '[\\s\\p{{Sc}}%\u200e]+', '', 'g'), "
        f"'^([(+-]*)[A-Z]{{3}}|[A-Z]{{3}}([)-]*)$', '\\1\\2')"
    )
    minus = f"replace({bare}, '\u2212', '-')"
    return f"regexp_replace(regexp_replace({minus}, '^[(]([^()]*)[)]$', '-\\1'), '^([0-9.,]+)-$', '-\\1')"


def _moment_fits(reading: Reading, text: str, value: str) -> str:
    kind = reading.type
    pattern = {
        "DATE": _ISO_DATE,
        "TIME": _CLOCK,
        "TIMESTAMP": f"{_ISO_DATE}[T ]{_ISO_TIME}",
        _ZONED: f"{_ISO_DATE}[T ]{_ISO_TIME} ?{_ANY_OFFSET if reading.declared else _UTC}",
    }[kind]
    if reading.declared and kind == "TIMESTAMP":
        pattern = f"{_ISO_DATE}([T ]{_ISO_TIME})?"
    return _settled(reading, text, value, f"({_matches(text, pattern)} AND {value} IS NOT NULL)")


def _settled(reading: Reading, text: str, value: str, otherwise: str) -> str:
    printed = _printed(reading, text, value)
    return otherwise if printed is None else f"(coalesce({printed}, FALSE) OR {otherwise})"


def _double_fits(reading: Reading, text: str, value: str) -> str:
    """Fifteen digits always survive a double; longer ones when they print back the same."""
    plain = _plain_number(reading, text)
    shape = _matches(text, number_pattern(reading.decimal_mark, reading.thousands, exponent=True))
    if reading.declared:
        return f"(({shape} OR {_loose_shape(reading, text)}) AND isfinite({value}))"
    if reading.rounded:
        # Whole numbers are never rounded: their digits may be those of an identifier.
        printed = f"(strlen({plain}) <= 15 OR regexp_matches({plain}, '[.eE]'))"
        return f"coalesce({shape} AND isfinite({value}) AND {printed}, FALSE)"
    digits = f"ltrim(replace(split_part(lower({plain}), 'e', 1), '.', ''), '-0')"
    size = f"(abs({value}) BETWEEN 1e-290 AND 1e290 OR {digits} = '')"
    exact = f"({value}::VARCHAR = {plain} OR strlen({digits}) <= 15)"
    finite = f"coalesce({shape} AND isfinite({value}) AND {size} AND {exact}, FALSE)"
    return f"({finite} OR {_matches(text, INFINITE)})"


def _exact_number_fits(reading: Reading, text: str, value: str) -> str:
    scale = scale_of(reading.type)
    if reading.declared:
        return f"({_loose_shape(reading, text, scale)} AND {value} IS NOT NULL)"
    if not scale and _plain_marks(reading):
        return f"coalesce({value}::VARCHAR = {text}, FALSE)"
    shape = _matches(text, number_pattern(reading.decimal_mark, reading.thousands, scale))
    return _settled(reading, text, value, f"({shape} AND {value} IS NOT NULL)")


def _loose_shape(reading: Reading, text: str, scale: int | None = None) -> str:
    """Signs, leading zeros and zeros behind the last place are nothing a number type keeps."""
    text = _unadorned(text)
    mark = _escaped(reading.decimal_mark or ".")
    whole = "[0-9]+"
    if reading.thousands:
        comma = _escaped(reading.thousands)
        # Groups of two before the last one are usual in India.
        whole = f"([0-9]+|[0-9]{{1,3}}({comma}[0-9]{{2,3}})*{comma}[0-9]{{3}})"
    if scale is None:
        return _matches(text, f"[+-]?({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]+)?")
    fraction = f"({mark}[0-9]{{0,{scale}}}0*)?"
    return _matches(text, f"[+-]?({whole}{fraction}|{mark}[0-9]{{1,{max(scale, 1)}}}0*)")


def number_pattern(
    decimal_mark: str | None,
    thousands: str | None,
    scale: int | None = None,
    *,
    exponent: bool = False,
) -> str:
    """The strict shape of a number: no sign but minus, no leading zeros, groups of three."""
    mark = _escaped(decimal_mark or ".")
    places = "+" if scale is None else f"{{1,{max(scale, 1)}}}"
    whole = "0|[1-9][0-9]*"
    if thousands:
        whole += f"|[1-9][0-9]{{0,2}}({_escaped(thousands)}[0-9]{{3}})+"
    fraction = f"({mark}[0-9]{places})" if scale != 0 else ""
    power = "([eE][+-]?[0-9]{1,3})?" if exponent else ""
    if not fraction:
        return f"-?({whole})"
    return f"-?(({whole}){fraction}?|{fraction}){power}"


def _escaped(character: str | None) -> str:
    """A character as itself, in a pattern that RE2 and Python read alike."""
    if not character:
        return ""
    return (
        "\\" + character if character.isascii() and character in string.punctuation else character
    )
