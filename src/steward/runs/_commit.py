"""Group commit: appends of many concurrent runs share one transaction and one disk sync.

Every unit names the epoch its writer holds. A unit of an older epoch changes nothing and is told so: a worker that
was stopped, lost its lease and went on cannot write.
"""

import asyncio
import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import sqlalchemy as sa
import structlog

from steward.core import StewardError, Unavailable, fault
from steward.runs import _tables as tables
from steward.runs.entries import Entry
from steward.runs.heads import Head, HeadLog
from steward.runs.topics import journal_topic
from steward.store import EVERYWHERE, Bus, Database, EventLog, News, Scope, Transaction

_INSERT = (
    "INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
# In binary: as text, every quotation mark of every body would be marked, which takes longer than all the rest.
_INSERT_ARRAYS = (
    "INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)"
    " SELECT * FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::text[], %b::text[], %b::text[],"
    " %b::text[], %b::text[])"
)
_EPOCHS = "SELECT id, epoch, control_by FROM runs WHERE id IN (SELECT value FROM json_each(?))"
_EPOCHS_LOCKED = "SELECT id, epoch, control_by FROM runs WHERE id = ANY(?) ORDER BY id FOR SHARE"
_MOST = 500
_COLUMNS = tables.runs.c
_BEGIN = sa.insert(tables.runs)
_END = (
    sa.update(tables.runs)
    .where(_COLUMNS.id == sa.bindparam("of_run"), _COLUMNS.project_id == sa.bindparam("of_project"))
    .values(
        status=sa.bindparam("status"),
        reason=sa.bindparam("reason"),
        ended_at=sa.bindparam("ended_at"),
        head_seq=sa.bindparam("head_seq"),
        head_hash=sa.bindparam("head_hash"),
        progress=sa.bindparam("progress"),
        lease_until=None,
        holder=None,
        wake_at=None,
        waits=None,
    )
)

T = TypeVar("T")
Item = TypeVar("Item")
_log = structlog.get_logger("steward.runs")
Reader = Callable[[Sequence[Entry]], None]


class Fenced(BaseException):
    """Another driver has taken the run over; nothing more may be written or done for it here."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something else that a transaction changes. All do so in one order, so that no two processes wait in a ring."""

    order: str
    work: Callable[[Transaction], None]


@dataclass(slots=True)
class Unit:
    """What one driver wants written at once."""

    run_id: str
    epoch: int
    scope: Scope
    entries: Sequence[Entry] = ()
    also: Callable[[Transaction], None] | None = None
    """Further changes in the same transaction; must not raise for reasons of its own."""
    along: Sequence["Change"] = ()
    blobs: Sequence[str] = ()
    begin: Mapping[str, Any] | None = None
    """The row of a run that starts with this unit."""
    end: Mapping[str, Any] | None = None
    """The columns of a run that is over."""
    head: Head | None = None
    """Where the run stands, to be signed in the same transaction."""
    news: News | None = None
    rings: Sequence[str] = ()
    done: "Done | None" = None


@dataclass(slots=True)
class Errand:
    """Work of no driver that shares the transaction, and so the disk sync: starting runs, claiming them."""

    change: Change
    done: "Done | None" = None


@dataclass(slots=True)
class Alike:
    """One of many errands that are done in one go: a statement for all of them costs little more than one for each."""

    order: str
    item: Any
    together: Callable[[Transaction, list[Any]], Sequence[Any]]
    found: Any = None
    done: "Done | None" = None


class Done(Protocol):
    """Who waits for a unit."""

    loop: asyncio.AbstractEventLoop | None

    def tell(self, problem: BaseException | None) -> None: ...


class _Awaited:
    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()

    def tell(self, problem: BaseException | None) -> None:
        if self.future.done():
            return
        if problem is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(problem)


class _Blocked:
    """For callers without an event loop."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._finished = threading.Event()
        self._problem: BaseException | None = None

    def tell(self, problem: BaseException | None) -> None:
        self._problem = problem
        self._finished.set()

    def wait(self) -> None:
        self._finished.wait()
        if self._problem is not None:
            raise self._problem


Work = Unit | Errand | Alike


class GroupCommit:
    """One thread that writes what has gathered while the last transaction was under way."""

    def __init__(self, database: Database, events: EventLog, bus: Bus, heads: HeadLog) -> None:
        self._database = database
        self._heads = heads
        self._events = events
        self._bus = bus
        self._pending: deque[Work] = deque()
        self._bell = threading.Condition()
        self._stopping = False
        # Leases whose chain has a hole here: what comes after it must not be written either.
        self._broken: set[tuple[str, int]] = set()
        self._thread: threading.Thread | None = None
        self._readers: dict[str, list[Reader]] = defaultdict(list)
        self._reading = threading.Lock()

    async def write(self, unit: Unit) -> None:
        """Returns once the unit is durable; raises Fenced if the lease was lost."""
        waiting = _Awaited()
        unit.done = waiting
        self._put(unit)
        await waiting.future

    def write_now(self, unit: Unit) -> None:
        """The same for callers without an event loop."""
        waiting = _Blocked()
        unit.done = waiting
        self._put(unit)
        waiting.wait()

    async def share(self, work: Callable[[Transaction], T], order: str = "") -> T:
        """What the work returns, once it is durable; it may be tried twice if others spoil the transaction."""
        found: list[T] = []
        waiting = _Awaited()
        self._put(Errand(Change(order, lambda tx: found.append(work(tx))), waiting))
        await waiting.future
        return found[-1]

    async def share_alike(
        self, order: str, item: Item, together: Callable[[Transaction, list[Item]], Sequence[T]]
    ) -> T:
        """What `together` found for this item among those of the same order, once it is durable."""
        waiting = _Awaited()
        work = Alike(order, item, together, done=waiting)
        self._put(work)
        await waiting.future
        found: T = work.found
        return found

    def share_now(self, work: Callable[[Transaction], T], order: str = "") -> T:
        """The same for callers without an event loop."""
        found: list[T] = []
        waiting = _Blocked()
        self._put(Errand(Change(order, lambda tx: found.append(work(tx))), waiting))
        waiting.wait()
        return found[-1]

    @contextmanager
    def reading(self, run_id: str, reader: Reader) -> Iterator[None]:
        """Hands over the run's entries as they become durable here; the reader must not block."""
        with self._reading:
            self._readers[run_id].append(reader)
        try:
            yield
        finally:
            with self._reading:
                self._readers[run_id].remove(reader)
                if not self._readers[run_id]:
                    del self._readers[run_id]

    def close(self) -> None:
        with self._bell:
            self._stopping = True
            self._bell.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _put(self, work: Work) -> None:
        with self._bell:
            if self._stopping:
                raise Unavailable("Steward is stopping; the run goes on after the next start.")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="steward-journal", daemon=True
                )
                self._thread.start()
            self._pending.append(work)
            if len(self._pending) == 1:
                self._bell.notify()

    def _serve(self) -> None:
        while True:
            with self._bell:
                while not self._pending and not self._stopping:
                    self._bell.wait()
                if not self._pending:
                    return
                batch = [self._pending.popleft() for _ in range(min(len(self._pending), _MOST))]
            self._settle(batch)

    def _settle(self, batch: list[Work]) -> None:
        try:
            fenced = self._commit(batch)
        except Exception as problem:  # noqa: BLE001 - every waiting driver must hear of it
            if len(batch) == 1:
                if not isinstance(problem, StewardError):
                    _log.error("journal_not_written", exc_info=problem)
                if isinstance(batch[0], Unit):
                    self._broken.add((batch[0].run_id, batch[0].epoch))
                _tell([(batch[0], _commit_failure(problem))])
                return
            # One unit may have spoilt the transaction for all: each gets its own.
            for work in batch:
                self._settle([work])
            return
        written = [each for each in batch if isinstance(each, Unit) and id(each) not in fenced]
        self._hand_over(written)
        _tell([(work, Fenced() if id(work) in fenced else None) for work in batch])

    def _hand_over(self, units: list[Unit]) -> None:
        with self._reading:
            found = [(unit, tuple(self._readers.get(unit.run_id, ()))) for unit in units]
        for unit, readers in found:
            for reader in readers if unit.entries else ():
                reader(unit.entries)

    def _commit(self, batch: list[Work]) -> set[int]:
        units = [work for work in batch if isinstance(work, Unit)]
        with self._database.write(EVERYWHERE) as tx:
            held = _epochs(tx, sorted({unit.run_id for unit in units if unit.begin is None}))
            good = [
                unit
                for unit in units
                if unit.begin is not None
                or (
                    unit.run_id in held
                    and held[unit.run_id].epoch == unit.epoch
                    and (unit.run_id, unit.epoch) not in self._broken
                )
            ]
            _begin(tx, good)
            _insert(tx, good)
            _hold_blobs(tx, good)
            _end(tx, good)
            for unit in good:
                if unit.also is not None:
                    unit.also(tx)
            for change in _changes(good, batch):
                change.work(tx)
            self._events.append_many(tx, [unit.news for unit in good if unit.news is not None])
            self._bus.ring_all(tx, self._rings(good))
            # Last: the lines of a project's log are numbered under a lock that others wait for.
            self._heads.append(tx, list(_heads(good, held)))
            fault("runs.append.written")
        fault("runs.append.durable")
        kept = {id(unit) for unit in good}
        return {id(unit) for unit in units} - kept

    def _rings(self, units: list[Unit]) -> list[str]:
        """What the units ring, and the runs whose entries somebody follows as they come."""
        followed = self._bus.wanted([journal_topic(unit.run_id) for unit in units if unit.entries])
        return list(dict.fromkeys([*(ring for unit in units for ring in unit.rings), *followed]))


def _changes(units: list[Unit], batch: list[Work]) -> list[Change]:
    along = [change for unit in units for change in unit.along]
    asked = [work.change for work in batch if isinstance(work, Errand)]
    alike: dict[str, list[Alike]] = defaultdict(list)
    for work in batch:
        if isinstance(work, Alike):
            alike[work.order].append(work)
    asked += [Change(order, partial(_together, works)) for order, works in alike.items()]
    return sorted([*along, *asked], key=lambda change: change.order)


def _together(works: list[Alike], tx: Transaction) -> None:
    found = works[0].together(tx, [work.item for work in works])
    for work, each in zip(works, found, strict=True):
        work.found = each


def _tell(outcomes: list[tuple[Work, BaseException | None]]) -> None:
    """Wakes each event loop once, however many of its drivers waited."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Done, BaseException | None]]] = {}
    for work, problem in outcomes:
        if work.done is None:
            continue
        if work.done.loop is None:
            work.done.tell(problem)
        else:
            by_loop.setdefault(work.done.loop, []).append((work.done, problem))
    for loop, waiting in by_loop.items():
        # A loop that was closed meanwhile has nobody left to tell.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_tell_all, waiting)


def _tell_all(waiting: list[tuple[Done, BaseException | None]]) -> None:
    for done, problem in waiting:
        done.tell(problem)


def _commit_failure(problem: Exception) -> BaseException:
    if isinstance(problem, StewardError):
        return problem
    failure = Unavailable("The journal could not be written. The run goes on from its last entry.")
    failure.__cause__ = problem
    return failure


class _Held(NamedTuple):
    """What a transaction finds of a run that it locked."""

    epoch: int
    control_by: str | None


def _heads(units: list[Unit], held: Mapping[str, _Held]) -> Iterator[Head]:
    """The heads to sign; who asked a run to stop may be news to its driver, and is as it stands now."""
    for unit in units:
        head, now = unit.head, held.get(unit.run_id)
        if head is None:
            continue
        if now is None or now.control_by == head.run.control_by:
            yield head
        else:
            yield replace(head, run=replace(head.run, control_by=now.control_by))


def _epochs(tx: Transaction, run_ids: list[str]) -> dict[str, _Held]:
    """The epoch of each run, locked until the transaction ends, so that no lease changes meanwhile."""
    if not run_ids:
        return {}
    # One parameter for all ids: the text stays the same, and with it the prepared statement.
    if tx.dialect == "postgresql":
        found = tx.execute_raw(_EPOCHS_LOCKED, (run_ids,))
    else:
        found = tx.execute_raw(_EPOCHS, (json.dumps(run_ids),))
    return {row.id: _Held(row.epoch, row.control_by) for row in found.all()}


def _insert(tx: Transaction, units: list[Unit]) -> None:
    rows: list[tuple[Any, ...]] = [
        (
            unit.run_id,
            entry.seq,
            unit.scope.org_id,
            unit.scope.project_id,
            entry.kind,
            entry.key,
            entry.body,
            entry.hash,
        )
        for unit in units
        for entry in unit.entries
    ]
    if not rows:
        return
    if tx.dialect == "postgresql":
        tx.execute_raw(_INSERT_ARRAYS, tuple(list(column) for column in zip(*rows, strict=True)))
    else:
        tx.execute_raw(_INSERT, rows)


def _begin(tx: Transaction, units: list[Unit]) -> None:
    new = [dict(unit.begin) for unit in units if unit.begin is not None]
    if new:
        tx.execute(_BEGIN, new)


def _end(tx: Transaction, units: list[Unit]) -> None:
    over = [
        {**unit.end, "of_run": unit.run_id, "of_project": unit.scope.project_id}
        for unit in units
        if unit.end is not None
    ]
    if over:
        tx.execute(_END, over)


def _hold_blobs(tx: Transaction, units: list[Unit]) -> None:
    for unit in units:
        if not unit.blobs:
            continue
        for digest in sorted(set(unit.blobs)):
            tx.execute_raw(
                "INSERT INTO run_blobs (org_id, project_id, run_id, digest) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (unit.scope.org_id, unit.scope.project_id, unit.run_id, digest),
            )
