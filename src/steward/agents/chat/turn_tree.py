"""The tree of turns that a thread is: the way to a turn, what lies below it, and its siblings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from steward.agents.chat import _tables as tables
from steward.agents.chat._thread_rows import Turn, existing_thread, turn_of_row, turn_row
from steward.core import NotFound
from steward.store import Database, Scope, Transaction

_U: Final = tables.turns.c

Tree = Mapping[str, str | None]
"""Of each turn its parent, oldest turn first."""


@dataclass(frozen=True)
class Path:
    """Turns from the first one shown to a leaf."""

    turns: Sequence[Turn]
    before: str | None
    """Ask with this for the turns before; None when the first one is the root."""


class Turns:
    """Reads the turns of threads; threads.py writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def path(
        self,
        scope: Scope,
        thread_id: str,
        *,
        leaf: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> Path:
        """The last turns on the way from the root to a leaf (the head, where none is named), oldest first.

        A leaf stands for the conversation that goes on below it: of its answers the newest ones are followed.
        """
        with self._database.read(scope) as tx:
            thread = existing_thread(tx, thread_id)
            tree = _tree_of(tx, thread_id)
            if before is not None:
                _require_known(tree, before)
                way = _way_to(tree, before)[:-1]
            else:
                start = leaf or thread.head
                if start is None:
                    return Path((), None)
                _require_known(tree, start)
                way = _way_to(tree, _newest_below(tree, start) if leaf else start)
            shown = way[-limit:]
            rows = tx.rows(sa.select(tables.turns).where(_U.run_id.in_(shown)))
        found = {row.run_id: row for row in rows}
        turns = [turn_of_row(found[run_id], _siblings_of(tree, run_id)) for run_id in shown]
        return Path(turns, shown[0] if len(way) > len(shown) else None)

    def newest(
        self, scope: Scope, thread_id: str, *, until: str | None = None, limit: int = 50
    ) -> list[Turn]:
        """Turns of all branches, the last one first; from `until` on, itself included."""
        statement = sa.select(tables.turns).where(_U.thread_id == thread_id)
        if until is not None:
            statement = statement.where(_U.run_id <= until)
        with self._database.read(scope) as tx:
            existing_thread(tx, thread_id)
            rows = tx.rows(statement.order_by(_U.run_id.desc()).limit(limit))
        return [turn_of_row(row) for row in rows]

    def get(self, scope: Scope, thread_id: str, run_id: str) -> Turn:
        with self._database.read(scope) as tx:
            existing_thread(tx, thread_id)
            row = turn_row(tx, thread_id, run_id)
            return turn_of_row(row, _siblings_of(_tree_of(tx, thread_id), run_id))

    def said_by(self, scope: Scope, run_id: str) -> Turn | None:
        """The message that a run answers, without its siblings: a long thread is not read for it."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.turns).where(_U.run_id == run_id))
        return None if row is None else turn_of_row(row)

    def of_run(self, scope: Scope, run_id: str) -> Turn | None:
        """The turn that a run is, if it is one."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.turns).where(_U.run_id == run_id))
            if row is None:
                return None
            return turn_of_row(row, _siblings_of(_tree_of(tx, row.thread_id), run_id))

    def history(
        self, scope: Scope, thread_id: str, before: str | None, limit: int = 20
    ) -> Sequence[Turn]:
        """The turns on the way to `before`, itself included, oldest first: what a model is reminded of."""
        if before is None:
            return ()
        with self._database.read(scope) as tx:
            tree = _tree_of(tx, thread_id)
            _require_known(tree, before)
            shown = _way_to(tree, before)[-limit:]
            rows = tx.rows(sa.select(tables.turns).where(_U.run_id.in_(shown)))
        found = {row.run_id: row for row in rows}
        return [turn_of_row(found[run_id]) for run_id in shown]


def _tree_of(tx: Transaction, thread_id: str) -> Tree:
    statement = sa.select(_U.run_id, _U.parent).where(_U.thread_id == thread_id)
    return {row.run_id: row.parent for row in tx.rows(statement.order_by(_U.run_id))}


def _require_known(tree: Tree, run_id: str) -> None:
    if run_id not in tree:
        raise NotFound("There is no such turn in this thread.")


def _way_to(tree: Tree, leaf: str) -> list[str]:
    way: list[str] = []
    at: str | None = leaf
    while at is not None:
        way.append(at)
        at = tree[at]
    return way[::-1]


def _newest_below(tree: Tree, run_id: str) -> str:
    # Children come oldest first, so the newest one of each turn is what remains.
    newest = {parent: child for child, parent in tree.items() if parent is not None}
    while run_id in newest:
        run_id = newest[run_id]
    return run_id


def _siblings_of(tree: Tree, run_id: str) -> tuple[str, ...]:
    parent = tree[run_id]
    return tuple(each for each, above in tree.items() if above == parent)
