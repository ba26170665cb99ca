"""Sends each run as a trace when it ends, where a collector is set."""

from functools import partial

from steward.agents.spans import spans_of
from steward.core.settings import TraceSettings
from steward.runs import Run, Runs
from steward.trace.otlp import Collector
from steward.trace.spans import Span


def watch_runs(runs: Runs, settings: TraceSettings) -> Collector | None:
    """Nothing is loaded, and no thread runs, unless there is somewhere to send to."""
    if settings.otlp_endpoint is None:
        return None
    collector = Collector(settings)
    runs.parts.on_end.append(
        lambda run: collector.take(partial(_spans, runs, run, settings.content))
    )
    return collector


def _spans(runs: Runs, run: Run, content: bool) -> list[Span]:
    ended = runs.get(run.scope, run.id)
    entries = list(runs.journal.entries(run.scope, run.id))
    return spans_of(ended, _root(runs, ended), entries, runs.payload, content=content)


def _root(runs: Runs, run: Run) -> str:
    """Sub-runs belong to the trace of the run that was started by a person."""
    while run.parent_id is not None:
        run = runs.get(run.scope, run.parent_id)
    return run.id
