"""Subscriptions: what is kept about a trigger while it is deployed, one over all revisions and all workers."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Ids, NotFound, copied, is_id
from steward.identity import Level, Notifications
from steward.playbooks import _tables as tables
from steward.playbooks.trigger import Trigger, read_trigger
from steward.runs import Json, RunRequest, plain
from steward.store import EVERYWHERE, Database, EventLog, Keyring, Prepared, Scope, Transaction

COLUMNS: Final = tables.subscriptions.c
_PREFIX: Final = "trg"
_MAC: Final = 32
_ID: Final = 30
_BY_ID: Final = Prepared(sa.select(tables.subscriptions).where(COLUMNS.id == sa.bindparam("of_id")))


@dataclass(frozen=True)
class Subscription:
    id: str
    scope: Scope
    playbook_id: str
    name: str
    type: str
    revision: int
    settings: Mapping[str, Any]
    request: RunRequest
    author: str
    armed: bool
    enabled: bool
    address: int
    cursor: Json
    next_at: datetime | None
    epoch: int
    failures: int
    failing_since: datetime | None
    failing_why: str | None
    last_at: datetime | None
    silent_since: datetime | None
    duplicates: int
    created_at: datetime

    @cached_property
    def trigger(self) -> Trigger:
        return read_trigger(self.settings)

    @property
    def is_active(self) -> bool:
        return self.armed and self.enabled


@dataclass(frozen=True)
class Armed:
    """A trigger of the deployed revision, with what it starts."""

    trigger: Trigger
    request: RunRequest


class Subscriptions:
    def __init__(
        self,
        database: Database,
        events: EventLog,
        notifications: Notifications,
        clock: Clock,
        ids: Ids,
        keyring: Keyring,
    ) -> None:
        self._database = database
        self._events = events
        self._notifications = notifications
        self._clock = clock
        self._ids = ids
        self._keys = keyring.derived_by_all("triggers")

    # Deployed and taken back

    def arm_within(
        self,
        tx: Transaction,
        playbook_id: str,
        revision: int,
        author: str,
        armed: Iterable[Armed],
    ) -> None:
        """Makes these the playbook's triggers; in the transaction that deploys the revision."""
        known = {row.name: row for row in tx.rows(_of_playbook(playbook_id))}
        kept = []
        for each in armed:
            trigger = each.trigger
            if not trigger.is_subscribed:
                continue
            kept.append(trigger.name)
            row = known.get(trigger.name)
            values = self._armed_values(trigger, each.request, revision, author, row)
            if row is None:
                tx.execute(
                    sa.insert(tables.subscriptions).values(
                        id=self._ids.new(_PREFIX),
                        playbook_id=playbook_id,
                        name=trigger.name,
                        address=1,
                        epoch=0,
                        duplicates=0,
                        enabled=1,
                        created_at=self._clock.now(),
                        **values,
                    )
                )
            else:
                _change(tx, row.id, **values)
                if "cursor" in values:
                    self._tell_left_behind(tx, subscription_of(row))
        for name, row in known.items():
            if name not in kept and row.armed:
                _change(tx, row.id, armed=0, next_at=None, updated_at=self._clock.now())
                self._tell_left_behind(tx, subscription_of(row))

    def disarm_within(self, tx: Transaction, playbook_id: str) -> None:
        self.arm_within(tx, playbook_id, 0, "", ())

    def _armed_values(
        self,
        trigger: Trigger,
        request: RunRequest,
        revision: int,
        author: str,
        before: sa.Row[Any] | None,
    ) -> dict[str, Any]:
        now = self._clock.now()
        values: dict[str, Any] = {
            "type": trigger.type,
            "revision": revision,
            "settings": trigger.to_json(),
            "request": plain(asdict(request)),
            "author": author,
            "armed": 1,
            "failures": 0,
            "updated_at": now,
        }
        goes_on = (
            before is not None
            and before.armed
            and before.type == trigger.type
            and read_trigger(before.settings).place() == trigger.place()
        )
        if not goes_on:
            # Another place, or a while in which nobody looked: it begins as if it were new.
            values |= {"cursor": None, "next_at": trigger.first_look(now)}
            values |= {"failing_since": None, "failing_why": None, "silent_since": None}
            values |= {"last_at": None} if before is None else {}
        return values

    def switch(self, scope: Scope, subscription_id: str, *, enabled: bool, by: str) -> Subscription:
        """Pauses it or lets it go on; events that come to a paused one are stored and wait."""
        now = self._clock.now()
        with self._database.write(scope) as tx:
            found = self._existing(tx, subscription_id)
            next_at = found.trigger.first_look(now) if enabled else None
            _change(tx, found.id, enabled=int(enabled), next_at=next_at, silent_since=None)
            told = {"trigger": found.name, "enabled": enabled, "by": by}
            self._events.append(tx, "trigger.switched", found.playbook_id, told)
            if not enabled:
                self._tell_left_behind(tx, found)
            return self._existing(tx, subscription_id)

    # Looked at

    def get(self, scope: Scope, subscription_id: str) -> Subscription:
        with self._database.read(scope) as tx:
            return self._existing(tx, subscription_id)

    def listed(self, scope: Scope, playbook_id: str | None = None) -> list[Subscription]:
        """Those at work, by playbook and name."""
        statement = sa.select(tables.subscriptions).where(COLUMNS.armed == 1)
        if playbook_id is not None:
            statement = statement.where(COLUMNS.playbook_id == playbook_id)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(COLUMNS.playbook_id, COLUMNS.name))
        return [subscription_of(row) for row in rows]

    def named(self, scope: Scope, playbook_id: str, name: str) -> Subscription:
        found = [each for each in self.listed(scope, playbook_id) if each.name == name]
        if not found:
            raise NotFound(f"The deployed revision has no trigger {name!r}.")
        return found[0]

    def _existing(self, tx: Transaction, subscription_id: str) -> Subscription:
        row = tx.first(_BY_ID, {"of_id": subscription_id})
        if row is None:
            raise NotFound(f"There is no trigger {subscription_id!r} in this project.")
        return subscription_of(row)

    # Addresses

    def token(self, subscription: Subscription, purpose: str) -> str:
        """The part of its address that cannot be guessed; nothing of it is stored."""
        return subscription.id.partition("_")[2] + _mac(self._keys[-1], subscription, purpose)

    def by_token(self, token: str, purpose: str) -> Subscription:
        """The trigger behind an address; NotFound alike for one that never was and one that was replaced."""
        subscription_id = f"{_PREFIX}_{token[: _ID - len(_PREFIX) - 1]}"
        given = token[_ID - len(_PREFIX) - 1 :]
        row = None
        if is_id(subscription_id, _PREFIX) and len(given) == _MAC and given.isascii():
            with self._database.read(EVERYWHERE) as tx:
                row = tx.first(sa.select(tables.subscriptions).where(COLUMNS.id == subscription_id))
        found = subscription_of(row) if row is not None else None
        if found is not None:
            for key in self._keys:
                if hmac.compare_digest(_mac(key, found, purpose), given):
                    return found
        raise NotFound("There is nothing at this address, or it was replaced by another one.")

    def renew_address(self, scope: Scope, subscription_id: str, by: str) -> Subscription:
        """A new address; the old one stops working at once."""
        with self._database.write(scope) as tx:
            found = self._existing(tx, subscription_id)
            _change(tx, found.id, address=found.address + 1)
            told = {"trigger": found.name, "by": by}
            self._events.append(tx, "trigger.address_changed", found.playbook_id, told)
            return self._existing(tx, subscription_id)

    # The lease of whoever looks

    def claim(
        self, holder: str, lease: timedelta, limit: int, besides: Sequence[str]
    ) -> list[Subscription]:
        """Those that are due and that nobody looks after, from now on this holder's."""
        now = self._clock.now()
        due = (
            sa.select(tables.subscriptions)
            .where(
                COLUMNS.next_at <= now,
                COLUMNS.armed == 1,
                COLUMNS.enabled == 1,
                sa.or_(COLUMNS.lease_until.is_(None), COLUMNS.lease_until <= now),
            )
            .order_by(COLUMNS.next_at)
            .limit(limit)
        )
        with self._database.read(EVERYWHERE) as tx:
            if not [row for row in tx.rows(due) if row.id not in besides]:
                return []
        found = []
        with self._database.write(EVERYWHERE) as tx:
            for row in tx.rows(due.with_for_update(skip_locked=True)):
                if row.id in besides:
                    continue
                tx.execute(
                    sa.update(tables.subscriptions)
                    .where(COLUMNS.id == row.id)
                    .values(epoch=row.epoch + 1, holder=holder, lease_until=now + lease)
                )
                found.append(subscription_of(row, epoch=row.epoch + 1))
        return found

    def renew(self, holder: str, ids: Sequence[str], lease: timedelta) -> None:
        if not ids:
            return
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.update(tables.subscriptions)
                .where(COLUMNS.id.in_(ids), COLUMNS.holder == holder)
                .values(lease_until=self._clock.now() + lease)
            )

    def release(self, holder: str) -> None:
        """Lets others look at once, as when a worker stops."""
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.update(tables.subscriptions)
                .where(COLUMNS.holder == holder)
                .values(holder=None, lease_until=None)
            )

    def move_within(
        self,
        tx: Transaction,
        held: Subscription,
        cursor: Json,
        next_at: datetime,
        lease: timedelta | None = None,
    ) -> bool:
        """Moves the cursor in the transaction that stores what was found; False when the lease was lost.

        With a `lease` it goes on looking at once.
        """
        row = tx.first(
            sa.select(
                COLUMNS.epoch,
                COLUMNS.armed,
                COLUMNS.enabled,
                COLUMNS.revision,
                COLUMNS.failing_since,
            )
            .where(COLUMNS.id == held.id)
            .with_for_update()
        )
        if row is None or row.epoch != held.epoch or not (row.armed and row.enabled):
            return False
        if row.revision != held.revision:
            # Deployed meanwhile: another look, with what holds now, finds the same again.
            return False
        values: dict[str, Any] = {"cursor": cursor, "next_at": next_at}
        if lease is None:
            values |= {"holder": None, "lease_until": None}
        else:
            values |= {"lease_until": self._clock.now() + lease}
        if row.failing_since is not None:
            values |= {"failures": 0, "failing_since": None, "failing_why": None}
            told = {"trigger": held.name}
            self._events.append(tx, "trigger.recovered", held.playbook_id, told)
        _change(tx, held.id, **values)
        return True

    def fail(self, held: Subscription, why: str, longest: timedelta = timedelta(hours=1)) -> None:
        """A look failed: says since when and why, and looks again later each time."""
        now = self._clock.now()
        with self._database.write(held.scope) as tx:
            found = self._existing(tx, held.id)
            if found.epoch != held.epoch:
                return
            failures = found.failures + 1
            delay = min(timedelta(seconds=5 * 2 ** min(failures - 1, 12)), longest)
            _change(
                tx,
                held.id,
                failures=failures,
                failing_since=found.failing_since or now,
                failing_why=why[:400],
                next_at=now + delay,
                holder=None,
                lease_until=None,
            )
            if failures == _TOLD_AFTER:
                told = {"trigger": held.name, "why": why[:400]}
                self._events.append(tx, "trigger.failing", held.playbook_id, told)
                self.tell_within(tx, found, Level.error, "does not reach its source", why)

    # Those who answer for it

    def _tell_left_behind(self, tx: Transaction, before: Subscription) -> None:
        """Where nobody looks any more, something may go on growing."""
        said = before.trigger.left_behind() if before.armed and before.cursor is not None else None
        if said is not None:
            self.tell_within(tx, before, Level.warning, "is off, but the server keeps events", said)

    def tell_within(
        self, tx: Transaction, subscription: Subscription, level: Level, what: str, said: str
    ) -> None:
        """Tells whoever deployed it and whoever owns the playbook."""
        playbooks = tables.playbooks.c
        row = tx.first(
            sa.select(playbooks.owner, playbooks.name).where(
                playbooks.id == subscription.playbook_id
            )
        )
        owner, title = (row.owner, row.name) if row is not None else (None, "A playbook")
        for user_id in dict.fromkeys([subscription.author, *([owner] if owner else [])]):
            self._notifications.add_within(
                tx,
                user_id,
                level,
                f"{title}: trigger {subscription.name} {what}",
                said,
                link=f"triggers?trigger={subscription.id}",
                once=True,
            )


_TOLD_AFTER: Final = 3
"""Looks that failed one after the other before its owner is told."""


def subscription_of(row: sa.Row[Any], *, epoch: int | None = None) -> Subscription:
    return copied(
        Subscription,
        row,
        scope=Scope(row.org_id, row.project_id),
        request=RunRequest(**row.request),
        armed=bool(row.armed),
        enabled=bool(row.enabled),
        epoch=row.epoch if epoch is None else epoch,
    )


def _of_playbook(playbook_id: str) -> sa.Select[Any]:
    return sa.select(tables.subscriptions).where(COLUMNS.playbook_id == playbook_id)


def _change(tx: Transaction, subscription_id: str, **values: Any) -> None:
    tx.execute(
        sa.update(tables.subscriptions).where(COLUMNS.id == subscription_id).values(**values)
    )


def _mac(key: bytes, subscription: Subscription, purpose: str) -> str:
    said = f"{purpose}:{subscription.id}:{subscription.address}"
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()[:_MAC]
