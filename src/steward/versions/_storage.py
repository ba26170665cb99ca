"""How DuckDB types are kept in Parquet without losing anything, and the names Steward keeps for itself.

DuckDB writes some types to Parquet with a loss (HUGEINT becomes DOUBLE, INTERVAL is cut to milliseconds, TIMETZ
loses its zone). Those are stored as text, which casts back exactly.
"""

import re
from collections.abc import Sequence
from typing import Final

from steward.core import Invalid
from steward.tables import Column, quote
from steward.versions._manifest import Layout, StoredColumn

PREFIX: Final = "__steward_"
SEGMENT: Final = f"{PREFIX}segment"
POSITION: Final = f"{PREFIX}position"
ROW: Final = f"{PREFIX}row"
GONE: Final = f"{PREFIX}gone"
KEY: Final = f"{PREFIX}key"

MAX_COLUMNS: Final = 4_096
MAX_NAME: Final = 200

# A data column of such a name would hide what `read_parquet` says about the file itself.
_SHADOWING: Final = {"filename", "file_index", "file_row_number", "rowid"}
_KEPT_AS: Final = {
    **dict.fromkeys(("HUGEINT", "UHUGEINT", "INTERVAL", "BIT", "BIGNUM", "TIME_NS"), "VARCHAR"),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS"), "TIMESTAMP"),
}
_REFUSED: Final = {"UNION", "VARIANT", "GEOMETRY", "AGGREGATE_STATE", "LAMBDA", "UNKNOWN"}
# Quoted names and texts first, so that a field called "BIT" is not taken for the type BIT.
_TOKEN: Final = re.compile(
    r"""(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*')|(?P<zoned>TIME WITH TIME ZONE)|(?P<sized>\[\d+\])|(?P<word>[A-Z][A-Z_0-9]*)"""
)
_ENUM: Final = re.compile(r"""ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)""")


def stored_columns(columns: Sequence[Column], layout: Layout) -> tuple[StoredColumn, ...]:
    """Checks a table's columns and says how each is stored."""
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise Invalid(f"A dataset has 1 to {MAX_COLUMNS} columns, not {len(columns)}.")
    seen: dict[str, str] = {}
    for column in columns:
        _check_name(column.name, seen)
    for role, names in (("key", layout.key), ("sort order", layout.sort)):
        for name in names:
            if not any(column.name == name for column in columns):
                raise Invalid(f"The {role} names column {name!r}, which the dataset does not have.")
    return tuple(
        StoredColumn(column.name, column.type, _stored_name(column.name), stored_type(column))
        for column in columns
    )


def stored_type(column: Column) -> str:
    def swap(match: re.Match[str]) -> str:
        word = match["word"]
        if word in _REFUSED:
            raise Invalid(
                f"Column {column.name!r} has type {column.type}, which cannot be kept. "
                "Convert it to text, JSON or a structure first."
            )
        if match["sized"]:
            return "[]"
        return "VARCHAR" if match["zoned"] else _KEPT_AS.get(word, match[0])

    return _TOKEN.sub(swap, _ENUM.sub("VARCHAR", column.type))


def encoded(column: StoredColumn, expression: str) -> str:
    """SQL that turns a value of the column into what Parquet holds."""
    if column.type == column.stored_type:
        return expression
    return f"CAST({expression} AS {column.stored_type})"


def decoded(column: StoredColumn, alias: str = "") -> str:
    """SQL that reads the column back from Parquet, in its own type."""
    stored = f"{alias}{quote(column.stored_name)}"
    return stored if column.type == column.stored_type else f"CAST({stored} AS {column.type})"


def _check_name(name: str, seen: dict[str, str]) -> None:
    if not name or len(name) > MAX_NAME or any(ord(character) < 32 for character in name):
        raise Invalid(
            f"Column name {name[:50]!r} is empty, longer than {MAX_NAME} characters or holds control "
            "characters. Rename the column."
        )
    folded = name.lower()
    if folded in seen:
        raise Invalid(f"Two columns are called {seen[folded]!r} and {name!r}: case does not count.")
    if folded.startswith(PREFIX):
        raise Invalid(
            f"Column names that start with {PREFIX!r} are Steward's own: rename {name!r}."
        )
    seen[folded] = name


def _stored_name(name: str) -> str:
    return f"{PREFIX}{name}" if name.lower() in _SHADOWING else name
