"""Signing in and staying signed in."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from steward.core.errors import Denied, Invalid, RateLimited, StewardError, Unauthenticated
from steward.testing import Installation
from steward.testing.installation import PASSWORD

EMAIL = "owner@example.com"


def test_a_session_lasts_while_it_is_used_and_ends_when_it_is_not(
    installation: Installation,
) -> None:
    sessions = installation.steward.identity.sessions
    assert installation.owner.user.email == EMAIL
    session = sessions.sign_in(EMAIL, PASSWORD, address="1.1.1.1")
    for _ in range(4):
        installation.clock.advance(days=10)
        assert sessions.resolve(session.token).user_id == installation.owner.user.id
    installation.clock.advance(days=15)
    with pytest.raises(Unauthenticated):
        sessions.resolve(session.token)


def test_signing_out_ends_one_session_only(installation: Installation) -> None:
    sessions = installation.steward.identity.sessions
    assert installation.owner.user.email == EMAIL
    here = sessions.sign_in(EMAIL, PASSWORD, address="1.1.1.1")
    there = sessions.sign_in(EMAIL, PASSWORD, address="1.1.1.2")
    sessions.close(here.principal.session_id or "")
    with pytest.raises(Unauthenticated):
        sessions.resolve(here.token)
    assert sessions.resolve(there.token).email == EMAIL


def test_a_disabled_user_is_out_at_once(installation: Installation) -> None:
    identity = installation.steward.identity
    owner = installation.owner
    user = identity.users.create("eve@example.com", "Eve", PASSWORD)
    session = identity.sessions.sign_in("eve@example.com", PASSWORD, address="1.1.1.1")
    identity.users.disable(user.id)
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(session.token)
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in("eve@example.com", PASSWORD, address="1.1.1.1")
    with pytest.raises(StewardError, match="last owner"):
        identity.users.disable(owner.user.id)


def test_a_link_signs_in_once_even_when_two_use_it_at_the_same_time(
    installation: Installation,
) -> None:
    sessions = installation.steward.identity.sessions
    link = sessions.new_link(installation.owner.user.id)

    def use() -> bool:
        try:
            sessions.sign_in_by_link(link)
        except Unauthenticated:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        wins = list(pool.map(lambda _: use(), range(4)))
    assert sum(wins) == 1
    late = sessions.new_link(installation.owner.user.id)
    installation.clock.advance(hours=2)
    with pytest.raises(Unauthenticated):
        sessions.sign_in_by_link(late)


def test_guessing_is_slowed_down_without_locking_the_owner_out(
    installation: Installation,
) -> None:
    sessions = installation.steward.identity.sessions
    assert installation.owner.user.email == EMAIL
    for _ in range(10):
        with pytest.raises(Unauthenticated):
            sessions.sign_in(EMAIL, "wrong password", address="6.6.6.6")
    with pytest.raises(RateLimited) as refused:
        sessions.sign_in(EMAIL, PASSWORD, address="6.6.6.6")
    assert refused.value.retry_after_seconds > 0
    # Somebody else's guesses do not stop the owner elsewhere.
    assert sessions.sign_in(EMAIL, PASSWORD, address="7.7.7.7").token
    installation.clock.advance(minutes=16)
    assert sessions.sign_in(EMAIL, PASSWORD, address="6.6.6.6").token


def test_guessing_many_accounts_from_one_address_is_slowed_down(
    installation: Installation,
) -> None:
    sessions = installation.steward.identity.sessions
    for number in range(50):
        with pytest.raises(Unauthenticated):
            sessions.sign_in(f"user{number}@example.com", "guess guess", address="6.6.6.6")
    with pytest.raises(RateLimited):
        sessions.sign_in("another@example.com", "guess guess", address="6.6.6.6")


@pytest.mark.parametrize("weak", ["short", "aaaaaaaaaaaa", "x" * 201, "owner@example.com"])
def test_weak_passwords_are_refused_with_a_reason(installation: Installation, weak: str) -> None:
    with pytest.raises(Invalid) as refused:
        installation.steward.identity.users.set_password(installation.owner.user.id, weak)
    assert refused.value.specific_code == "weak-password"


def test_a_new_password_ends_every_other_session(installation: Installation) -> None:
    identity = installation.steward.identity
    owner = installation.owner.user
    here = identity.sessions.sign_in(EMAIL, PASSWORD, address="1.1.1.1")
    there = identity.sessions.sign_in(EMAIL, PASSWORD, address="1.1.1.2")
    with pytest.raises(Denied):
        identity.users.change_password(owner.id, "not it", "a new password", keep_session=None)
    identity.users.change_password(
        owner.id, PASSWORD, "a new password", keep_session=here.principal.session_id
    )
    assert identity.sessions.resolve(here.token).email == EMAIL
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(there.token)
    assert identity.sessions.sign_in(EMAIL, "a new password", address="1.1.1.1").token
