"""The tree of a commit: a map that is cheap to change, whose id depends on its entries alone."""

from hypothesis import given
from hypothesis import strategies as st

from steward.versions._tree import EMPTY, Key, Node, Tree, parse, reachable

keys = st.tuples(st.sampled_from(["dataset", "file"]), st.integers(0, 400).map(str))
changes = st.dictionaries(keys, st.one_of(st.none(), st.sampled_from("abc")), max_size=150)


def missing(node_id: str) -> Node:
    raise AssertionError(node_id)


@given(steps=st.lists(changes, max_size=5), other=changes)
def test_any_changes_against_a_dictionary(
    steps: list[dict[Key, str | None]], other: dict[Key, str | None]
) -> None:
    tree = Tree(missing)
    root, model = EMPTY.id, dict[Key, str]()
    for step in steps:
        root = tree.update(root, step)
        model = {k: v for k, v in {**model, **step}.items() if v is not None}
        assert dict(tree.entries(root)) == model
        assert all(tree.get(root, key) == model.get(key) for key in step)
    # However it came about, equal content has an equal id; what was built directly shows it.
    assert Tree(missing).update(EMPTY.id, model) == root
    changed = tree.update(root, other)
    after = {k: v for k, v in {**model, **other}.items() if v is not None}
    expected = {k: (model.get(k), after.get(k)) for k in model.keys() | after.keys()}
    found = {key: (before, now) for key, before, now in tree.diff(root, changed)}
    assert found == {k: pair for k, pair in expected.items() if pair[0] != pair[1]}
    assert {k[0] for k, _ in tree.entries(root, "file")} <= {"file"}


def test_a_tree_that_shrinks_looks_as_if_it_had_always_been_small() -> None:
    tree = Tree(missing)
    many = {("file", str(i)): "a" for i in range(500)}
    few = {key: value for key, value in many.items() if int(key[1]) < 40}
    grown = tree.update(EMPTY.id, many)
    shrunk = tree.update(grown, dict.fromkeys(many.keys() - few.keys()))
    assert shrunk == tree.update(EMPTY.id, few)


def test_a_change_rewrites_only_its_path() -> None:
    tree = Tree(missing)
    root = tree.update(EMPTY.id, {("file", str(i)): "a" for i in range(20_000)})
    known = dict(tree.made)
    asked: list[str] = []

    def load(node_id: str) -> Node:
        asked.append(node_id)
        return parse(known[node_id].body)

    fresh = Tree(load)
    changed = fresh.update(root, {("file", "77"): "b"})
    assert len(fresh.made) <= 5
    assert len(asked) <= 4
    asked.clear()
    assert list(fresh.diff(root, changed)) == [(("file", "77"), "a", "b")]
    assert len(asked) <= 8
    everything = reachable([root], lambda ids: {i: known[i] for i in ids})
    assert sum(len(node.entries or {}) for node in everything.values()) == 20_000
