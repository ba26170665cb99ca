"""A directed graph drawn in layers: which layer, which order, which place; the same graph gives the same drawing.

Longest-path layers, invisible points where an edge crosses layers, a few sweeps of barycentres against crossings.
Edges that would close a circle are turned for the layering only, so that any graph can be drawn.
"""

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

_SWEEPS = 8
Node = Hashable


@dataclass(frozen=True)
class Bend:
    """A place kept free in a layer for an edge that passes through it."""

    edge: int
    layer: int


Edge = tuple[Node, Node]


@dataclass(frozen=True)
class Layout:
    """`layers` hold nodes and bends in order; `paths` are the nodes and bends that each edge runs through."""

    layers: tuple[tuple[Node, ...], ...]
    paths: tuple[tuple[Edge, tuple[Node, ...]], ...]


def layout(nodes: Sequence[Node], edges: Iterable[Edge]) -> Layout:
    wanted = [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1]]
    turned = _circles(nodes, wanted)
    forward = [(b, a) if (a, b) in turned else (a, b) for a, b in wanted]
    depth = _depths(nodes, forward)
    layers: list[list[Node]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    paths: list[tuple[Edge, tuple[Node, ...]]] = []
    links: list[Edge] = []
    for number, (edge, (a, b)) in enumerate(zip(wanted, forward, strict=True)):
        bends: list[Node] = [Bend(number, step) for step in range(depth[a] + 1, depth[b])]
        for bend, step in zip(bends, range(depth[a] + 1, depth[b]), strict=True):
            layers[step].append(bend)
        path = (a, *bends, b)
        links += pairwise(path)
        paths.append((edge, tuple(reversed(path)) if edge in turned else path))
    return Layout(tuple(tuple(layer) for layer in _untangled(layers, links)), tuple(paths))


def _circles(nodes: Sequence[Node], edges: Sequence[Edge]) -> set[Edge]:
    """The edges that lead back to where a walk in the order of the nodes came from."""
    following: dict[Node, list[Node]] = {node: [] for node in nodes}
    for a, b in edges:
        following[a].append(b)
    state: dict[Node, int] = {}
    back: set[Edge] = set()
    for start in nodes:
        stack: list[tuple[Node, int]] = [(start, 0)] if start not in state else []
        while stack:
            node, at = stack.pop()
            state[node] = 1
            if at >= len(following[node]):
                state[node] = 2
                continue
            stack.append((node, at + 1))
            target = following[node][at]
            if state.get(target) == 1:
                back.add((node, target))
            elif target not in state:
                stack.append((target, 0))
    return back


def _depths(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[Node, int]:
    """The longest way to each node from any source."""
    depth = dict.fromkeys(nodes, 0)
    waiting = dict.fromkeys(nodes, 0)
    following: dict[Node, list[Node]] = {node: [] for node in nodes}
    for a, b in edges:
        waiting[b] += 1
        following[a].append(b)
    ready = [node for node in nodes if waiting[node] == 0]
    for node in ready:
        for target in following[node]:
            depth[target] = max(depth[target], depth[node] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return depth


def _untangled(layers: list[list[Node]], links: Sequence[Edge]) -> list[list[Node]]:
    before: dict[Node, list[Node]] = {}
    after: dict[Node, list[Node]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)
        before.setdefault(b, []).append(a)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, after)
    for sweep in range(_SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        indices = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for index in indices:
            fixed = layers[index - 1] if sweep % 2 == 0 else layers[index + 1]
            layers[index] = _by_barycentre(layers[index], fixed, neighbours)
        crossings = _crossings(layers, after)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _by_barycentre(
    layer: Sequence[Node], fixed: Sequence[Node], neighbours: Mapping[Node, Sequence[Node]]
) -> list[Node]:
    place = {node: index for index, node in enumerate(fixed)}
    centres = {}
    for index, node in enumerate(layer):
        known = [place[other] for other in neighbours.get(node, ()) if other in place]
        centres[node] = fmean(known) if known else float(index)
    return sorted(layer, key=lambda node: centres[node])


def _crossings(layers: Sequence[Sequence[Node]], after: Mapping[Node, Sequence[Node]]) -> int:
    count = 0
    for upper, lower in pairwise(layers):
        place = {node: index for index, node in enumerate(lower)}
        ends = [
            sorted(place[target] for target in after.get(node, ()) if target in place)
            for node in upper
        ]
        seen: list[int] = []
        for end in (end for group in ends for end in group):
            count += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return count


def centred(
    layers: Sequence[Sequence[Node]], paths: Iterable[tuple[Edge, Sequence[Node]]], gap: float
) -> dict[Node, float]:
    """A place across the layers for every node: near its neighbours, at least `gap` apart."""
    near: dict[Node, list[Node]] = {}
    for _, path in paths:
        for a, b in pairwise(path):
            # A long edge pulls its bends into one straight line before it pulls at boxes.
            pull = 1 + 3 * sum(isinstance(end, Bend) for end in (a, b))
            near.setdefault(a, []).extend([b] * pull)
            near.setdefault(b, []).extend([a] * pull)
    place = {
        node: (index - (len(layer) - 1) / 2) * gap
        for layer in layers
        for index, node in enumerate(layer)
    }
    for sweep in range(2 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wished = [
                fmean([place[other] for other in near[node]]) if near.get(node) else place[node]
                for node in layer
            ]
            place |= dict(zip(layer, _apart(wished, gap), strict=True))
    lowest = min(place.values(), default=0.0)
    return {node: round(at - lowest, 2) for node, at in place.items()}


def _apart(wished: Sequence[float], gap: float) -> list[float]:
    """The wished places moved as little as needed to keep their order and distance."""
    groups: list[list[float]] = []
    for index, wish in enumerate(wished):
        # Each group is [sum of wishes less their offsets, count]; groups that touch merge.
        groups.append([wish - index * gap, 1.0])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    result: list[float] = []
    for total, count in groups:
        result += [total / count] * int(count)
    return [at + index * gap for index, at in enumerate(result)]
