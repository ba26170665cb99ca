"""Tables that DuckDB can read: their columns, changes before they happen, bounded sessions, temporary files."""

from steward.tables import engine
from steward.tables.changes import (
    Cell,
    Change,
    ColumnLineage,
    Preview,
    changed_cells,
    leftovers,
    preview,
    result_columns,
    unchanged,
)
from steward.tables.engine import DEFAULT_LIMITS, Limits, session
from steward.tables.formula_marks import needs_mark, needs_mark_sql, without_mark, without_mark_sql
from steward.tables.scratch import Scratch
from steward.tables.table import Column, Table, describe, literal, parquet_source, quote, type_word
from steward.tables.tokens import MODES, TOKEN, Encryption, encryption_of

__all__ = [
    "DEFAULT_LIMITS",
    "MODES",
    "TOKEN",
    "Cell",
    "Change",
    "Column",
    "ColumnLineage",
    "Encryption",
    "Limits",
    "Preview",
    "Scratch",
    "Table",
    "changed_cells",
    "describe",
    "encryption_of",
    "engine",
    "leftovers",
    "literal",
    "needs_mark",
    "needs_mark_sql",
    "parquet_source",
    "preview",
    "quote",
    "result_columns",
    "session",
    "type_word",
    "unchanged",
    "without_mark",
    "without_mark_sql",
]
