"""Messages to one person in one project, kept until they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

import sqlalchemy as sa

from steward.core import Clock, Ids, copied
from steward.identity._tables import notifications
from steward.identity.principals import Access
from steward.store import Database, EventLog, Transaction


class Level(Enum):
    info = "info"
    success = "success"
    warning = "warning"
    error = "error"


@dataclass(frozen=True)
class Notification:
    id: str
    level: Level
    title: str
    body: str
    link: str | None
    """A page of the same project, relative to it."""
    created_at: datetime
    read_at: datetime | None


class Notifications:
    def __init__(self, database: Database, clock: Clock, ids: Ids, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events

    def add_within(
        self,
        tx: Transaction,
        user_id: str,
        level: Level,
        title: str,
        body: str,
        *,
        link: str | None = None,
        once: bool = False,
    ) -> None:
        """With `once`, not while the same is unread: what happens every minute is told one time."""
        if once and self._is_unread(tx, user_id, title[:200], body):
            return
        notification_id = self._ids.new("ntf")
        tx.execute(
            sa.insert(notifications).values(
                id=notification_id,
                user_id=user_id,
                level=level.value,
                title=title[:200],
                body=body,
                link=link,
                created_at=self._clock.now(),
            )
        )
        # The event tells that there is one, not what it says: others see the project's events too.
        self._events.append(tx, "notification.created", notification_id, {"user": user_id})

    def _is_unread(self, tx: Transaction, user_id: str, title: str, body: str) -> bool:
        columns = notifications.c
        same = sa.select(columns.id).where(
            columns.user_id == user_id,
            columns.read_at.is_(None),
            columns.title == title,
            columns.body == body,
        )
        return tx.first(same.limit(1)) is not None

    def page(
        self, access: Access, *, after: str | None = None, limit: int = 50
    ) -> list[Notification]:
        """The caller's own, newest first."""
        statement = sa.select(notifications).where(notifications.c.user_id == access.user_id)
        if after is not None:
            statement = statement.where(notifications.c.id < after)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(notifications.c.id.desc()).limit(limit))
        return [copied(Notification, row, level=Level(row.level)) for row in rows]

    def unread(self, access: Access) -> int:
        statement = (
            sa.select(sa.func.count())
            .select_from(notifications)
            .where(notifications.c.user_id == access.user_id, notifications.c.read_at.is_(None))
        )
        with self._database.read(access.scope) as tx:
            return int(tx.execute(statement).scalar_one())

    def mark_read(self, access: Access, ids: Sequence[str] | None) -> None:
        """Marks the given ones, or all when None."""
        statement = (
            sa.update(notifications)
            .where(notifications.c.user_id == access.user_id, notifications.c.read_at.is_(None))
            .values(read_at=self._clock.now())
        )
        if ids is not None:
            statement = statement.where(notifications.c.id.in_(ids))
        with self._database.write(access.scope) as tx:
            tx.execute(statement)
