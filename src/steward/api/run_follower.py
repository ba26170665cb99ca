"""Follows one run: its journal by rings, and text as it is written; nothing is lost, doubled or kept in a queue.

Whoever reads slowly is told later, not more: entries wait in the database, text in one place for all.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final

from anyio import to_thread

from steward.agents import LiveText, Teller, live_topic
from steward.api.chat_events import ALL, ENDS, ChatEvent, Place, placed
from steward.api.context import ApiContext
from steward.api.routes.events import HEARTBEAT_SECONDS, still_allowed
from steward.broker import BUDGET, GATE, QUESTION, UNCERTAIN
from steward.identity import Access
from steward.runs import Entry, Run, Status, blob_references

_PAGE: Final = 200
_FOLLOW_SECONDS: Final = 5.0
BEAT: Final = ChatEvent("", None)
"""Nothing happened for a while; the line is alive."""

_PEOPLE: Final = frozenset({"plan", QUESTION, GATE, BUDGET, UNCERTAIN})

Conclude = Callable[[Run], list[tuple[str, Any]]]


class RunFollower:
    """One reader of one run."""

    def __init__(
        self,
        context: ApiContext,
        access: Access,
        run: Run,
        thread_id: str | None,
        conclude: Conclude,
        place: Place | None = None,
    ) -> None:
        """`conclude` says what is told once the run is over; `place` is how far the reader has come before."""
        self.run = run
        self.is_over = False
        self._context = context
        self._access = access
        self._thread_id = thread_id
        self._conclude = conclude
        self._place = place or Place()
        self._bell = _Bell()
        self._teller = Teller(context.steward.runs.payload)
        self._seq = 0
        self._status: object = None
        self._texts: dict[str, tuple[int, int, int]] = {}
        self._checked_at = self._now()

    async def happenings(self) -> AsyncIterator[list[ChatEvent]]:
        """Lists of what happened meanwhile, until the run is over, the server stops or the reader may not go on."""
        steward, context = self._context.steward, self._context
        with ExitStack() as listening:
            listening.enter_context(steward.metrics.streams.track_inprogress())
            listening.enter_context(
                steward.runs.reading(self.run.id, self._bell.written, self._bell.entries)
            )
            listening.enter_context(steward.live.listening(self.run.id, self._bell.text))
            keeping = (
                asyncio.create_task(self._keep_following()) if steward.live.is_shared else None
            )
            if keeping is not None:
                listening.callback(keeping.cancel)
                await self._follow_once()
            while not context.stopping.is_set() and not self.is_over:
                looked = self._bell.has_entries
                told = await self._look()
                if told or looked:
                    # Also when there was nothing to tell: whoever waits for us to be level asks again.
                    yield told
                else:
                    await self._bell.wait(HEARTBEAT_SECONDS)
                if self._now() - self._checked_at >= HEARTBEAT_SECONDS:
                    yield await self._beat()

    @property
    def is_level(self) -> bool:
        """Whether everything that was written before the run was last looked at has been told."""
        return not self._bell.has_entries

    async def _beat(self) -> list[ChatEvent]:
        """Once in a while: a sign of life, unless the reader may not see the run any more."""
        self._checked_at = self._now()
        # A ring may have been lost: looks again all the same.
        self._bell.entries_rung = True
        if not await to_thread.run_sync(still_allowed, self._context, self._access):
            self.is_over = True
        return [BEAT]

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    async def _look(self) -> list[ChatEvent]:
        bell = self._bell
        told: list[ChatEvent] = []
        if bell.text_rung:
            bell.text_rung = False
            told += await self._new_text()
        told += await self._handed_over()
        if bell.entries_rung and not self.is_over:
            bell.entries_rung = False
            told += await to_thread.run_sync(self._new_entries)
        return told

    # The journal

    async def _handed_over(self) -> list[ChatEvent]:
        """Entries that came from their writer: nothing has to be looked up, unless one is missing before them."""
        fresh = [entry for entry in self._bell.take() if entry.seq > self._seq]
        if not fresh or self._status is None:
            return []
        if fresh[0].seq != self._seq + 1:
            self._bell.entries_rung = True
            return []
        if any(_takes_time(entry) for entry in fresh):
            return await to_thread.run_sync(self._happenings_of, fresh)
        return self._happenings_of(fresh)

    def _happenings_of(self, entries: Sequence[Entry]) -> list[ChatEvent]:
        told: list[ChatEvent] = []
        for entry in entries:
            told += self._tell(entry)
            if self.is_over:
                break
        return told

    def _new_entries(self) -> list[ChatEvent]:
        runs = self._context.steward.runs
        # The run first: an entry that is written after the look is found by the next.
        self.run = runs.get(self._access.scope, self.run.id)
        entries = runs.journal.page(self._access.scope, self.run.id, self._seq, _PAGE)
        told = self._status_change() if self._status is None else []
        told += self._happenings_of(entries)
        if self.is_over:
            return told
        if len(entries) == _PAGE:
            self._bell.entries_rung = True
            return told
        return told + self._status_change()

    def _tell(self, entry: Entry) -> list[ChatEvent]:
        self._seq = entry.seq
        events = self._teller.tell(entry)
        if entry.kind in ENDS:
            self.is_over = True
            if self._place.shown(entry.seq) < ALL:
                self.run = self._context.steward.runs.get(self._access.scope, self.run.id)
                events += self._conclude(self.run)
        return placed(self.run.id, entry.seq, events, self._place)

    def _status_change(self) -> list[ChatEvent]:
        run = self.run
        waits = run.waits or []
        shown = (run.status, [wait["key"] for wait in waits])
        if run.status.is_final or shown == self._status:
            return []
        self._status = shown
        about = {
            "run_id": run.id,
            "thread_id": self._thread_id,
            "status": run.status.value,
            "waits": waits,
        }
        at = max(Place(self._seq), self._place, key=lambda place: place.seq)
        return [ChatEvent("status", about, at.id(run.id))]

    # Text

    async def _new_text(self) -> list[ChatEvent]:
        live = self._context.steward.live
        found: Mapping[str, LiveText] = live.parts(self.run.id)
        if not found and live.is_shared:
            found = await to_thread.run_sync(live.read, self._access.scope, self.run.id)
        told: list[ChatEvent] = []
        for part, text in found.items():
            told += self._more_of(part, text)
        return told

    def _more_of(self, part: str, found: LiveText) -> list[ChatEvent]:
        beginning, length, offset = self._texts.get(part, (found.beginning, 0, 0))
        told: list[ChatEvent] = []
        if beginning != found.beginning:
            if length:
                told.append(ChatEvent("restart", {"part": part}))
            length = offset = 0
        new = found.text[length:]
        if new:
            told.append(ChatEvent("token", {"part": part, "offset": offset, "text": new}))
        self._texts[part] = (found.beginning, length + len(new), offset + utf16_length(new))
        return told

    # Rings across processes

    async def _follow_once(self) -> None:
        steward = self._context.steward
        await to_thread.run_sync(steward.runs.followed, self.run.id)
        await to_thread.run_sync(steward.bus.follow, live_topic(self.run.id))

    async def _keep_following(self) -> None:
        while True:
            await asyncio.sleep(_FOLLOW_SECONDS)
            await self._follow_once()


class _Bell:
    """Rings from other threads, heard in this loop; a second ring before the first was heard costs nothing."""

    def __init__(self) -> None:
        self.entries_rung = True
        self.text_rung = True
        self.fresh: deque[Entry] = deque()
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @property
    def has_entries(self) -> bool:
        """Whether the journal has something that was not looked at."""
        return self.entries_rung or bool(self.fresh)

    def entries(self) -> None:
        if not self.entries_rung:
            self.entries_rung = True
            self._wake()

    def written(self, entries: Sequence[Entry]) -> None:
        if len(self.fresh) + len(entries) > _PAGE:
            # Whoever reads slowly finds them in the database.
            self.fresh.clear()
            self.entries_rung = True
        else:
            self.fresh.extend(entries)
        self._wake()

    def take(self) -> list[Entry]:
        """What was handed over since the last time; the other thread may add meanwhile."""
        return [self.fresh.popleft() for _ in range(len(self.fresh))]

    def text(self) -> None:
        if not self.text_rung:
            self.text_rung = True
            self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


def _takes_time(entry: Entry) -> bool:
    """Whether telling of the entry reads payloads or the run."""
    return entry.kind in ENDS or any(blob_references(entry.data))


def waits_for_people(run: Run) -> list[dict[str, Any]]:
    """What a run that rests needs of somebody; time and other runs are not among it."""
    if run.status.is_final or run.status in {Status.queued, Status.running}:
        return []
    return [wait for wait in run.waits or [] if wait["kind"] in _PEOPLE]


def utf16_length(text: str) -> int:
    """As browsers count: what lies beyond the first plane counts twice."""
    return len(text) + sum(character > "\uffff" for character in text)
