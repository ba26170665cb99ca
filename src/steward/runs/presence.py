"""Which workers there are: each says so every few seconds, and one that falls silent is no longer counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from steward.core import Clock
from steward.runs import _tables as tables
from steward.runs.topics import ROLL_CALL
from steward.store import EVERYWHERE, Bus, Database

SIGN_SECONDS: Final = 10.0
SILENT: Final = timedelta(seconds=45)
_FORGOTTEN: Final = timedelta(days=1)


@dataclass(frozen=True)
class WorkerSeen:
    holder: str
    queues: tuple[str, ...]
    concurrency: int
    version: str
    started_at: datetime
    seen_at: datetime


class Presence:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def sign(self, holder: str, queues: Sequence[str], concurrency: int, version: str) -> None:
        """Says that a worker is there; what others have not said for a day is forgotten."""
        now = self._clock.now()
        seen = sa.update(tables.workers).where(tables.workers.c.holder == holder)
        with self._database.write(EVERYWHERE) as tx:
            if tx.execute(seen.values(seen_at=now)).rowcount:
                return
            old = tables.workers.c.seen_at < now - _FORGOTTEN
            tx.execute(sa.delete(tables.workers).where(old))
            tx.execute(
                sa.insert(tables.workers).values(
                    holder=holder,
                    queues=",".join(queues),
                    concurrency=concurrency,
                    version=version,
                    started_at=now,
                    seen_at=now,
                )
            )

    def call(self, bus: Bus) -> tuple[datetime, datetime]:
        """Asks every worker for a sign at once; returns when that was, here and by the clock of the database."""
        with self._database.write(EVERYWHERE) as tx:
            bus.ring(tx, ROLL_CALL)
            there: datetime = tx.execute(sa.select(sa.func.now().label("at"))).one().at
            return self._clock.now(), there

    def leave(self, holder: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(tables.workers).where(tables.workers.c.holder == holder))

    def seen(self, within: timedelta = SILENT) -> list[WorkerSeen]:
        """Workers that gave a sign of life within this time, in order of their names."""
        columns = tables.workers.c
        recent = columns.seen_at >= self._clock.now() - within
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(tables.workers).where(recent).order_by(columns.holder))
        return [
            WorkerSeen(
                row.holder,
                tuple(row.queues.split(",")),
                row.concurrency,
                row.version,
                row.started_at,
                row.seen_at,
            )
            for row in rows
        ]
