"""Chat: messages that are queries run at once; a thread is the list of what was asked and answered."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import Field, StringConstraints

from steward.api.context import ApiContext, context_of, steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsOperator, AsViewer
from steward.api.routes.events import HEARTBEAT_SECONDS, still_allowed
from steward.app import Steward
from steward.core.errors import Conflict, NotFound
from steward.flows.fast_path import (
    WITHOUT_MODEL,
    Question,
    ask,
    message_of,
    question_in,
    subject_of,
)
from steward.identity import Access
from steward.runs import Entry, Kind, Run

router = APIRouter(prefix="/projects/{project_id}", tags=["chat"])

PATIENCE_SECONDS: Final = 30.0
"""How long a request waits for its run; after that it answers with the run's id."""
_LOOK_SECONDS: Final = 0.5
"""Entries do not ring; a stream looks by itself this often while a run is under way."""
_SHOWN_ROWS: Final = 100

_THREAD = r"^thr_[0-9a-hjkmnp-tv-z]{26}$"
ThreadId = Annotated[str, Path(pattern=_THREAD, examples=["thr_01kdgq3v0z8r5m2x7c4b9n6t1w"])]
Scalar = bool | int | float | str | None


class ChatIn(Input):
    message: str = Field(
        min_length=1,
        max_length=100_000,
        description="`SQL:`, `PLAN:` or `PYTHON:` and a query; anything else needs a model.",
    )
    thread_id: Annotated[str, StringConstraints(pattern=_THREAD)] | None = Field(
        None, description="The thread it belongs to; a new one when unset."
    )
    branch: str = Field("main", min_length=1, max_length=100)
    parameters: dict[str, Scalar] = Field(
        default_factory=dict, max_length=100, description="Values for `$name` in SQL or in Python."
    )
    limit: int = Field(200, ge=1, le=10_000, description="Rows to return at most.")


class MessageOut(Output):
    run_id: str
    thread_id: str | None
    question: str
    query_type: Literal["sql", "plan", "python"] | None
    query: str
    status: str
    summary: str
    plan: str | None
    sql: str | None
    code: str | None
    result: Any
    artifacts: list[Any]
    error: dict[str, Any] | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None


class ChatOut(Output):
    thread_id: str
    run_id: str | None = Field(description="None where nothing was run.")
    status: str = Field(description="The run's status, or `unanswered`.")
    answer: str = Field(description="The result in words.")
    message: MessageOut | None


@router.post(
    "/chat",
    responses={202: {"model": ChatOut, "description": "The run goes on; follow it by its id."}},
)
async def chat(request: Request, response: Response, access: AsOperator, body: ChatIn) -> ChatOut:
    """Runs a query and waits for its result for up to 30 seconds."""
    steward = steward_of(request)
    thread_id = body.thread_id or steward.ids.new("thr")
    question = _question(body)
    if question is None:
        return _unanswered(thread_id)
    run = await to_thread.run_sync(_started, steward, access, question, thread_id, body.branch)
    run = await _settled(context_of(request), run)
    if not run.status.is_final:
        response.status_code = status.HTTP_202_ACCEPTED
    return await to_thread.run_sync(_answered, steward, run, thread_id)


@router.post(
    "/chat/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
async def chat_stream(request: Request, access: AsOperator, body: ChatIn) -> StreamingResponse:
    """The same, told as it happens: status, tool_call, tool_result, result, error and done.

    Hanging up cancels the run and ends what it executes.
    """
    context = context_of(request)
    thread_id = body.thread_id or context.steward.ids.new("thr")
    question = _question(body)
    if question is None:
        frames = _refusal(thread_id)
    else:
        run = await to_thread.run_sync(
            _started, context.steward, access, question, thread_id, body.branch
        )
        frames = _follow(context, access, run, thread_id)
    return StreamingResponse(
        frames,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


@router.get("/threads/{thread_id}/messages")
def list_messages(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Page[MessageOut]:
    """Questions with their results, newest first; of long results the first 100 rows."""
    runs = steward_of(request).runs

    def fetch(before: str | None, count: int) -> list[Run]:
        return runs.records.listed(
            access.scope, subject=subject_of(thread_id), before=before, limit=count
        )

    items, following = page(fetch, lambda run: run.id, cursor, limit)
    if not items and cursor is None:
        raise NotFound("There is no such thread in this project.")
    shown = [_message_out(message_of(runs, run), _SHOWN_ROWS) for run in items]
    return Page(items=shown, next_cursor=following)


def _question(body: ChatIn) -> Question | None:
    found = question_in(body.message)
    if found is None:
        return None
    options: dict[str, Any] = {"limit": body.limit}
    if body.parameters:
        # A plan takes none, and says so.
        options["parameters"] = body.parameters
    return Question(found.kind, found.text, options)


def _started(
    steward: Steward, access: Access, question: Question, thread_id: str, branch: str
) -> Run:
    return ask(steward.governing.launcher, access, question, thread_id=thread_id, branch=branch)


async def _settled(context: ApiContext, run: Run) -> Run:
    """The run once it is over or waits for a person; as it is when patience ends."""
    runs = context.steward.runs
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    with _rung(context, run) as wait:
        while True:
            run = await to_thread.run_sync(runs.get, run.scope, run.id)
            left = deadline - asyncio.get_running_loop().time()
            if run.status.is_final or run.waits or left <= 0 or context.stopping.is_set():
                return run
            await wait(min(left, HEARTBEAT_SECONDS))


@contextmanager
def _rung(context: ApiContext, run: Run) -> Any:
    """Gives a function that waits until something happens to the run, or so many seconds."""
    bell = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ring() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(bell.set)

    async def wait(seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await bell.wait()
        except TimeoutError:
            return False
        bell.clear()
        return True

    with context.steward.runs.listening(run.id, ring):
        yield wait


async def _follow(
    context: ApiContext, access: Access, run: Run, thread_id: str
) -> AsyncIterator[str]:
    """Frames from the run's journal until it is over."""
    steward, left_alone = context.steward, False
    try:
        with steward.metrics.streams.track_inprogress(), _rung(context, run) as wait:
            yield _frame("status", {"run_id": run.id, "thread_id": thread_id, "status": "queued"})
            watch = _Watch(context, access, run)
            while not context.stopping.is_set() and not watch.is_over:
                for frame in await watch.look():
                    yield frame
                if watch.is_quiet and not await wait(_LOOK_SECONDS):
                    for frame in await watch.beat():
                        yield frame
            left_alone = True
            if watch.run.status.is_final:
                answer = await to_thread.run_sync(_answered, steward, watch.run, thread_id)
                for frame in _conclusion(answer):
                    yield frame
    finally:
        if not left_alone and not context.stopping.is_set():
            # Whoever asked has gone: nobody waits for the answer. Not awaited, as this task is being cancelled.
            asyncio.get_running_loop().run_in_executor(None, _cancelled, steward, access, run)


class _Watch:
    """What is new of a run since the last look."""

    def __init__(self, context: ApiContext, access: Access, run: Run) -> None:
        self.run = run
        self.is_over = False
        self.is_quiet = False
        self._context = context
        self._access = access
        self._teller = _Teller(context.steward.runs.payload)
        self._seq = 0
        self._status = run.status.value
        self._heard_at = asyncio.get_running_loop().time()

    async def look(self) -> list[str]:
        return await to_thread.run_sync(self._look)

    def _look(self) -> list[str]:
        runs = self._context.steward.runs
        # The run first: an entry that is written after the look is found by the next.
        self.run = runs.get(self.run.scope, self.run.id)
        entries = runs.journal.page(self.run.scope, self.run.id, self._seq, 200)
        frames = [_frame(*told) for entry in entries for told in self._teller.tell(entry)]
        self._seq = entries[-1].seq if entries else self._seq
        self.is_quiet = not entries
        self.is_over = self.is_quiet and self.run.status.is_final
        status = self.run.status.value
        if status != self._status and not self.run.status.is_final:
            self._status = status
            about = {"run_id": self.run.id, "status": status, "waits": self.run.waits}
            frames.append(_frame("status", about))
        return frames

    async def beat(self) -> list[str]:
        """Once in a while: a sign of life, unless the caller may not see the run any more."""
        now = asyncio.get_running_loop().time()
        if now - self._heard_at < HEARTBEAT_SECONDS:
            return []
        self._heard_at = now
        self.is_over = not await to_thread.run_sync(still_allowed, self._context, self._access)
        return [] if self.is_over else [": still here\n\n"]


def _cancelled(steward: Steward, access: Access, run: Run) -> None:
    with suppress(Conflict):
        steward.runs.records.control(run.scope, run.id, "cancel", access.user_id)


class _Teller:
    """Entries of a journal as events of a chat."""

    def __init__(self, payload: Callable[[Any], Any]) -> None:
        self._payload = payload
        self._called: dict[str, str] = {}

    def tell(self, entry: Entry) -> list[tuple[str, dict[str, Any]]]:
        if entry.kind == Kind.step and entry.key.endswith("/plan"):
            key, asked = entry.key.removesuffix("/plan"), entry.data["request"]
            self._called[key] = asked["tool"]
            about = {"key": key, "tool": asked["tool"], "arguments": asked["arguments"]}
            told: list[tuple[str, dict[str, Any]]] = [("tool_call", about)]
            if "error" in entry.data:
                told.append(self._result(key, entry))
            return told
        if entry.kind in {Kind.step, Kind.outcome} and entry.key in self._called:
            return [self._result(entry.key, entry)]
        return []

    def _result(self, key: str, entry: Entry) -> tuple[str, dict[str, Any]]:
        about: dict[str, Any] = {"key": key, "tool": self._called[key]}
        if "error" in entry.data:
            return "tool_result", {**about, "error": entry.data["error"]}
        outcome = self._payload(entry.data["result"])
        return "tool_result", {
            **about,
            "summary": outcome["summary"],
            "artifacts": outcome["artifacts"],
            "cost": outcome["cost"],
        }


async def _refusal(thread_id: str) -> AsyncIterator[str]:
    for frame in _conclusion(_unanswered(thread_id)):
        yield frame


def _conclusion(answer: ChatOut) -> list[str]:
    frames = []
    if answer.message is not None and answer.message.error:
        frames.append(_frame("error", answer.message.error))
    frames.append(_frame("result", answer.model_dump(mode="json")))
    frames.append(_frame("done", {"run_id": answer.run_id, "status": answer.status}))
    return frames


def _unanswered(thread_id: str) -> ChatOut:
    return ChatOut(
        thread_id=thread_id, run_id=None, status="unanswered", answer=WITHOUT_MODEL, message=None
    )


def _answered(steward: Steward, run: Run, thread_id: str) -> ChatOut:
    message = _message_out(message_of(steward.runs, run), None)
    said = (message.error or {}).get("message") or message.summary
    return ChatOut(
        thread_id=thread_id,
        run_id=run.id,
        status=run.status.value,
        answer=said or run.reason or f"The run is {run.status.value.replace('_', ' ')}.",
        message=message,
    )


def _message_out(found: Any, most_rows: int | None) -> MessageOut:
    fields = asdict(found)
    result = fields["result"]
    rows = result.get("rows") if isinstance(result, dict) else None
    if most_rows is not None and isinstance(rows, list) and len(rows) > most_rows:
        fields["result"] = {**result, "rows": rows[:most_rows], "rows_in_all": len(rows)}
    return MessageOut(**fields)


def _frame(kind: str, document: Any) -> str:
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return f"event: {kind}\ndata: {body}\n\n"
