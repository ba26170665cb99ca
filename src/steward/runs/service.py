"""The runs of one installation: started, looked at, steered, verified; one attribute per noun."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

from steward.core.clock import Clock
from steward.core.ids import Ids
from steward.runs._commit import GroupCommit
from steward.runs.canonical import Json
from steward.runs.driver import Drive, Parts, Program, Scrub, loaded
from steward.runs.entries import Damage, Entry, Kind
from steward.runs.journal import Journal
from steward.runs.model import Run, RunRequest
from steward.runs.records import Records
from steward.runs.schedules import Schedules
from steward.runs.worker import LEASE, QUEUES, Worker
from steward.store import BlobStore, Bus, Database, EventLog, Scope


class Runs:
    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        bus: Bus,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        scrub: Scrub = lambda _scope, value: value,
    ) -> None:
        """`scrub` takes secrets out of what is about to be written."""
        self.records = Records(database, bus, events, clock, ids)
        self.journal = Journal(database, blobs)
        self.schedules = Schedules(database, self.records, events, clock, ids)
        self._commit = GroupCommit(database)
        self.parts = Parts(database, blobs, clock, self.records, self.journal, self._commit, scrub)
        self.programs: dict[str, Program] = {}
        self._bus = bus

    def start(self, scope: Scope, author: str, request: RunRequest) -> Run:
        return self.records.start(scope, author, request)

    def get(self, scope: Scope, run_id: str) -> Run:
        return self.records.get(scope, run_id)

    def verify(self, scope: Scope, run_id: str) -> Damage | None:
        self.records.get(scope, run_id)
        return self.journal.verify(scope, run_id)

    def request(self, scope: Scope, run_id: str) -> RunRequest:
        """What the run was started with, as its journal has it."""
        first = self.journal.page(scope, run_id, 0, 1)[0]
        return RunRequest(**first.data["request"])

    def entries(self, scope: Scope, run_id: str, after: int, limit: int) -> list[Entry]:
        self.records.get(scope, run_id)
        return self.journal.page(scope, run_id, after, limit)

    def payload(self, value: Json) -> Json:
        """A value of the journal with its payload, if it was too large to stand there itself."""
        return asyncio.run(loaded(self.parts.blobs, value))

    def outcome(self, scope: Scope, run_id: str) -> Json:
        """`{"output": …}`, `{"error": …}`, or None while the run is not over."""
        head = self.journal.head(scope, run_id)
        last = self.journal.page(scope, run_id, head.seq - 1, 1)[0]
        if last.kind not in {Kind.done, Kind.failed, Kind.cancelled}:
            return None
        return {name: self.payload(value) for name, value in last.data.items()}

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
        )

    def drive_until_idle(self, holder: str = "here", lease: timedelta = LEASE) -> int:
        """Drives whatever is due, in this thread, until nothing is; how many drives that took."""
        return asyncio.run(self._drive_all(holder, lease))

    async def _drive_all(self, holder: str, lease: timedelta) -> int:
        count = 0
        while True:
            claimed = await asyncio.to_thread(self.records.claim, holder, QUEUES, 50, lease)
            if not claimed:
                return count
            count += len(claimed)
            await asyncio.gather(
                *(Drive(self.parts, run, self.programs[run.program]).go() for run in claimed)
            )

    def listening(self, topic: str, listener: Callable[[], None]) -> object:
        return self._bus.listening(topic, listener)

    def close(self) -> None:
        self._commit.close()
