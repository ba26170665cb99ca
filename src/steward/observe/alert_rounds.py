"""Looks at the alert rules of every project beside a worker's runs: opens, resolves, and tells people.

Of many workers one looks at a project at a time: it takes the project's turn by raising an epoch, and writes nothing
once another has raised it again. Projects without rules have no turn.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import sqlalchemy as sa
import structlog

from steward.core import Clock, Ids, StewardError
from steward.identity import Level, Notifications, Role
from steward.observe import _tables as tables
from steward.observe.alert_messages import PAGE, Call, Message, call_of, message_of
from steward.observe.alert_rules import Channel
from steward.observe.alert_verdicts import (
    ALL,
    Turn,
    causes_of,
    outputs_since,
    reach_of,
    turns,
    verdict,
)
from steward.observe.alerts import (
    ALERTS,
    CAUSES,
    OPEN,
    RULES,
    Alert,
    KeptRule,
    View,
    alert_of,
    rule_of,
)
from steward.observe.facts import hour_of
from steward.observe.hourly import Hourly, Watched, end_of
from steward.observe.output_drift import Drift
from steward.observe.projector import Projector
from steward.runs import New, RunRequest, Runs
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction

_ROUNDS: Final = tables.alert_rounds.c
_AT_ONCE: Final = 200
_MOST_PROJECTED: Final = 4_000
_LONGEST_ABSENCE: Final = 28 * 24
"""Hours that are looked at again after Steward did not run."""
_log = structlog.get_logger("steward.alerts")


class Bystanders(Protocol):
    """Who is told, and how messages leave: what rooms above know."""

    def view(self, scope: Scope, user_id: str, token_role: Role | None) -> View | None:
        """What somebody sees; None when they are not in the project any more."""
        ...

    def title(self, scope: Scope, user_id: str, flow: str) -> str: ...

    def request(
        self, scope: Scope, user_id: str, token_role: Role | None, call: Call
    ) -> RunRequest:
        """The run that makes a call in somebody's name, governed like any other."""
        ...

    def project(self, scope: Scope, user_id: str) -> str: ...

    def address(self, scope: Scope) -> str | None:
        """Where the page of alerts is, if that is known."""
        ...


@dataclass(frozen=True)
class _Found:
    """What a look at one rule found."""

    kept: KeptRule
    turns: tuple[Turn, ...]
    latest: dict[str, float | None]
    """Of what was open before, by flow."""


@dataclass(frozen=True)
class _Note:
    user_id: str
    message: Message


@dataclass(frozen=True)
class _Send:
    channel: str
    alerts: frozenset[str]
    new: New | None
    problem: str = ""

    def document(self, alert: Alert) -> dict[str, str]:
        became = {"run_id": self.new.run.id} if self.new is not None else {"problem": self.problem}
        return {"channel": self.channel, "about": alert.state, **became}


@dataclass(frozen=True)
class _Pending:
    alert: Alert
    kept: KeptRule
    now: datetime

    @property
    def is_due(self) -> bool:
        quiet = self.kept.rule.quiet_hours
        is_quiet = quiet is not None and quiet.holds(self.now)
        return not (is_quiet or self.is_past or self.alert.muted_until is not None)

    @property
    def is_past(self) -> bool:
        """Whether there is nothing to tell any more: it was over before people were told, or they muted it."""
        alert = self.alert
        return alert.state == "resolved" and (alert.notified == "" or alert.muted_until is not None)


@dataclass(eq=False, repr=False)
class AlertRounds:
    _database: Database
    _events: EventLog
    _clock: Clock
    _ids: Ids
    _runs: Runs
    _notifications: Notifications
    _projector: Projector
    _hourly: Hourly
    _bystanders: Bystanders
    _interval: timedelta
    _history: timedelta

    async def serve(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.round)
            except StewardError as problem:
                _log.warning("alerts_not_checked", error=problem.message)
            await asyncio.sleep(self._interval.total_seconds())

    def round(self) -> int:
        """Looks at all projects that are due; how many those were."""
        claimed = self._claim()
        for scope, epoch in claimed:
            try:
                self._look(scope, epoch)
            except StewardError as problem:
                _log.warning("alerts_not_checked", project=scope.project_id, error=problem.message)
            except Exception:  # noqa: BLE001
                # One project that nobody thought of must not stop all others.
                _log.exception("alerts_not_checked", project=scope.project_id)
        return len(claimed)

    def tidy(self) -> None:
        """Removes alerts that are resolved for longer than they are kept."""
        old = sa.delete(tables.alerts).where(
            ALERTS.state == "resolved", ALERTS.resolved_at < self._clock.now() - self._history
        )
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(old)

    def _claim(self) -> list[tuple[Scope, int]]:
        now = self._clock.now()
        due = sa.select(tables.alert_rounds).where(_ROUNDS.next_at <= now)
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(due.order_by(_ROUNDS.next_at).limit(_AT_ONCE))
        claimed = []
        for row in rows:
            scope = Scope(row.org_id, row.project_id)
            taken = (
                sa.update(tables.alert_rounds)
                .where(_ROUNDS.epoch == row.epoch, _ROUNDS.next_at <= now)
                .values(epoch=row.epoch + 1, next_at=now + self._interval)
            )
            with self._database.write(scope) as tx:
                if tx.execute(taken).rowcount:
                    claimed.append((scope, row.epoch + 1))
        return claimed

    def _look(self, scope: Scope, epoch: int) -> None:
        with self._database.read(scope) as tx:
            rules = [rule_of(row) for row in tx.rows(sa.select(tables.alert_rules))]
        rules = [kept for kept in rules if kept.rule.enabled]
        if rules and self._projector.catch_up(scope, _MOST_PROJECTED):
            self._evaluate(scope, epoch, rules)
        self._tell(scope, epoch)
        if not rules:
            idle = sa.delete(tables.alert_rounds).where(_ROUNDS.epoch == epoch)
            with self._database.write(scope) as tx:
                tx.execute(idle)

    # What opens and resolves

    def _evaluate(self, scope: Scope, epoch: int, rules: Sequence[KeptRule]) -> None:
        now = self._clock.now()
        hour = hour_of(now)
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.alerts).where(ALERTS.state.in_(OPEN)))
            causes = tx.rows(sa.select(tables.alert_causes).where(CAUSES.normal_since.is_not(None)))
        opened: defaultdict[str, dict[str, Alert]] = defaultdict(dict)
        for row in rows:
            opened[row.rule_id][row.flow] = alert_of(row)
        normal: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for row in causes:
            normal[row.rule_id][row.flow] = row.normal_since
        first = min(
            max(each.checked_hour, hour - _LONGEST_ABSENCE) - reach_of(each.rule) for each in rules
        )
        looked = min(max(each.checked_hour, hour - _LONGEST_ABSENCE) for each in rules)
        outputs = outputs_since((each.rule for each in rules), looked)
        watched = self._hourly.watched(scope, first, now, outputs)
        found = [
            self._examined(scope, kept, watched, opened[kept.id], normal[kept.id], now)
            for kept in rules
        ]
        with self._database.write(scope) as tx:
            if not self._is_ours(tx, epoch):
                return
            revisions = {
                row.id: row.revision for row in tx.rows(sa.select(RULES.id, RULES.revision))
            }
            for each in found:
                # Changed meanwhile: the next look goes by what holds then.
                if revisions.get(each.kept.id) == each.kept.revision:
                    self._apply(tx, each, opened[each.kept.id], now)

    def _examined(
        self,
        scope: Scope,
        kept: KeptRule,
        watched: Watched,
        opened: dict[str, Alert],
        normal: dict[str, int],
        now: datetime,
    ) -> _Found:
        view = self._bystanders.view(scope, kept.author, kept.token_role)
        if view is None:
            return _Found(kept, (), {})
        hour = hour_of(now)
        causes = causes_of(kept.rule, watched, view.visible)
        # The hour that was under way at the last look is whole by now, and may end otherwise.
        hours = range(max(kept.checked_hour, hour - _LONGEST_ABSENCE), hour + 1)
        happened = tuple(turns(kept.rule, causes, hours, now, opened.keys(), normal))
        latest = {
            flow: verdict(kept.rule, causes[flow], hour, now, normal.get(flow)).value
            for flow in opened
            if flow in causes
        }
        return _Found(kept, happened, latest)

    def _apply(
        self, tx: Transaction, found: _Found, opened: dict[str, Alert], now: datetime
    ) -> None:
        kept, hour = found.kept, hour_of(now)
        ids = {flow: alert.id for flow, alert in opened.items()}
        for turn in found.turns:
            at = min(end_of(turn.hour), now)
            if turn.kind == "opened":
                ids[turn.flow] = self._open(tx, kept, turn, at)
            else:
                self._resolve(tx, kept, ids.pop(turn.flow), turn, at)
        for flow, value in found.latest.items():
            alert = opened[flow]
            if ids.get(flow) == alert.id and value != alert.latest:
                figures = {**_figures(alert.value, alert.limit, alert.drift), "latest": value}
                tx.execute(
                    sa.update(tables.alerts)
                    .where(ALERTS.id == alert.id, ALERTS.state.in_(OPEN))
                    .values(figures=figures)
                )
        if kept.checked_hour != hour:
            tx.execute(
                sa.update(tables.alert_rules).where(RULES.id == kept.id).values(checked_hour=hour)
            )

    def _open(self, tx: Transaction, kept: KeptRule, turn: Turn, at: datetime) -> str:
        alert_id = self._ids.new("ale")
        value = turn.verdict.value
        tx.execute(
            sa.insert(tables.alerts).values(
                id=alert_id,
                rule_id=kept.id,
                flow=turn.flow,
                cause=f"{kept.id}:{turn.flow}",
                state="firing",
                rule=kept.rule.model_dump(mode="json"),
                author=kept.author,
                figures=_figures(value, turn.verdict.limit, turn.verdict.drift),
                opened_at=at,
                notified="",
                sends=[],
            )
        )
        self._events.append(tx, "alert.opened", kept.id, {"alert": alert_id})
        return alert_id

    def _resolve(
        self, tx: Transaction, kept: KeptRule, alert_id: str, turn: Turn, at: datetime
    ) -> None:
        row = tx.first(sa.select(tables.alerts).where(ALERTS.id == alert_id))
        if row is None or row.state not in OPEN:
            # Somebody called it the new normal between the look and this.
            return
        tx.execute(
            sa.update(tables.alerts)
            .where(ALERTS.id == alert_id)
            .values(
                state="resolved",
                cause=None,
                figures={**row.figures, "latest": turn.verdict.value},
                resolved_at=at,
                resolved_why="recovered",
            )
        )
        told = {"alert": alert_id, "why": "recovered"}
        self._events.append(tx, "alert.resolved", kept.id, told)

    def _is_ours(self, tx: Transaction, epoch: int) -> bool:
        row = tx.first(sa.select(_ROUNDS.epoch).with_for_update())
        return row is not None and row.epoch == epoch

    # Who is told

    def _tell(self, scope: Scope, epoch: int) -> None:
        """One message for everything that is to be told now; what is quiet waits."""
        pending = self._pending(scope)
        if not pending:
            return
        told = [each for each in pending if each.is_due]
        notes = self._notes(scope, told)
        sends = self._sends(scope, told)
        with self._database.write(scope) as tx:
            if not self._is_ours(tx, epoch):
                return
            for note in notes:
                level = Level.warning if note.message.has_opened else Level.success
                self._notifications.add_within(
                    tx, note.user_id, level, note.message.title, note.message.text, link=PAGE
                )
            news = [send.new for send in sends if send.new is not None]
            if news:
                self._runs.records.start_all_within(tx, news)
            for each in pending:
                if each.is_due or each.is_past:
                    _mark(tx, each.alert, sends)

    def _pending(self, scope: Scope) -> list[_Pending]:
        """Alerts that fire and were not told, and those that resolved since."""
        to_tell = sa.or_(
            sa.and_(ALERTS.state == "firing", ALERTS.notified == ""),
            sa.and_(ALERTS.state == "resolved", ALERTS.notified != "resolved"),
        )
        now = self._clock.now()
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.alerts).where(to_tell).order_by(ALERTS.id))
            if not rows:
                return []
            rules = {row.id: rule_of(row) for row in tx.rows(sa.select(tables.alert_rules))}
            muted = {
                (row.rule_id, row.flow): row.muted_until
                for row in tx.rows(sa.select(tables.alert_causes).where(CAUSES.muted_until > now))
            }
        return [
            _Pending(alert_of(row, muted.get((row.rule_id, row.flow))), rules[row.rule_id], now)
            for row in rows
            if row.rule_id in rules
        ]

    def _notes(self, scope: Scope, told: Sequence[_Pending]) -> list[_Note]:
        people: defaultdict[str, list[Alert]] = defaultdict(list)
        for each in told:
            for user_id in dict.fromkeys([each.kept.author, *each.kept.rule.people]):
                people[user_id].append(each.alert)
        notes = []
        for user_id, alerts in people.items():
            view = self._bystanders.view(scope, user_id, None)
            if view is None:
                continue
            shown = [each for each in alerts if view.shows_alert(each.flow, each.author)]
            if shown:
                notes.append(_Note(user_id, message_of(shown, self._titles(scope, user_id))))
        return notes

    def _sends(self, scope: Scope, told: Sequence[_Pending]) -> list[_Send]:
        """One call for each channel of each author."""
        groups: defaultdict[tuple[str, Role | None, str], list[Alert]] = defaultdict(list)
        channels: dict[str, Channel] = {}
        for each in told:
            for channel in each.kept.rule.channels:
                address = json.dumps(channel.model_dump(mode="json"), sort_keys=True)
                channels[address] = channel
                groups[each.kept.author, each.kept.token_role, address].append(each.alert)
        return [
            self._send(scope, author, role, channels[address], alerts)
            for (author, role, address), alerts in groups.items()
        ]

    def _send(
        self, scope: Scope, author: str, role: Role | None, channel: Channel, alerts: list[Alert]
    ) -> _Send:
        ids = frozenset(alert.id for alert in alerts)
        try:
            message = message_of(alerts, self._titles(scope, author))
            project = self._bystanders.project(scope, author)
            flows = {alert.flow for alert in alerts}
            about = flows.pop() if len(flows) == 1 else ALL
            address = self._bystanders.address(scope)
            call = call_of(channel, message, about, project, address)
            request = self._bystanders.request(scope, author, role, call)
            return _Send(channel.kind, ids, self._runs.records.prepared(scope, author, request))
        except StewardError as problem:
            return _Send(channel.kind, ids, None, problem.message)

    def _titles(self, scope: Scope, user_id: str) -> Callable[[str], str]:
        return lambda flow: self._bystanders.title(scope, user_id, flow)


def _figures(value: float | None, limit: float | None, drift: Drift | None) -> dict[str, Any]:
    found = {"value": value, "latest": value, "limit": limit}
    return found if drift is None else {**found, "drift": drift.to_json()}


def _mark(tx: Transaction, alert: Alert, sends: Sequence[_Send]) -> None:
    added = [send.document(alert) for send in sends if alert.id in send.alerts]
    tx.execute(
        sa.update(tables.alerts)
        .where(ALERTS.id == alert.id)
        .values(
            notified="resolved" if alert.state == "resolved" else "firing",
            sends=[*alert.sends, *added],
        )
    )
