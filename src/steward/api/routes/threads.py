"""Threads of chat: listed, changed, deleted and had back; their turns read, followed and reviewed."""

from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import Header, Path, Query, Request, Response, status
from fastapi.responses import StreamingResponse
from pydantic import Field

from steward.agents import Gallery, Kind, Thread, position_of
from steward.api.chat_documents import (
    ExhibitOut,
    ThreadOut,
    TurnOut,
    turn_out,
    turns_out,
)
from steward.api.chat_events import ENDS, Place
from steward.api.context import context_of, steward_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Name,
    Page,
    attachment,
    decode_cursor,
    encode_cursor,
    offset_of,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsOperator, AsViewer
from steward.api.plan_reviews import (
    PlanOptionsOut,
    ReviewIn,
    StepAppliedOut,
    apply_step,
    plan_options,
    review,
)
from steward.api.routes.chat import followed
from steward.api.routing import Router
from steward.api.types import RUN_ID, RunId, ThreadId
from steward.app import Steward
from steward.identity import Access
from steward.runs import Run

router = Router(prefix="/projects/{project_id}/threads", tags=["chat"])


class ThreadSettingsIn(Input):
    rows: Literal["all", "schema-only"] | None = Field(
        None, description="Whether a model may see rows, or schemas and statistics alone."
    )
    review: Literal["changes", "always", "never"] | None = Field(
        None, description="Which plans a person looks at before they run."
    )


class ThreadIn(Input):
    title: Name | None = Field(None, description="Unset: made from the first message.")
    branch: str = Field("main", min_length=1, max_length=100)
    settings: ThreadSettingsIn = ThreadSettingsIn()


class ThreadChangeIn(Input):
    title: Name | None = None
    settings: ThreadSettingsIn | None = None
    head: Annotated[str, Field(pattern=RUN_ID)] | None = Field(
        None, description="The turn at which the conversation goes on, by its run."
    )


@router.get("")
def list_threads(
    request: Request,
    access: AsViewer,
    q: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ThreadOut]:
    """Those in which something happened last come first."""
    threads = steward_of(request).threads

    def fetch(before: str | None, count: int) -> list[Thread]:
        return threads.listed(access.scope, text=q, before=before, limit=count)

    items, following = page(fetch, position_of, cursor, limit)
    return Page(items=[ThreadOut.model_validate(item) for item in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def create_thread(
    request: Request, response: Response, access: AsOperator, body: ThreadIn
) -> ThreadOut:
    settings = body.settings.model_dump(exclude_none=True)
    threads = steward_of(request).threads
    thread = threads.create(access, title=body.title or "", branch=body.branch, settings=settings)
    return _thread_with_etag(response, thread)


@router.get("/{thread_id}")
def read_thread(
    request: Request, response: Response, access: AsViewer, thread_id: ThreadId
) -> ThreadOut:
    return _thread_with_etag(response, steward_of(request).threads.get(access.scope, thread_id))


@router.patch("/{thread_id}")
def change_thread(
    request: Request,
    response: Response,
    access: AsOperator,
    thread_id: ThreadId,
    body: ThreadChangeIn,
    if_match: IfMatch = None,
) -> ThreadOut:
    settings = body.settings.model_dump(exclude_none=True) if body.settings else None
    thread = steward_of(request).threads.change(
        access,
        thread_id,
        revision_from(if_match),
        title=body.title,
        settings=settings,
        head=body.head,
    )
    return _thread_with_etag(response, thread)


@router.delete("/{thread_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_thread(request: Request, access: AsOperator, thread_id: ThreadId) -> None:
    """It can be had back for 30 days; what was done in it stays in the record."""
    steward_of(request).threads.delete(access, thread_id)


@router.post("/{thread_id}/restore")
def restore_thread(
    request: Request, response: Response, access: AsOperator, thread_id: ThreadId
) -> ThreadOut:
    return _thread_with_etag(response, steward_of(request).threads.restore(access, thread_id))


@router.get("/{thread_id}/turns")
def list_turns(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    leaf: Annotated[str | None, Query(pattern=RUN_ID)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[TurnOut]:
    """The conversation as it stands, or the one through `leaf`: its last turns, oldest first.

    `next_cursor` leads to the turns before them.
    """
    steward = steward_of(request)
    before = decode_cursor(cursor)
    path = steward.threads.turns.path(
        access.scope, thread_id, leaf=leaf, before=before, limit=limit
    )
    following = None if path.before is None else encode_cursor(path.before)
    return Page(items=turns_out(steward, access.scope, path.turns), next_cursor=following)


@router.get("/{thread_id}/turns/{run_id}")
def read_turn(request: Request, access: AsViewer, thread_id: ThreadId, run_id: RunId) -> TurnOut:
    steward = steward_of(request)
    return turn_out(
        steward, access.scope, steward.threads.turns.get(access.scope, thread_id, run_id)
    )


@router.get(
    "/{thread_id}/turns/{run_id}/stream",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."},
        204: {"description": "Everything was told already."},
    },
)
async def follow_turn(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    run_id: RunId,
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
) -> Response:
    """What happens in a turn, from its beginning or from `Last-Event-ID` on."""
    context = context_of(request)
    place = Place.of(last_event_id, run_id)
    run = await to_thread.run_sync(_run, context.steward, access, thread_id, run_id)
    if run.status.is_final and await to_thread.run_sync(_is_told, context.steward, run, place):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return followed(context, access, run, place)


def _run(steward: Steward, access: Access, thread_id: str, run_id: str) -> Run:
    steward.threads.turns.get(access.scope, thread_id, run_id)
    return steward.runs.get(access.scope, run_id)


def _is_told(steward: Steward, run: Run, place: Place) -> bool:
    """Whether the end of a run lies behind the reader."""
    if place.part is not None:
        return False
    rest = steward.runs.journal.entries(run.scope, run.id, place.seq)
    return not any(entry.kind in ENDS for entry in rest)


@router.post("/{thread_id}/turns/{run_id}/review", status_code=status.HTTP_204_NO_CONTENT)
def review_plan(
    request: Request, access: AsOperator, thread_id: ThreadId, run_id: RunId, body: ReviewIn
) -> None:
    """Lets a plan run, whole or without some steps, changed, or not at all; the first answer counts."""
    steward = steward_of(request)
    review(steward, access, _run(steward, access, thread_id, run_id), body)


@router.get("/{thread_id}/artifacts")
def list_thread_artifacts(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    kind: Annotated[Kind | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ExhibitOut]:
    """Charts, tables, reports and files of all its turns, the last made first.

    A page may hold less than `limit`; as long as there is a `next_cursor`, others may follow.
    """
    shown = _gallery(request).shown(
        access.scope, thread_id, kind=kind, before=decode_cursor(cursor), limit=limit
    )
    following = None if shown.before is None else encode_cursor(shown.before)
    items = [ExhibitOut.model_validate(each) for each in shown.exhibits]
    return Page(items=items, next_cursor=following)


@router.get(
    "/{thread_id}/turns/{run_id}/table",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "All recorded rows."}},
)
def download_thread_table(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    run_id: RunId,
    key: Annotated[str, Query(min_length=1, max_length=400)],
) -> Response:
    """The rows that a call of the turn found, as CSV with formulas defused."""
    name, content = _gallery(request).table(access.scope, thread_id, run_id, key)
    return Response(content, media_type="text/csv", headers=attachment(name, len(content)))


@router.get("/{thread_id}/turns/{run_id}/rows")
def list_turn_rows(
    request: Request,
    access: AsViewer,
    thread_id: ThreadId,
    run_id: RunId,
    key: Annotated[str, Query(min_length=1, max_length=400)],
    cursor: Cursor = None,
    limit: Limit = 100,
) -> Page[list[Any]]:
    """The rows that a call of the turn found, page by page."""
    gallery, begin = _gallery(request), offset_of(cursor)
    found = gallery.rows(access.scope, thread_id, run_id, key, begin, limit + 1)
    following = encode_cursor(str(begin + limit)) if len(found) > limit else None
    return Page(items=found[:limit], next_cursor=following)


def _gallery(request: Request) -> Gallery:
    steward = steward_of(request)
    return Gallery(steward.threads, steward.runs)


@router.get("/{thread_id}/turns/{run_id}/plan-options")
def read_plan_options(
    request: Request, access: AsViewer, thread_id: ThreadId, run_id: RunId
) -> PlanOptionsOut:
    """What a changed plan of this turn may name: agents with their tools, tools with their arguments, skills."""
    steward = steward_of(request)
    return plan_options(steward, _run(steward, access, thread_id, run_id))


@router.post(
    "/{thread_id}/turns/{run_id}/steps/{step_id}/apply", status_code=status.HTTP_201_CREATED
)
def apply_plan_step(
    request: Request,
    access: AsOperator,
    thread_id: ThreadId,
    run_id: RunId,
    step_id: Annotated[str, Path(pattern="^[a-z][a-z0-9_]{0,29}$")],
) -> StepAppliedOut:
    """Does a step that was left out or failed, as a turn of its own whose plan is looked at first."""
    steward = steward_of(request)
    found = steward.threads.turns.get(access.scope, thread_id, run_id)
    turn = turn_out(steward, access.scope, found)
    thread, run = apply_step(steward, access, turn, step_id)
    return StepAppliedOut(thread_id=thread.id, run_id=run.id)


def _thread_with_etag(response: Response, thread: Thread) -> ThreadOut:
    set_etag(response, thread.revision)
    return ThreadOut.model_validate(thread)
