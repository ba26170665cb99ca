"""The port through which workers hear that a run is to be driven; what is due is read from SQL all the same.

Within one process and over LISTEN/NOTIFY the bus is enough: everybody hears a ring and claims what is due. A doorbell
hands "drive run R" to one worker that has room, and to another one when the first falls silent. Losing it loses time,
never work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True)
class Call:
    """A request to drive a run."""

    run_id: str
    queue: str
    priority: int
    wake: str
    """Names the reason: a call that is made twice for one reason is delivered once."""


class Delivery(Protocol):
    """A call in the hands of one worker."""

    @property
    def run_id(self) -> str: ...

    async def keep(self) -> None:
        """Says that the worker is still at it."""
        ...

    async def done(self) -> None: ...

    async def again(self, after: float) -> None:
        """Gives the call back; somebody gets it after so many seconds."""
        ...


class Line(Protocol):
    """A worker's end of the doorbell."""

    @property
    def connected(self) -> bool: ...

    async def open(self, ring: Callable[[], None]) -> None:
        """Starts to listen; `ring` is called when there may be something to take."""
        ...

    async def take(self, most: int) -> Sequence[Delivery]:
        """At most so many of the calls that wait, the most urgent first."""
        ...

    async def close(self) -> None: ...


class Doorbell(Protocol):
    def ring(self, call: Call) -> None:
        """Best effort, from any thread, without waiting."""
        ...

    def line(self, queues: Sequence[str], lease: timedelta) -> Line: ...

    def close(self) -> None: ...
