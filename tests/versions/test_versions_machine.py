"""Any sequence of commits, edits, undo, redo, branches, merges, restores and sweeps, against a model in memory.

The model knows what every version holds, how commits hang together and nothing of parts, patches or SQL.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from steward.core.errors import Conflict
from steward.store import Scope
from steward.versions import Draft, VersionConflict
from steward.versions.edits import Delete, Insert, Update
from tests.versions.versions_kit import Kit, fetch

pytestmark = pytest.mark.every_database

Rows = tuple[tuple[int, str], ...]
Key = tuple[str, str]
State = dict[Key, str]
numbers = count(1)


@dataclass(frozen=True)
class Made:
    """A commit of the model: its state, what it changed, where it came from, the work it took back."""

    id: str
    state: State
    changed: dict[Key, tuple[str | None, str | None]]
    parents: tuple["Made", ...]
    done: tuple["Made", ...]
    """Work that an undo would take back, newest last; `Made` of the commit that brought it about."""
    undone: tuple["Made", ...] = ()

    def ancestors(self) -> "set[str]":
        found, pending = set(), [self]
        while pending:
            current = pending.pop()
            if current.id not in found:
                found.add(current.id)
                pending += current.parents
        return found

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass
class Model:
    branches: dict[str, Made] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Made] = field(default_factory=dict)

    def commit(self, branch: str, commit_id: str, wanted: dict[Key, str | None]) -> Made:
        head = self.branches[branch]
        made = self.advance(head, commit_id, wanted, (head,))
        made = Made(made.id, made.state, made.changed, made.parents, (*head.done, made))
        return self.keep(branch, made)

    def advance(
        self, head: Made, commit_id: str, wanted: dict[Key, str | None], parents: tuple[Made, ...]
    ) -> Made:
        changed = {k: (head.state.get(k), v) for k, v in wanted.items() if head.state.get(k) != v}
        state = {k: v for k, v in {**head.state, **wanted}.items() if v is not None}
        return Made(commit_id, state, changed, parents, head.done)

    def keep(self, branch: str, made: Made) -> Made:
        self.branches[branch] = made
        self.commits[made.id] = made
        return made


class Machine(RuleBasedStateMachine):
    kit: Kit

    def __init__(self) -> None:
        super().__init__()
        scope = Scope("org_test", f"prj_{next(numbers)}")
        self.scope = scope
        self.versions = self.kit.versions
        self.workspace = self.versions.workspace(scope, "usr_test")
        first = Made(self.workspace.branch().head, {}, {}, (), ())
        self.model = Model({"main": first}, commits={first.id: first})
        self.fresh = count(1000)

    # What is committed -----------------------------------------------------------------------

    branch = st.integers(0, 2)
    name = st.sampled_from(["a", "b"])

    def pick(self, number: int) -> str:
        names = sorted(self.model.branches)
        return names[number % len(names)]

    def remember(self, version: str, rows: Rows) -> None:
        assert self.model.rows.setdefault(version, rows) == rows
        self.model.families[version] = self.versions.get(self.scope, version).family

    @rule(branch=branch, name=name, size=st.sampled_from([0, 3, 30]), text=st.sampled_from("xyz"))
    def put(self, branch: int, name: str, size: int, text: str) -> None:
        on = self.pick(branch)
        query = f"SELECT i AS k, '{text}' AS t FROM range({size}) r(i)"
        version = self.versions.write(self.scope, query).id
        self.remember(version, tuple((i, text) for i in range(size)))
        made = self.workspace.commit(Draft("Put", datasets={name: version}), on)
        self.model.commit(on, made.id, {("dataset", name): version})

    @rule(
        branch=branch,
        name=name,
        kind=st.sampled_from("udi"),
        low=st.integers(0, 40),
        wide=st.booleans(),
    )
    def edit(self, branch: int, name: str, kind: str, low: int, wide: bool) -> None:
        on = self.pick(branch)
        before = self.model.branches[on].state.get(("dataset", name))
        if before is None:
            return
        rows, high = self.model.rows[before], low + (20 if wide else 1)
        change: Update | Delete | Insert
        if kind == "u":
            text = f"u{next(self.fresh)}"
            change = Update(f"k BETWEEN {low} AND {high}", {"t": f"'{text}'"})
            rows = tuple((k, text if low <= k <= high else t) for k, t in rows)
        elif kind == "d":
            change = Delete(f"k BETWEEN {low} AND {high}")
            rows = tuple((k, t) for k, t in rows if not low <= k <= high)
        else:
            new = [next(self.fresh) for _ in range(9 if wide else 1)]
            listed = ", ".join(f"({k}, 'new')" for k in new)
            change = Insert(f"SELECT k, t FROM (VALUES {listed}) v(k, t)")
            rows = (*rows, *((k, "new") for k in new))
        after = self.versions.edit(self.scope, before, change).version.id
        self.remember(after, rows)
        base = self.workspace.branch(on).head
        made = self.workspace.commit(Draft("Edit", datasets={name: after}), on, base=base)
        self.model.commit(on, made.id, {("dataset", name): after})

    @rule(branch=branch, text=st.sampled_from(["one", "two", None]))
    def file(self, branch: int, text: str | None) -> None:
        on = self.pick(branch)
        digest = None
        if text is not None:
            digest = self.versions.put_file(self.scope, "f.txt", [text.encode()]).digest
        made = self.workspace.commit(Draft("File", files={"f.txt": digest}), on)
        self.model.commit(on, made.id, {("file", "f.txt"): digest})

    @rule(branch=branch, name=name)
    def drop(self, branch: int, name: str) -> None:
        on = self.pick(branch)
        made = self.workspace.commit(Draft("Drop", datasets={name: None}), on)
        self.model.commit(on, made.id, {("dataset", name): None})

    # Pointers --------------------------------------------------------------------------------

    @precondition(lambda self: len(self.model.branches) < 3)
    @rule(source=branch)
    def start_branch(self, source: int) -> None:
        name = f"branch {next(self.fresh)}"
        start = self.pick(source)
        self.workspace.create_branch(name, start)
        self.model.branches[name] = self.model.branches[start]

    @precondition(lambda self: len(self.model.branches) > 1)
    @rule()
    def delete_branch(self) -> None:
        name = min(self.model.branches)
        self.workspace.delete_branch(name)
        del self.model.branches[name]

    @rule(branch=branch)
    def undo(self, branch: int) -> None:
        on = self.pick(branch)
        head = self.model.branches[on]
        if not head.done:
            with pytest.raises(Conflict, match="nothing left"):
                self.workspace.undo(branch=on)
            return
        self.take_back(on, head, len(head.done) - 1, None)

    @rule(branch=branch, place=st.integers(0, 20))
    def undo_any(self, branch: int, place: int) -> None:
        on = self.pick(branch)
        head = self.model.branches[on]
        if head.done:
            index = place % len(head.done)
            self.take_back(on, head, index, head.done[index].id)

    def take_back(self, on: str, head: Made, index: int, commit: str | None) -> None:
        target = head.done[index]
        now = {key: head.state.get(key) for key in target.changed}
        if any(now[k] not in (before, after) for k, (before, after) in target.changed.items()):
            with pytest.raises(VersionConflict):
                self.workspace.undo(commit, on)
            return
        made = self.workspace.undo(commit, on)
        wanted = {key: before for key, (before, _) in target.changed.items()}
        undo = self.model.advance(head, made.id, wanted, (head,))
        done = head.done[:index] + head.done[index + 1 :]
        self.model.keep(
            on, Made(undo.id, undo.state, undo.changed, undo.parents, done, (*head.undone, undo))
        )

    @rule(branch=branch)
    def redo(self, branch: int) -> None:
        on = self.pick(branch)
        head = self.model.branches[on]
        if not head.undone:
            with pytest.raises(Conflict, match="nothing to redo"):
                self.workspace.redo(on)
            return
        target = head.undone[-1]
        wanted = {key: before for key, (before, _) in target.changed.items()}
        made = self.workspace.redo(on)
        redone = self.model.advance(head, made.id, wanted, (head,))
        done = (*head.done, redone)
        self.model.keep(
            on,
            Made(redone.id, redone.state, redone.changed, redone.parents, done, head.undone[:-1]),
        )

    @rule(branch=branch, place=st.integers(0, 50), name=st.sampled_from(["a", "b", None]))
    def restore(self, branch: int, place: int, name: str | None) -> None:
        on = self.pick(branch)
        head = self.model.branches[on]
        reachable = sorted(set.union(*(m.ancestors() for m in self.model.branches.values())))
        target = self.model.commits[reachable[place % len(reachable)]]
        if name is None:
            keys = head.state.keys() | target.state.keys()
            made = self.workspace.restore(target.id, on)
        elif ("dataset", name) in head.state.keys() | target.state.keys():
            keys = {("dataset", name)}
            made = self.workspace.restore(target.id, on, datasets=[name])
        else:
            return
        self.model.commit(on, made.id, {key: target.state.get(key) for key in keys})

    # Merge -----------------------------------------------------------------------------------

    @rule(source=branch, into=branch)
    def merge(self, source: int, into: int) -> None:
        theirs_name, ours_name = self.pick(source), self.pick(into)
        ours, theirs = self.model.branches[ours_name], self.model.branches[theirs_name]
        if theirs.id in ours.ancestors():
            assert self.workspace.merge(theirs_name, ours_name).commit is None
            return
        base = self.merge_base(ours, theirs)
        wanted: dict[Key, str | None] = {}
        merged: dict[Key, Rows] = {}
        clash = False
        for key in base.state.keys() | theirs.state.keys():
            was, mine, other = (c.state.get(key) for c in (base, ours, theirs))
            if other in (was, mine):
                continue
            if mine == was:
                wanted[key] = other
                continue
            rows = self.merged_rows(key, was, mine, other)
            if rows is None:
                clash = True
            else:
                merged[key] = rows
        if clash:
            with pytest.raises(VersionConflict):
                self.workspace.merge(theirs_name, ours_name)
            return
        outcome = self.workspace.merge(theirs_name, ours_name)
        assert outcome.commit is not None
        for key, rows in merged.items():
            version = self.workspace.dataset(key[1], ours_name).version
            self.remember(version, rows)
            wanted[key] = version
        made = self.model.advance(ours, outcome.commit.id, wanted, (ours, theirs))
        self.model.keep(
            ours_name, Made(made.id, made.state, made.changed, made.parents, (*ours.done, made))
        )

    def merge_base(self, ours: Made, theirs: Made) -> Made:
        shared = ours.ancestors() & theirs.ancestors()
        best = {c for c in shared if not any(c in self.strict(other) for other in shared)}
        return self.model.commits[max(best)]

    def strict(self, commit_id: str) -> set[str]:
        return self.model.commits[commit_id].ancestors() - {commit_id}

    def merged_rows(
        self, key: Key, was: str | None, mine: str | None, other: str | None
    ) -> Rows | None:
        """By row, as rows keep their number `k`; None where both changed the same one."""
        if key[0] == "file" or was is None or mine is None or other is None:
            return None
        if len({self.model.families[v] for v in (was, mine, other)}) > 1:
            return None
        old, left, right = (dict(self.model.rows[v]) for v in (was, mine, other))
        changed = {k for k in old.keys() | right.keys() if old.get(k) != right.get(k)}
        touched = {k for k in old.keys() | left.keys() if old.get(k) != left.get(k)}
        if any(left.get(k) != right.get(k) for k in changed & touched):
            return None
        kept = {k: right.get(k) if k in changed else t for k, t in left.items()}
        added = {k: t for k, t in right.items() if k not in old and k not in left}
        return tuple((k, t) for k, t in {**kept, **added}.items() if t is not None)

    # Time ------------------------------------------------------------------------------------

    @rule()
    def sweep(self) -> None:
        self.kit.clock.advance(days=2)
        self.versions.sweep()
        self.kit.clock.advance(hours=1)
        self.versions.sweep()

    @invariant()
    def branches_are_as_the_model_says(self) -> None:
        assert {b.name: b.head for b in self.workspace.branches()} == {
            name: made.id for name, made in self.model.branches.items()
        }
        for name, made in self.model.branches.items():
            self.check(name, made)

    def check(self, reference: str, made: Made) -> None:
        datasets = {("dataset", d.name): d.version for d in self.workspace.datasets(reference)}
        files = {("file", f.path): f.digest for f in self.workspace.files(reference)}
        assert {**datasets, **files} == made.state
        for (_, path), digest in files.items():
            content = b"".join(self.workspace.read_file(path, reference))
            assert hashlib.sha256(content).hexdigest() == digest
        for (_, dataset), version in datasets.items():
            assert (
                tuple(fetch(self.workspace.table(dataset, reference))) == self.model.rows[version]
            )

    def teardown(self) -> None:
        """All of history still holds what it held, and the log tells it."""
        self.sweep()
        for name, made in self.model.branches.items():
            for commit_id in made.ancestors():
                self.check(commit_id, self.model.commits[commit_id])
            for logged in self.workspace.log(name, limit=200):
                changed = {(c.kind, c.name): (c.before, c.after) for c in logged.changes}
                assert changed == self.model.commits[logged.id].changed


@pytest.mark.timeout(1800)
def test_any_sequence_of_operations(kit: Kit, effort: Callable[[int, int], int]) -> None:
    machine = type("BoundMachine", (Machine,), {"kit": kit})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=effort(5, 40), stateful_step_count=15, deadline=None),
    )
