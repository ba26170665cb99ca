"""The trace of a run as rows in preorder: a window is one slice, and what is folded is skipped by its size."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final

from steward.core.errors import Invalid
from steward.observe.spans import spans_of
from steward.runs import Run, Runs
from steward.store import Scope
from steward.trace import genai
from steward.trace.spans import Span

_KEPT_SPANS: Final = 50_000
"""Over all traces that are kept, the latest first; a larger trace is kept alone."""
_MOST_RUNS: Final = 20_000


@dataclass(frozen=True)
class TraceRow:
    position: int
    depth: int
    size: int
    """Rows below it, at any depth."""
    run_id: str
    key: str
    """Of the journal's entries that it is made from."""
    operation: str
    span: Span

    @property
    def milliseconds(self) -> float:
        return (self.span.end - self.span.start).total_seconds() * 1000


@dataclass(frozen=True)
class TraceFilter:
    text: str = ""
    operation: str | None = None
    errors: bool = False
    slower_than_ms: float = 0.0

    @property
    def is_empty(self) -> bool:
        return self == TraceFilter()

    def keeps(self, row: TraceRow) -> bool:
        return (
            (not self.errors or row.span.error is not None)
            and (self.operation is None or row.operation == self.operation)
            and row.milliseconds >= self.slower_than_ms
            and (not self.text or self.text.casefold() in row.span.name.casefold())
        )


@dataclass(frozen=True)
class Trace:
    rows: Sequence[TraceRow]
    start: datetime
    end: datetime
    is_over: bool
    subjects: frozenset[str | None]
    """Of the runs in it: who may not see one of them gets a trace without it."""

    def window(self, offset: int, limit: int, wanted: TraceFilter) -> tuple[int, list[TraceRow]]:
        """How many rows there are to show, and some of them; what a filter keeps stays in order."""
        if wanted.is_empty:
            return len(self.rows), list(self.rows[offset : offset + limit])
        kept = [row for row in self.rows if wanted.keeps(row)]
        return len(kept), kept[offset : offset + limit]

    def buckets(self, count: int) -> list[int]:
        """How many spans are open in each part of the trace's time, for a picture of the whole."""
        seconds = max((self.end - self.start).total_seconds(), 1e-6)
        changes = [0] * (count + 1)
        for row in self.rows:
            first = int((row.span.start - self.start).total_seconds() / seconds * count)
            last = int((row.span.end - self.start).total_seconds() / seconds * count)
            changes[min(max(first, 0), count - 1)] += 1
            changes[min(max(last, 0), count - 1) + 1] -= 1
        open_now, found = 0, []
        for change in changes[:count]:
            open_now += change
            found.append(open_now)
        return found


class Traces:
    """Makes traces from journals; those of runs that are over are kept for a while."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._kept: OrderedDict[tuple[str, int], Trace] = OrderedDict()
        self._lock = Lock()

    def trace(self, scope: Scope, run_id: str, shows: Callable[[str | None], bool]) -> Trace:
        """The spans of a run and of all runs that it started; `shows` says by its subject whether one may be seen."""
        run = self._runs.get(scope, run_id)
        key = (run.id, run.head_seq)
        if run.status.is_final:
            with self._lock:
                found = self._kept.get(key)
                if found is not None and all(map(shows, found.subjects)):
                    self._kept.move_to_end(key)
                    return found
        made, is_whole = self._made(run, shows)
        if made.is_over and is_whole:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, int], trace: Trace) -> None:
        with self._lock:
            self._kept[key] = trace
            while (
                len(self._kept) > 1
                and sum(len(each.rows) for each in self._kept.values()) > _KEPT_SPANS
            ):
                self._kept.popitem(last=False)

    def _made(self, run: Run, shows: Callable[[str | None], bool]) -> tuple[Trace, bool]:
        """The trace, and whether all of it is shown."""
        spans: list[tuple[Run, Span]] = []
        is_over = True
        hidden: list[Run] = []
        subjects: set[str | None] = set()

        def seen(child: Run) -> bool:
            if not shows(child.subject):
                hidden.append(child)
            return shows(child.subject)

        for count, each in enumerate(self._family(run, seen)):
            subjects.add(each.subject)
            if count >= _MOST_RUNS:
                raise Invalid(
                    f"This run started more than {_MOST_RUNS:,} others. Open the trace of one of them."
                )
            is_over = is_over and each.status.is_final
            entries = list(self._runs.journal.entries(each.scope, each.id))
            if entries:
                found = spans_of(each, run.id, entries, self._runs.payload, detail=True)
                spans += [(each, span) for span in found]
        rows = list(_preorder(spans))
        start = min((span.start for _, span in spans), default=run.created_at)
        end = max((span.end for _, span in spans), default=run.created_at)
        return Trace(rows, start, end, is_over, frozenset(subjects)), not hidden

    def _family(self, run: Run, seen: Callable[[Run], bool]) -> Iterator[Run]:
        """The run, and all below it that may be seen."""
        yield run
        before: str | None = None
        while True:
            children = self._runs.records.listed(run.scope, parent=run.id, before=before, limit=200)
            for child in filter(seen, children):
                yield from self._family(child, seen)
            if len(children) < 200:
                return
            before = children[-1].id


def _preorder(spans: Sequence[tuple[Run, Span]]) -> Iterator[TraceRow]:
    known = {span.key for _, span in spans}
    below: defaultdict[str | None, list[tuple[Run, Span]]] = defaultdict(list)
    for run, span in spans:
        below[span.parent if span.parent in known else None].append((run, span))
    for children in below.values():
        children.sort(key=lambda each: (each[1].start, each[1].end))
    # Two passes without recursion: the order first, then sizes from the end.
    order: list[tuple[int, Run, Span]] = []
    stack = [(0, run, span) for run, span in reversed(below[None])]
    while stack:
        depth, run, span = stack.pop()
        order.append((depth, run, span))
        if span.parent != span.key:
            stack += [(depth + 1, *child) for child in reversed(below.get(span.key, []))]
    sizes = [0] * len(order)
    open_rows: list[int] = []
    for position, (depth, _, _) in enumerate(order):
        while open_rows and order[open_rows[-1]][0] >= depth:
            open_rows.pop()
        for above in open_rows:
            sizes[above] += 1
        open_rows.append(position)
    for position, (depth, run, span) in enumerate(order):
        yield TraceRow(
            position,
            depth,
            sizes[position],
            run.id,
            span.key.removeprefix(f"{run.id}:"),
            str(span.attributes.get(genai.OPERATION, "")),
            span,
        )
