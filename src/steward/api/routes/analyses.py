"""Analyses: why a run failed, was slow or cost much, with references to its spans."""

from typing import Any, Literal

from fastapi import Request, status
from pydantic import Field

from steward.api.context import context_of, steward_of
from steward.api.documents import Input, Output
from steward.api.guards import AsOperator, AsSignedIn, AsViewer
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import PROJECT_ID, RUN_ID, RunId
from steward.api.visibility import Visibility
from steward.core import copied

router = Router(prefix="/projects/{project_id}/runs", tags=["observe"])
users_router = Router(tags=["observe"])
outside = Router(outside=True, tags=["observe"])


class SpanRefOut(Output):
    run_id: str
    key: str
    position: int = Field(description="Its row in the trace of the run that is analysed.")
    name: str


class RunFindingOut(Output):
    kind: Literal[
        "error", "budget", "change", "retries", "repeats", "time", "cost", "wait", "queue"
    ]
    weight: Literal["cause", "warning", "note"]
    text: str
    quote: str = Field(description="Words of others, such as the error of a service.")
    spans: list[SpanRefOut]


class AnalysisOut(Output):
    run_id: str
    verdict: Literal["failed", "cancelled", "slow", "costly", "unremarkable", "under way"]
    summary: str
    findings: list[RunFindingOut] = Field(description="What matters most first.")
    compared_with: str | None = Field(description="The last good run of the same flow.")
    has_model: bool = Field(description="Whether a model can say it in words.")


class AnalyseIn(Input):
    project_id: str = Field(pattern=PROJECT_ID)
    run_id: str = Field(pattern=RUN_ID)


@router.get("/{run_id}/analysis")
async def read_analysis(request: Request, access: AsViewer, run_id: RunId) -> AnalysisOut:
    """What rules find: the first error, what changed, retries, time and money. Nothing is stored or spent."""
    context = context_of(request)

    def read() -> AnalysisOut:
        analyses = context.steward.analyses
        found: Any = analyses.find(access, run_id)
        return copied(
            AnalysisOut,
            found,
            has_model=analyses.has_model(access),
        )

    return await context.in_turn(access, read)


@router.post("/{run_id}/analysis", status_code=status.HTTP_201_CREATED)
async def start_analysis(request: Request, access: AsOperator, run_id: RunId) -> RunOut:
    """Starts a run that explains another one in a model's words; its output has the text and the findings."""
    context = context_of(request)
    return await context.in_turn(
        access, lambda: RunOut.model_validate(context.steward.analyses.start(access, run_id))
    )


@users_router.post("/analysis/run", status_code=status.HTTP_201_CREATED)
def analyse_run(request: Request, principal: AsSignedIn, body: AnalyseIn) -> RunOut:
    """The same at one address for all projects."""
    steward = steward_of(request)
    access = steward.identity.projects.enter(principal, body.project_id)
    Visibility(steward, access).refuse_hidden(runs=[body.run_id])
    return RunOut.model_validate(steward.analyses.start(access, body.run_id))


@outside.post("/api/analysis/run", status_code=status.HTTP_201_CREATED)
def analyse_named_run(request: Request, principal: AsSignedIn, body: AnalyseIn) -> RunOut:
    """The same, without the version of the API in its address."""
    return analyse_run(request, principal, body)
