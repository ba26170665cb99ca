"""Feeds a process and drains what it says, over pipes that it can neither block nor fill without limit."""

import os
import select
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

_PIECE: Final = 1 << 16


@dataclass
class Stream:
    """What was said on one pipe, kept up to a limit; the rest is counted."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def take(self, piece: bytes) -> None:
        room = self.limit - len(self.kept)
        self.kept += piece[:room]
        self.dropped += max(len(piece) - room, 0)

    @property
    def text(self) -> str:
        return self.kept.decode("utf-8", "replace")


class Exchange:
    """One conversation. `fed` closes the pipe to the process; `watched` are descriptors that may end the waiting."""

    def __init__(
        self,
        given: bytes,
        feed: int,
        fed: Callable[[], None],
        outputs: Mapping[int, Stream],
        watched: Iterable[int],
    ) -> None:
        self._pending = memoryview(given)
        self._feed_to = feed
        self._fed = fed
        self._outputs = outputs
        self._watched = set(watched)
        self.open = set(outputs)
        self._poll = select.poll()
        for descriptor in (*outputs, feed):
            os.set_blocking(descriptor, False)
        for descriptor in (*outputs, *self._watched):
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(feed, select.POLLOUT)

    def step(self, seconds: float) -> set[int]:
        """Waits until something happens; gives the outputs that ended and the watched descriptors that are ready."""
        ready = {found for found, _ in self._poll.poll(seconds * 1000)}
        if self._feed_to in ready:
            self._feed()
        ended = {each for each in ready & self.open if not self._read(each)}
        for descriptor in ended:
            self._poll.unregister(descriptor)
        self.open -= ended
        return ended | (ready & self._watched)

    def drain(self) -> None:
        """Takes what lies in the pipes already; a pipe holds little, so this ends."""
        for descriptor, stream in self._outputs.items():
            for _ in range(64):
                try:
                    piece = os.read(descriptor, _PIECE)
                except (BlockingIOError, OSError):
                    break
                if not piece:
                    break
                stream.take(piece)

    def _feed(self) -> None:
        try:
            self._pending = self._pending[os.write(self._feed_to, self._pending[:_PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = self._pending[:0]
        if not self._pending:
            self._poll.unregister(self._feed_to)
            self._feed_to = -1
            self._fed()

    def _read(self, descriptor: int) -> bool:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return True
        self._outputs[descriptor].take(piece)
        return bool(piece)
