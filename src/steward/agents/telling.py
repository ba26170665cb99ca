"""Passes what a model writes on to whoever watches the run, piece by piece; nothing of it is recorded."""

from typing import Protocol

from steward.models import Delta, OnDelta
from steward.runs import Execution


class Live(Protocol):
    """Where unfinished text is kept for watchers; see `agents.live`."""

    async def write(self, run_id: str, part: str, text: str) -> None:
        """Adds a piece to a part."""
        ...

    async def restart(self, run_id: str, part: str) -> None:
        """What was written of the part does not count."""
        ...


class Telling:
    """Watchers by run and part; without a place to keep text, nothing is shown before it is recorded."""

    def __init__(self, live: Live | None = None) -> None:
        self._live = live

    def watcher(self, execution: Execution, part: str) -> OnDelta | None:
        if self._live is None or execution.replaying:
            return None
        live, run_id = self._live, execution.run.id

        async def watch(delta: Delta) -> None:
            if delta.kind == "restart":
                await live.restart(run_id, part)
            elif delta.kind == "text" and delta.text:
                await live.write(run_id, part, delta.text)

        return watch
