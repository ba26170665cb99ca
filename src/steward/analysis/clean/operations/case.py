"""Upper and lower case."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.registry import Arguments, operation
from steward.tables import Change, Table

Style = Literal["lower", "upper", "title", "sentence"]

# A word keeps its apostrophes, so that "o'neil" is one and "can't" does not become "Can'T".
_WORDS = r"[\p{L}\p{M}\p{N}''’]+|[^\p{L}\p{M}\p{N}''’]+"
_DOUBLE_CAPITAL = r"^\p{L}[''’]\p{L}"


class Case(Arguments):
    columns: list[str] | None = Field(None, description="Text columns; all of them when left out.")
    style: Style = Field("lower", description="title: Every Word; sentence: Only the first.")


@operation("case", "Change case", Case)
def case(connection: duckdb.DuckDBPyConnection, table: Table, arguments: Case) -> Change:
    """Writes texts in lower case, upper case, title case or sentence case.

    Title case raises the first letter of each word and, in names such as O'Neil, the one after the apostrophe.
    """
    edits = [
        Edit(name, cased(value(name), arguments.style), f"{arguments.style} case")
        for name in text_columns(table, arguments.columns)
    ]
    what = f"Writes texts in {arguments.style} case"
    return cell_change(connection, table, "case", arguments, edits, what)


def cased(expression: str, style: Style) -> str:
    if style == "lower":
        return f"lower({expression})"
    if style == "upper":
        return f"upper({expression})"
    if style == "sentence":
        return f"upper({expression}[1:1]) || lower({expression}[2:])"
    raised = (
        f"CASE WHEN regexp_matches(w, '{_DOUBLE_CAPITAL}') "
        "THEN upper(w[1:1]) || w[2:2] || upper(w[3:3]) || w[4:] ELSE upper(w[1:1]) || w[2:] END"
    )
    return (
        f"CASE WHEN {expression} = '' THEN '' ELSE array_to_string(list_transform("
        f"regexp_extract_all(lower({expression}), '{_WORDS}'), lambda w: {raised}), '') END"
    )
