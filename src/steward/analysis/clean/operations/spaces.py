"""Spaces: around texts and within them."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.registry import Arguments, operation
from steward.tables import Change, Table

# All that looks like a space or like nothing: separators, controls and zero-width characters.
SPACE = r"[\s\p{Z}\x{200b}-\x{200d}\x{2060}\x{feff}]"


# The same without line ends.
INLINE = r"[\t\f\v\p{Zs}\x{200b}-\x{200d}\x{2060}\x{feff}]"


class Spaces(Arguments):
    columns: list[str] | None = Field(None, description="Text columns; all of them when left out.")


class CollapseSpaces(Spaces):
    lines: Literal["keep", "join"] = Field("keep", description="Whether texts keep their lines.")


@operation("trim", "Trim", Spaces)
def trim(connection: duckdb.DuckDBPyConnection, table: Table, arguments: Spaces) -> Change:
    """Removes spaces around texts, among them tabs, line ends, no-break and zero-width spaces.

    A text of nothing but spaces becomes the empty text, not a missing value.
    """
    edits = [
        Edit(name, trimmed(value(name)), "spaces around removed")
        for name in text_columns(table, arguments.columns)
    ]
    return cell_change(connection, table, "trim", arguments, edits, "Removes spaces around texts")


@operation("collapse_spaces", "Collapse spaces", CollapseSpaces)
def collapse_spaces(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: CollapseSpaces
) -> Change:
    """Removes spaces around texts and turns every run of spaces within them into a single one.

    Lines stay lines, without spaces at their ends, unless they are to be joined.
    """
    edits = [
        Edit(name, collapsed(value(name), arguments.lines), "runs of spaces made single")
        for name in text_columns(table, arguments.columns)
    ]
    what = "Makes runs of spaces single"
    return cell_change(connection, table, "collapse_spaces", arguments, edits, what)


def trimmed(expression: str) -> str:
    return f"regexp_replace({expression}, '^{SPACE}+|{SPACE}+$', '', 'g')"


def collapsed(expression: str, lines: str = "join") -> str:
    if lines == "join":
        return trimmed(f"regexp_replace({expression}, '{SPACE}+', ' ', 'g')")
    single = f"regexp_replace({expression}, '{INLINE}+', ' ', 'g')"
    return trimmed(f"regexp_replace({single}, ' ?(\\r?\\n|\\r) ?', '\\1', 'g')")
