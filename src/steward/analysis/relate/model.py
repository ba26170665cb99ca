"""What `relate` finds: keys, dependencies, relationships, joins and the graph to draw."""

from dataclasses import asdict, dataclass
from typing import Any

from steward.tables import Table


@dataclass(frozen=True)
class Key:
    """A minimal set of columns whose values identify every row; `primary` is the one proposed."""

    table: str
    columns: tuple[str, ...]
    rows: int
    primary: bool
    score: float
    reason: str


@dataclass(frozen=True)
class NearKey:
    """A column that looks like the key but is not, because of the rows counted here."""

    table: str
    column: str
    rows: int
    duplicate_rows: int
    null_rows: int
    reason: str


@dataclass(frozen=True)
class Dependency:
    """`determinant` decides `dependent`; `error` (g3) is the share of rows to remove for it to hold.

    Rows with a null on the left are left out. `essential` ones cannot be concluded from the others of the table.
    """

    table: str
    determinant: tuple[str, ...]
    dependent: str
    error: float
    exact: bool
    rows: int
    groups: int
    violating_rows: int
    essential: bool


@dataclass(frozen=True)
class Join:
    """A join worth making, in the words that `consolidate.join` takes."""

    left: str
    right: str
    on: tuple[tuple[str, str], ...]
    how: str
    normalisation: str
    reason: str


@dataclass(frozen=True)
class Relationship:
    """Values of `columns` of `table` found in `referenced_columns` of `referenced_table`.

    `kind` is `foreign key` (each referenced value occurs once), `reference` (the values are contained, but repeat
    there: the thing they identify has no table of its own) or `shared values` (they overlap). `cardinality` is read
    from the referenced side: `1:n` is one referenced row to many dependent ones.
    `coverage` counts rows with a value under `normalisation`; `coverage_exact` counts them as they are written.
    """

    kind: str
    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]
    cardinality: str
    coverage: float
    coverage_exact: float
    normalisation: str
    rows: int
    null_rows: int
    orphan_rows: int
    orphan_values: int
    distinct_values: int
    referenced_rows: int
    unreferenced_rows: int
    largest_fan_out: int
    name_score: float
    type_score: float
    score: float
    reason: str
    join: Join


@dataclass(frozen=True)
class Node:
    id: str
    rows: int
    columns: int
    key: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    source: str
    target: str
    source_columns: tuple[str, ...]
    target_columns: tuple[str, ...]
    kind: str
    cardinality: str
    coverage: float
    label: str


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Relations:
    keys: tuple[Key, ...]
    near_keys: tuple[NearKey, ...]
    dependencies: tuple[Dependency, ...]
    relationships: tuple[Relationship, ...]
    graph: Graph
    notes: tuple[str, ...]

    def primary_key(self, table: str) -> tuple[str, ...]:
        """The proposed key of a table; empty where none convinces."""
        for key in self.keys:
            if key.table == table and key.primary:
                return key.columns
        return ()

    def foreign_keys(self) -> tuple[Relationship, ...]:
        return tuple(found for found in self.relationships if found.kind == "foreign key")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def graph_of(
    tables: tuple[Table, ...],
    rows: dict[str, int],
    keys: tuple[Key, ...],
    relationships: tuple[Relationship, ...],
) -> Graph:
    primary = {key.table: key.columns for key in keys if key.primary}
    nodes = tuple(
        Node(table.name, rows[table.name], len(table.columns), primary.get(table.name, ()))
        for table in tables
    )
    edges = tuple(
        Edge(
            source=found.table,
            target=found.referenced_table,
            source_columns=found.columns,
            target_columns=found.referenced_columns,
            kind=found.kind,
            cardinality=found.cardinality,
            coverage=found.coverage,
            label=f"{', '.join(found.columns)} → {', '.join(found.referenced_columns)}",
        )
        for found in relationships
    )
    return Graph(nodes=nodes, edges=edges)
