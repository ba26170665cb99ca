"""What happened and what it cost: the overview of a project, its spending, and the trace of a run."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import Query, Request, Response
from pydantic import AfterValidator, Field

from steward.api.context import context_of
from steward.api.documents import Output, attachment
from steward.api.guards import AsViewer
from steward.api.routing import Router
from steward.api.types import RunId
from steward.app import (
    FailingTrigger,
    Steward,
    agent_title,
    cost_report,
    failing_triggers,
    figure_names,
    flow_titles,
)
from steward.core import copied
from steward.identity import Access
from steward.observe import (
    NANO,
    CostReport,
    Dimension,
    OverviewFigures,
    Ranked,
    Totals,
    Trace,
    TraceFilter,
    TraceRow,
    known_zone,
)
from steward.output import spreadsheet_safe
from steward.trace import Value

router = Router(prefix="/projects/{project_id}", tags=["observe"])

Hours = Annotated[int, Query(ge=1, le=24 * 31)]
Position = Annotated[int, Field(ge=0, le=10_000_000)]
Days = Annotated[int, Query(ge=1, le=366)]
HourlyDays = Annotated[int, Query(ge=1, le=92)]
TimeZone = Annotated[
    str, Query(max_length=64, description="Such as Europe/Vienna."), AfterValidator(known_zone)
]


class TotalsOut(Output):
    runs: int = Field(description="Runs that ended, without those that other runs started.")
    failed: int
    cancelled: int
    usd: float
    tokens: int
    calls: int = Field(description="Calls of tools.")
    seconds: float = Field(description="How long the runs took, added up.")


class HeatOut(Output):
    flow: str
    hour: datetime
    tokens: int
    runs: int
    errors: int


class RankedOut(Output):
    kind: Literal["flow", "model", "tool", "agent", "connector"]
    name: str
    title: str
    count: int
    errors: int
    usd: float
    tokens: int
    seconds: float


class FailingOut(Output):
    flow: str
    title: str
    failed: int
    runs: int
    last_run_id: str


class WaitingApprovalsOut(Output):
    waiting: int
    oldest_at: datetime | None = Field(description="Since when the oldest of them waits.")


class QueueOut(Output):
    oldest_at: datetime | None = Field(description="When the run that waits longest was queued.")
    workers: int = Field(description="Workers that drive runs of the project now.")


class FailingTriggerOut(Output):
    id: str
    name: str
    playbook: str
    since: datetime
    why: str = Field(description="Empty where it is silent for longer than expected.")


class OverviewOut(Output):
    since: datetime
    hours: int
    live: dict[str, int] = Field(description="Runs that are not over, by status.")
    now: TotalsOut
    before: TotalsOut = Field(description="The same for the period of the same length before.")
    live_usd: float = Field(description="What runs that are not over have spent so far.")
    today_usd: float = Field(description="What ended runs have spent since midnight UTC.")
    approvals: WaitingApprovalsOut
    queue: QueueOut
    triggers: list[FailingTriggerOut] = Field(description="Triggers that fail or are silent.")
    titles: dict[str, str] = Field(description="Names of the flows below.")
    heat: list[HeatOut]
    ranked: list[RankedOut]
    failing: list[FailingOut]
    is_complete: bool = Field(description="False while many runs are still being counted.")


class CostLineOut(Output):
    day: date
    name: str
    title: str
    usd: float
    input_tokens: int
    output_tokens: int
    count: int


class ForecastOut(Output):
    days: int
    usd: float
    low: float | None
    high: float | None


class CostDayOut(Output):
    day: date
    usd: float


class CostDaysOut(Output):
    first: date = Field(description="The first day that was asked for.")
    items: list[CostDayOut] = Field(description="Days that cost anything, oldest first.")


class CostsOut(Output):
    first: date
    last: date
    by: Dimension
    usd: float
    lines: list[CostLineOut]
    forecasts: list[ForecastOut] = Field(description="Empty before the first whole week.")
    history_days: int
    is_complete: bool


class SpanOut(Output):
    position: int
    depth: int
    size: int = Field(description="Spans below it.")
    run_id: str
    key: str
    about: str = Field(
        description="The key that the journal's entries about it have in common; empty for a whole run."
    )
    operation: str
    name: str
    start: datetime
    milliseconds: float
    error: str | None
    attributes: dict[str, Value]


class BucketOut(Output):
    spans: int = Field(description="Spans that are open in it.")
    errors: int = Field(description="Spans that failed in it.")
    position: int = Field(description="The first span that begins in it or before.")


class TraceReadingOut(Output):
    read: int = Field(description="Entries of journals that are read.")
    entries: int


class TraceOut(Output):
    total: int = Field(description="Spans that fit the filter.")
    start: datetime
    milliseconds: float
    is_over: bool
    reading: TraceReadingOut | None = Field(
        description="Set while a long trace is being read: the spans are only the first ones. Ask again."
    )
    buckets: list[BucketOut] = Field(
        description="The whole trace in 200 equal parts of its time; with offset 0 only."
    )
    spans: list[SpanOut]


@router.get("/overview")
async def overview(request: Request, access: AsViewer, hours: Hours = 24) -> OverviewOut:
    """What runs, waits, failed and cost in the last hours, and in the same time before."""
    context = context_of(request)

    def read() -> OverviewOut:
        steward = context.steward
        sight = steward.playbooks.people.sight(access)
        found = steward.observations.overview.figures(
            access.scope, steward.clock.now(), hours, sight.among
        )
        triggers = failing_triggers(steward.playbooks, access.scope, sight.among)
        return _overview_out(found, flow_titles(steward.playbooks, access), triggers)

    return await context.in_turn(access, read)


@router.get("/costs")
async def costs(
    request: Request, access: AsViewer, by: Dimension = "flow", days: Days = 30
) -> CostsOut:
    """Spending by day (UTC) and flow, agent, model, tool, connector, person or tag, with a forecast.

    By project: of all projects of the organisation that are open to you; a token has its own.
    """
    context = context_of(request)

    def read() -> CostsOut:
        steward = context.steward
        report = _report(steward, access, by, days)
        return _costs_out(report, figure_names(steward.identity, steward.playbooks, access, by))

    return await context.in_turn(access, read)


@router.get("/costs/days")
async def get_costs_by_day(
    request: Request, access: AsViewer, zone: TimeZone = "UTC", days: HourlyDays = 30
) -> CostDaysOut:
    """What each day cost, as days are in a time zone."""
    context = context_of(request)

    def read() -> CostDaysOut:
        steward = context.steward
        among = steward.playbooks.people.sight(access).among
        now = steward.clock.now().astimezone(ZoneInfo(zone))
        first = now.date() - timedelta(days=days - 1)
        found = steward.observations.costs.by_day(access.scope, first, ZoneInfo(zone), among)
        return CostDaysOut(
            first=first,
            items=[CostDayOut(day=day, usd=spent / NANO) for day, spent in found.items()],
        )

    return await context.in_turn(access, read)


@router.get(
    "/costs/export",
    response_class=Response,
    responses={
        200: {"content": {"text/csv": {}}, "description": "One line for each day and name."}
    },
)
async def export_costs(
    request: Request, access: AsViewer, by: Dimension = "flow", days: Days = 30
) -> Response:
    """The same as CSV."""
    context = context_of(request)

    def read() -> str:
        steward = context.steward
        report = _report(steward, access, by, days)
        return _costs_csv(report, figure_names(steward.identity, steward.playbooks, access, by))

    content = await context.in_turn(access, read)
    return Response(content, media_type="text/csv", headers=attachment(f"costs-by-{by}.csv"))


@router.get("/runs/{run_id}/trace")
async def trace(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
    q: Annotated[
        str,
        Query(max_length=200, description="In names and keys of spans, and in codes of errors."),
    ] = "",
    operation: Annotated[str | None, Query(max_length=40)] = None,
    errors: bool = False,
    slower_than_ms: Annotated[float, Query(ge=0, le=1e12)] = 0.0,
    folded: Annotated[
        list[Position] | None,
        Query(max_length=500, description="Positions below which nothing is shown."),
    ] = None,
    buckets: Annotated[
        bool, Query(description="False leaves the buckets out, so that the spans come sooner.")
    ] = True,
) -> TraceOut:
    """Spans of a run and of the runs it started, in the order of a tree that is unfolded."""
    context = context_of(request)
    wanted = TraceFilter(q, operation, errors, slower_than_ms)

    def read() -> TraceOut:
        sight = context.steward.playbooks.people.sight(access)
        found = context.steward.observations.traces.look(access.scope, run_id, sight.shows)
        found = found.until(context.steward.clock.now())
        answer = _trace_out(found, offset, limit, wanted, folded or ())
        if buckets and offset == 0:
            answer.buckets = [BucketOut.model_validate(each) for each in found.buckets]
        return answer

    return await context.in_turn(access, read)


def _report(steward: Steward, access: Access, by: Dimension, days: int) -> CostReport:
    return cost_report(
        steward.identity,
        steward.playbooks,
        steward.observations.costs,
        access,
        by,
        days,
        steward.clock.now(),
    )


def _overview_out(
    found: OverviewFigures, title: Callable[[str], str], triggers: Sequence[FailingTrigger]
) -> OverviewOut:
    standing = found.standing
    return OverviewOut(
        since=_moment(found.period.first),
        hours=found.period.hours,
        live=standing.live,
        now=_totals_out(found.now),
        before=_totals_out(found.before),
        live_usd=standing.live_nano_usd / NANO,
        today_usd=standing.today_nano_usd / NANO,
        approvals=WaitingApprovalsOut(
            waiting=standing.approvals, oldest_at=standing.oldest_approval_at
        ),
        queue=QueueOut(oldest_at=standing.oldest_queued_at, workers=standing.workers),
        triggers=[FailingTriggerOut(**asdict(each)) for each in triggers],
        titles={each.flow: title(each.flow) for each in found.heat},
        heat=[copied(HeatOut, each, hour=_moment(each.hour)) for each in found.heat],
        ranked=[
            copied(
                RankedOut,
                each,
                title=_ranked_title(each, title),
                usd=each.nano_usd / NANO,
                seconds=each.milliseconds / 1000,
            )
            for each in found.ranked
        ],
        failing=[copied(FailingOut, each, title=title(each.flow)) for each in found.failing],
        is_complete=found.is_complete,
    )


def _totals_out(found: Totals) -> TotalsOut:
    return copied(TotalsOut, found, usd=found.nano_usd / NANO, seconds=found.milliseconds / 1000)


def _ranked_title(each: Ranked, title: Callable[[str], str]) -> str:
    match each.kind:
        case "flow":
            return title(each.name)
        case "agent":
            return agent_title(each.name)
        case _:
            return each.name


def _costs_out(report: CostReport, title: Callable[[str], str]) -> CostsOut:
    return copied(
        CostsOut,
        report,
        usd=report.nano_usd / NANO,
        lines=[
            copied(
                CostLineOut,
                line,
                title=title(line.name) if line.name else "None",
                usd=line.nano_usd / NANO,
            )
            for line in report.lines
        ],
    )


def _costs_csv(report: CostReport, name: Callable[[str], str]) -> str:
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["day", report.by, "usd", "input_tokens", "output_tokens", "count"])
    for line in report.lines:
        usd = f"{line.nano_usd / NANO:.9f}"
        table.writerow(
            [
                line.day,
                spreadsheet_safe(name(line.name)),
                usd,
                line.input_tokens,
                line.output_tokens,
                line.count,
            ]
        )
    return file.getvalue()


def _trace_out(
    found: Trace, offset: int, limit: int, wanted: TraceFilter, folded: Sequence[int]
) -> TraceOut:
    total, rows = found.window(offset, limit, wanted, folded)
    return TraceOut(
        total=total,
        start=found.start,
        milliseconds=(found.end - found.start).total_seconds() * 1000,
        is_over=found.is_over,
        reading=TraceReadingOut.model_validate(found.reading) if found.reading else None,
        buckets=[],
        spans=[_span_out(row) for row in rows],
    )


def _span_out(row: TraceRow) -> SpanOut:
    return copied(
        SpanOut,
        row,
        name=row.span.name,
        start=row.span.start,
        error=row.span.error,
        attributes=dict(row.span.attributes),
    )


def _moment(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)
