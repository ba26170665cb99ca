"""Working in a workspace: one author's commits, undo, redo, restore and merge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from steward.core import Conflict, fault
from steward.versions import _undo
from steward.versions._branches import MAIN
from steward.versions._history import History, Row
from steward.versions._merge import Contested, MergePlan, Side, plan_merge, settle
from steward.versions._record import (
    Draft,
    Origin,
    moved_since,
    refuse_if_protected,
    refuse_moved,
    refuse_past_the_broker,
)
from steward.versions._tree import Key
from steward.versions._viewing import View
from steward.versions.results import (
    Branch,
    Commit,
    EntryConflict,
    Merge,
    Tag,
    VersionConflict,
)

_ATTEMPTS: Final = 10


@dataclass(frozen=True)
class Workspace(View):
    """Reads and changes one workspace in the name of `author`, perhaps within a run."""

    author: str
    run_id: str | None = None

    def create_branch(self, name: str, source: str = MAIN, *, of_a_run: bool = False) -> Branch:
        """A branch that a run gets for itself is part of its start, and needs no call."""
        if not of_a_run:
            refuse_past_the_broker("A branch")
        return self.rooms.branches.create(self.scope, self.id, name, source, self.author)

    def delete_branch(self, name: str, *, of_a_run: bool = False) -> None:
        if not of_a_run:
            refuse_past_the_broker("A branch")
        self.rooms.branches.delete(self.scope, self.id, name)

    def protect_branch(self, name: str, protected: bool = True) -> Branch:
        refuse_past_the_broker("A branch")
        return self.rooms.branches.protect(self.scope, self.id, name, protected)

    def snapshot(self, name: str, source: str = MAIN, message: str = "") -> Tag:
        """Names a commit and keeps it for good."""
        refuse_past_the_broker("A snapshot")
        return self.rooms.branches.tag(self.scope, self.id, name, source, self.author, message)

    def delete_snapshot(self, name: str) -> None:
        refuse_past_the_broker("A snapshot")
        self.rooms.branches.delete_tag(self.scope, self.id, name)

    def commit(
        self,
        draft: Draft,
        branch: str = MAIN,
        *,
        base: str | None = None,
        unchanged: Sequence[str] = (),
        rebase: bool = True,
    ) -> Commit:
        """Moves a branch on by one commit: all of the draft or nothing.

        `base` is the commit that the work was based on. When the branch has moved since, the commit goes on top of
        what is there now, unless an entry of the draft or a dataset listed in `unchanged` has changed, or `rebase`
        is off: then it raises VersionConflict.
        """
        wanted = draft.wanted()
        with self._writing(branch) as (history, row):
            refuse_if_protected(row)
            if base is not None and base != row.head_id:
                self._check_base(history, row, base, [*wanted, *_datasets(unchanged)], rebase)
            made = self.rooms.recorder.record(history, row, draft, self._origin(), wanted)
            return history.commits([made])[0]

    def restore(
        self,
        to: str,
        branch: str = MAIN,
        *,
        datasets: Sequence[str] | None = None,
        files: Sequence[str] | None = None,
        message: str = "",
    ) -> Commit:
        """Brings a branch, or the named datasets and files of it, to the state of another commit, as a new commit."""
        entries: list[Key] | None = None
        if datasets is not None or files is not None:
            entries = [
                *_datasets(datasets or ()),
                *(("file", f) for f in files or ()),
            ]
        with self._writing(branch) as (history, row):
            target = history.live(to)
            head = history.commit_row(row.head_id)
            draft = Draft(
                message=message
                or f"Restore {'all' if entries is None else 'some'} from {target.id}",
                operation="restore",
                arguments={"commit": target.id, "entries": [list(k) for k in entries or ()]},
            )
            wanted = _undo.restoring(history, head, target, entries)
            made = self.rooms.recorder.record(history, row, draft, self._origin(), wanted)
            return history.commits([made])[0]

    def undo(
        self, commit: str | None = None, branch: str = MAIN, *, merge_rows: bool = False
    ) -> Commit:
        """Takes back a commit (the last one by default) by a new commit with the opposite changes.

        Where later commits changed the same dataset again, it raises VersionConflict that names them; with
        `merge_rows` only the rows of this commit are put back, if no later one touched them.
        """

        def find(history: History, head: Row) -> _undo.Inverse:
            return _undo.inverse(history, head, _undo.to_undo(history, head, commit))

        return self._invert(branch, find, merge_rows)

    def redo(self, branch: str = MAIN, *, merge_rows: bool = False) -> Commit:
        """Takes back the last undo that has not been redone; only until new work is committed."""

        def find(history: History, head: Row) -> _undo.Inverse:
            return _undo.inverse(history, head, _undo.to_redo(history, head))

        return self._invert(branch, find, merge_rows)

    def merge(
        self,
        source: str,
        into: str = MAIN,
        *,
        message: str = "",
        resolutions: Mapping[str, Side] | None = None,
    ) -> Merge:
        """Brings another branch's changes into a branch.

        A dataset changed on both sides is merged by rows where each side changed other rows. What remains is a
        VersionConflict; `resolutions` decides such entries by name.
        """
        for _ in range(_ATTEMPTS):
            with self._reading() as history:
                ours = history.commit_row(history.branch_row(into).head_id)
                plan = plan_merge(history, ours, history.live(source))
                if plan is None:
                    return Merge(None, ours.id, ())
            settled = settle(self.rooms.content, self.scope, plan.contested, resolutions or {})
            _refuse_conflicts(f"{source!r} cannot be merged into {into!r}", settled.conflicts)
            draft = Draft(
                message=message or f"Merge {source} into {into}",
                operation="merge",
                arguments={
                    "source": source,
                    "commit": plan.theirs.id,
                    "merged_rows": list(settled.merged_rows),
                },
            )
            made = self._merged(into, plan, draft, {**plan.wanted, **settled.wanted})
            if made is not None:
                return Merge(made, plan.base.id, settled.merged_rows)
        raise _too_busy(into)

    def _merged(
        self, into: str, plan: MergePlan, draft: Draft, wanted: Mapping[Key, str | None]
    ) -> Commit | None:
        with self._writing(into) as (history, row):
            head = history.commit_row(row.head_id)
            if moved_since(history, plan.ours, head, sorted(plan.keys)):
                return None
            origin = self._origin(merged=plan.theirs.id)
            made = self.rooms.recorder.record(history, row, draft, origin, wanted)
            return history.commits([made])[0]

    def _invert(
        self, branch: str, find: Callable[[History, Row], _undo.Inverse], merge_rows: bool
    ) -> Commit:
        for _ in range(_ATTEMPTS):
            with self._writing(branch) as (history, row):
                found = find(history, history.commit_row(row.head_id))
                if not found.blocked:
                    return self._inverted(history, row, found, found.wanted)
                head_id = row.head_id
            contested = [_contested(found, blocked) for blocked in found.blocked]
            settled = settle(self.rooms.content, self.scope, contested, {}, by_rows=merge_rows)
            verb = "redone" if found.target.redo else "undone"
            _refuse_conflicts(f"Commit {found.target.about.id} cannot be {verb}", settled.conflicts)
            with self._writing(branch) as (history, row):
                if row.head_id == head_id:
                    wanted = {**found.wanted, **settled.wanted}
                    return self._inverted(history, row, found, wanted)
        raise _too_busy(branch)

    def _inverted(
        self,
        history: History,
        branch: Row,
        found: _undo.Inverse,
        wanted: Mapping[Key, str | None],
    ) -> Commit:
        about, redo = found.target.about, found.target.redo
        verb = "Redo" if redo else "Undo"
        draft = Draft(
            message=f"{verb}: {about.message}",
            operation=verb.lower(),
            arguments={"commit": about.id},
        )
        origin = self._origin(redoes=about.id) if redo else self._origin(undoes=about.id)
        made = self.rooms.recorder.record(history, branch, draft, origin, wanted)
        return history.commits([made])[0]

    def _check_base(
        self, history: History, branch: Row, base: str, keys: Sequence[Key], rebase: bool
    ) -> None:
        start, head = history.live(base), history.commit_row(branch.head_id)
        if not rebase:
            moved = [key for key, _, _ in history.tree.diff(start.tree_id, head.tree_id)]
            refuse_moved(branch.name, moved_since(history, start, head, moved))
            raise VersionConflict(f"Branch {branch.name!r} has moved since {base}; read it again.")
        refuse_moved(branch.name, moved_since(history, start, head, keys))

    def _origin(
        self, *, merged: str | None = None, undoes: str | None = None, redoes: str | None = None
    ) -> Origin:
        return Origin(self.author, self.run_id, merged, undoes, redoes)

    @contextmanager
    def _writing(self, branch: str) -> Iterator[tuple[History, Row]]:
        """A transaction that holds the branch: whoever else wants it waits."""
        with self.rooms.database.write(self.scope) as tx:
            history = History(tx, self.id)
            yield history, history.branch_row(branch, lock=True)
        fault("data.commit.done")


def _datasets(names: Sequence[str]) -> list[Key]:
    return [("dataset", name) for name in names]


def _contested(found: _undo.Inverse, blocked: _undo.Blocked) -> Contested:
    """An undo as a merge: from the commit's outcome, they went back, we went on."""
    change = next(c for c in found.plan.entries if (c.kind, c.name) == blocked.key)
    return Contested(blocked.key, blocked.expected, change.before, change.after, blocked.commits)


def _refuse_conflicts(what: str, conflicts: Sequence[EntryConflict]) -> None:
    if not conflicts:
        return
    listed = "; ".join(
        f"{c.name!r}: {c.reason}" + (f" (see {', '.join(c.commits[:3])})" if c.commits else "")
        for c in conflicts[:5]
    )
    more = f"; and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
    raise VersionConflict(f"{what}. {listed}{more}. Nothing was changed.", tuple(conflicts))


def _too_busy(branch: str) -> Conflict:
    return Conflict(f"Branch {branch!r} kept moving while this was prepared; try again.")
