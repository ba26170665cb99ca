"""What a program sees of its run: keyed steps whose outcomes are remembered, effects that happen once, waits that park.

A program is ordinary deterministic code. Everything that could come out differently the next time goes through here
under a key. The first time it is done and recorded; ever after, the record answers.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from steward.core import (
    Progress,
    StewardError,
    Stopped,
    Unavailable,
    Work,
    current,
    doing,
    error_to_json,
    fault,
)
from steward.runs.canonical import Json, digest, plain
from steward.runs.entries import Entry, is_reference
from steward.runs.entry_types import EntryType, Kind, Mark, plain_mark
from steward.runs.model import (
    ONCE,
    Abandoned,
    Cancelled,
    Diverged,
    Parked,
    Paused,
    Retries,
    Run,
    RunRequest,
    Status,
    StepFailed,
)
from steward.store import Transaction

T = TypeVar("T")
Perform = Callable[[], Awaitable[Json]]
UNCERTAIN = "uncertain"
"""Code of an error that says: it may have happened."""
CANCELLED = "cancelled"
"""Code of an effect that somebody stopped before it changed anything."""
_FIRST_TOLD: Final = 0.5
"""Seconds before work is worth telling about; most is over by then."""
_TOLD_EVERY: Final = 1.0


class Scribe(Protocol):
    """Where entries go and payloads come from: the journal when a run is driven, nothing when it is replayed."""

    async def append(
        self, kind: Kind, key: str, data: Json, mark: Mark, *, lazily: bool = False
    ) -> Entry: ...
    async def stored(self, value: Json) -> Json: ...
    async def loaded(self, value: Json) -> Json: ...
    async def start_child(self, key: str, request: RunRequest) -> str: ...
    async def share(self, work: Callable[[Transaction], T], order: str) -> T: ...
    def take_along(self, change: Callable[[Transaction], None], order: str) -> None: ...
    async def show_progress(self, progress: dict[str, Any]) -> None: ...
    def refuse_unless_driving(self, tx: Transaction) -> None: ...
    async def pause_for(self, seconds: float) -> None: ...
    def now(self) -> datetime: ...


@dataclass(frozen=True)
class Ticket:
    """Identifies one side effect for good: a second try carries the same key."""

    idempotency_key: str
    body_hash: str
    request: Json


class Found(StrEnum):
    happened = "happened"
    not_happened = "not_happened"
    unknown = "unknown"


@dataclass(frozen=True)
class Reconciled:
    """What a tool found out about an effect whose outcome was lost."""

    found: Found
    result: Json = None


@dataclass(frozen=True)
class Effect:
    perform: Callable[[Ticket], Awaitable[Json]]
    reconcile: Callable[[Ticket], Awaitable[Reconciled]] | None = None
    idempotent: bool = False
    """Whether the receiver ignores a second one with the same idempotency key."""
    retries: Retries = ONCE
    """How often an idempotent effect is tried."""
    is_last: bool = False
    """Whether the run ends with it, so that its outcome and the end are one write."""
    check: Callable[[Ticket], Awaitable[Any]] | None = None
    """Looks once more whether it may be done, before it is intended: what is refused, or dies here, has not begun."""


@dataclass
class Memory:
    """What the journal already knows, by key."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    intents: dict[str, dict[str, Any]] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    opened: dict[str, dict[str, Any]] = field(default_factory=dict)
    closed: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Memory":
        memory = cls()
        for entry in entries:
            memory.take(entry)
        return memory

    def take(self, entry: Entry) -> None:
        match entry.kind:
            case Kind.step | Kind.outcome:
                self.outcomes[entry.key] = entry.data
            case Kind.intent:
                self.intents[entry.key] = entry.data
            case Kind.retry:
                self.retries[entry.key] = entry.data["attempt"]
            case Kind.opened:
                self.opened[entry.key] = entry.data
            case Kind.closed:
                self.closed[entry.key] = entry.data
            case Kind.note:
                self.notes.add(entry.key)
            case _:
                pass


@dataclass(frozen=True)
class OpenWait:
    status: Status
    reason: str
    expires_at: datetime | None
    request: Json
    of: str = ""
    """The call, step or plan that waits."""

    def to_json(self, key: str) -> Json:
        """As inboxes show it: the key to answer, and what is asked."""
        until = self.expires_at.isoformat() if self.expires_at else None
        kind = self.request.get("kind", "wait") if isinstance(self.request, dict) else "wait"
        asked = {"key": key, "kind": kind, "reason": self.reason, "expires_at": until}
        if kind == "approval" and "approval_id" in self.request:
            # The approval has a row of its own with everything in it.
            return {**asked, "approval_id": self.request["approval_id"], "of": self.of or key}
        return {**asked, "request": self.request}


class Execution:
    """One pass of a program over its run."""

    def __init__(
        self,
        run: Run,
        request: RunRequest,
        memory: Memory,
        scribe: Scribe,
        signals: dict[str, Json],
        *,
        replaying: bool = False,
    ) -> None:
        self.run = run
        self.request = request
        self.replaying = replaying
        self._cancelling = asyncio.Event()
        self.control = run.control
        self.open_waits: dict[str, OpenWait] = {}
        self._progress: dict[str, Any] | Callable[[], dict[str, Any]] | None = run.progress
        self.marks: set[str] = set()
        """What the broker remembers of this pass, such as that foreign text was read."""
        self.holdings: dict[str, tuple[str, str]] = {}
        """What budget is held for calls that are still to come, by the key above them."""
        self.agents: dict[str, str] = {}
        """Which agent works on a step, by the step's key."""
        self.notebooks: dict[str, Any] = {}
        """Where the agent of a step keeps its notes, by the step's key; only agents with a memory have one."""
        self.used: set[str] = set()
        self.differences: list[Diverged] = []
        self._memory = memory
        self._scribe = scribe
        self._signals = signals
        self._steps = len(memory.outcomes)

    @property
    def control(self) -> str | None:
        """What somebody asked of the run: `pause`, `cancel` or nothing. Changed from within its event loop."""
        return self._control

    @control.setter
    def control(self, word: str | None) -> None:
        self._control = word
        if word == "cancel":
            self._cancelling.set()

    def has_begun(self, key: str) -> bool:
        """Whether the journal has an outcome or an intent under this key: that is not decided again."""
        return key in self._memory.outcomes or key in self._memory.intents

    def has_begun_below(self, key: str) -> bool:
        """The same for any key below this one: an item, a branch or a part of it."""
        below = (f"{key}[", f"{key}/")
        known = (*self._memory.outcomes, *self._memory.intents, *self._memory.opened)
        return any(each.startswith(below) for each in known)

    async def step(
        self,
        key: str,
        request: Json,
        perform: Perform,
        retries: Retries = ONCE,
        *,
        type: str = EntryType.outcome_recorded,  # noqa: A002
        of: str | None = None,
        interruptible: bool = False,
        lazily: Callable[[Json], bool] | None = None,
    ) -> Json:
        """The outcome of `perform`, which may be done again after a crash: it must change nothing outside.

        `type` says what it is, and `of` what it belongs to, for those who read the journal; unset: to itself.

        An interruptible step does not hold up a cancel: it is stopped where it is, and nothing of it is recorded.
        Where `lazily` says so of the result, its entry becomes durable together with the next one: nothing may
        happen in between that relies on it.
        """
        recorded = self._recall(key, request, self._memory.outcomes)
        if recorded is not None:
            return await self._outcome(key, recorded)
        self._may_go_on()
        work = self._interruptible(perform) if interruptible else perform
        mark = Mark(type, of or key)
        outcome = await self._tried(key, work, retries, mark.of)
        late = lazily is not None and "result" in outcome and lazily(outcome["result"])
        return await self._record(Kind.step, key, request, outcome, mark, lazily=late)

    async def effect(self, key: str, request: Json, effect: Effect) -> Json:
        """Does something outside exactly once as far as that can be known; asks a person where it cannot."""
        recorded = self._recall(key, request, self._memory.outcomes)
        if recorded is not None:
            return await self._outcome(key, recorded)
        ticket = Ticket(digest([self.run.id, key]), digest(request), request)
        intent = self._recall(key, request, self._memory.intents)
        mark = plain_mark(Kind.outcome, key)
        if intent is None:
            self._may_go_on()
            refused = await self._refused(key, effect, ticket)
            if refused is not None:
                return await self._record(Kind.outcome, key, request, refused, mark)
            intended = {"request": request, "idempotency_key": ticket.idempotency_key}
            intended |= {"body_hash": ticket.body_hash}
            await self._append(Kind.intent, key, intended, plain_mark(Kind.intent, key))
            fault("runs.effect.intended")
            outcome = await self._done(key, effect, ticket)
        else:
            outcome = await self._settled(key, effect, ticket)
        fault("runs.effect.done")
        # What can be looked up after a crash need not be durable by itself.
        late = effect.is_last and effect.reconcile is not None
        return await self._record(Kind.outcome, key, request, outcome, mark, lazily=late)

    async def wait(
        self,
        key: str,
        request: Json,
        *,
        status: Status = Status.blocked,
        reason: str = "",
        expires_at: datetime | None = None,
        of: str | None = None,
    ) -> Json:
        """What answered the wait: the data of its signal, or `{"expired": true}`. Parks until there is one.

        `of` names the call, step or plan that waits, where it is not the wait itself.
        """
        closed = self._memory.closed.get(key)
        opened = self._recall(key, request, self._memory.opened)
        if closed is not None:
            self.used.add(key)
            return closed["answer"]
        if opened is None:
            self._may_go_on()
            until = expires_at.isoformat() if expires_at else None
            opened = {"request": request, "expires_at": until}
            await self._append(Kind.opened, key, opened, plain_mark(Kind.opened, of or key))
        answer = self._answer(key, opened)
        if answer is None:
            until = opened["expires_at"]
            moment = datetime.fromisoformat(until) if until else None
            self.open_waits[key] = OpenWait(status, reason, moment, request, of or key)
            self._heed()
            raise Parked
        await self._append(Kind.closed, key, {"answer": answer}, plain_mark(Kind.closed, of or key))
        return answer

    def agent_at(self, key: str) -> str:
        """The agent in whose step a key lies; empty for none."""
        return self.agents.get(self._step_at(key), "")

    def notebook_at(self, key: str) -> Any:
        """Where the agent in whose step a key lies keeps its notes; None where it has no memory."""
        return self.notebooks.get(self._step_at(key))

    def _step_at(self, key: str) -> str:
        """The nearest step of an agent above a key; empty for none."""
        parts = key.split("/")
        above = ("/".join(parts[:size]) for size in range(len(parts), 0, -1))
        return next((each for each in above if each in self.agents), "")

    async def child(self, key: str, request: RunRequest) -> Json:
        """Starts another run under this one and waits for its end: `{"run_id", "status", "output" | "error"}`."""

        async def start() -> Json:
            return await self._scribe.start_child(key, request)

        asked = {"title": request.title, "program": request.program, "inputs": request.inputs}
        child_id = await self.step(
            f"{key}/start", asked, start, type=EntryType.child_started, of=key
        )
        answer: dict[str, Any] = await self.wait(
            key, {"child": child_id}, status=Status.blocked, reason=f"sub-run {request.title}"
        )
        if "output" in answer:
            answer = {**answer, "output": await self._scribe.loaded(answer["output"])}
        return answer

    async def now(self, key: str, of: str | None = None) -> datetime:
        """The time, recorded: a program that looks at a clock looks at this one."""

        async def look() -> Json:
            return self._scribe.now().isoformat()

        asked = {"clock": "now"}
        found = await self.step(key, asked, look, type=EntryType.clock_read, of=of)
        return datetime.fromisoformat(found)

    async def note(
        self,
        key: str,
        data: Json,
        *,
        type: str = EntryType.noted,  # noqa: A002
        of: str | None = None,
    ) -> None:
        """A line of the run's log; written once."""
        self.used.add(key)
        if key not in self._memory.notes and not self.replaying:
            await self._append(Kind.note, key, data, Mark(type, of or key))

    async def share(self, work: Callable[[Transaction], T]) -> T:
        """Our own bookkeeping about this run, done in a transaction of the journal; belongs inside a step."""
        return await self._scribe.share(work, self.run.root_id)

    def take_along(self, change: Callable[[Transaction], None]) -> None:
        """The same, together with the next entry of the run: nobody waits for it by itself. It must not fail."""
        self._scribe.take_along(change, self.run.root_id)

    @asynccontextmanager
    async def working(self, key: str, *, stoppable: bool) -> AsyncIterator[Work]:
        """Long work inside is seen from outside. With `stoppable`, a cancel of the run stops it.

        Only an effect that can be looked up may be stopped: nobody could tell otherwise whether it happened.
        """
        telling, around = _Telling(self, key), current()

        def tell(progress: Progress) -> None:
            telling.tell(progress)
            # Whoever drives the run, such as a command, may want to hear of it, too.
            around.tell(progress)

        work = Work(tell)
        watching = asyncio.create_task(self._stop_when_cancelled(work)) if stoppable else None
        try:
            with doing(work):
                yield work
        finally:
            if watching is not None:
                watching.cancel()
            await telling.end()

    async def _stop_when_cancelled(self, work: Work) -> None:
        await self._cancelling.wait()
        await work.keep_stopping()

    def refuse_unless_driving(self, tx: Transaction) -> None:
        """Refuses, within the transaction of an effect, when another worker drives the run by now."""
        self._scribe.refuse_unless_driving(tx)

    @property
    def progress(self) -> dict[str, Any] | None:
        """How far the program is, for people: `{"done": 3, "total": 7}`."""
        if callable(self._progress):
            self._progress = self._progress()
        return self._progress

    @progress.setter
    def progress(self, progress: dict[str, Any] | Callable[[], dict[str, Any]] | None) -> None:
        """What is made anew with every step may be given as what makes it: it is asked when it is written."""
        self._progress = progress

    async def show_progress(self, progress: dict[str, Any]) -> None:
        """Lets whoever looks at the run see how far it is, before its next entry."""
        self.progress = progress
        await self._scribe.show_progress(progress)

    async def together(self, branches: Iterable[Coroutine[Any, Any, Json]]) -> list[Json]:
        """Runs branches at the same time; a parked one holds up no other. The first failure in order counts."""
        tasks = [asyncio.ensure_future(branch) for branch in branches]
        try:
            found = await asyncio.gather(*tasks, return_exceptions=True)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        problems = [item for item in found if isinstance(item, BaseException)]
        # What leaves the program outranks an error: the error may look different once all is known.
        for problem in sorted(problems, key=lambda item: isinstance(item, Exception)):
            raise problem
        return list(found)

    def _recall(
        self, key: str, request: Json, where: dict[str, dict[str, Any]]
    ) -> dict[str, Any] | None:
        recorded = where.get(key)
        self.used.add(key)
        if self.replaying:
            asked = plain(request)
            if recorded is None:
                if where is self._memory.outcomes and key in self._memory.intents:
                    # The recorded run never learnt the outcome; nor does its replay.
                    raise Parked
                raise Diverged(key, asked, None)
            if recorded["request"] != asked:
                self.differences.append(Diverged(key, asked, recorded["request"]))
        return recorded

    def _answer(self, key: str, opened: dict[str, Any]) -> Json:
        if self.replaying:
            return None
        if key in self._signals:
            return self._signals[key]
        until = opened["expires_at"]
        if until is not None and self._scribe.now() >= datetime.fromisoformat(until):
            return {"expired": True}
        return None

    def _interruptible(self, perform: Perform) -> Perform:
        async def raced() -> Json:
            task = asyncio.ensure_future(perform())
            asked = asyncio.ensure_future(self._cancelling.wait())
            try:
                await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    return task.result()
                raise Cancelled
            finally:
                # Also when this drive itself is ended: nothing goes on behind its back.
                for each in (task, asked):
                    each.cancel()
                await asyncio.gather(task, asked, return_exceptions=True)

        return raced

    def _heed(self) -> None:
        if self.control == "cancel":
            raise Cancelled
        if self.control == "pause":
            raise Paused

    def _may_go_on(self) -> None:
        """Looked at before anything new is begun; what has begun is finished and recorded."""
        self._heed()
        self._steps += 1
        if self._steps > self.request.max_steps:
            raise StepFailed(
                "run",
                "too-many-steps",
                f"The run reached its limit of {self.request.max_steps:,} steps.",
            )

    async def _tried(self, key: str, perform: Perform, retries: Retries, of: str) -> dict[str, Any]:
        failed = self._memory.retries.get(key, 0)
        while True:
            outcome, may_retry = await _outcome_of(perform(), retries)
            failed += 1
            if not may_retry or failed >= retries.attempts:
                return outcome
            wait = retries.delay(failed)
            error = outcome["error"]
            told = {"attempt": failed, "error": error, "delay_s": wait}
            await self._append(Kind.retry, key, told, plain_mark(Kind.retry, of))
            await self._scribe.pause_for(wait)
            self._may_go_on()

    async def _refused(self, key: str, effect: Effect, ticket: Ticket) -> dict[str, Any] | None:
        """Why the effect may not begin; None where it may."""
        check = effect.check
        if check is None:
            return None
        found = await self._tried(key, lambda: check(ticket), effect.retries, key)
        return found if "error" in found else None

    async def _done(self, key: str, effect: Effect, ticket: Ticket) -> dict[str, Any]:
        try:
            if effect.idempotent:
                return await self._tried(key, lambda: effect.perform(ticket), effect.retries, key)
            outcome, _ = await _outcome_of(effect.perform(ticket), ONCE)
        except Stopped:
            return await self._stopped(effect, ticket)
        if outcome.get("error", {}).get("code") == UNCERTAIN:
            # The line broke while it was being done: as after a crash, nobody knows.
            return await self._settled(key, effect, ticket)
        return outcome

    async def _stopped(self, effect: Effect, ticket: Ticket) -> dict[str, Any]:
        """What became of an effect that a cancel ended on its way: it may have happened at the last moment."""
        if effect.reconcile is not None:
            found = await effect.reconcile(ticket)
            if found.found is Found.happened:
                return {"result": found.result}
        return {"error": {"code": CANCELLED, "message": "Cancelled. Nothing was changed."}}

    async def _settled(self, key: str, effect: Effect, ticket: Ticket) -> dict[str, Any]:
        """An intent without an outcome: find out, do it again where that is harmless, or ask."""
        found = Reconciled(Found.unknown)
        if effect.reconcile is not None:
            found = await effect.reconcile(ticket)
        if found.found is Found.happened:
            return {"result": found.result}
        if found.found is Found.not_happened or effect.idempotent:
            return await self._done(key, effect, ticket)
        answer = await self.wait(
            f"{key}/uncertain",
            {"kind": "uncertain", "request": ticket.request},
            status=Status.blocked,
            reason="An action may or may not have happened; somebody has to look.",
            of=key,
        )
        match answer.get("decision"):
            case "happened":
                return {"result": answer.get("result")}
            case "retry":
                return await self._done(key, effect, ticket)
            case _:
                message = "It was decided that this action did not happen and is not tried again."
                return {"error": {"code": "given-up", "message": message}}

    async def _record(
        self,
        kind: Kind,
        key: str,
        request: Json,
        outcome: dict[str, Any],
        mark: Mark,
        *,
        lazily: bool = False,
    ) -> Json:
        if "result" in outcome:
            outcome["result"] = await self._scribe.stored(outcome["result"])
        entry = await self._append(kind, key, {"request": request, **outcome}, mark, lazily=lazily)
        return await self._outcome(key, entry.data)

    async def _append(
        self, kind: Kind, key: str, data: Json, mark: Mark, *, lazily: bool = False
    ) -> Entry:
        if self.replaying:
            raise Diverged(key, data, None)
        entry = await self._scribe.append(kind, key, data, mark, lazily=lazily)
        self._memory.take(entry)
        return entry

    async def _outcome(self, key: str, recorded: dict[str, Any]) -> Json:
        error = recorded.get("error")
        if error is not None and error["code"] == CANCELLED:
            raise Cancelled
        if error is not None:
            raise StepFailed.from_json(key, error)
        result = recorded["result"]
        return await self._scribe.loaded(result) if is_reference(result) else result


class _Telling:
    """Passes on how far one call of a run is, about once a second; from the thread that works to the run's loop."""

    def __init__(self, execution: Execution, key: str) -> None:
        self._execution = execution
        self._key = key
        self._loop = asyncio.get_running_loop()
        self._next = time.monotonic() + _FIRST_TOLD
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._alone = execution.progress is None

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next and not self._loop.is_closed():
            self._next = now + _TOLD_EVERY
            self._loop.call_soon_threadsafe(self._begin, progress)

    def _begin(self, progress: Progress) -> None:
        # One that is still being written is told soon enough.
        if not self._ended and (self._task is None or self._task.done()):
            call = {"key": self._key, **asdict(progress)}
            self._task = asyncio.create_task(self._show(call))

    async def _show(self, call: dict[str, Any]) -> None:
        known = self._execution.progress or {}
        try:
            await self._execution.show_progress({**known, "call": call})
        except StewardError:
            # Nobody sees it this time; the work goes on.
            return

    async def end(self) -> None:
        self._ended = True
        if self._task is None:
            return
        await asyncio.gather(self._task, return_exceptions=True)
        known = {**(self._execution.progress or {})}
        known.pop("call", None)
        self._execution.progress = None if self._alone else known


async def _outcome_of(work: Awaitable[Json], retries: Retries) -> tuple[dict[str, Any], bool]:
    """The result or the error as data, and whether another try could help."""
    limit = retries.timeout.total_seconds() if retries.timeout else None
    try:
        if limit is None:
            return {"result": await work}, False
        async with asyncio.timeout(limit):
            return {"result": await work}, False
    except TimeoutError:
        allowed = f"the allowed {limit:g} seconds" if limit else "it may"
        message = f"It took longer than {allowed}."
        return {"error": {"code": "timeout", "message": message}}, True
    except StepFailed as failure:
        return {"error": failure.to_json()}, False
    except StewardError as problem:
        if isinstance(problem.__cause__, SQLAlchemyError):
            # Our own database is away, which says nothing about the step: it is tried again on the next drive.
            raise Abandoned from problem
        return {"error": error_to_json(problem)}, isinstance(problem, Unavailable)
