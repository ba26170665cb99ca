"""Who may enter a project, and what happens to its members."""

import pytest

from steward.core.errors import Conflict, Denied, NotFound
from steward.identity import Role
from steward.testing import Installation

pytestmark = pytest.mark.every_database


def test_a_stranger_finds_no_project(installation: Installation) -> None:
    other = installation.project("Second")
    stranger = installation.person(Role.owner, "stranger", project_id=other)
    with pytest.raises(NotFound):
        installation.steward.identity.projects.enter(
            stranger.access.principal, installation.scope.project_id
        )


def test_the_last_owner_stays(installation: Installation) -> None:
    members = installation.steward.identity.members
    admin = installation.person(Role.admin)
    with pytest.raises(Denied):
        members.remove(admin.access, installation.owner.user.id)
    with pytest.raises(Conflict, match="organisation"):
        members.remove(installation.owner.access, installation.owner.user.id)


def test_a_removed_member_can_be_brought_back(installation: Installation) -> None:
    identity = installation.steward.identity
    editor = installation.person(Role.editor)
    identity.members.remove(installation.owner.access, editor.user.id)
    with pytest.raises(NotFound):
        identity.projects.enter(editor.access.principal, installation.scope.project_id)
    member = identity.members.set_role(installation.owner.access, editor.user.id, Role.viewer)
    assert member.role is Role.viewer
    entered = identity.projects.enter(editor.access.principal, installation.scope.project_id)
    assert entered.role is Role.viewer


def test_nobody_gives_a_role_above_their_own(installation: Installation) -> None:
    admin, viewer = installation.person(Role.admin), installation.person(Role.viewer)
    with pytest.raises(Denied):
        installation.steward.identity.members.set_role(admin.access, viewer.user.id, Role.owner)


def test_deleting_hides_and_restoring_brings_back(installation: Installation) -> None:
    projects = installation.steward.identity.projects
    second = projects.enter(installation.owner.access.principal, installation.project("Second"))
    projects.delete(second)
    with pytest.raises(NotFound):
        projects.enter(second.principal, second.scope.project_id)
    assert projects.restore(second.principal, second.scope.project_id).name == "Second"
    projects.delete(second)
    with pytest.raises(Conflict):
        projects.delete(installation.owner.access)
