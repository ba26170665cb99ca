"""Notifications of the caller in one project."""

from datetime import datetime
from typing import Literal

from fastapi import Request, status
from pydantic import Field, model_validator

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsViewerOrRunner
from steward.api.routing import Router
from steward.core import copied
from steward.identity import Notification

router = Router(prefix="/projects/{project_id}/notifications", tags=["notifications"])


class NotificationOut(Output):
    id: str
    level: Literal["info", "success", "warning", "error"]
    title: str
    body: str
    link: str | None
    created_at: datetime
    read_at: datetime | None


class NotificationPage(Page[NotificationOut]):
    unread: int


class MarkRead(Input):
    """Either some of them by id, or all."""

    ids: list[str] | None = Field(None, max_length=200)
    all: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> "MarkRead":
        if (self.ids is not None) == self.all:
            raise ValueError("send either ids or all: true")
        return self


def _notification_out(notification: Notification) -> NotificationOut:
    return copied(NotificationOut, notification, level=notification.level.value)


@router.get("")
def list_notifications(
    request: Request, access: AsViewerOrRunner, cursor: Cursor = None, limit: Limit = 50
) -> NotificationPage:
    notifications = steward_of(request).identity.notifications
    items, following = page(
        lambda after, count: notifications.page(access, after=after, limit=count),
        lambda notification: notification.id,
        cursor,
        limit,
    )
    return NotificationPage(
        items=[_notification_out(item) for item in items],
        next_cursor=following,
        unread=notifications.unread(access),
    )


@router.post("/read", status_code=status.HTTP_204_NO_CONTENT)
def mark_notifications_read(request: Request, access: AsViewerOrRunner, body: MarkRead) -> None:
    steward_of(request).identity.notifications.mark_read(access, None if body.all else body.ids)
