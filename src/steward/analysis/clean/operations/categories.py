"""Categories written in several ways."""

import duckdb
from pydantic import Field

from steward.analysis.clean.categories import propose_categories
from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.lookups import MAX_VALUES, lookup
from steward.analysis.clean.registry import Arguments, operation
from steward.tables import Change, Table


class MapCategories(Arguments):
    column: str
    mapping: dict[str, str] | None = Field(
        None,
        max_length=MAX_VALUES,
        description="Spelling to category, as reviewed; proposed when left out.",
    )
    allowed: list[str] | None = Field(
        None,
        description="The only categories there are; values that resemble none stay as they are.",
    )
    threshold: float = Field(0.88, ge=0.5, le=1.0, description="How alike two spellings must be.")


@operation("map_categories", "Unify categories", MapCategories)
def map_categories(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: MapCategories
) -> Change:
    """Brings spellings of the same category together: by a reviewed mapping, or by similarity.

    Without a mapping the most frequent spelling of each group wins; the change's arguments then hold the mapping
    that was found, so that a person can review it and the same change can be made again.
    """
    (name,) = text_columns(table, [arguments.column])
    mapping, failed, listed = arguments.mapping, None, None
    if mapping is None:
        proposal = propose_categories(
            connection, table, name, arguments.threshold, arguments.allowed
        )
        mapping = proposal.mapping
        if arguments.allowed is not None:
            listed = lookup([name], {(each.value,): None for each in proposal.unmatched}, "f0")
            failed = listed.hit
    found = lookup([name], {(old,): new for old, new in mapping.items()}, "m0")
    expression = f"CASE WHEN {found.hit} THEN {found.value} ELSE {value(name)} END"
    edit = Edit(name, expression, "category unified", failed, found, listed)
    decided = arguments.model_copy(update={"mapping": mapping})
    return cell_change(connection, table, "map_categories", decided, [edit], "Unifies categories")
