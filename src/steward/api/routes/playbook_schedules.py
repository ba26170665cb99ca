"""What starts playbooks by itself: their triggers, set, removed, paused."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Request, Response
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import IfMatch, Input, Output, Page, revision_from
from steward.api.guards import AsEditor, AsViewer
from steward.api.playbook_documents import PlaybookId, PlaybookOut, changed, playbooks_of
from steward.api.routing import Router
from steward.core import copied
from steward.playbooks import Subscription

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

_NEXT = 3
TriggerName = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$", examples=["schedule"])]


class TriggerOut(Output):
    id: str
    name: str
    type: str
    enabled: bool
    next_at: datetime | None
    next_moments: list[datetime]
    last_at: datetime | None
    failing_since: datetime | None
    silent_since: datetime | None
    details: dict[str, Any]


class TriggerIn(Input):
    type: str = Field("cron", max_length=40)
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Fields of the trigger, such as `cron` and `time_zone`."
    )


class SwitchIn(Input):
    enabled: bool


def _triggers(request: Request, found: list[Subscription]) -> Page[TriggerOut]:
    now = steward_of(request).clock.now()
    items = []
    for each in found:
        trigger = each.trigger
        items.append(
            copied(
                TriggerOut,
                each,
                next_moments=trigger.next_moments(now, _NEXT) if each.enabled else [],
                details=trigger.details(),
            )
        )
    return Page(items=items, next_cursor=None)


@router.get("/{playbook_id}/schedule")
def read_playbook_schedule(
    request: Request, access: AsViewer, playbook_id: PlaybookId
) -> Page[TriggerOut]:
    """What starts the deployed revision by itself, and when next."""
    return _triggers(request, playbooks_of(request).deploying.triggers(access, playbook_id))


@router.put("/{playbook_id}/schedule/{trigger}")
def set_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    body: TriggerIn,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """A new revision with this trigger; deployed at once when the newest revision was."""
    version = revision_from(if_match)
    given = {**body.settings, "type": body.type}
    deploying = playbooks_of(request).deploying
    return changed(response, deploying.schedule(access, playbook_id, version, trigger, given))


@router.delete("/{playbook_id}/schedule/{trigger}")
def remove_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    response: Response,
    if_match: IfMatch = None,
) -> PlaybookOut:
    """A new revision without this trigger; deployed at once when the newest revision was."""
    version = revision_from(if_match)
    deploying = playbooks_of(request).deploying
    return changed(response, deploying.schedule(access, playbook_id, version, trigger, None))


@router.post("/{playbook_id}/schedule/{trigger}/switch")
def switch_playbook_trigger(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    trigger: TriggerName,
    body: SwitchIn,
) -> Page[TriggerOut]:
    """Pauses a trigger or lets it go on, without a new revision."""
    deploying = playbooks_of(request).deploying
    found = deploying.switch(access, playbook_id, trigger, enabled=body.enabled)
    return _triggers(request, found)
