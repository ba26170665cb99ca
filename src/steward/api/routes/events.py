"""The event log of a project: read page by page, or followed live without missing anything."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.api.context import ApiContext, context_of, steward_of
from steward.api.documents import Cursor, Limit, Output, Page, page
from steward.api.event_names import EventNames
from steward.api.guards import AsAdmin, AsViewer, AsViewerOrRunner
from steward.api.routing import Router
from steward.api.streams import EventStream
from steward.api.visibility import Visibility, kept
from steward.app import Steward
from steward.core import Event, Invalid, StewardError
from steward.identity import Access
from steward.observe import AuditFormat
from steward.store import topic

router = Router(prefix="/projects/{project_id}/events", tags=["events"])
HEARTBEAT_SECONDS = 15.0


class EventOut(Output):
    """A CloudEvent with its position in the log."""

    specversion: str
    id: str
    type: str
    source: str
    subject: str
    time: datetime
    datacontenttype: str
    data: dict[str, Any]
    cursor: int
    who: str | None = Field(
        description="The name of the person who did it; null: Steward did it, or it is not known."
    )
    names: dict[str, str] = Field(
        description="What people, runs, playbooks and rules are called that it names by id."
    )


@router.get("")
def list_events(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[EventOut]:
    """Newest first."""
    events = steward_of(request).events

    def fetch(before: str | None, count: int) -> list[Event]:
        return events.before(access.scope, number(before), count)

    seeing = Visibility(steward_of(request), access)
    shown = kept(fetch, seeing.event, lambda event: str(event.cursor))
    items, following = page(shown, lambda event: str(event.cursor), cursor, limit)
    named = EventNames(steward_of(request), access, seeing, items)
    out = [
        EventOut(
            **event.as_cloudevent(),
            cursor=event.cursor or 0,
            who=named.who(event),
            names=named.names(event),
        )
        for event in items
    ]
    return Page(items=out, next_cursor=following)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}, "text/plain": {}}}},
)
def export_events(
    request: Request,
    access: AsAdmin,
    format: AuditFormat = AuditFormat.jsonl,  # noqa: A002
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> StreamingResponse:
    """The whole event log after a cursor as JSON lines or CEF; a signed seal is the last line."""
    steward = steward_of(request)
    lines = steward.observations.audit.lines(
        access.scope,
        format,
        by=access.user_id,
        after=after,
        shows=Visibility(steward, access).event,
    )
    name = f"events.{format.value}"
    return StreamingResponse(
        lines,
        media_type=format.media_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
def follow_events(
    request: Request,
    access: AsViewerOrRunner,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> EventStream:
    """Events as they happen, from `Last-Event-ID` (or `after`) on; from now on when neither is given."""
    context = context_of(request)
    start = number(last_event_id) if last_event_id else after
    if start is None:
        start = context.steward.events.latest(access.scope)
    return EventStream(context.streams, access.user_id, _stream(context, access, start))


async def _stream(context: ApiContext, access: Access, cursor: int) -> AsyncIterator[str]:
    steward = context.steward
    rung = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ring() -> None:
        loop.call_soon_threadsafe(rung.set)

    with (
        steward.metrics.streams.track_inprogress(),
        steward.bus.listening(topic(access.scope), ring),
    ):
        yield ": connected\n\n"
        looked = loop.time()
        while not context.stopping.is_set():
            if loop.time() - looked >= HEARTBEAT_SECONDS:
                # Also while there is always something to tell.
                if not await to_thread.run_sync(still_allowed, context, access):
                    return
                looked = loop.time()
            rung.clear()
            events = await to_thread.run_sync(steward.events.after, access.scope, cursor)
            told = await to_thread.run_sync(_visible_events, steward, access, events)
            for event in told:
                yield _frame(event)
            if events:
                cursor = events[-1].cursor or cursor
                continue
            try:
                await asyncio.wait_for(rung.wait(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"


def _visible_events(steward: Steward, access: Access, events: list[Event]) -> list[Event]:
    """Looked at anew for every batch: what was shared or taken away meanwhile counts at once."""
    seeing = Visibility(steward, access)
    return [event for event in events if seeing.event(event)]


def still_allowed(context: ApiContext, access: Access) -> bool:
    """A stream must not outlive the session or token, nor the membership, that it was opened with."""
    identity = context.steward.identity
    if not identity.is_signed_in(access.principal):
        return False
    try:
        now = identity.projects.enter(access.principal, access.scope.project_id)
    except StewardError:
        return False
    # Another role sees something else: whoever follows asks anew.
    return now.role is access.role


def _frame(event: Event) -> str:
    document = {**event.as_cloudevent(), "cursor": event.cursor}
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return f"id: {event.cursor}\nevent: {event.type}\ndata: {body}\n\n"


def number(text: str | None) -> int | None:
    """A position in a log, as headers and cursors carry it."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Invalid("A position in the event log is a whole number.")
    return int(text)
