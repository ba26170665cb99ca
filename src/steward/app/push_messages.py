"""Tells people's devices what waits for them: one short message when something new is put to them."""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import structlog

from steward.app.foundation import Foundation
from steward.app.present_access import present_access
from steward.broker import Groups, Inbox, Waiting
from steward.connections import WebPush
from steward.core import NotFound, StewardError, Unavailable, reaching_for
from steward.identity import Access, Principal, PushAddress, PushDevice, Role
from steward.playbooks import Playbooks
from steward.store import Scope
from steward.tools import HTTP

_ASKING: Final = ("approval.requested", "run.blocked", "run.reviewing")
_ROUND_SECONDS: Final = 3.0
_LONGEST_TITLE: Final = 200
_log = structlog.get_logger("steward.push")


class WaitingNotices:
    def __init__(
        self, base: Foundation, inbox: Inbox, groups: Groups, playbooks: Playbooks
    ) -> None:
        self._base = base
        self._inbox = inbox
        self._groups = groups
        self._playbooks = playbooks
        settings = base.settings.http
        contact = settings.public_url or "mailto:steward@localhost"
        seed = base.keyring.derived_for_good("web push")
        self.push = WebPush(seed, settings.push_hosts, contact, base.clock)
        self._seen: int | None = None

    async def add(
        self, principal: Principal, name: str, endpoint: str, p256dh: str, auth: str
    ) -> PushDevice:
        """The device gets a first message; one that cannot be told anything is not kept."""
        address = self.push.checked(endpoint, p256dh, auth)
        welcome = {
            "title": "Steward tells you here what waits for you",
            "body": "You can switch this off in your profile.",
            "url": "/",
        }
        try:
            await self.push.send(self._base.http, address, welcome)
        except NotFound:
            raise Unavailable("The push service does not know this device.") from None
        devices = self._base.identity.push_devices
        return await asyncio.to_thread(devices.add, principal, name, address)

    async def serve(self) -> None:
        """Until it is cancelled."""
        while self.push.is_on:
            try:
                await self.round()
            except StewardError as problem:
                _log.warning("devices_not_told", error=problem.message)
            await asyncio.sleep(_ROUND_SECONDS)

    async def round(self) -> int:
        """Tells of what was asked since the last round; how many messages were taken."""
        events = self._base.events
        newest = await asyncio.to_thread(events.newest)
        before, self._seen = self._seen, newest
        if before is None or newest <= before:
            return 0
        told = 0
        for scope in await asyncio.to_thread(events.scopes_of, _ASKING, before, newest):
            for device, message in await asyncio.to_thread(self._due, scope):
                told += await self._tell(scope, device, message)
        return told

    def _due(self, scope: Scope) -> list[tuple[PushDevice, dict[str, Any]]]:
        """Messages that this process is to send: of several, one claims what is new for a device."""
        devices = self._base.identity.push_devices
        found = sorted(devices.of_project(scope), key=attrgetter("user_id"))
        due = []
        for user_id, theirs in groupby(found, key=attrgetter("user_id")):
            try:
                access = present_access(self._base.identity, scope, user_id)
            except StewardError:
                continue
            waiting = self._visible(access)
            for device in theirs:
                new = [item for item in waiting if item.asked_at > device.told_at]
                if new and devices.claim(device, max(item.asked_at for item in new)):
                    due.append((device, self._message(access, new)))
        return due

    def _visible(self, access: Access) -> list[Waiting]:
        sight = self._playbooks.people.sight(access)
        waiting = self._inbox.waiting(access)
        if sight.everything:
            return waiting
        groups = self._groups.of(access.scope, access.user_id)

        def shows(item: Waiting) -> bool:
            approval = item.approval
            asked = approval is not None and (
                approval.delegated_to == access.user_id
                or (bool(approval.approvers) and set(approval.approvers) <= groups)
            )
            if item.named or asked:
                return True
            run = self._base.runs.get(access.scope, item.run_id)
            mine = access.role is not Role.runner or run.created_by == access.user_id
            return mine and sight.shows(run.subject)

        return [item for item in waiting if shows(item)]

    def _message(self, access: Access, new: Sequence[Waiting]) -> dict[str, Any]:
        project = self._base.identity.projects.get(access).name
        title = new[0].title[:_LONGEST_TITLE]
        if len(new) > 1:
            title = f"{len(new)} things wait for you"
        return {"title": title, "body": project, "url": f"/p/{access.scope.project_id}/inbox"}

    async def _tell(self, scope: Scope, device: PushDevice, message: dict[str, Any]) -> bool:
        address: PushAddress = device.address
        try:
            with reaching_for(scope):
                await self.push.send(self._base.services.use(HTTP), address, message)
        except NotFound:
            await asyncio.to_thread(self._base.identity.push_devices.forget, device.id)
            return False
        except StewardError as problem:
            _log.warning("device_not_told", device=device.id, error=problem.message)
            return False
        return True
