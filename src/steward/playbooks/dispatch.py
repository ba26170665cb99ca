"""Starts runs for stored events: filters, fills inputs, keeps order and caps, and notes what became of each.

An event and the run it starts change in one transaction, so a crash between them is not possible: an event that was
acknowledged starts exactly one run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from steward.broker import Grant, first_problem, with_defaults
from steward.core import Clock, Invalid, StewardError, fault
from steward.flows import ExpressionError, expression, expressions_in, filled
from steward.identity import Level
from steward.playbooks import _tables as tables
from steward.playbooks.delivery import Delivery, lookup_in, retry_delay
from steward.playbooks.subscriptions import COLUMNS as _SUBSCRIPTIONS
from steward.playbooks.subscriptions import Subscription, Subscriptions, subscription_of
from steward.playbooks.trigger import EVENT, EVENTS, Trigger
from steward.playbooks.trigger_events import PENDING, EventState
from steward.runs import Json, New, RunRequest, Runs, Status, is_over
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction
from steward.trace import get_logger

_EVENTS: Final = tables.trigger_events.c
_ORDER: Final = "trigger"
"""Among what else is written, with the trigger's id: as events are stored, so that no two processes wait in a ring."""
_LOOK: Final = 200
"""Events of one trigger that are looked at in one go."""
_ROUNDS: Final = 50
_SETTLED: Final = 500
_START: Final = (
    sa.update(tables.trigger_events)
    .where(_EVENTS.id == sa.bindparam("of_id"))
    .values(
        state=EventState.running.value,
        reason=None,
        run_id=sa.bindparam("of_run"),
        started_at=sa.bindparam("now", type_=_EVENTS.started_at.type),
        attempts=_EVENTS.attempts + 1,
    )
)
_RUN_TO_THE_END: Final = (
    sa.select(
        *(_EVENTS.id, _EVENTS.org_id, _EVENTS.project_id),
        *(_EVENTS.trigger_id, _EVENTS.run_id, _EVENTS.state, _EVENTS.attempts),
    )
    .where(
        _EVENTS.state == EventState.running.value,
        _EVENTS.id > sa.bindparam("after"),
        is_over(_EVENTS.run_id),
    )
    .order_by(_EVENTS.id)
    .limit(_SETTLED)
)
"""Events whose runs are over, without what they hold: it can be much, and is not looked at again."""
Pinned = Callable[[Subscription, int], tuple[Trigger, RunRequest]]
"""The trigger and what it starts as one revision has it."""
Choose = Callable[[RunRequest], RunRequest]
"""What is started in place of the deployed version, such as a canary that gets a share of the runs."""
Chooser = Callable[[Transaction, str], Choose]
"""Chooses for all events of one transaction and author."""

T = TypeVar("T")
_logger = get_logger("steward.playbooks")


@dataclass
class _Looked:
    """What is to be done with events, as far as that can be told before the transaction."""

    ready: list[tuple[list[sa.Row[Any]], RunRequest]] = field(default_factory=list)
    """Events with the run that they start together."""
    filtered: list[str] = field(default_factory=list)
    dead: dict[str, str] = field(default_factory=dict)
    later: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Dispatch:
    _database: Database
    _events: EventLog
    _clock: Clock
    _runs: Runs
    _subscriptions: Subscriptions
    _pinned: Pinned
    _chooser: Chooser

    def deliver(self) -> int:
        """Notes what ended and starts what is due, until nothing is; how many runs were started."""
        started = 0
        for _ in range(_ROUNDS):
            settled = self._settle()
            begun = sum(self._delivered(scope, each) for scope, each in self._due())
            started += begun
            if not settled and not begun:
                break
        return started

    def _due(self) -> list[tuple[Scope, str]]:
        statement = (
            sa.select(_EVENTS.trigger_id, _EVENTS.org_id, _EVENTS.project_id)
            .where(_EVENTS.state.in_(PENDING), _EVENTS.due_at <= self._clock.now())
            .distinct()
            .limit(1_000)
        )
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(statement)
        return [(Scope(row.org_id, row.project_id), row.trigger_id) for row in rows]

    # What ended

    def _settle(self) -> int:
        count, after = 0, ""
        while True:
            with self._database.read(EVERYWHERE) as tx:
                rows = tx.rows(_RUN_TO_THE_END, {"after": after})
                ended = self._runs.records.endings(tx, {row.run_id for row in rows if row.run_id})
            over: dict[Scope, list[sa.Row[Any]]] = {}
            for row in rows:
                if row.run_id in ended:
                    over.setdefault(Scope(row.org_id, row.project_id), []).append(row)
            for scope, of_scope in over.items():
                count += self._note(scope, of_scope, ended)
            if len(rows) < _SETTLED:
                return count
            after = rows[-1].id

    def _note(
        self,
        scope: Scope,
        rows: Sequence[sa.Row[Any]],
        ended: Mapping[str, tuple[Status, str | None]],
    ) -> int:
        now = self._clock.now()

        def note(tx: Transaction) -> None:
            mine = self._still(tx, [row.id for row in rows], [EventState.running.value])
            done = []
            for row in rows:
                if row.id not in mine or mine[row.id].run_id != row.run_id:
                    # Another worker noted it meanwhile, and may have begun the next try.
                    continue
                status, reason = ended[row.run_id]
                if status is Status.done:
                    done.append(row.id)
                else:
                    self._note_failure(tx, row, status, reason, now)
            if done:
                _mark(tx, done, state=EventState.done.value, reason=None, ended_at=now)

        self._write(scope, note, _ORDER)
        return len(rows)

    def _write(self, scope: Scope, work: Callable[[Transaction], T], order: str) -> T:
        """In the transaction that events are stored in and runs driven in: each of its own would hold those up."""
        # Reads the secrets where they are not known yet: inside, that would take a second connection.
        self._database.conceal(scope, None)
        return self._runs.parts.commit.share_now(lambda tx: work(tx.narrowed(scope)), order)

    def _note_failure(
        self, tx: Transaction, row: sa.Row[Any], status: Status, reason: str | None, now: datetime
    ) -> None:
        found = tx.first(sa.select(tables.subscriptions).where(_SUBSCRIPTIONS.id == row.trigger_id))
        if found is None:
            return
        subscription = subscription_of(found)
        said = f"The run was {status.value}" + (f": {reason}" if reason else ".")
        retries = _delivery(subscription).retries
        if status is Status.failed and row.attempts <= retries:
            due = now + retry_delay(row.attempts)
            said = f"Try {row.attempts} of {retries + 1} failed. {said}"
            _mark(tx, [row.id], state=EventState.waiting.value, reason=said[:400], due_at=due)
            return
        if status is Status.failed and retries:
            self._bury(tx, subscription, row.id, f"All {retries + 1} tries failed. {said}", now)
            return
        _mark(tx, [row.id], state=EventState.failed.value, reason=said[:400], ended_at=now)

    def _bury(
        self, tx: Transaction, subscription: Subscription, event_id: str, why: str, now: datetime
    ) -> None:
        _mark(tx, [event_id], state=EventState.dead.value, reason=why[:400], ended_at=now)
        told = {"trigger": subscription.name, "event": event_id}
        self._events.append(tx, "trigger.dead_letter", subscription.playbook_id, told)
        self._subscriptions.tell_within(
            tx, subscription, Level.error, "could not start a run", why[:400]
        )

    # What is due

    def _delivered(self, scope: Scope, trigger_id: str) -> int:
        """One trigger that cannot be looked at must not stop those of others."""
        try:
            return self._deliver(scope, trigger_id)
        except Exception:
            _logger.exception("trigger events not delivered", trigger=trigger_id)
            return 0

    def _deliver(self, scope: Scope, trigger_id: str) -> int:
        now = self._clock.now()
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.subscriptions).where(_SUBSCRIPTIONS.id == trigger_id))
            if row is None:
                return 0
            subscription = subscription_of(row)
            if not subscription.is_active:
                return 0
            candidates = tx.rows(
                sa.select(tables.trigger_events)
                .where(
                    _EVENTS.trigger_id == trigger_id,
                    _EVENTS.state.in_(PENDING),
                    _EVENTS.due_at <= now,
                )
                .order_by(_EVENTS.id)
                .limit(_LOOK)
            )
        looked = self._looked(subscription, candidates, now)
        return self._apply(scope, subscription, looked, now)

    def _looked(
        self, subscription: Subscription, candidates: Sequence[sa.Row[Any]], now: datetime
    ) -> _Looked:
        found = _Looked()
        try:
            trigger = subscription.trigger
        except StewardError as problem:
            found.dead = {row.id: problem.message for row in candidates}
            return found
        passing: list[sa.Row[Any]] = []
        for row in candidates:
            try:
                if _passes(trigger.delivery, row.document):
                    passing.append(row)
                else:
                    found.filtered.append(row.id)
            except ExpressionError as problem:
                found.dead[row.id] = f"The filter cannot look at it. {problem.message}"
        batch = trigger.delivery.batch
        if batch is None:
            for row in passing:
                self._prepare(subscription, [row], found)
            return found
        while len(passing) >= batch.most:
            self._prepare(subscription, passing[: batch.most], found)
            passing = passing[batch.most :]
        if passing:
            until = passing[0].received_at + timedelta(seconds=batch.seconds)
            if until <= now:
                self._prepare(subscription, passing, found)
            else:
                said = f"Waits for more events of its batch, at most until {until:%H:%M:%S} UTC."
                found.later = {row.id: said for row in passing}
        return found

    def _prepare(self, subscription: Subscription, rows: list[sa.Row[Any]], found: _Looked) -> None:
        try:
            trigger, base = subscription.trigger, subscription.request
            revision = rows[0].revision
            if revision is not None and revision != subscription.revision:
                trigger, base = self._pinned(subscription, revision)
            found.ready.append((rows, _request(trigger, base, rows)))
        except StewardError as problem:
            for row in rows:
                found.dead[row.id] = problem.message

    def _apply(self, scope: Scope, before: Subscription, looked: _Looked, now: datetime) -> int:
        order = f"{_ORDER} {before.id}"
        started = self._write(scope, lambda tx: self._begin(tx, before, looked, now), order)
        fault("triggers.deliver.durable")
        return started

    def _begin(self, tx: Transaction, before: Subscription, looked: _Looked, now: datetime) -> int:
        row = tx.first(
            sa.select(tables.subscriptions).where(_SUBSCRIPTIONS.id == before.id).with_for_update()
        )
        if row is None or not subscription_of(row).is_active or row.revision != before.revision:
            # Deployed or paused meanwhile: the next look decides with what holds then.
            return 0
        delivery = _delivery(before)
        found = [*looked.filtered, *looked.dead, *looked.later]
        found += [each.id for rows, _ in looked.ready for each in rows]
        still = self._still(tx, found, PENDING)
        filtered = [each for each in looked.filtered if each in still]
        if filtered:
            said = f"The filter is not true for it: {delivery.filter}"[:400]
            _mark(tx, filtered, state=EventState.filtered.value, reason=said, ended_at=now)
        for event_id, why in looked.dead.items():
            if event_id in still:
                self._bury(tx, before, event_id, why, now)
        caps = _Caps(tx, before, delivery, now)
        choose = self._chooser(tx, before.author)
        later = dict(looked.later)
        news: list[New] = []
        starting: list[dict[str, Any]] = []
        for rows, request in looked.ready:
            if any(each.id not in still for each in rows):
                continue
            held = caps.holds(rows[0].order_key)
            if held is not None:
                later |= {each.id: held for each in rows}
                continue
            chosen = choose(request) if rows[0].revision is None else request
            new = self._runs.records.prepared(tx.project, before.author, chosen)
            news.append(new)
            starting += [{"of_id": each.id, "of_run": new.run.id, "now": now} for each in rows]
        _wait(tx, later, still)
        if news:
            tx.execute(_START, starting)
            self._runs.records.start_all_within(tx, news)
            fault("triggers.deliver.written")
        return len(news)

    def _still(
        self, tx: Transaction, ids: Sequence[str], states: Sequence[str]
    ) -> dict[str, sa.Row[Any]]:
        """Those of the events that nobody else took meanwhile, locked."""
        statement = sa.select(_EVENTS.id, _EVENTS.state, _EVENTS.run_id)
        statement = statement.where(_EVENTS.id.in_(ids), _EVENTS.state.in_(states))
        return {row.id: row for row in tx.rows(statement.order_by(_EVENTS.id).with_for_update())}


class _Caps:
    """How many more runs may start now, and which keys are taken."""

    def __init__(
        self, tx: Transaction, subscription: Subscription, delivery: Delivery, now: datetime
    ) -> None:
        self._delivery = delivery
        self._room: int | None = None
        self._rate: int | None = None
        self._taken: set[str] = set()
        if delivery.at_once is not None:
            of_playbook = sa.select(_SUBSCRIPTIONS.id).where(
                _SUBSCRIPTIONS.playbook_id == subscription.playbook_id
            )
            triggers = [row.id for row in tx.rows(of_playbook)]
            running = sa.select(_EVENTS.run_id).where(
                _EVENTS.trigger_id.in_(triggers), _EVENTS.state == EventState.running.value
            )
            self._room = delivery.at_once - len({row.run_id for row in tx.rows(running)})
        if delivery.rate is not None:
            since = now - timedelta(seconds=delivery.rate.seconds)
            recent = sa.select(_EVENTS.run_id).where(
                _EVENTS.trigger_id == subscription.id, _EVENTS.started_at > since
            )
            self._rate = delivery.rate.runs - len({row.run_id for row in tx.rows(recent)})
        if delivery.order_by is not None:
            # Those that run, and those that wait for another try.
            before = sa.select(_EVENTS.order_key).where(
                _EVENTS.trigger_id == subscription.id,
                sa.or_(
                    _EVENTS.state == EventState.running.value,
                    sa.and_(_EVENTS.state == EventState.waiting.value, _EVENTS.due_at > now),
                ),
            )
            self._taken = {row.order_key for row in tx.rows(before) if row.order_key is not None}

    def holds(self, key: str | None) -> str | None:
        """Why an event has to wait; None takes its place."""
        if key is not None and key in self._taken:
            return f"Waits for an earlier event with the key {key[:100]}."
        if self._room is not None and self._room <= 0:
            self._take(key)
            most = self._delivery.at_once
            return f"Waits: at most {most} {'run' if most == 1 else 'runs'} of this playbook at a time."
        if self._rate is not None and self._rate <= 0 and self._delivery.rate is not None:
            self._take(key)
            rate = self._delivery.rate
            return f"Waits: at most {rate.runs} runs within {rate.seconds} s."
        self._take(key)
        if self._room is not None:
            self._room -= 1
        if self._rate is not None:
            self._rate -= 1
        return None

    def _take(self, key: str | None) -> None:
        """What comes later with the same key waits for this one, whether it starts now or not."""
        if key is not None:
            self._taken.add(key)


def _passes(delivery: Delivery, document: Mapping[str, Any]) -> bool:
    if delivery.filter is None:
        return True
    return expression(delivery.filter).value(lookup_in({EVENT: document})) is True


def _request(trigger: Trigger, base: RunRequest, rows: Sequence[sa.Row[Any]]) -> RunRequest:
    """What a run of these events is started with; StewardError says why there can be none."""
    documents = [row.document for row in rows]
    in_batch = trigger.delivery.batch is not None
    variables: dict[str, Json] = {EVENTS: documents} if in_batch else {EVENT: documents[0]}
    inputs: dict[str, Json] = dict(filled(trigger.inputs, lookup_in(variables)))
    # What a stranger wrote into the event, the run must not take for the word of whoever deployed it.
    foreign = [name for name, value in trigger.inputs.items() if any(expressions_in(value))]
    for row in rows:
        inputs |= row.inputs or {}
    if not trigger.trusted:
        inputs |= variables
        foreign += list(variables)
    # A flow that takes none is written without them.
    schema = base.document.get("inputs", {"type": "object"})
    inputs = with_defaults(schema, inputs)
    wrong = first_problem(schema, inputs)
    if wrong is not None:
        raise Invalid(
            f"The event does not fit the inputs of the playbook: {wrong}.", code="invalid-inputs"
        )
    grant = replace(Grant.from_json(base.grant), branch=trigger.works_on())
    return replace(base, inputs=inputs, foreign=foreign, grant=grant.to_json())


def _delivery(subscription: Subscription) -> Delivery:
    try:
        return subscription.trigger.delivery
    except StewardError:
        return Delivery()


def _mark(tx: Transaction, ids: Sequence[str], **values: Any) -> None:
    tx.execute(sa.update(tables.trigger_events).where(_EVENTS.id.in_(ids)).values(**values))


def _wait(tx: Transaction, later: Mapping[str, str], still: Mapping[str, sa.Row[Any]]) -> None:
    """Says why events wait; those that say it already are left alone."""
    by_reason: dict[str, list[str]] = {}
    for event_id, why in later.items():
        if event_id in still and still[event_id].state == EventState.stored.value:
            by_reason.setdefault(why, []).append(event_id)
    for why, ids in by_reason.items():
        _mark(tx, ids, state=EventState.waiting.value, reason=why[:400])
