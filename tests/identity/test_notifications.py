"""Notifications: everyone sees their own, in the project they belong to."""

import pytest

from steward.identity import Level, Role
from steward.store import Scope
from steward.testing import Installation

pytestmark = pytest.mark.every_database


def _notify(
    installation: Installation, user_id: str, title: str, scope: Scope | None = None
) -> None:
    steward = installation.steward
    with steward.database.write(scope or installation.scope) as tx:
        steward.identity.notifications.add_within(tx, user_id, Level.info, title, "body", link="x")


def test_people_see_and_read_their_own_alone(installation: Installation) -> None:
    notifications = installation.steward.identity.notifications
    one, two = installation.owner, installation.person(Role.admin)
    for title in ("first", "second"):
        _notify(installation, one.user.id, title)
    _notify(installation, two.user.id, "for the other")
    assert [n.title for n in notifications.page(one.access)] == ["second", "first"]
    assert (notifications.unread(one.access), notifications.unread(two.access)) == (2, 1)
    theirs = notifications.page(two.access)[0].id
    notifications.mark_read(one.access, [theirs])
    assert notifications.unread(two.access) == 1, "nobody reads for another"
    mine = notifications.page(one.access)
    installation.clock.advance(minutes=1)
    notifications.mark_read(one.access, [mine[0].id])
    assert notifications.unread(one.access) == 1
    read_at = notifications.page(one.access)[0].read_at
    assert read_at == installation.clock.now()
    installation.clock.advance(minutes=1)
    notifications.mark_read(one.access, None)
    assert notifications.unread(one.access) == 0
    assert notifications.page(one.access)[0].read_at == read_at, "read once is read"
    assert notifications.unread(two.access) == 1


def test_they_stay_in_their_project(installation: Installation) -> None:
    identity, owner = installation.steward.identity, installation.owner
    second = identity.projects.enter(owner.access.principal, installation.project("Second"))
    _notify(installation, owner.user.id, "elsewhere", second.scope)
    assert identity.notifications.page(owner.access) == []
    identity.notifications.mark_read(owner.access, None)
    assert identity.notifications.unread(second) == 1


def test_the_event_does_not_tell_what_they_say(installation: Installation) -> None:
    _notify(installation, installation.owner.user.id, "a private matter")
    [event] = [
        event
        for event in installation.steward.events.after(installation.scope, 0)
        if event.type.endswith("notification.created")
    ]
    assert event.data == {"user": installation.owner.user.id}


def test_pages_and_long_titles(installation: Installation) -> None:
    notifications, owner = installation.steward.identity.notifications, installation.owner
    for number in range(3):
        _notify(installation, owner.user.id, f"{number}" + "x" * 300)
    newest = notifications.page(owner.access, limit=1)
    assert newest[0].title == "2" + "x" * 199
    assert [n.title[0] for n in notifications.page(owner.access, after=newest[0].id)] == ["1", "0"]
