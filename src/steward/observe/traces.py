"""Traces of runs: those of long runs that are over from the database, others from journals as far as they have come."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Event, Lock, Thread
from typing import Final

import sqlalchemy as sa
import structlog

from steward.observe.growing_rows import GrowingRows, Placed
from steward.observe.live_traces import MOST_RUNS, LiveTraces, Shows
from steward.observe.received_spans import ReceivedSpans
from steward.observe.span_trees import Family, SpanTrees
from steward.observe.spans import SpanReader
from steward.observe.trace_tree import Reading, Trace
from steward.runs import Entry, Run, Runs, Status, runs_table
from steward.store import Database, Scope

_log = structlog.get_logger("steward.observe")
_RUNS: Final = runs_table.c
_FINAL: Final = [status.value for status in Status if status.is_final]
_LONG: Final = 1_000
"""Entries from which on a trace is stored: a shorter one is made from journals in a moment."""
_FIRST: Final = 2_000
"""Entries that a first look reads while a longer trace is still on its way into the database."""
_MOST_WAITING: Final = 1_000
_LOOK_SECONDS: Final = 1.0


@dataclass
class TraceStore:
    """A trace on its way into the database, with what can be seen of it until then."""

    entries: int
    read: int = 0
    failed: bool = False
    may_begin: Event = field(default_factory=Event)
    """Set once the first look is done, which it would slow down."""
    over: Event = field(default_factory=Event)

    def counted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            self.read += 1
            yield entry


class Traces:
    def __init__(
        self,
        database: Database,
        runs: Runs,
        trees: SpanTrees,
        received: ReceivedSpans,
        *,
        stored_from: int = _LONG,
        first: int = _FIRST,
    ) -> None:
        """Traces of `stored_from` entries and more are stored once their runs are over.

        A first look at one of more than `first` entries does not wait for that.
        """
        self._database = database
        self._runs = runs
        self._trees = trees
        self._received = received
        self._stored_from = stored_from
        self._first = first
        self._storing: dict[str, TraceStore] = {}
        self._live = LiveTraces(database, runs, received)
        self._following: set[str] = set()
        self._lock = Lock()
        self._ended: deque[tuple[Scope, str]] = deque(maxlen=_MOST_WAITING)

    def trace(self, scope: Scope, run_id: str, shows: Shows) -> Trace:
        """The spans of a run and of all runs that it started and that may be seen."""
        run = self._runs.get(scope, run_id)
        family = self._family(scope, run.root_id)
        if self._is_stored(family):
            found = self._trees.trace(scope, self.store(scope, family), run.id, shows)
            if found is not None:
                return found
        return self._live.trace(run, family, shows)

    def look(self, scope: Scope, run_id: str, shows: Shows) -> Trace:
        """The same for a person who should not wait: of a long trace that is not read yet only the first spans."""
        run = self._runs.get(scope, run_id)
        family = self._family(scope, run.root_id)
        if family.entries <= self._first or family.runs > MOST_RUNS:
            return self.trace(scope, run_id, shows)
        if not self._is_stored(family):
            found = self._live.trace(run, family, shows, self._first)
            if found.reading is not None:
                self._follow(run, family, shows)
            return found
        if self._trees.find(scope, family) is not None:
            return self.trace(scope, run_id, shows)
        storing = self._begin(scope, family)
        if storing.failed:
            # Whoever looks again sees why.
            with self._lock:
                self._storing.pop(family.root_id, None)
            return self.trace(scope, run_id, shows)
        try:
            # Those who watched it to its end have all of it already.
            found = self._live.trace(run, family, shows, self._first)
        finally:
            storing.may_begin.set()
        if found.reading is None:
            return found
        read = max(storing.read, found.reading.read)
        return replace(found, reading=Reading(read, storing.entries))

    def _follow(self, run: Run, family: Family, shows: Shows) -> None:
        """Reads the rest of a long run that is under way, in parts, between which others look."""
        with self._lock:
            if run.id in self._following:
                return
            self._following.add(run.id)

        def read_on() -> None:
            try:
                while self._live.trace(run, family, shows, self._first).reading is not None:
                    pass
            except Exception:  # noqa: BLE001
                # Whoever looks next reads on, and gets the same error.
                _log.exception("trace_not_read", run_id=run.id)
            finally:
                with self._lock:
                    self._following.discard(run.id)

        Thread(target=read_on, name="steward-trace-reading", daemon=True).start()

    def settle(self, run_id: str) -> None:
        """Waits until the trace of a run that somebody looked at is stored."""
        with self._lock:
            storing = self._storing.get(run_id)
        if storing is not None:
            storing.over.wait()

    def _begin(self, scope: Scope, family: Family) -> TraceStore:
        """Stores a trace in a thread of its own; once, however many ask."""
        with self._lock:
            known = self._storing.get(family.root_id)
            if known is not None:
                return known
            storing = self._storing[family.root_id] = TraceStore(family.entries)
        Thread(
            target=self._store_beside,
            args=(scope, family, storing),
            name="steward-trace-storing",
            daemon=True,
        ).start()
        return storing

    def _store_beside(self, scope: Scope, family: Family, storing: TraceStore) -> None:
        storing.may_begin.wait()
        try:
            self.store(scope, family, storing)
            with self._lock:
                self._storing.pop(family.root_id, None)
        except Exception:  # noqa: BLE001
            # Whoever looks at it gets the same error; other traces go on.
            storing.failed = True
            _log.exception("trace_not_stored", run_id=family.root_id)
        finally:
            storing.over.set()

    def store(self, scope: Scope, family: Family, storing: TraceStore | None = None) -> str:
        """Makes the tree of runs that are over, unless it is there already; its id."""
        known = self._trees.find(scope, family)
        if known is not None:
            return known
        storing = storing or TraceStore(family.entries)
        rows, spans, root_id = GrowingRows(), list[Placed](), family.root_id
        members = self._live.members(scope, family)
        for _, run in self._live.runs(scope, members.below(root_id, lambda _: True)):
            reader = SpanReader(run, root_id, self._runs.payload, detail=True)
            reader.read(storing.counted(self._runs.journal.entries(scope, run.id)))
            spans += reader.changed(run)[0]
        rows.add(spans)
        if family.received:
            rows.add(self._received.below(scope, root_id, rows.spans(), is_whole=True))
        subjects = {member.id: member.subject for member in members.by_id.values()}
        return self._trees.save(scope, family, list(rows), subjects)

    def note_end(self, run: Run) -> None:
        """A run has ended: if it was long, its trace is stored before anybody looks."""
        if run.parent_id is None:
            self._ended.append((run.scope, run.id))

    async def serve(self) -> None:
        """Stores traces of long runs that ended here, until it is cancelled."""
        while True:
            ended: dict[Scope, list[str]] = {}
            while self._ended:
                scope, root_id = self._ended.popleft()
                ended.setdefault(scope, []).append(root_id)
            for scope, root_ids in ended.items():
                await asyncio.to_thread(self._store_ended, scope, root_ids)
            await asyncio.sleep(_LOOK_SECONDS)

    def _store_ended(self, scope: Scope, root_ids: list[str]) -> None:
        """Most runs are short: which of them are not is asked once for all that ended within a second."""
        try:
            families = self._families(scope, root_ids)
        except Exception:  # noqa: BLE001
            # They are stored when somebody looks at them; those that end later go on.
            _log.exception("traces_not_stored", runs=len(root_ids))
            return
        for family in families:
            if self._is_stored(family):
                storing = self._begin(scope, family)
                storing.may_begin.set()
                storing.over.wait()

    def _is_stored(self, family: Family) -> bool:
        is_long = family.entries >= self._stored_from
        return family.is_over and is_long and family.runs <= MOST_RUNS

    def _family(self, scope: Scope, root_id: str) -> Family:
        [family] = self._families(scope, [root_id])
        return family

    def _families(self, scope: Scope, root_ids: list[str]) -> list[Family]:
        is_live = sa.case((_RUNS.status.in_(_FINAL), 0), else_=1)
        statement = (
            sa.select(
                _RUNS.root_id,
                sa.func.count().label("runs"),
                sa.func.sum(_RUNS.head_seq).label("entries"),
                sa.func.sum(is_live).label("live"),
            )
            .where(_RUNS.root_id.in_(root_ids))
            .group_by(_RUNS.root_id)
        )
        with self._database.read(scope) as tx:
            found = {row.root_id: row for row in tx.rows(statement)}
            received = self._received.counts(tx, root_ids)
        families = []
        for root_id in root_ids:
            row = found.get(root_id)
            runs, entries, live = (row.runs, row.entries, row.live) if row else (0, 0, 0)
            others = received.get(root_id, 0)
            entries = int(entries or 0) + others
            families.append(Family(root_id, int(runs), entries, not live, others))
        return families
