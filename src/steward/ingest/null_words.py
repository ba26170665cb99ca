"""Words that people write where there is no value."""

from typing import Final

NULL_WORDS: Final = (
    "NA", "N/A", "n/a", "na", "#N/A", "#NA", "NULL", "Null", "null", "None", "none", "NONE", "nil", "NIL", "NaN",
    "nan", "NAN", "-", "--", "---", "–", "—", ".", "..", "...", "…", "?", "*", "\\N", "(null)", "<NA>", "missing",
    "Missing", "n.a.", "N.A.", "#DIV/0!", "#REF!", "#VALUE!", "#NULL!", "#NUM!", "#NAME?", "1.#QNAN", "-1.#IND",
)  # fmt: skip
"""Usual in files of spreadsheets, databases, R, pandas and statistical offices."""

_KNOWN: Final = frozenset(NULL_WORDS)


def is_null_word(cell: str) -> bool:
    return cell in _KNOWN
