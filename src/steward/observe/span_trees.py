"""Traces of long runs in the database: spans in preorder with depth and size, made from journals and at any time again."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, overload

import sqlalchemy as sa

from steward.core import Clock, Ids
from steward.observe._tables import spans, tree_runs, trees
from steward.observe.trace_tree import BUCKETS, Clip, Part, Rows, Trace, TraceFilter, TraceRow
from steward.store import EVERYWHERE, Database, Scope
from steward.trace import Span, genai

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SPANS: Final = spans.c
_TREES: Final = trees.c
_AT_ONCE: Final = 4_000
"""Rows that are written or read together; a driver waits no longer than for these."""
_ABANDONED: Final = timedelta(hours=1)
"""After so long nobody is writing a tree any more."""


@dataclass(frozen=True)
class Family:
    """A run that a person or a trigger started, with all below it: how many runs, and how many entries they have."""

    root_id: str
    runs: int
    entries: int
    is_over: bool
    received: int = 0
    """Spans of other programs among the entries."""


class SpanTrees:
    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def find(self, scope: Scope, family: Family) -> str | None:
        """The tree of a family as it is now, if it is stored."""
        wanted = sa.select(_TREES.id).where(
            _TREES.root_id == family.root_id,
            _TREES.runs == family.runs,
            _TREES.entries == family.entries,
            _TREES.is_ready,
        )
        with self._database.read(scope) as tx:
            row = tx.first(wanted.order_by(_TREES.id.desc()).limit(1))
        return None if row is None else str(row.id)

    def trace(
        self, scope: Scope, tree_id: str, run_id: str, shows: Callable[[str | None], bool]
    ) -> Trace | None:
        """The part of a tree that is one run with all below it; None where `shows` hides one of them."""
        places = tree_runs.c
        with self._database.read(scope) as tx:
            row = tx.first(
                sa.select(tree_runs).where(places.tree_id == tree_id, places.run_id == run_id)
            )
            if row is None:
                return None
            last = row.position + row.spans - 1
            subjects = tx.rows(
                sa.select(places.subject)
                .where(places.tree_id == tree_id, places.position.between(row.position, last))
                .distinct()
            )
        if not all(shows(each.subject) for each in subjects):
            return None
        rows = StoredRows(self._database, scope, tree_id, row.position, row.spans, row.depth)
        return Trace(rows, row.start, row.end, is_over=True)

    def save(
        self,
        scope: Scope,
        family: Family,
        rows: Sequence[TraceRow],
        subjects: Mapping[str, str | None],
    ) -> str:
        """Writes a tree beside the one that readers may be using, and removes that one afterwards."""
        tree_id, now = self._ids.new("tree"), self._clock.now()
        with self._database.write(scope) as tx:
            tx.execute(
                sa.insert(trees).values(
                    id=tree_id,
                    root_id=family.root_id,
                    runs=family.runs,
                    entries=family.entries,
                    spans=len(rows),
                    is_ready=False,
                    created_at=now,
                )
            )
        for table, documents in (
            (spans, (_document(tree_id, row) for row in rows)),
            (tree_runs, _places(tree_id, rows, subjects)),
        ):
            for chunk in _chunks(documents):
                with self._database.write(scope) as tx:
                    tx.execute(sa.insert(table), chunk)
        with self._database.write(scope) as tx:
            tx.execute(sa.update(trees).where(_TREES.id == tree_id).values(is_ready=True))
            old = tx.rows(
                sa.select(_TREES.id).where(
                    _TREES.root_id == family.root_id,
                    _TREES.id != tree_id,
                    sa.or_(_TREES.is_ready, _TREES.created_at < now - _ABANDONED),
                )
            )
        self._remove(scope, [row.id for row in old])
        return tree_id

    def forget(self, scope: Scope) -> None:
        """Removes all trees of a project; they are made again when somebody looks."""
        with self._database.read(scope) as tx:
            found = [row.id for row in tx.rows(sa.select(_TREES.id))]
        self._remove(scope, found)

    def tidy(self, kept_for: timedelta) -> None:
        """Removes trees that were made long ago."""
        wanted = sa.select(_TREES.id, _TREES.org_id, _TREES.project_id)
        with self._database.read(EVERYWHERE) as tx:
            found = tx.rows(wanted.where(_TREES.created_at < self._clock.now() - kept_for))
        for row in found:
            self._remove(Scope(row.org_id, row.project_id), [row.id])

    def _remove(self, scope: Scope, tree_ids: Sequence[str]) -> None:
        for tree_id in tree_ids:
            # Not found any more by readers, before its spans go.
            with self._database.write(scope) as tx:
                tx.execute(sa.update(trees).where(_TREES.id == tree_id).values(is_ready=False))
                last = tx.first(
                    sa.select(sa.func.max(_SPANS.position).label("at")).where(
                        _SPANS.tree_id == tree_id
                    )
                )
            for first in range(0, (last.at if last and last.at is not None else -1) + 1, _AT_ONCE):
                with self._database.write(scope) as tx:
                    tx.execute(
                        sa.delete(spans).where(
                            _SPANS.tree_id == tree_id,
                            _SPANS.position.between(first, first + _AT_ONCE - 1),
                        )
                    )
            with self._database.write(scope) as tx:
                tx.execute(sa.delete(tree_runs).where(tree_runs.c.tree_id == tree_id))
                tx.execute(sa.delete(trees).where(_TREES.id == tree_id))


class StoredRows(Rows):
    """Rows from one position of a tree on, read as they are asked for."""

    def __init__(
        self, database: Database, scope: Scope, tree_id: str, first: int, count: int, depth: int
    ) -> None:
        self._database = database
        self._scope = scope
        self._tree_id = tree_id
        self._first = first
        self._count = count
        self._depth = depth

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TraceRow]: ...
    def __getitem__(self, index: int | slice) -> TraceRow | list[TraceRow]:
        if isinstance(index, slice):
            first, last, _ = index.indices(self._count)
            return self._read(self._between(first, last - 1))
        [found] = self._read(self._between(range(self._count)[index], range(self._count)[index]))
        return found

    def __iter__(self) -> Iterator[TraceRow]:
        for first in range(0, self._count, _AT_ONCE):
            yield from self[first : first + _AT_ONCE]

    def kept(self, wanted: TraceFilter, offset: int, limit: int) -> tuple[int, list[TraceRow]]:
        filters = [self._between(0, self._count - 1)]
        if wanted.errors:
            filters.append(_SPANS.error.is_not(None))
        if wanted.operation is not None:
            filters.append(_SPANS.operation == wanted.operation)
        if wanted.least_microseconds > 0:
            filters.append(_number(_SPANS.end) - _number(_SPANS.start) >= wanted.least_microseconds)
        if wanted.text:
            filters.append(_SPANS.words.contains(wanted.text.casefold(), autoescape=True))
        where = sa.and_(*filters)
        with self._database.read(self._scope) as tx:
            count = tx.first(sa.select(sa.func.count().label("rows")).where(where))
        total = 0 if count is None else int(count.rows)
        return total, self._read(where, offset, limit) if offset < total else []

    def sizes(self, positions: Collection[int]) -> Mapping[int, int]:
        wanted = [self._first + each for each in positions if each < self._count]
        statement = sa.select(_SPANS.position, _SPANS.size).where(
            _SPANS.tree_id == self._tree_id, _SPANS.position.in_(wanted)
        )
        with self._database.read(self._scope) as tx:
            return {row.position - self._first: row.size for row in tx.rows(statement)}

    def parts(self, clip: Clip) -> Mapping[int, Part]:
        begins = sa.func.count().label("times")
        position = sa.func.min(_SPANS.position).label("position")
        errors = sa.func.count(_SPANS.error).label("errors")
        starts, ends = _part(_SPANS.start, clip), _part(_SPANS.end, clip)
        where = self._between(0, self._count - 1)
        with self._database.read(self._scope) as tx:
            begun = tx.rows(sa.select(starts, begins, position).where(where).group_by(starts))
            ended = tx.rows(sa.select(ends, begins, errors).where(where).group_by(ends))
        found = {row.part: Part(row.times, position=row.position - self._first) for row in begun}
        for row in ended:
            known = found.get(row.part, Part())
            found[row.part] = Part(known.begun, row.times, row.errors, known.position)
        return found

    def _between(self, first: int, last: int) -> sa.ColumnElement[bool]:
        places = _SPANS.position.between(self._first + first, self._first + last)
        return sa.and_(_SPANS.tree_id == self._tree_id, places)

    def _read(
        self, where: sa.ColumnElement[bool], offset: int = 0, limit: int | None = None
    ) -> list[TraceRow]:
        statement = sa.select(spans).where(where).order_by(_SPANS.position)
        with self._database.read(self._scope) as tx:
            rows = tx.rows(statement.offset(offset).limit(limit))
        return [self._row(row) for row in rows]

    def _row(self, row: sa.Row[Any]) -> TraceRow:
        key = f"{row.run_id}:{row.key}"
        span = Span(
            self._tree_id, key, row.name, row.start, row.end, None, row.attributes, row.error
        )
        return TraceRow(
            row.position - self._first,
            row.depth - self._depth,
            row.size,
            row.run_id,
            row.key,
            row.operation,
            span,
        )


def _number(moment: sa.ColumnElement[datetime]) -> sa.ColumnElement[int]:
    return sa.type_coerce(moment, sa.BigInteger())


def _part(moment: sa.ColumnElement[datetime], clip: Clip) -> sa.Label[int]:
    """As `Clip.part` counts; all spans lie within the clip."""
    began = (clip.start - _EPOCH) // timedelta(microseconds=1)
    since = _number(moment) - sa.literal(began, sa.BigInteger())
    at = since * BUCKETS // sa.literal(clip.microseconds, sa.BigInteger())
    return sa.case((at >= BUCKETS, BUCKETS - 1), else_=at).label("part")


def _document(tree_id: str, row: TraceRow) -> dict[str, Any]:
    return {
        "tree_id": tree_id,
        "position": row.position,
        "depth": row.depth,
        "size": row.size,
        "run_id": row.run_id,
        "key": row.key,
        "operation": row.operation,
        "name": row.span.name,
        "words": row.words,
        "start": row.span.start,
        "end": row.span.end,
        "error": row.span.error,
        "attributes": dict(row.span.attributes),
    }


def _places(
    tree_id: str, rows: Sequence[TraceRow], subjects: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row.operation == genai.INVOKE_WORKFLOW:
            below = rows[row.position : row.position + row.size + 1]
            yield {
                "tree_id": tree_id,
                "run_id": row.run_id,
                "subject": subjects[row.run_id],
                "position": row.position,
                "depth": row.depth,
                "spans": row.size + 1,
                "start": min(each.span.start for each in below),
                "end": max(each.span.end for each in below),
            }


def _chunks(documents: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while chunk := list(islice(documents, _AT_ONCE)):
        yield chunk
