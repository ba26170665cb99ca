"""The trace of a run as rows in preorder: a window is one slice, and what is folded is skipped by its size."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, overload

from steward.trace import Span, genai

BUCKETS: Final = 200
_MICROSECOND: Final = timedelta(microseconds=1)


def words_of(span: Span) -> str:
    """What a search looks through: the name of a span, what it is about and how it failed."""
    about = span.attributes.get(genai.ABOUT, "")
    return f"{span.name}\n{about}\n{span.error or ''}".casefold()


@dataclass(frozen=True, slots=True)
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
    def microseconds(self) -> int:
        return (self.span.end - self.span.start) // _MICROSECOND

    @property
    def milliseconds(self) -> float:
        return self.microseconds / 1000

    @property
    def words(self) -> str:
        return words_of(self.span)


@dataclass(frozen=True)
class TraceFilter:
    text: str = ""
    operation: str | None = None
    errors: bool = False
    slower_than_ms: float = 0.0

    @property
    def is_empty(self) -> bool:
        return self == TraceFilter()

    @property
    def least_microseconds(self) -> int:
        return round(self.slower_than_ms * 1000)

    def keeps(self, operation: str, span: Span) -> bool:
        return (
            (not self.errors or span.error is not None)
            and (self.operation is None or operation == self.operation)
            and (span.end - span.start) // _MICROSECOND >= self.least_microseconds
            and (not self.text or self.text.casefold() in words_of(span))
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
class Clip:
    """The time of a trace, in so many equal parts."""

    start: datetime
    end: datetime

    @property
    def microseconds(self) -> int:
        return max((self.end - self.start) // _MICROSECOND, 1)

    def part(self, moment: datetime) -> int:
        at = (moment - self.start) // _MICROSECOND * BUCKETS // self.microseconds
        return min(max(at, 0), BUCKETS - 1)


@dataclass(frozen=True)
class Part:
    """What begins and ends in one part of the time."""

    begun: int = 0
    ended: int = 0
    errors: int = 0
    position: int | None = None
    """The first span that begins in it."""


class Rows(Sequence[TraceRow]):
    """The rows of a trace, in memory or in the database."""

    @abstractmethod
    def kept(self, wanted: TraceFilter, offset: int, limit: int) -> tuple[int, list[TraceRow]]:
        """How many rows a filter keeps, and some of them."""

    @abstractmethod
    def sizes(self, positions: Collection[int]) -> Mapping[int, int]:
        """How many rows are below those at some positions; a position that does not exist is left out."""

    @abstractmethod
    def parts(self, clip: Clip) -> Mapping[int, Part]:
        """What begins and ends when; parts in which nothing does are left out."""

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceRow]: ...
    @abstractmethod
    def __getitem__(self, index: int | slice) -> TraceRow | list[TraceRow]: ...


class ListedRows(Rows):
    def __init__(self, rows: Iterable[TraceRow]) -> None:
        self._rows = list(rows)

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceRow]: ...
    def __getitem__(self, index: int | slice) -> TraceRow | list[TraceRow]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def kept(self, wanted: TraceFilter, offset: int, limit: int) -> tuple[int, list[TraceRow]]:
        kept = [row for row in self._rows if wanted.keeps(row.operation, row.span)]
        return len(kept), kept[offset : offset + limit]

    def sizes(self, positions: Collection[int]) -> Mapping[int, int]:
        return {at: self._rows[at].size for at in positions if at < len(self._rows)}

    def parts(self, clip: Clip) -> Mapping[int, Part]:
        found: defaultdict[int, Part] = defaultdict(Part)
        for row in self._rows:
            first, last = clip.part(row.span.start), clip.part(row.span.end)
            part = found[first]
            position = row.position if part.position is None else part.position
            found[first] = replace(part, begun=part.begun + 1, position=position)
            part = found[last]
            errors = part.errors + (row.span.error is not None)
            found[last] = replace(part, ended=part.ended + 1, errors=errors)
        return found


@dataclass(frozen=True)
class Reading:
    """How far the journals of a long trace are read that is not stored yet."""

    read: int
    entries: int


@dataclass(frozen=True)
class Trace:
    rows: Rows
    start: datetime
    end: datetime
    is_over: bool
    reading: Reading | None = None
    """Set where the rows are only the first ones, until all of them are read."""
    drawn: tuple[Bucket, ...] | None = None
    """The picture of a moment ago, from which this trace differs little."""

    def window(
        self, offset: int, limit: int, wanted: TraceFilter, folded: Collection[int] = ()
    ) -> tuple[int, list[TraceRow]]:
        """How many rows there are to show, and some of them.

        What a filter keeps stays in order. Rows below those at the positions in `folded` are left out; where there is
        a filter, everything that it keeps is shown.
        """
        if not wanted.is_empty:
            return self.rows.kept(wanted, offset, limit)
        return self._unfiltered(offset, limit, folded)

    def _unfiltered(
        self, offset: int, limit: int, folded: Collection[int]
    ) -> tuple[int, list[TraceRow]]:
        """Skips what is folded by its size: the cost is that of the folds and of the window, not of the trace."""
        found: list[TraceRow] = []
        shown = start = 0
        count = len(self.rows)
        sizes = self.rows.sizes(folded) if folded else {}
        for position in [*sorted(sizes), count]:
            if position < start:
                # Inside another fold.
                continue
            is_fold = position < count
            end = position + 1 if is_fold else position
            first = start + max(0, offset - shown)
            last = min(end, first + limit - len(found))
            if first < last:
                found += self.rows[first:last]
            shown += end - start
            start = end + (sizes[position] if is_fold else 0)
        return shown, found

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """The whole trace in equal parts of its time, for a picture of it."""
        if self.drawn is not None:
            return self.drawn
        parts = self.rows.parts(Clip(self.start, self.end))
        found, open_now, position = [], 0, 0
        for at in range(BUCKETS):
            part = parts.get(at, Part())
            open_now += part.begun
            position = position if part.position is None else part.position
            found.append(Bucket(open_now, part.errors, position))
            open_now -= part.ended
        return tuple(found)

    def until(self, now: datetime) -> "Trace":
        """A trace that goes on lasts until now, however long ago its last entry was: a run that waits adds none."""
        if self.is_over or self.reading is not None or now <= self.end:
            return self
        before, after = Clip(self.start, self.end), Clip(self.start, now)
        # The run is open all the time; what else was open is drawn where it was, in fewer parts.
        drawn = [Bucket(1, 0, 0)] * BUCKETS
        for at, each in enumerate(self.buckets):
            into = after.part(self.start + before.microseconds * at // BUCKETS * _MICROSECOND)
            known = drawn[into]
            position = known.position or each.position
            drawn[into] = Bucket(max(known.spans, each.spans), known.errors + each.errors, position)
        last = 0
        for at, each in enumerate(drawn):
            last = each.position or last
            drawn[at] = replace(each, position=last)
        return replace(self, end=now, drawn=tuple(drawn))

    def loaded(self) -> "Trace":
        """The same with all its rows in memory, for those who look at every one of them more than once."""
        return replace(self, rows=ListedRows(self.rows))
