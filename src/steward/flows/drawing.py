"""What an editor needs to draw flows: the types of nodes with their settings, and the graph of a flow as it will run."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from steward.core import copied
from steward.flows._order import edges_of
from steward.flows.model import Flow
from steward.flows.node import NODES, Document, Graph, Node, Reads, Starter

_DRAWN: Final = frozenset({"id", "type", "needs"})
"""Fields that an editor shows as the graph itself."""


@dataclass(frozen=True)
class NodeType:
    """A type of node as a palette lists it; `schema` is that of its settings, without the graphs inside it."""

    type: str
    description: str
    group: str
    starters: tuple[Starter, ...]
    schema: Mapping[str, Any]
    exits: tuple[str, ...]
    graphs: tuple[str, ...]
    flows: tuple[str, ...]
    expressions: tuple[str, ...]
    """Pointers to the fields whose whole text is an expression."""
    templates: tuple[str, ...]
    """Pointers to the fields whose texts hold expressions in `${ … }`, at every depth."""


@dataclass(frozen=True)
class ExpressionRules:
    """What an editor needs to check expressions while somebody types, by the rules of the server."""

    roots: tuple[str, ...]
    signatures: Mapping[str, tuple[tuple[str, ...], ...]]
    """Operators and functions: the types of JSON value that each takes, and last the one it gives."""
    macros: tuple[str, ...]
    no_methods: tuple[str, ...]
    words: Mapping[str, str]
    """The types of JSON values, as people call them."""
    longest: int
    deepest: int


@dataclass(frozen=True)
class Edge:
    before: str
    after: str
    port: str
    """The way out of the node before; `error` for a jump after an error, nothing for the only way."""


def node_types() -> list[NodeType]:
    return [_node_type(name, node) for name, node in NODES]


def expression_rules() -> ExpressionRules:
    # The library takes a noticeable moment to load, which most commands need not spend.
    from steward.flows._functions import SIGNATURES
    from steward.flows._grammar import DEEPEST, LONGEST, MACROS, NO_METHODS, ROOTS
    from steward.flows._typing import WORDS

    return ExpressionRules(ROOTS, SIGNATURES, MACROS, NO_METHODS, WORDS, LONGEST, DEEPEST)


def _node_type(name: str, node: type[Node]) -> NodeType:
    told = sys.modules[node.__module__].__doc__ or ""
    return copied(
        NodeType,
        node,
        type=name,
        description=told.strip().split("\n")[0],
        starters=node.starters or (Starter(name.capitalize()),),
        schema=_settings(node),
        expressions=tuple(_expressions(node, "", bare=True)),
        templates=tuple(_expressions(node, "", bare=False)),
    )


def _expressions(document: type[BaseModel], at: str, *, bare: bool) -> Iterator[str]:
    for name, info in document.model_fields.items():
        items = get_args(info.annotation) if get_origin(info.annotation) is list else ()
        if any(isinstance(mark, Reads) and mark.bare is bare for mark in info.metadata):
            yield f"{at}/{name}"
        for inner in items:
            if isinstance(inner, type) and issubclass(inner, Document):
                yield from _expressions(inner, f"{at}/{name}/*", bare=bare)


def _settings(node: type[Node]) -> dict[str, Any]:
    schema = node.model_json_schema()
    definitions = schema.get("$defs", {})
    # A type that holds graphs occurs within itself, and is then one of the definitions.
    schema = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    hidden = _DRAWN | {pointer.split("/")[1] for pointer in (*node.graphs, *node.flows)}
    properties = {k: v for k, v in schema["properties"].items() if k not in hidden}
    found = {
        "type": "object",
        "properties": properties,
        "required": [name for name in schema.get("required", ()) if name not in hidden],
    }
    used = _used(properties, definitions)
    return found | ({"$defs": used} if used else {})


def _used(value: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, and those that they refer to."""
    found: dict[str, Any] = {}
    open_ends = [value]
    while open_ends:
        for name in _references(open_ends.pop()):
            if name not in found:
                found[name] = definitions[name]
                open_ends.append(definitions[name])
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield str(item).rpartition("/")[2]
            else:
                yield from _references(item)


def drawing(flow: Flow) -> tuple[dict[str, str], list[Edge]]:
    """The types of all nodes, and the edges between them; a node inside another is named `outer/inner`."""
    types: dict[str, str] = {}
    edges: list[Edge] = []
    for around, graph in _graphs(flow, ""):
        types |= {f"{around}{node.id}": node.type for node in graph.nodes}
        edges += [
            Edge(f"{around}{before}", f"{around}{after}", port)
            for after, needs in edges_of(graph).items()
            for before, port in needs
        ]
    return types, edges


def _graphs(graph: Graph, around: str) -> Iterator[tuple[str, Graph]]:
    yield around, graph
    for node in graph.nodes:
        inner: list[Graph] = [body for _, body in node.bodies()]
        inner += [flow for name in node.flows if (flow := getattr(node, name[1:])) is not None]
        for each in inner:
            yield from _graphs(each, f"{around}{node.id}/")
