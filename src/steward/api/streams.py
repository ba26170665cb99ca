"""Event streams: server-sent events for readers that read, so many at a time for each person."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from steward.core import RateLimited

STALLED_SECONDS: Final = 60.0
"""A reader that takes nothing for so long has gone."""
_RETRY_SECONDS: Final = 5


class StreamPlaces:
    """How many streams each person holds open on this server; used in the server's loop only.

    A new stream is refused rather than an old one closed: pages that were closed would come back at once and
    close each other in turn, while a page that is refused waits until another one has gone.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def require(self, user_id: str) -> None:
        """Refuses a person who has all their streams open; before a stream has something to begin."""
        if self._open[user_id] >= self._most:
            raise RateLimited(
                f"You follow {self._most} streams of events already. Close a page or a program that "
                "follows one, and try again.",
                retry_after_seconds=_RETRY_SECONDS,
                code="too-many-streams",
            )

    @contextmanager
    def taken(self, user_id: str) -> Iterator[None]:
        self.require(user_id)
        self._open[user_id] += 1
        try:
            yield
        finally:
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]


class EventStream(StreamingResponse):
    """Server-sent events for one person."""

    def __init__(self, places: StreamPlaces, user_id: str, frames: AsyncIterator[str]) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(frames, media_type="text/event-stream", headers=headers)
        self._places = places
        self._user_id = user_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._places.taken(self._user_id):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        async def patiently(message: Message) -> None:
            # The timeout is an OSError, which the framework takes for a reader that hung up.
            async with asyncio.timeout(STALLED_SECONDS):
                await send(message)

        await super().stream_response(patiently)
