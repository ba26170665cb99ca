"""The trace of a run as rows in preorder: a window is one slice, and what is folded is skipped by its size."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
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
BUCKETS: Final = 200


@dataclass(frozen=True)
class TraceRow:
    position: int
    depth: int
    size: int
    """Rows below it, at any depth."""
    run_id: str
    key: str
    """Names it within its run."""
    operation: str
    span: Span

    @property
    def about(self) -> str:
        """The key of the call, step or wait that the journal's entries are about; empty for a whole run."""
        return str(self.span.attributes.get(genai.ABOUT, ""))

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
class Bucket:
    """A part of a trace's time."""

    spans: int
    """How many are open in it."""
    errors: int
    """How many failed in it."""
    position: int
    """The first span that begins in it, or in the last part before it in which one begins."""


@dataclass(frozen=True)
class Trace:
    rows: Sequence[TraceRow]
    start: datetime
    end: datetime
    is_over: bool
    subjects: frozenset[str | None]
    """Of the runs in it: who may not see one of them gets a trace without it."""

    def window(
        self, offset: int, limit: int, wanted: TraceFilter, folded: Collection[int] = ()
    ) -> tuple[int, list[TraceRow]]:
        """How many rows there are to show, and some of them.

        What a filter keeps stays in order. Rows below those at the positions in `folded` are left out; where there is
        a filter, everything that it keeps is shown.
        """
        if wanted.is_empty:
            return self._unfiltered(offset, limit, folded)
        kept = [row for row in self.rows if wanted.keeps(row)]
        return len(kept), kept[offset : offset + limit]

    def _unfiltered(
        self, offset: int, limit: int, folded: Collection[int]
    ) -> tuple[int, list[TraceRow]]:
        """Skips what is folded by its size: the cost is that of the folds and of the window, not of the trace."""
        found: list[TraceRow] = []
        shown = start = 0
        for position in [*sorted(folded), len(self.rows)]:
            if position < start or position > len(self.rows):
                # Inside another fold, or of a trace that was longer.
                continue
            is_fold = position < len(self.rows)
            end = position + 1 if is_fold else position
            first = start + max(0, offset - shown)
            found += self.rows[first : min(end, first + limit - len(found))] if first < end else ()
            shown += end - start
            start = end + (self.rows[position].size if is_fold else 0)
        return shown, found

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """The whole trace in equal parts of its time, for a picture of it."""
        seconds = max((self.end - self.start).total_seconds(), 1e-6)
        changes, errors = [0] * (BUCKETS + 1), [0] * BUCKETS
        positions: list[int | None] = [None] * BUCKETS

        def part(moment: datetime) -> int:
            at = int((moment - self.start).total_seconds() / seconds * BUCKETS)
            return min(max(at, 0), BUCKETS - 1)

        for row in self.rows:
            first, last = part(row.span.start), part(row.span.end)
            changes[first] += 1
            changes[last + 1] -= 1
            errors[last] += row.span.error is not None
            if positions[first] is None:
                positions[first] = row.position
        found, open_now, position = [], 0, 0
        for at in range(BUCKETS):
            open_now += changes[at]
            begun = positions[at]
            position = position if begun is None else begun
            found.append(Bucket(open_now, errors[at], position))
        return tuple(found)


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
