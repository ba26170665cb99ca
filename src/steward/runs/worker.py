"""A worker: claims runs that are due, drives them side by side, keeps their leases, and lets go when it stops."""

import asyncio
import os
import secrets
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from steward import __version__
from steward.core import (
    FairThreads,
    FairTurns,
    Share,
    StewardError,
    Unavailable,
    before_requests,
    sharing,
)
from steward.runs.canonical import Json
from steward.runs.doorbell import Delivery, Doorbell, Line
from steward.runs.driver import Drive, Parts, Program
from steward.runs.entries import Entry
from steward.runs.execution import Execution
from steward.runs.journal import beginnings
from steward.runs.model import Run
from steward.runs.presence import SIGN_SECONDS, Presence
from steward.runs.schedules import Schedules
from steward.runs.topics import ROLL_CALL, asked_topic, queue_topic
from steward.store import Bus, Transaction

LEASE: Final = timedelta(seconds=6)
QUEUES: Final = ("cpu", "llm")
_SWEEP_SECONDS: Final = 1.0
_NEWCOMERS_SECONDS: Final = 0.1
_CHORES_SECONDS: Final = 3600.0
# With a doorbell, what is due for this long was not rung for: its ring was lost, or it woke by time.
_GRACE: Final = timedelta(seconds=1)

_THREADS: Final = max(4, os.cpu_count() or 1)
"""Calls of steps that block, at a time: of one person so many, and as many more of people who have none."""

_LET_GO_SECONDS: Final = 3.0
"""For runs that are under way when the worker stops; they go on elsewhere, from their last entry."""

_log = structlog.get_logger("steward.worker")


def share_of(run: Run) -> Share:
    return Share(run.scope.project_id, run.created_by)


class Worker:
    """Serves queues within one event loop; SQL says what is due, the bell only says when to look."""

    def __init__(
        self,
        parts: Parts,
        programs: Mapping[str, Program],
        bus: Bus,
        schedules: Schedules,
        *,
        queues: Sequence[str] = QUEUES,
        concurrency: int = 16,
        lease: timedelta = LEASE,
        doorbell: Doorbell | None = None,
    ) -> None:
        self._parts = parts
        self._programs = programs
        self._bus = bus
        self._schedules = schedules
        self._queues = tuple(queues)
        self._concurrency = concurrency
        self._lease = lease
        self.holder = f"{socket.gethostname()[:40]}/{os.getpid()}/{secrets.token_hex(4)}"
        self._presence = Presence(parts.database, parts.clock)
        self._line: Line | None = doorbell.line(self._queues, lease) if doorbell else None
        self._drives: dict[str, _Underway] = {}
        self._swept_at = -_SWEEP_SECONDS
        self._newcomers_at = -_NEWCOMERS_SECONDS
        self._looks_again = False
        self._errands: set[asyncio.Task[None]] = set()
        self._bell: asyncio.Event | None = None
        self._stopping = False

    async def serve(self) -> None:
        """Works until `stop`; runs that are under way then are left as they are for the next worker."""
        self._bell = asyncio.Event()
        loop = asyncio.get_running_loop()
        _share_fairly(loop)
        with ExitStack() as listening:
            for queue in self._queues:
                listening.enter_context(
                    self._bus.listening(queue_topic(queue), lambda: self._ring(loop))
                )
            called = asyncio.Event()
            listening.enter_context(self._bus.listening(ROLL_CALL, lambda: _set_in(loop, called)))
            keeping = asyncio.create_task(self._keep_leases())
            tidying = asyncio.create_task(self._do_chores())
            signing = asyncio.create_task(self._give_signs(called))
            beside = [asyncio.create_task(each()) for each in self._parts.beside]
            if self._line is not None:
                await self._line.open(self._bell.set)
            try:
                while not self._stopping:
                    self._bell.clear()
                    await self._look()
                    await self._rest()
            finally:
                keeping.cancel()
                tidying.cancel()
                signing.cancel()
                for task in beside:
                    task.cancel()
                if beside:
                    await asyncio.wait(beside, timeout=_LET_GO_SECONDS)
                await self._let_go()
                if self._line is not None:
                    await self._line.close()

    def stop(self) -> None:
        """May be called from the loop only."""
        self._stopping = True
        if self._bell is not None:
            self._bell.set()

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        # Where there is a doorbell, it chooses one worker; if all claimed at a ring, it had nothing to choose.
        if self._bell is not None and not self._on_line and not loop.is_closed():
            loop.call_soon_threadsafe(self._bell.set)

    @property
    def _on_line(self) -> bool:
        return self._line is not None and self._line.connected

    @property
    def _room(self) -> int:
        return self._concurrency - len(self._drives)

    @property
    def _reserve(self) -> int:
        """Beside what one person may fill, for people none of whose runs is being driven."""
        return 2 * self._concurrency - len(self._drives)

    async def _look(self) -> None:
        sweeping = time.monotonic() - self._swept_at >= _SWEEP_SECONDS
        on_line = self._on_line
        try:
            if sweeping:
                self._swept_at = time.monotonic()
                await asyncio.to_thread(self._schedules.fire_due)
            # First what nobody came for in time, by turns: calls come in the order in which they were made.
            if (sweeping or not on_line) and self._room > 0:
                await self._claim(self._room, _GRACE if on_line else timedelta(0))
            if on_line:
                await self._answer()
            if self._room <= 0 and self._reserve > 0:
                await self._claim_for_newcomers()
        except Unavailable as problem:
            _log.warning("claim_failed", error=problem.message)

    async def _claim_for_newcomers(self) -> None:
        """Looks only every so often: a full worker hears of every run that starts and ends."""
        since = time.monotonic() - self._newcomers_at
        if since >= _NEWCOMERS_SECONDS:
            self._newcomers_at = time.monotonic()
            await self._claim(self._reserve, timedelta(0), newcomers=True)
        elif self._bell is not None and not self._looks_again:
            self._looks_again = True
            bell = self._bell

            def again() -> None:
                self._looks_again = False
                bell.set()

            asyncio.get_running_loop().call_later(_NEWCOMERS_SECONDS - since, again)

    async def _claim(self, limit: int, overdue: timedelta, *, newcomers: bool = False) -> None:
        records = self._parts.records

        def claim(tx: Transaction) -> tuple[list[Run], dict[str, Entry]]:
            runs = records.claim_within(
                tx, self.holder, self._queues, limit, self._lease, overdue, newcomers=newcomers
            )
            return runs, beginnings(tx, runs)

        runs, first = await self._parts.commit.share(claim)
        for run in runs:
            self._begin(run, None, first.get(run.id))

    async def _answer(self) -> None:
        """Takes calls from the doorbell while there is room; SQL says which of them still stand."""
        while self._line is not None and self._room > 0:
            calls = await self._line.take(self._room)
            if not calls:
                return
            try:
                runs, later, first = await self._parts.commit.share(
                    partial(self._claim_called, [call.run_id for call in calls])
                )
            except Unavailable:
                await asyncio.gather(*(call.again(_SWEEP_SECONDS) for call in calls))
                raise
            claimed = {run.id: run for run in runs}
            for call in calls:
                run = claimed.pop(call.run_id, None)
                if run is not None:
                    self._begin(run, call, first.get(run.id))
                elif call.run_id in later:
                    await call.again(_SWEEP_SECONDS)
                else:
                    await call.done()

    def _claim_called(
        self, run_ids: list[str], tx: Transaction
    ) -> tuple[list[Run], frozenset[str], dict[str, Entry]]:
        runs, later = self._parts.records.claim_called(
            tx, self.holder, self._queues, run_ids, self._lease
        )
        return runs, later, beginnings(tx, runs)

    async def _rest(self) -> None:
        """Until the bell rings, something is due, or at most a second, in case a ring was lost."""
        if self._bell is None:
            return
        try:
            async with asyncio.timeout(1.0):
                await self._bell.wait()
        except TimeoutError:
            pass

    def _begin(self, run: Run, call: Delivery | None, first: Entry | None) -> None:
        program = self._programs.get(run.program)
        drive = Drive(self._parts, run, program or _unknown, first=first)
        with before_requests(), sharing(share_of(run)):
            task = asyncio.create_task(self._drive(drive, call), name=f"drive {run.id}")
        self._drives[run.id] = _Underway(drive, task, call)

    async def _drive(self, drive: Drive, call: Delivery | None) -> None:
        loop = asyncio.get_running_loop()

        def rung() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._asked, drive)

        try:
            with self._bus.listening(asked_topic(drive.run.id), rung):
                await drive.go()
        except StewardError as problem:
            _log.warning("drive_failed", run_id=drive.run.id, error=problem.message)
        finally:
            self._drives.pop(drive.run.id, None)
            if self._bell is not None:
                self._bell.set()
            if call is not None:
                await (call.again(0) if self._stopping else call.done())

    def _asked(self, drive: Drive) -> None:
        """Somebody rang at a run that is under way: look what they want."""
        task = asyncio.create_task(self._pass_on(drive))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _pass_on(self, drive: Drive) -> None:
        try:
            run = await asyncio.to_thread(self._parts.records.get, drive.run.scope, drive.run.id)
        except StewardError as problem:
            _log.warning("control_not_read", run_id=drive.run.id, error=problem.message)
            return
        drive.tell(run.control, run.control_by)

    async def _do_chores(self) -> None:
        while True:
            await asyncio.sleep(_CHORES_SECONDS)
            for chore in self._parts.chores:
                try:
                    await asyncio.to_thread(chore)
                except StewardError as problem:
                    _log.warning("chore_failed", error=problem.message)

    async def _give_signs(self, called: asyncio.Event) -> None:
        """Lets others know that there is a worker, also while it has nothing to drive."""
        while True:
            called.clear()
            try:
                await asyncio.to_thread(
                    self._presence.sign, self.holder, self._queues, self._concurrency, __version__
                )
            except Unavailable as problem:
                _log.warning("sign_not_given", error=problem.message)
            with suppress(TimeoutError):
                async with asyncio.timeout(SIGN_SECONDS):
                    await called.wait()

    async def _keep_leases(self) -> None:
        """Prolongs leases, passes on what people asked for, and drops runs that others took over."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            driven = dict(self._drives)
            if not driven:
                continue
            calls = [each.call for each in driven.values() if each.call is not None]
            await asyncio.gather(*(call.keep() for call in calls))
            try:
                held = await asyncio.to_thread(
                    self._parts.records.renew, self.holder, list(driven), self._lease
                )
            except Unavailable as problem:
                _log.warning("lease_not_renewed", error=problem.message)
                continue
            taken: list[Run] = []
            for run_id, each in driven.items():
                if (run_id, each.drive.run.epoch) in held:
                    each.drive.tell(*held[run_id, each.drive.run.epoch])
                elif self._drives.get(run_id) is each and not each.drive.is_leaving:
                    # It can write nothing any more; what it computes is wasted.
                    _log.warning("lease_lost", run_id=run_id)
                    each.task.cancel()
                    taken.append(each.drive.run)
            if taken:
                await self._clear_loss(taken)

    async def _clear_loss(self, runs: list[Run]) -> None:
        try:
            await asyncio.to_thread(self._parts.records.clear_loss, runs)
        except Unavailable as problem:
            _log.warning("loss_not_cleared", error=problem.message)

    async def _let_go(self) -> None:
        tasks = [each.task for each in self._drives.values()]
        for task in tasks:
            task.cancel()
        waited = [*tasks, *self._errands]
        if waited:
            # What does not end in time can write nothing once another worker has its run.
            await asyncio.wait(waited, timeout=_LET_GO_SECONDS)
        try:
            # Not by a thread: all of them may be busy with what does not end.
            self._parts.records.release(self.holder)
            self._presence.leave(self.holder)
        except Unavailable as problem:
            _log.warning("leases_not_released", error=problem.message)


def _set_in(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def _share_fairly(loop: asyncio.AbstractEventLoop) -> None:
    """Nobody's runs hold up those of others: not by their number, and not by calls that block."""
    if loop.get_task_factory() is None:
        loop.set_default_executor(FairThreads(_THREADS, _THREADS, "worker"))
        FairTurns(loop)


@dataclass(frozen=True)
class _Underway:
    drive: Drive
    task: asyncio.Task[None]
    call: Delivery | None


async def _unknown(execution: Execution) -> Json:  # noqa: ARG001 - the name is the protocol's
    raise Unavailable("No worker knows how to drive this kind of run; is a package missing?")


class WorkerThread:
    """A worker with an event loop of its own, so that driving runs never holds up the server's."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steward-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._worker.stop)
        self._thread.join(timeout=_LET_GO_SECONDS + 1)

    def _run(self) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._ready.set()
            await self._worker.serve()

        asyncio.run(main())
