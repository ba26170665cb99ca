"""Devices are told what waits for their person, once, and nothing that others alone are asked."""

import asyncio
from dataclasses import fields

import pytest

from steward.api.guards import cookie_name
from steward.app.foundation import Foundation
from steward.app.push_messages import WaitingNotices
from steward.core import Invalid, Services, Unavailable
from steward.testing import Installation, Person
from steward.tools import HTTP
from tests.api.test_asked import Office, office
from tests.api.test_playbooks import Desk
from tests.connections.push_service import HOST, Device, PushService
from tests.playbooks.conftest import ASKING

__all__ = ["office"]
pytestmark = pytest.mark.every_database


class Phones:
    """The installation with a push service that knows some devices."""

    def __init__(self, office: Office, *devices: Device) -> None:
        self.installation: Installation = office.installation
        self.service = PushService(*devices)
        steward = self.installation.steward
        steward.settings.http.push_hosts[:] = [HOST]
        parts = {each.name: getattr(steward, each.name) for each in fields(Foundation)}
        http = self.service.http
        base = Foundation(**{**parts, "http": http, "services": Services(HTTP.of(http))})
        governing = steward.governing
        self.notices = WaitingNotices(base, governing.inbox, governing.groups, steward.playbooks)
        asyncio.run(self.notices.round())

    def add(self, person: Person, device: Device, name: str = "Phone") -> str:
        steward = self.installation.steward
        cookie = person.client.cookies[cookie_name(steward.settings.http)]
        principal = steward.identity.sessions.resolve(cookie)
        made = asyncio.run(self.notices.add(principal, name, *device.subscription))
        self.installation.clock.advance(seconds=1)
        return made.id

    def round(self) -> int:
        """What happens next is later than what was told now."""
        self.installation.clock.advance(seconds=1)
        return asyncio.run(self.notices.round())

    def listed(self, person: Person) -> list[str]:
        found = person.client.get("/api/v1/me/push").json()["devices"]
        return [each["name"] for each in found]


def test_a_device_is_told_once_what_waits_for_its_person(office: Office) -> None:
    mine, theirs = Device(path="/mine"), Device(path="/theirs")
    phones = Phones(office, mine, theirs)
    phones.add(office.person, mine)
    phones.add(office.author, theirs)
    assert [each["url"] for each in phones.service.got] == ["/", "/"]
    phones.service.got.clear()
    playbook = office.made(ASKING)
    # A question for anybody stays with whoever started the run, and with editors.
    office.started(office.engineer, playbook)
    assert (phones.round(), phones.round()) == (1, 0)
    [told] = phones.service.got
    project = office.installation.scope.project_id
    assert (told["body"], told["url"]) == ("First", f"/p/{project}/inbox")
    phones.service.got.clear()
    office.started(office.runner, playbook)
    office.started(office.runner, playbook)
    assert phones.round() == 2
    assert {each["title"] for each in phones.service.got} == {"2 things wait for you"}


def test_a_signed_out_device_is_told_nothing(office: Office) -> None:
    device = Device()
    phones = Phones(office, device)
    phones.add(office.author, device)
    phones.service.got.clear()
    assert phones.listed(office.author) == ["Phone"]
    office.author.client.delete("/api/v1/session")
    office.installation.steward.runs.drive_until_idle()
    office.started(office.runner, _made_by_the_owner(office))
    assert phones.round() == 0
    assert phones.service.got == []


def _made_by_the_owner(office: Office) -> str:
    stand_in = Office(
        office.installation,
        Desk(office.installation.owner),
        office.installation.owner,
        office.runner,
        office.person,
    )
    return stand_in.made(ASKING)


def test_a_device_that_its_service_forgot_is_removed(office: Office) -> None:
    device = Device()
    phones = Phones(office, device)
    phones.add(office.author, device)
    phones.service.status = 410
    office.started(office.engineer, office.made(ASKING))
    assert phones.round() == 0
    assert phones.listed(office.author) == []


def test_a_device_that_cannot_be_told_is_not_kept(office: Office) -> None:
    device = Device()
    phones = Phones(office, device)
    phones.service.status = 500
    with pytest.raises(Unavailable):
        phones.add(office.author, device)
    assert phones.listed(office.author) == []


def test_the_same_browser_belongs_to_whoever_signed_in_last(office: Office) -> None:
    device = Device()
    phones = Phones(office, device)
    phones.add(office.author, device)
    phones.add(office.person, device)
    assert (phones.listed(office.author), phones.listed(office.person)) == ([], ["Phone"])


def test_people_see_and_remove_their_own_devices_only(office: Office) -> None:
    device = Device()
    phones = Phones(office, device)
    made = phones.add(office.author, device)
    path = f"/api/v1/me/push/{made}"
    assert office.person.client.delete(path).status_code == 404
    assert office.author.client.delete(path).status_code == 204
    assert office.author.client.delete(path).status_code == 404


def test_another_push_service_is_refused_by_name(office: Office) -> None:
    endpoint, p256dh, auth = Device().subscription
    body = {"name": "Phone", "endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
    office.installation.steward.settings.http.push_hosts[:] = ["other.example"]
    answer = office.author.client.post("/api/v1/me/push", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "push-service-unknown")
    assert HOST in answer.json()["detail"]


def test_switched_off_in_the_settings_there_is_no_key(office: Office) -> None:
    office.installation.steward.settings.http.push_hosts.clear()
    assert office.author.client.get("/api/v1/me/push").json()["public_key"] is None
    with pytest.raises(Invalid):
        office.installation.steward.waiting_notices.push.checked(*Device().subscription)
