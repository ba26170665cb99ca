"""Traces of runs: those of long runs that are over from the database, others from journals as far as they have come."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

import sqlalchemy as sa
import structlog

from steward.core.errors import Invalid
from steward.observe.received_spans import ReceivedSpans
from steward.observe.span_trees import Family, SpanTrees
from steward.observe.spans import SpanReader
from steward.observe.trace_tree import ListedRows, Trace, preorder
from steward.runs import Run, Runs, Status
from steward.runs import _tables as run_tables
from steward.store import Database, Scope
from steward.trace.spans import Span

_log = structlog.get_logger("steward.observe")
_RUNS: Final = run_tables.runs.c
_FINAL: Final = [status.value for status in Status if status.is_final]
_LONG: Final = 1_000
"""Entries from which on a trace is stored: a shorter one is made from journals in a moment."""
_KEPT_SPANS: Final = 50_000
"""Over all traces in memory, the latest first; a larger trace is kept alone."""
_MOST_RUNS: Final = 20_000
_MOST_WAITING: Final = 1_000
_LOOK_SECONDS: Final = 1.0

Shows = Callable[[str | None], bool]
"""Says by its subject whether a run may be seen."""


@dataclass
class _Kept:
    """A trace in memory, and how to go on reading it."""

    lock: Lock = field(default_factory=Lock)
    family: Family | None = None
    readers: dict[str, SpanReader] = field(default_factory=dict)
    subjects: frozenset[str | None] = frozenset()
    """Of the runs in it, and of those next to them that are hidden."""
    hidden: frozenset[str | None] = frozenset()
    trace: Trace | None = None


class Traces:
    def __init__(
        self,
        database: Database,
        runs: Runs,
        trees: SpanTrees,
        received: ReceivedSpans,
        *,
        stored_from: int = _LONG,
    ) -> None:
        """Traces of so many entries and more are stored once their runs are over."""
        self._database = database
        self._runs = runs
        self._trees = trees
        self._received = received
        self._stored_from = stored_from
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
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
        return self._from_journals(run, family, shows)

    def store(self, scope: Scope, family: Family) -> str:
        """Makes the tree of runs that are over, unless it is there already; its id."""
        known = self._trees.find(scope, family)
        if known is not None:
            return known
        root = self._runs.get(scope, family.root_id)
        subjects: dict[str, str | None] = {}
        spans: list[tuple[Run, Span]] = []
        for run in self._below(root, lambda _: True):
            subjects[run.id] = run.subject
            reader = self._reader(run, root)
            reader.read(self._runs.journal.entries(scope, run.id))
            spans += ((run, span) for span in reader.spans(run))
        spans = self._received.joined(scope, root.id, spans)
        return self._trees.save(scope, family, preorder(spans), subjects)

    def note_end(self, run: Run) -> None:
        """A run has ended: if it was long, its trace is stored before anybody looks."""
        if run.parent_id is None:
            self._ended.append((run.scope, run.id))

    async def serve(self) -> None:
        """Stores traces of long runs that ended here, until it is cancelled."""
        while True:
            while self._ended:
                await asyncio.to_thread(self._store_ended, *self._ended.popleft())
            await asyncio.sleep(_LOOK_SECONDS)

    def _store_ended(self, scope: Scope, root_id: str) -> None:
        try:
            family = self._family(scope, root_id)
            if self._is_stored(family):
                self.store(scope, family)
        except Exception:  # noqa: BLE001
            # Whoever looks at it gets the same error; other traces go on.
            _log.exception("trace_not_stored", run_id=root_id)

    def _is_stored(self, family: Family) -> bool:
        is_long = family.entries >= self._stored_from
        return family.is_over and is_long and family.runs <= _MOST_RUNS

    def _family(self, scope: Scope, root_id: str) -> Family:
        is_live = sa.case((_RUNS.status.in_(_FINAL), 0), else_=1)
        statement = sa.select(
            sa.func.count().label("runs"),
            sa.func.sum(_RUNS.head_seq).label("entries"),
            sa.func.sum(is_live).label("live"),
        ).where(_RUNS.root_id == root_id)
        with self._database.read(scope) as tx:
            [row] = tx.rows(statement)
            entries = int(row.entries or 0) + self._received.count(tx, root_id)
        return Family(root_id, int(row.runs), entries, not row.live)

    def _from_journals(self, run: Run, family: Family, shows: Shows) -> Trace:
        with self._lock:
            kept = self._kept.setdefault(run.id, _Kept())
            self._kept.move_to_end(run.id)
        # Those who look at the same trace wait for the one who reads it, instead of reading it beside.
        with kept.lock:
            hidden = frozenset(each for each in kept.subjects if not shows(each))
            trace = kept.trace
            if trace is None or kept.family != family or kept.hidden != hidden:
                try:
                    trace = self._read(kept, run, shows)
                except BaseException:
                    with self._lock:
                        self._kept.pop(run.id, None)
                    raise
                kept.family = family
        self._drop_old()
        return trace

    def _read(self, kept: _Kept, run: Run, shows: Shows) -> Trace:
        spans: list[tuple[Run, Span]] = []
        subjects: set[str | None] = set()
        readers: dict[str, SpanReader] = {}
        is_over = True

        def seen(child: Run) -> bool:
            subjects.add(child.subject)
            return shows(child.subject)

        for count, each in enumerate(self._below(run, seen)):
            if count >= _MOST_RUNS:
                raise Invalid(
                    f"This run started more than {_MOST_RUNS:,} others. Open the trace of one of them."
                )
            is_over = is_over and each.status.is_final
            reader = kept.readers.get(each.id) or self._reader(each, run)
            if each.head_seq > reader.seq:
                reader.read(self._runs.journal.entries(each.scope, each.id, after=reader.seq))
            readers[each.id] = reader
            spans += ((each, span) for span in reader.spans(each))
        spans = self._received.joined(run.scope, run.root_id, spans)
        start = min((span.start for _, span in spans), default=run.created_at)
        end = max((span.end for _, span in spans), default=run.created_at)
        trace = kept.trace = Trace(ListedRows(preorder(spans)), start, end, is_over)
        kept.readers = {} if is_over else readers
        kept.subjects = frozenset({run.subject, *subjects})
        kept.hidden = frozenset(each for each in kept.subjects if not shows(each))
        return trace

    def _reader(self, run: Run, root: Run) -> SpanReader:
        return SpanReader(run, root.id, self._runs.payload, detail=True)

    def _below(self, run: Run, seen: Callable[[Run], bool]) -> Iterator[Run]:
        """The run, and all below it that may be seen."""
        yield run
        before: str | None = None
        while True:
            children = self._runs.records.listed(run.scope, parent=run.id, before=before, limit=200)
            for child in filter(seen, children):
                yield from self._below(child, seen)
            if len(children) < 200:
                return
            before = children[-1].id

    def _drop_old(self) -> None:
        with self._lock:
            while len(self._kept) > 1 and self._spans_kept() > _KEPT_SPANS:
                self._kept.popitem(last=False)

    def _spans_kept(self) -> int:
        traces = [each.trace for each in self._kept.values()]
        return sum(len(trace.rows) for trace in traces if trace is not None)
