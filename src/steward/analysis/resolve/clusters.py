"""From matching pairs to entities, without letting a weak bridge chain two groups together.

Links that match join parties into components. Most components are beyond doubt; the others are
built up again link by link, the strongest first. A single party may follow its best link. Two
groups join only if enough of the pairs between them agree at least to the point of review
(`grouping.support`), no person said they differ, no source that holds every entity once would hold
it twice, and the result does not exceed `grouping.largest`. A refused link is tried again when its
groups have grown.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steward.analysis.resolve.rules import Grouping, Thresholds
from steward.core import Invalid, Problem

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RETRIES = 5


@dataclass(frozen=True)
class Links:
    """Pairs of parties worth reviewing or better, l < r, by strength."""

    l: Ints  # noqa: E741
    r: Ints
    weight: Floats
    probability: Floats


@dataclass(frozen=True)
class Constraints:
    """What no score can override; parties by number."""

    together: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    once: frozenset[int] = frozenset()
    """Sources that hold every entity at most once."""


@dataclass(frozen=True)
class Clusters:
    entity: Ints
    """Per party, the smallest party of its entity."""
    refused: int
    """Matching links left open because their groups do not fit together."""


def cluster(
    sources: Ints,
    links: Links,
    constraints: Constraints,
    thresholds: Thresholds,
    grouping: Grouping,
) -> Clusters:
    """`sources` holds each party's source."""
    links = _mutual_best(sources, links, constraints.once)
    matching = links.probability >= thresholds.match
    left, right = links.l[matching], links.r[matching]
    if constraints.together:
        forced = np.array(constraints.together, dtype=np.int64)
        left, right = np.append(left, forced[:, 0]), np.append(right, forced[:, 1])
    entity = components(len(sources), left, right)
    doubtful = _doubtful(sources, entity, links, constraints, thresholds, grouping)
    if not doubtful.any():
        return Clusters(entity, 0)
    return _rebuild(sources, entity, doubtful, links, constraints, thresholds, grouping)


def _mutual_best(sources: Ints, links: Links, once: frozenset[int]) -> Links:
    """Without links between sources that hold everything once where a party has a better one there."""
    clean = np.isin(np.arange(int(sources.max(initial=0)) + 1), list(once))
    between = (
        clean[sources[links.l]] & clean[sources[links.r]] if len(links.l) else np.zeros(0, bool)
    )
    if not between.any():
        return links
    width = int(sources.max()) + 1
    best = np.full(len(sources) * width, -np.inf)
    to_right = links.l * width + sources[links.r]
    to_left = links.r * width + sources[links.l]
    np.maximum.at(best, to_right, links.weight)
    np.maximum.at(best, to_left, links.weight)
    kept = ~between | ((links.weight >= best[to_right]) & (links.weight >= best[to_left]))
    return Links(links.l[kept], links.r[kept], links.weight[kept], links.probability[kept])


def components(count: int, left: Ints, right: Ints) -> Ints:
    """Per node, the smallest node it is connected to."""
    label = np.arange(count, dtype=np.int64)
    while len(left):
        low = np.minimum(label[left], label[right])
        before = label.copy()
        np.minimum.at(label, left, low)
        np.minimum.at(label, right, low)
        np.minimum.at(label, before[left], low)
        np.minimum.at(label, before[right], low)
        label = label[label]
        if np.array_equal(label, before):
            break
    return label


def _doubtful(
    sources: Ints,
    entity: Ints,
    links: Links,
    constraints: Constraints,
    thresholds: Thresholds,
    grouping: Grouping,
) -> npt.NDArray[np.bool_]:
    """Per component (by its smallest node), whether it needs a closer look."""
    size = np.bincount(entity, minlength=len(entity))
    supporting = links.probability >= thresholds.review_from
    inside = supporting & (entity[links.l] == entity[links.r])
    supported = np.bincount(entity[links.l[inside]], minlength=len(entity))
    # The smallest cut between two groups of two or more has 2(n - 2) pairs; with fewer pairs
    # missing than it can do without, no split could lack support.
    enough = size * (size - 1) / 2 - (1 - grouping.support) * 2 * (size - 2)
    doubtful: npt.NDArray[np.bool_] = (size >= 4) & (supported < enough) | (size > grouping.largest)
    for one, other in constraints.apart:
        if entity[one] == entity[other]:
            doubtful[entity[one]] = True
    for source in constraints.once:
        held = np.bincount(entity[sources == source], minlength=len(entity))
        doubtful |= held > 1
    return doubtful


def _rebuild(
    sources: Ints,
    entity: Ints,
    doubtful: npt.NDArray[np.bool_],
    links: Links,
    constraints: Constraints,
    thresholds: Thresholds,
    grouping: Grouping,
) -> Clusters:
    result = entity.copy()
    members = np.flatnonzero(doubtful[entity])
    result[members] = members
    groups = _Groups(members, sources, constraints, grouping)
    inside = doubtful[entity[links.l]] & (entity[links.l] == entity[links.r])
    # The strongest first; equal ones in the order of their parties.
    order = np.lexsort((links.r[inside], links.l[inside], -links.weight[inside]))
    rows = np.flatnonzero(inside)[order]
    for row in rows[links.probability[rows] >= thresholds.review_from]:
        groups.support(int(links.l[row]), int(links.r[row]))
    for one, other in constraints.together:
        if doubtful[entity[one]]:
            groups.force(one, other)
    open_links = [
        (int(links.l[row]), int(links.r[row]))
        for row in rows[links.probability[rows] >= thresholds.match]
    ]
    for _ in range(RETRIES):
        refused = [pair for pair in open_links if not groups.join(*pair)]
        if len(refused) == len(open_links):
            break
        open_links = refused
    for party in members:
        result[party] = groups.smallest(int(party))
    return Clusters(result, len(open_links))


class _Groups:
    """Groups of parties that grow by joining."""

    def __init__(
        self, members: Ints, sources: Ints, constraints: Constraints, grouping: Grouping
    ) -> None:
        self._group = {int(party): int(party) for party in members}
        self._parties = {int(party): [int(party)] for party in members}
        self._once = {int(party): {int(sources[party])} & constraints.once for party in members}
        self._near: dict[int, set[int]] = defaultdict(set)
        self._apart: dict[int, set[int]] = defaultdict(set)
        for one, other in constraints.apart:
            self._apart[one].add(other)
            self._apart[other].add(one)
        self._grouping = grouping

    def support(self, one: int, other: int) -> None:
        """Notes that two parties agree at least to the point of review."""
        self._near[one].add(other)
        self._near[other].add(one)

    def force(self, one: int, other: int) -> None:
        """Joins because a person said so."""
        a, b = self._group[one], self._group[other]
        if a != b:
            self._merge(a, b)

    def join(self, one: int, other: int) -> bool:
        """Joins the groups of two parties if they fit together."""
        a, b = self._group[one], self._group[other]
        if a == b:
            return True
        if not self._fit(a, b):
            return False
        self._merge(a, b)
        return True

    def smallest(self, party: int) -> int:
        return min(self._parties[self._group[party]])

    def _fit(self, a: int, b: int) -> bool:
        left, right = sorted((self._parties[a], self._parties[b]), key=len)
        members = set(right)
        if len(left) + len(right) > self._grouping.largest or self._once[a] & self._once[b]:
            return False
        if any(self._apart[party] & members for party in left if party in self._apart):
            return False
        if len(left) == 1:
            return True
        agreeing = sum(len(self._near[party] & members) for party in left)
        return agreeing >= self._grouping.support * len(left) * len(right)

    def _merge(self, a: int, b: int) -> None:
        if len(self._parties[a]) < len(self._parties[b]):
            a, b = b, a
        for party in self._parties[b]:
            self._group[party] = a
        self._parties[a].extend(self._parties.pop(b))
        self._once[a] = self._once[a] | self._once.pop(b)


def check_constraints(count: int, constraints: Constraints) -> None:
    """Decisions that contradict each other cannot be obeyed."""
    if not constraints.apart:
        return
    forced = np.array(constraints.together, dtype=np.int64).reshape(-1, 2)
    label = components(count, forced[:, 0], forced[:, 1])
    for one, other in constraints.apart:
        if one == other or label[one] == label[other]:
            raise Invalid(
                "The decisions contradict each other: two rows are to be kept apart that other "
                "decisions, or a shared party key, make one. Withdraw one of them.",
                code="contradicting-decisions",
                problems=[Problem("/decisions", "contradiction")],
            )
