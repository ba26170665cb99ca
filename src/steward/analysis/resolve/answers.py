"""Decisions of people about pairs of rows, in terms of the parties that are compared."""

import duckdb

from steward.analysis.resolve.rules import Decision, RowRef, Rules
from steward.analysis.resolve.staging import Staged
from steward.core import Invalid, Problem


def parties_of(
    connection: duckdb.DuckDBPyConnection,
    rules: Rules,
    staged: Staged,
    decision: Decision,
    place: int,
) -> tuple[int, int]:
    """The two parties that a decision is about, the smaller number first."""
    found = [
        _party_of(connection, rules, staged, ref, f"/decisions/{place}/{side}")
        for side, ref in (("left", decision.left), ("right", decision.right))
    ]
    return min(found), max(found)


def _party_of(
    connection: duckdb.DuckDBPyConnection, rules: Rules, staged: Staged, ref: RowRef, pointer: str
) -> int:
    tables = [source.table for source in rules.sources]
    number = tables.index(ref.table)
    keyed = rules.sources[number].row_key is not None
    column = "row_key" if keyed else "CAST(row_id AS VARCHAR)"
    found = connection.execute(
        f"SELECT party FROM {staged.rows} WHERE source = ? AND {column} = ?", [number, ref.row]
    ).fetchone()
    if found is None:
        raise Invalid(
            f"A decision speaks of row {ref.row!r} of {ref.table!r}, which does not exist. "
            "Correct or withdraw the decision.",
            code="unknown-row",
            problems=[Problem(pointer, "no such row")],
        )
    return int(found[0])
