"""Rules over a trace alone: retry storms, where the time went, waits, what cost most."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from steward.observe.analysis.finding import (
    Finding,
    SpanRef,
    duration_text,
    share_text,
    usd_text,
)
from steward.observe.trace_tree import Trace, TraceRow
from steward.trace import genai

_MOST_NAMED: Final = 3
_STORM: Final = 3
"""Failed attempts at one thing that are worth a word."""
_SHARE: Final = 0.1
_LONG_WAIT_MS: Final = 60_000
_MOST_REFERENCES: Final = 20


def retry_storms(trace: Trace) -> Iterator[Finding]:
    """Things that were tried again and again."""
    attempts: defaultdict[tuple[str, str], list[TraceRow]] = defaultdict(list)
    for row in trace.rows:
        if row.operation == genai.ATTEMPT:
            attempts[row.run_id, row.about].append(row)
    for (_, key), rows in sorted(attempts.items(), key=lambda each: -len(each[1])):
        if len(rows) < _STORM:
            return
        lost = sum(row.milliseconds for row in rows)
        yield Finding(
            "retries",
            "warning",
            f'"{key}" failed {len(rows)} times and was tried again each time. The attempts took {duration_text(lost)}.',
            spans=tuple(SpanRef.of(row) for row in rows[:_MOST_REFERENCES]),
        )


def time_spent(trace: Trace) -> Iterator[Finding]:
    """The spans on the critical path in which most of the time went by."""
    whole = (trace.end - trace.start).total_seconds() * 1000
    if whole <= 0:
        return
    own = critical_path(trace.rows)
    longest = sorted(own.items(), key=lambda each: -each[1])[:_MOST_NAMED]
    rows = [
        (trace.rows[position], spent)
        for position, spent in longest
        if position > 0 and spent >= _SHARE * whole
    ]
    if not rows:
        return
    named = ", ".join(
        f'"{row.span.name}" {duration_text(spent)} ({share_text(spent, whole)})'
        for row, spent in rows
    )
    yield Finding(
        "time",
        "note",
        f"The run took {duration_text(whole)}. Most of it on the critical path: {named}.",
        spans=tuple(SpanRef.of(row) for row, _ in rows),
    )


def long_waits(trace: Trace) -> Iterator[Finding]:
    """People or moments that the run waited for."""
    whole = (trace.end - trace.start).total_seconds() * 1000
    waits = [row for row in trace.rows if row.operation == genai.WAIT]
    longest = sorted(waits, key=lambda row: -row.milliseconds)[:_MOST_NAMED]
    rows = [row for row in longest if row.milliseconds >= max(_LONG_WAIT_MS, _SHARE * whole)]
    if rows:
        waited = duration_text(rows[0].milliseconds)
        yield Finding(
            "wait",
            "note",
            f'The longest wait was {waited}, for "{rows[0].about}".',
            spans=tuple(SpanRef.of(row) for row in rows),
        )


def cost_of(trace: Trace) -> float:
    return sum(float(row.span.attributes.get(genai.COST, 0.0)) for row in trace.rows)


def costs(trace: Trace) -> Iterator[Finding]:
    """What most of the money was spent on."""
    priced = [(row, float(row.span.attributes.get(genai.COST, 0.0))) for row in trace.rows]
    whole = sum(cost for _, cost in priced)
    if whole <= 0:
        return
    dearest = sorted(priced, key=lambda each: -each[1])[:_MOST_NAMED]
    rows = [(row, cost) for row, cost in dearest if cost >= _SHARE * whole]
    if not rows:
        return
    named = ", ".join(
        f'"{row.span.name}" {usd_text(cost)} ({share_text(cost, whole)})' for row, cost in rows
    )
    yield Finding(
        "cost",
        "note",
        f"The run cost {usd_text(whole)}. Most of it: {named}.",
        spans=tuple(SpanRef.of(row) for row, _ in rows),
    )


def critical_path(rows: Sequence[TraceRow]) -> dict[int, float]:
    """Milliseconds of the longest chain that each span of it accounts for itself, by position.

    From the end backwards: the child that ended last held up its parent, and before it the one that ended last
    before that child began. What no child covers is the parent's own time.
    """
    if not rows:
        return {}
    below: defaultdict[int, list[int]] = defaultdict(list)
    above: list[int] = []
    for position, row in enumerate(rows):
        while above and rows[above[-1]].depth >= row.depth:
            above.pop()
        if above:
            below[above[-1]].append(position)
        above.append(position)
    own: dict[int, float] = {}
    open_rows = [(0, rows[0].span.start, rows[0].span.end)]
    while open_rows:
        position, start, until = open_rows.pop()
        spent = 0.0
        for child in sorted(below[position], key=lambda each: rows[each].span.end, reverse=True):
            begun, ended = rows[child].span.start, min(rows[child].span.end, until)
            if begun >= until or ended <= start:
                continue
            spent += (until - ended).total_seconds() * 1000
            open_rows.append((child, max(begun, start), ended))
            until = max(begun, start)
        own[position] = spent + (until - start).total_seconds() * 1000
    return own
