"""Retention: which commits keep their data. What is let go here, the sweep removes later."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.core import Clock
from steward.store import Database, Scope, Transaction
from steward.versions import _tables as tables
from steward.versions._history import History, Row


class Retention:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def expire(self, scope: Scope, older_than: datetime, keep_last: int) -> int:
        """Lets go of commits made before a moment, but for the last few of every branch.

        Heads, tagged and pinned commits and those where a branch starts are always kept. The commits stay in
        the log; only their data is given up. Returns how many there were.
        """
        with self._database.write(scope) as tx:
            return _mark(tx, _due(tx, _locked(tx, older_than), keep_last), self._clock.now())

    def due(
        self, scope: Scope, older_than: datetime, keep_last: int
    ) -> tuple[int, datetime | None]:
        """How many commits `expire` would let go, and when the oldest of them was made."""
        with self._database.read(scope) as tx:
            old = {row.id: row.created_at for row in tx.rows(_old(older_than))}
            due = _due(tx, list(old), keep_last)
        return len(due), min((old[each] for each in due), default=None)

    def release_unreachable(self, scope: Scope, older_than: datetime) -> int:
        """Lets go of commits that no branch, tag or pin leads to."""
        with self._database.write(scope) as tx:
            candidates = _locked(tx, older_than)
            if not candidates:
                return 0
            if tx.hold() is not None:
                return 0
            # Read after the lock: whoever names one of the candidates from now on will wait and be refused.
            live = live_commits(tx)
            return _mark(tx, [i for i in candidates if i not in live], self._clock.now())


def held_commits(tx: Transaction) -> set[str]:
    """Commits named by tags and pins."""
    tagged = tx.rows(sa.select(tables.tags.c.commit_id))
    pinned = tx.rows(sa.select(tables.pins.c.target).where(tables.pins.c.kind == "commit"))
    return {row.commit_id for row in tagged} | {row.target for row in pinned}


def _due(tx: Transaction, candidates: Sequence[str], keep_last: int) -> list[str]:
    kept = held_commits(tx)
    for history, head in _heads(tx):
        kept |= {row.id for row in history.log(head, limit=max(keep_last, 1))}
        kept |= {history.at(s.line, s.last).id for s in history.stretches(head)}
    return [each for each in candidates if each not in kept]


def live_commits(tx: Transaction) -> dict[str, Row]:
    """Commits of a project that a branch, tag or pin leads to and that have their data; all under a legal hold."""
    reached: dict[str, int] = {}
    for history, head in _roots(tx):
        for line, position in history.reach(head).items():
            reached[line] = max(position, reached.get(line, 0))
    columns = (
        tables.commits.c[name] for name in ("id", "line_id", "position", "tree_id", "created_at")
    )
    statement = sa.select(*columns).where(tables.commits.c.expired_at.is_(None))
    held = tx.hold() is not None
    return {
        row.id: row
        for row in tx.rows(statement)
        if held or reached.get(row.line_id, 0) >= row.position
    }


def _heads(tx: Transaction) -> Iterable[tuple[History, Row]]:
    for row in tx.rows(sa.select(tables.branches.c.workspace_id, tables.branches.c.head_id)):
        history = History(tx, row.workspace_id)
        yield history, history.commit_row(row.head_id)


def _roots(tx: Transaction) -> Iterable[tuple[History, Row]]:
    yield from _heads(tx)
    for commit_id in sorted(held_commits(tx)):
        row = tx.first(sa.select(tables.commits).where(tables.commits.c.id == commit_id))
        if row is not None:
            yield History(tx, row.workspace_id), row


def _old(older_than: datetime) -> sa.Select[Any]:
    return (
        sa.select(tables.commits.c.id, tables.commits.c.created_at)
        .where(tables.commits.c.created_at < older_than, tables.commits.c.expired_at.is_(None))
        .order_by(tables.commits.c.id)
    )


def _locked(tx: Transaction, older_than: datetime) -> Sequence[str]:
    return [row.id for row in tx.rows(_old(older_than).with_for_update())]


def _mark(tx: Transaction, ids: Sequence[str], now: datetime) -> int:
    for start in range(0, len(ids), 500):
        chunk = tables.commits.c.id.in_(ids[start : start + 500])
        tx.execute(sa.update(tables.commits).where(chunk).values(expired_at=now))
    return len(ids)
