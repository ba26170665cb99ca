"""API tokens: what they may, how long, and what is kept of them."""

import pytest
import sqlalchemy as sa

from steward.core.errors import Conflict, Denied, Invalid, NotFound, Unauthenticated
from steward.identity import Role
from steward.identity._tables import api_tokens
from steward.testing import Installation

pytestmark = pytest.mark.every_database


def test_only_a_hash_is_kept(installation: Installation) -> None:
    owner = installation.owner
    _, text = installation.steward.identity.tokens.create(owner.access, "t", Role.viewer, 1)
    with installation.steward.database.read(installation.scope) as tx:
        row = tx.execute(sa.select(api_tokens)).one()
    assert text not in str(row)
    assert text.startswith(row.prefix)


def test_a_token_ends_by_time_and_by_revocation(installation: Installation) -> None:
    tokens = installation.steward.identity.tokens
    access = installation.owner.access
    token, text = tokens.create(access, "t", Role.viewer, 7)
    assert tokens.resolve(text).user_id == access.user_id
    tokens.revoke(access, token.id)
    with pytest.raises(Unauthenticated):
        tokens.resolve(text)
    tokens.restore(access, token.id)
    assert tokens.resolve(text).user_id == access.user_id
    tokens.revoke(access, token.id)
    installation.clock.advance(minutes=11)
    with pytest.raises(Conflict):
        tokens.restore(access, token.id)
    other, late = tokens.create(access, "late", Role.viewer, 7)
    installation.clock.advance(days=8)
    with pytest.raises(Unauthenticated):
        tokens.resolve(late)
    assert other.expires_at < installation.clock.now()


def test_a_token_never_outgrows_its_person(installation: Installation) -> None:
    identity = installation.steward.identity
    editor = installation.person(Role.editor)
    with pytest.raises(Denied):
        identity.tokens.create(editor.access, "t", Role.admin, 1)
    _, text = identity.tokens.create(editor.access, "t", Role.editor, 1)
    identity.members.set_role(installation.owner.access, editor.user.id, Role.viewer)
    principal = identity.tokens.resolve(text)
    access = identity.projects.enter(principal, installation.scope.project_id)
    assert access.role is Role.viewer
    identity.members.remove(installation.owner.access, editor.user.id)
    with pytest.raises(NotFound):
        identity.projects.enter(principal, installation.scope.project_id)


def test_tokens_are_their_owners_business(installation: Installation) -> None:
    tokens = installation.steward.identity.tokens
    admin = installation.person(Role.admin)
    token, _ = tokens.create(installation.owner.access, "t", Role.viewer, 1)
    with pytest.raises(NotFound):
        tokens.revoke(admin.access, token.id)
    assert tokens.page(admin.access) == []


@pytest.mark.parametrize("days", [0, -1, 367])
def test_the_lifetime_has_limits(installation: Installation, days: int) -> None:
    with pytest.raises(Invalid):
        installation.steward.identity.tokens.create(
            installation.owner.access, "t", Role.viewer, days
        )


def test_a_token_opens_its_own_project_alone(installation: Installation) -> None:
    identity, access = installation.steward.identity, installation.owner.access
    second = installation.project("Second")
    _, text = identity.tokens.create(access, "t", Role.owner, 1)
    principal = identity.tokens.resolve(text)
    assert [project.id for project in identity.projects.page(principal)] == [
        access.scope.project_id
    ]
    with pytest.raises(NotFound):
        identity.projects.enter(principal, second)
    with pytest.raises(Denied):
        identity.projects.create_as(principal, "Third")


def test_a_token_of_another_project_cannot_be_touched_from_here(
    installation: Installation,
) -> None:
    identity, access = installation.steward.identity, installation.owner.access
    second = identity.projects.enter(access.principal, installation.project("Second"))
    token, _ = identity.tokens.create(second, "t", Role.viewer, 1)
    assert identity.tokens.page(access) == []
    with pytest.raises(NotFound):
        identity.tokens.revoke(access, token.id)
    with pytest.raises(NotFound):
        identity.tokens.restore(access, token.id)


def test_disabling_a_person_revokes_their_tokens_for_good(installation: Installation) -> None:
    identity = installation.steward.identity
    editor = installation.person(Role.editor)
    _, text = identity.tokens.create(editor.access, "t", Role.viewer, 1)
    identity.users.disable(editor.user.id)
    with pytest.raises(Unauthenticated):
        identity.tokens.resolve(text)
    identity.users.enable(editor.user.id)
    with pytest.raises(Unauthenticated):
        identity.tokens.resolve(text)


def test_the_last_use_is_noted_now_and_then(installation: Installation) -> None:
    tokens, access = installation.steward.identity.tokens, installation.owner.access
    _, text = tokens.create(access, "t", Role.viewer, 1)
    assert tokens.page(access)[0].last_used_at is None
    first = installation.clock.now()
    tokens.resolve(text)
    installation.clock.advance(seconds=30)
    tokens.resolve(text)
    assert tokens.page(access)[0].last_used_at == first
    installation.clock.advance(minutes=1)
    tokens.resolve(text)
    assert tokens.page(access)[0].last_used_at == installation.clock.now()


def test_pages_are_newest_first(installation: Installation) -> None:
    tokens, access = installation.steward.identity.tokens, installation.owner.access
    made = [tokens.create(access, f"t{n}", Role.viewer, 1)[0].id for n in range(3)]
    assert [token.id for token in tokens.page(access, limit=2)] == [made[2], made[1]]
    assert [token.id for token in tokens.page(access, after=made[1])] == [made[0]]


@pytest.mark.parametrize("text", ["", "stw_", "stw_" + "x" * 43, "Bearer x"])
def test_what_is_no_token_speaks_for_nobody(installation: Installation, text: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        installation.steward.identity.tokens.resolve(text)
    assert caught.value.specific_code == "bad-token"
