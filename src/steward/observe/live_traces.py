"""Traces in memory, read on from where they were read to: a look costs what happened since the last one."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Final

import sqlalchemy as sa

from steward.core import Invalid
from steward.observe.growing_rows import GrowingRows, Placed
from steward.observe.received_spans import ReceivedSpans
from steward.observe.span_trees import Family
from steward.observe.spans import SpanReader
from steward.observe.trace_tree import Bucket, Reading, Trace
from steward.runs import Run, Runs, Status, runs_table
from steward.store import Database, Scope

_RUNS: Final = runs_table.c
_KEPT_SPANS: Final = 50_000
"""Over all traces in memory, the latest first; a larger trace is kept alone."""
_KEPT_FAMILIES: Final = 100
_AT_ONCE: Final = 200
_REDRAWN: Final = 50
"""The picture of a trace that grows is drawn again once one in so many of its spans is new."""
MOST_RUNS: Final = 20_000

Shows = Callable[[str | None], bool]
"""Says by its subject whether a run may be seen."""


@dataclass(frozen=True, slots=True)
class Member:
    """A run of a family: what says whether there is more of it to read."""

    id: str
    parent_id: str | None
    head_seq: int
    is_final: bool
    subject: str | None


@dataclass(frozen=True)
class Members:
    family: Family
    by_id: dict[str, Member]
    children: dict[str | None, list[Member]]
    subjects: frozenset[str | None]

    def below(self, run_id: str, shows: Shows) -> Iterator[Member]:
        """A run, and all below it that may be seen; each after the one that started it."""
        stack = [self.by_id[run_id]]
        while stack:
            member = stack.pop()
            yield member
            stack += [each for each in self.children.get(member.id, ()) if shows(each.subject)]


@dataclass
class _Kept:
    lock: Lock = field(default_factory=Lock)
    family: Family | None = None
    rows: GrowingRows = field(default_factory=GrowingRows)
    readers: dict[str, SpanReader] = field(default_factory=dict)
    final: set[str] = field(default_factory=set)
    """Runs that were over when they were read."""
    read: int = 0
    is_left: bool = True
    """Whether there is more to read."""
    is_over: bool = False
    trace: Trace | None = None
    drawn_at: int = 0
    """How many changes there were when the picture was drawn."""
    made_at: int = 0
    """How many there were when the trace was made."""


class LiveTraces:
    def __init__(self, database: Database, runs: Runs, received: ReceivedSpans) -> None:
        self._database = database
        self._runs = runs
        self._received = received
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, frozenset[str | None]], _Kept] = OrderedDict()
        self._members: OrderedDict[str, Members] = OrderedDict()

    def trace(self, run: Run, family: Family, shows: Shows, most: int | None = None) -> Trace:
        """The trace of a run with all below it that may be seen; `most` entries are read now, all where it is None.

        Those who see the same runs share one trace.
        """
        members = self.members(run.scope, family)
        hidden = frozenset(each for each in members.subjects if not shows(each))
        with self._lock:
            kept = self._kept.setdefault((run.id, hidden), _Kept())
            self._kept.move_to_end((run.id, hidden))
        # Those who look at the same trace wait for the one who reads it, instead of reading it beside.
        with kept.lock:
            trace = kept.trace
            if trace is None or kept.is_left or kept.family != family:
                try:
                    trace = self._read(kept, run, members, shows, most)
                except BaseException:
                    with self._lock:
                        self._kept.pop((run.id, hidden), None)
                    raise
        self._drop_old()
        return trace

    def members(self, scope: Scope, family: Family) -> Members:
        with self._lock:
            known = self._members.get(family.root_id)
        if known is not None and known.family == family:
            return known
        columns = (_RUNS.id, _RUNS.parent_id, _RUNS.head_seq, _RUNS.status, _RUNS.subject)
        statement = sa.select(*columns).where(_RUNS.root_id == family.root_id)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_RUNS.id.desc()))
        children: defaultdict[str | None, list[Member]] = defaultdict(list)
        by_id = {}
        for row in rows:
            is_final = Status(row.status).is_final
            member = Member(row.id, row.parent_id, row.head_seq, is_final, row.subject)
            by_id[member.id] = member
            children[member.parent_id].append(member)
        subjects = frozenset(member.subject for member in by_id.values())
        found = Members(family, by_id, dict(children), subjects)
        with self._lock:
            self._members[family.root_id] = found
            self._members.move_to_end(family.root_id)
            while len(self._members) > _KEPT_FAMILIES:
                self._members.popitem(last=False)
        return found

    def runs(self, scope: Scope, members: Iterator[Member]) -> Iterator[tuple[Member, Run]]:
        while some := list(islice(members, _AT_ONCE)):
            found = self._runs.records.these(scope, [member.id for member in some])
            yield from ((member, found[member.id]) for member in some if member.id in found)

    def _read(
        self, kept: _Kept, run: Run, members: Members, shows: Shows, most: int | None
    ) -> Trace:
        if kept.is_over:
            # Something was added after the end, as by an undo.
            kept.rows, kept.readers, kept.final, kept.read = GrowingRows(), {}, set(), 0
        seen = list(islice(members.below(run.id, shows), MOST_RUNS + 1))
        if len(seen) > MOST_RUNS:
            raise Invalid(
                f"This run started more than {MOST_RUNS:,} others. Open the trace of one of them."
            )
        left = most
        kept.is_left = False
        spans: list[Placed] = []
        gone: set[str] = set()
        for member, each in self.runs(run.scope, (one for one in seen if _has_more(kept, one))):
            if left == 0:
                kept.is_left = True
                break
            reader = kept.readers.get(each.id)
            if reader is None:
                reader = SpanReader(each, run.id, self._runs.payload, detail=True)
                kept.readers[each.id] = reader
            before = reader.seq
            entries = self._runs.journal.entries(each.scope, each.id, after=before)
            reader.read(islice(entries, left))
            kept.read += reader.seq - before
            left = None if left is None else max(0, left - (reader.seq - before))
            if reader.seq < member.head_seq:
                kept.is_left = True
            elif each.status.is_final:
                kept.final.add(each.id)
            found, lost = reader.changed(each)
            spans += found
            gone |= lost
        kept.rows.add(spans, gone)
        is_over = all(each.is_final for each in seen)
        if members.family.received:
            is_whole = is_over and not kept.is_left and len(seen) == len(members.by_id)
            spans_of_runs = kept.rows.spans()
            kept.rows.add(
                self._received.below(run.scope, run.root_id, spans_of_runs, is_whole=is_whole)
            )
        return self._made(kept, run, members, is_over=is_over)

    def _made(self, kept: _Kept, run: Run, members: Members, *, is_over: bool) -> Trace:
        rows = kept.rows
        kept.is_over = is_over and not kept.is_left
        if kept.is_over:
            kept.readers = {}
        drawn = self._drawn(kept)
        start, end = rows.start or run.created_at, rows.end or run.created_at
        reading = Reading(kept.read, members.family.entries) if kept.is_left else None
        kept.family, kept.made_at = members.family, rows.changes
        kept.trace = Trace(rows, start, end, is_over, reading, drawn)
        return kept.trace

    def _drawn(self, kept: _Kept) -> tuple[Bucket, ...] | None:
        """The picture as it was, where little has changed since."""
        before = kept.trace
        if before is None or kept.is_over or "buckets" not in vars(before):
            return None
        if before.drawn is None:
            kept.drawn_at = kept.made_at
        is_alike = (kept.rows.changes - kept.drawn_at) * _REDRAWN <= len(kept.rows)
        return before.buckets if is_alike else None

    def _drop_old(self) -> None:
        with self._lock:
            while len(self._kept) > 1 and self._spans_kept() > _KEPT_SPANS:
                self._kept.popitem(last=False)

    def _spans_kept(self) -> int:
        return sum(len(kept.rows) for kept in self._kept.values())


def _has_more(kept: _Kept, member: Member) -> bool:
    reader = kept.readers.get(member.id)
    if reader is None or member.head_seq > reader.seq:
        return True
    return member.is_final and member.id not in kept.final
