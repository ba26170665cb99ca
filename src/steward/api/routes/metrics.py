"""Figures as they change: pushed over a web socket, or asked for from a number on."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import Query, Request, WebSocket
from pydantic import Field
from starlette.websockets import WebSocketDisconnect

from steward.api.context import ApiContext, context_of
from steward.api.documents import Output
from steward.api.guards import AsViewer, AsViewerOfNamed, InNamedProject, InProject
from steward.api.metric_feeds import HEARTBEAT_SECONDS, TICK_SECONDS, Feed, Key
from steward.api.problems import problem_of
from steward.api.routes.events import still_allowed
from steward.api.routes.observe import Hours, OverviewOut, TraceOut, overview, trace
from steward.api.routing import Router
from steward.api.types import RunId
from steward.core import Invalid, StewardError
from steward.identity import Access, Role

router = Router(prefix="/projects/{project_id}/metrics", tags=["observe"])
outside = Router(outside=True, tags=["observe"])
"""Addresses without a version and a project, as other tools have them."""

_MOST_HOURS: Final = 24 * 31
_SEND_SECONDS: Final = 2.0
"""A reader that takes nothing for so long is let go, and may ask from its number on."""
_STOPPING, _FORBIDDEN, _TOO_SLOW = 1012, 1008, 1013

Since = Annotated[
    int | None,
    Query(ge=0, le=2**53, description="The number of the last patch you have; unset: none."),
]


class PatchOperationOut(Output):
    op: str
    path: str
    value: Any


class PatchOut(Output):
    number: int = Field(description="Send it as `since` the next time.")
    patch: list[PatchOperationOut] = Field(
        description="RFC 6902; one that replaces the whole document where there is nothing to build on."
    )


@router.get("")
async def changed_metrics(
    request: Request, access: AsViewer, hours: Hours = 24, since: Since = None
) -> PatchOut:
    """What of the overview changed since a number, for readers that cannot follow a web socket."""
    context = context_of(request)
    feed = await _feed(context, access, hours)
    await feed.look()
    patch = feed.figures.document.since(since)
    return PatchOut(
        number=patch.number, patch=[PatchOperationOut(**each) for each in patch.operations]
    )


@outside.get("/api/dashboard/summary")
async def dashboard_summary(
    request: Request, access: AsViewerOfNamed, hours: Hours = 24
) -> OverviewOut:
    """The overview of a project: what runs, waits, failed and cost in the last hours."""
    return await overview(request, access, hours)


@outside.get("/api/executions/{run_id}/trace")
async def execution_trace(
    request: Request,
    access: AsViewerOfNamed,
    run_id: RunId,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> TraceOut:
    """Spans of a run and of the runs it started, in the order of a tree that is unfolded."""
    return await trace(request, access, run_id, offset, limit)


@router.websocket("/stream")
async def follow_metrics(websocket: WebSocket, project_id: str) -> None:
    """Numbered JSON patches of the overview, as `GET …/metrics` answers them."""
    await _follow(websocket, InProject(Role.viewer), project_id)


@outside.websocket("/ws/metrics")
async def follow_named_metrics(websocket: WebSocket) -> None:
    """The same; the project is named as `project_id` unless only one can be meant."""
    await _follow(websocket, InNamedProject(Role.viewer), websocket.query_params.get("project_id"))


async def _follow(
    websocket: WebSocket, guard: InProject | InNamedProject, project_id: str | None
) -> None:
    # The handshake is a GET, guarded like any other.
    handshake = Request({**websocket.scope, "type": "http", "method": "GET"})
    context = context_of(handshake)
    try:
        hours = _number(websocket, "hours", 1, _MOST_HOURS) or 24
        since = _number(websocket, "since", 0, 2**53)
        access = await to_thread.run_sync(guard, handshake, project_id)  # type: ignore[arg-type]
        context.streams.require(access.user_id)
    except StewardError as error:
        await websocket.send_denial_response(problem_of(websocket.state.request_id, error))
        return
    with (
        context.streams.taken(access.user_id),
        context.steward.metrics.streams.track_inprogress(),
    ):
        await websocket.accept()
        await _Reader(context, websocket, access, hours, since).serve()


def _number(websocket: WebSocket, name: str, least: int, most: int) -> int | None:
    text = websocket.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 16 or not least <= int(text) <= most:
        raise Invalid(f"{name} is a whole number from {least} to {most}.")
    return int(text)


@dataclass(eq=False, repr=False)
class _Reader:
    """One web socket. All it has is the number that was sent last."""

    _context: ApiContext
    _websocket: WebSocket
    _access: Access
    _hours: int
    _number: int | None

    async def serve(self) -> None:
        sending = asyncio.create_task(self._send())
        gone = asyncio.create_task(self._until_gone())
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)

    async def _until_gone(self) -> None:
        # What a reader says is not listened to.
        while (await self._websocket.receive())["type"] != "websocket.disconnect":
            pass

    async def _send(self) -> None:
        try:
            code, reason = await self._push()
            async with asyncio.timeout(_SEND_SECONDS):
                await self._websocket.close(code, reason)
        except (WebSocketDisconnect, TimeoutError):
            # Gone, or it takes not even the last words: the connection ends all the same.
            return

    async def _push(self) -> tuple[int, str]:
        """Until the connection must end; why."""
        followed: Feed | None = None
        while True:
            feed = await _feed(self._context, self._access, self._hours)
            if followed is not None and feed is not followed:
                # Other figures have other numbers.
                self._number = None
            followed = feed
            with feed.followed():
                ended = await self._push_from(feed)
            if ended is not None:
                return ended
            if not await to_thread.run_sync(still_allowed, self._context, self._access):
                return _FORBIDDEN, "You have no access to this project any more, or another role."

    async def _push_from(self, feed: Feed) -> tuple[int, str] | None:
        """Until rights must be looked at again."""
        rights, loop = feed.rights, asyncio.get_running_loop()
        began = loop.time()
        if not feed.has_looked:
            await feed.look()
        while not self._context.stopping.is_set():
            if feed.number != self._number:
                number, text = feed.message(self._number)
                try:
                    async with asyncio.timeout(_SEND_SECONDS):
                        await self._websocket.send_text(text)
                except TimeoutError:
                    return _TOO_SLOW, f"You read too slowly. Poll from number {self._number}."
                self._number = number
                # What happens meanwhile goes out as one.
                await asyncio.sleep(TICK_SECONDS)
            news = await feed.wait(self._number, HEARTBEAT_SECONDS)
            if not news or feed.rights != rights or loop.time() - began >= HEARTBEAT_SECONDS:
                return None
        return _STOPPING, "Steward is stopping."


async def _feed(context: ApiContext, access: Access, hours: int) -> Feed:
    """Everybody who sees the same playbooks shares one."""
    sight = await to_thread.run_sync(context.steward.playbooks.people.sight, access)
    return context.feeds.feed(Key(access.scope, hours, sight.among))
