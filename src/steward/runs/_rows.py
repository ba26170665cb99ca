"""What everything that writes rows of runs shares: how a run is read, and how it is woken."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Ids, NotFound
from steward.runs import _tables as tables
from steward.runs.canonical import Json
from steward.runs.doorbell import Call, Doorbell
from steward.runs.model import Run, Status, stored_status
from steward.runs.topics import asked_topic, queue_topic, run_topic
from steward.store import Bus, Database, EventLog, Scope, Transaction

COLUMNS = tables.runs.c
MOST_LOST: Final = 3
LIVE = [status.value for status in Status if not status.is_final]

Scrub = Callable[[Scope, Json], Json]
"""Takes the values of a project's secrets out of what is about to be written."""


class Rows:
    def __init__(
        self,
        database: Database,
        bus: Bus,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        doorbell: Doorbell | None = None,
        scrub: Scrub = lambda _scope, value: value,
        most_lost: int = MOST_LOST,
    ) -> None:
        """`most_lost`: a run that was lost with its worker so often is not driven again."""
        self.most_lost = most_lost
        self._doorbell = doorbell
        self.scrub = scrub
        self._database = database
        self._bus = bus
        self._events = events
        self._clock = clock
        self._ids = ids

    def get(self, scope: Scope, run_id: str) -> Run:
        with self._database.read(scope) as tx:
            return existing(tx, run_id)

    def _wake(self, tx: Transaction, run: Run) -> None:
        now = self._clock.now()
        tx.execute(sa.update(tables.runs).where(COLUMNS.id == run.id).values(wake_at=now))
        self._call(tx, run, now)
        self._bus.ring_all(tx, [run_topic(run.id), asked_topic(run.id)])

    def _call(self, tx: Transaction, run: Run, wake_at: datetime) -> None:
        """Rings for the run once the transaction is durable."""
        self._bus.ring(tx, queue_topic(run.queue))
        self._ring_for(tx, run, wake_at)

    def _ring_for(self, tx: Transaction, run: Run, wake_at: datetime) -> None:
        doorbell = self._doorbell
        if doorbell is not None:
            call = Call(run.id, run.queue, run.priority, f"{run.epoch}/{wake_at.isoformat()}")
            tx.after_commit(lambda: doorbell.ring(call))


def run_of(row: sa.Row[Any], scope: Scope, **changes: Any) -> Run:
    fields = {
        name: getattr(row, name)
        for name in Run.__dataclass_fields__
        if name not in {"scope", "status"}
    }
    return Run(scope=scope, status=stored_status(row.id, row.status), **(fields | changes))


def existing(tx: Transaction, run_id: str, *, lock: bool = False) -> Run:
    statement = sa.select(tables.runs).where(COLUMNS.id == run_id)
    row = tx.first(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFound(f"There is no run {run_id!r} in this project.")
    return run_of(row, tx.project)
