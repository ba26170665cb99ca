"""Group commit: appends of many concurrent runs share one transaction and one disk sync.

Every unit names the epoch its writer holds. A unit of an older epoch changes nothing and is told so: a worker that
was stopped, lost its lease and went on cannot write.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from steward.core.errors import StewardError, Unavailable
from steward.core.faults import fault
from steward.runs.entries import Entry
from steward.store import EVERYWHERE, Database, Scope, Transaction

_INSERT = (
    "INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_ARRAYS = (
    "INSERT INTO journal (run_id, seq, org_id, project_id, kind, key, body, hash)"
    " SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],"
    " ?::text[], ?::text[])"
)
_MOST = 500


class Fenced(BaseException):
    """Another driver has taken the run over; nothing more may be written or done for it here."""


@dataclass(slots=True)
class Unit:
    """What one driver wants written at once."""

    run_id: str
    epoch: int
    scope: Scope
    entries: Sequence[Entry] = ()
    also: Callable[[Transaction], None] | None = None
    """Further changes in the same transaction; must not raise for reasons of its own."""
    blobs: Sequence[str] = ()
    done: Callable[[BaseException | None], None] = field(default=lambda _: None)


class GroupCommit:
    """One thread that writes what has gathered while the last transaction was under way."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: deque[Unit] = deque()
        self._bell = threading.Condition()
        self._stopping = False
        # Leases whose chain has a hole here: what comes after it must not be written either.
        self._broken: set[tuple[str, int]] = set()
        self._thread: threading.Thread | None = None

    async def write(self, unit: Unit) -> None:
        """Returns once the unit is durable; raises Fenced if the lease was lost."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def finish(problem: BaseException | None) -> None:
            if future.done():
                return
            if problem is None:
                future.set_result(None)
            else:
                future.set_exception(problem)

        unit.done = lambda problem: _soon(loop, finish, problem)
        self._put(unit)
        await future

    def write_now(self, unit: Unit) -> None:
        """The same for callers without an event loop."""
        finished = threading.Event()
        found: list[BaseException | None] = []

        def finish(problem: BaseException | None) -> None:
            found.append(problem)
            finished.set()

        unit.done = finish
        self._put(unit)
        finished.wait()
        if found[0] is not None:
            raise found[0]

    def close(self) -> None:
        with self._bell:
            self._stopping = True
            self._bell.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _put(self, unit: Unit) -> None:
        with self._bell:
            if self._stopping:
                raise Unavailable("Steward is stopping; the run goes on after the next start.")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="steward-journal", daemon=True
                )
                self._thread.start()
            self._pending.append(unit)
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

    def _settle(self, batch: list[Unit]) -> None:
        try:
            fenced = self._commit(batch)
        except Exception as problem:  # noqa: BLE001 - every waiting driver must hear of it
            if len(batch) == 1:
                self._broken.add((batch[0].run_id, batch[0].epoch))
                batch[0].done(_told(problem))
                return
            # One unit may have spoilt the transaction for all: each gets its own.
            for unit in batch:
                self._settle([unit])
            return
        for unit in batch:
            unit.done(Fenced() if id(unit) in fenced else None)

    def _commit(self, batch: list[Unit]) -> set[int]:
        with self._database.write(EVERYWHERE) as tx:
            held = _epochs(tx, sorted({unit.run_id for unit in batch}))
            good = [
                unit
                for unit in batch
                if held.get(unit.run_id) == unit.epoch
                and (unit.run_id, unit.epoch) not in self._broken
            ]
            _insert(tx, good)
            _hold_blobs(tx, good)
            for unit in good:
                if unit.also is not None:
                    unit.also(tx)
            fault("runs.append.written")
        fault("runs.append.durable")
        kept = {id(unit) for unit in good}
        return {id(unit) for unit in batch} - kept


def _soon(
    loop: asyncio.AbstractEventLoop,
    finish: Callable[[BaseException | None], None],
    problem: BaseException | None,
) -> None:
    # A loop that was closed meanwhile has nobody left to tell.
    if not loop.is_closed():
        loop.call_soon_threadsafe(finish, problem)


def _told(problem: Exception) -> BaseException:
    if isinstance(problem, StewardError):
        return problem
    failure = Unavailable("The journal could not be written. The run goes on from its last entry.")
    failure.__cause__ = problem
    return failure


def _epochs(tx: Transaction, run_ids: list[str]) -> dict[str, int]:
    """The epoch of each run, locked until the transaction ends, so that no lease changes meanwhile."""
    marks = ", ".join("?" * len(run_ids))
    lock = " ORDER BY id FOR SHARE" if tx.dialect == "postgresql" else ""
    found = tx.execute_raw(
        f"SELECT id, epoch FROM runs WHERE id IN ({marks}){lock}", tuple(run_ids)
    )
    return {row.id: row.epoch for row in found}


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


def _hold_blobs(tx: Transaction, units: list[Unit]) -> None:
    for unit in units:
        for digest in sorted(set(unit.blobs)):
            tx.execute_raw(
                "INSERT INTO run_blobs (org_id, project_id, run_id, digest) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (unit.scope.org_id, unit.scope.project_id, unit.run_id, digest),
            )
