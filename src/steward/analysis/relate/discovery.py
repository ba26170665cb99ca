"""Looks at all tables for keys, dependencies and relationships, one stage after the other."""

from collections.abc import Callable, Sequence

import duckdb

from steward.analysis.relate.columns import Facts, survey
from steward.analysis.relate.composite import find_composite
from steward.analysis.relate.dependencies import find_dependencies
from steward.analysis.relate.foreign import find_unary
from steward.analysis.relate.joins import relationship
from steward.analysis.relate.keys import find_keys
from steward.analysis.relate.model import Dependency, Key, NearKey, Relations, graph_of
from steward.analysis.relate.names import vocabulary_of
from steward.analysis.relate.shared import find_shared, kind_of
from steward.core import Invalid, TooLarge
from steward.tables import Table

MAX_TABLES = 200
MAX_COLUMNS = 5_000


def discover(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    tell: Callable[[str, int, int], None],
) -> Relations:
    """Says stage by stage how far it is."""
    _check(tables)
    vocabulary = vocabulary_of(table.name for table in tables)
    facts: dict[str, tuple[Facts, ...]] = {}
    keys: list[Key] = []
    near: list[NearKey] = []
    dependencies: list[Dependency] = []
    for done, table in enumerate(tables):
        tell("keys", done, len(tables))
        facts[table.name] = survey(connection, table, vocabulary)
        found = find_keys(connection, table, facts[table.name], vocabulary)
        keys.extend(found.keys)
        near.extend(found.near)
        dependencies.extend(find_dependencies(connection, table, facts[table.name]))
    by_name = {table.name: table for table in tables}
    every = [each for table in tables for each in facts[table.name]]
    tell("foreign keys", 0, 3)
    foreign = find_unary(connection, by_name, every, keys)
    tell("foreign keys", 1, 3)
    foreign += find_composite(connection, by_name, facts, keys, foreign)
    tell("foreign keys", 2, 3)
    shared = find_shared(connection, by_name, every, foreign)
    tell("foreign keys", 3, 3)
    relationships = tuple(
        [relationship(each, "foreign key") for each in foreign]
        + [relationship(each, kind_of(each)) for each in shared]
    )
    rows = {name: columns[0].rows if columns else 0 for name, columns in facts.items()}
    return Relations(
        keys=tuple(keys),
        near_keys=tuple(near),
        dependencies=tuple(dependencies),
        relationships=relationships,
        graph=graph_of(tuple(tables), rows, tuple(keys), relationships),
        notes=_notes(tables, rows),
    )


def _check(tables: Sequence[Table]) -> None:
    if len({table.name for table in tables}) != len(tables):
        raise Invalid("Two of the tables to relate have the same name; give each its own.")
    if len(tables) > MAX_TABLES:
        raise TooLarge(f"{len(tables)} tables are too many to relate at once; take {MAX_TABLES}.")
    columns = sum(len(table.columns) for table in tables)
    if columns > MAX_COLUMNS:
        raise TooLarge(
            f"The tables have {columns} columns together; {MAX_COLUMNS} is the limit. Leave some tables out."
        )


def _notes(tables: Sequence[Table], rows: dict[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{table.name} is empty, so nothing can be said about it."
        for table in tables
        if rows[table.name] == 0
    )
