"""Removes ended runs for good, with their journals, approvals and payloads, once retention says so.

A family goes as a whole, when the last of its runs ended before the moment. The log of signed heads keeps its lines
and gets one more for each run, so that verification can tell a run that retention removed from one that is missing.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock
from steward.runs._rows import COLUMNS, run_of
from steward.runs._tables import runs
from steward.runs.entries import Link
from steward.runs.heads import Head, HeadLog
from steward.store import Database, Scope, Transaction, metadata

REASON: Final = "retention"
_FAMILIES: Final = 50


class Removal:
    def __init__(self, database: Database, clock: Clock, heads: HeadLog) -> None:
        self._database = database
        self._clock = clock
        self._heads = heads
        self.before: list[Callable[[Transaction, Sequence[str]], None]] = []
        """Rooms that refer to runs by other names than `run_id` let go of them here."""

    def due(self, scope: Scope, older_than: datetime) -> tuple[int, datetime | None]:
        """How many runs `remove` would remove, and when the first of them ended."""
        with self._database.read(scope) as tx:
            rows = tx.rows(_families(older_than))
        return sum(row.runs for row in rows), min((row.first for row in rows), default=None)

    def remove(self, scope: Scope, older_than: datetime) -> int:
        """Removes runs that ended before a moment; returns how many. Refused under a legal hold."""
        with self._database.read(scope) as tx:
            old = [row.root_id for row in tx.rows(_families(older_than))]
        removed = 0
        for start in range(0, len(old), _FAMILIES):
            # A family may have grown meanwhile: those that are still old enough go.
            some = _families(older_than).where(COLUMNS.root_id.in_(old[start : start + _FAMILIES]))
            with self._database.write(scope) as tx:
                removed += self._remove(tx, scope, [row.root_id for row in tx.rows(some)])
        return removed

    def _remove(self, tx: Transaction, scope: Scope, roots: Sequence[str]) -> int:
        wanted = sa.select(runs).where(COLUMNS.root_id.in_(roots)).order_by(COLUMNS.id)
        found = [run_of(row, scope) for row in tx.rows(wanted.with_for_update())]
        if not found:
            return 0
        ids = [run.id for run in found]
        for forget in self.before:
            forget(tx, ids)
        for table in reversed(metadata.sorted_tables):
            for name in ("run_id", "root_id"):
                column = table.c.get(name)
                if column is not None and table is not runs and not column.info:
                    tx.execute(sa.delete(table).where(column.in_(ids)))
        tx.execute(sa.delete(runs).where(COLUMNS.id.in_(ids)))
        now = self._clock.now()
        self._heads.append(
            tx,
            [
                Head(run, Link(run.head_seq, run.head_hash), run.status, now, REASON)
                for run in found
            ],
        )
        return len(ids)


def _families(older_than: datetime) -> sa.Select[Any]:
    ended = COLUMNS.ended_at
    return (
        sa.select(COLUMNS.root_id, sa.func.count().label("runs"), sa.func.min(ended).label("first"))
        .group_by(COLUMNS.root_id)
        .having(sa.func.count() == sa.func.count(ended), sa.func.max(ended) < older_than)
        .order_by(COLUMNS.root_id)
    )
