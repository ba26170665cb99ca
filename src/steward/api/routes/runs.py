"""Runs: started, watched, steered, answered, undone, replayed, forked, exported."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Header, Query, Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.context import ApiContext, context_of, steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, attachment, page
from steward.api.guards import (
    AsAsked,
    AsEditor,
    AsOperator,
    AsOperatorOrRunner,
    AsViewer,
    AsViewerOrRunner,
)
from steward.api.routes.events import HEARTBEAT_SECONDS, number, still_allowed
from steward.api.seeing import Seeing
from steward.api.types import RunId
from steward.broker.story import story
from steward.broker.tool import Risk
from steward.core.errors import Invalid, NotFound, Problem
from steward.flows.fast_path import Question
from steward.flows.launch import Start
from steward.identity import Access, Role
from steward.runs import Run

router = APIRouter(prefix="/projects/{project_id}/runs", tags=["runs"])

StatusName = Literal[
    "queued", "running", "blocked", "waiting_for_approval", "reviewing", "done", "failed",
    "cancelled",
]  # fmt: skip
StepKey = Annotated[str, Field(min_length=1, max_length=400)]


class RunOut(Output):
    id: str
    title: str
    program: str
    subject: str | None
    status: StatusName
    reason: str | None
    queue: str
    priority: int
    control: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    parent_id: str | None
    root_id: str
    forked_from: str | None
    progress: dict[str, Any] | None
    waits: list[dict[str, Any]] | None


class RunDetail(RunOut):
    document: Any
    inputs: Any
    grant: dict[str, Any]
    budget: dict[str, Any]
    usage: dict[str, Any]
    output: Any
    error: dict[str, Any] | None
    entries: int
    head_hash: str


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


class EntryOut(Output):
    seq: int
    kind: str
    key: str
    at: datetime
    data: dict[str, Any]
    hash: str


class CallOut(Output):
    key: str
    tool: str | None
    state: str
    began_at: datetime
    ended_at: datetime | None
    arguments: Any
    decision: Any
    preview: Any
    provenance: Any
    approvals: list[Any]
    waits: list[Any]
    retries: int
    summary: str
    value: Any
    artifacts: list[Any]
    commits: list[str]
    cost: Any
    error: Any
    undone: bool


class AnswerIn(Input):
    key: StepKey
    answer: Any = Field(description="What the wait asked for.")


class KeyIn(Input):
    key: StepKey


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


class DependantOut(Output):
    commit: str
    message: str
    author: str
    created_at: datetime
    kind: str
    name: str
    reason: str


class UndoPlanOut(Output):
    action: ActionOut
    dependants: list[DependantOut]
    blocked: list[str]


class DivergenceOut(Output):
    key: str
    what: str
    recorded: Any
    replayed: Any


class ReplayOut(Output):
    run_id: str
    entries: int
    steps: int
    ended: str
    divergences: list[DivergenceOut]


class ForkIn(Input):
    at: str | None = Field(None, max_length=400, description="The step to fork before.")
    changes: dict[str, Any] = Field(
        default_factory=dict, description="New values by JSON pointer, as in `/inputs/limit`."
    )


class StepDifferenceOut(Output):
    key: str
    same: bool
    left: Any
    right: Any


class VerifyOut(Output):
    intact: bool
    seq: int | None
    reason: str | None


def run_out(run: Run) -> RunOut:
    return RunOut.model_validate(run)


@router.get("")
def list_runs(
    request: Request,
    access: AsViewerOrRunner,
    run_status: Annotated[list[StatusName] | None, Query(alias="status")] = None,
    mine: bool = False,
    subject: Annotated[str | None, Query(max_length=200)] = None,
    parent: Annotated[str | None, Query(max_length=40)] = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[RunOut]:
    """Newest first."""
    steward = steward_of(request)
    records, sight = steward.runs.records, steward.playbooks.people.sight(access)

    def fetch(before: str | None, count: int) -> list[Run]:
        return records.listed(
            access.scope,
            statuses=[str(item) for item in run_status or ()],
            subject=subject,
            author=access.user_id if mine or access.role is Role.runner else None,
            parent=parent,
            text=q,
            before=before,
            limit=count,
            among=sight.among,
        )

    items, following = page(fetch, lambda run: run.id, cursor, limit)
    return Page(items=[run_out(run) for run in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def start_run(request: Request, access: AsOperator, body: StartIn) -> RunOut:
    """Checks a flow, or a call of one tool, and puts it in the queue."""
    launcher = steward_of(request).governing.launcher
    document, title = body.flow, body.title
    if body.tool is not None:
        document = launcher.single(body.tool, body.arguments, title)
    elif body.query_type is not None or body.query is not None:
        question = _query(body)
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
    return run_out(launcher.start(access, start))


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
    steward = steward_of(request)
    run = steward.runs.get(access.scope, run_id)
    asked = steward.runs.request(access.scope, run_id)
    outcome = steward.runs.outcome(access.scope, run_id) or {}
    try:
        usage = steward.governing.budgets.status(run).to_json()
    except NotFound:
        # It has not begun, so nothing was used.
        usage = {}
    head = steward.runs.journal.head(access.scope, run_id)
    return RunDetail(
        **run_out(run).model_dump(),
        document=asked.document,
        inputs=asked.inputs,
        grant=asked.grant,
        budget=asked.budget,
        usage=usage,
        output=outcome.get("output"),
        error=outcome.get("error"),
        entries=head.seq,
        head_hash=head.hash,
    )


@router.get("/{run_id}/status")
def read_run_status(request: Request, access: AsViewerOrRunner, run_id: RunId) -> RunStatusOut:
    return RunStatusOut.model_validate(steward_of(request).runs.get(access.scope, run_id))


@router.get("/{run_id}/journal")
def list_entries(
    request: Request, access: AsViewer, run_id: RunId, cursor: Cursor = None, limit: Limit = 50
) -> Page[EntryOut]:
    """The entries of its journal, oldest first."""
    runs = steward_of(request).runs
    runs.get(access.scope, run_id)

    def fetch(after: str | None, count: int) -> list[Any]:
        return runs.journal.page(access.scope, run_id, number(after) or 0, count)

    items, following = page(fetch, lambda entry: str(entry.seq), cursor, limit)
    return Page(items=[EntryOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/{run_id}/calls")
def list_calls(request: Request, access: AsViewerOrRunner, run_id: RunId) -> Page[CallOut]:
    """What the run did, call by call, as its page shows it."""
    runs = steward_of(request).runs
    runs.get(access.scope, run_id)
    told = story(runs.journal.entries(access.scope, run_id), runs.payload)
    return Page(items=[CallOut(**asdict(call)) for call in told], next_cursor=None)


@router.get(
    "/{run_id}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
def follow_run(
    request: Request,
    access: AsViewerOrRunner,
    run_id: RunId,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> StreamingResponse:
    """Journal entries as they are written, from `Last-Event-ID` (or `after`, or the beginning) on."""
    context = context_of(request)
    context.steward.runs.get(access.scope, run_id)
    start = number(last_event_id) if last_event_id else after
    return StreamingResponse(
        _stream(context, access, run_id, start or 0),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def _stream(context: ApiContext, access: Access, run_id: str, seq: int) -> AsyncIterator[str]:
    runs = context.steward.runs
    rung = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ring() -> None:
        loop.call_soon_threadsafe(rung.set)

    with context.steward.metrics.streams.track_inprogress(), runs.listening(run_id, ring):
        yield ": connected\n\n"
        told: str | None = None
        while not context.stopping.is_set():
            rung.clear()
            entries = await to_thread.run_sync(runs.journal.page, access.scope, run_id, seq, 200)
            for entry in entries:
                seq = entry.seq
                yield _frame("entry", EntryOut.model_validate(entry).model_dump(mode="json"), seq)
            if entries:
                continue
            run = await to_thread.run_sync(runs.get, access.scope, run_id)
            state = run_out(run).model_dump(mode="json")
            if (shown := json.dumps(state)) != told:
                told = shown
                yield _frame("run", state, None)
            if run.status.is_final:
                yield _frame("end", {"status": run.status.value}, None)
                return
            try:
                await asyncio.wait_for(rung.wait(), min(HEARTBEAT_SECONDS, _LOOK_SECONDS))
            except TimeoutError:
                if not await to_thread.run_sync(still_allowed, context, access):
                    return
                yield ": still here\n\n"


_LOOK_SECONDS = 2.0
"""Entries that another process writes may not ring here; a stream looks by itself this often."""


def _frame(kind: str, document: Any, seq: int | None) -> str:
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    position = f"id: {seq}\n" if seq is not None else ""
    return f"{position}event: {kind}\ndata: {body}\n\n"


@router.post("/{run_id}/pause")
def pause_run(request: Request, access: AsOperator, run_id: RunId) -> RunOut:
    """It stops before its next step; what has begun is finished and recorded."""
    return _control(request, access, run_id, "pause")


@router.post("/{run_id}/resume")
def resume_run(request: Request, access: AsOperator, run_id: RunId) -> RunOut:
    return _control(request, access, run_id, "resume")


@router.post("/{run_id}/cancel")
def cancel_run(request: Request, access: AsOperatorOrRunner, run_id: RunId) -> RunOut:
    """It ends before its next step, and so do the runs it started; queries and code that run are stopped."""
    return _control(request, access, run_id, "cancel")


def _control(request: Request, access: Access, run_id: str, action: str) -> RunOut:
    records = steward_of(request).runs.records
    return run_out(records.control(access.scope, run_id, action, access.user_id))


@router.post("/{run_id}/answers", status_code=status.HTTP_204_NO_CONTENT)
def answer_run(request: Request, access: AsAsked, run_id: RunId, body: AnswerIn) -> None:
    """Answers a question, a budget request or an uncertain effect; approvals have their own address."""
    Seeing(steward_of(request), access).refuse_unasked(run_id, body.key)
    steward_of(request).governing.inbox.answer(access, run_id, body.key, body.answer)


@router.post("/{run_id}/take-back", status_code=status.HTTP_204_NO_CONTENT)
def take_back_send(
    request: Request, access: AsOperatorOrRunner, run_id: RunId, body: KeyIn
) -> None:
    """Stops a message within the seconds before it goes out."""
    steward_of(request).governing.approvals.take_back(access, run_id, body.key)


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


@router.post("/{run_id}/replay")
async def replay_run(request: Request, access: AsViewer, run_id: RunId) -> ReplayOut:
    """Drives the record again, with no model, network or clock, and tells every difference."""
    report = await steward_of(request).runs.replay(access.scope, run_id)
    return ReplayOut.model_validate(report)


@router.post("/{run_id}/fork", status_code=status.HTTP_201_CREATED)
def fork_run(request: Request, access: AsEditor, run_id: RunId, body: ForkIn) -> RunOut:
    """A new run that shares the history before a step and goes on with the changes."""
    forking = steward_of(request).governing.forking
    return run_out(forking.fork(access, run_id, at=body.at, changes=body.changes))


@router.get("/{run_id}/diff")
def diff_runs(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    other: Annotated[str, Query(min_length=1, max_length=40)],
) -> Page[StepDifferenceOut]:
    """Two runs side by side, step by step."""
    found = steward_of(request).runs.diff(access.scope, run_id, other)
    return Page(items=[StepDifferenceOut.model_validate(d) for d in found], next_cursor=None)


@router.get("/{run_id}/verify")
def verify_run(request: Request, access: AsViewer, run_id: RunId) -> VerifyOut:
    """Whether every entry and payload is as it was written."""
    damage = steward_of(request).runs.verify(access.scope, run_id)
    if damage is None:
        return VerifyOut(intact=True, seq=None, reason=None)
    return VerifyOut(intact=False, seq=damage.seq, reason=damage.reason)


@router.get(
    "/{run_id}/capsule",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": "One file."}},
)
def export_run(request: Request, access: AsViewer, run_id: RunId, test: bool = False) -> Response:
    """The run in one file; with `test`, also what it must come out as."""
    runs = steward_of(request).runs
    content = runs.record_test(access.scope, run_id) if test else runs.export(access.scope, run_id)
    ending = "steward-test" if test else "capsule"
    return Response(
        content,
        media_type="application/zip",
        headers=attachment(f"{run_id}.{ending}.zip", len(content)),
    )


@router.get(
    "/{run_id}/artifacts/{digest}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The bytes."}},
)
def download_artifact(
    request: Request,
    access: AsViewerOrRunner,
    run_id: RunId,
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")],
) -> StreamingResponse:
    """A file that the run made."""
    steward = steward_of(request)
    runs = steward.runs
    runs.get(access.scope, run_id)
    for call in story(runs.journal.entries(access.scope, run_id), runs.payload):
        for artifact in call.artifacts:
            if artifact["digest"] == digest:
                return _download(steward.blobs.read(digest), artifact)
    raise NotFound("The run made no such file.")


def _download(chunks: Iterator[bytes], artifact: dict[str, Any]) -> StreamingResponse:
    # Whatever a run made is shown inert.
    inert = {"Content-Security-Policy": "sandbox; default-src 'none'"}
    return StreamingResponse(
        chunks,
        media_type=artifact["media_type"],
        headers={**attachment(artifact["name"], artifact["size"]), **inert},
    )
