"""Text that a model is just writing: shown while it comes, kept nowhere once its step is in the journal.

Within a process it lives in memory. Where processes share a PostgreSQL database it also goes through a small table,
a few times a second, so that whoever serves the browser can follow what another process drives.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from steward.agents.chat import _tables as tables
from steward.broker import Scrubber
from steward.core import Clock, StewardError
from steward.models import Delta
from steward.runs import runs_table
from steward.store import EVERYWHERE, Bus, Database, Scope

LONGEST: Final = 200_000
"""Characters of a part that are shown live; the journal has the rest."""
TRYING: Final = "trying"
"""The part that says why a model has not answered yet."""
_KEPT_RUNS: Final = 500
_STORE_SECONDS: Final = 0.25
_STALE: Final = timedelta(hours=1)
_L = tables.live_texts.c
_R = runs_table.c


@dataclass(frozen=True)
class LiveText:
    """What there is of a part; another beginning means that earlier text is void."""

    beginning: int
    text: str


class Live:
    def __init__(self, database: Database, bus: Bus, clock: Clock) -> None:
        self._database = database
        self._bus = bus
        self._clock = clock
        self._shared = not database.is_sqlite
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, dict[str, _Part]] = OrderedDict()
        self._unstored: set[tuple[str, str]] = set()
        self._storing: asyncio.Task[None] | None = None
        self._stored_at = 0.0

    async def write(self, run_id: str, part: str, text: str) -> None:
        """Adds to a part."""
        with self._lock:
            self._part(run_id, part).add(text)
        self._changed(run_id, part)

    async def restart(self, run_id: str, part: str) -> None:
        """The part begins anew: a model is asked again. Nothing happens where nothing was shown."""
        with self._lock:
            parts = self._runs.get(run_id)
            if not self._shared and (parts is None or part not in parts):
                return
            self._part(run_id, part).begin(self._moment())
        self._changed(run_id, part)

    async def answered(self, run_id: str) -> None:
        """A model has answered or was given up: nothing is to be said about waiting for it any more."""
        with self._lock:
            told = self._runs.get(run_id, {}).get(TRYING)
        if told is not None and told.text:
            await self.restart(run_id, TRYING)

    async def forget(self, run_id: str) -> None:
        """Once a run is over; what is forgotten by nobody goes by itself after a while."""
        with self._lock:
            known = self._runs.pop(run_id, None)
            self._unstored = {(run, part) for run, part in self._unstored if run != run_id}
        if self._shared and known:
            await asyncio.to_thread(self._delete, run_id)

    def writer(
        self, run_id: str, part: str | None, scrubber: Scrubber | None = None
    ) -> "LiveWriter":
        """For `ModelDesk.request(on_delta=…)`: shows the text of one request, from its first piece on.

        Without a part the text is nobody's to read; why it takes longer is told all the same.
        """
        return LiveWriter(self, run_id, part, scrubber or Scrubber(()))

    def snapshot(self, run_id: str) -> dict[str, str]:
        """The text of each part, as far as it was written by this process."""
        return {part: found.text for part, found in self.parts(run_id).items()}

    def parts(self, run_id: str) -> dict[str, LiveText]:
        with self._lock:
            found = self._runs.get(run_id, {})
            return {name: LiveText(part.beginning, part.text) for name, part in found.items()}

    def read(self, scope: Scope, run_id: str) -> Mapping[str, LiveText]:
        """The same, from the table where another process writes; may block."""
        own = self.parts(run_id)
        if own or not self._shared:
            return own
        statement = sa.select(tables.live_texts).where(_L.run_id == run_id).order_by(_L.part)
        with self._database.read(scope) as tx:
            return {row.part: LiveText(row.beginning, row.text) for row in tx.rows(statement)}

    @property
    def is_shared(self) -> bool:
        """Whether text may come from another process."""
        return self._shared

    @contextmanager
    def listening(self, run_id: str, listener: Callable[[], None]) -> Iterator[None]:
        """Calls the listener whenever there is more text."""
        with self._bus.listening(live_topic(run_id), listener):
            yield

    # Inside this process

    def _part(self, run_id: str, part: str) -> "_Part":
        parts = self._runs.setdefault(run_id, {})
        self._runs.move_to_end(run_id)
        while len(self._runs) > _KEPT_RUNS:
            self._runs.popitem(last=False)
        if part not in parts:
            parts[part] = _Part(self._moment())
        return parts[part]

    def _moment(self) -> int:
        # Two processes that write one part in turn must not begin at the same number.
        return int(self._clock.now().timestamp() * 1_000_000)

    def _changed(self, run_id: str, part: str) -> None:
        self._bus.wake(live_topic(run_id))
        if not self._shared:
            return
        with self._lock:
            self._unstored.add((run_id, part))
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store_soon())

    # Across processes

    async def _store_soon(self) -> None:
        while self._unstored:
            wait = self._stored_at + _STORE_SECONDS - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            self._stored_at = time.monotonic()
            # Text that is not shown elsewhere is late, not lost: the journal gets it all the same.
            with suppress(StewardError):
                await asyncio.to_thread(self._store)

    def _store(self) -> None:
        with self._lock:
            wanted, self._unstored = self._unstored, set()
            texts = [
                (run_id, name, self._runs[run_id][name].shown())
                for run_id, name in sorted(wanted)
                if name in self._runs.get(run_id, {})
            ]
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            for run_id, name, found in texts:
                row = sa.select(
                    _R.org_id,
                    _R.project_id,
                    _R.id,
                    sa.literal(name),
                    sa.literal(found.beginning, sa.BigInteger()),
                    sa.literal(found.text, sa.Text()),
                    sa.literal(now, _L.written_at.type),
                ).where(_R.id == run_id)
                added = insert(tables.live_texts).from_select(
                    ["org_id", "project_id", "run_id", "part", "beginning", "text", "written_at"],
                    row,
                )
                tx.execute(
                    added.on_conflict_do_update(
                        index_elements=[_L.run_id, _L.part],
                        set_={
                            "beginning": added.excluded.beginning,
                            "text": added.excluded.text,
                            "written_at": added.excluded.written_at,
                        },
                    )
                )
            tx.execute(sa.delete(tables.live_texts).where(_L.written_at < now - _STALE))
            topics = dict.fromkeys(live_topic(run_id) for run_id, _, _ in texts)
            self._bus.ring_all(tx, self._bus.wanted(list(topics)))

    def _delete(self, run_id: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(tables.live_texts).where(_L.run_id == run_id))


class LiveWriter:
    """Shows the text of one request without secrets: a word is shown once it is whole and can be searched."""

    def __init__(self, live: Live, run_id: str, part: str | None, scrubber: Scrubber) -> None:
        self._live = live
        self._run_id = run_id
        self._part = part
        self._scrubber = scrubber
        self._held = ""
        self._has_begun = self._is_waiting = False

    async def __call__(self, delta: Delta) -> None:
        if self._is_waiting or delta.kind == "trying":
            self._is_waiting = delta.kind == "trying"
            await self._live.restart(self._run_id, TRYING)
        if self._is_waiting:
            await self._live.write(self._run_id, TRYING, self._scrubber.text(delta.text))
            return
        if self._part is None:
            return
        if not self._has_begun or delta.kind == "restart":
            self._has_begun, self._held = True, ""
            await self._live.restart(self._run_id, self._part)
        if delta.kind == "text" and delta.text:
            self._held += delta.text
            await self._show(self._scrubber.settled(self._held))

    async def finish(self) -> None:
        """The answer is whole: what was held back is shown."""
        await self._show(len(self._held))

    async def _show(self, size: int) -> None:
        text, self._held = self._held[:size], self._held[size:]
        if text and self._part is not None:
            await self._live.write(self._run_id, self._part, self._scrubber.text(text))


class _Part:
    """Pieces are put together when somebody reads, not at every piece."""

    def __init__(self, beginning: int) -> None:
        self.beginning = beginning
        self._pieces: list[str] = []
        self._length = 0

    def begin(self, moment: int) -> None:
        self.beginning = max(self.beginning + 1, moment)
        self._pieces, self._length = [], 0

    def add(self, text: str) -> None:
        room = LONGEST - self._length
        if room > 0:
            self._pieces.append(text[:room])
            self._length += min(len(text), room)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def shown(self) -> LiveText:
        return LiveText(self.beginning, self.text)


def live_topic(run_id: str) -> str:
    return f"live/{run_id}"
