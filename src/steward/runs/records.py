"""The rows of runs: who may drive which one, what was asked of it from outside, and what became of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core.clock import Clock
from steward.core.errors import Conflict, Invalid, NotFound
from steward.core.ids import Ids
from steward.runs import _tables as tables
from steward.runs._commit import Unit
from steward.runs.canonical import Json, plain
from steward.runs.capsules import Capsule
from steward.runs.doorbell import Call, Doorbell
from steward.runs.entries import Entry, Kind, Link, made
from steward.runs.forks import copied
from steward.runs.model import Run, RunRequest, Status
from steward.runs.topics import asked_topic, queue_topic, run_topic
from steward.store import EVERYWHERE, Bus, Database, EventLog, News, Scope, Transaction
from steward.store.tables import Moment

_COLUMNS = tables.runs.c
_LIVE = [status.value for status in Status if not status.is_final]
_INSERT_RUN = sa.insert(tables.runs)
_INSERT_ENTRY = sa.insert(tables.journal)
_STORED = [name for name in Run.__dataclass_fields__ if name not in {"scope", "status"}]
_MOST_KEY = 400
_ASIDE = timedelta(seconds=10)


@dataclass(frozen=True)
class New:
    """A run that is about to be started."""

    run: Run
    entry: Entry

    @property
    def row(self) -> dict[str, Any]:
        run = self.run
        row = {name: getattr(run, name) for name in _STORED}
        row |= {"status": run.status.value, "wake_at": run.created_at}
        return row | {"org_id": run.scope.org_id, "project_id": run.scope.project_id}

    @property
    def entry_row(self) -> dict[str, Any]:
        names = ("seq", "kind", "key", "body", "hash")
        return {"run_id": self.run.id} | {name: getattr(self.entry, name) for name in names}

    @property
    def news(self) -> News:
        return News(self.run.scope, "run.queued", self.run.id, {"title": self.run.title})


class Records:
    def __init__(
        self,
        database: Database,
        bus: Bus,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        doorbell: Doorbell | None = None,
    ) -> None:
        self._doorbell = doorbell
        self._database = database
        self._bus = bus
        self._events = events
        self._clock = clock
        self._ids = ids

    def start(
        self,
        scope: Scope,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        forked_from: str | None = None,
    ) -> Run:
        """Puts a run in the queue; it is durable when this returns."""
        with self._database.write(scope) as tx:
            return self.start_within(tx, author, request, run_id=run_id, forked_from=forked_from)

    def start_within(
        self,
        tx: Transaction,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        parent: Run | None = None,
        parent_key: str | None = None,
        forked_from: str | None = None,
    ) -> Run:
        """The same inside a transaction of the caller: a schedule moves on and starts its run in one."""
        new = self.prepared(
            tx.project,
            author,
            request,
            run_id=run_id,
            parent=parent,
            parent_key=parent_key,
            forked_from=forked_from,
        )
        tx.execute(_INSERT_RUN, [new.row])
        tx.execute(_INSERT_ENTRY, [new.entry_row])
        self._events.append_many(tx, [new.news])
        self._call(tx, new.run, new.run.created_at)
        return new.run

    def unit(self, new: "New") -> Unit:
        """The start as part of a transaction that many share."""
        run = new.run

        def call(tx: Transaction) -> None:
            self._ring_for(tx, run, run.created_at)

        return Unit(
            run.id,
            run.epoch,
            run.scope,
            [new.entry],
            call if self._doorbell is not None else None,
            begin=new.row,
            news=new.news,
            rings=[queue_topic(run.queue)],
        )

    def prepared(
        self,
        scope: Scope,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        parent: Run | None = None,
        parent_key: str | None = None,
        forked_from: str | None = None,
    ) -> "New":
        """Everything that a start writes."""
        run_id = run_id or self._ids.new("run")
        now = self._clock.now()
        data: dict[str, Json] = {"request": dict(vars(request)), "author": author}
        if parent is not None:
            data["parent"] = parent.id
        if forked_from is not None:
            data["forked_from"] = forked_from
        entry = made(run_id, Link(), Kind.created, "run", now, data)
        run = Run(
            id=run_id,
            scope=scope,
            title=request.title[:200],
            program=request.program,
            subject=request.subject,
            status=Status.queued,
            reason=None,
            queue=request.queue,
            priority=request.priority,
            control=None,
            control_by=None,
            created_by=author,
            created_at=now,
            started_at=None,
            ended_at=None,
            parent_id=parent.id if parent else None,
            parent_key=parent_key,
            root_id=parent.root_id if parent else run_id,
            forked_from=forked_from,
            epoch=0,
            holder=None,
            head_seq=entry.seq,
            head_hash=entry.hash,
            progress=None,
            waits=None,
        )
        return New(run, entry)

    def start_child(self, parent: Run, key: str, request: RunRequest) -> Run:
        """Starts a run under another one; asked again after a crash, it finds the one it started."""
        with self._database.write(parent.scope) as tx:
            row = tx.first(
                sa.select(tables.runs).where(
                    _COLUMNS.parent_id == parent.id, _COLUMNS.parent_key == key
                )
            )
            if row is not None:
                return run_of(row, parent.scope)
            return self.start_within(tx, parent.created_by, request, parent=parent, parent_key=key)

    def child_of(self, parent: Run, key: str) -> Run | None:
        """The run that was started under another one by this name, if any was."""
        statement = sa.select(tables.runs).where(
            _COLUMNS.parent_id == parent.id, _COLUMNS.parent_key == key
        )
        with self._database.read(parent.scope) as tx:
            row = tx.first(statement)
        return None if row is None else run_of(row, parent.scope)

    def start_fork(
        self, scope: Scope, author: str, request: RunRequest, source: Run, kept: list[Entry]
    ) -> Run:
        """Starts a run whose journal begins with entries of another one."""
        with self._database.write(scope) as tx:
            run = self.start_within(tx, author, request, forked_from=source.id)
            link = Link(run.head_seq, run.head_hash)
            link = copied(tx, run.id, link, kept, self._clock.now())
            tx.execute(
                sa.update(tables.runs)
                .where(_COLUMNS.id == run.id)
                .values(head_seq=link.seq, head_hash=link.hash)
            )
        return self.get(scope, run.id)

    def bring_in(self, scope: Scope, capsule: Capsule) -> Run:
        """Stores a run that was driven elsewhere; it is looked at and replayed here, never driven on."""
        with self._database.write(scope) as tx:
            known = tx.first(sa.select(tables.runs).where(_COLUMNS.id == capsule.run_id))
            if known is not None:
                if known.head_hash != capsule.entries[-1].hash:
                    raise Conflict("A run with this id is here already, and it is another one.")
                return run_of(known, scope)
            self._insert_capsule(tx, capsule)
            self._events.append(
                tx, "run.brought_in", capsule.run_id, {"title": capsule.run["title"]}
            )
        return self.get(scope, capsule.run_id)

    def _insert_capsule(self, tx: Transaction, capsule: Capsule) -> None:
        described, last = capsule.run, capsule.entries[-1]
        created = datetime.fromisoformat(described["created_at"])
        status = Status(described["status"])
        over = status if status.is_final else Status.cancelled
        tx.execute(
            sa.insert(tables.runs).values(
                id=capsule.run_id,
                title=described["title"],
                program=described["program"],
                subject=described["subject"],
                status=over.value,
                reason="brought in from a capsule",
                queue="cpu",
                priority=0,
                created_by=described["created_by"][:40],
                created_at=created,
                ended_at=datetime.fromisoformat(last.at),
                root_id=capsule.run_id,
                epoch=0,
                head_seq=last.seq,
                head_hash=last.hash,
            )
        )
        rows = [
            {
                "run_id": capsule.run_id,
                "seq": entry.seq,
                "kind": entry.kind,
                "key": entry.key,
                "body": entry.body,
                "hash": entry.hash,
            }
            for entry in capsule.entries
        ]
        tx.execute(sa.insert(tables.journal), rows)
        if capsule.digests:
            held = [{"run_id": capsule.run_id, "digest": name} for name in capsule.digests]
            tx.execute(sa.insert(tables.run_blobs), held)

    def get(self, scope: Scope, run_id: str) -> Run:
        with self._database.read(scope) as tx:
            return _existing(tx, run_id)

    def listed(
        self,
        scope: Scope,
        *,
        statuses: Sequence[str] = (),
        subject: str | None = None,
        author: str | None = None,
        parent: str | None = None,
        text: str | None = None,
        before: str | None = None,
        limit: int = 50,
        among: tuple[str, Collection[str]] | None = None,
    ) -> list[Run]:
        """Runs of a project, newest first; ids are ordered by time.

        `among` is a beginning of subjects and those of them that count; other subjects count anyway.
        """
        statement = sa.select(tables.runs)
        if among is not None:
            statement = statement.where(
                _COLUMNS.subject.is_(None)
                | _COLUMNS.subject.not_like(f"{among[0]}%")
                | _COLUMNS.subject.in_(sorted(among[1]))
            )
        if statuses:
            statement = statement.where(_COLUMNS.status.in_(list(statuses)))
        if subject is not None:
            statement = statement.where(_COLUMNS.subject == subject)
        if author is not None:
            statement = statement.where(_COLUMNS.created_by == author)
        if parent is not None:
            statement = statement.where(_COLUMNS.parent_id == parent)
        if text:
            statement = statement.where(_COLUMNS.title.icontains(text, autoescape=True))
        if before is not None:
            statement = statement.where(_COLUMNS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_COLUMNS.id.desc()).limit(limit))
        return [run_of(row, scope) for row in rows]

    def waiting(self, scope: Scope, before: str | None = None, limit: int = 50) -> list[Run]:
        """Runs that wait for a person, newest first."""
        stopped = [Status.blocked, Status.waiting_for_approval, Status.reviewing]
        statement = sa.select(tables.runs).where(
            _COLUMNS.status.in_([status.value for status in stopped]), _COLUMNS.waits.is_not(None)
        )
        if before is not None:
            statement = statement.where(_COLUMNS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_COLUMNS.id.desc()).limit(limit))
        return [run_of(row, scope) for row in rows]

    def signal(self, scope: Scope, run_id: str, key: str, data: Json) -> None:
        """Answers a wait; the first answer counts, a second one is told so."""
        with self._database.write(scope) as tx:
            self.signal_within(tx, run_id, key, data)

    def signal_within(self, tx: Transaction, run_id: str, key: str, data: Json) -> None:
        if len(key) > _MOST_KEY:
            raise Invalid("The key of a wait is too long.")
        run = _existing(tx, run_id, lock=True)
        if run.status.is_final:
            raise Conflict(f"The run is {run.status.value}; it waits for nothing any more.")
        taken = tx.first(
            sa.select(tables.signals.c.key).where(
                tables.signals.c.run_id == run_id, tables.signals.c.key == key
            )
        )
        if taken is not None:
            raise Conflict("This was answered already; the first answer counts.")
        tx.execute(
            sa.insert(tables.signals).values(
                run_id=run_id, key=key, data=plain(data), created_at=self._clock.now()
            )
        )
        self._wake(tx, run)

    def signals(self, scope: Scope, run_id: str) -> dict[str, Json]:
        statement = sa.select(tables.signals).where(tables.signals.c.run_id == run_id)
        with self._database.read(scope) as tx:
            return {row.key: row.data for row in tx.rows(statement)}

    def control(self, scope: Scope, run_id: str, action: str, by: str) -> Run:
        """Asks a run to pause, to go on, or to end; it does so before its next step."""
        word = {"pause": "pause", "resume": None, "cancel": "cancel"}[action]
        with self._database.write(scope) as tx:
            run = _existing(tx, run_id, lock=True)
            if run.status.is_final:
                raise Conflict(f"The run is {run.status.value} already.")
            if run.control == "cancel" and action != "cancel":
                raise Conflict("The run is being cancelled.")
            for each in [run, *_descendants(tx, run)]:
                if each.status.is_final:
                    continue
                tx.execute(
                    sa.update(tables.runs)
                    .where(_COLUMNS.id == each.id)
                    .values(control=word, control_by=by)
                )
                self._wake(tx, each)
            self._events.append(tx, f"run.{action}_asked", run_id, {"by": by})
        return self.get(scope, run_id)

    def claim(
        self,
        holder: str,
        queues: Sequence[str],
        limit: int,
        lease: timedelta,
        overdue: timedelta = timedelta(0),
    ) -> list[Run]:
        """Takes runs that are due or whose holder has gone; each claim has a new epoch.

        With `overdue`, only what is due for so long: the rest was rung for, and somebody is on the way.
        """
        with self._database.write(EVERYWHERE) as tx:
            return self.claim_within(tx, holder, queues, limit, lease, overdue)

    def claim_within(
        self,
        tx: Transaction,
        holder: str,
        queues: Sequence[str],
        limit: int,
        lease: timedelta,
        overdue: timedelta = timedelta(0),
    ) -> list[Run]:
        now = self._clock.now()
        served = _COLUMNS.queue.in_(list(queues))
        # Two looks at two indexes: what is due and what was left stay few, however many runs there were.
        due = sa.union(
            sa.select(_COLUMNS.id).where(served, _COLUMNS.wake_at <= now - overdue),
            # Not the plain column: an index on it would lead through every run there ever was.
            sa.select(_COLUMNS.id).where(
                _COLUMNS.lease_until < now, (_COLUMNS.queue + "").in_(list(queues))
            ),
        )
        wanted = sa.and_(_COLUMNS.id.in_(due), _free(now))
        return self._taken(tx, holder, wanted, limit, lease)

    def claim_called(
        self,
        tx: Transaction,
        holder: str,
        queues: Sequence[str],
        run_ids: Sequence[str],
        lease: timedelta,
    ) -> tuple[list[Run], frozenset[str]]:
        """Takes those of these runs that are due, and names those that are due once their holder is done."""
        now = self._clock.now()
        called = sa.and_(_COLUMNS.id.in_(sorted(set(run_ids))), _COLUMNS.queue.in_(list(queues)))
        due = sa.or_(_COLUMNS.wake_at <= now, _COLUMNS.lease_until < now)
        wanted = sa.and_(called, _free(now), due)
        runs = self._taken(tx, holder, wanted, len(run_ids), lease)
        later = tx.rows(
            sa.select(_COLUMNS.id).where(
                called, _COLUMNS.status.in_(_LIVE), _COLUMNS.wake_at.is_not(None)
            )
        )
        return runs, frozenset(row.id for row in later)

    def _taken(
        self,
        tx: Transaction,
        holder: str,
        wanted: sa.ColumnElement[bool],
        limit: int,
        lease: timedelta,
    ) -> list[Run]:
        now = self._clock.now()
        statement = (
            sa.select(tables.runs)
            .where(_COLUMNS.status.in_(_LIVE), wanted)
            .order_by(_COLUMNS.priority.desc(), _COLUMNS.wake_at, _COLUMNS.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        rows = tx.rows(statement)
        if not rows:
            return []
        tx.execute(
            sa.update(tables.runs)
            .where(_COLUMNS.id.in_([row.id for row in rows]))
            .values(
                epoch=_COLUMNS.epoch + 1,
                holder=holder,
                lease_until=now + lease,
                wake_at=None,
                status=Status.running.value,
                reason=None,
                started_at=sa.func.coalesce(_COLUMNS.started_at, sa.literal(now, Moment())),
            )
        )
        runs = [
            run_of(row, Scope(row.org_id, row.project_id), epoch=row.epoch + 1, holder=holder)
            for row in rows
        ]
        begun = [run for run in runs if run.status is not Status.running]
        kind = f"run.{Status.running.value}"
        self._events.append_many(
            tx, [News(run.scope, kind, run.id, {"title": run.title}) for run in begun]
        )
        self._bus.ring_all(tx, [run_topic(run.id) for run in begun])
        return runs

    def hold(self, scope: Scope, run_id: str) -> Run:
        """Takes a run that nobody drives for one entry, whatever its status; fences every earlier driver."""
        now = self._clock.now()
        with self._database.write(scope) as tx:
            row = tx.first(sa.select(tables.runs).where(_COLUMNS.id == run_id).with_for_update())
            if row is None:
                raise NotFound(f"There is no run {run_id!r} in this project.")
            if row.lease_until is not None and row.lease_until > now:
                raise Conflict("The run is under way; pause it or wait until it rests.")
            tx.execute(
                sa.update(tables.runs)
                .where(_COLUMNS.id == run_id)
                .values(epoch=row.epoch + 1, holder="aside", lease_until=now + _ASIDE)
            )
            return run_of(row, scope, epoch=row.epoch + 1)

    def let_go(self, tx: Transaction, run: Run, entry: Entry) -> None:
        """Ends a hold in the transaction that writes its entry."""
        tx.narrowed(run.scope).execute(
            sa.update(tables.runs)
            .where(_COLUMNS.id == run.id)
            .values(holder=None, lease_until=None, head_seq=entry.seq, head_hash=entry.hash)
        )
        self._bus.ring(tx, run_topic(run.id))

    def renew(
        self, holder: str, run_ids: Sequence[str], lease: timedelta
    ) -> dict[tuple[str, int], tuple[str | None, str | None]]:
        """Prolongs the leases of runs that are really being driven; returns those still held, with what was asked.

        A run that its holder gave up is not among them: its lease ends, and somebody drives it again.
        """
        until = self._clock.now() + lease
        mine = sa.and_(
            _COLUMNS.id.in_(list(run_ids)),
            _COLUMNS.holder == holder,
            _COLUMNS.lease_until.is_not(None),
        )
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.update(tables.runs).where(mine).values(lease_until=until))
            rows = tx.rows(
                sa.select(_COLUMNS.id, _COLUMNS.epoch, _COLUMNS.control, _COLUMNS.control_by).where(
                    mine
                )
            )
        return {(row.id, row.epoch): (row.control, row.control_by) for row in rows}

    def release(self, holder: str) -> None:
        """Gives every lease of a holder back at once, as on an orderly stop."""
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.update(tables.runs)
                .where(_COLUMNS.holder == holder)
                .values(lease_until=None, holder=None, wake_at=self._clock.now())
            )

    def next_due(self, queues: Sequence[str]) -> datetime | None:
        """When the next run becomes due by itself."""
        statement = sa.select(sa.func.min(_COLUMNS.wake_at)).where(
            _COLUMNS.queue.in_(list(queues)), _COLUMNS.status.in_(_LIVE)
        )
        with self._database.read(EVERYWHERE) as tx:
            moment: datetime | None = tx.execute(statement).scalar()
        return moment

    def tell_parent(self, tx: Transaction, run: Run, status: Status, data: dict[str, Any]) -> None:
        """A run that ends answers the wait of the run that started it."""
        if run.parent_id is None or run.parent_key is None:
            return
        inside = tx.narrowed(run.scope)
        parent = _existing(inside, run.parent_id)
        inside.execute(
            sa.insert(tables.signals).values(
                run_id=parent.id,
                key=run.parent_key,
                data={"run_id": run.id, "status": status.value, **data},
                created_at=self._clock.now(),
            )
        )
        self._wake(inside, parent)

    def announce(self, tx: Transaction, run: Run, status: Status) -> None:
        inside = tx.narrowed(run.scope)
        self._events.append(inside, f"run.{status.value}", run.id, {"title": run.title})
        self._bus.ring(inside, run_topic(run.id))

    def _wake(self, tx: Transaction, run: Run) -> None:
        now = self._clock.now()
        tx.execute(sa.update(tables.runs).where(_COLUMNS.id == run.id).values(wake_at=now))
        self._call(tx, run, now)
        self._bus.ring_all(tx, [run_topic(run.id), asked_topic(run.id)])

    def _call(self, tx: Transaction, run: Run, wake_at: datetime) -> None:
        """Rings for the run once the transaction is durable."""
        self._bus.ring(tx, queue_topic(run.queue))
        self._ring_for(tx, run, wake_at)

    def _ring_for(self, tx: Transaction, run: Run, wake_at: datetime) -> None:
        doorbell = self._doorbell
        if doorbell is not None:
            call = Call(run.id, run.queue, run.priority, f"{run.epoch}/{wake_at.isoformat()}")
            tx.after_commit(lambda: doorbell.ring(call))


def _free(now: datetime) -> sa.ColumnElement[bool]:
    return sa.or_(_COLUMNS.lease_until.is_(None), _COLUMNS.lease_until < now)


def run_of(row: sa.Row[Any], scope: Scope, **changes: Any) -> Run:
    fields = {
        name: getattr(row, name)
        for name in Run.__dataclass_fields__
        if name not in {"scope", "status"}
    }
    return Run(scope=scope, status=Status(row.status), **(fields | changes))


def _existing(tx: Transaction, run_id: str, *, lock: bool = False) -> Run:
    statement = sa.select(tables.runs).where(_COLUMNS.id == run_id)
    row = tx.first(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFound(f"There is no run {run_id!r} in this project.")
    return run_of(row, tx.project)


def _descendants(tx: Transaction, run: Run) -> list[Run]:
    found: list[Run] = []
    level = [run.id]
    while level:
        rows = tx.rows(sa.select(tables.runs).where(_COLUMNS.parent_id.in_(level)))
        found += [run_of(row, tx.project) for row in rows]
        level = [row.id for row in rows]
    return found
