"""The runs of one installation: started, looked at, steered, verified; one attribute per noun."""

import asyncio
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Conflict, Ids, Unavailable, reaching_for, sharing
from steward.runs._commit import GroupCommit, Unit
from steward.runs._rows import MOST_LOST, Scrub, existing
from steward.runs.canonical import Json, digest
from steward.runs.capsules import Capsule, pack, unpack
from steward.runs.doorbell import Doorbell
from steward.runs.driver import Drive, Parts, Program, loaded
from steward.runs.entries import Entry, Link, is_reference, made
from steward.runs.entry_types import Kind
from steward.runs.forks import StepDifference, changed, compared, prefix
from steward.runs.heads import Head, HeadLog, has_gap, lines_of_project, lines_of_run
from steward.runs.journal import Journal
from steward.runs.model import Run, RunRequest
from steward.runs.presence import Presence
from steward.runs.records import Records
from steward.runs.removal import Removal
from steward.runs.replay import ReplayReport, replay
from steward.runs.schedules import Schedules
from steward.runs.topics import asked_topic, journal_topic, run_topic
from steward.runs.verification import (
    BlobCheck,
    Fault,
    KeptHead,
    ProjectVerification,
    Record,
    Verification,
    verify_log,
    verify_record,
)
from steward.runs.worker import LEASE, QUEUES, Worker, share_of
from steward.store import BlobStore, Bus, Database, EventLog, Scope, Transaction

_LOOKS: Final = 5
"""How often a run that is driven meanwhile is looked at again before it counts as altered."""


class Runs:
    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        bus: Bus,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        heads: HeadLog,
        scrub: Scrub = lambda _scope, value: value,
        doorbell: Doorbell | None = None,
        most_lost: int = MOST_LOST,
    ) -> None:
        """`heads` signs where runs stand, `scrub` takes secrets out of what is about to be written.

        Without a doorbell the bus is enough.
        """
        self._doorbell = doorbell
        self.heads = heads
        self.records = Records(database, bus, events, clock, ids, doorbell, scrub, most_lost)
        self.journal = Journal(database)
        self.removal = Removal(database, clock, heads)
        self.presence = Presence(database, clock)
        self.schedules = Schedules(database, self.records, events, clock, ids)
        self._commit = GroupCommit(database, events, bus, heads)
        self.parts = Parts(database, blobs, clock, self.records, self.journal, self._commit, scrub)
        self.programs: dict[str, Program] = {}
        self._bus = bus
        self._process = f"{socket.gethostname()[:40]}/{os.getpid()}"

    def scrub(self, scope: Scope, value: Json) -> Json:
        """A copy without the values of the project's secrets: for what people type and Steward keeps."""
        return self.parts.scrub(scope, value)

    def start(self, scope: Scope, author: str, request: RunRequest) -> Run:
        """Puts a run in the queue; it is durable when this returns."""
        new = self.records.prepared(scope, author, request)
        self._commit.write_now(self.records.unit(new))
        return new.run

    async def start_and_drive(
        self,
        scope: Scope,
        author: str,
        request: RunRequest,
        lease: timedelta = LEASE,
        cancel: asyncio.Event | None = None,
        *,
        parent: Run | None = None,
        run_id: str | None = None,
    ) -> tuple[Run, Json]:
        """Starts a run and drives it here until it is over or parked: for what somebody waits for.

        Returns the run and how it ended, as `outcome` tells it. No worker is called. If this process dies, the lease
        runs out and any worker goes on. The author cancels it by setting `cancel`. A `parent` learns nothing of its
        end, but its budget covers it.
        """
        program = self._program(request.program)
        holder = f"{self._process}/{secrets.token_hex(4)}"
        new = self.records.prepared(
            scope, author, request, run_id=run_id, parent=parent, holder=holder, lease=lease
        )
        drive = Drive(self.parts, new.run, program, new)
        beside = [asyncio.create_task(self._keep([drive], holder, lease))]
        if cancel is not None:
            beside.append(asyncio.create_task(_cancel_when(cancel, drive, author)))
        try:
            await self._drive(drive)
        finally:
            for task in beside:
                task.cancel()
        if drive.ended is None:
            return await asyncio.to_thread(self.records.get, scope, new.run.id), None
        status, data = drive.ended
        ended = {name: await loaded(self.parts.blobs, value) for name, value in data.items()}
        return replace(new.run, status=status), ended

    def get(self, scope: Scope, run_id: str) -> Run:
        return self.records.get(scope, run_id)

    def verify(self, scope: Scope, run_id: str) -> Verification:
        """Whether everything the run claims is what was written and signed; names what is not."""
        found = self._verify(scope, run_id, BlobCheck(self.parts.blobs.read))
        with self.parts.database.read(scope) as tx:
            if not has_gap(tx):
                return found
        missing = Fault("log", "a line was removed from the project's log of signed heads")
        return replace(found, faults=(*found.faults, missing))

    def _verify(self, scope: Scope, run_id: str, blobs: BlobCheck) -> Verification:
        for _ in range(_LOOKS):
            record = self._record(scope, run_id, blobs)
            found = verify_record(record, self.heads.keys)
            # What was driven on meanwhile only looks altered.
            if found.is_intact or self.records.get(scope, run_id).epoch == record.run.epoch:
                break
        return found

    def verify_project(
        self, scope: Scope, kept: frozenset[KeptHead] = frozenset()
    ) -> ProjectVerification:
        """Every run of a project, newest first, and the whole log of their signed heads."""

        def read(statement: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
            with self.parts.database.read(scope) as tx:
                return tx.rows(statement)

        project = scope.project_id
        # The lines before the runs: what is signed meanwhile names runs that are there.
        lines = list(lines_of_project(read))
        run_ids = list(self.records.ids(scope))
        # A blob that several runs name is read once.
        blobs = BlobCheck(self.parts.blobs.read)
        found = tuple(self._verify(scope, run_id, blobs) for run_id in run_ids)
        log = verify_log(lines, self.heads.keys, project, run_ids, kept)
        return ProjectVerification(project, log, found)

    def sign_within(self, tx: Transaction, run_id: str) -> None:
        """Signs what the run claims once more, after an approval of it changed. Belongs at the transaction's end."""
        run = existing(tx, run_id)
        link = Link(run.head_seq, run.head_hash)
        self.heads.append(tx, [Head(run, link, run.status, self.parts.clock.now())])

    def _record(self, scope: Scope, run_id: str, blobs: BlobCheck) -> Record:
        with self.parts.database.read(scope) as tx:
            run = existing(tx, run_id)
            lines = lines_of_run(tx, run_id)
            approvals = self.heads.approvals(tx, [run_id]).get(run_id, [])
        rows = self.journal.stored(scope, run_id)
        return Record(run, rows, lines, blobs, approvals)

    def request(self, scope: Scope, run_id: str) -> RunRequest:
        """What the run was started with, as its journal has it."""
        self.records.get(scope, run_id)
        first = self.journal.page(scope, run_id, 0, 1)[0]
        return RunRequest(**first.data["request"])

    def entries(self, scope: Scope, run_id: str, after: int, limit: int) -> list[Entry]:
        self.records.get(scope, run_id)
        return self.journal.page(scope, run_id, after, limit)

    def payload(self, value: Json) -> Json:
        """A value of the journal with its payload, if it was too large to stand there itself."""
        if is_reference(value):
            return self._payload(value["$blob"])
        return value

    def outcome(self, scope: Scope, run_id: str) -> Json:
        """`{"output": …}`, `{"error": …}`, or None while the run is not over."""
        run = self.records.get(scope, run_id)
        end = self.journal.end(scope, run_id) if run.status.is_final else None
        if end is None:
            return None
        return {name: self.payload(value) for name, value in end.data.items()}

    async def replay(
        self, scope: Scope, run_id: str, program: Program | None = None
    ) -> ReplayReport:
        """Drives the recorded run again from its journal alone; with another program to watch it."""
        run = await asyncio.to_thread(self.records.get, scope, run_id)
        entries = await asyncio.to_thread(lambda: list(self.journal.entries(scope, run_id)))
        chosen = program or self._program(run.program)
        report = await replay(run, entries, chosen, self._payload)
        return report.without_secrets(lambda value: self.parts.scrub(scope, value))

    async def replay_capsule(self, capsule: Capsule) -> ReplayReport:
        """The same for a run that came in a file and is not in the database at all."""
        run = capsule.as_run()

        def payload(digest: str) -> Json:
            return json.loads(capsule.payload(digest))

        return await replay(run, capsule.entries, self._program(run.program), payload)

    def fork(
        self,
        scope: Scope,
        author: str,
        run_id: str,
        *,
        at: str | None,
        changes: Mapping[str, Json],
        grant: Json = None,
    ) -> Run:
        """A new run that shares the history before step `at` and goes on with the changes."""
        source = self.records.get(scope, run_id)
        request = changed(self.request(scope, run_id), changes)
        request = replace(request, title=f"{source.title} (fork)"[:200])
        if grant is not None:
            request = replace(request, grant=grant)
        kept = prefix(self.journal.entries(scope, run_id), at)
        return self.records.start_fork(scope, author, request, source, kept)

    def go_on(self, scope: Scope, author: str, source: Run, request: RunRequest, at: str) -> Run:
        """A new run with a request of its own that keeps what an ended one did before step `at`."""
        kept = prefix(self.journal.entries(scope, source.id), at)
        return self.records.start_fork(scope, author, request, source, kept)

    def diff(self, scope: Scope, left: str, right: str) -> list[StepDifference]:
        self.records.get(scope, left)
        self.records.get(scope, right)
        return compared(self.journal.entries(scope, left), self.journal.entries(scope, right))

    def export(self, scope: Scope, run_id: str, expect: dict[str, Any] | None = None) -> bytes:
        """The run as a capsule."""
        run = self.records.get(scope, run_id)
        with self.parts.database.read(scope) as tx:
            lines = lines_of_run(tx, run_id)
        return pack(run, self.journal.entries(scope, run_id), self.parts.blobs, expect, lines)

    def record_test(self, scope: Scope, run_id: str) -> bytes:
        """A capsule with what it must come out as: a regression test in one file."""
        outcome = self.outcome(scope, run_id)
        if outcome is None:
            raise Conflict("A run becomes a test once it is over; this one is not yet.")
        status = self.records.get(scope, run_id).status.value
        return self.export(scope, run_id, {"status": status, "outcome": digest(outcome)})

    def bring_in(self, scope: Scope, content: bytes) -> Run:
        """Takes in a run from a capsule; taking it in twice changes nothing."""
        capsule = unpack(content)
        for name in capsule.digests:
            self.parts.blobs.put([capsule.payload(name)])
        return self.records.bring_in(scope, capsule, self.sign_within)

    def append_aside(self, scope: Scope, run_id: str, kind: Kind, key: str, data: Json) -> Entry:
        """Adds an entry to a run that nobody drives at the moment, such as that an action was undone."""
        run = self.records.hold(scope, run_id)
        head = self.journal.head(scope, run_id)
        scrubbed = self.parts.scrub(scope, data)
        entry = made(run_id, head, kind, key, self.parts.clock.now(), scrubbed)
        self._commit.write_now(
            Unit(
                run_id,
                run.epoch,
                scope,
                [entry],
                lambda tx: self.records.let_go(tx, run, entry),
                head=Head(run, Link(entry.seq, entry.hash), run.status, self.parts.clock.now()),
            )
        )
        return entry

    def _program(self, name: str) -> Program:
        program = self.programs.get(name)
        if program is None:
            raise Unavailable(f"Nothing here knows how to drive runs of the kind {name!r}.")
        return program

    def _payload(self, name: str) -> Json:
        return json.loads(b"".join(self.parts.blobs.read(name)))

    def worker(
        self,
        *,
        queues: Sequence[str] = QUEUES,
        concurrency: int = 16,
        lease: timedelta = LEASE,
    ) -> Worker:
        return Worker(
            self.parts,
            self.programs,
            self._bus,
            self.schedules,
            queues=queues,
            concurrency=concurrency,
            lease=lease,
            doorbell=self._doorbell,
        )

    def drive_until_idle(self, holder: str = "here", lease: timedelta = LEASE) -> int:
        """Drives whatever is due, in this thread, until nothing is; how many drives that took."""
        return asyncio.run(self._drive_all(holder, lease))

    async def drive_due(self, run_ids: Sequence[str], lease: timedelta = LEASE) -> int:
        """Drives those of the runs that are due and that nobody holds, here: for somebody who waits for them."""
        holder = f"{self._process}/{secrets.token_hex(4)}"
        claimed = await asyncio.to_thread(self.records.claim_these, holder, QUEUES, run_ids, lease)
        await self._drive_claimed(claimed, holder, lease)
        return len(claimed)

    async def _drive_all(self, holder: str, lease: timedelta) -> int:
        count = 0
        while True:
            claimed = await asyncio.to_thread(self.records.claim, holder, QUEUES, 50, lease)
            if not claimed:
                return count
            count += len(claimed)
            await self._drive_claimed(claimed, holder, lease)

    async def _drive_claimed(self, claimed: Sequence[Run], holder: str, lease: timedelta) -> None:
        drives = [Drive(self.parts, run, self._program(run.program)) for run in claimed]
        keeping = asyncio.create_task(self._keep(drives, holder, lease))
        try:
            await asyncio.gather(*(self._drive(each) for each in drives))
        finally:
            keeping.cancel()

    async def _drive(self, drive: Drive) -> None:
        """Drives one run; whoever cancels it from this process is heard at once."""
        loop = asyncio.get_running_loop()
        run = drive.run
        asked: set[asyncio.Task[None]] = set()

        async def pass_on() -> None:
            found = await asyncio.to_thread(self.records.get, run.scope, run.id)
            drive.tell(found.control, found.control_by)

        def look() -> None:
            asked.add(asyncio.create_task(pass_on()))

        def rung() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(look)

        with (
            self._bus.listening(asked_topic(run.id), rung),
            sharing(share_of(run)),
            reaching_for(run.scope),
        ):
            await drive.go()
        await asyncio.gather(*asked)

    async def _keep(self, drives: Sequence[Drive], holder: str, lease: timedelta) -> None:
        """Prolongs leases: a slow model must not hand the run to the next process that looks."""
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            ids = [drive.run.id for drive in drives]
            held = await asyncio.to_thread(self.records.renew, holder, ids, lease)
            for drive in drives:
                if (drive.run.id, drive.run.epoch) in held:
                    drive.tell(*held[drive.run.id, drive.run.epoch])

    @contextmanager
    def listening(self, run_id: str, listener: Callable[[], None]) -> Iterator[None]:
        """Calls the listener whenever something happens to the run."""
        with (
            self._bus.listening(run_topic(run_id), listener),
            self._bus.listening(journal_topic(run_id), listener),
        ):
            yield

    @contextmanager
    def reading(
        self, run_id: str, read: Callable[[Sequence[Entry]], None], listener: Callable[[], None]
    ) -> Iterator[None]:
        """Hands over entries that this process writes; rings for whatever else has to be looked up."""
        with ExitStack() as stack:
            stack.enter_context(self._commit.reading(run_id, read))
            stack.enter_context(self._bus.listening(run_topic(run_id), listener))
            if self._bus.is_shared:
                stack.enter_context(self._bus.listening(journal_topic(run_id), listener))
            yield

    def followed(self, run_id: str) -> None:
        """Says to other processes that somebody here wants to hear of the run; to be said every few seconds."""
        for topic in (run_topic(run_id), journal_topic(run_id)):
            self._bus.follow(topic)

    def close(self) -> None:
        self._commit.close()
        if self._doorbell is not None:
            self._doorbell.close()


async def _cancel_when(asked: asyncio.Event, drive: Drive, author: str) -> None:
    await asked.wait()
    drive.tell("cancel", author)
