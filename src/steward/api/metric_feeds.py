"""Figures as they change, pushed to any number of readers: one look at the database for all who see the same.

A reader is one number. Readers who are level get the same bytes; one who reads slowly gets fewer and larger patches; one
who does not read at all is let go after a while and may ask again from its number.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from steward.core import TYPE_PREFIX, StewardError
from steward.observe import LiveFigures, Look, Visible
from steward.store import Bus, EventLog, Scope, topic
from steward.trace import get_logger

_log = get_logger("steward.metrics")

TICK_SECONDS: Final = 0.25
"""Between two looks, and between two messages to one reader."""
HEARTBEAT_SECONDS: Final = 15.0
"""Hours end and leases run out without an event; and a reader's rights are looked at again."""
_MOST_IDLE: Final = 32
"""Feeds that are kept for those who ask now and then, such as readers that were let go."""


_OWN_NOUNS: Final = frozenset({"alert", "approval", "run", "trigger"})
"""Events of these change figures, and nobody's rights."""


@dataclass(frozen=True)
class Key:
    """Whose figures: people with the same key see the same."""

    scope: Scope
    hours: int
    visible: Visible


class Feeds:
    """All feeds of a server; used in its loop only."""

    def __init__(self, make: Callable[[Key], "Feed"]) -> None:
        self._make = make
        self._feeds: OrderedDict[Key, Feed] = OrderedDict()

    def __len__(self) -> int:
        return len(self._feeds)

    def feed(self, key: Key) -> "Feed":
        found = self._feeds.get(key)
        if found is None:
            found = self._feeds[key] = self._make(key)
        self._feeds.move_to_end(key)
        idle = [each for each, feed in self._feeds.items() if not feed.readers]
        for each in idle[:-_MOST_IDLE]:
            del self._feeds[each]
        return found


class Feed:
    """The figures of one key, looked at when something happens while somebody follows them."""

    def __init__(self, figures: LiveFigures, scope: Scope, events: EventLog, bus: Bus) -> None:
        self.figures = figures
        self.readers = 0
        self.rights = 0
        """Rises when something happened that may change who sees what."""
        self._scope = scope
        self._events = events
        self._bus = bus
        self._cursor: int | None = None
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._rung = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._message: tuple[int, int, str] = (-1, -1, "")
        self._looked_at = float("-inf")

    @property
    def has_looked(self) -> bool:
        return self._cursor is not None

    async def look(self) -> None:
        """Brings the figures up to date; several who ask at once share one look."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with self._turn:
            if self._looked_at >= asked:
                return
            began = loop.time()
            found, may_differ, cursor = await asyncio.to_thread(self._look)
            # Together, and not in the thread: whoever looks may be gone before the thread is done.
            self.rights += may_differ
            before = self.figures.document.number
            self.figures.apply(found)
            self._cursor, self._looked_at = cursor, began
            if may_differ or self.number != before:
                self._changed.set()
                self._changed = asyncio.Event()

    def _look(self) -> tuple[Look, bool, int]:
        cursor = self._cursor
        if cursor is None:
            latest = self._events.latest(self._scope)
            return self.figures.look(), False, latest
        may_differ = False
        while events := self._events.after(self._scope, cursor):
            cursor = events[-1].cursor or cursor
            nouns = {each.type.removeprefix(TYPE_PREFIX).partition(".")[0] for each in events}
            may_differ = may_differ or not nouns <= _OWN_NOUNS
        return self.figures.look(), may_differ, cursor

    @property
    def number(self) -> int:
        return self.figures.document.number

    def message(self, number: int | None) -> tuple[int, str]:
        """What a reader at a number lacks, as text; readers at the same number share it."""
        since, until, text = self._message
        if number is None or (since, until) != (number, self.number):
            patch = self.figures.document.since(number)
            body = {"number": patch.number, "patch": patch.operations}
            text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
            if number is not None:
                self._message = (number, patch.number, text)
        return self.number, text

    async def wait(self, number: int, seconds: float) -> bool:
        """Until there is more than a number, or rights may differ; False when neither happens for so long."""
        if self.number != number:
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    @contextmanager
    def followed(self) -> Iterator[None]:
        self.readers += 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            yield
        finally:
            self.readers -= 1
            if not self.readers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _keep_looking(self) -> None:
        loop = asyncio.get_running_loop()

        def ring() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._rung.set)

        with self._bus.listening(topic(self._scope), ring):
            while True:
                self._rung.clear()
                try:
                    await self.look()
                except StewardError as problem:
                    # The database is away for a moment: readers keep what they have.
                    _log.warning("figures_not_read", error=problem.message)
                await asyncio.sleep(TICK_SECONDS)
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await self._rung.wait()
                except TimeoutError:
                    continue
