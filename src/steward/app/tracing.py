"""What others watch: runs as traces where a collector is set, and planning in numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from steward.agents import Turned
from steward.app.foundation import Foundation
from steward.broker import Budgets
from steward.connections import Syslog
from steward.core import Clock, TraceSettings
from steward.observe import (
    AgentExplorer,
    AlertRounds,
    Alerts,
    Analyst,
    AuditExport,
    AuditStreams,
    BudgetOutlook,
    Bystanders,
    CostExplorer,
    Details,
    Hourly,
    Kept,
    Overview,
    Projector,
    ReceivedSpans,
    Rollups,
    RunOutputs,
    SpanContents,
    SpanTrees,
    Traces,
    is_shared,
    spans_of,
)
from steward.runs import QUEUES, Run, Runs
from steward.trace import Collector, Metrics, ReadGauge, Span


@dataclass(frozen=True)
class Observations:
    """Figures and traces, made from journals when somebody looks, and alerts about them."""

    projector: Projector
    overview: Overview
    costs: CostExplorer
    details: Details
    agents: AgentExplorer
    traces: Traces
    trees: SpanTrees
    received: ReceivedSpans
    analyst: Analyst
    contents: SpanContents
    alerts: Alerts
    alert_rounds: AlertRounds
    budgets: BudgetOutlook
    audit: AuditExport


@dataclass(frozen=True)
class Figures:
    """Sums of what runs did, made from their journals."""

    projector: Projector
    hourly: Hourly
    agents: AgentExplorer


def open_figures(base: Foundation) -> Figures:
    database, clock, settings = base.database, base.clock, base.settings.observe
    sums = Rollups(database, clock, Kept(settings.minute_figures, settings.hour_figures))
    base.runs.parts.chores.append(sums.tidy)
    outputs = RunOutputs(database, clock, settings.hour_figures)
    projector = Projector(database, base.runs, sums, outputs)
    return Figures(projector, Hourly(database, outputs), AgentExplorer(database, projector))


def observe_runs(
    base: Foundation, figures: Figures, budgets: Budgets, bystanders: Bystanders
) -> Observations:
    database, events, clock, ids = base.database, base.events, base.clock, base.ids
    identity, runs, settings = base.identity, base.runs, base.settings.observe
    projector, hourly = figures.projector, figures.hourly
    rounds = AlertRounds(
        database,
        events,
        clock,
        ids,
        runs,
        identity.notifications,
        projector,
        hourly,
        bystanders,
        settings.alert_interval,
        settings.alert_history,
    )
    runs.parts.beside.append(rounds.serve)
    runs.parts.chores.append(rounds.tidy)
    trees = SpanTrees(database, clock, ids)
    received = ReceivedSpans(database, clock)
    traces = Traces(database, runs, trees, received)
    runs.parts.on_end.append(traces.note_end)
    runs.parts.beside.append(traces.serve)
    runs.parts.chores.append(lambda: trees.tidy(settings.trace_history))
    runs.parts.chores.append(lambda: received.tidy(settings.received_spans))
    analyst = Analyst(runs, traces, lambda run: budgets.status(run).to_json())
    return Observations(
        projector,
        Overview(database, projector, budgets.spent_usd),
        CostExplorer(database, projector),
        Details(database, projector, runs),
        figures.agents,
        traces,
        trees,
        received,
        analyst,
        SpanContents(runs),
        Alerts(database, events, clock, ids, identity.members, projector, hourly),
        rounds,
        BudgetOutlook(database, projector),
        AuditExport(database, events, runs.heads, clock),
    )


def stream_events(base: Foundation, export: AuditExport, metrics: Metrics) -> None:
    """Sends the event log on where the settings name a place for it."""
    chosen, scopes = base.settings.audit.streams, base.identity.projects.scopes
    if not chosen:
        return
    syslog = Syslog(allow_private=base.settings.network.allow_private)
    streams = AuditStreams(
        base.database, base.events, base.clock, export, chosen, scopes, base.http, syslog
    )
    base.runs.parts.beside.append(streams.serve)
    text = "Projects whose last events a stream of the event log did not take."
    metrics.read_on_demand(
        lambda: [ReadGauge("steward_audit_failing", text, dict(streams.failing()), "stream")]
    )


def watch_runs(
    runs: Runs, metrics: Metrics, clock: Clock, settings: TraceSettings
) -> Collector | None:
    """Counts how runs end here, and sends their spans where there is somewhere to send to."""

    def count(run: Run) -> None:
        metrics.runs_ended.labels(run.program, run.status.value).inc()
        metrics.run_seconds.labels(run.program).observe(
            (clock.now() - run.created_at).total_seconds()
        )

    runs.parts.on_end.append(count)
    metrics.read_on_demand(lambda: _queue_gauges(runs))
    # Nothing is loaded, and no thread runs, unless there is a collector.
    if settings.otlp_endpoint is None:
        return None
    collector = Collector(settings)
    runs.parts.on_end.append(
        lambda run: collector.take(partial(_spans, runs, run, settings.content))
    )
    return collector


def _queue_gauges(runs: Runs) -> list[ReadGauge]:
    queues, workers = runs.records.queue_figures(QUEUES)
    present = len(runs.presence.seen())
    waits = {name: each.longest_wait.total_seconds() for name, each in queues.items()}
    return [
        ReadGauge(
            "steward_queue_waiting",
            "Runs that are due and that nobody drives.",
            {name: each.waiting for name, each in queues.items()},
            "queue",
        ),
        ReadGauge(
            "steward_queue_longest_wait_seconds", "Since when one of them is due.", waits, "queue"
        ),
        ReadGauge(
            "steward_queue_driven",
            "Runs that a worker drives.",
            {name: each.driven for name, each in queues.items()},
            "queue",
        ),
        ReadGauge("steward_workers_busy", "Workers that drive a run.", {"": workers}),
        ReadGauge("steward_workers", "Workers that gave a sign of life.", {"": present}),
    ]


def _spans(runs: Runs, run: Run, content: bool) -> list[Span]:
    ended = runs.get(run.scope, run.id)
    entries = list(runs.journal.entries(run.scope, run.id))
    spans = spans_of(ended, _root(runs, ended), entries, runs.payload, content=content)
    # What a fork has from its origin was sent with the origin's trace.
    return [span for span in spans if not is_shared(ended, span)]


def _root(runs: Runs, run: Run) -> str:
    """Sub-runs belong to the trace of the run that was started by a person."""
    while run.parent_id is not None:
        run = runs.get(run.scope, run.parent_id)
    return run.id


def counting(metrics: Metrics) -> Callable[[Turned], None]:
    """Adds a chat turn to the metrics of this process."""

    def count(turn: Turned) -> None:
        for seconds in turn.planner_seconds:
            metrics.plan_seconds.observe(seconds)
        metrics.plans.labels("model").inc(turn.by_model)
        metrics.plans.labels("fallback").inc(turn.fallback)
        metrics.plans.labels("rules").inc(turn.plans - turn.by_model - turn.fallback)
        metrics.plan_problems.inc(turn.problems)
        for kind in turn.deviations:
            metrics.plan_deviations.labels(kind).inc()
        if turn.adherence is not None:
            metrics.plan_adherence.observe(turn.adherence)

    return count
