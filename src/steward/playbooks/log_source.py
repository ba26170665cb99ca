"""Events of the project's own log as a source: what was committed, which run ended."""

import asyncio
from collections.abc import Callable

from steward.core import TYPE_PREFIX, Event
from steward.playbooks.trigger import Arrival, Looking, Source, Taken
from steward.runs import Json
from steward.store import topic
from steward.tools import BUS, EVENTS

_PAGE = 200
Read = Callable[[Event], Arrival | None]


class LogSource(Source):
    """Reads on from a cursor; misses nothing that is in the log, however long nobody looked."""

    def __init__(self, looking: Looking, read: Read) -> None:
        self._looking = looking
        self._read = read

    async def take(self, cursor: Json) -> Taken:
        looking = self._looking
        log, bus = looking.services.use(EVENTS), looking.services.use(BUS)
        if cursor is None:
            # What happened before it was deployed is not news.
            latest = await asyncio.to_thread(log.latest, looking.scope)
            return Taken(cursor=latest)
        loop, bell = asyncio.get_running_loop(), asyncio.Event()

        def ring() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(bell.set)

        with bus.listening(topic(looking.scope), ring):
            deadline = loop.time() + looking.patience
            while True:
                bell.clear()
                found = await asyncio.to_thread(log.after, looking.scope, cursor, _PAGE)
                arrivals = await asyncio.to_thread(self._arrivals, found)
                cursor = found[-1].cursor if found else cursor
                if arrivals or loop.time() >= deadline:
                    return Taken(tuple(arrivals), cursor)
                if len(found) < _PAGE:
                    try:
                        async with asyncio.timeout_at(min(deadline, loop.time() + 2.0)):
                            await bell.wait()
                    except TimeoutError:
                        continue

    def _arrivals(self, events: list[Event]) -> list[Arrival]:
        return [each for event in events if (each := self._read(event)) is not None]


def kind_of(event: Event) -> str:
    return event.type.removeprefix(TYPE_PREFIX)
