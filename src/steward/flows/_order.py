"""What comes before what in a graph: ancestors, cycles, and nodes that can never be reached."""

from collections.abc import Mapping

from steward.core import Problem
from steward.flows.node import Goto, Graph, Node

Edges = Mapping[str, list[tuple[str, str]]]
"""Node → the nodes before it, each with the port by which it is left; `error` for a jump after an error."""

_OK = ""


def edges_of(graph: Graph) -> dict[str, list[tuple[str, str]]]:
    """The edges between nodes that exist; `needs` and jumps alike."""
    by_id = {node.id: node for node in graph.nodes}
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in by_id}
    for node in graph.nodes:
        for need in node.needs:
            name, _, port = need.partition(".")
            if name in by_id:
                found[node.id].append((name, port))
        if isinstance(node.on_error, Goto) and node.on_error.goto in by_id:
            found[node.on_error.goto].append((node.id, "error"))
    return found


def ordered(edges: Edges) -> tuple[list[str], list[str]]:
    """Nodes in an order in which each comes after its needs, and one cycle if there is any."""
    left = {name: {before for before, _ in needs} for name, needs in edges.items()}
    order: list[str] = []
    while True:
        free = [name for name, needs in left.items() if not needs]
        if not free:
            break
        order += free
        for name in free:
            del left[name]
        for needs in left.values():
            needs.difference_update(free)
    return order, _cycle(left)


def _cycle(left: Mapping[str, set[str]]) -> list[str]:
    if not left:
        return []
    path: list[str] = []
    name = min(left)
    while name not in path:
        path.append(name)
        name = min(left[name])
    # The walk went from each node to what it needs; people read it the other way.
    found = path[path.index(name) :][::-1]
    start = found.index(min(found))
    return [*found[start:], *found[:start], found[start]]


def ancestors(edges: Edges, order: list[str]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for name in order:
        before = {each for each, _ in edges[name]}
        found[name] = frozenset(before).union(*(found[each] for each in before))
    return found


def unreachable(graph: Graph, edges: Edges, order: list[str], at: str) -> list[Problem]:
    """Nodes that need two ways out of one node, of which only one is ever taken."""
    by_id = {node.id: (index, node) for index, node in enumerate(graph.nodes)}
    facts: dict[str, dict[str, str] | None] = {}
    problems = []
    for name in order:
        index, node = by_id[name]
        facts[name], clash = _facts(node, edges[name], facts, by_id)
        if clash:
            said = f"can never be reached: it needs two ways out of {clash!r} at once"
            problems.append(Problem(f"{at}/nodes/{index}/needs", said))
        elif facts[name] is None:
            said = "can never be reached: nor can what it needs"
            problems.append(Problem(f"{at}/nodes/{index}/needs", said))
    return problems


def _facts(
    node: Node,
    needs: list[tuple[str, str]],
    known: Mapping[str, dict[str, str] | None],
    by_id: Mapping[str, tuple[int, Node]],
) -> tuple[dict[str, str] | None, str]:
    """Which way out of which node must have been taken when this one runs; None if that cannot be."""
    if not needs:
        return {}, ""
    jumps = [_after(name, port, known, by_id) for name, port in needs if port == "error"]
    plain = [_after(name, port, known, by_id) for name, port in needs if port != "error"]
    clash = ""
    options = jumps + plain if node.start == "any" else list(jumps)
    if plain and node.start == "all":
        together, clash = _both(plain)
        options.append(together)
    possible = [option for option in options if option is not None]
    if not possible:
        return None, clash
    shared = dict(possible[0])
    for option in possible[1:]:
        shared = {name: port for name, port in shared.items() if option.get(name) == port}
    return shared, ""


def _after(
    name: str,
    port: str,
    known: Mapping[str, dict[str, str] | None],
    by_id: Mapping[str, tuple[int, Node]],
) -> dict[str, str] | None:
    before = known[name]
    if before is None:
        return None
    # Somebody who needs a node that jumps after an error means its way without one.
    if port or isinstance(by_id[name][1].on_error, Goto):
        return {**before, name: port or _OK}
    return before


def _both(needs: list[dict[str, str] | None]) -> tuple[dict[str, str] | None, str]:
    found: dict[str, str] = {}
    for need in needs:
        if need is None:
            return None, ""
        for name, port in need.items():
            if name in found and found[name] != port and "" not in {found[name], port}:
                return None, name
            if name in found and {found[name], port} == {"", "error"}:
                return None, name
            found[name] = port or found.get(name, "")
    return found, ""
