"""Drives one run as far as it goes: reads the journal, runs the program, and leaves the run done, parked or failed."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import sqlalchemy as sa
import structlog

from steward.core import (
    Clock,
    Invalid,
    StewardError,
    Unavailable,
    error_to_json,
    fault,
    reaching_for,
)
from steward.runs import _tables as tables
from steward.runs._commit import Change, Fenced, GroupCommit, Unit
from steward.runs._rows import Scrub
from steward.runs._starts import New
from steward.runs.canonical import Json, canonical
from steward.runs.capsules import artifacts_of
from steward.runs.entries import Entry, Link, end_reason, is_reference, made
from steward.runs.entry_types import Kind, Mark
from steward.runs.execution import Execution, Memory
from steward.runs.heads import Head
from steward.runs.journal import Journal
from steward.runs.model import (
    Abandoned,
    Cancelled,
    Parked,
    Paused,
    Run,
    RunRequest,
    Status,
    StepFailed,
)
from steward.runs.records import Records
from steward.runs.topics import run_topic
from steward.store import BlobStore, Database, Moment, News, Transaction

T = TypeVar("T")
LARGE = 16 * 1024
"""Payloads above so many bytes live as blobs beside the journal."""
SIGNED_EVERY: Final = 200
"""A run that goes on and on is signed again after so many entries, or after `SIGNED_AFTER`."""
SIGNED_AFTER: Final = timedelta(minutes=1)
_TOLD_FROM: Final = 2
"""With fewer steps there is nothing to tell before the end."""

_log = structlog.get_logger("steward.runs")


class Program(Protocol):
    """An interpreter of runs: deterministic but for what it does through the execution."""

    async def __call__(self, execution: Execution) -> Json: ...


class Parts:
    """What every drive needs; one per process."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        clock: Clock,
        records: Records,
        journal: Journal,
        commit: GroupCommit,
        scrub: Scrub,
    ) -> None:
        self.database = database
        self.blobs = blobs
        self.clock = clock
        self.records = records
        self.journal = journal
        self.commit = commit
        self.scrub = scrub
        self.on_end: list[Callable[[Run], None]] = []
        """Told of each run that ended here, once that is durable; must neither block nor fail."""
        self.on_lost: list[Callable[[Transaction, Run], None]] = []
        """Called in the transaction in which a run is set aside that stopped its workers."""
        self.chores: list[Callable[[], object]] = []
        """What a worker does about once an hour beside its runs, such as removing what nobody needs."""
        self.beside: list[Callable[[], Coroutine[Any, Any, None]]] = []
        """What a worker does all the time beside its runs, until it is cancelled."""


class JournalScribe:
    """Writes a driven run's entries; the only writer while its epoch lasts."""

    def __init__(self, parts: Parts, run: Run, link: Link, start: New | None = None) -> None:
        """`start` is the beginning of a run that is written together with its first entries."""
        self._parts = parts
        self._run = run
        self.link = link
        self._start = start
        self._unwritten: list[Entry] = [start.entry] if start is not None else []
        self._blobs: list[str] = []
        self._along: list[Change] = []
        self.progress: Callable[[], dict[str, Any] | None] = lambda: run.progress
        """How far the program is; whoever looks at the run sees it while it is on its way."""
        self._shown = run.progress
        self._signed = link.seq
        self._signed_at = parts.clock.now()

    async def append(
        self, kind: Kind, key: str, data: Json, mark: Mark, *, lazily: bool = False
    ) -> Entry:
        entry = self.make(kind, key, data, mark)
        if lazily:
            self._unwritten.append(entry)
        else:
            await self.write([entry], head=self._head_if_due())
        return entry

    def make(self, kind: Kind, key: str, data: Json, mark: Mark | None = None) -> Entry:
        self._refuse_secret(key, mark)
        scrubbed = self._parts.scrub(self._run.scope, data)
        entry = made(self._run.id, self.link, kind, key, self._parts.clock.now(), scrubbed, mark)
        self.link = Link(entry.seq, entry.hash)
        return entry

    def _refuse_secret(self, key: str, mark: Mark | None) -> None:
        """A key is looked up as it is when the run goes on, so nothing can be masked in it."""
        conceal, scope = self._parts.database.conceal, self._run.scope
        # Between spaces: a short secret that merely equals a name is none.
        told = f" {key} {mark.of} " if mark is not None else f" {key} "
        if conceal(scope, told) != told:
            raise Invalid(
                "The name of a step or call holds the value of a stored secret, so the run stopped. "
                "Rename the step in its playbook, or change the secret.",
                code="holds-secret",
            )

    async def write(
        self,
        entries: list[Entry],
        also: Callable[[Transaction], None] | None = None,
        *,
        end: Mapping[str, Any] | None = None,
        news: News | None = None,
        rings: Sequence[str] = (),
        head: Head | None = None,
    ) -> None:
        blobs, self._blobs = self._blobs, []
        along, self._along = self._along, []
        unwritten, self._unwritten = self._unwritten, []
        start, self._start = self._start, None
        entries = [*unwritten, *entries]
        run = self._run
        if entries and end is None:
            along += self._news_of_progress()
        unit = Unit(
            run.id,
            run.epoch,
            run.scope,
            entries,
            also,
            along,
            blobs,
            begin=start.row(self._parts.clock.now()) if start is not None else None,
            end=end,
            news=start.news if start is not None and news is None else news,
            rings=rings,
            head=head,
        )
        try:
            await self._parts.commit.write(unit)
        except StewardError as problem:
            raise Abandoned from problem

    def head(self, status: Status) -> Head:
        """Where the run stands with what was made so far, to be signed."""
        return Head(self._run, self.link, status, self._parts.clock.now())

    def _head_if_due(self) -> Head | None:
        now = self._parts.clock.now()
        far = self.link.seq - self._signed >= SIGNED_EVERY
        if not far and now - self._signed_at < SIGNED_AFTER:
            return None
        self._signed, self._signed_at = self.link.seq, now
        return self.head(Status.running)

    def _news_of_progress(self) -> Iterator[Change]:
        """Goes along with an entry and never by itself, so that it costs no disk sync of its own."""
        said, run = self.progress(), self._run
        if said is None or said is self._shown or said.get("total", 0) < _TOLD_FROM:
            return
        self._shown = said

        def show(tx: Transaction) -> None:
            row = sa.update(tables.runs).where(tables.runs.c.id == run.id)
            tx.narrowed(run.scope).execute(row.values(progress=said))

        yield Change(run.root_id, show)

    async def stored(self, value: Json) -> Json:
        """The value, or a reference to it when it is large."""
        if value is None or isinstance(value, bool | int | float):
            return value
        scrubbed = self._parts.scrub(self._run.scope, value)
        text = canonical(scrubbed)
        # What only looks like a reference becomes a payload, so that every reference is ours.
        if len(text) <= LARGE and not is_reference(scrubbed):
            # The files a call made are the run's to keep as well.
            self._blobs += artifacts_of(scrubbed)
            return scrubbed
        content = text.encode("utf-8", "surrogatepass")
        try:
            blob = await asyncio.to_thread(self._parts.blobs.put, [content])
        except Unavailable as problem:
            # That the store is away says nothing about the run: it goes on from its last entry.
            raise Abandoned from problem
        self._blobs += [blob.digest, *artifacts_of(scrubbed)]
        return {"$blob": blob.digest, "bytes": blob.size}

    async def loaded(self, value: Json) -> Json:
        try:
            return await loaded(self._parts.blobs, value)
        except Unavailable as problem:
            raise Abandoned from problem

    async def start_child(self, key: str, request: RunRequest) -> str:
        # What goes along too: the child draws on the budget that its parent has by then.
        if self._unwritten or self._along:
            await self.write([])
        child = await asyncio.to_thread(self._parts.records.start_child, self._run, key, request)
        return child.id

    async def share(self, work: Callable[[Transaction], T], order: str) -> T:
        scope = self._run.scope
        await self._catch_up()
        return await self._parts.commit.share(lambda tx: work(tx.narrowed(scope)), order)

    async def _catch_up(self) -> None:
        """Before something else is written that belongs to the run."""
        if self._unwritten:
            await self.write([])

    def take_along(self, change: Callable[[Transaction], None], order: str) -> None:
        scope = self._run.scope
        self._along.append(Change(order, lambda tx: change(tx.narrowed(scope))))

    def refuse_unless_driving(self, tx: Transaction) -> None:
        self._parts.records.refuse_unless_driving(tx, self._run)

    async def show_progress(self, progress: dict[str, Any]) -> None:
        run = self._run
        self._shown = progress
        await self.share(
            lambda tx: self._parts.records.show_progress(tx, run, progress), run.root_id
        )

    async def pause_for(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def now(self) -> datetime:
        return self._parts.clock.now()


async def loaded(blobs: BlobStore, value: Json) -> Json:
    """The payload behind a reference; anything else as it is."""
    if is_reference(value):
        content = await asyncio.to_thread(lambda: b"".join(blobs.read(value["$blob"])))
        return json.loads(content.decode("utf-8", "surrogatepass"))
    return value


class Drive:
    """One claimed run on its way; `control` may be changed from outside while it goes."""

    def __init__(
        self,
        parts: Parts,
        run: Run,
        program: Program,
        start: New | None = None,
        first: Entry | None = None,
    ) -> None:
        """`start` is given by whoever drives the run from its very beginning: nothing is written of it yet.

        `first` is the one entry of a run that nobody has driven yet, where whoever claimed it has read it.
        """
        self._parts = parts
        self.run = run
        self._program = program
        self._start = start
        self._first = first
        self.execution: Execution | None = None
        self.ended: tuple[Status, dict[str, Any]] | None = None
        """How the run ended, and with what, if it ended here; durable by then."""
        self.is_leaving = False
        """Whether its last write is on its way, with which the lease ends."""
        self._asked_by = run.control_by

    def tell(self, control: str | None, by: str | None) -> None:
        """Passes on that somebody paused or cancelled the run; it stops before its next step.

        A cancel also stops an interruptible step that is under way. Belongs in the drive's event loop.
        """
        self._asked_by = by
        if self.execution is not None:
            self.execution.control = control

    async def go(self) -> None:
        run, parts = self.run, self._parts
        try:
            with reaching_for(run.scope):
                if run.lost >= parts.records.most_lost:
                    await self._set_aside()
                else:
                    await self._on()
        except Fenced:
            _log.warning("run_taken_over", run_id=run.id)
        except Abandoned as abandoned:
            _log.warning("run_abandoned", run_id=run.id, error=str(abandoned.__cause__))
            # Where the database answers; otherwise the lease runs out.
            with suppress(Unavailable):
                await asyncio.to_thread(parts.records.give_back, run)

    async def _on(self) -> None:
        run, parts = self.run, self._parts
        signals: dict[str, Json] = {}
        if self._start is not None:
            entries = [self._start.entry]
        elif self._first is not None:
            entries = [self._first]
        else:
            entries, signals = await asyncio.to_thread(parts.journal.loaded, run.scope, run.id)
        scribe = JournalScribe(parts, run, Link(entries[-1].seq, entries[-1].hash), self._start)
        request = RunRequest(**entries[0].data["request"])
        execution = Execution(run, request, Memory.of(entries), scribe, signals)
        scribe.progress = lambda: execution.progress
        self.execution = execution
        fault("runs.drive.loaded")
        await self._follow(execution, scribe, entries)

    async def _set_aside(self) -> None:
        """Ends a run that ended its workers; nothing of it is loaded but where its journal ends."""
        run, parts = self.run, self._parts
        head = await asyncio.to_thread(parts.journal.head, run.scope, run.id)
        in_words = {2: "two", 3: "three"}.get(run.lost, str(run.lost))
        problem = Unavailable(
            f"This run stopped its worker {in_words} times, so it was set aside. Its last step needs "
            "more memory or time than a worker has, or meets a bug. Look at that step, then start the run again.",
            code="stopped-its-worker",
        )
        _log.warning("run_set_aside", run_id=run.id, lost=run.lost)
        scribe = JournalScribe(parts, run, head)
        for forget in parts.on_lost:
            scribe.take_along(partial(_forgotten, forget, run), run.root_id)
        await self._finish(scribe, Status.failed, Kind.failed, {"error": error_to_json(problem)})

    async def _follow(
        self, execution: Execution, scribe: JournalScribe, entries: list[Entry]
    ) -> None:
        await self._note_resumed(scribe, entries)
        try:
            output = await self._program(execution)
        except Parked:
            await self._park(execution, scribe)
        except Paused:
            await self._pause(scribe)
        except Cancelled:
            by = {"by": self._asked_by}
            await self._finish(scribe, Status.cancelled, Kind.cancelled, by)
        except StepFailed as failure:
            described = {**failure.to_json(), "at": failure.key}
            await self._finish(scribe, Status.failed, Kind.failed, {"error": described})
        except StewardError as problem:
            described = error_to_json(problem)
            await self._finish(scribe, Status.failed, Kind.failed, {"error": described})
        except Exception:  # noqa: BLE001
            # A program that breaks is our bug: the run says so, the log says where.
            _log.exception("program_failed", run_id=self.run.id, program=self.run.program)
            described = {"code": "bug", "message": "Steward met an unexpected error in this run."}
            await self._finish(scribe, Status.failed, Kind.failed, {"error": described})
        else:
            stored = await scribe.stored(output)
            await self._finish(scribe, Status.done, Kind.done, {"output": stored})

    async def _note_resumed(self, scribe: JournalScribe, entries: list[Entry]) -> None:
        said = [entry.data for entry in entries if entry.kind == Kind.control]
        if said and said[-1]["action"] == "paused" and self.run.control is None:
            resumed = {"action": "resumed", "by": self.run.control_by}
            await scribe.write([scribe.make(Kind.control, "control", resumed)])

    async def _pause(self, scribe: JournalScribe) -> None:
        self.is_leaving = True
        entry = scribe.make(Kind.control, "control", {"action": "paused", "by": self._asked_by})
        await scribe.write(
            [entry],
            self._leave(scribe, Status.blocked, "paused", None),
            head=scribe.head(Status.blocked),
        )

    async def _park(self, execution: Execution, scribe: JournalScribe) -> None:
        self.is_leaving = True
        waits = list(execution.open_waits.values())
        status = min((wait.status for wait in waits), key=_RANK.index, default=Status.blocked)
        reasons = sorted({wait.reason for wait in waits if wait.reason})
        moments = [wait.expires_at for wait in waits if wait.expires_at is not None]
        wake = min(moments, default=None)
        leave = self._leave(scribe, status, "; ".join(reasons)[:400], wake)
        await scribe.write([], leave, head=scribe.head(status))
        fault("runs.drive.parked")

    def _leave(
        self, scribe: JournalScribe, status: Status, reason: str, wake: datetime | None
    ) -> Callable[[Transaction], None]:
        run, link = self.run, scribe.link
        progress = self.execution.progress if self.execution else None
        open_waits = self.execution.open_waits if self.execution else {}
        waits = [wait.to_json(key) for key, wait in sorted(open_waits.items())]

        def change(tx: Transaction) -> None:
            statement = (
                sa.update(tables.runs)
                .where(tables.runs.c.id == run.id)
                .values(
                    status=status.value,
                    reason=reason or None,
                    # A signal that came meanwhile has set a time of its own.
                    wake_at=sa.func.coalesce(tables.runs.c.wake_at, sa.literal(wake, Moment())),
                    lease_until=None,
                    holder=None,
                    head_seq=link.seq,
                    head_hash=link.hash,
                    progress=progress,
                    waits=waits,
                    lost=0,
                )
            )
            tx.narrowed(run.scope).execute(statement)
            self._parts.records.announce(tx, run, status)

        return change

    async def _finish(
        self, scribe: JournalScribe, status: Status, kind: Kind, data: dict[str, Any]
    ) -> None:
        self.is_leaving = True
        entry = scribe.make(kind, "run", data)
        # As it was recorded: without secrets.
        run, data = self.run, entry.data
        over = {
            "status": status.value,
            "reason": end_reason(data),
            "ended_at": self._parts.clock.now(),
            "head_seq": entry.seq,
            "head_hash": entry.hash,
            "progress": self.execution.progress if self.execution else None,
        }

        def answer_parent(tx: Transaction) -> None:
            self._parts.records.tell_parent(tx, run, status, data)

        await scribe.write(
            [entry],
            answer_parent if run.parent_id is not None else None,
            end=over,
            news=News(run.scope, f"run.{status.value}", run.id, {"title": run.title}),
            rings=[run_topic(run.id)],
            head=scribe.head(status),
        )
        self.ended = status, data
        fault("runs.drive.finished")
        ended = replace(run, status=status)
        for tell in self._parts.on_end:
            tell(ended)


def _forgotten(forget: Callable[[Transaction, Run], None], run: Run, tx: Transaction) -> None:
    forget(tx, run)


_RANK = (Status.waiting_for_approval, Status.reviewing, Status.blocked, Status.running)
