"""Recording a commit: everything a branch gains from it, in one transaction that ends with moving its head."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Bug, Clock, Conflict, Denied, Ids, fault
from steward.store import EventLog, Transaction
from steward.versions import _tables as tables
from steward.versions._history import History, Row
from steward.versions._names import appearance, checked_dataset_name, checked_path
from steward.versions._parts import Parts
from steward.versions._seals import follow
from steward.versions._tree import Key
from steward.versions.results import EntryConflict, Kind, VersionConflict

Wanted = Mapping[Key, str | None]
_LISTED_IN_EVENT: Final = 100


@dataclass(frozen=True)
class Draft:
    """A commit to be: datasets by version id and files by blob digest, None to remove; and why.

    `inputs` names, per dataset, the versions it was made from; undo warns by them. `lineage` is kept as it is.
    """

    message: str
    operation: str = "edit"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    datasets: Mapping[str, str | None] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    inputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lineage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def wanted(self) -> dict[Key, str | None]:
        found: dict[Key, str | None] = {}
        # What is there under a name that is refused today can still be removed.
        for name, version in self.datasets.items():
            found["dataset", name if version is None else checked_dataset_name(name)] = version
        for path, digest in self.files.items():
            found["file", path if digest is None else checked_path(path)] = digest
        return found


@dataclass(frozen=True)
class Effect:
    """The effect of a run that commits belong to."""

    ticket: str | None = None
    run_id: str | None = None
    fence: Callable[[Transaction], None] | None = None
    """Refuses a commit, within its transaction, when the run is no longer driven here."""


_effect: ContextVar[Effect] = ContextVar("effect", default=Effect())  # noqa: B039 - it is frozen


@contextmanager
def on_ticket(
    ticket: str | None,
    run_id: str | None = None,
    fence: Callable[[Transaction], None] | None = None,
) -> Iterator[None]:
    """Commits made inside carry the name of the effect they belong to; threads started inside inherit it."""
    token = _effect.set(Effect(ticket, run_id, fence))
    try:
        yield
    finally:
        _effect.reset(token)


_calls_only: ContextVar[bool] = ContextVar("calls_only", default=False)


@contextmanager
def calls_only(*, required: bool = True) -> Iterator[None]:
    """Inside, data changes by calls of the broker and in no other way; every door of the product opens with this."""
    token = _calls_only.set(required)
    try:
        yield
    finally:
        _calls_only.reset(token)


def refuse_past_the_broker(what: str) -> None:
    """A run's call that acts has a ticket; nothing else may change data once people can come in."""
    effect = _effect.get()
    if effect.ticket is None and (_calls_only.get() or effect.run_id is not None):
        raise Bug(f"{what} was to change outside of a call that acts. Nothing was changed.")


@dataclass(frozen=True)
class Origin:
    """Who makes a commit, and how it relates to others."""

    author: str
    run_id: str | None = None
    merged: str | None = None
    undoes: str | None = None
    redoes: str | None = None


class Recorder:
    def __init__(self, clock: Clock, ids: Ids, parts: Parts, events: EventLog | None) -> None:
        self._clock = clock
        self._ids = ids
        self._parts = parts
        self._events = events

    def record(
        self, history: History, branch: Row, draft: Draft, origin: Origin, wanted: Wanted
    ) -> Row:
        """Adds a commit to a branch whose row this transaction has locked."""
        head = history.commit_row(branch.head_id)
        now = self._clock.now()
        changed = {
            key: (before, after)
            for key, after in sorted(wanted.items())
            if (before := history.tree.get(head.tree_id, key)) != after
        }
        tree_id = history.tree.update(head.tree_id, {k: after for k, (_, after) in changed.items()})
        _refuse_lookalikes(history, tree_id, changed)
        fault("data.commit.started")
        self._keep(history.tx, changed, now)
        follow(history.tx, branch.name, changed, now)
        self._add_nodes(history, now)
        fault("data.commit.before_row")
        commit_id = self._add_commit(history, branch, head, tree_id, draft, origin)
        self._add_changes(history.tx, commit_id, changed, draft)
        fault("data.commit.before_head")
        moved = history.tx.execute(
            sa.update(tables.branches)
            .where(tables.branches.c.id == branch.id, tables.branches.c.head_id == head.id)
            .values(head_id=commit_id)
        )
        if moved.rowcount != 1:
            raise Conflict(f"Branch {branch.name!r} moved while this commit was made; try again.")
        run_id = origin.run_id or _effect.get().run_id
        self._announce(history.tx, branch, commit_id, draft, changed, origin.author, run_id)
        fault("data.commit.before_end")
        return history.commit_row(commit_id)

    def _keep(
        self, tx: Transaction, changed: Mapping[Key, tuple[str | None, str | None]], now: datetime
    ) -> None:
        """What the commit will name must still be there, and the sweep must know that it is in use."""
        versions = sorted({a for (kind, _), (_, a) in changed.items() if kind == "dataset" and a})
        if tables.renew(tx, tables.versions, tables.versions.c.id, versions, now) != len(versions):
            raise Conflict(
                "A version of this change is no longer stored: it waited longer than the retention "
                "period for its commit. Make it again.",
                code="swept",
            )
        self._parts.renew(tx, [a for (kind, _), (_, a) in changed.items() if kind == "file" and a])

    def _add_nodes(self, history: History, now: datetime) -> None:
        rows = [
            {"id": node_id, "body": node.body, "touched_at": now}
            for node_id, node in sorted(history.tree.made.items())
        ]
        tables.upsert(history.tx, tables.trees, rows, renew={"touched_at": now})

    def _add_commit(
        self,
        history: History,
        branch: Row,
        head: Row,
        tree_id: str,
        draft: Draft,
        origin: Origin,
    ) -> str:
        refuse_past_the_broker("Data")
        effect = _effect.get()
        if effect.fence is not None:
            effect.fence(history.tx)
        commit_id = self._ids.new("cmt")
        same_line = head.line_id == branch.line_id
        history.tx.execute(
            sa.insert(tables.commits).values(
                id=commit_id,
                workspace_id=branch.workspace_id,
                line_id=branch.line_id,
                position=head.position + 1 if same_line else 1,
                parent_id=head.id,
                merged_id=origin.merged,
                tree_id=tree_id,
                author=origin.author,
                message=draft.message,
                operation=draft.operation,
                arguments=dict(draft.arguments),
                run_id=origin.run_id or effect.run_id,
                undoes_id=origin.undoes,
                redoes_id=origin.redoes,
                ticket=effect.ticket,
                created_at=self._clock.now(),
            )
        )
        return commit_id

    def _add_changes(
        self,
        tx: Transaction,
        commit_id: str,
        changed: Mapping[Key, tuple[str | None, str | None]],
        draft: Draft,
    ) -> None:
        rows = [
            {
                "commit_id": commit_id,
                "kind": kind,
                "name": name,
                "before": before,
                "after": after,
                "lineage": dict(draft.lineage.get(name, {})) if kind == "dataset" else {},
            }
            for (kind, name), (before, after) in changed.items()
        ]
        if rows:
            tx.execute(sa.insert(tables.changes), rows)
        inputs = [
            {"commit_id": commit_id, "name": name, "version_id": version}
            for name, versions in sorted(draft.inputs.items())
            for version in sorted(set(versions))
        ]
        if inputs:
            tx.execute(sa.insert(tables.inputs), inputs)

    def _announce(
        self,
        tx: Transaction,
        branch: Row,
        commit_id: str,
        draft: Draft,
        changed: Mapping[Key, tuple[str | None, str | None]],
        author: str,
        run_id: str | None,
    ) -> None:
        if self._events is None:
            return
        listed = list(changed)[:_LISTED_IN_EVENT]
        self._events.append(
            tx,
            "data.committed",
            commit_id,
            {
                "branch": branch.name,
                "operation": draft.operation,
                "datasets": [name for kind, name in listed if kind == "dataset"],
                "files": [name for kind, name in listed if kind == "file"],
                "changed": len(changed),
                "by": author,
                **({"run": run_id} if run_id is not None else {}),
            },
        )


def refuse_if_protected(branch: Row) -> None:
    if branch.protected:
        raise Denied(
            f"Branch {branch.name!r} is protected: commit to another branch and merge that one into it."
        )


def moved_since(
    history: History, base: Row, head: Row, keys: Sequence[Key]
) -> tuple[EntryConflict, ...]:
    """Which of the entries differ between two commits of a branch, and who changed them."""
    if base.tree_id == head.tree_id:
        return ()
    moved = {key for key, _, _ in history.tree.diff(base.tree_id, head.tree_id)} & set(keys)
    if not moved:
        return ()
    between = history.later(base, head)
    changes = history.changes([row.id for row in between])
    return tuple(
        EntryConflict(
            kind=as_kind(key[0]),
            name=key[1],
            reason="changed on the branch since it was read",
            commits=tuple(
                row.id for row in between if any((c.kind, c.name) == key for c in changes[row.id])
            ),
        )
        for key in sorted(moved)
    )


def refuse_moved(branch: str, conflicts: Sequence[EntryConflict]) -> None:
    if conflicts:
        listed = ", ".join(repr(conflict.name) for conflict in conflicts[:5])
        more = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
        raise VersionConflict(
            f"Branch {branch!r} has moved: {listed}{more} changed since this work began. "
            "Read the new state and apply the change again.",
            tuple(conflicts),
        )


def as_kind(kind: str) -> Kind:
    return "dataset" if kind == "dataset" else "file"


def _refuse_lookalikes(
    history: History, tree_id: str, changed: Mapping[Key, tuple[str | None, str | None]]
) -> None:
    """Case does not count in a query: with two such names, no query of the project could be answered."""
    refuse_lookalikes(
        history,
        tree_id,
        [
            name
            for (kind, name), (before, after) in changed.items()
            if kind == "dataset" and before is None and after is not None
        ],
    )


def refuse_lookalikes(history: History, tree_id: str, names: Sequence[str]) -> None:
    """Refuses new datasets that look like one of the tree."""
    new = {appearance(name): name for name in names}
    if not new:
        return
    for (_, name), _ in history.tree.entries(tree_id, "dataset"):
        other = new.get(appearance(name), name)
        if other != name:
            raise Conflict(
                f"There is a dataset called {name!r} already; {other!r} differs from it only in case or in "
                "how its characters are written. Choose another name.",
                code="name-taken",
            )
