"""Schedules: cron rows with a time zone; each moment fires once, however many workers look."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa
from cronsim import CronSim, CronSimError

from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, Stale, copied
from steward.runs import _tables as tables
from steward.runs.canonical import plain
from steward.runs.model import RunRequest
from steward.runs.records import Records
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction

_COLUMNS = tables.schedules.c
_LATE: Final = timedelta(minutes=2)
"""A moment that is later than this was missed: no worker was there."""
MOST_MISSED: Final = 1000


class Missed(StrEnum):
    """What to do about moments at which no worker ran."""

    skip = "skip"
    once = "once"
    all = "all"
    ask = "ask"
    """A person decides; the last of them is held until then."""


@dataclass(frozen=True)
class Schedule:
    id: str
    name: str
    cron: str
    time_zone: str
    missed: Missed
    enabled: bool
    next_at: datetime | None
    last_at: datetime | None
    created_by: str
    created_at: datetime
    revision: int
    request: RunRequest
    asked: tuple[datetime, ...] = ()
    """Moments that were missed, about which somebody is asked."""


class Schedules:
    def __init__(
        self, database: Database, records: Records, events: EventLog, clock: Clock, ids: Ids
    ) -> None:
        self._database = database
        self._records = records
        self._events = events
        self._clock = clock
        self._ids = ids

    def create(
        self,
        scope: Scope,
        author: str,
        name: str,
        cron: str,
        time_zone: str,
        request: RunRequest,
        missed: Missed = Missed.once,
    ) -> Schedule:
        now = self._clock.now()
        name = self._records.scrub(scope, name)
        request = self._records.without_secrets(scope, request)
        row = {
            "id": self._ids.new("sch"),
            "name": name[:200],
            "cron": cron,
            "time_zone": time_zone,
            "missed": missed.value,
            "request": plain(asdict(request)),
            "enabled": 1,
            "next_at": next_moment(cron, time_zone, now),
            "created_by": author,
            "created_at": now,
            "revision": 1,
        }
        with self._database.write(scope) as tx:
            tx.execute(sa.insert(tables.schedules).values(**row))
            told = {"name": name, "by": author}
            self._events.append(tx, "schedule.created", str(row["id"]), told)
            return _existing(tx, str(row["id"]))

    def listed(self, scope: Scope, before: str | None = None, limit: int = 50) -> list[Schedule]:
        statement = sa.select(tables.schedules)
        if before is not None:
            statement = statement.where(_COLUMNS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_COLUMNS.id.desc()).limit(limit))
        return [_schedule(row) for row in rows]

    def get(self, scope: Scope, schedule_id: str) -> Schedule:
        with self._database.read(scope) as tx:
            return _existing(tx, schedule_id)

    def change(
        self,
        scope: Scope,
        schedule_id: str,
        revision: int,
        changes: dict[str, Any],
        by: str | None = None,
    ) -> Schedule:
        """Changes name, cron, time_zone, missed or enabled; the next moment is counted from now."""
        changes = self._records.scrub(scope, changes)
        with self._database.write(scope) as tx:
            found = _existing(tx, schedule_id)
            if found.revision != revision:
                raise Stale("The schedule has changed since you read it. Read it again.")
            cron = str(changes.get("cron", found.cron))
            zone = str(changes.get("time_zone", found.time_zone))
            enabled = bool(changes.get("enabled", found.enabled))
            moment = next_moment(cron, zone, self._clock.now()) if enabled else None
            values = {**changes, "enabled": int(enabled), "next_at": moment}
            values["revision"] = revision + 1
            tx.execute(
                sa.update(tables.schedules).where(_COLUMNS.id == schedule_id).values(**values)
            )
            told = {"name": found.name, "by": by}
            self._events.append(tx, "schedule.changed", schedule_id, told)
            return _existing(tx, schedule_id)

    def delete(self, scope: Scope, schedule_id: str, by: str | None = None) -> None:
        with self._database.write(scope) as tx:
            found = _existing(tx, schedule_id)
            tx.execute(sa.delete(tables.schedules).where(_COLUMNS.id == schedule_id))
            told = {"name": found.name, "by": by}
            self._events.append(tx, "schedule.deleted", schedule_id, told)

    def answer(self, scope: Scope, schedule_id: str, *, run: bool, by: str) -> Schedule:
        """Decides about the moments that were missed: one run for the last of them, or none."""
        with self._database.write(scope) as tx:
            found = _existing(tx, schedule_id)
            if not found.asked:
                raise Conflict("Nothing was missed, or somebody has decided already.")
            if run:
                self._start(tx, found, found.asked[-1])
            tx.execute(
                sa.update(tables.schedules).where(_COLUMNS.id == schedule_id).values(asked=None)
            )
            told = {"name": found.name, "run": run, "by": by}
            self._events.append(tx, "schedule.decided", schedule_id, told)
            return _existing(tx, schedule_id)

    def _start(self, tx: Transaction, schedule: Schedule, moment: datetime) -> None:
        inputs = {**schedule.request.inputs, "scheduled_at": moment.isoformat()}
        request = RunRequest(**{**asdict(schedule.request), "inputs": inputs})
        self._records.start_within(tx, schedule.created_by, request)

    def fire_due(self) -> int:
        """Starts what is due; the row moves on in the transaction that starts the runs."""
        now = self._clock.now()
        due = sa.select(_COLUMNS.id, _COLUMNS.org_id, _COLUMNS.project_id).where(
            _COLUMNS.next_at <= now
        )
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(due.limit(100))
        return sum(self._fire(Scope(row.org_id, row.project_id), row.id, now) for row in rows)

    def _fire(self, scope: Scope, schedule_id: str, now: datetime) -> int:
        with self._database.write(scope) as tx:
            row = tx.first(
                sa.select(tables.schedules)
                .where(_COLUMNS.id == schedule_id, _COLUMNS.next_at <= now)
                .with_for_update(skip_locked=True)
            )
            if row is None:
                return 0
            found = _schedule(row)
            due = due_moments(found.cron, found.time_zone, found.next_at or now, now)
            moments, missed = chosen_moments(due, found.missed, now)
            for moment in moments:
                self._start(tx, found, moment)
            if missed:
                told = {"name": found.name, "missed": len(missed)}
                self._events.append(tx, "schedule.missed", schedule_id, told)
            tx.execute(
                sa.update(tables.schedules)
                .where(_COLUMNS.id == schedule_id)
                .values(
                    next_at=next_moment(found.cron, found.time_zone, now),
                    last_at=moments[-1] if moments else found.last_at,
                    asked=[each.isoformat() for each in (*found.asked, *missed)] or None,
                )
            )
            return len(moments)


def due_moments(cron: str, time_zone: str, first: datetime, now: datetime) -> list[datetime]:
    """The moments from the first one until now, oldest first, a thousand at most."""
    moments = [first]
    while len(moments) < MOST_MISSED:
        following = next_moment(cron, time_zone, moments[-1])
        if following > now:
            break
        moments.append(following)
    return moments


def chosen_moments(
    moments: list[datetime], missed: Missed, now: datetime
) -> tuple[list[datetime], list[datetime]]:
    """The moments to run for, and those to ask about: the one that is due, and missed ones as the policy says."""
    on_time = [moment for moment in moments if now - moment <= _LATE]
    match missed:
        case Missed.all:
            return moments, []
        case Missed.once:
            return moments[-1:], []
        case Missed.ask:
            return on_time[-1:], [moment for moment in moments if now - moment > _LATE]
        case _:
            return on_time[-1:], []


def following_moments(cron: str, time_zone: str, after: datetime, count: int) -> list[datetime]:
    """The next moments of a cron expression, in UTC."""
    found: list[datetime] = []
    for _ in range(count):
        found.append(next_moment(cron, time_zone, found[-1] if found else after))
    return found


def next_moment(cron: str, time_zone: str, after: datetime) -> datetime:
    """The first moment of a cron expression after another, in UTC."""
    try:
        zone = ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            f"There is no time zone {time_zone!r}; use a name such as Europe/Berlin.",
            problems=[Problem("/time_zone", "unknown time zone")],
        ) from None
    try:
        found = next(CronSim(cron, after.astimezone(zone)))
    except (CronSimError, StopIteration):
        raise Invalid(
            f"Steward finds no date for the cron expression {cron!r}. Enter five fields, such as 0 8 * * 1-5.",
            problems=[Problem("/cron", "not a cron expression")],
        ) from None
    return found.astimezone(UTC)


def _existing(tx: Transaction, schedule_id: str) -> Schedule:
    row = tx.first(sa.select(tables.schedules).where(_COLUMNS.id == schedule_id))
    if row is None:
        raise NotFound(f"There is no schedule {schedule_id!r} in this project.")
    return _schedule(row)


def _schedule(row: sa.Row[Any]) -> Schedule:
    return copied(
        Schedule,
        row,
        missed=Missed(row.missed),
        enabled=bool(row.enabled),
        request=RunRequest(**row.request),
        asked=tuple(datetime.fromisoformat(each) for each in row.asked or ()),
    )
