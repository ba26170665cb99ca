"""Two versions of a playbook side by side: nodes added, removed, changed or moved, fields by pointer; layout apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from steward.flows import dump_flow, escaped
from steward.playbooks.cards import Revision
from steward.playbooks.compiling import compiled
from steward.playbooks.documents import as_json
from steward.playbooks.model import Playbook
from steward.playbooks.pins import Changed
from steward.runs import Json

State = Literal["added", "removed", "changed", "moved"]
_APART: Final = frozenset({"steps", "graph", "output"})


@dataclass(frozen=True)
class FieldChange:
    """One value that differs; a side that does not have it is None, and says so."""

    pointer: str
    before: Json
    after: Json
    was_there: bool
    is_there: bool


@dataclass(frozen=True)
class NodeChange:
    key: str
    """The node, as the canvas names it: `outer/inner` inside another."""
    type: str
    title: str
    state: State
    from_key: str | None = None
    """Where a node was that moved into another graph."""
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True)
class EdgeChange:
    before: str
    after: str
    port: str
    state: Literal["added", "removed"]


@dataclass(frozen=True)
class Comparison:
    left: int
    right: int
    nodes: list[NodeChange]
    edges: list[EdgeChange]
    settings: list[FieldChange]
    """What differs outside the graph: inputs, triggers, budget, policy …"""
    placed: list[str]
    """Nodes that are drawn elsewhere and otherwise the same."""
    parts: list[Changed] = field(default_factory=list)
    """What differs around them: what each one pinned when it was last deployed, or would pin now."""

    @property
    def is_same(self) -> bool:
        return not (self.nodes or self.edges or self.settings or self.parts)


@dataclass(frozen=True)
class _Found:
    key: str
    node: Mapping[str, Any]
    fields: Mapping[str, Any]


def compare(left: Revision, right: Revision) -> Comparison:
    old, new = _nodes_of(left.playbook), _nodes_of(right.playbook)
    nodes = list(_node_changes(old, new))
    placed_before, placed_after = _places(left), _places(right)
    shared = [key for key in old if key in new]
    return Comparison(
        left=left.number,
        right=right.number,
        nodes=nodes,
        edges=list(_edge_changes(old, new)),
        settings=list(_fields(_around(left.playbook), _around(right.playbook), "")),
        placed=[key for key in shared if placed_before.get(key) != placed_after.get(key)],
    )


def _node_changes(old: Mapping[str, _Found], new: Mapping[str, _Found]) -> Iterator[NodeChange]:
    gone = [key for key in old if key not in new]
    # A node that kept its id and type went into another graph.
    homeless = {_identity(old[key]): key for key in gone}
    moved_from: set[str] = set()
    for key, found in new.items():
        if key in old:
            changes = tuple(_fields(old[key].fields, found.fields, ""))
            if changes:
                yield _change(found, "changed", fields=changes)
            continue
        source = homeless.get(_identity(found))
        if source is not None and source not in moved_from:
            moved_from.add(source)
            changes = tuple(_fields(old[source].fields, found.fields, ""))
            yield _change(found, "moved", source, changes)
        else:
            yield _change(found, "added")
    for key in gone:
        if key not in moved_from:
            yield _change(old[key], "removed")


def _change(
    found: _Found,
    state: State,
    from_key: str | None = None,
    fields: tuple[FieldChange, ...] = (),
) -> NodeChange:
    node = found.node
    title = str(node.get("title") or node["id"])
    return NodeChange(found.key, str(node["type"]), title, state, from_key, fields)


def _identity(found: _Found) -> tuple[str, str]:
    return str(found.node["id"]), str(found.node["type"])


def _edge_changes(old: Mapping[str, _Found], new: Mapping[str, _Found]) -> Iterator[EdgeChange]:
    before, after = set(_edges(old)), set(_edges(new))
    for edge in sorted(before - after):
        yield EdgeChange(*edge, "removed")
    for edge in sorted(after - before):
        yield EdgeChange(*edge, "added")


def _edges(nodes: Mapping[str, _Found]) -> Iterator[tuple[str, str, str]]:
    for key, found in nodes.items():
        around = key.rpartition("/")[0]
        for need in found.node.get("needs", ()):
            name, _, port = str(need).partition(".")
            yield f"{around}/{name}" if around else name, key, port


def _nodes_of(playbook: Playbook) -> dict[str, _Found]:
    return {found.key: found for found in _nodes(dump_flow(compiled(playbook)), "")}


def _nodes(graph: Mapping[str, Any], around: str) -> Iterator[_Found]:
    """The nodes of a graph and of the graphs inside them, without what is drawn inside them."""
    for node in graph.get("nodes", ()):
        key = f"{around}{node['id']}"
        inner = dict(_graphs(node))
        fields = {
            name: value for name, value in node.items() if name not in inner and name != "needs"
        }
        yield _Found(key, node, fields)
        for graphs in inner.values():
            for each in graphs:
                yield from _nodes(each, f"{key}/")


def _graphs(node: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for name, value in node.items():
        if _is_graph(value):
            yield name, [value]
        elif isinstance(value, dict) and value and all(_is_graph(each) for each in value.values()):
            yield name, list(value.values())


def _is_graph(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("nodes"), list)


def _around(playbook: Playbook) -> dict[str, Any]:
    return {name: value for name, value in as_json(playbook).items() if name not in _APART}


def _places(revision: Revision) -> Mapping[str, Any]:
    places = (revision.layout or {}).get("places")
    return places if isinstance(places, dict) else {}


def _fields(old: Json, new: Json, at: str) -> Iterator[FieldChange]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            pointer = f"{at}/{escaped(str(name))}"
            if name in old and name in new:
                yield from _fields(old[name], new[name], pointer)
            else:
                was, now = name in old, name in new
                yield FieldChange(pointer, old.get(name), new.get(name), was, now)
    elif old != new:
        yield FieldChange(at, old, new, was_there=True, is_there=True)
