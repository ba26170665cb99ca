"""Spans that other programs sent: kept by trace, and put where they belong when somebody opens the trace of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from steward.core import Clock
from steward.observe import _tables as tables
from steward.observe.growing_rows import Placed
from steward.observe.rollups import insert_into
from steward.store import EVERYWHERE, Database, Scope, Transaction
from steward.trace import Span, Value, genai, trace_id

_SPANS: Final = tables.received_spans.c
MOST_OF_TRACE: Final = 10_000
MOST_OF_PROJECT: Final = 500_000


@dataclass(frozen=True)
class ReceivedSpan:
    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 of them."""
    parent_id: str
    """Empty for none."""
    name: str
    start: datetime
    end: datetime
    error: str | None
    attributes: Mapping[str, Value]


class ReceivedSpans:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def take(self, scope: Scope, spans: Iterable[ReceivedSpan]) -> int:
        """Keeps them; one that is known already stays as it was. How many there was no room for."""
        by_trace: dict[str, dict[str, ReceivedSpan]] = {}
        for span in spans:
            by_trace.setdefault(span.trace_id, {})[span.span_id] = span
        refused = 0
        with self._database.write(scope) as tx:
            room = MOST_OF_PROJECT - self._counted(tx, sa.true())
            for trace, found in by_trace.items():
                known = self._known(tx, trace, list(found))
                new = [each for each in found.values() if each.span_id not in known]
                left = min(room, MOST_OF_TRACE - self._counted(tx, _SPANS.trace_id == trace))
                kept = new[: max(0, left)]
                refused += len(new) - len(kept)
                room -= len(kept)
                self._add(tx, kept)
        return refused

    def counts(self, tx: Transaction, root_ids: Sequence[str]) -> dict[str, int]:
        """Of each of these traces that has any."""
        traces = {_hexadecimal(root_id): root_id for root_id in root_ids}
        statement = (
            sa.select(_SPANS.trace_id, sa.func.count().label("times"))
            .where(_SPANS.trace_id.in_(list(traces)))
            .group_by(_SPANS.trace_id)
        )
        return {traces[row.trace_id]: int(row.times) for row in tx.rows(statement)}

    def below(
        self, scope: Scope, root_id: str, spans: Sequence[tuple[str, Span]], *, is_whole: bool
    ) -> list[Placed]:
        """Spans of other programs, below the spans of runs that they name as their parents.

        What names no parent belongs to the run that was started first. So does what names a span that never came, once
        the trace `is_whole`: over, and with all of its runs. Before that, the span may come or be hidden from the reader.
        """
        wanted = sa.select(tables.received_spans).where(_SPANS.trace_id == _hexadecimal(root_id))
        with self._database.read(scope) as tx:
            rows = tx.rows(wanted.order_by(_SPANS.start).limit(MOST_OF_TRACE))
        below: dict[str, list[sa.Row[tuple[object, ...]]]] = {}
        for row in rows:
            below.setdefault(row.parent_id, []).append(row)
        found: list[Placed] = []
        places = [(f"{span.span_id:016x}", run_id, span) for run_id, span in spans]
        places += [("", run_id, span) for run_id, span in spans if span.parent is None]
        missing: set[str] = set()
        while places:
            parent_id, run_id, parent = places.pop()
            for row in below.pop(parent_id, ()):
                span = _span_of(row, root_id, parent.key, is_lost=parent_id in missing)
                found.append(Placed(run_id, 0, span))
                places.append((row.span_id, run_id, span))
            if not places and is_whole and below and not missing:
                missing = below.keys() - {row.span_id for row in rows}
                places = [(each, *_first_run(spans)) for each in sorted(missing)]
        return found

    def tidy(self, kept_for: timedelta) -> None:
        """Removes what was received long ago."""
        old = _SPANS.received_at < self._clock.now() - kept_for
        with self._database.read(EVERYWHERE) as tx:
            found = tx.rows(sa.select(_SPANS.org_id, _SPANS.project_id).where(old).distinct())
        for row in found:
            with self._database.write(Scope(row.org_id, row.project_id)) as tx:
                tx.purge(sa.delete(tables.received_spans).where(old))

    def _add(self, tx: Transaction, spans: Sequence[ReceivedSpan]) -> None:
        now = self._clock.now()
        values = [
            {
                "trace_id": each.trace_id,
                "span_id": each.span_id,
                "parent_id": each.parent_id,
                "name": each.name,
                "start": each.start,
                "end": each.end,
                "error": each.error,
                "attributes": dict(each.attributes),
                "received_at": now,
            }
            for each in spans
        ]
        if values:
            tx.execute(insert_into(tx, tables.received_spans).on_conflict_do_nothing(), values)

    @staticmethod
    def _known(tx: Transaction, trace: str, ids: Sequence[str]) -> set[str]:
        wanted = sa.select(_SPANS.span_id).where(_SPANS.trace_id == trace, _SPANS.span_id.in_(ids))
        return {row.span_id for row in tx.rows(wanted)}

    @staticmethod
    def _counted(tx: Transaction, which: sa.ColumnElement[bool]) -> int:
        [row] = tx.rows(
            sa.select(sa.func.count().label("times"))
            .select_from(tables.received_spans)
            .where(which)
        )
        return int(row.times)


def _hexadecimal(root_id: str) -> str:
    return f"{trace_id(root_id):032x}"


def _first_run(spans: Iterable[tuple[str, Span]]) -> tuple[str, Span]:
    return next((run_id, span) for run_id, span in spans if span.parent is None)


def _span_of(row: sa.Row[tuple[object, ...]], root_id: str, parent: str, *, is_lost: bool) -> Span:
    attributes: dict[str, Value] = {
        **row.attributes,
        genai.OPERATION: genai.REMOTE,
        genai.KIND: "CHAIN",
    }
    if is_lost:
        attributes[genai.PARENT_MISSING] = True
    key = f"{genai.REMOTE}:{row.span_id}"
    return Span(root_id, key, row.name, row.start, row.end, parent, attributes, row.error)
