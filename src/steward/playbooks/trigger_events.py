"""The events of triggers: on disk before they are acknowledged, shown with their state, replayed, dropped, forgotten in time."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Conflict, Ids, NotFound, StewardError, Unavailable, copied
from steward.flows import ExpressionError, expression
from steward.identity import Level
from steward.playbooks import _tables as tables
from steward.playbooks.delivery import Delivery, lookup_in
from steward.playbooks.subscriptions import COLUMNS as _SUBSCRIPTIONS
from steward.playbooks.subscriptions import Subscription, Subscriptions, subscription_of
from steward.playbooks.trigger import Arrival
from steward.runs import Json, Runs, canonical
from steward.store import EVERYWHERE, Bus, Database, EventLog, Prepared, Scope, Transaction

TOPIC: Final = "triggers"
"""Rung when an event was stored or a run of one ended."""
MOST_WAITING: Final = 100_000
"""Events of one trigger that may wait; a sender is asked to come back later."""
_HALVES: Final = re.compile("[\ud800-\udfff]")
_TEST: Final = "Sent to the test address, so it starts nothing. Replay it to run it."
_EVENTS: Final = tables.trigger_events.c
_INSERT: Final = Prepared(sa.insert(tables.trigger_events))
_LOCKED: Final = Prepared(
    sa.select(_SUBSCRIPTIONS.last_at, _SUBSCRIPTIONS.silent_since)
    .where(_SUBSCRIPTIONS.id == sa.bindparam("of_id"))
    .with_for_update()
)
_SAME: Final = Prepared(
    sa.select(_EVENTS.id, _EVENTS.same).where(
        _EVENTS.trigger_id == sa.bindparam("of_trigger"),
        _EVENTS.same.in_(sa.bindparam("sames", expanding=True)),
        _EVENTS.received_at > sa.bindparam("since", type_=_EVENTS.received_at.type),
    )
)
_TOUCH: Final = Prepared(
    sa.update(tables.subscriptions)
    .where(_SUBSCRIPTIONS.id == sa.bindparam("of_id"))
    .values(
        last_at=sa.bindparam("at", type_=_SUBSCRIPTIONS.last_at.type),
        silent_since=None,
        duplicates=_SUBSCRIPTIONS.duplicates + sa.bindparam("again"),
    )
)


class EventState(StrEnum):
    stored = "stored"
    waiting = "waiting"
    """For its turn, for more events of its batch, or for another try."""
    held = "held"
    """A person decides whether it runs."""
    running = "running"
    done = "done"
    failed = "failed"
    filtered = "filtered"
    dead = "dead"
    """It cannot run, and says why."""
    dropped = "dropped"

    @property
    def is_final(self) -> bool:
        return self in _FINAL


_FINAL: Final = frozenset(
    {
        EventState.done,
        EventState.failed,
        EventState.filtered,
        EventState.dead,
        EventState.dropped,
    }
)
PENDING: Final = (EventState.stored.value, EventState.waiting.value)


@dataclass(frozen=True)
class TriggerEvent:
    id: str
    trigger_id: str
    state: EventState
    reason: str | None
    document: Mapping[str, Any]
    revision: int | None
    replay_of: str | None
    attempts: int
    run_id: str | None
    order_key: str | None
    received_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True)
class Stored:
    """What became of an arrival: an event of its own, or the one it is the same as."""

    id: str
    is_duplicate: bool = False


class TriggerEvents:
    def __init__(
        self,
        database: Database,
        events: EventLog,
        bus: Bus,
        clock: Clock,
        ids: Ids,
        runs: Runs,
        subscriptions: Subscriptions,
    ) -> None:
        self._database = database
        self._events = events
        self._bus = bus
        self._clock = clock
        self._ids = ids
        self._runs = runs
        self._subscriptions = subscriptions
        self._counted: dict[str, tuple[float, int]] = {}

    # Stored first

    def store(
        self,
        subscription: Subscription,
        arrivals: Sequence[Arrival],
        *,
        revision: int | None = None,
        test: bool = False,
    ) -> list[Stored]:
        """Puts events on disk; they are there when this returns."""
        self.require_room_now(subscription)
        with self._database.write(subscription.scope) as tx:
            return self.store_within(tx, subscription, arrivals, revision=revision, test=test)

    async def accept(
        self,
        subscription: Subscription,
        arrival: Arrival,
        *,
        revision: int | None = None,
        test: bool = False,
    ) -> Stored:
        """The same for one event of many that come at once: they share a transaction and a disk sync."""
        [made] = self._made(subscription, [arrival], revision, test=test)

        def write(tx: Transaction, rows: list[dict[str, Any]]) -> list[Stored]:
            return self._write(tx.narrowed(subscription.scope), subscription, rows)

        # Those of another revision may be known by something else.
        order = f"trigger {subscription.id} {subscription.revision}"
        return await self._runs.parts.commit.share_alike(order, made, write)

    def store_within(
        self,
        tx: Transaction,
        subscription: Subscription,
        arrivals: Sequence[Arrival],
        *,
        revision: int | None = None,
        test: bool = False,
    ) -> list[Stored]:
        made = self._made(subscription, arrivals, revision, test=test)
        return self._write(tx, subscription, made)

    def _made(
        self,
        subscription: Subscription,
        arrivals: Sequence[Arrival],
        revision: int | None,
        *,
        test: bool,
    ) -> list[dict[str, Any]]:
        """Rows of events; computed before the transaction, which others wait for."""
        now = self._clock.now()
        delivery = subscription.trigger.delivery
        rows = []
        for arrival in arrivals:
            event_id = self._ids.new("tev")
            document = {
                **arrival.facts,
                "id": event_id,
                "at": now.isoformat(),
                "trigger": subscription.name,
                "type": subscription.type,
                "data": arrival.data,
            }
            document = self._runs.scrub(subscription.scope, _storable(document))
            row: dict[str, Any] = {
                "id": event_id,
                "trigger_id": subscription.id,
                "state": EventState.stored.value,
                "reason": None,
                "same": _same(delivery, arrival, document) if not test else None,
                "order_key": None,
                "document": document,
                "inputs": dict(arrival.inputs) or None,
                "revision": revision,
                "replay_of": None,
                "attempts": 0,
                "run_id": None,
                "received_at": now,
                "due_at": now,
                "started_at": None,
                "ended_at": None,
            }
            if test or arrival.held is not None:
                reason = _TEST if test else arrival.held
                row |= {"state": EventState.held.value, "reason": reason}
            row |= _ordered(delivery, document)
            rows.append(row)
        return rows

    def _write(
        self, tx: Transaction, subscription: Subscription, rows: Sequence[dict[str, Any]]
    ) -> list[Stored]:
        if not rows:
            return []
        now = max(row["received_at"] for row in rows)
        if tx.dialect == "postgresql":
            # Two workers that store the same event at once: the second one waits and finds it.
            tx.first(_LOCKED, {"of_id": subscription.id})
        known = self._known(tx, subscription, rows)
        stored, new = [], []
        for row in rows:
            twin = known.get(row["same"]) if row["same"] is not None else None
            if twin is not None:
                stored.append(Stored(twin, is_duplicate=True))
                continue
            if row["same"] is not None:
                known[row["same"]] = row["id"]
            stored.append(Stored(row["id"]))
            new.append(row)
        if new:
            tx.execute(_INSERT, new)
        tx.execute(_TOUCH, {"of_id": subscription.id, "at": now, "again": len(rows) - len(new)})
        for row in new:
            if row["state"] == EventState.held.value and row["reason"] != _TEST:
                told = {"trigger": subscription.name, "event": row["id"]}
                self._events.append(tx, "trigger.held", subscription.playbook_id, told)
                self._subscriptions.tell_within(
                    tx, subscription, Level.warning, "waits for you", row["reason"]
                )
        self._bus.ring(tx, TOPIC)
        return stored

    def _known(
        self, tx: Transaction, subscription: Subscription, rows: Sequence[Mapping[str, Any]]
    ) -> dict[str, str]:
        sames = [row["same"] for row in rows if row["same"] is not None]
        if not sames:
            return {}
        window = timedelta(seconds=subscription.trigger.delivery.once.seconds)
        asked = {
            "of_trigger": subscription.id,
            "sames": sames,
            "since": min(row["received_at"] for row in rows) - window,
        }
        return {row.same: row.id for row in tx.rows(_SAME, asked)}

    async def require_room(self, subscription: Subscription) -> None:
        """Unavailable while too many events wait; counted about once a second."""
        if not self._is_counted(subscription):
            await asyncio.to_thread(self._count, subscription)
        self._refuse_when_full(subscription)

    def require_room_now(self, subscription: Subscription) -> None:
        """The same for callers without an event loop."""
        if not self._is_counted(subscription):
            self._count(subscription)
        self._refuse_when_full(subscription)

    def _is_counted(self, subscription: Subscription) -> bool:
        at, _ = self._counted.get(subscription.id, (-1.0, 0))
        return 0 <= self._clock.monotonic() - at < 1

    def _count(self, subscription: Subscription) -> None:
        now = self._clock.monotonic()
        waiting = (
            sa.select(sa.func.count())
            .select_from(tables.trigger_events)
            .where(_EVENTS.trigger_id == subscription.id, _EVENTS.state.in_(PENDING))
        )
        with self._database.read(subscription.scope) as tx:
            self._counted[subscription.id] = (now, int(tx.execute(waiting).scalar_one()))

    def _refuse_when_full(self, subscription: Subscription) -> None:
        _, count = self._counted[subscription.id]
        if count >= MOST_WAITING:
            raise Unavailable(
                f"{count:,} events of this trigger wait already. Send it again later.",
                code="inbox-full",
            )

    # Looked at

    def listed(
        self,
        scope: Scope,
        trigger_id: str,
        *,
        states: Sequence[EventState] = (),
        before: str | None = None,
        limit: int = 50,
    ) -> list[TriggerEvent]:
        """Newest first."""
        statement = sa.select(tables.trigger_events).where(_EVENTS.trigger_id == trigger_id)
        if states:
            statement = statement.where(_EVENTS.state.in_([each.value for each in states]))
        if before is not None:
            statement = statement.where(_EVENTS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_EVENTS.id.desc()).limit(limit))
        return [event_of(row) for row in rows]

    def get(self, scope: Scope, event_id: str) -> TriggerEvent:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.trigger_events).where(_EVENTS.id == event_id))
        if row is None:
            raise NotFound(f"There is no event {event_id!r} in this project.")
        return event_of(row)

    def counts(self, scope: Scope) -> dict[str, dict[str, int]]:
        """How many events each trigger of a project has, by state."""
        statement = sa.select(
            _EVENTS.trigger_id, _EVENTS.state, sa.func.count().label("count")
        ).group_by(_EVENTS.trigger_id, _EVENTS.state)
        found: dict[str, dict[str, int]] = {}
        with self._database.read(scope) as tx:
            for row in tx.rows(statement):
                found.setdefault(row.trigger_id, {})[row.state] = int(row._mapping["count"])
        return found

    # Decided by people

    def replay(
        self, scope: Scope, subscription: Subscription, ids: Sequence[str], by: str
    ) -> list[Stored]:
        """Stores events again, to run as the deployed revision does now; those still on their way are left alone."""
        if not subscription.armed:
            raise Conflict("The trigger is not deployed, so nothing can run. Deploy it first.")
        now = self._clock.now()
        with self._database.write(scope) as tx:
            rows = [
                row
                for row in tx.rows(_among(subscription.id, ids).order_by(_EVENTS.id))
                if EventState(row.state).is_final or row.reason == _TEST
            ]
            made = []
            for row in rows:
                event_id = self._ids.new("tev")
                made.append(
                    {
                        "id": event_id,
                        "trigger_id": subscription.id,
                        "state": EventState.stored.value,
                        "reason": None,
                        "same": None,
                        "document": {**row.document, "id": event_id},
                        "inputs": row.inputs,
                        "revision": None,
                        "replay_of": row.id,
                        "attempts": 0,
                        "run_id": None,
                        "received_at": now,
                        "due_at": now,
                        "started_at": None,
                        "ended_at": None,
                        **_ordered(subscription.trigger.delivery, row.document),
                    }
                )
            if made:
                tx.execute(_INSERT, made)
                told = {"trigger": subscription.name, "events": len(made), "by": by}
                self._events.append(tx, "trigger.replayed", subscription.playbook_id, told)
                self._bus.ring(tx, TOPIC)
        return [Stored(row["id"]) for row in made]

    def release(self, scope: Scope, subscription: Subscription, ids: Sequence[str], by: str) -> int:
        """Lets events run that were held for a decision."""
        return self._decide(scope, subscription, ids, by, EventState.stored, (EventState.held,))

    def drop(self, scope: Scope, subscription: Subscription, ids: Sequence[str], by: str) -> int:
        """Takes events out of the queue; they stay in the list, and can be replayed."""
        able = (EventState.held, EventState.stored, EventState.waiting)
        return self._decide(scope, subscription, ids, by, EventState.dropped, able)

    def _decide(
        self,
        scope: Scope,
        subscription: Subscription,
        ids: Sequence[str],
        by: str,
        state: EventState,
        able: Sequence[EventState],
    ) -> int:
        now = self._clock.now()
        ended = now if state.is_final else None
        with self._database.write(scope) as tx:
            changed = tx.execute(
                sa.update(tables.trigger_events)
                .where(
                    _EVENTS.trigger_id == subscription.id,
                    _EVENTS.id.in_(ids),
                    _EVENTS.state.in_([each.value for each in able]),
                )
                .values(state=state.value, reason=None, due_at=now, ended_at=ended)
            ).rowcount
            if changed:
                told = {"trigger": subscription.name, "events": changed, "by": by}
                if state is EventState.dropped:
                    self._events.append(tx, "trigger.dropped", subscription.playbook_id, told)
                else:
                    self._events.append(tx, "trigger.replayed", subscription.playbook_id, told)
                self._bus.ring(tx, TOPIC)
        return changed

    # Forgotten in time

    def tidy(self) -> None:
        """Removes events that are over for longer than their trigger keeps them."""
        with self._database.read(EVERYWHERE) as tx:
            found = [subscription_of(row) for row in tx.rows(sa.select(tables.subscriptions))]
        now = self._clock.now()
        for each in found:
            try:
                days = each.trigger.delivery.keep_days
            except StewardError:
                # Of a package that was uninstalled: kept as long as usual.
                days = Delivery().keep_days
            over = sa.delete(tables.trigger_events).where(
                _EVENTS.trigger_id == each.id,
                _EVENTS.state.in_([state.value for state in _FINAL]),
                _EVENTS.received_at < now - timedelta(days=days),
            )
            with self._database.write(each.scope) as tx:
                tx.purge(over)


def event_of(row: sa.Row[Any]) -> TriggerEvent:
    return copied(TriggerEvent, row, state=EventState(row.state))


def _among(trigger_id: str, ids: Sequence[str]) -> sa.Select[Any]:
    return sa.select(tables.trigger_events).where(
        _EVENTS.trigger_id == trigger_id, _EVENTS.id.in_(ids)
    )


def _storable(document: Json) -> Json:
    """Names of files and texts of others may hold halves of characters; no run could be started with them."""
    if _HALVES.search(canonical(document)) is None:
        return document
    return json.loads(_HALVES.sub("\ufffd", canonical(document)))


def _same(delivery: Delivery, arrival: Arrival, document: Mapping[str, Any]) -> str | None:
    """The hash of what makes it the same event as another one."""
    if delivery.once.seconds == 0:
        return None
    by = delivery.once.by
    value: Json = arrival.key
    if by == "content":
        value = arrival.data
    elif by != "id":
        try:
            value = expression(by).value(lookup_in({"event": document}))
        except ExpressionError:
            # An event without the field has no twin to be taken for.
            value = arrival.key
    if value is None:
        return None
    return hashlib.sha256(canonical([by, value]).encode("utf-8", "surrogatepass")).hexdigest()


def _ordered(delivery: Delivery, document: Mapping[str, Any]) -> dict[str, Any]:
    """The key in whose order it runs; a dead letter where it has none and one is asked for."""
    if delivery.order_by is None:
        return {"order_key": None}
    try:
        value = expression(delivery.order_by).value(lookup_in({"event": document}))
    except ExpressionError as problem:
        said = f"It has no key to order it by: {problem}"[:400]
        return {"order_key": None, "state": EventState.dead.value, "reason": said}
    text = canonical(value)
    if len(text) > 150:
        text = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"order_key": text}
