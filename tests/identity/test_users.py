"""People: one account per address, names that can be read, and always somebody who owns."""

from collections.abc import Callable
from functools import partial

import pytest

from steward.core.errors import Conflict, Invalid, NotFound, Stale
from steward.identity import Role
from steward.identity.users import canonical_email, checked_name
from steward.testing import Installation
from tests.identity.together import at_once

pytestmark = pytest.mark.every_database

PASSWORD = "correct horse battery"


def test_addresses_are_compared_without_regard_to_case(installation: Installation) -> None:
    people = installation.steward.identity.users
    made = people.create("Ada@Example.COM", " Ada ")
    assert (made.email, made.name, made.has_password) == ("ada@example.com", "Ada", False)
    assert people.find("ADA@example.com") == made
    with pytest.raises(Conflict):
        people.create("ada@EXAMPLE.com", "Somebody else")
    assert people.find("nobody@example.com") is None
    with pytest.raises(NotFound):
        people.get("usr_nobody")


def test_two_who_take_an_address_at_once_get_one_account(installation: Installation) -> None:
    people = installation.steward.identity.users
    for number in range(3):
        create = partial(people.create, f"ada{number}@example.com", "Ada", PASSWORD)
        made = at_once(create, create, create)
        assert sorted(type(one).__name__ for one in made) == ["Conflict", "Conflict", "User"]
        assert people.find(f"ada{number}@example.com") is not None


@pytest.mark.parametrize(
    "email", ["", "nobody", "a@", "@b", "a b@c.d", "a@b\x00.c", "a@" + "x" * 300]
)
def test_what_is_no_address_is_refused(email: str) -> None:
    with pytest.raises(Invalid) as caught:
        canonical_email(email)
    assert caught.value.problems[0].pointer == "/email"


@pytest.mark.parametrize(
    "email", ["owner@localhost", "a@intranet.local", "a@b.test", "ü@münchen.de"]
)
def test_addresses_of_private_networks_are_fine(email: str) -> None:
    assert canonical_email(email.upper()) == email


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\nb", "a\x00b", "a\x1bb", "\ud800"])
def test_names_that_cannot_be_kept_are_refused(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        checked_name(name)
    assert caught.value.problems[0].pointer == "/name"


def test_a_profile_is_changed_by_revision(installation: Installation) -> None:
    people = installation.steward.identity.users
    ada = people.create("ada@example.com", "Ada")
    changed = people.update(ada.id, 1, {"name": "Ada L.", "locale": "en-GB"})
    assert (changed.name, changed.locale, changed.revision) == ("Ada L.", "en-GB", 2)
    with pytest.raises(Stale):
        people.update(ada.id, 1, {"name": "Lost"})
    with pytest.raises(NotFound):
        people.update("usr_nobody", 1, {"name": "Nobody"})
    assert people.get(ada.id) == changed


def test_everyone_is_listed_by_address(installation: Installation) -> None:
    people = installation.steward.identity.users
    for name in ("c", "a", "b"):
        people.create(f"{name}@example.com", name)
    assert [user.name for user in people.all()] == ["a", "b", "c"]


def test_whether_anybody_has_a_password(installation: Installation) -> None:
    people = installation.steward.identity.users
    assert not people.anyone_with_password()
    people.create("no@example.com", "No")
    assert not people.anyone_with_password()
    yes = people.create("yes@example.com", "Yes", PASSWORD)
    assert people.anyone_with_password()
    people.disable(yes.id)
    assert not people.anyone_with_password(), "who cannot sign in guards nothing"


def test_the_last_owner_can_neither_be_disabled_nor_lowered(installation: Installation) -> None:
    identity, owner = installation.steward.identity, installation.owner
    org_id = owner.access.scope.org_id
    with pytest.raises(Conflict, match="last owner"):
        identity.users.disable(owner.user.id)
    with pytest.raises(Conflict, match="last owner"):
        identity.members.set_organisation_role(org_id, owner.user.id, Role.admin)
    second = identity.users.create("second@example.com", "Second")
    identity.members.set_organisation_role(org_id, second.id, Role.owner)
    identity.users.disable(second.id)
    with pytest.raises(Conflict, match="last owner"):
        identity.members.set_organisation_role(org_id, owner.user.id, Role.admin)
    identity.users.enable(second.id)
    identity.users.disable(owner.user.id)
    assert identity.users.first_owner() == identity.users.get(second.id)


def test_owners_who_end_each_other_at_once_leave_one(installation: Installation) -> None:
    identity = installation.steward.identity
    one = installation.owner.user.id
    org_id = installation.scope.org_id
    two = identity.users.create("second@example.com", "Second").id

    def disable(user_id: str) -> Callable[[], None]:
        return lambda: identity.users.disable(user_id)

    def lower(user_id: str) -> Callable[[], None]:
        return lambda: identity.members.set_organisation_role(org_id, user_id, Role.viewer)

    for first, second in ((disable, disable), (lower, lower), (disable, lower)):
        for user_id in (one, two):
            identity.users.enable(user_id)
            identity.members.set_organisation_role(org_id, user_id, Role.owner)
        done = at_once(first(one), second(two))
        assert sum(isinstance(result, Conflict) for result in done) == 1
        assert identity.users.first_owner() is not None


def test_an_organisation_role_opens_every_project(installation: Installation) -> None:
    identity, scope = installation.steward.identity, installation.scope
    second = installation.project("Second")
    person = installation.person(Role.viewer)
    identity.members.set_organisation_role(scope.org_id, person.user.id, Role.editor)
    for project_id in (scope.project_id, second):
        assert identity.projects.enter(person.access.principal, project_id).role is Role.editor
    identity.members.set_organisation_role(scope.org_id, person.user.id, Role.viewer)
    entered = identity.projects.enter(person.access.principal, second)
    assert entered.role is Role.viewer
