"""Single values replaced by others."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.lookups import MAX_VALUES, lookup
from steward.analysis.clean.registry import Arguments, operation
from steward.core import Invalid
from steward.tables import Change, Table, literal, quote


class ReplaceValues(Arguments):
    column: str
    replacements: dict[str, str | None] = Field(
        min_length=1,
        max_length=MAX_VALUES,
        description="Old text to new text; null makes it missing.",
    )
    match: Literal["exact", "ignore case"] = "exact"


@operation("replace_values", "Replace values", ReplaceValues)
def replace_values(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: ReplaceValues
) -> Change:
    """Replaces whole values of a text column by others, exactly as listed."""
    (name,) = text_columns(table, [arguments.column])
    replacements = arguments.replacements
    if arguments.match == "ignore case":
        replacements = _spelt(connection, table, name, replacements)
    found = lookup([name], {(old,): new for old, new in replacements.items()}, "m0")
    expression = f"CASE WHEN {found.hit} THEN {found.value} ELSE {value(name)} END"
    edit = Edit(name, expression, "values replaced", lookup=found)
    return cell_change(connection, table, "replace_values", arguments, [edit], "Replaces values")


def _spelt(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    name: str,
    replacements: dict[str, str | None],
) -> dict[str, str | None]:
    """The replacements for every spelling that occurs."""
    folded = {old.lower(): new for old, new in replacements.items()}
    if len(folded) != len(replacements):
        raise Invalid("Two of the old values differ in case only; that is one too many here.")
    listed = ", ".join(literal(old) for old in folded)
    rows = connection.execute(
        f"SELECT DISTINCT {quote(name)} AS v, lower({quote(name)}) FROM {table.source} "
        f"WHERE lower({quote(name)}) IN ({listed}) ORDER BY v"
    ).fetchall()
    return {old: folded[low] for old, low in rows if low in folded}
