"""Runs: listed, started, looked at, measured, and what they changed taken back."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request, status
from pydantic import AwareDatetime, Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsOperator, AsViewer, AsViewerOrRunner
from steward.api.routes.history import DependantOut
from steward.api.routing import Router
from steward.api.run_documents import (
    KeyIn,
    ListedRun,
    RunDetail,
    RunOut,
    StatusName,
    StepKey,
    run_detail,
)
from steward.api.types import RunId
from steward.broker import DIRECT_PROGRAM, Risk
from steward.core import Invalid, Problem
from steward.flows import Question, Start
from steward.identity import Role
from steward.observe import Counted, UsedKind
from steward.runs import Run

router = Router(prefix="/projects/{project_id}/runs", tags=["runs"])


class RunStatusOut(Output):
    id: str
    status: StatusName
    reason: str | None
    progress: dict[str, Any] | None
    waits: list[dict[str, Any]] | None


class StartIn(Input):
    flow: dict[str, Any] | str | None = Field(
        None, description="The flow, as JSON or as YAML text."
    )
    tool: str | None = Field(None, max_length=100, description="A single tool instead of a flow.")
    arguments: dict[str, Any] = Field(default_factory=dict)
    query_type: Literal["sql", "plan", "python"] | None = Field(
        None, description="A single query instead of a flow."
    )
    query: str | None = Field(
        None, min_length=1, max_length=100_000, description="The query; needs `query_type`."
    )
    inputs: dict[str, Any] = Field(default_factory=dict)
    title: str = Field("", max_length=200)
    branch: str = Field("main", min_length=1, max_length=100)
    highest_risk: Risk = Risk.external_send
    budget: dict[str, Any] | None = None
    queue: Literal["cpu", "llm"] = "cpu"
    priority: int = Field(0, ge=-100, le=100)


def _counted(
    flow: Annotated[str | None, Query(max_length=200, description="As figures name it.")] = None,
    revision: Annotated[int | None, Query(ge=0, description="Of its playbook; 0 for none.")] = None,
    since: Annotated[
        AwareDatetime | None,
        Query(description="Runs that ended, or used what is asked for, from this hour on."),
    ] = None,
    until: Annotated[AwareDatetime | None, Query(description="And before this hour.")] = None,
    used: Annotated[
        UsedKind | None,
        Query(
            description="Runs that used something of this kind; with `run` all, also those that "
            "other runs started."
        ),
    ] = None,
    name: Annotated[str | None, Query(max_length=200, description="Of what they used.")] = None,
    agent: Annotated[
        str | None, Query(max_length=200, description="The agent for which they used it.")
    ] = None,
    failed: Annotated[
        bool, Query(description="Runs that failed; with `used`, runs in which its use failed.")
    ] = False,
    code: Annotated[
        str | None, Query(max_length=80, description="How they, or their use of it, failed.")
    ] = None,
) -> Counted:
    return Counted(since, until, flow, revision, used, name, agent, failed, code)


@router.get("")
def list_runs(
    request: Request,
    access: AsViewerOrRunner,
    counted: Annotated[Counted, Depends(_counted)],
    run_status: Annotated[list[StatusName] | None, Query(alias="status")] = None,
    mine: bool = False,
    subject: Annotated[str | None, Query(max_length=200)] = None,
    parent: Annotated[str | None, Query(max_length=40)] = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    by_hand: Annotated[
        bool, Query(description="Whether finished changes that people made by hand are listed too.")
    ] = True,
    created_by: Annotated[str | None, Query(max_length=40)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ListedRun]:
    """Newest first. What a figure counts is asked for as the figure has it; only runs that ended count."""
    steward = steward_of(request)
    records, sight = steward.runs.records, steward.playbooks.people.sight(access)

    def fetch(before: str | None, count: int) -> list[Run]:
        return records.listed(
            access.scope,
            statuses=[str(item) for item in run_status or ()],
            subject=subject,
            author=access.user_id if mine or access.role is Role.runner else created_by,
            parent=parent,
            text=q,
            before=before,
            limit=count,
            among=sight.among,
            unless_done=None if by_hand else DIRECT_PROGRAM,
            where=counted.condition(),
        )

    items, following = page(fetch, lambda run: run.id, cursor, limit)
    costs = steward.governing.budgets.costs(access.scope, [run.id for run in items])
    listed = [
        ListedRun(**RunOut.model_validate(run).model_dump(), cost_usd=costs.get(run.id))
        for run in items
    ]
    return Page(items=listed, next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def start_run(request: Request, access: AsOperator, body: StartIn) -> RunOut:
    """Checks a flow, or a call of one tool, and puts it in the queue."""
    launcher = steward_of(request).governing.launcher
    document, title = body.flow, body.title
    if body.tool is not None:
        document = launcher.single(body.tool, body.arguments, title)
    elif body.query_type is not None or body.query is not None:
        question = _query(body).without_secrets(launcher, access.scope)
        title = title or question.title
        document = launcher.single(question.tool, question.arguments, title)
    start = Start(
        document=document,
        inputs=body.inputs,
        title=title,
        branch=body.branch,
        highest_risk=body.highest_risk,
        budget=body.budget,
        queue=body.queue,
        priority=body.priority,
    )
    return RunOut.model_validate(launcher.start(access, start))


def _query(body: StartIn) -> Question:
    if body.query_type is None or body.query is None:
        missing = "query" if body.query is None else "query_type"
        raise Invalid(
            "A query needs `query_type` and `query`.",
            problems=[Problem(f"/{missing}", "is missing")],
        )
    return Question(body.query_type, body.query, body.arguments)


class MeasuresOut(Output):
    since: datetime
    runs: dict[str, int]
    completion_rate: float | None
    error_rate: float | None
    approvals: dict[str, int]
    approval_latency_s: dict[str, float] | None
    approved_unchanged_rate: float | None
    undo_success_rate: float | None
    revert_latency_ms: dict[str, float] | None


@router.get("/measures")
def read_measures(
    request: Request, access: AsViewer, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> MeasuresOut:
    """How the runs of the last days went: completion, errors, approvals, undo."""
    steward = steward_of(request)
    since = steward.clock.now() - timedelta(days=days)
    return MeasuresOut.model_validate(steward.governing.measures.since(access.scope, since))


@router.get("/{run_id}")
def read_run(request: Request, access: AsViewerOrRunner, run_id: RunId) -> RunDetail:
    return run_detail(steward_of(request), access, run_id)


@router.get("/{run_id}/status")
def read_run_status(request: Request, access: AsViewerOrRunner, run_id: RunId) -> RunStatusOut:
    return RunStatusOut.model_validate(steward_of(request).runs.get(access.scope, run_id))


class UndoIn(Input):
    key: StepKey
    merge_rows: bool = Field(False, description="Put back only rows that nobody changed since.")


class ActionOut(Output):
    key: str
    tool: str
    summary: str
    at: datetime
    commits: list[str]
    way: str
    undone: bool
    turned_by: str | None = Field(description="Who undid or redid it last.")
    turned_at: datetime | None


class UndoPlanOut(Output):
    action: ActionOut
    dependants: list[DependantOut]
    blocked: list[str]


@router.get("/{run_id}/actions")
def list_actions(request: Request, access: AsViewer, run_id: RunId) -> Page[ActionOut]:
    """What the run changed, and how each change can be taken back."""
    actions = steward_of(request).governing.undoing.actions(access.scope, run_id)
    return Page(items=[ActionOut.model_validate(item) for item in actions], next_cursor=None)


@router.get("/{run_id}/undo-plan")
def plan_run_undo(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    key: Annotated[str, Query(min_length=1, max_length=400)],
) -> UndoPlanOut:
    """What depends on an action, before it is taken back."""
    plan = steward_of(request).governing.undoing.plan(access.scope, run_id, key)
    return UndoPlanOut.model_validate(plan)


@router.post("/{run_id}/undo")
async def undo_run_action(
    request: Request, access: AsOperator, run_id: RunId, body: UndoIn
) -> ActionOut:
    undoing = steward_of(request).governing.undoing
    action = await undoing.undo(access, run_id, body.key, merge_rows=body.merge_rows)
    return ActionOut.model_validate(action)


@router.post("/{run_id}/redo")
async def redo_run_action(
    request: Request, access: AsOperator, run_id: RunId, body: KeyIn
) -> ActionOut:
    undoing = steward_of(request).governing.undoing
    return ActionOut.model_validate(await undoing.redo(access, run_id, body.key))
