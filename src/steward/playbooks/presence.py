"""Who has a playbook open: people who said so a moment ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from steward.core import Clock
from steward.identity import Access
from steward.playbooks import _tables as tables
from steward.playbooks.library import Library
from steward.store import Database

STAYS: Final = timedelta(seconds=45)
"""How long somebody counts as there after they last said so."""
_C: Final = tables.presence.c


@dataclass(frozen=True)
class Watcher:
    user_id: str
    is_editing: bool
    """Whether they have changes that are not saved."""
    seen_at: datetime


class Presence:
    def __init__(self, database: Database, clock: Clock, library: Library) -> None:
        self._database = database
        self._clock = clock
        self._library = library

    def announce(self, access: Access, playbook: str, *, is_editing: bool) -> list[Watcher]:
        """Says that the caller has it open, and who else does."""
        card = self._library.get(access, playbook)
        now = self._clock.now()
        mine = (_C.playbook_id == card.id) & (_C.user_id == access.user_id)
        with self._database.write(access.scope) as tx:
            tx.execute(sa.delete(tables.presence).where((_C.seen_at < now - STAYS) | mine))
            tx.execute(
                sa.insert(tables.presence).values(
                    playbook_id=card.id,
                    user_id=access.user_id,
                    is_editing=is_editing,
                    seen_at=now,
                )
            )
            there = sa.select(tables.presence).where(
                _C.playbook_id == card.id, _C.user_id != access.user_id
            )
            rows = tx.rows(there.order_by(_C.user_id))
        return [Watcher(row.user_id, row.is_editing, row.seen_at) for row in rows]

    def leave(self, access: Access, playbook: str) -> None:
        card = self._library.get(access, playbook)
        mine = (_C.playbook_id == card.id) & (_C.user_id == access.user_id)
        with self._database.write(access.scope) as tx:
            tx.execute(sa.delete(tables.presence).where(mine))
