"""The event log: what happened in a project, in order, with a cursor, so that a reader misses nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Index, String, Table

from steward.core import ACTIVITY, TYPE_PREFIX, Clock, Event, Ids, copied
from steward.store.bus import Bus
from steward.store.confine import Prepared, Scope
from steward.store.database import EVERYWHERE, Database, Transaction
from steward.store.guarded import ReportedJson, ReportedText
from steward.store.tables import Moment, Sequence64, id_column, metadata, scope_columns

events = Table(
    "events",
    metadata,
    Column("cursor", Sequence64, primary_key=True, autoincrement=True),
    id_column(nullable=False, unique=True),
    *scope_columns(),
    Column("type", String(120), nullable=False),
    Column("source", String(200), nullable=False),
    Column("subject", ReportedText(200), nullable=False),
    Column("time", Moment, nullable=False),
    Column("data", ReportedJson(), nullable=False),
    Index("ix_events_project_id_cursor", "project_id", "cursor"),
    sqlite_autoincrement=True,
)


_INSERT = Prepared(sa.insert(events))


@dataclass(frozen=True)
class News:
    """Something that happened in a project."""

    scope: Scope
    kind: str
    subject: str
    data: Mapping[str, Any] = field(default_factory=dict)


class EventLog:
    def __init__(self, database: Database, bus: Bus, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._bus = bus
        self._clock = clock
        self._ids = ids

    def append(
        self, transaction: Transaction, kind: str, subject: str, data: dict[str, Any] | None = None
    ) -> None:
        """Records an event in the transaction of the change it tells of: both happen or neither."""
        self.append_many(transaction, [News(transaction.project, kind, subject, data or {})])

    def append_many(self, transaction: Transaction, news: Sequence[News]) -> None:
        """The same for many at once, of several projects; for transactions that work across them."""
        now = self._clock.now()
        for each in news:
            row = {
                "id": self._ids.new("evt"),
                "org_id": each.scope.org_id,
                "project_id": each.scope.project_id,
                "type": TYPE_PREFIX + each.kind,
                "source": f"/projects/{each.scope.project_id}",
                "subject": each.subject,
                "time": now,
                "data": dict(each.data),
            }
            transaction.at_end(self._write, (transaction, row))

    def _write(self, gathered: list[tuple[Transaction, dict[str, Any]]]) -> None:
        """Cursors are given under a lock that ends with the commit: what a reader has passed stays complete."""
        whole = gathered[0][0]
        scopes = {(row["org_id"], row["project_id"]) for _, row in gathered}
        for _, project in sorted(scopes, key=itemgetter(1)):
            whole.wait_for_turn(project)
        for _, together in groupby(gathered, key=lambda each: each[0].scope):
            pairs = list(together)
            pairs[0][0].execute(_INSERT, [row for _, row in pairs])
        self._bus.ring_all(whole, [topic(Scope(*scope)) for scope in sorted(scopes)])

    def after(self, scope: Scope, cursor: int, limit: int = 200) -> list[Event]:
        """The next events after a cursor, oldest first."""
        statement = sa.select(events).where(events.c.cursor > cursor)
        return self._read(scope, statement.order_by(events.c.cursor).limit(limit))

    def before(self, scope: Scope, cursor: int | None, limit: int) -> list[Event]:
        """Events before a cursor, newest first, for reading history page by page."""
        statement = sa.select(events)
        if cursor is not None:
            statement = statement.where(events.c.cursor < cursor)
        return self._read(scope, statement.order_by(events.c.cursor.desc()).limit(limit))

    def _read(self, scope: Scope, statement: sa.Select[Any]) -> list[Event]:
        with self._database.read(scope) as transaction:
            found = _events(transaction.rows(statement))
        # What it says may have become a secret since.
        return [replace(each, data=self._database.conceal(scope, each.data)) for each in found]

    def due(
        self, scope: Scope, older_than: datetime, *, audit: bool
    ) -> tuple[int, datetime | None]:
        """How many events `remove` would remove, and the time of the oldest."""
        wanted = sa.select(
            sa.func.count().label("events"), sa.func.min(events.c.time).label("first")
        )
        with self._database.read(scope) as transaction:
            row = transaction.execute(wanted.where(*_old(older_than, audit))).one()
        return row.events, row.first

    def remove(self, scope: Scope, older_than: datetime, *, audit: bool, until: int | None) -> int:
        """Removes events before a moment: entries for an audit, or the others. Later cursors than `until` stay."""
        old = sa.delete(events).where(*_old(older_than, audit))
        if until is not None:
            old = old.where(events.c.cursor <= until)
        with self._database.write(scope) as transaction:
            return transaction.execute(old).rowcount

    def newest(self) -> int:
        """The highest cursor of all projects: as long as it stays, nothing happened anywhere."""
        with self._database.read(EVERYWHERE) as transaction:
            row = transaction.execute(sa.select(sa.func.max(events.c.cursor).label("last"))).one()
        return int(row.last or 0)

    def latest(self, scope: Scope) -> int:
        with self._database.read(scope) as transaction:
            row = transaction.first(
                sa.select(events.c.cursor).order_by(events.c.cursor.desc()).limit(1)
            )
        return 0 if row is None else int(row.cursor)


def _old(older_than: datetime, audit: bool) -> list[sa.ColumnElement[bool]]:
    activity = sa.or_(
        *(events.c.type.startswith(f"{TYPE_PREFIX}{word}.") for word in sorted(ACTIVITY))
    )
    return [events.c.time < older_than, sa.not_(activity) if audit else activity]


def topic(scope: Scope) -> str:
    return f"events/{scope.project_id}"


def _events(rows: Sequence[sa.Row[Any]]) -> list[Event]:
    return [copied(Event, row) for row in rows]
