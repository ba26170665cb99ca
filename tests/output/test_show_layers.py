"""The lineage map: every graph can be drawn, always alike, from left to right, boxes apart."""

import xml.etree.ElementTree as ET
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from steward.output.layers import Bend, centred, layout
from steward.output.lineage_map import draw
from steward.output.reports import LineageMap, MapEdge, MapNode
from steward.output.themes import DARK, LIGHT

Edges = list[tuple[int, int]]
graphs = st.integers(1, 14).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=30),
    )
)


def positions(layers: tuple[tuple[object, ...], ...]) -> dict[object, int]:
    return {node: depth for depth, layer in enumerate(layers) for node in layer}


@given(graphs)
def test_every_node_has_one_place_and_every_edge_a_path(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    plan = layout(range(size), edges)
    depth = positions(plan.layers)
    assert sum(map(len, plan.layers)) == len(depth)
    assert {node for node in depth if not isinstance(node, Bend)} == set(range(size))
    wanted = {(a, b) for a, b in edges if a != b}
    assert {edge for edge, _ in plan.paths} == wanted
    for (a, b), path in plan.paths:
        assert (path[0], path[-1]) == (a, b)
        assert all(abs(depth[p] - depth[q]) == 1 for p, q in pairwise(path))
    assert layout(range(size), edges) == plan


@given(graphs)
def test_edges_of_a_graph_without_circles_all_run_forward(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    plan = layout(range(size), [(min(e), max(e)) for e in edges])
    depth = positions(plan.layers)
    assert all(depth[a] < depth[b] for (a, b), _ in plan.paths)


@given(graphs)
def test_places_keep_their_distance_and_order(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    plan = layout(range(size), edges)
    place = centred(plan.layers, plan.paths, 10.0)
    assert min(place.values()) == 0
    for layer in plan.layers:
        for a, b in pairwise(layer):
            assert place[b] - place[a] >= 9.98


def test_crossings_that_can_be_avoided_are() -> None:
    plan = layout(["a", "b", "x", "y"], [("a", "y"), ("b", "x")])
    assert plan.layers in ((("a", "b"), ("y", "x")), (("b", "a"), ("x", "y")))


def chain(length: int) -> LineageMap:
    nodes = tuple(MapNode(id=str(i), label=f"Step <{i}>", detail='"&"') for i in range(length))
    edges = tuple(MapEdge(source=str(i), target=str(i + 1)) for i in range(length - 1))
    return LineageMap(caption="Chain", nodes=nodes, edges=edges)


def test_the_map_is_well_formed_in_both_directions_and_themes() -> None:
    for length in (1, 3, 12):
        part = chain(length)
        light, dark = draw(part, LIGHT), draw(part, DARK)
        assert light != dark
        assert light == draw(part, LIGHT)
        root = ET.fromstring(light)
        boxes = [e for e in root.iter() if e.tag.endswith("rect")][1:]
        assert len(boxes) == length
        texts = [e.text for e in root.iter() if e.tag.endswith("text")]
        assert "Step <0>" in texts
        across = length <= 5
        spots = [float(box.get("x" if across else "y") or 0) for box in boxes]
        assert spots == sorted(spots)


def test_circles_are_drawn_too() -> None:
    part = LineageMap(
        nodes=(MapNode(id="a", label="a"), MapNode(id="b", label="b")),
        edges=(
            MapEdge(source="a", target="b"),
            MapEdge(source="b", target="a"),
            MapEdge(source="a", target="a"),
        ),
    )
    assert draw(part, LIGHT).count("<path") == 4
