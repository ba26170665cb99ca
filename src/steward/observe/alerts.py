"""Alerts and their rules, as people see and change them: one open alert for one cause, and the history of all."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker import token_role
from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, Stale
from steward.identity import Access, Members, Role
from steward.observe import _tables as tables
from steward.observe.alert_rules import AlertRule
from steward.observe.alert_verdicts import (
    ALL,
    BASELINE,
    Past,
    causes_of,
    outputs_since,
    preview,
    reach_of,
)
from steward.observe.facts import hour_of
from steward.observe.hourly import Hourly, is_of_messages
from steward.observe.output_drift import Drift, drift_from
from steward.observe.overview import Visible, seen, shows
from steward.observe.projector import Projector
from steward.store import Database, EventLog, Scope, Transaction

State = Literal["firing", "acknowledged", "resolved"]
Why = Literal["recovered", "new_normal", "rule_changed", "rule_deleted"]
OPEN: Final[tuple[State, ...]] = ("firing", "acknowledged")
RULES: Final = tables.alert_rules.c
ALERTS: Final = tables.alerts.c
CAUSES: Final = tables.alert_causes.c
_ROUNDS: Final = tables.alert_rounds.c
_MOST_RULES: Final = 100
_LONGEST_MUTE: Final = timedelta(days=366)
_PREVIEW_PROJECTED: Final = 2_000


@dataclass(frozen=True)
class View:
    """What of alerts one person sees: nothing about playbooks that are hidden from them."""

    user_id: str
    visible: Visible
    sees_all: bool
    """Whether no playbook is hidden from them: figures of a whole project count all of them."""

    def shows_rule(self, rule: AlertRule, author: str) -> bool:
        if rule.flow is not None:
            return shows(self.visible, rule.flow)
        return rule.each_flow or self.sees_all or author == self.user_id

    def shows_alert(self, flow: str, author: str) -> bool:
        if flow == ALL:
            return self.sees_all or author == self.user_id
        return shows(self.visible, flow)

    def filter(self) -> sa.ColumnElement[bool]:
        """The same for lists."""
        if self.sees_all:
            return sa.true()
        own = sa.or_(ALERTS.flow != ALL, ALERTS.author == self.user_id)
        return sa.and_(own, seen(ALERTS.flow, self.visible))


@dataclass(frozen=True)
class KeptRule:
    id: str
    revision: int
    rule: AlertRule
    author: str
    token_role: Role | None
    checked_hour: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Alert:
    id: str
    rule_id: str
    rule: AlertRule
    author: str
    flow: str
    state: State
    value: float | None
    """When it opened."""
    latest: float | None
    limit: float | None
    drift: Drift | None
    """What of the output changed, when it opened."""
    opened_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    resolved_why: Why | None
    notified: str
    sends: tuple[dict[str, str], ...]
    muted_until: datetime | None = None


@dataclass(eq=False, repr=False)
class Alerts:
    _database: Database
    _events: EventLog
    _clock: Clock
    _ids: Ids
    _members: Members
    _projector: Projector
    _hourly: Hourly

    # Rules

    def rules(self, scope: Scope, view: View) -> list[KeptRule]:
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.alert_rules).order_by(RULES.id))
        found = [rule_of(row) for row in rows]
        return [each for each in found if view.shows_rule(each.rule, each.author)]

    def rule(self, scope: Scope, view: View, rule_id: str) -> KeptRule:
        with self._database.read(scope) as tx:
            return _existing_rule(tx, view, rule_id)

    def add_rule(self, access: Access, view: View, rule: AlertRule) -> KeptRule:
        access.require(Role.editor)
        now = self._clock.now()
        made = KeptRule(
            self._ids.new("rul"),
            1,
            rule,
            access.user_id,
            token_role(access),
            hour_of(now),
            now,
            now,
        )
        with self._database.write(access.scope) as tx:
            self._refuse_wrong(tx, view, rule)
            if len(tx.rows(sa.select(RULES.id))) >= _MOST_RULES:
                raise Conflict(
                    f"A project has at most {_MOST_RULES} alert rules. Delete one that is not needed."
                )
            tx.execute(sa.insert(tables.alert_rules).values(id=made.id, **_values(made)))
            told = {"revision": 1, "by": access.user_id}
            self._events.append(tx, "alert.rule_saved", made.id, told)
            _look_soon(tx, now)
        return made

    def change_rule(
        self, access: Access, view: View, rule_id: str, rule: AlertRule, expected: int
    ) -> KeptRule:
        """A new revision; messages are sent in the name of who saved it."""
        access.require(Role.editor)
        now = self._clock.now()
        with self._database.write(access.scope) as tx:
            before = _existing_rule(tx, view, rule_id, lock=True)
            _refuse_stale(before, expected)
            self._refuse_wrong(tx, view, rule)
            goes_on = rule.enabled and rule.watches_the_same(before.rule)
            after = replace(
                before,
                revision=before.revision + 1,
                rule=rule,
                author=access.user_id,
                token_role=token_role(access),
                checked_hour=before.checked_hour if goes_on else hour_of(now),
                updated_at=now,
            )
            tx.execute(
                sa.update(tables.alert_rules).where(RULES.id == rule_id).values(**_values(after))
            )
            if not goes_on:
                self._resolve(tx, ALERTS.rule_id == rule_id, "rule_changed")
            told = {"revision": after.revision, "by": access.user_id}
            self._events.append(tx, "alert.rule_saved", rule_id, told)
            _look_soon(tx, now)
        return after

    def delete_rule(self, access: Access, view: View, rule_id: str, expected: int) -> None:
        """Its alerts stay as history."""
        access.require(Role.editor)
        with self._database.write(access.scope) as tx:
            _refuse_stale(_existing_rule(tx, view, rule_id, lock=True), expected)
            self._resolve(tx, ALERTS.rule_id == rule_id, "rule_deleted")
            tx.execute(sa.delete(tables.alert_causes).where(CAUSES.rule_id == rule_id))
            tx.execute(sa.delete(tables.alert_rules).where(RULES.id == rule_id))
            self._events.append(tx, "alert.rule_deleted", rule_id, {"by": access.user_id})

    def preview(self, scope: Scope, view: View, rule: AlertRule) -> Past:
        """What the rule would have done in the last 28 days, for the figures that this person sees."""
        self._projector.catch_up(scope, _PREVIEW_PROJECTED)
        now = self._clock.now()
        first = hour_of(now) - BASELINE - reach_of(rule)
        outputs = outputs_since([rule], hour_of(now) - BASELINE)
        causes = causes_of(rule, self._hourly.watched(scope, first, now, outputs), view.visible)
        return preview(rule, causes, now, BASELINE)

    def flows(self, scope: Scope, view: View) -> list[str]:
        """Flows of the last 28 days that this person sees."""
        self._projector.catch_up(scope)
        now = self._clock.now()
        return self._hourly.watched(scope, hour_of(now) - BASELINE, now).flows(view.visible)

    def _refuse_wrong(self, tx: Transaction, view: View, rule: AlertRule) -> None:
        if rule.flow is not None and not view.shows_rule(rule, view.user_id):
            said = "there is no such playbook in this project, or it is not open to you"
            raise Invalid(f"The rule names a flow: {said}.", problems=[Problem("/flow", said)])
        if rule.flow is not None and is_of_messages(rule.flow):
            said = "messages of alerts cannot raise an alert"
            raise Invalid(f"The rule cannot be saved: {said}.", problems=[Problem("/flow", said)])
        for index, user_id in enumerate(rule.people):
            if self._members.role_within(tx, user_id) is None:
                said = "this person is not in the project; invite them first"
                problem = Problem(f"/people/{index}", said)
                raise Invalid(f"The rule names somebody: {said}.", problems=[problem])

    # Alerts

    def listed(
        self,
        scope: Scope,
        view: View,
        states: Collection[State] = OPEN,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Alert]:
        """Newest first."""
        statement = sa.select(tables.alerts).where(ALERTS.state.in_(list(states)), view.filter())
        if before is not None:
            statement = statement.where(ALERTS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(ALERTS.id.desc()).limit(limit))
            muted = _muted(tx)
        return [alert_of(row, muted.get((row.rule_id, row.flow))) for row in rows]

    def alert(self, scope: Scope, view: View, alert_id: str) -> Alert:
        with self._database.read(scope) as tx:
            return _existing_alert(tx, view, alert_id)

    def acknowledge(self, access: Access, view: View, alert_id: str) -> Alert:
        """Says that somebody looks after it. It stays open until its figure is back."""
        access.require(Role.operator)
        with self._database.write(access.scope) as tx:
            found = _existing_alert(tx, view, alert_id)
            _refuse_resolved(found)
            if found.state == "firing":
                tx.execute(
                    sa.update(tables.alerts)
                    .where(ALERTS.id == alert_id, ALERTS.state == "firing")
                    .values(
                        state="acknowledged",
                        acknowledged_at=self._clock.now(),
                        acknowledged_by=access.user_id,
                    )
                )
                told = {"alert": alert_id, "by": access.user_id}
                self._events.append(tx, "alert.acknowledged", found.rule_id, told)
            return _existing_alert(tx, view, alert_id)

    def mute(self, access: Access, view: View, alert_id: str, until: datetime | None) -> Alert:
        """No messages about its cause until a moment; None ends that at once."""
        access.require(Role.operator)
        now = self._clock.now()
        if until is not None and not now < until <= now + _LONGEST_MUTE:
            said = "must be a moment within the next year"
            raise Invalid(f"`until` {said}.", problems=[Problem("/until", said)])
        with self._database.write(access.scope) as tx:
            found = _existing_alert(tx, view, alert_id)
            _set_cause(tx, found, muted_until=until)
            kind = "alert.muted" if until is not None else "alert.unmuted"
            told = {"alert": alert_id, "by": access.user_id}
            self._events.append(tx, kind, found.rule_id, told)
            return _existing_alert(tx, view, alert_id)

    def accept_as_normal(self, access: Access, view: View, alert_id: str) -> Alert:
        """What is usual is learned from now on; the alert resolves."""
        access.require(Role.editor)
        with self._database.write(access.scope) as tx:
            found = _existing_alert(tx, view, alert_id)
            if found.rule.condition.kind != "unusual":
                raise Conflict(
                    "Only alerts about unusual figures have a normal. Change the threshold of the rule instead."
                )
            _refuse_resolved(found)
            _set_cause(tx, found, normal_since=hour_of(self._clock.now()))
            self._resolve(tx, ALERTS.id == alert_id, "new_normal")
            return _existing_alert(tx, view, alert_id)

    def _resolve(self, tx: Transaction, which: sa.ColumnElement[bool], why: Why) -> None:
        """Because somebody did something about it: nobody needs a message."""
        rows = tx.rows(sa.select(ALERTS.id, ALERTS.rule_id).where(which, ALERTS.state.in_(OPEN)))
        for row in rows:
            tx.execute(
                sa.update(tables.alerts)
                .where(ALERTS.id == row.id)
                .values(
                    state="resolved",
                    cause=None,
                    resolved_at=self._clock.now(),
                    resolved_why=why,
                    notified="resolved",
                )
            )
            self._events.append(tx, "alert.resolved", row.rule_id, {"alert": row.id, "why": why})


def rule_of(row: sa.Row[Any]) -> KeptRule:
    return KeptRule(
        row.id,
        row.revision,
        AlertRule.model_validate(row.document),
        row.author,
        Role[row.token_role] if row.token_role else None,
        row.checked_hour,
        row.created_at,
        row.updated_at,
    )


def alert_of(row: sa.Row[Any], muted_until: datetime | None = None) -> Alert:
    return Alert(
        id=row.id,
        rule_id=row.rule_id,
        rule=AlertRule.model_validate(row.rule),
        author=row.author,
        flow=row.flow,
        state=row.state,
        value=row.figures["value"],
        latest=row.figures["latest"],
        limit=row.figures["limit"],
        drift=drift_from(row.figures.get("drift")),
        opened_at=row.opened_at,
        acknowledged_at=row.acknowledged_at,
        acknowledged_by=row.acknowledged_by,
        resolved_at=row.resolved_at,
        resolved_why=row.resolved_why,
        notified=row.notified,
        sends=tuple(row.sends),
        muted_until=muted_until,
    )


def _values(kept: KeptRule) -> dict[str, Any]:
    return {
        "revision": kept.revision,
        "document": kept.rule.model_dump(mode="json"),
        "author": kept.author,
        "token_role": kept.token_role.name if kept.token_role is not None else None,
        "checked_hour": kept.checked_hour,
        "created_at": kept.created_at,
        "updated_at": kept.updated_at,
    }


def _existing_rule(tx: Transaction, view: View, rule_id: str, *, lock: bool = False) -> KeptRule:
    statement = sa.select(tables.alert_rules).where(RULES.id == rule_id)
    row = tx.first(statement.with_for_update() if lock else statement)
    found = rule_of(row) if row is not None else None
    if found is None or not view.shows_rule(found.rule, found.author):
        raise NotFound("There is no such alert rule in this project, or it is not open to you.")
    return found


def _existing_alert(tx: Transaction, view: View, alert_id: str) -> Alert:
    row = tx.first(sa.select(tables.alerts).where(ALERTS.id == alert_id))
    if row is None or not view.shows_alert(row.flow, row.author):
        raise NotFound("There is no such alert in this project, or it is not open to you.")
    return alert_of(row, _muted(tx).get((row.rule_id, row.flow)))


def _muted(tx: Transaction) -> dict[tuple[str, str], datetime]:
    rows = tx.rows(sa.select(tables.alert_causes).where(CAUSES.muted_until.is_not(None)))
    return {(row.rule_id, row.flow): row.muted_until for row in rows}


def _set_cause(tx: Transaction, alert: Alert, **values: Any) -> None:
    insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
    statement = insert(tables.alert_causes).values(rule_id=alert.rule_id, flow=alert.flow, **values)
    tx.execute(
        statement.on_conflict_do_update(
            index_elements=[CAUSES.project_id, CAUSES.rule_id, CAUSES.flow], set_=values
        )
    )


def _look_soon(tx: Transaction, now: datetime) -> None:
    insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
    statement = insert(tables.alert_rounds).values(next_at=now, epoch=0)
    tx.execute(
        statement.on_conflict_do_update(
            index_elements=[_ROUNDS.project_id], set_={"next_at": statement.excluded.next_at}
        )
    )


def _refuse_stale(found: KeptRule, expected: int) -> None:
    if found.revision != expected:
        raise Stale(
            f"The rule is at revision {found.revision} and was read at {expected}. Read it again."
        )


def _refuse_resolved(found: Alert) -> None:
    if found.state == "resolved":
        raise Conflict("This alert is resolved already.")
