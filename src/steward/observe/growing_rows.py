"""The rows of a trace that still grows: a new span costs its own place in the tree, not the whole tree again."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter
from threading import RLock
from typing import Final, NamedTuple, overload

from steward.observe.trace_tree import BUCKETS, Clip, Part, Rows, TraceFilter, TraceRow
from steward.trace import Span, genai

_BULK: Final = 8
"""One new span for so many known ones, and ordering all of them again is cheaper than finding a place for each."""

Place = tuple[datetime, str, int, str]


class Placed(NamedTuple):
    """A span with what orders it among its siblings: when it began, its run, and the entry that it began with."""

    run_id: str
    seq: int
    span: Span


class _Node:
    __slots__ = ("above", "at", "below", "depth", "inserted", "place", "run_id", "size", "span")

    def __init__(self, run_id: str, span: Span, place: Place, above: "_Node | None") -> None:
        """Without one above it, it is the one that holds those at the top."""
        self.run_id = run_id
        self.span = span
        self.place = place
        self.above: _Node = above or self
        self.below: list[_Node] = []
        self.depth: int = -1 if above is None else above.depth + 1
        self.size = 0
        # Where it was when so many had been inserted; it only moves down from there.
        self.at = -1
        self.inserted = 0


_PLACE: Final = attrgetter("place")


class GrowingRows(Rows):
    """Rows in preorder, siblings in the order in which they began. Others may read while spans are added."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._top = _Node("", _NOTHING, _NOWHERE, None)
        self._nodes: dict[str, _Node] = {}
        self._rows: list[_Node] = []
        self._inserted = 0
        self.changes = 0
        """How often a span was added, changed or removed."""
        self.start: datetime | None = None
        self.end: datetime | None = None

    def add(self, spans: Sequence[Placed], gone: Collection[str] = ()) -> None:
        """Adds spans, each after the one above it; one that is known by its key changes in its place.

        A span whose parent is not known is at the top. Spans in `gone` are removed, unless one is below them.
        """
        with self._lock:
            fresh: list[_Node] = []
            for placed in spans:
                self._note_time(placed.span)
                known = self._nodes.get(placed.span.key)
                if known is not None:
                    known.span = placed.span
                else:
                    fresh.append(self._known(placed))
            self.changes += len(spans) + len(gone)
            found = [self._nodes[key] for key in gone if key in self._nodes]
            removed = [node for node in found if not node.below]
            for node in removed:
                del self._nodes[node.span.key]
                node.above.below.remove(node)
            if removed or len(fresh) * _BULK > len(self._rows):
                self._order(fresh)
            else:
                for node in fresh:
                    self._insert(node)

    def spans(self) -> list[tuple[str, Span]]:
        """All of them with their runs."""
        with self._lock:
            return [(node.run_id, node.span) for node in self._rows]

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceRow]: ...
    def __getitem__(self, index: int | slice) -> TraceRow | list[TraceRow]:
        with self._lock:
            places = range(len(self._rows))[index]
            if isinstance(places, int):
                return _row(places, self._rows[places])
            return [_row(at, self._rows[at]) for at in places]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self[:])

    def kept(self, wanted: TraceFilter, offset: int, limit: int) -> tuple[int, list[TraceRow]]:
        with self._lock:
            kept = [
                at
                for at, node in enumerate(self._rows)
                if wanted.keeps(_operation(node.span), node.span)
            ]
            found = islice(kept, offset, offset + limit)
            return len(kept), [_row(at, self._rows[at]) for at in found]

    def sizes(self, positions: Collection[int]) -> Mapping[int, int]:
        with self._lock:
            return {at: self._rows[at].size for at in positions if at < len(self._rows)}

    def parts(self, clip: Clip) -> Mapping[int, Part]:
        begun, ended, errors = [0] * BUCKETS, [0] * BUCKETS, [0] * BUCKETS
        first: list[int | None] = [None] * BUCKETS
        with self._lock:
            for at, node in enumerate(self._rows):
                start, end = clip.part(node.span.start), clip.part(node.span.end)
                begun[start] += 1
                if first[start] is None:
                    first[start] = at
                ended[end] += 1
                errors[end] += node.span.error is not None
        each = zip(begun, ended, errors, first, strict=True)
        return {at: Part(*counts) for at, counts in enumerate(each) if any(counts[:2])}

    def _known(self, placed: Placed) -> _Node:
        run_id, seq, span = placed
        above = self._nodes.get(span.parent) if span.parent is not None else None
        node = _Node(run_id, span, (span.start, run_id, seq, span.key), above or self._top)
        self._nodes[span.key] = node
        return node

    def _note_time(self, span: Span) -> None:
        self.start = span.start if self.start is None else min(self.start, span.start)
        self.end = span.end if self.end is None else max(self.end, span.end)

    def _insert(self, node: _Node) -> None:
        above = node.above
        index = bisect_left(above.below, node.place, key=_PLACE)
        if index < len(above.below):
            at = self._position(above.below[index])
        else:
            at = self._position(above) + above.size + 1
        above.below.insert(index, node)
        self._rows.insert(at, node)
        self._inserted += 1
        node.at, node.inserted = at, self._inserted
        while above is not self._top:
            above.size += 1
            above = above.above
        self._top.size += 1

    def _position(self, node: _Node) -> int:
        if node is self._top:
            return -1
        last = node.at + self._inserted - node.inserted
        node.at = self._rows.index(node, node.at, last + 1)
        node.inserted = self._inserted
        return node.at

    def _order(self, fresh: Iterable[_Node]) -> None:
        """Orders all rows again, without recursion: where each is first, then sizes from the end."""
        parents = {}
        for node in fresh:
            above = node.above
            above.below.append(node)
            parents[id(above)] = above
        for above in parents.values():
            above.below.sort(key=_PLACE)
        rows: list[_Node] = []
        stack = self._top.below[::-1]
        while stack:
            node = stack.pop()
            node.at, node.inserted, node.size = len(rows), self._inserted, 0
            rows.append(node)
            stack += node.below[::-1]
        self._top.size = len(rows)
        for node in reversed(rows):
            if node.above is not self._top:
                node.above.size += node.size + 1
        self._rows = rows


def _operation(span: Span) -> str:
    return str(span.attributes.get(genai.OPERATION, ""))


def _row(at: int, node: _Node) -> TraceRow:
    key = node.span.key.removeprefix(f"{node.run_id}:")
    return TraceRow(at, node.depth, node.size, node.run_id, key, _operation(node.span), node.span)


_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_NOWHERE: Final[Place] = (_NEVER, "", 0, "")
_NOTHING: Final = Span("", "", "", _NEVER, _NEVER)
