"""Chat: a message is answered at once or told as it happens; queries need no model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import Field, StringConstraints

from steward.agents import CHAT_PROGRAM, HEAD, Parent, Reading, subject_of, thread_of
from steward.api.chat_documents import ChatOut, MessageOut, chat_out, message_out, turns_out
from steward.api.chat_events import Place
from steward.api.context import ApiContext, context_of, steward_of
from steward.api.documents import Cursor, Input, Limit, Page, page
from steward.api.guards import AsOperator, AsViewer
from steward.api.routing import Router
from steward.api.run_follower import BEAT, RunFollower, waits_for_people
from steward.api.streams import EventStream
from steward.api.types import RUN_ID, THREAD_ID, UPLOAD_ID, ThreadId
from steward.app import Steward
from steward.core import Conflict
from steward.flows import Question, query_request, question_in
from steward.identity import Access
from steward.runs import Run, RunRequest

router = Router(prefix="/projects/{project_id}", tags=["chat"])

PATIENCE_SECONDS: Final = 30.0
"""How long a request waits for its run; after that it answers with the run's id."""

Scalar = bool | int | float | str | None


class ChatIn(Input):
    message: str = Field(
        min_length=1,
        max_length=100_000,
        description="In anybody's words, or `SQL:`, `PLAN:` or `PYTHON:` and a query.",
    )
    thread_id: Annotated[str, StringConstraints(pattern=THREAD_ID)] | None = Field(
        None, description="The thread it belongs to; a new one when unset."
    )
    parent: Annotated[str, StringConstraints(pattern=RUN_ID)] | None = Field(
        None,
        description="The turn it follows, by its run: unset, the thread's last; null, none: a new beginning.",
    )
    mentions: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = Field(
        [], max_length=50, description="Datasets that it is about."
    )
    attachments: list[Annotated[str, StringConstraints(pattern=UPLOAD_ID)]] = Field(
        [], max_length=20, description="Finished uploads."
    )
    branch: str | None = Field(
        None, min_length=1, max_length=100, description="Of a new thread; `main` when unset."
    )
    parameters: dict[str, Scalar] = Field(
        default_factory=dict, max_length=100, description="Values for `$name` in SQL or in Python."
    )
    limit: int = Field(200, ge=1, le=10_000, description="Rows to return at most.")
    reading: Reading | None = Field(
        None,
        description="What the message is to be read as: it is answered as it is, and the message is its title.",
    )


@router.post(
    "/chat",
    responses={202: {"model": ChatOut, "description": "The run goes on; follow it by its id."}},
)
async def chat(request: Request, response: Response, access: AsOperator, body: ChatIn) -> ChatOut:
    """Answers a message, and waits for the answer for up to 30 seconds or until a person is asked."""
    context = context_of(request)
    started = await context.in_turn(access, begin, context.steward, access, body)
    run = await _settled(context, access, started)
    if not run.status.is_final:
        response.status_code = status.HTTP_202_ACCEPTED
    return await context.in_turn(access, chat_out, context.steward, access, run)


@router.post(
    "/chat/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
async def chat_stream(request: Request, access: AsOperator, body: ChatIn) -> EventStream:
    """The same, told as it happens: status, plan, step, token, tool_call, tool_result, wait, result, done.

    Hanging up ends a query and what it executes; a turn goes on and can be followed again.
    """
    context = context_of(request)
    context.streams.require(access.user_id)
    run = await context.in_turn(access, begin, context.steward, access, body)
    return followed(context, access, run, cancels=_question(body) is not None)


@router.get("/threads/{thread_id}/messages")
def list_messages(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Page[MessageOut]:
    """Questions with their answers, newest first; of long results the first 100 rows."""
    steward = steward_of(request)
    steward.threads.get(access.scope, thread_id)

    def fetch(before: str | None, count: int) -> list[Run]:
        return steward.runs.records.listed(
            access.scope, subject=subject_of(thread_id), before=before, limit=count
        )

    items, following = page(fetch, lambda run: run.id, cursor, limit)
    return Page(items=[_message(steward, access, run) for run in items], next_cursor=following)


def _message(steward: Steward, access: Access, run: Run) -> MessageOut:
    found = steward.threads.turns.of_run(access.scope, run.id)
    planned = found is not None and run.program == CHAT_PROGRAM
    turn = turns_out(steward, access.scope, [found])[0] if found and planned else None
    return message_out(steward, run, turn)


def begin(steward: Steward, access: Access, body: ChatIn) -> Run:
    """Starts what a message asks for: a query at once, anything else with a plan."""
    question = _question(body)
    parent: Parent = body.parent if "parent" in body.model_fields_set else HEAD
    query = None if question is None else _query(steward, access, question, body)
    _, run = steward.threads.begin(
        access,
        body.message,
        thread_id=body.thread_id,
        parent=parent,
        mentions=body.mentions,
        attachments=body.attachments,
        branch=body.branch,
        query=query,
        query_type=question.kind if question is not None else None,
        extra=None if body.reading is None else {"reading": body.reading.model_dump(mode="json")},
    )
    return run


def _query(steward: Steward, access: Access, question: Question, body: ChatIn) -> RunRequest:
    branch = body.branch
    if branch is None and body.thread_id is not None:
        branch = steward.threads.get(access.scope, body.thread_id).branch
    launcher = steward.governing.launcher
    return query_request(launcher, question, branch=branch or "main", scope=access.scope)


def _question(body: ChatIn) -> Question | None:
    found = question_in(body.message) if body.reading is None else None
    if found is None:
        return None
    options: dict[str, Any] = {"limit": body.limit}
    if body.parameters:
        # A plan takes none, and says so.
        options["parameters"] = body.parameters
    return Question(found.kind, found.text, options)


async def _settled(context: ApiContext, access: Access, run: Run) -> Run:
    """The run once it is over or waits for a person; as it is when patience ends."""
    runs = context.steward.runs
    bell = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ring() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(bell.set)

    with suppress(TimeoutError), runs.listening(run.id, ring):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not context.stopping.is_set():
                bell.clear()
                run = await context.in_turn(access, runs.get, run.scope, run.id)
                if run.status.is_final or waits_for_people(run):
                    break
                await bell.wait()
    return run


def followed(
    context: ApiContext,
    access: Access,
    run: Run,
    place: Place | None = None,
    *,
    cancels: bool = False,
) -> EventStream:
    """The events of a turn; with `cancels`, hanging up ends it."""

    def conclude(over: Run) -> list[tuple[str, Any]]:
        return conclusion(chat_out(context.steward, access, over))

    async def frames() -> AsyncIterator[str]:
        following = RunFollower(context, access, run, thread_of(run), conclude, place)
        left_alone = False
        try:
            yield ": connected\n\n"
            async for told in following.happenings():
                if told:
                    yield "".join(
                        ": still here\n\n" if each is BEAT else each.frame() for each in told
                    )
            left_alone = True
        finally:
            if cancels and not left_alone and not context.stopping.is_set():
                # Whoever asked has gone: nobody waits for the answer. Not awaited, as this task is being cancelled.
                loop = asyncio.get_running_loop()
                loop.run_in_executor(None, _cancelled, context.steward, access, run)

    return EventStream(context.streams, access.user_id, frames())


def _cancelled(steward: Steward, access: Access, run: Run) -> None:
    with suppress(Conflict):
        steward.runs.records.control(run.scope, run.id, "cancel", access.user_id)


def conclusion(answer: ChatOut) -> list[tuple[str, Any]]:
    told: list[tuple[str, Any]] = []
    error = (answer.turn.error if answer.turn is not None else None) or answer.message.error
    if error:
        told.append(("error", error))
    told.append(("result", answer.model_dump(mode="json")))
    told.append(("done", {"run_id": answer.run_id, "status": answer.status}))
    return told
