"""Invitations: used once, by the right person, all or nothing."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from steward.core.errors import Conflict, Denied, Invalid, NotFound, StewardError
from steward.identity import Role
from steward.testing import Installation
from tests.identity.together import at_once

pytestmark = pytest.mark.every_database

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


def test_it_ends_with_the_role_of_who_invited(installation: Installation) -> None:
    """Somebody who is about to be removed makes a link to come back with."""
    identity, owner = installation.steward.identity, installation.owner.access
    eve = installation.person(Role.admin)
    _, text = identity.invitations.create(eve.access, Role.admin, None, 90)
    _, named = identity.invitations.create(eve.access, Role.editor, "eve@other.example", 90)
    assert identity.invitations.preview(text).role is Role.admin

    def accept(link: str) -> None:
        identity.invitations.accept_as_new(
            link, name="Eve", email="eve@other.example", password=PASSWORD
        )

    identity.members.set_role(owner, eve.access.user_id, Role.editor)
    for link in (text, named):
        with pytest.raises(NotFound, match="Ask for a new link"):
            accept(link)
    identity.members.remove(owner, eve.access.user_id)
    with pytest.raises(NotFound):
        accept(text)
    identity.members.set_role(owner, eve.access.user_id, Role.admin)
    identity.users.disable(eve.access.user_id)
    with pytest.raises(NotFound):
        identity.invitations.preview(text)
    assert identity.users.find("eve@other.example") is None


def test_nobody_invites_above_themselves(installation: Installation) -> None:
    admin = installation.person(Role.admin)
    with pytest.raises(Denied):
        installation.steward.identity.invitations.create(admin.access, Role.owner, None, 7)
    editor = installation.person(Role.editor)
    with pytest.raises(Denied):
        installation.steward.identity.invitations.create(editor.access, Role.viewer, None, 7)


def test_a_list_shows_what_is_open_or_was_accepted(installation: Installation) -> None:
    invitations, access = installation.steward.identity.invitations, installation.owner.access
    made = [invitations.create(access, Role.viewer, None, 7)[0].id for _ in range(3)]
    invitations.revoke(access, made[1])
    assert [i.id for i in invitations.page(access)] == [made[2], made[0]]
    assert [i.id for i in invitations.page(access, after=made[2])] == [made[0]]
    with pytest.raises(NotFound):
        invitations.revoke(access, "inv_none")
    elsewhere = installation.steward.identity.projects.enter(
        access.principal, installation.project("Second")
    )
    assert invitations.page(elsewhere) == []
    with pytest.raises(NotFound):
        invitations.revoke(elsewhere, made[0])


def test_an_accepted_one_can_neither_be_used_again_nor_withdrawn(
    installation: Installation,
) -> None:
    identity = installation.steward.identity
    other = installation.person(Role.owner, "other", installation.project("Second"))
    invitation, text = identity.invitations.create(installation.owner.access, Role.viewer, None, 7)
    identity.invitations.accept_as(other.access.principal, text)
    third = installation.person(Role.owner, "third", installation.project("Third"))
    with pytest.raises(NotFound) as caught:
        identity.invitations.accept_as(third.access.principal, text)
    assert caught.value.specific_code == "invitation-closed"
    with pytest.raises(NotFound):
        identity.invitations.revoke(installation.owner.access, invitation.id)
    [shown] = identity.invitations.page(installation.owner.access)
    assert shown.accepted_at == installation.clock.now()


def test_of_two_with_accounts_one_joins(installation: Installation) -> None:
    identity = installation.steward.identity
    one, two = (
        installation.person(Role.owner, name, installation.project(name)).access.principal
        for name in ("one", "two")
    )
    text = _invite(installation, Role.viewer)
    done = at_once(
        partial(identity.invitations.accept_as, one, text),
        partial(identity.invitations.accept_as, two, text),
    )
    assert sum(isinstance(result, NotFound) for result in done) == 1
    assert len(identity.members.page(installation.owner.access)) == 2


def test_one_person_with_two_invitations_at_once_gets_the_higher_role(
    installation: Installation,
) -> None:
    identity = installation.steward.identity
    for number in range(3):
        person = installation.person(
            Role.owner, f"person{number}", installation.project(f"Own {number}")
        ).access.principal
        low, high = _invite(installation, Role.viewer), _invite(installation, Role.editor)
        done = at_once(
            partial(identity.invitations.accept_as, person, low),
            partial(identity.invitations.accept_as, person, high),
        )
        assert done == [None, None]
        entered = identity.projects.enter(person, installation.scope.project_id)
        assert entered.role is Role.editor


def test_one_address_with_two_invitations_at_once_gets_one_account(
    installation: Installation,
) -> None:
    identity = installation.steward.identity
    accept = partial(
        identity.invitations.accept_as_new, name="G", email="g@example.com", password=PASSWORD
    )
    done = at_once(*(partial(accept, _invite(installation)) for _ in range(3)))
    assert sum(isinstance(result, Conflict) for result in done) == 2
    assert len(identity.members.page(installation.owner.access)) == 2


def test_joining_again_never_lowers_a_role(installation: Installation) -> None:
    identity = installation.steward.identity
    editor = installation.person(Role.editor)
    identity.invitations.accept_as(editor.access.principal, _invite(installation, Role.viewer))
    entered = identity.projects.enter(editor.access.principal, installation.scope.project_id)
    assert entered.role is Role.editor
    identity.members.remove(installation.owner.access, editor.user.id)
    identity.invitations.accept_as(editor.access.principal, _invite(installation, Role.viewer))
    entered = identity.projects.enter(editor.access.principal, installation.scope.project_id)
    assert entered.role is Role.viewer, "somebody who was removed starts anew"


def test_neither_a_stranger_nor_a_token_uses_anothers_invitation(
    installation: Installation,
) -> None:
    identity = installation.steward.identity
    other = installation.person(Role.owner, "other", installation.project("Second"))
    text = _invite(installation, email="grace@example.com")
    with pytest.raises(Denied):
        identity.invitations.accept_as(other.access.principal, text)
    _, token = identity.tokens.create(other.access, "t", Role.owner, 1)
    with pytest.raises(Denied):
        identity.invitations.accept_as(identity.tokens.resolve(token), _invite(installation))


def test_a_weak_password_leaves_the_invitation_open(installation: Installation) -> None:
    identity = installation.steward.identity
    text = _invite(installation)
    with pytest.raises(Invalid):
        identity.invitations.accept_as_new(
            text, name="Grace", email="grace@example.com", password="short"
        )
    assert identity.users.find("grace@example.com") is None
    assert identity.invitations.preview(text).project_name == "First"
