"""Numbers written for people: thousands, decimal comma, currencies, accountants' parentheses."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.operations.spaces import SPACE
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.clean.steps import Steps
from steward.core import Invalid
from steward.tables import Change, Table

Mark = Literal["auto", ",", "."]
Output = Literal["auto", "typed", "text"]
Percent = Literal["refuse", "points", "fraction"]

_SIGNS = "€$£¥₹₽₺₩₫₴₦₪₱฿"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|AUD|CAD|NZD|INR|BRL|ZAR|RUB|UAH|MXN"
_SHORT = r"Fr\.?|kr\.?|zł|Kč|Ft|lei|R\$|US\$|A\$|C\$"
_MONEY = f"(?:[{_SIGNS}]|{_CODES}|{_SHORT})"
_MAX_DIGITS = 38


class ParseNumbers(Arguments):
    columns: list[str] = Field(min_length=1, description="Text columns with numbers.")
    decimal: Mark = Field("auto", description="The decimal mark; auto decides from the column.")
    percent: Percent = Field("refuse", description="What 12 % becomes: nothing, 12 or 0.12.")
    output: Output = Field(
        "auto",
        description="typed: numbers, refused if any fails; text: plain; auto: typed if all fit.",
    )


@operation("parse_numbers", "Read numbers", ParseNumbers)
def parse_numbers(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: ParseNumbers
) -> Change:
    """Reads numbers with thousands marks, decimal comma or point, currency signs and codes, and (1,234) for -1,234.

    `1,234` is read only when the decimal mark is certain: because it is given or because other values of the column
    (such as 1.234,50 or 0,5) settle it. Otherwise the value stays as it is and is counted.
    """
    edits, warnings = [], []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        steps = Steps(table, index)
        core = _core(steps, value(name), arguments.percent)
        mark = arguments.decimal
        comma, point = _evidence(connection, table, steps, core)
        if mark == "auto" and bool(comma) != bool(point):
            mark = "," if comma else "."
        if mark == "auto" and comma and point:
            warnings.append(
                f"{name!r} has values with a decimal comma and values with a decimal point; "
                "those that could be either stay as they are."
            )
        plain = _plain(steps, value(name), core, mark, arguments.percent)
        edits.append(_edit(connection, table, name, plain, arguments.output, steps))
    what = "Reads numbers"
    return cell_change(connection, table, "parse_numbers", arguments, edits, what, warnings)


_PLAIN = r"\d+"
_SPACED = r"\d{1,3}(?:[ ''’]\d{3})+(?:[.,]\d+)?"
# 1.234.567,89 and 1.234,5 and 1.234.567: points can only separate thousands.
_POINT_GROUPS = r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"
_COMMA_GROUPS = r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}"
# A single mark is decimal unless exactly three digits follow up to three that do not start with 0.
_COMMA_DECIMAL = r"\d*,(?:\d{1,2}|\d{4,})|\d{4,},\d{3}|0\d*,\d{3}|,\d{3}"
_POINT_DECIMAL = r"\d*\.(?:\d{1,2}|\d{4,})|\d{4,}\.\d{3}|0\d*\.\d{3}|\.\d{3}"
_EITHER_COMMA = r"[1-9]\d{0,2},\d{3}"
_EITHER_POINT = r"[1-9]\d{0,2}\.\d{3}"


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, '{pattern}')"


def _core(steps: Steps, old: str, percent: Percent) -> str:
    """Digits and marks only, without sign, currency and per cent; other texts come out unreadable."""
    bare = steps.one(f"regexp_replace({old}, '{SPACE}+', ' ', 'g')")
    bare = f"trim(regexp_replace({bare}, '^ ?{_MONEY} ?| ?{_MONEY} ?$', '', 'gi'))"
    bare = f"regexp_replace({bare}, '^\\((.*)\\)$', '\\1')"
    bare = f"regexp_replace({bare}, '^[-+−] ?| ?[-−]$', '', 'g')"
    # The sign may stand before the currency: -€5.
    bare = f"trim(regexp_replace({bare}, '^ ?{_MONEY} ?| ?{_MONEY} ?$', '', 'gi'))"
    if percent != "refuse":
        bare = f"regexp_replace({bare}, ' ?%$', '')"
    core = steps.one(bare)
    spaces = f"regexp_replace({core}, '[ ''’]', '', 'g')"
    return steps.one(f"CASE WHEN {_matches(core, _SPACED)} THEN {spaces} ELSE {core} END")


def _plain(steps: Steps, old: str, core: str, mark: Mark, percent: Percent) -> str:
    """The number in plain form, as in `-1234.5`; null where it cannot be read with certainty."""
    cases = [
        (_PLAIN, core),
        (_POINT_GROUPS, f"replace(replace({core}, '.', ''), ',', '.')"),
        (_COMMA_GROUPS, f"replace({core}, ',', '')"),
        (_COMMA_DECIMAL, f"replace({core}, ',', '.')"),
        (_POINT_DECIMAL, core),
    ]
    if mark == ",":
        cases += [
            (_EITHER_COMMA, f"replace({core}, ',', '.')"),
            (_EITHER_POINT, f"replace({core}, '.', '')"),
        ]
    if mark == ".":
        cases += [(_EITHER_COMMA, f"replace({core}, ',', '')"), (_EITHER_POINT, core)]
    whens = " ".join(f"WHEN {_matches(core, pattern)} THEN {result}" for pattern, result in cases)
    digits = steps.one(f"CASE {whens} END")
    digits, negative = steps.add(
        f"regexp_replace(regexp_replace({digits}, '^0+(\\d)', '\\1'), '^\\.', '0.')",
        f"regexp_matches(trim({old}), '^\\(.*\\)$|^[-−]|[-−]$|^{_MONEY} ?(?:[-−]|\\(.*\\)$)|[-−] ?{_MONEY}$')",
    )
    signed = steps.one(
        f"CASE WHEN {negative} AND regexp_matches({digits}, '[1-9]') THEN '-' ELSE '' END || {digits}"
    )
    if percent != "fraction":
        return signed
    # More than 24 digits before the point are no percentage.
    small = f"regexp_full_match({signed}, '-?\\d{{1,24}}(?:\\.\\d{{1,12}})?')"
    hundredth = f"CAST(TRY_CAST({signed} AS DECIMAL(38,12)) * 0.01 AS VARCHAR)"
    trimmed = f"regexp_replace(regexp_replace({hundredth}, '(\\.\\d*?)0+$', '\\1'), '\\.$', '')"
    is_percent = f"regexp_matches({old}, '%')"
    return steps.one(f"CASE WHEN NOT {is_percent} THEN {signed} WHEN {small} THEN {trimmed} END")


def _evidence(
    connection: duckdb.DuckDBPyConnection, table: Table, steps: Steps, core: str
) -> tuple[int, int]:
    """How many values can only have a decimal comma, and how many only a decimal point."""
    comma = f"{_matches(core, _POINT_GROUPS)} OR {_matches(core, _COMMA_DECIMAL)}"
    point = f"{_matches(core, _COMMA_GROUPS)} OR {_matches(core, _POINT_DECIMAL)}"
    row = connection.execute(
        f"SELECT count(*) FILTER ({comma}), count(*) FILTER ({point}) FROM {steps.over(f'{table.source} AS s')}"
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _edit(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    name: str,
    plain: str,
    output: Output,
    steps: Steps,
) -> Edit:
    row = connection.execute(
        f"SELECT count({value(name)}), count({plain}), max(length(regexp_extract({plain}, '\\.(\\d+)$', 1))), "
        f"max(length(regexp_extract({plain}, '^-?(\\d+)', 1))) FROM {steps.over(f'{table.source} AS s')}"
    ).fetchone()
    filled, read, decimals, whole = (int(number or 0) for number in row or (0, 0, 0, 0))
    if output == "typed" and read < filled:
        raise Invalid(
            f"{filled - read:,} values of {name!r} are not numbers that can be read with certainty. "
            "Give the decimal mark, correct them, or take the output 'text'."
        )
    failed = f"{value(name)} IS NOT NULL AND {plain} IS NULL"
    if read == filled and filled and output != "text" and decimals + whole <= _MAX_DIGITS:
        target = _type(whole, decimals)
        return Edit(
            name, f"CAST({plain} AS {target})", "read as number", failed, steps=steps, shown=plain
        )
    expression = f"coalesce({plain}, {value(name)})"
    return Edit(name, expression, "written as plain number", failed, steps=steps)


def _type(whole: int, decimals: int) -> str:
    """The type that holds the numbers exactly; money must not be rounded."""
    if decimals == 0:
        return "BIGINT" if whole <= 18 else "HUGEINT"
    return f"DECIMAL({18 if whole + decimals <= 18 else 38},{decimals})"
