"""AG-UI: the same turns for programs that speak the Agent User Interaction Protocol, version 1.0."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from steward.agents import Teller, Thread, thread_of
from steward.api.ag_ui_events import AgUi, Event, interrupt_id
from steward.api.chat_documents import chat_out
from steward.api.chat_events import ChatEvent, Place
from steward.api.context import ApiContext, context_of
from steward.api.documents import Input
from steward.api.guards import AsOperator
from steward.api.plan_reviews import review, review_of
from steward.api.routes.chat import ChatIn, begin
from steward.api.routing import Router
from steward.api.run_follower import BEAT, RunFollower, waits_for_people
from steward.api.streams import EventStream
from steward.app import Steward
from steward.broker import Verdict
from steward.core import Conflict, Invalid, NotFound, Problem, is_id
from steward.identity import Access
from steward.runs import Run

router = Router(prefix="/projects/{project_id}", tags=["chat"])


class _Spoken(Input):
    """Names are camel case on the wire; what a later version adds is not read."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


class ResumeIn(_Spoken):
    interrupt_id: str = Field(max_length=500)
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class StewardProps(Input):
    """What AG-UI has no words for, under `forwardedProps.steward`."""

    mentions: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field([], max_length=50)
    attachments: list[Annotated[str, Field(max_length=60)]] = Field([], max_length=20)
    branch: str | None = Field(None, min_length=1, max_length=100)


class ForwardedProps(_Spoken):
    steward: StewardProps = StewardProps()


class RunAgentIn(_Spoken):
    thread_id: str = Field(
        min_length=1, max_length=200, description="A name of the caller's, or a thread's id."
    )
    run_id: str = Field(min_length=1, max_length=200)
    messages: list[dict[str, Any]] = Field(
        max_length=10_000,
        description="The last message of the user is asked; the thread has the rest.",
    )
    resume: list[ResumeIn] = Field([], max_length=50)
    forwarded_props: ForwardedProps = ForwardedProps()


@router.post(
    "/chat/ag-ui",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "AG-UI events."}},
)
async def chat_ag_ui(request: Request, access: AsOperator, body: RunAgentIn) -> EventStream:
    """Runs a turn, or goes on with one that was interrupted; what a person must decide ends the run as an interrupt."""
    context = context_of(request)
    context.streams.require(access.user_id)
    asked = body.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if body.resume:
        thread, run = await to_thread.run_sync(_resumable, context.steward, access, body)
        place = Place(run.head_seq)
        before = await to_thread.run_sync(_told_before, context.steward, run)
        for entry in body.resume:
            await _resume(context.steward, access, run, entry)
    else:
        run = await to_thread.run_sync(_begun, context.steward, access, body)
        thread, place, before = None, Place(), []
    # What is said back to the client goes through its logs as well.
    shown = await to_thread.run_sync(context.steward.database.conceal, access.scope, asked)
    teller = AgUi(body.thread_id, body.run_id, run, shown, resumed=thread is not None)
    frames = _frames(context, access, run, place, teller, before)
    return EventStream(context.streams, access.user_id, frames)


def _begun(steward: Steward, access: Access, body: RunAgentIn) -> Run:
    props = body.forwarded_props.steward
    thread = _thread(steward, access, body.thread_id)
    if thread is None:
        thread = steward.threads.create(access, branch=props.branch, client_id=body.thread_id)
    message = ChatIn(
        message=_asked(body),
        thread_id=thread.id,
        mentions=props.mentions,
        attachments=props.attachments,
        branch=props.branch,
    )
    return begin(steward, access, message)


def _thread(steward: Steward, access: Access, name: str) -> Thread | None:
    if is_id(name, "thr"):
        return steward.threads.get(access.scope, name)
    return steward.threads.named(access, name)


def _asked(body: RunAgentIn) -> str:
    """The words of the user's last message."""
    said = [message for message in body.messages if message.get("role") == "user"]
    content = said[-1].get("content") if said else None
    if isinstance(content, list):
        parts = [part if isinstance(part, dict) else {} for part in content]
        if any(part.get("type") != "text" for part in parts):
            raise Invalid(
                "Files come as uploads: name them in forwardedProps.steward.attachments.",
                problems=[Problem("/messages", "holds parts other than text")],
            )
        content = "\n".join(str(part.get("text", "")) for part in parts)
    if not isinstance(content, str) or not content.strip():
        raise Invalid(
            "There is no message of a user to answer.",
            problems=[Problem("/messages", "no user message with text")],
        )
    return content


# Going on


def _resumable(steward: Steward, access: Access, body: RunAgentIn) -> tuple[Thread, Run]:
    thread = _thread(steward, access, body.thread_id)
    if thread is None or thread.head is None:
        raise NotFound("There is nothing to go on with in this thread.")
    run = steward.runs.get(access.scope, thread.head)
    waiting = {interrupt_id(run.id, wait["key"]) for wait in waits_for_people(run)}
    for number, entry in enumerate(body.resume):
        if entry.interrupt_id not in waiting:
            raise Conflict(
                f"Nothing waits for an answer to {entry.interrupt_id!r} (resume/{number}) any more."
            )
    return thread, run


def _told_before(steward: Steward, run: Run) -> list[ChatEvent]:
    """What earlier AG-UI runs of this turn told; the state is made from it again."""
    teller = Teller(steward.runs.payload)
    entries = steward.runs.journal.entries(run.scope, run.id)
    return [ChatEvent(*told) for entry in entries for told in teller.tell(entry)]


async def _resume(steward: Steward, access: Access, run: Run, entry: ResumeIn) -> None:
    wait = next(
        wait
        for wait in waits_for_people(run)
        if interrupt_id(run.id, wait["key"]) == entry.interrupt_id
    )
    given = entry.payload if isinstance(entry.payload, dict) else {}
    abandoned = entry.status == "cancelled"
    if "approval_id" in wait:
        await _decide(steward, access, wait["approval_id"], given, abandoned=abandoned)
    elif wait["kind"] == "plan":
        decision = {"decision": "reject"} if abandoned else given
        await to_thread.run_sync(review, steward, access, run, review_of(decision))
    elif abandoned:
        control = steward.runs.records.control
        await to_thread.run_sync(control, run.scope, run.id, "cancel", access.user_id)
    else:
        answer = steward.governing.inbox.answer
        await to_thread.run_sync(answer, access, run.id, wait["key"], entry.payload)


async def _decide(
    steward: Steward,
    access: Access,
    approval_id: str,
    given: dict[str, Any],
    *,
    abandoned: bool,
) -> None:
    if abandoned:
        approval = await to_thread.run_sync(steward.governing.approvals.get, access, approval_id)
        verdict = Verdict(approve=False, body_hash=approval.body_hash, reason="Abandoned.")
    elif isinstance(given.get("approve"), bool) and isinstance(given.get("body_hash"), str):
        reason = str(given.get("reason", ""))[:1000]
        verdict = Verdict(given["approve"], given["body_hash"], reason)
    else:
        raise Invalid("A decision has `approve` and the `body_hash` of what was seen.")
    edited = given.get("arguments") if not abandoned else None
    await steward.governing.deciding.decide(access, approval_id, verdict, edited)


# Telling


async def _frames(
    context: ApiContext,
    access: Access,
    run: Run,
    place: Place,
    teller: AgUi,
    before: list[ChatEvent],
) -> AsyncIterator[str]:
    steward = context.steward

    def conclude(over: Run) -> list[tuple[str, Any]]:
        return [("result", chat_out(steward, access, over).model_dump(mode="json"))]

    thread_id = thread_of(run)
    following = RunFollower(context, access, run, thread_id, conclude, place)
    yield _framed(teller.begin(thread_id))
    for happening in before:
        teller.tell(happening)
    yield _framed(teller.caught_up())
    async for told in following.happenings():
        events: list[Event] = []
        for happening in told:
            if happening.kind == "result":
                events += teller.concluded(happening.data)
            else:
                events += teller.tell(happening)
        waits = _interrupting(following, run, place)
        if waits:
            shown = await to_thread.run_sync(_with_approvals, steward, access, waits)
            yield _framed(events + teller.interrupted(shown))
            return
        if told:
            yield ": still here\n\n" if told == [BEAT] else _framed(events)


def _interrupting(following: RunFollower, begun: Run, place: Place) -> list[dict[str, Any]]:
    """What the turn waits for, once it has come to rest after what was answered."""
    run = following.run
    if run.status.is_final or not following.is_level:
        return []
    if place.seq and run.epoch == begun.epoch:
        # Nobody has taken the answers yet.
        return []
    return waits_for_people(run)


def _with_approvals(
    steward: Steward, access: Access, waits: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Each wait with everything that somebody needs to decide it."""
    told = []
    for wait in waits:
        if "approval_id" not in wait:
            told.append(wait)
            continue
        approval = steward.governing.approvals.get(access, wait["approval_id"])
        shown = {
            "tool": approval.tool,
            "title": approval.title,
            "risk": approval.risk,
            "body": approval.body,
            "body_hash": approval.body_hash,
            "preview": approval.preview,
        }
        told.append({**wait, "reason": approval.reason or approval.title, "approval": shown})
    return told


def _framed(events: list[Event]) -> str:
    return "".join(
        f"data: {json.dumps(event, separators=(',', ':'), ensure_ascii=False, default=str)}\n\n"
        for event in events
    )
