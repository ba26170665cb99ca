"""What a project's retention deletes: shown before it happens, done by a worker once its time has come."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from steward.agents import Threads
from steward.app.foundation import Foundation
from steward.core import Clock, Conflict
from steward.identity import Periods, Retention
from steward.observe import sent_until
from steward.store import Database, EventLog, Scope, refused

_KINDS: Final = ("runs", "versions", "events", "audit")
"""In the order in which they go: a version that a kept run changed stays, so that the run can be undone."""


@dataclass(frozen=True)
class Due:
    """What one period would delete now."""

    kind: str
    days: int | None
    count: int
    oldest: datetime | None


@dataclass(frozen=True)
class Kind:
    """One sort of record that a period is about."""

    due: Callable[[Scope, datetime], tuple[int, datetime | None]]
    remove: Callable[[Scope, datetime], int]


@dataclass(eq=False, repr=False)
class ProjectRemoval:
    _database: Database
    _clock: Clock
    _events: EventLog
    _retention: Retention
    _kinds: dict[str, Kind]

    def preview(self, scope: Scope, periods: Periods) -> list[Due]:
        """What these periods would delete if they took effect now. Deletes nothing."""
        days = asdict(periods)
        return [self._due(scope, kind, days[kind]) for kind in _KINDS]

    def apply(self, scope: Scope) -> dict[str, int]:
        """Deletes what the saved periods say, by kind; refused under a legal hold."""
        if (hold := self._retention.hold(scope)) is not None:
            raise refused(hold)
        rule = self._retention.rule(scope)
        if rule.starts_at is None or rule.starts_at > self._clock.now():
            return {}
        removed = {
            kind: self._kinds[kind].remove(scope, self._before(days))
            for kind, days in asdict(rule.periods).items()
            if days is not None
        }
        removed = {kind: count for kind, count in removed.items() if count}
        if removed:
            with self._database.write(scope) as tx:
                told = {"by": "steward", **removed}
                self._events.append(tx, "retention.applied", scope.project_id, told)
        return removed

    def tidy(self, scopes: Callable[[], Sequence[Scope]]) -> None:
        """The same for all projects; those with a legal hold are left alone."""
        for scope in scopes():
            if self._retention.hold(scope) is None:
                try:
                    self.apply(scope)
                except Conflict:
                    # A hold was placed meanwhile.
                    continue

    def _due(self, scope: Scope, kind: str, days: int | None) -> Due:
        if days is None:
            return Due(kind, None, 0, None)
        return Due(kind, days, *self._kinds[kind].due(scope, self._before(days)))

    def _before(self, days: int) -> datetime:
        return self._clock.now() - timedelta(days=days)


def remove_by_retention(base: Foundation, threads: Threads) -> ProjectRemoval:
    """Lets the rooms that keep records remove them, and workers ask for it."""
    settings, database, clock, events = base.settings, base.database, base.clock, base.events
    runs, workbench, identity = base.runs, base.workbench, base.identity
    runs.removal.before += [threads.forget_turns, workbench.versions.unpin_runs]
    removing = ProjectRemoval(
        database,
        clock,
        events,
        identity.retention,
        {
            "runs": Kind(runs.removal.due, runs.removal.remove),
            "versions": Kind(workbench.versions.due, workbench.versions.expire),
            "events": _event_kind(database, events, settings.audit.streams, audit=False),
            "audit": _event_kind(database, events, settings.audit.streams, audit=True),
        },
    )
    # Before the sweep, which then removes what was let go.
    runs.parts.chores.insert(0, lambda: removing.tidy(identity.projects.scopes))
    return removing


def _event_kind(
    database: Database, events: EventLog, streams: Collection[str], *, audit: bool
) -> Kind:
    """Events go once every stream of the event log has sent them on."""

    def remove(scope: Scope, before: datetime) -> int:
        until = sent_until(database, scope, streams)
        return events.remove(scope, before, audit=audit, until=until)

    return Kind(partial(events.due, audit=audit), remove)
