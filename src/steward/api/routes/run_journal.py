"""What a run did: entries of its journal, its calls, and both as they happen."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.context import ApiContext, context_of, steward_of
from steward.api.documents import Cursor, Limit, Output, Page, page
from steward.api.guards import AsViewer, AsViewerOrRunner
from steward.api.routes.events import HEARTBEAT_SECONDS, number, still_allowed
from steward.api.routing import Router
from steward.api.run_documents import EntryOut, RunOut
from steward.api.streams import EventStream
from steward.api.types import RunId
from steward.core import Invalid
from steward.flows import Flow, calls_at, load_flow, standings
from steward.identity import Access
from steward.runs import Call, Runs, calls_of

router = Router(prefix="/projects/{project_id}/runs", tags=["runs"])

_LOOK_SECONDS = 2.0
"""Entries that another process writes may not ring here; a stream looks by itself this often."""


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


class NodeStandingOut(Output):
    node: str = Field(description="The ids on the way to it, as in `each/show`.")
    state: str = Field(description="running, waiting, done or failed.")
    times: int = Field(
        description="How often it was called: once for each item of a map around it."
    )
    failed: int
    began_at: datetime | None
    ended_at: datetime | None
    seconds: float
    usd: Decimal
    tokens: int
    size: int | None = Field(description="Rows or items that it gave last.")
    sample: Any = Field(description="What it gave last, shortened.")
    error: Any
    key: str = Field(description="Its last call.")


class NodesOut(Page[NodeStandingOut]):
    is_over: bool = Field(description="Whether the run has ended: nothing here changes any more.")


class NodeCallOut(Output):
    key: str
    state: str
    began_at: datetime
    ended_at: datetime | None
    summary: str
    error: Any


@router.get("/{run_id}/journal")
def list_entries(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    about: Annotated[
        str | None, Query(min_length=1, max_length=400, description="Only those about this key.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[EntryOut]:
    """The entries of its journal, oldest first."""
    runs = steward_of(request).runs
    runs.get(access.scope, run_id)

    def fetch(after: str | None, count: int) -> list[Any]:
        if about is None:
            return runs.journal.page(access.scope, run_id, number(after) or 0, count)
        entries = runs.journal.entries(access.scope, run_id, number(after) or 0)
        return list(islice((each for each in entries if each.of == about), count))

    items, following = page(fetch, lambda entry: str(entry.seq), cursor, limit)
    return Page(items=[EntryOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/{run_id}/calls")
def list_calls(request: Request, access: AsViewerOrRunner, run_id: RunId) -> Page[CallOut]:
    """What the run did, call by call, as its page shows it."""
    runs = steward_of(request).runs
    runs.get(access.scope, run_id)
    told = calls_of(runs.journal.entries(access.scope, run_id), runs.payload)
    return Page(items=[CallOut(**asdict(call)) for call in told], next_cursor=None)


@router.get("/{run_id}/nodes")
def list_nodes(request: Request, access: AsViewer, run_id: RunId) -> NodesOut:
    """How each node of the flow stands that has begun: state, time, cost, error, and what it gave last, shortened."""
    runs = steward_of(request).runs
    # Before its entries: those of a run that has ended are all there.
    is_over = runs.get(access.scope, run_id).status.is_final
    flow = _flow(runs, access, run_id)
    if flow is None:
        return NodesOut(items=[], next_cursor=None, is_over=is_over)
    found = standings(flow, runs.journal.entries(access.scope, run_id), runs.payload)
    told = [NodeStandingOut.model_validate(each) for each in found]
    return NodesOut(items=told, next_cursor=None, is_over=is_over)


@router.get("/{run_id}/node-calls")
def list_node_calls(
    request: Request,
    access: AsViewer,
    run_id: RunId,
    node: Annotated[str, Query(max_length=500)],
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[NodeCallOut]:
    """The calls of one node, such as the items of a map around it, in the order in which they began."""
    runs = steward_of(request).runs
    flow = _flow(runs, access, run_id)
    told = calls_of(runs.journal.entries(access.scope, run_id), runs.payload)
    calls = list(enumerate(calls_at(node, flow, told) if flow is not None else ()))

    def fetch(after: str | None, count: int) -> list[tuple[int, Call]]:
        start = 0 if after is None else (number(after) or 0) + 1
        return calls[start : start + count]

    items, following = page(fetch, lambda item: str(item[0]), cursor, limit)
    return Page(
        items=[NodeCallOut.model_validate(call) for _, call in items], next_cursor=following
    )


def _flow(runs: Runs, access: Access, run_id: str) -> Flow | None:
    """The flow that a run drives; None for runs of other programs."""
    runs.get(access.scope, run_id)
    try:
        return load_flow(runs.request(access.scope, run_id).document)
    except Invalid:
        return None


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
) -> EventStream:
    """Journal entries as they are written, from `Last-Event-ID` (or `after`, or the beginning) on."""
    context = context_of(request)
    context.steward.runs.get(access.scope, run_id)
    start = number(last_event_id) if last_event_id else after
    frames = _stream(context, access, run_id, start or 0)
    return EventStream(context.streams, access.user_id, frames)


async def _stream(context: ApiContext, access: Access, run_id: str, seq: int) -> AsyncIterator[str]:
    runs = context.steward.runs
    rung = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ring() -> None:
        loop.call_soon_threadsafe(rung.set)

    with context.steward.metrics.streams.track_inprogress(), runs.listening(run_id, ring):
        yield ": connected\n\n"
        told: str | None = None
        looked = loop.time()
        while not context.stopping.is_set():
            if loop.time() - looked >= HEARTBEAT_SECONDS:
                if not await to_thread.run_sync(still_allowed, context, access):
                    return
                looked = loop.time()
            rung.clear()
            entries = await to_thread.run_sync(runs.journal.page, access.scope, run_id, seq, 200)
            for entry in entries:
                seq = entry.seq
                yield _frame("entry", EntryOut.model_validate(entry).model_dump(mode="json"), seq)
            if entries:
                continue
            run = await to_thread.run_sync(runs.get, access.scope, run_id)
            state = RunOut.model_validate(run).model_dump(mode="json")
            if (shown := json.dumps(state)) != told:
                told = shown
                yield _frame("run", state, None)
            if run.status.is_final:
                yield _frame("end", {"status": run.status.value}, None)
                return
            try:
                await asyncio.wait_for(rung.wait(), min(HEARTBEAT_SECONDS, _LOOK_SECONDS))
            except TimeoutError:
                yield ": still here\n\n"


def _frame(kind: str, document: Any, seq: int | None) -> str:
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    position = f"id: {seq}\n" if seq is not None else ""
    return f"{position}event: {kind}\ndata: {body}\n\n"
