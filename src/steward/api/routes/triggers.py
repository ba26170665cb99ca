"""Triggers with their events, for people; and the addresses to which other programs send webhooks."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Path, Query, Request, Response, status
from pydantic import Field, model_validator

from steward.api.context import base_of, steward_of
from steward.api.direct_route import DirectRoute
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import (
    AsAnyone,
    AsEditor,
    AsOperator,
    AsSender,
    AsViewer,
    count_against_address,
)
from steward.api.routing import Router
from steward.api.types import EventId, TriggerId
from steward.core import Denied, NotFound, copied
from steward.identity import Access
from steward.playbooks import Action, EventState, Shown, TriggerDesk, TriggerEvent

router = Router(prefix="/projects/{project_id}/triggers", tags=["triggers"])
hooks = Router(prefix="/hooks", tags=["triggers"], route_class=DirectRoute)
forms = Router(prefix="/forms", tags=["triggers"])

Token = Annotated[
    str, Path(pattern=r"^[0-9a-z]{58}$", description="The secret part of an address.")
]
Number = Annotated[int, Path(ge=1, le=10**9)]
_NEXT = 3


class AddressesOut(Output):
    stable: str = Field(
        description="Starts the deployed revision; stays the same over all of them."
    )
    revision: str = Field(description="Starts the revision that is deployed now, also later.")
    test: str = Field(description="Stores an event and starts nothing.")


class WatchedTriggerOut(Output):
    id: str
    playbook_id: str
    playbook: str = Field(description="The id that its document has.")
    playbook_name: str
    name: str
    type: str
    revision: int
    enabled: bool
    next_at: datetime | None
    next_moments: list[datetime]
    last_at: datetime | None
    failing_since: datetime | None
    failing_why: str | None
    silent_since: datetime | None
    expected_seconds: float | None = Field(
        description="After so many seconds without an event its owner is told."
    )
    duplicates: int
    counts: dict[str, int] = Field(description="Events by state.")
    details: dict[str, Any]
    delivery: dict[str, Any]
    addresses: AddressesOut | None = Field(description="For editors, of a webhook.")
    form_link: str | None = Field(description="For editors, of a form: the page to fill it in.")


class TriggerEventOut(Output):
    id: str
    state: EventState
    reason: str | None
    revision: int | None
    replay_of: str | None
    attempts: int
    run_id: str | None
    order_key: str | None
    received_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    event: dict[str, Any]


class EventDecisionIn(Input):
    action: Action
    ids: list[Annotated[str, Field(pattern=r"^tev_[0-9a-z]{26}$")]] = Field(
        [], max_length=1_000, description="Which events."
    )
    states: list[EventState] = Field(
        [], max_length=10, description="Instead of ids: all events in these states, at most 10,000."
    )

    @model_validator(mode="after")
    def _says_which(self) -> "EventDecisionIn":
        if bool(self.ids) == bool(self.states):
            raise ValueError("name either ids or states")
        return self


class DecidedOut(Output):
    count: int


class TriggerSwitchIn(Input):
    enabled: bool


class FormToken(Input):
    token: str = Field(pattern=r"^[0-9a-z]{58}$", description="The secret part of the link.")


class FormAnswer(FormToken):
    values: dict[str, Any] = Field(description="What somebody filled in, by field.")


class FormOut(Output):
    heading: str
    text: str
    fields: dict[str, Any]


class FormThanks(Output):
    thanks: str


class ReceivedOut(Output):
    id: str | None = Field(description="The event; unset for a challenge.")
    duplicate: bool
    challenge: str | None = None


def _desk(request: Request) -> TriggerDesk:
    return steward_of(request).playbooks.triggers


def _shown(request: Request, access: Access, found: Shown) -> WatchedTriggerOut:
    each, steward = found.subscription, steward_of(request)
    trigger = each.trigger
    token = _desk(request).token(access, each)
    addresses, form_link = None, None
    base = base_of(request)
    if token is not None and each.type == "form":
        form_link = f"{base}/form?{urlencode({'token': token})}"
    elif token is not None:
        stable = f"{base}/api/v1/hooks/{token}"
        addresses = AddressesOut(
            stable=stable, revision=f"{stable}/versions/{each.revision}", test=f"{stable}/test"
        )
    moments = trigger.next_moments(steward.clock.now(), _NEXT) if each.enabled else []
    return copied(
        WatchedTriggerOut,
        each,
        playbook=found.card.slug,
        playbook_name=found.card.title,
        next_moments=moments,
        expected_seconds=found.expected_seconds,
        counts=dict(found.counts),
        details=trigger.details(),
        delivery=trigger.delivery.model_dump(mode="json"),
        addresses=addresses,
        form_link=form_link,
    )


def _event(found: TriggerEvent) -> TriggerEventOut:
    names = TriggerEventOut.model_fields.keys() - {"event"}
    return TriggerEventOut(
        **{name: getattr(found, name) for name in names}, event=dict(found.document)
    )


@router.get("")
def list_triggers(request: Request, access: AsViewer) -> Page[WatchedTriggerOut]:
    """Everything that starts deployed playbooks, with how it fares."""
    found = _desk(request).listed(access)
    return Page(items=[_shown(request, access, each) for each in found], next_cursor=None)


@router.get("/{trigger_id}")
def read_trigger(request: Request, access: AsViewer, trigger_id: TriggerId) -> WatchedTriggerOut:
    return _shown(request, access, _desk(request).get(access, trigger_id))


@router.get("/{trigger_id}/events")
def list_trigger_events(
    request: Request,
    access: AsViewer,
    trigger_id: TriggerId,
    state: Annotated[list[EventState] | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[TriggerEventOut]:
    """Events of a trigger, newest first, each with its state and why."""
    desk = _desk(request)

    def fetch(before: str | None, count: int) -> list[TriggerEvent]:
        return desk.page(access, trigger_id, states=state or (), before=before, limit=count)

    items, following = page(fetch, lambda item: item.id, cursor, limit)
    return Page(items=[_event(each) for each in items], next_cursor=following)


@router.get("/{trigger_id}/events/{event_id}")
def read_trigger_event(
    request: Request, access: AsViewer, trigger_id: TriggerId, event_id: EventId
) -> TriggerEventOut:
    found = _desk(request).event(access, event_id)
    if found.trigger_id != trigger_id:
        raise NotFound(f"There is no event {event_id!r} of this trigger.")
    return _event(found)


@router.post("/{trigger_id}/decisions")
def decide_about_events(
    request: Request, access: AsOperator, trigger_id: TriggerId, body: EventDecisionIn
) -> DecidedOut:
    """Replays events, drops them, or lets those run that were held; one or thousands."""
    desk = _desk(request)
    ids = body.ids or desk.in_states(access, trigger_id, body.states)
    return DecidedOut(count=desk.decide(access, trigger_id, body.action, ids))


@router.post("/{trigger_id}/switch")
def switch_trigger(
    request: Request, access: AsEditor, trigger_id: TriggerId, body: TriggerSwitchIn
) -> WatchedTriggerOut:
    """Pauses a trigger or lets it go on; what comes meanwhile is stored and waits."""
    return _shown(request, access, _desk(request).switch(access, trigger_id, enabled=body.enabled))


@router.post("/{trigger_id}/address")
def renew_trigger_address(
    request: Request, access: AsEditor, trigger_id: TriggerId
) -> WatchedTriggerOut:
    """A new address; the old one stops working at once."""
    return _shown(request, access, _desk(request).renew_address(access, trigger_id))


@forms.post("/lookup", dependencies=[AsAnyone])
def look_up_form(request: Request, body: FormToken) -> FormOut:
    """A form to fill in. The token travels in the body, so that no log keeps it."""
    found = _desk(request).form(body.token)
    return FormOut(heading=found.heading, text=found.text, fields=found.fields)


@forms.post("/answers", status_code=status.HTTP_201_CREATED, dependencies=[AsAnyone])
def answer_form(request: Request, body: FormAnswer) -> FormThanks:
    """Stores what somebody filled in; the run starts after that."""
    return FormThanks(thanks=_desk(request).submit(body.token, body.values).thanks)


@hooks.post(
    "/{token}",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=ReceivedOut,
    dependencies=[AsSender],
)
async def receive_webhook(request: Request, token: Token) -> Response:
    """Stores an event and answers; the run starts after that."""
    return await _received(request, token)


@hooks.post(
    "/{token}/test",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=ReceivedOut,
    dependencies=[AsSender],
)
async def receive_test_webhook(request: Request, token: Token) -> Response:
    """Stores an event that starts nothing: for trying out a sender."""
    return await _received(request, token, test=True)


@hooks.post(
    "/{token}/versions/{number}",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=ReceivedOut,
    dependencies=[AsSender],
)
async def receive_webhook_for_revision(request: Request, token: Token, number: Number) -> Response:
    """The same for one revision of the playbook, whichever is deployed."""
    return await _received(request, token, revision=number)


async def _received(
    request: Request, token: str, *, revision: int | None = None, test: bool = False
) -> Response:
    body = await request.body()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        found = await steward_of(request).playbooks.triggers.receive(
            token, headers, request.query_params, body, revision=revision, test=test
        )
    except (Denied, NotFound):
        # Guessing addresses and signatures counts; whoever sends what is genuine is not held up.
        count_against_address(request)
        raise
    is_new = not found.is_duplicate and found.challenge is None
    said = ReceivedOut(id=found.event_id, duplicate=found.is_duplicate, challenge=found.challenge)
    return Response(
        said.model_dump_json(),
        status_code=status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK,
        media_type="application/json",
    )
