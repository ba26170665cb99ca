"""Key values in comparable form: a ladder of normalisations, from as written to bare letters and digits."""

from steward.core import Invalid

# From the mildest to the strongest; each does what the one before does, and more.
LADDER = ("exact", "trim", "case", "compact", "number")

MEANING = {
    "exact": "as written",
    "trim": "without spaces around",
    "case": "without spaces around, upper and lower case alike",
    "compact": "by letters and digits only, upper and lower case alike",
    "number": "by letters and digits only, without leading zeros",
}

# Spaces that people do not see: blank, tab, line ends, no-break and zero-width ones.
BLANKS = " \t\r\n\v\f\u00a0\u2007\u202f\u200b\u200c\u200d\u2060\ufeff"
_BLANKS_SQL = "chr(32) || " + " || ".join(f"chr({ord(blank)})" for blank in BLANKS[1:])

INTEGERS = frozenset(
    f"{sign}{size}"
    for sign in ("", "U")
    for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
FLOATS = frozenset(("FLOAT", "DOUBLE"))


def key_text(expression: str, type_name: str, normalisation: str = "exact") -> str:
    """SQL for the comparable text of a key value; null stays null.

    Whole numbers compare equal whatever type stores them: 7, 7.0 and '7' have the same text.
    """
    text = _plain_text(expression, type_name)
    if normalisation not in LADDER:
        raise Invalid(
            f"There is no key normalisation {normalisation!r}. Known: {', '.join(LADDER)}."
        )
    if normalisation == "exact":
        return text
    if type_name in INTEGERS:
        # The text of a whole number has no spaces, case or leading zeros to lose.
        return text
    trimmed = f"trim({text}, {_BLANKS_SQL})"
    if normalisation == "trim":
        return trimmed
    folded = f"lower(nfc_normalize({trimmed}))"
    if normalisation == "case":
        return folded
    compact = f"regexp_replace({folded}, '[^\\p{{L}}\\p{{N}}]+', '', 'g')"
    if normalisation == "compact":
        return compact
    # '0' itself keeps a digit: only zeros that something follows are dropped.
    return f"regexp_replace({compact}, '^0+(.)', '\\1')"


def _plain_text(expression: str, type_name: str) -> str:
    if type_name in FLOATS:
        whole = f"isfinite({expression}) AND {expression} = trunc({expression}) AND abs({expression}) < 1e15"
        return (
            f"CASE WHEN {whole} THEN CAST(CAST({expression} AS BIGINT) AS VARCHAR) "
            f"ELSE CAST({expression} AS VARCHAR) END"
        )
    if type_name.startswith("DECIMAL"):
        # Decimals print their scale; 7.00 is 7.
        return f"regexp_replace(CAST({expression} AS VARCHAR), '\\.0+$', '')"
    if type_name == "VARCHAR":
        return expression
    return f"CAST({expression} AS VARCHAR)"
