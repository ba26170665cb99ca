"""Dossiers of runs, and how planning goes."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response

from steward.agents import as_markdown, dossier
from steward.api.context import steward_of
from steward.api.documents import Output
from steward.api.guards import AsViewer
from steward.api.routing import Router
from steward.api.types import RunId

router = Router(prefix="/projects/{project_id}", tags=["runs"])

_MARKDOWN = "text/markdown"


@router.get(
    "/runs/{run_id}/dossier",
    response_model=dict[str, Any],
    responses={200: {"content": {_MARKDOWN: {}}, "description": "As JSON, or as Markdown."}},
)
def read_dossier(
    request: Request, access: AsViewer, run_id: RunId, accept: Annotated[str, Header()] = ""
) -> Any:
    """What was planned, tried, approved and found in a run, and what came of it; from its journal alone."""
    runs = steward_of(request).runs
    run = runs.get(access.scope, run_id)
    found = dossier(run, list(runs.journal.entries(access.scope, run_id)), runs.payload)
    if _MARKDOWN in accept:
        return Response(as_markdown(found), media_type=f"{_MARKDOWN}; charset=utf-8")
    return found


class PlannerMeasuresOut(Output):
    since: datetime
    turns: int
    plans: int
    planner_latency_s: dict[str, float] | None
    adherence_rate: float | None
    deviations: dict[str, int]
    validation_failures: int
    repaired_rate: float | None
    fallback_rate: float | None
    completion_rate: float | None
    unsourced_figures: int


@router.get("/planner/measures")
def read_planner_measures(
    request: Request, access: AsViewer, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> PlannerMeasuresOut:
    """How planning went in the last days: speed, adherence, deviations, plans that were not valid."""
    steward = steward_of(request)
    since = steward.clock.now() - timedelta(days=days)
    return PlannerMeasuresOut.model_validate(
        steward.planning.measures.since(access.scope, since), from_attributes=True
    )
