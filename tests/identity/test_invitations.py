"""Invitations: used once, by the right person, all or nothing."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from steward.core.errors import Conflict, Denied, NotFound, StewardError
from steward.identity import Role
from steward.testing import Installation

PASSWORD = "nanoseconds and wire"


def _invite(installation: Installation, role: Role = Role.editor, email: str | None = None) -> str:
    _, text = installation.steward.identity.invitations.create(
        installation.owner.access, role, email, 7
    )
    return text


def test_a_new_person_joins_and_the_inviter_is_told(installation: Installation) -> None:
    identity = installation.steward.identity
    text = _invite(installation)
    assert identity.invitations.preview(text).role is Role.editor
    session = identity.invitations.accept_as_new(
        text, name="Grace", email="grace@example.com", password=PASSWORD
    )
    access = identity.projects.enter(session.principal, installation.scope.project_id)
    assert access.role is Role.editor
    told = identity.notifications.page(installation.owner.access)
    assert [note.title for note in told] == ["Grace joined as editor"]
    assert identity.notifications.unread(installation.owner.access) == 1
    assert identity.notifications.page(access) == []
    with pytest.raises(NotFound):
        identity.invitations.preview(text)


def test_of_many_at_once_one_joins(installation: Installation) -> None:
    identity = installation.steward.identity
    text = _invite(installation)

    def accept(number: int) -> bool:
        try:
            identity.invitations.accept_as_new(
                text, name=f"N{number}", email=f"n{number}@example.com", password=PASSWORD
            )
        except StewardError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(accept, range(4))) == 1
    assert len(identity.members.page(installation.owner.access)) == 2
    # Whoever came too late has no account left behind.
    assert len(identity.users.all()) == 2


def test_it_is_for_one_address_when_it_names_one(installation: Installation) -> None:
    identity = installation.steward.identity
    text = _invite(installation, email="Grace@Example.com")
    with pytest.raises(Denied):
        identity.invitations.accept_as_new(
            text, name="Eve", email="eve@example.com", password=PASSWORD
        )
    assert identity.users.find("eve@example.com") is None
    identity.invitations.accept_as_new(
        text, name="Grace", email="grace@example.com", password=PASSWORD
    )


def test_someone_with_an_account_joins_with_it(installation: Installation) -> None:
    identity = installation.steward.identity
    other = installation.person(Role.owner, "other", installation.project("Second"))
    text = _invite(installation, Role.viewer)
    with pytest.raises(Conflict):
        identity.invitations.accept_as_new(
            text, name="Again", email=other.user.email, password=PASSWORD
        )
    identity.invitations.accept_as(other.access.principal, text)
    joined = identity.projects.enter(other.access.principal, installation.scope.project_id)
    assert joined.role is Role.viewer


def test_it_ends_by_time_by_withdrawal_and_with_the_project(installation: Installation) -> None:
    identity = installation.steward.identity
    access = installation.owner.access
    invitation, withdrawn = identity.invitations.create(access, Role.viewer, None, 7)
    identity.invitations.revoke(access, invitation.id)
    late = _invite(installation)
    installation.clock.advance(days=8)
    second = identity.projects.enter(access.principal, installation.project("Second"))
    _, orphan = identity.invitations.create(second, Role.viewer, None, 7)
    identity.projects.delete(second)
    for text in (withdrawn, late, orphan, "sti_never"):
        with pytest.raises(NotFound):
            identity.invitations.preview(text)


def test_nobody_invites_above_themselves(installation: Installation) -> None:
    admin = installation.person(Role.admin)
    with pytest.raises(Denied):
        installation.steward.identity.invitations.create(admin.access, Role.owner, None, 7)
    editor = installation.person(Role.editor)
    with pytest.raises(Denied):
        installation.steward.identity.invitations.create(editor.access, Role.viewer, None, 7)
