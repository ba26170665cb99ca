"""Where columns come from: as a graph to draw, from changes and from SQL, and as OpenLineage events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from steward.core import Invalid, TooLarge
from steward.tables import Change, Column, ColumnLineage, Table

MAX_SQL = 200_000
_SPEC = "https://openlineage.io/spec"
_RUN_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_SCHEMA_FACET = f"{_SPEC}/facets/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet"
_COLUMNS_FACET = (
    f"{_SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
)
_SQL_FACET = f"{_SPEC}/facets/1-0-1/SQLJobFacet.json#/$defs/SQLJobFacet"
_DESCRIPTION_FACET = f"{_SPEC}/facets/1-0-1/DocumentationJobFacet.json#/$defs/DocumentationJobFacet"
PRODUCER = "https://steward.example/data"


@dataclass(frozen=True)
class Step:
    """One operation that read some tables and wrote one."""

    operation: str
    summary: str
    inputs: tuple[Table, ...]
    output: str
    columns: tuple[Column, ...]
    lineage: tuple[ColumnLineage, ...]


@dataclass(frozen=True)
class Node:
    """A dataset in one state, one of its columns, or an operation."""

    id: str
    kind: str
    label: str
    dataset: str | None


@dataclass(frozen=True)
class Edge:
    source: str
    target: str
    label: str


@dataclass(frozen=True)
class LineageGraph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def step_of(change: Change, output: str) -> Step:
    """The step that a change becomes when its result is kept under a name."""
    return Step(
        operation=change.operation,
        summary=change.summary,
        inputs=change.inputs,
        output=output,
        columns=change.columns,
        lineage=change.lineage,
    )


# ---- the graph --------------------------------------------------------------------------------


def graph(steps: Sequence[Step]) -> LineageGraph:
    """One graph of all steps in order; a dataset that is written again appears again, as a later state."""
    made = _Graph()
    for index, step in enumerate(steps):
        operation = made.node(f"operation:{index}", "operation", step.operation, None)
        sources = {table.name: made.dataset(table.name, table.columns) for table in step.inputs}
        for name in sources.values():
            made.edge(name, operation, "")
        target = made.written(step.output, step.columns)
        made.edge(operation, target, "")
        for each in step.lineage:
            for table, column in each.inputs:
                if table in sources:
                    source = f"{sources[table]}:{column}"
                    made.edge(source, f"{target}:{each.output}", each.transformation)
    return LineageGraph(tuple(made.nodes.values()), tuple(made.edges))


def upstream(whole: LineageGraph, node: str) -> LineageGraph:
    """The part of a graph that a node depends on."""
    if node not in {each.id for each in whole.nodes}:
        raise Invalid(f"There is no {node!r} in this lineage graph.")
    before: dict[str, list[str]] = {}
    for edge in whole.edges:
        before.setdefault(edge.target, []).append(edge.source)
    reached, waiting = {node}, [node]
    while waiting:
        for source in before.get(waiting.pop(), []):
            if source not in reached:
                reached.add(source)
                waiting.append(source)
    return LineageGraph(
        nodes=tuple(each for each in whole.nodes if each.id in reached),
        edges=tuple(e for e in whole.edges if e.source in reached and e.target in reached),
    )


class _Graph:
    """Nodes and edges while they are collected; ids count the states of each dataset."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[Edge, None] = {}
        self._states: dict[str, int] = {}

    def node(self, identifier: str, kind: str, label: str, dataset: str | None) -> str:
        self.nodes.setdefault(identifier, Node(identifier, kind, label, dataset))
        return identifier

    def edge(self, source: str, target: str, label: str) -> None:
        self.edges[Edge(source, target, label)] = None

    def dataset(self, name: str, columns: Iterable[Column]) -> str:
        state = self._states.setdefault(name, 0)
        identifier = self.node(f"dataset:{name}:{state}", "dataset", name, name)
        for column in columns:
            self.node(f"{identifier}:{column.name}", "column", column.name, identifier)
        return identifier

    def written(self, name: str, columns: Iterable[Column]) -> str:
        if name in self._states:
            self._states[name] += 1
        return self.dataset(name, columns)


# ---- from SQL ---------------------------------------------------------------------------------


def sql_lineage(
    sql: str, tables: Sequence[Table], columns: Sequence[Column] | None = None
) -> tuple[ColumnLineage, ...]:
    """Column lineage of one SELECT over the named tables, read from the SQL alone.

    `columns` are the result's columns where they are known; they give the names their exact spelling. A column
    depends on every column that its value is computed from; conditions that only choose rows do not count.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError
    from sqlglot.lineage import lineage
    from sqlglot.optimizer.qualify import qualify

    if len(sql) > MAX_SQL:
        raise TooLarge(f"The SQL has {len(sql):,} characters; {MAX_SQL:,} is the limit.")
    schema: dict[str, object] = {
        table.name: {column.name: column.type for column in table.columns} for table in tables
    }
    try:
        parsed = sqlglot.parse(sql, dialect="duckdb")
        if len(parsed) != 1 or not isinstance(parsed[0], sqlglot.exp.Query):
            raise Invalid("Lineage is read from one SELECT; this is something else.")
        qualified = qualify(parsed[0], schema=schema, dialect="duckdb")
        names = qualified.named_selects
        found = lineage(None, qualified, schema=schema, dialect="duckdb")
    except SqlglotError as error:
        said = str(error).partition("\n")[0]
        raise Invalid(f"Lineage cannot be read from this SQL: {said}") from error
    except RecursionError:
        raise Invalid("Lineage cannot be read from this SQL: it is nested too deeply.") from None
    if len(set(names)) != len(names) or not isinstance(found, Mapping):
        raise Invalid("Two columns of the result have the same name; give each its own with AS.")
    if columns is not None and len(columns) != len(names):
        raise Invalid(f"The SQL yields {len(names)} columns, but {len(columns)} are named.")
    spelling = _Spelling(tables)
    result = []
    for index, name in enumerate(names):
        output = columns[index].name if columns is not None else spelling.column(name)
        inputs = {spelling.leaf(leaf) for leaf in found[name].walk() if not leaf.downstream}
        sources = tuple(sorted(each for each in inputs if each is not None))
        result.append(ColumnLineage(output, sources, _transformation(qualified, index, output)))
    return tuple(result)


class _Spelling:
    """From the lower-case names of analysed SQL back to those of the tables."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = {table.name.lower(): table for table in tables}
        self._columns: dict[str, str] = {}
        for table in tables:
            for column in table.columns:
                self._columns.setdefault(column.name.lower(), column.name)

    def column(self, name: str) -> str:
        return self._columns.get(name.lower(), name)

    def leaf(self, node: Any) -> tuple[str, str] | None:
        """The table and column at the end of a lineage; None for constants and the like."""
        from sqlglot import exp

        if not isinstance(node.expression, exp.Table):
            return None
        table = self._tables.get(node.expression.name.lower())
        column = exp.to_column(node.name, dialect="duckdb").name
        if table is None:
            return None
        spelt = {each.name.lower(): each.name for each in table.columns}
        return (table.name, spelt[column.lower()]) if column.lower() in spelt else None


def _transformation(qualified: Any, index: int, output: str) -> str:
    from sqlglot import exp

    select = qualified.selects[index]
    inner = select.unalias()
    if isinstance(inner, exp.Column):
        same = inner.name.lower() == output.lower()
        return "unchanged" if same else f"renamed from {inner.name}"
    if inner.find(exp.AggFunc) is not None:
        return f"aggregated: {inner.sql(dialect='duckdb')[:200]}"
    return str(inner.sql(dialect="duckdb"))[:200]


# ---- OpenLineage ------------------------------------------------------------------------------


def openlineage_events(
    step: Step,
    *,
    namespace: str,
    job: str,
    run: str,
    started: datetime,
    finished: datetime,
    sql: str | None = None,
    producer: str = PRODUCER,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """START and COMPLETE of one step in OpenLineage 2-0-2; `run` may be any id, it becomes a UUID always the same."""
    common = {
        "run": {"runId": _uuid(run), "facets": {}},
        "job": {"namespace": namespace, "name": job, "facets": _job_facets(step, sql, producer)},
        "inputs": [
            {
                "namespace": namespace,
                "name": table.name,
                "facets": {"schema": _schema(table.columns, producer)},
            }
            for table in step.inputs
        ],
        "producer": producer,
        "schemaURL": _RUN_EVENT,
    }
    output = {
        "namespace": namespace,
        "name": step.output,
        "facets": {
            "schema": _schema(step.columns, producer),
            "columnLineage": _column_lineage(step, namespace, producer),
        },
    }
    return (
        {"eventType": "START", "eventTime": _time(started), **common, "outputs": [output]},
        {"eventType": "COMPLETE", "eventTime": _time(finished), **common, "outputs": [output]},
    )


def _uuid(run: str) -> str:
    try:
        return str(UUID(run))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"steward:{run}"))


def _time(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise Invalid("The time of an event needs a time zone.")
    return moment.isoformat().replace("+00:00", "Z")


def _job_facets(step: Step, sql: str | None, producer: str) -> dict[str, Any]:
    base = {"_producer": producer, "_schemaURL": _DESCRIPTION_FACET}
    facets: dict[str, Any] = {"documentation": {**base, "description": step.summary}}
    if sql is not None:
        facets["sql"] = {"_producer": producer, "_schemaURL": _SQL_FACET, "query": sql}
    return facets


def _schema(columns: Sequence[Column], producer: str) -> dict[str, Any]:
    fields = [{"name": column.name, "type": column.type} for column in columns]
    return {"_producer": producer, "_schemaURL": _SCHEMA_FACET, "fields": fields}


def _column_lineage(step: Step, namespace: str, producer: str) -> dict[str, Any]:
    fields = {
        each.output: {
            "inputFields": [
                {
                    "namespace": namespace,
                    "name": table,
                    "field": column,
                    "transformations": [_described(each.transformation)],
                }
                for table, column in each.inputs
            ]
        }
        for each in step.lineage
    }
    return {"_producer": producer, "_schemaURL": _COLUMNS_FACET, "fields": fields}


def _described(transformation: str) -> dict[str, Any]:
    subtype = "TRANSFORMATION"
    if transformation == "unchanged" or transformation.startswith("renamed from "):
        subtype = "IDENTITY"
    elif transformation.startswith("aggregated"):
        subtype = "AGGREGATION"
    return {
        "type": "DIRECT",
        "subtype": subtype,
        "description": transformation,
        "masking": transformation.startswith(("masked", "hashed")),
    }
