"""How tables hang together: keys, dependencies and foreign keys, found in the data and said in words."""

from collections.abc import Callable, Sequence

import duckdb

from steward.analysis.relate.model import Key, Node, Relations
from steward.analysis.relate.names import words_of
from steward.tables import Table

__all__ = [
    "Key",
    "Node",
    "Progress",
    "Relations",
    "relate",
    "words_of",
]

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done and how much there is."""


def relate(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    progress: Progress | None = None,
) -> Relations:
    """Keys and dependencies of each table and the relationships between them; reads, never writes."""
    # It computes with numpy; many ask this room for words alone.
    from steward.analysis.relate.discovery import discover

    return discover(connection, tables, progress or _silent)


def _silent(_stage: str, _done: int, _total: int) -> None:
    return None
