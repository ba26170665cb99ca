"""Puts the rules to work: reads a run, its trace and the last good run of the same flow, and says what it found."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from steward.broker import Rehearsal
from steward.core import NotFound
from steward.observe.analysis.finding import (
    Finding,
    SpanRef,
    duration_text,
    share_text,
    usd_text,
)
from steward.observe.analysis.journal_rules import (
    changed_models,
    changes,
    failed_rows,
    fault_of,
    first_error,
    message_of,
    repeated_calls,
)
from steward.observe.analysis.trace_rules import (
    cost_of,
    costs,
    long_waits,
    retry_storms,
    time_spent,
)
from steward.observe.trace_tree import Trace
from steward.observe.traces import Traces
from steward.runs import Run, Runs, Status
from steward.store import Scope

Verdict = Literal["failed", "cancelled", "slow", "costly", "unremarkable", "under way"]
Shows = Callable[[str | None], bool]
_TIMES: Final = 2
"""How many times as long, or as dear, as the last good run is remarkable."""
_LEAST_MS: Final = 1_000
_LEAST_USD: Final = 0.01
_LONG_QUEUE: Final = 5
_NEARLY: Final = Decimal("0.8")
_LOOKED_AT: Final = 20


@dataclass(frozen=True)
class Analysis:
    run_id: str
    verdict: Verdict
    summary: str
    """The answer in a few sentences, made from the findings."""
    findings: tuple[Finding, ...]
    compared_with: str | None
    """The last good run of the same flow, where there is one."""


class Analyst:
    def __init__(
        self, runs: Runs, traces: Traces, usage: Callable[[Run], Mapping[str, Any]]
    ) -> None:
        """`usage` tells what a run used of its budget, as pages show it."""
        self._runs = runs
        self._traces = traces
        self._usage = usage

    def analyse(self, scope: Scope, run_id: str, shows: Shows) -> Analysis:
        """What made the run fail, slow or dear; only runs that `shows` lets through are looked at."""
        run = self._runs.get(scope, run_id)
        trace = self._traces.trace(scope, run_id, shows).loaded()
        good = self._last_good(run)
        before = None if good is None else self._traces.trace(scope, good.id, shows).loaded()
        found = [*self._errors(run, trace), *self._used(run, trace)]
        verdict: Verdict = _ended(run)
        if good is not None and before is not None:
            found += self._changed(run, good, trace, before)
            compared, verdict = _compared(run, trace, before, verdict)
            found += compared
        found += [*retry_storms(trace), *self._repeated(run, trace)]
        found += [*time_spent(trace), *long_waits(trace), *_queued(run, trace), *costs(trace)]
        ordered = tuple(sorted(found, key=lambda each: each.order))
        summary = _summary(run, verdict, ordered)
        return Analysis(run.id, verdict, summary, ordered, None if good is None else good.id)

    def _last_good(self, run: Run) -> Run | None:
        """The latest earlier run of the same flow that ended well and was no test."""
        if run.subject is None or run.program == "chat":
            return None
        done = self._runs.records.listed(
            run.scope,
            subject=run.subject,
            program=run.program,
            statuses=[Status.done.value],
            before=run.id,
            limit=_LOOKED_AT,
        )
        return next((each for each in done if not self._is_test(each)), None)

    def _is_test(self, run: Run) -> bool:
        return Rehearsal.of(self._runs.request(run.scope, run.id).grant) is not None

    def _errors(self, run: Run, trace: Trace) -> Iterator[Finding]:
        rows = failed_rows(trace)
        if not rows:
            return
        end = self._runs.journal.end(run.scope, run.id)
        told = end.data.get("error") if end is not None else None
        at = str(told.get("at") or "") if isinstance(told, Mapping) else ""
        fault = fault_of(rows, at)
        message = message_of(self._runs.journal.entries(run.scope, fault.run_id), fault.about)
        has_failed = run.status is Status.failed
        yield first_error(rows, at, message, has_failed=has_failed)

    def _changed(self, run: Run, good: Run, now: Trace, before: Trace) -> Iterator[Finding]:
        requests = [self._runs.request(run.scope, each.id) for each in (run, good)]
        yield from changes(requests[0], requests[1], now)
        yield from changed_models(now, before)

    def _repeated(self, run: Run, trace: Trace) -> Iterator[Finding]:
        rows = {row.key: row for row in trace.rows if row.run_id == run.id}
        entries = list(self._runs.journal.entries(run.scope, run.id))
        yield from repeated_calls(entries, rows)

    def _used(self, run: Run, trace: Trace) -> Iterator[Finding]:
        try:
            usage = self._usage(run)
        except NotFound:
            # It has not begun, so nothing was used.
            return
        for name, amount in usage.items():
            limit, spent = amount.get("limit"), amount.get("spent")
            if limit is None or spent is None or Decimal(limit) <= 0:
                continue
            share = Decimal(spent) / Decimal(limit)
            if share >= _NEARLY:
                text = f"The run used {spent} of its budget of {limit} {name} ({share_text(float(share), 1)})."
                roots = (SpanRef.of(trace.rows[0]),) if trace.rows else ()
                yield Finding("budget", "warning", text, spans=roots)


def _ended(run: Run) -> Verdict:
    match run.status:
        case Status.failed:
            return "failed"
        case Status.cancelled:
            return "cancelled"
        case Status.done:
            return "unremarkable"
        case _:
            return "under way"


def _compared(
    run: Run, now: Trace, before: Trace, verdict: Verdict
) -> tuple[list[Finding], Verdict]:
    """Time and money beside those of the last good run."""
    found: list[Finding] = []
    spent = [(each.end - each.start).total_seconds() * 1000 for each in (now, before)]
    paid = [cost_of(each) for each in (now, before)]
    is_done = run.status is Status.done
    roots = (SpanRef.of(now.rows[0]),) if now.rows else ()
    if paid[0] >= _TIMES * paid[1] and paid[0] - paid[1] >= _LEAST_USD:
        text = f"It cost {usd_text(paid[0])}. The last good run cost {usd_text(paid[1])}."
        found.append(Finding("cost", "cause" if is_done else "warning", text, spans=roots))
        verdict = "costly" if is_done else verdict
    if spent[0] >= _TIMES * spent[1] and spent[0] - spent[1] >= _LEAST_MS:
        text = (
            f"It took {duration_text(spent[0])}. The last good run took {duration_text(spent[1])}."
        )
        found.append(Finding("time", "cause" if is_done else "warning", text, spans=roots))
        verdict = "slow" if is_done else verdict
    return found, verdict


def _queued(run: Run, trace: Trace) -> Iterator[Finding]:
    if run.started_at is None:
        return
    waited = (run.started_at - run.created_at).total_seconds()
    if waited >= _LONG_QUEUE:
        text = f"It waited {duration_text(waited * 1000)} in the queue before a worker took it."
        roots = (SpanRef.of(trace.rows[0]),) if trace.rows else ()
        yield Finding("queue", "note", text, spans=roots)


_OPENINGS: Final[dict[Verdict, str]] = {
    "failed": "The run failed.",
    "cancelled": "Someone cancelled the run.",
    "slow": "The run ended well, but took much longer than the last good run.",
    "costly": "The run ended well, but cost much more than the last good run.",
    "unremarkable": "The run ended well.",
    "under way": "The run is not over yet.",
}


def _summary(run: Run, verdict: Verdict, findings: tuple[Finding, ...]) -> str:
    main = [each.text for each in findings if each.order == 0]
    main += [each.text for each in findings if each.order == 1][: 3 - len(main)]
    opening = [] if main and verdict == "failed" else [_OPENINGS[verdict]]
    if not main and run.status.is_final:
        main = ["Nothing stands out."]
    return " ".join([*opening, *main])
