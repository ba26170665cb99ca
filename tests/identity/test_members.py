"""Members: who may change whom, and that a project always has an owner."""

from functools import partial

import pytest
import sqlalchemy as sa

from steward.core.errors import Conflict, Denied, NotFound
from steward.identity import Access, Role
from steward.identity._tables import organisation_members
from steward.store import EVERYWHERE
from steward.testing import Installation
from tests.identity.together import at_once

pytestmark = pytest.mark.every_database


def _without_organisation_owner(installation: Installation) -> None:
    """Leaves the project's own owners as its only ones."""
    with installation.steward.database.write(EVERYWHERE) as tx:
        tx.execute(sa.delete(organisation_members))


def _owners(installation: Installation, access: Access) -> list[str]:
    members = installation.steward.identity.members.page(access)
    return [member.user_id for member in members if member.role is Role.owner]


def test_members_are_listed_with_where_their_role_comes_from(installation: Installation) -> None:
    members, owner = installation.steward.identity.members, installation.owner
    editor = installation.person(Role.editor)
    listed = {member.user_id: member for member in members.page(owner.access)}
    assert (listed[owner.user.id].role, listed[owner.user.id].inherited) == (Role.owner, True)
    assert (listed[editor.user.id].role, listed[editor.user.id].inherited) == (Role.editor, False)
    first, second = sorted(listed)
    assert [m.user_id for m in members.page(owner.access, limit=1)] == [first]
    assert [m.user_id for m in members.page(owner.access, after=first)] == [second]


def test_the_list_is_of_this_project_and_without_the_disabled(installation: Installation) -> None:
    identity, owner = installation.steward.identity, installation.owner
    elsewhere = installation.project("Second")
    installation.person(Role.editor, "elsewhere", elsewhere)
    disabled = installation.person(Role.editor, "disabled")
    identity.users.disable(disabled.user.id)
    assert [m.user_id for m in identity.members.page(owner.access)] == [owner.user.id]


def test_who_may_change_whom(installation: Installation) -> None:
    members = installation.steward.identity.members
    people = {role: installation.person(role) for role in Role}
    for role in (Role.viewer, Role.operator, Role.editor):
        with pytest.raises(Denied):
            members.set_role(people[role].access, people[Role.viewer].user.id, Role.viewer)
        with pytest.raises(Denied):
            members.remove(people[role].access, people[Role.admin].user.id)
    admin, owner = people[Role.admin], people[Role.owner]
    with pytest.raises(Denied, match="higher role"):
        members.set_role(admin.access, owner.user.id, Role.viewer)
    with pytest.raises(Denied, match="higher role"):
        members.remove(admin.access, owner.user.id)
    members.set_role(admin.access, people[Role.viewer].user.id, Role.admin)
    members.remove(admin.access, people[Role.editor].user.id)
    members.remove(people[Role.operator].access, people[Role.operator].user.id)
    left = {member.user_id for member in members.page(owner.access)}
    assert people[Role.operator].user.id not in left, "everyone may leave"
    with pytest.raises(NotFound):
        members.remove(admin.access, people[Role.editor].user.id)


def test_only_people_of_the_organisation_are_given_roles(installation: Installation) -> None:
    identity, owner = installation.steward.identity, installation.owner
    stranger = identity.users.create("stranger@example.com", "Stranger")
    with pytest.raises(NotFound):
        identity.members.set_role(owner.access, stranger.id, Role.viewer)
    known = installation.person(Role.viewer, "known", installation.project("Second"))
    member = identity.members.set_role(owner.access, known.user.id, Role.editor)
    assert member.role is Role.editor
    identity.users.disable(known.user.id)
    with pytest.raises(NotFound):
        identity.members.set_role(owner.access, known.user.id, Role.editor)


def test_the_last_owner_of_a_project_stays(installation: Installation) -> None:
    members, owner = installation.steward.identity.members, installation.owner
    _without_organisation_owner(installation)
    with pytest.raises(Conflict, match="last owner"):
        members.remove(owner.access, owner.user.id)
    with pytest.raises(Conflict, match="last owner"):
        members.set_role(owner.access, owner.user.id, Role.admin)
    second = installation.person(Role.owner, "second")
    members.remove(owner.access, owner.user.id)
    assert _owners(installation, second.access) == [second.user.id]


def test_owners_who_remove_each_other_at_once_leave_one(installation: Installation) -> None:
    members, one = installation.steward.identity.members, installation.owner
    two = installation.person(Role.owner, "second")
    _without_organisation_owner(installation)
    for _ in range(3):
        done = at_once(
            partial(members.remove, one.access, two.user.id),
            partial(members.remove, two.access, one.user.id),
        )
        assert sum(result is None for result in done) == 1
        [left] = _owners(installation, one.access)
        left_access = one.access if left == one.user.id else two.access
        for person in (one, two):
            members.set_role(left_access, person.user.id, Role.owner)


def test_changes_are_told(installation: Installation) -> None:
    steward, owner = installation.steward, installation.owner
    editor = installation.person(Role.editor)
    steward.identity.members.set_role(owner.access, editor.user.id, Role.viewer)
    steward.identity.members.remove(owner.access, editor.user.id)
    events = [
        (event.type.removeprefix("org.steward."), event.data)
        for event in steward.events.after(installation.scope, 0)
        if event.subject == editor.user.id
    ]
    assert events == [
        ("member.changed", {"role": "editor"}),
        ("member.changed", {"role": "viewer", "by": owner.user.id}),
        ("member.removed", {"by": owner.user.id}),
    ]
