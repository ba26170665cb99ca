"""Clusters: chains are followed, weak bridges are not, and people have the last word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.analysis.resolve.clusters import (
    Clusters,
    Constraints,
    Links,
    check_constraints,
    cluster,
    components,
)
from steward.analysis.resolve.rules import Grouping, Thresholds
from steward.core.errors import Invalid

Edge = tuple[int, int, float]


def grouped(
    count: int,
    edges: list[Edge],
    constraints: Constraints | None = None,
    sources: list[int] | None = None,
    grouping: Grouping | None = None,
) -> Clusters:
    probability = np.array([edge[2] for edge in edges], dtype=np.float64)
    links = Links(
        l=np.array([edge[0] for edge in edges], dtype=np.int64),
        r=np.array([edge[1] for edge in edges], dtype=np.int64),
        weight=np.log2(probability / (1 - probability)),
        probability=probability,
    )
    return cluster(
        np.array(sources or [0] * count, dtype=np.int64),
        links,
        constraints or Constraints(),
        Thresholds(match=0.8, review_from=0.1, review_to=0.95),
        grouping or Grouping(),
    )


def clique(members: list[int], probability: float = 0.99) -> list[Edge]:
    return [(a, b, probability) for a in members for b in members if a < b]


def test_a_chain_of_three_is_one_entity() -> None:
    result = grouped(4, [(0, 1, 0.99), (1, 2, 0.9)])
    assert result.entity.tolist() == [0, 0, 0, 3]


def test_a_weak_bridge_does_not_join_two_groups() -> None:
    edges = [*clique([0, 1, 2, 3]), *clique([4, 5, 6, 7]), (3, 4, 0.95)]
    result = grouped(8, edges)
    assert result.entity.tolist() == [0, 0, 0, 0, 4, 4, 4, 4]
    assert result.refused == 1
    followed = grouped(8, edges, grouping=Grouping(support=0.0))
    assert set(followed.entity.tolist()) == {0}, "without the rule the bridge would chain them"


def test_a_record_that_fits_both_sides_does_not_join_them() -> None:
    both = [(a, 8, 0.9) for a in range(8)]
    result = grouped(9, [*clique([0, 1, 2, 3]), *clique([4, 5, 6, 7]), *both])
    assert result.entity[0] != result.entity[4]
    assert result.entity[8] in {result.entity[0], result.entity[4]}


def test_groups_with_enough_support_do_join() -> None:
    across = [(a, b, 0.5) for a in (0, 1) for b in (2, 3) if (a, b) != (0, 2)]
    result = grouped(4, [(0, 1, 0.99), (2, 3, 0.99), (0, 2, 0.9), *across])
    assert result.entity.tolist() == [0, 0, 0, 0]


def test_decisions_override_scores() -> None:
    edges = [(0, 1, 0.999), (1, 2, 0.999)]
    apart = grouped(4, edges, Constraints(apart=((0, 2),)))
    assert apart.entity[0] != apart.entity[2]
    assert apart.entity[1] in {apart.entity[0], apart.entity[2]}
    together = grouped(4, edges, Constraints(together=((0, 3),)))
    assert together.entity.tolist() == [0, 0, 0, 0]


def test_a_source_that_holds_everything_once_gives_one_party() -> None:
    edges = [(0, 2, 0.99), (1, 2, 0.9)]
    free = grouped(3, edges, sources=[0, 0, 1])
    assert free.entity.tolist() == [0, 0, 0]
    once = grouped(3, edges, Constraints(once=frozenset({0})), sources=[0, 0, 1])
    assert once.entity.tolist() == [0, 1, 0], "the stronger link wins"


def test_no_group_grows_beyond_the_limit() -> None:
    edges = clique(list(range(6)))
    sizes = np.bincount(grouped(6, edges, grouping=Grouping(largest=4)).entity)
    assert sizes.max() <= 4


def test_contradicting_decisions_are_refused() -> None:
    with pytest.raises(Invalid, match="contradict"):
        check_constraints(4, Constraints(together=((0, 1), (1, 2)), apart=((0, 2),)))
    with pytest.raises(Invalid, match="contradict"):
        check_constraints(2, Constraints(apart=((1, 1),)))


@given(st.integers(1, 30), st.data())
def test_components_are_the_connected_ones(count: int, data: st.DataObject) -> None:
    node = st.integers(0, count - 1)
    edges = data.draw(st.lists(st.tuples(node, node), max_size=40))
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    label = components(count, array[:, 0], array[:, 1])
    parent = list(range(count))

    def root(place: int) -> int:
        while parent[place] != place:
            place = parent[place]
        return place

    for a, b in edges:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    assert label.tolist() == [root(place) for place in range(count)]


@given(st.integers(2, 12), st.data())
def test_every_party_has_an_entity_and_constraints_hold(count: int, data: st.DataObject) -> None:
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda p: p[0] < p[1]
    )
    pairs = data.draw(st.lists(pair, unique=True, max_size=30))
    edges = [(a, b, data.draw(st.sampled_from([0.2, 0.6, 0.85, 0.99]))) for a, b in pairs]
    apart = tuple(data.draw(st.lists(pair, unique=True, max_size=3)))
    sources = data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    result = grouped(count, edges, Constraints(apart=apart, once=frozenset({1})), sources)
    assert len(result.entity) == count
    assert (result.entity[result.entity] == result.entity).all(), "named after a member of it"
    assert all(result.entity[a] != result.entity[b] for a, b in apart)
    held = [
        entity
        for entity, source in zip(result.entity.tolist(), sources, strict=True)
        if source == 1
    ]
    assert len(held) == len(set(held))
