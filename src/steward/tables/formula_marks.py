"""The apostrophe that keeps a spreadsheet from running a text: put on when a CSV is exported, taken off when one is read.

A text is marked if it begins, behind any apostrophes, with what a spreadsheet runs, and is no plain number. So a
marked text is told from one that had an apostrophe before: that one got a second.
"""

import re
from typing import Final

from steward.tables.table import literal

_RUNS: Final = "[\\s\\x00]*[=+\\-@\\t\\r\\n＝＋－＠]"
"""What a spreadsheet reads as a formula, also in full-width form; a line break or tab can hide one."""
_PLAIN: Final = "[+-]?[0-9]+([.,][0-9]+)?$"


_MARKED: Final = f"^'*{_RUNS}"
_NUMBER: Final = f"^'*{_PLAIN}"


def needs_mark(text: str) -> bool:
    """Whether a text gets an apostrophe on its way to a spreadsheet."""
    return bool(re.match(_MARKED, text)) and not re.match(_NUMBER, text)


def needs_mark_sql(text: str) -> str:
    return (
        f"(regexp_matches({text}, {literal(_MARKED)}) "
        f"AND NOT regexp_matches({text}, {literal(_NUMBER)}))"
    )


def without_mark(text: str) -> str:
    """The text that was marked; any other as it is."""
    return text[1:] if text.startswith("'") and needs_mark(text) else text


def without_mark_sql(text: str) -> str:
    # CASE, because DuckDB computes the rest of it for the few rows that begin with an apostrophe alone.
    return (
        f"CASE WHEN starts_with({text}, {literal(chr(39))}) THEN "
        f"CASE WHEN {needs_mark_sql(text)} THEN substr({text}, 2) ELSE {text} END ELSE {text} END"
    )
