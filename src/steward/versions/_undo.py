"""Undo, redo and restore: new commits that put pointers back; their cost does not depend on the data.

An undo is about a commit. What it inverts are the changes of the commit itself or, if that was undone and redone
since, of the redo; a redo inverts the changes of the undo. So each step leads back exactly where the last one left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from steward.core import Conflict, Invalid
from steward.versions import _tables as tables
from steward.versions._history import History, Row
from steward.versions._tree import Key
from steward.versions.results import Dependant, EntryChange, UndoPlan


@dataclass(frozen=True)
class Target:
    """The commit an undo or redo is about, and the commit whose changes it inverts."""

    about: Row
    basis: Row
    redo: bool


@dataclass(frozen=True)
class Blocked:
    """An entry that was changed again: what it was after the basis, and who changed it since."""

    key: Key
    expected: str | None
    commits: tuple[str, ...]


@dataclass(frozen=True)
class Inverse:
    target: Target
    plan: UndoPlan
    blocked: tuple[Blocked, ...]

    @property
    def wanted(self) -> dict[Key, str | None]:
        return {(change.kind, change.name): change.after for change in self.plan.entries}


def to_undo(history: History, head: Row, commit: str | None) -> Target:
    """What undoing a commit means, the last one by default. To undo an undo is to redo."""
    if commit is None:
        return _last_undoable(history, head)
    row = history.live(commit)
    if not history.is_in(history.stretches(head), row):
        raise Invalid(
            f"Commit {row.id} is not in the straight history of this branch. If it came with a "
            "merge, undo the merge."
        )
    if row.undoes_id is not None:
        return Target(history.commit_row(row.undoes_id), row, redo=True)
    if row.redoes_id is not None:
        return Target(history.commit_row(row.redoes_id), row, redo=False)
    latest = row
    for later in history.later(row, head):
        if row.id in (later.undoes_id, later.redoes_id):
            latest = later
    if latest.undoes_id is not None:
        raise Conflict(f"Commit {row.id} is undone already, by {latest.id}.", code="already-undone")
    return Target(row, latest, redo=False)


def to_redo(history: History, head: Row) -> Target:
    """The newest undo that was not redone; new work ends the series."""
    redone: set[str] = set()
    for row in _walk(history, head):
        if row.redoes_id is not None:
            redone.add(row.redoes_id)
        elif row.undoes_id is None:
            break
        elif row.undoes_id in redone:
            redone.discard(row.undoes_id)
        else:
            return Target(history.commit_row(row.undoes_id), row, redo=True)
    raise Conflict("There is nothing to redo on this branch.", code="nothing-to-redo")


def inverse(history: History, head: Row, target: Target) -> Inverse:
    """From the state at `head` to the state without the changes of the target's basis."""
    if target.basis.parent_id is None:
        raise Invalid("The first commit of a workspace cannot be undone.")
    later = history.later(target.basis, head)
    changes = history.changes([row.id for row in (target.basis, *later)])
    entries: list[EntryChange] = []
    blocked: list[Blocked] = []
    for change in changes[target.basis.id]:
        key = (change.kind, change.name)
        now = history.tree.get(head.tree_id, key)
        if now == change.before:
            continue
        if now != change.after:
            again = [r.id for r in later if any((c.kind, c.name) == key for c in changes[r.id])]
            blocked.append(Blocked(key, change.after, tuple(again)))
        entries.append(EntryChange(change.kind, change.name, now, change.before))
    plan = UndoPlan(
        commit=history.commits([target.about])[0],
        entries=tuple(entries),
        dependants=_dependants(history, changes[target.basis.id], later, changes),
        blocked=tuple(item.key[1] for item in blocked),
    )
    return Inverse(target, plan, tuple(blocked))


def restoring(
    history: History, head: Row, target: Row, entries: Sequence[Key] | None
) -> dict[Key, str | None]:
    """What brings a branch, or some entries of it, to the state of an earlier commit."""
    if entries is None:
        return {key: old for key, _, old in history.tree.diff(head.tree_id, target.tree_id)}
    wanted: dict[Key, str | None] = {}
    for key in entries:
        there, here = (history.tree.get(row.tree_id, key) for row in (target, head))
        if there is None and here is None:
            raise Invalid(f"There is no {key[0]} {key[1]!r}, neither now nor at {target.id}.")
        wanted[key] = there
    return wanted


def _last_undoable(history: History, head: Row) -> Target:
    """The newest commit of the branch that is neither an undo nor undone."""
    latest: dict[str, Row] = {}
    for row in _walk(history, head):
        about = row.undoes_id or row.redoes_id
        if about is not None:
            latest.setdefault(about, row)
        elif row.parent_id is None:
            break
        elif row.id not in latest:
            return Target(row, row, redo=False)
        elif latest[row.id].redoes_id is not None:
            return Target(row, latest[row.id], redo=False)
    raise Conflict("There is nothing left to undo on this branch.", code="nothing-to-undo")


def _dependants(
    history: History,
    changed: Sequence[EntryChange],
    later: Sequence[Row],
    changes: Mapping[str, Sequence[EntryChange]],
) -> tuple[Dependant, ...]:
    """Later work that changed the same entries again or was made from them, unless it is undone itself."""
    keys = {(change.kind, change.name) for change in changed}
    sources = {change.after for change in changed if change.kind == "dataset" and change.after}
    used = _inputs(history, [row.id for row in later])
    state = {row.undoes_id or row.redoes_id: row.undoes_id is not None for row in later}
    found: list[Dependant] = []
    for row in later:
        if row.undoes_id or row.redoes_id or state.get(row.id):
            continue
        for change in changes[row.id]:
            again = (change.kind, change.name) in keys
            made = bool(sources & used.get((row.id, change.name), set()))
            if not again and not made:
                continue
            if change.kind == "dataset" and change.after:
                sources.add(change.after)
            found.append(
                Dependant(
                    commit=row.id,
                    message=row.message,
                    author=row.author,
                    created_at=row.created_at,
                    kind=change.kind,
                    name=change.name,
                    reason="changed it again" if again else "made from it",
                )
            )
    return tuple(found)


def _walk(history: History, head: Row) -> Iterator[Row]:
    """The straight history from a commit back, fetched page by page."""
    after: str | None = None
    while rows := history.log(head, after=after, limit=50):
        yield from rows
        after = rows[-1].id


def _inputs(history: History, commit_ids: Sequence[str]) -> Mapping[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for start in range(0, len(commit_ids), 500):
        chunk = commit_ids[start : start + 500]
        for row in history.tx.rows(
            sa.select(tables.inputs).where(tables.inputs.c.commit_id.in_(chunk))
        ):
            found.setdefault((row.commit_id, row.name), set()).add(row.version_id)
    return found
