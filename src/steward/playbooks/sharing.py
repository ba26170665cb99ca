"""With whom a playbook is shared: written in the transaction of what leads to it, such as an invitation."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from steward.core import Clock
from steward.playbooks import _tables as tables
from steward.store import EventLog, Transaction

_COLUMNS = tables.playbooks.c


class Sharing:
    def __init__(self, events: EventLog, clock: Clock) -> None:
        self._events = events
        self._clock = clock

    def add_person(self, tx: Transaction, playbook_id: str, user_id: str, by: str) -> None:
        """Adds one person to those it is shared with; nothing where it was deleted meanwhile."""
        row = tx.first(
            sa.select(tables.playbooks).where(_COLUMNS.id == playbook_id).with_for_update()
        )
        if row is not None:
            users = sorted({*row.allowed.get("users", ()), user_id})
            self.change(tx, row, row.owner, {**row.allowed, "users": users}, by)

    def change(
        self, tx: Transaction, row: sa.Row[Any], owner: str, allowed: Mapping[str, Any], by: str
    ) -> None:
        if owner == row.owner and dict(allowed) == row.allowed:
            return
        change_card(tx, self._clock, row.id, owner=owner, allowed=dict(allowed))
        told = {"owner": owner, "allowed": dict(allowed), "by": by}
        self._events.append(tx, "playbook.shared", row.id, told)


def change_card(tx: Transaction, clock: Clock, playbook_id: str, **values: Any) -> None:
    """Changes a playbook's row, so that whoever read it before is told that it changed."""
    tx.execute(
        sa.update(tables.playbooks)
        .where(_COLUMNS.id == playbook_id)
        .values(**values, updated_at=clock.now(), version=_COLUMNS.version + 1)
    )
