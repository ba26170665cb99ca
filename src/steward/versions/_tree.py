"""What a commit holds, as a tree of small nodes named by their hash.

The map (kind, name) → digest is a trie over the hash of the name: a node with few entries lists them, a larger one
has up to sixteen children. Its shape depends on the entries alone, so equal states have equal ids, a change rewrites
only the nodes on its path, and two states are compared without visiting what they share.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from steward.core import Bug

Key = tuple[str, str]
Value = TypeVar("Value")
LEAF: Final = 64
_DIGITS: Final = "0123456789abcdef"


@dataclass(frozen=True)
class Node:
    """Either `entries` (a leaf) or `children`: digit → (node id, number of entries below)."""

    entries: Mapping[Key, str] | None = None
    children: Mapping[str, tuple[str, int]] | None = None

    @cached_property
    def body(self) -> str:
        if self.entries is not None:
            listed = [[kind, name, target] for (kind, name), target in sorted(self.entries.items())]
            return json.dumps({"entries": listed}, ensure_ascii=False, separators=(",", ":"))
        children = {digit: list(child) for digit, child in sorted((self.children or {}).items())}
        return json.dumps({"children": children}, separators=(",", ":"))

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(self.body.encode()).hexdigest()

    @property
    def count(self) -> int:
        if self.entries is not None:
            return len(self.entries)
        return sum(count for _, count in (self.children or {}).values())


EMPTY: Final = Node(entries={})
Load = Callable[[str], Node]


def parse(body: str) -> Node:
    document = json.loads(body)
    if "entries" in document:
        return Node(entries={(kind, name): target for kind, name, target in document["entries"]})
    return Node(children={digit: (i, n) for digit, (i, n) in document["children"].items()})


class Tree:
    """Reads and derives states; `load` fetches a node by id, and new nodes are kept in `made`."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self.made: dict[str, Node] = {EMPTY.id: EMPTY}

    def node(self, node_id: str) -> Node:
        return self.made.get(node_id) or self._load(node_id)

    def get(self, root: str, key: Key) -> str | None:
        path = _path(key)
        node = self.node(root)
        for digit in path:
            if node.entries is not None:
                return node.entries.get(key)
            child = (node.children or {}).get(digit)
            if child is None:
                return None
            node = self.node(child[0])
        raise Bug("A commit's tree is deeper than its keys.")

    def entries(self, root: str, kind: str | None = None) -> Iterator[tuple[Key, str]]:
        node = self.node(root)
        if node.entries is not None:
            yield from (item for item in node.entries.items() if kind in (None, item[0][0]))
            return
        for child, _ in (node.children or {}).values():
            yield from self.entries(child, kind)

    def update(self, root: str, wanted: Mapping[Key, str | None]) -> str:
        """The id of the state with these entries set, or removed where None."""
        return self._update(root, 0, wanted).id if wanted else root

    def diff(self, before: str, after: str) -> Iterator[tuple[Key, str | None, str | None]]:
        """Entries that differ; visits only nodes that differ."""
        yield from self._diff(before, after, 0)

    def _update(self, node_id: str, depth: int, wanted: Mapping[Key, str | None]) -> Node:
        node = self.node(node_id)
        if node.entries is not None:
            merged = {**node.entries, **wanted}
            return self._build({k: v for k, v in merged.items() if v is not None}, depth)
        children = dict(node.children or {})
        for digit, below in _by_digit(wanted, depth).items():
            child = self._update(children.get(digit, (EMPTY.id, 0))[0], depth + 1, below)
            children[digit] = (child.id, child.count)
        children = {digit: child for digit, child in children.items() if child[1]}
        changed = Node(children=children)
        if changed.count > LEAF:
            return self._keep(changed)
        found = {k: v for child, _ in children.values() for k, v in self.entries(child)}
        return self._keep(Node(entries=found))

    def _build(self, entries: Mapping[Key, str], depth: int) -> Node:
        if len(entries) <= LEAF:
            return self._keep(Node(entries=dict(entries)))
        children = {}
        for digit, below in _by_digit(entries, depth).items():
            child = self._build(below, depth + 1)
            children[digit] = (child.id, child.count)
        return self._keep(Node(children=children))

    def _keep(self, node: Node) -> Node:
        self.made[node.id] = node
        return node

    def _diff(
        self, before: str, after: str, depth: int
    ) -> Iterator[tuple[Key, str | None, str | None]]:
        if before == after:
            return
        left, right = self.node(before), self.node(after)
        if left.children is not None and right.children is not None:
            for digit in _DIGITS:
                yield from self._diff(
                    left.children.get(digit, (EMPTY.id, 0))[0],
                    right.children.get(digit, (EMPTY.id, 0))[0],
                    depth + 1,
                )
            return
        old, new = dict(self.entries(before)), dict(self.entries(after))
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                yield key, old.get(key), new.get(key)


def reachable(
    roots: Collection[str], load_many: Callable[[Collection[str]], Mapping[str, Node]]
) -> dict[str, Node]:
    """Every node below the roots, level by level; a node shared by many roots is loaded once."""
    found: dict[str, Node] = {}
    wanted = set(roots) - {EMPTY.id}
    while wanted:
        level = load_many(wanted)
        found.update(level)
        below = {i for node in level.values() for i, _ in (node.children or {}).values()}
        wanted = below - found.keys()
    return found


def _by_digit(entries: Mapping[Key, Value], depth: int) -> dict[str, dict[Key, Value]]:
    groups: dict[str, dict[Key, Value]] = {}
    for key, value in entries.items():
        groups.setdefault(_path(key)[depth], {})[key] = value
    return groups


def _path(key: Key) -> str:
    return hashlib.sha256("\0".join(key).encode()).hexdigest()
