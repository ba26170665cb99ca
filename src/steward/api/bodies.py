"""Request bodies: at most so large, not nested without end, and not sent drop by drop."""

import asyncio
from collections.abc import Iterator
from typing import Final

from anyio import from_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from steward.core import (
    Invalid,
    StewardError,
    TooLarge,
    TooSlow,
    require_bounded,
    require_unique_keys,
)

LEAST_BYTES: Final = 1024
"""What has to arrive of a body within the time that is allowed for it, unless it ends."""
MOST_VALUES: Final = 20_000
"""Values in a body of JSON: it is read in the loop that serves everybody, and before it is known who sends it."""


class Refused(HTTPException):
    """A body that is not read to its end; the framework lets only exceptions of this kind pass."""

    def __init__(self, error: StewardError) -> None:
        super().__init__(400)
        self.error = error


class Body:
    """Stands between the server and whoever reads a request's body."""

    def __init__(
        self, receive: Receive, headers: Headers, *, largest: int, seconds: float, raw: bool = False
    ) -> None:
        """`raw`: a file, whatever the sender calls it."""
        declared = headers.get("content-length", "0")
        if not declared.isdigit():
            raise Invalid("The Content-Length header is not a number.")
        self._largest = largest
        if int(declared) > largest:
            raise self._too_large()
        self._receive = receive
        self._seconds = seconds
        # What the framework reads as JSON is looked at before; everything else has a reader of its own.
        self._is_json = not raw and "json" in headers.get("content-type", "json").lower()
        self._kept: list[bytes] = []
        self._seen = 0
        self._due = 0.0
        self._wanted = 0
        self._is_complete = False

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        try:
            message = await self._in_time()
            self._look_at(message)
        except StewardError as error:
            raise Refused(error) from None
        return message

    async def _in_time(self) -> Message:
        now = asyncio.get_running_loop().time()
        if self._seen >= self._wanted:
            self._due = now + self._seconds
            self._wanted = self._seen + LEAST_BYTES
        try:
            async with asyncio.timeout_at(self._due):
                return await self._receive()
        except TimeoutError:
            raise TooSlow(
                f"The request's body did not arrive: less than {LEAST_BYTES} bytes in "
                f"{self._seconds:g} seconds. Send it again."
            ) from None

    def _look_at(self, message: Message) -> None:
        content = message.get("body", b"")
        self._seen += len(content)
        if self._seen > self._largest:
            raise self._too_large()
        self._is_complete = not message.get("more_body", False)
        if not self._is_json:
            return
        self._kept.append(content)
        if self._is_complete:
            content = b"".join(self._kept)
            require_bounded(content, most_values=MOST_VALUES)
            require_unique_keys(content)
            self._kept.clear()

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The request is larger than {self._largest:,} bytes.")


def chunks_of(
    request: Request, most: int | None = None, too_large: TooLarge | None = None
) -> Iterator[bytes]:
    """A request's body as it comes, for routes that run in a thread; stops reading after `most` bytes."""
    stream = request.stream()
    size = 0
    while True:
        try:
            piece = from_thread.run(stream.__anext__)
        except StopAsyncIteration:
            return
        size += len(piece)
        if most is not None and size > most:
            raise too_large or TooLarge(f"The file is larger than {most:,} bytes.")
        if piece:
            yield piece


def bytes_of(request: Request, most: int) -> bytes:
    """A request's whole body, for routes that run in a thread; stops reading where no file could go on."""
    return b"".join(chunks_of(request, most))
