"""What a careful reader would say about a column or a table, in plain English."""

from collections.abc import Sequence

from steward.analysis.profile.results import AlikeColumns, ColumnProfile, Dates, Key, Missing, Text

_STORED_AS_TEXT = {
    "date_text": "Dates are stored as text; convert them to sort and compare them.",
    "number_text": "Numbers are stored as text; convert them to calculate with them.",
    "money_text": "Amounts of money are stored as text; convert them to calculate with them.",
    "percentage": "Percentages are stored as text; convert them to calculate with them.",
    "boolean_text": "Yes and no are stored as text; a boolean column is clearer.",
    "json": "The texts are JSON documents; their fields could be columns.",
}
_SENTINEL_DATES = ("1900-01-01", "1970-01-01", "9999-12-31", "2099-12-31", "1899-12-30")
_SENTINEL_NUMBERS = ("-1", "-9", "-99", "-999", "-9999", "999", "9999", "99999", "999999")


def rows_of(count: int, verb_of_one: str = "", verb_of_many: str = "") -> str:
    """`1 row holds` or `1,200 rows hold`."""
    said = f"1 row {verb_of_one}" if count == 1 else f"{count:,} rows {verb_of_many}"
    return said.strip()


def percent(share: float) -> str:
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{share:.1%}".replace("%", " %").replace(".0 ", " ")


def about_column(column: ColumnProfile) -> tuple[str, ...]:
    if column.rows == 0:
        return ("The table has no rows.",)
    if column.filled == 0:
        return ("Every row is null.",)
    said: list[str] = []
    if column.constant:
        said.append("Every row that has a value has the same one.")
    if column.nulls:
        verb = "is" if column.nulls == 1 else "are"
        said.append(f"{rows_of(column.nulls)} ({percent(column.null_share)}) {verb} null.")
    if not column.distinct_exact:
        said.append(
            f"About {column.distinct:,} distinct values: an estimate, within a few per cent."
        )
    if column.text is not None:
        said += _about_text(column, column.text)
    said += _about_numbers(column)
    if column.dates is not None:
        said += _about_dates(column, column.dates)
    for finding in column.pii:
        how = finding.where if finding.where != "column name" else "judging by the column's name"
        said.append(f"Personal data: {finding.label}, {how} ({finding.confidence} confidence).")
    return tuple(said)


def _about_text(column: ColumnProfile, text: Text) -> list[str]:
    said = []
    if text.empty:
        said.append(
            f"{rows_of(text.empty, 'holds', 'hold')} an empty text, which is not the same as null."
        )
    if text.blank:
        said.append(f"{rows_of(text.blank, 'holds', 'hold')} nothing but white space.")
    if text.padded:
        said.append(f"{rows_of(text.padded, 'begins or ends', 'begin or end')} with white space.")
    if text.placeholders:
        said.append(
            f"{rows_of(text.placeholders, 'holds', 'hold')} a placeholder such as N/A instead of null."
        )
    if text.spellings:
        noun = "value differs" if text.spellings == 1 else "values differ"
        said.append(f"{text.spellings} {noun} from another one only in case or spacing.")
    for meaning in column.meanings:
        if meaning.kind in _STORED_AS_TEXT:
            said.append(_STORED_AS_TEXT[meaning.kind])
        if meaning.share < 1 and meaning.kind not in {"category", "free_text"}:
            rest = percent(1 - meaning.share)
            said.append(f"Most values are of the kind {meaning.label}; {rest} of the rows are not.")
    if len(text.patterns) > 1 and text.patterns_exact and 0.95 <= text.patterns[0].share < 1:
        first = text.patterns[0]
        said.append(
            f"{percent(first.share)} of the rows look like {first.shape}; the others do not."
        )
    return said


def _about_numbers(column: ColumnProfile) -> list[str]:
    said = []
    number = column.number
    if number is not None and number.nan:
        said.append(f"{rows_of(number.nan, 'is', 'are')} not a number (NaN).")
    if number is not None and number.infinite:
        said.append(f"{rows_of(number.infinite, 'is', 'are')} infinite.")
    outliers = column.outliers
    if outliers is not None and outliers.rows:
        if outliers.share <= 0.05:
            said.append(
                f"{rows_of(outliers.rows, 'lies', 'lie')} far outside the rest "
                f"(below {outliers.lower} or above {outliers.upper})."
            )
        else:
            said.append(f"The values are skewed: {percent(outliers.share)} of them lie far out.")
        odd = [
            one
            for one in outliers.examples
            if one.value in _SENTINEL_NUMBERS and one.rows > 1 and number is not None
        ]
        said += [
            f"{one.value} occurs in {rows_of(one.rows)} and may stand for a missing value."
            for one in odd
        ]
    return said


def _about_dates(column: ColumnProfile, dates: Dates) -> list[str]:
    said = []
    if dates.missing:
        noun = dates.unit if dates.missing == 1 else f"{dates.unit}s"
        longest = dates.gaps[0]
        where = longest.first if longest.length == 1 else f"{longest.first} to {longest.last}"
        said.append(f"{dates.missing:,} {noun} without a row; the longest gap is {where}.")
    if dates.midnight_only:
        said.append("The time of day is always midnight; a date would do.")
    for one in column.top:
        day = one.value[:10]
        if day in _SENTINEL_DATES and one.rows > 1:
            said.append(f"{day} occurs in {rows_of(one.rows)} and may stand for a missing value.")
    return said


def about_table(
    columns: Sequence[ColumnProfile],
    keys: Sequence[Key],
    alike: Sequence[AlikeColumns],
    missing: Missing,
    duplicate_rows: int | None,
    rows: int,
) -> tuple[str, ...]:
    if rows == 0:
        return ("The table has no rows.",)
    said = []
    if keys:
        best = " and ".join(keys[0].columns)
        said.append(f"{best} identifies a row." if len(keys[0].columns) == 1 else
                    f"{best} together identify a row.")  # fmt: skip
    elif rows > 1:
        said.append("No column, and no two or three tried together, identify a row.")
    if duplicate_rows:
        said.append(f"{rows_of(duplicate_rows, 'repeats', 'repeat')} another row in full.")
    for pair in alike:
        where = "every row" if pair.relation == "equal" else f"{percent(pair.share)} of the rows"
        said.append(f"{pair.first} and {pair.second} are equal in {where}.")
    constant = [column.name for column in columns if column.constant]
    if constant and rows > 1:
        verb = "has" if len(constant) == 1 else "have"
        said.append(f"{', '.join(constant[:10])} {verb} one value only.")
    empty = [column.name for column in columns if column.filled == 0]
    if empty:
        verb = "is" if len(empty) == 1 else "are"
        said.append(f"{', '.join(empty[:10])} {verb} entirely null.")
    said += [
        f"{pair.first} and {pair.second} are mostly missing in the same rows."
        for pair in missing.pairs[:5]
        if pair.share >= 0.9
    ]
    personal = [column.name for column in columns if column.pii]
    if personal:
        said.append(f"Personal data in {', '.join(personal[:20])}.")
    return tuple(said)
