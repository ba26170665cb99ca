"""How long a project keeps its records, and the legal holds that stop every deletion; owners decide both."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Conflict, Ids, NotFound, Stale
from steward.identity._tables import retention_rules
from steward.identity.principals import Access
from steward.identity.roles import Role
from steward.store import (
    Database,
    EventLog,
    Hold,
    Scope,
    Transaction,
    hold_of,
    legal_holds,
    open_holds,
)

GRACE: Final = timedelta(days=1)
"""What passes between a change of the periods and the first deletion: time to notice a mistake."""


@dataclass(frozen=True)
class Periods:
    """Days for which records are kept; None: for good."""

    runs: int | None = None
    versions: int | None = None
    events: int | None = None
    audit: int | None = None


@dataclass(frozen=True)
class RetentionRule:
    periods: Periods
    revision: int
    """0 until somebody sets a period."""
    updated_at: datetime | None
    updated_by: str | None

    @property
    def starts_at(self) -> datetime | None:
        """When the first deletion may happen; None where everything is kept."""
        if self.updated_at is None or self.periods == Periods():
            return None
        return self.updated_at + GRACE


class Retention:
    def __init__(self, database: Database, clock: Clock, ids: Ids, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events

    def rule(self, scope: Scope) -> RetentionRule:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(retention_rules))
        return _rule(row)

    def change(self, access: Access, periods: Periods, revision: int) -> RetentionRule:
        access.require(Role.owner)
        values: dict[str, Any] = {
            **asdict(periods),
            "revision": revision + 1,
            "updated_at": self._clock.now(),
            "updated_by": access.user_id,
        }
        with self._database.write(access.scope) as tx:
            tx.wait_for_turn(f"{access.scope.project_id}/retention")
            row = tx.first(sa.select(retention_rules))
            if _rule(row).revision != revision:
                raise Stale("Somebody else changed the retention meanwhile. Reload it first.")
            if row is None:
                tx.execute(sa.insert(retention_rules).values(**values))
            else:
                tx.execute(sa.update(retention_rules).values(**values))
            told = {"by": access.user_id, **asdict(periods)}
            self._events.append(tx, "retention.changed", access.scope.project_id, told)
        return self.rule(access.scope)

    def hold(self, scope: Scope) -> Hold | None:
        """The hold that stops deletions now; the oldest of several."""
        with self._database.read(scope) as tx:
            return tx.hold()

    def holds(self, scope: Scope) -> Sequence[Hold]:
        """All holds, lifted ones too, the newest first."""
        newest = sa.select(legal_holds).order_by(legal_holds.c.id.desc())
        with self._database.read(scope) as tx:
            return [hold_of(row) for row in tx.rows(newest)]

    def place(self, access: Access, name: str, reason: str) -> Hold:
        """From now on nothing of the project is deleted, until every hold is lifted."""
        access.require(Role.owner)
        hold_id = self._ids.new("hold")
        values = {
            "id": hold_id,
            "name": name,
            "reason": reason,
            "placed_by": access.user_id,
            "placed_at": self._clock.now(),
        }
        with self._database.write(access.scope) as tx:
            tx.wait_for_turn(f"{access.scope.project_id}/retention")
            if any(row.name == name for row in tx.rows(open_holds())):
                raise Conflict(f"There is a legal hold {name!r} already. Choose another name.")
            tx.execute(sa.insert(legal_holds).values(**values))
            told = {"by": access.user_id, "name": name, "reason": reason}
            self._events.append(tx, "hold.placed", hold_id, told)
            return self._existing(tx, hold_id)

    def lift(self, access: Access, hold_id: str, reason: str) -> Hold:
        """Ends a hold for good; the record of it stays."""
        access.require(Role.owner)
        with self._database.write(access.scope) as tx:
            found = self._existing(tx, hold_id)
            done = tx.execute(
                sa.update(legal_holds)
                .where(legal_holds.c.id == hold_id, legal_holds.c.lifted_at.is_(None))
                .values(lifted_by=access.user_id, lifted_at=self._clock.now(), lift_reason=reason)
            )
            if not done.rowcount:
                raise Conflict(f"The legal hold {found.name!r} was lifted already.")
            told = {"by": access.user_id, "name": found.name, "reason": reason}
            self._events.append(tx, "hold.lifted", hold_id, told)
            return self._existing(tx, hold_id)

    def _existing(self, tx: Transaction, hold_id: str) -> Hold:
        row = tx.first(sa.select(legal_holds).where(legal_holds.c.id == hold_id))
        if row is None:
            raise NotFound("There is no such legal hold in this project.")
        return hold_of(row)


def _rule(row: sa.Row[Any] | None) -> RetentionRule:
    if row is None:
        return RetentionRule(Periods(), 0, None, None)
    periods = Periods(**{name: getattr(row, name) for name in Periods.__dataclass_fields__})
    return RetentionRule(periods, row.revision, row.updated_at, row.updated_by)
