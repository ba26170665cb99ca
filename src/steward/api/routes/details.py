"""What one flow or one connector did lately, and whether a service is away."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from steward.api.context import context_of
from steward.api.documents import Output
from steward.api.guards import AsViewer
from steward.api.routing import Router
from steward.app import agent_title, flow_titles
from steward.observe import NANO, Detail, Detailed, Part, Sums

router = Router(prefix="/projects/{project_id}", tags=["observe"])


class SumsOut(Output):
    count: int = Field(description="Runs of a flow, calls of a connector.")
    errors: int
    seconds: float = Field(description="How long they took, added up.")
    tokens: int
    usd: float
    changes: int = Field(description="Calls that changed something and can be undone.")


class DetailDayOut(SumsOut):
    day: date


class FlowVersionOut(SumsOut):
    revision: int = Field(description="Of the playbook; 0 for none.")


class DetailPartOut(SumsOut):
    kind: str = Field(description="model, tool or agent of a flow; tool or flow of a connector.")
    name: str
    title: str


class FailureOut(Output):
    where: str = Field(description="The tool or model that failed; empty for whole runs.")
    code: str
    times: int
    last_run_id: str = Field(description="The latest run that failed so; empty for calls.")


class OutageOut(Output):
    connector: str
    code: str
    since: datetime
    calls: int = Field(description="Calls that failed since, with none between that was answered.")
    failed_runs: int
    last_run_id: str


class LatestRunsOut(Output):
    runs: int = Field(description="The latest ended runs of a flow, at most 200.")
    median_ms: int | None
    slow_ms: int | None = Field(description="Nineteen of twenty were faster.")
    changes: int
    undone: int


class DetailOut(Output):
    kind: Detailed
    name: str
    title: str
    first: date
    total: SumsOut
    days: list[DetailDayOut] = Field(description="Days without any are left out.")
    versions: list[FlowVersionOut]
    parts: list[DetailPartOut]
    failures: list[FailureOut]
    outages: list[OutageOut] = Field(description="Services that do not answer now.")
    latest: LatestRunsOut
    is_complete: bool = Field(description="False while many runs are still being counted.")


@router.get("/overview/detail")
async def overview_detail(
    request: Request,
    access: AsViewer,
    kind: Detailed,
    name: Annotated[str, Query(min_length=1, max_length=200)],
    days: Annotated[int, Query(ge=1, le=366)] = 30,
) -> DetailOut:
    """What one flow or one connector did in the last days (UTC): by day and version, how it failed, what it used."""
    context = context_of(request)

    def read() -> DetailOut:
        steward = context.steward
        sight = steward.playbooks.people.sight(access)
        found = steward.observations.details.detail(
            access.scope, steward.clock.now(), days, kind, name, sight.among
        )
        return _detail_out(found, flow_titles(steward.playbooks, access))

    return await context.in_turn(access, read)


def _detail_out(found: Detail, title: Callable[[str], str]) -> DetailOut:
    return DetailOut(
        kind=found.kind,
        name=found.name,
        title=title(found.name) if found.kind == "flow" else found.name,
        first=_day(found.first),
        total=SumsOut(**_sums(found.total)),
        days=[DetailDayOut(day=_day(at), **_sums(sums)) for at, sums in sorted(found.days.items())],
        versions=[
            FlowVersionOut(revision=revision, **_sums(sums))
            for revision, sums in sorted(found.versions.items(), reverse=True)
        ],
        parts=[_part_out(part, title) for part in found.parts],
        failures=[FailureOut.model_validate(each) for each in found.failures],
        outages=[OutageOut.model_validate(each) for each in found.outages],
        latest=LatestRunsOut.model_validate(found.latest),
        is_complete=found.is_complete,
    )


def _part_out(part: Part, title: Callable[[str], str]) -> DetailPartOut:
    titles = {"flow": title, "agent": agent_title}
    named = titles.get(part.kind, str)(part.name)
    return DetailPartOut(kind=part.kind, name=part.name, title=named, **_sums(part.sums))


def _sums(found: Sums) -> dict[str, float]:
    return {
        "count": found.count,
        "errors": found.errors,
        "seconds": found.milliseconds / 1000,
        "tokens": found.tokens,
        "usd": found.nano_usd / NANO,
        "changes": found.changes,
    }


def _day(number: int) -> date:
    return datetime.fromtimestamp(number * 86_400, UTC).date()
