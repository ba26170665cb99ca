"""Staying signed in: how long, by what, and until when."""

from functools import partial

import pytest
import sqlalchemy as sa

from steward.core.errors import RateLimited, StewardError, Unauthenticated
from steward.identity import Identity, NewSession, User
from steward.identity._tables import sessions, sign_in_failures, sign_in_links
from steward.store import EVERYWHERE
from steward.testing import Installation
from tests.identity.together import at_once

pytestmark = pytest.mark.every_database

PASSWORD = "correct horse battery"
HERE = "192.0.2.1"


@pytest.fixture
def identity(installation: Installation) -> Identity:
    return installation.steward.identity


@pytest.fixture
def ada(identity: Identity) -> User:
    return identity.users.create("ada@example.com", "Ada", PASSWORD)


def _count(installation: Installation, table: sa.Table) -> int:
    with installation.steward.database.read(EVERYWHERE) as tx:
        return int(tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def test_a_session_speaks_for_its_user(identity: Identity, ada: User) -> None:
    session = identity.sessions.sign_in("ADA@example.com", PASSWORD, address=HERE)
    principal = identity.sessions.resolve(session.token)
    assert (principal.user_id, principal.csrf_token) == (ada.id, session.principal.csrf_token)
    other = identity.sessions.sign_in("ada@example.com", PASSWORD, address=HERE)
    assert other.token != session.token
    assert other.principal.csrf_token != session.principal.csrf_token


def test_tokens_are_kept_as_hashes_only(
    installation: Installation, identity: Identity, ada: User
) -> None:
    session = identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    link = identity.sessions.new_link(ada.id)
    with installation.steward.database.read(EVERYWHERE) as tx:
        stored = repr(tx.rows(sa.select(sessions))) + repr(tx.rows(sa.select(sign_in_links)))
    assert session.token not in stored
    assert link not in stored


def test_an_unused_session_ends_and_a_used_one_slides(
    installation: Installation, identity: Identity, ada: User
) -> None:
    clock, lifetime = installation.clock, installation.steward.settings.identity.session_lifetime
    session = identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    assert session.expires_at == clock.now() + lifetime
    clock.advance(minutes=59)
    again = identity.sessions.resolve(session.token)
    assert again.session_expires_at == session.expires_at, "not every request writes"
    clock.advance(days=13)
    renewed = identity.sessions.resolve(session.token)
    assert renewed.session_expires_at == clock.now() + lifetime
    clock.advance(days=14, seconds=-1)
    identity.sessions.resolve(session.token)
    clock.advance(days=14)
    with pytest.raises(Unauthenticated) as caught:
        identity.sessions.resolve(session.token)
    assert caught.value.specific_code == "session-ended"


def test_expired_sessions_are_cleared_away(
    installation: Installation, identity: Identity, ada: User
) -> None:
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    installation.clock.advance(days=15)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    assert _count(installation, sessions) == 1


def test_signing_out_ends_this_session_alone(identity: Identity, ada: User) -> None:
    one, two = (identity.sessions.sign_in(ada.email, PASSWORD, address=HERE) for _ in range(2))
    identity.sessions.close(one.principal.session_id or "")
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(one.token)
    identity.sessions.resolve(two.token)


def test_a_disabled_user_is_out_at_once_and_back_when_enabled(
    installation: Installation, identity: Identity, ada: User
) -> None:
    installation.project("So that there is an owner")
    session = identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    link = identity.sessions.new_link(ada.id)
    identity.users.disable(ada.id)
    for attempt in (
        lambda: identity.sessions.resolve(session.token),
        lambda: identity.sessions.sign_in(ada.email, PASSWORD, address=HERE),
        lambda: identity.sessions.sign_in_by_link(link),
    ):
        with pytest.raises(Unauthenticated):
            attempt()
    identity.users.enable(ada.id)
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(session.token)
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in_by_link(link)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)


def test_a_new_password_ends_other_sessions_and_links(identity: Identity, ada: User) -> None:
    mine, other = (identity.sessions.sign_in(ada.email, PASSWORD, address=HERE) for _ in range(2))
    link = identity.sessions.new_link(ada.id)
    identity.users.change_password(
        ada.id,
        PASSWORD,
        "another good one",
        keep_session=mine.principal.session_id,
        address=HERE,
    )
    identity.sessions.resolve(mine.token)
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(other.token)
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in_by_link(link)
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    identity.sessions.sign_in(ada.email, "another good one", address=HERE)


def test_a_link_works_once_and_not_for_ever(
    installation: Installation, identity: Identity, ada: User
) -> None:
    link = identity.sessions.new_link(ada.id)
    assert identity.sessions.sign_in_by_link(link).principal.user_id == ada.id
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in_by_link(link)
    late = identity.sessions.new_link(ada.id)
    installation.clock.advance(hours=1)
    with pytest.raises(Unauthenticated) as caught:
        identity.sessions.sign_in_by_link(late)
    assert caught.value.specific_code == "link-expired"
    for nonsense in ("", "stl_nonsense", late + "x"):
        with pytest.raises(Unauthenticated):
            identity.sessions.sign_in_by_link(nonsense)


def test_of_those_who_use_a_link_at_once_one_wins(identity: Identity, ada: User) -> None:
    for _ in range(5):
        use = partial(identity.sessions.sign_in_by_link, identity.sessions.new_link(ada.id))
        used = at_once(use, use, use)
        assert sum(isinstance(result, NewSession) for result in used) == 1
        assert sum(isinstance(result, Unauthenticated) for result in used) == 2


def _fail(identity: Identity, account: str, address: str) -> type[StewardError]:
    try:
        identity.sessions.sign_in(account, "not the password", address=address)
    except (Unauthenticated, RateLimited) as error:
        return type(error)
    raise AssertionError("signed in with a wrong password")


def test_guessing_one_account_from_one_address_is_stopped(
    installation: Installation, identity: Identity, ada: User
) -> None:
    for _ in range(10):
        assert _fail(identity, ada.email, HERE) is Unauthenticated
    with pytest.raises(RateLimited) as caught:
        identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    assert caught.value.retry_after_seconds == 15 * 60
    # The owner, elsewhere, is not locked out by a stranger's guesses.
    identity.sessions.sign_in(ada.email, PASSWORD, address="198.51.100.7")


def test_the_pause_ends(installation: Installation, identity: Identity, ada: User) -> None:
    for _ in range(11):
        _fail(identity, ada.email, HERE)
    installation.clock.advance(minutes=15)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    assert _count(installation, sign_in_failures) == 0


def test_guessing_many_accounts_from_one_address_is_stopped(identity: Identity, ada: User) -> None:
    for number in range(50):
        assert _fail(identity, f"somebody{number}@example.com", HERE) is Unauthenticated
    assert _fail(identity, "one.more@example.com", HERE) is RateLimited
    assert _fail(identity, "one.more@example.com", "198.51.100.7") is Unauthenticated


def test_guessing_one_account_from_many_addresses_is_stopped(identity: Identity, ada: User) -> None:
    for number in range(100):
        assert _fail(identity, ada.email, f"10.0.0.{number}") is Unauthenticated
    assert _fail(identity, ada.email, HERE) is RateLimited
    assert _fail(identity, "bo@example.com", HERE) is Unauthenticated


def test_an_address_of_any_length_is_counted(identity: Identity, ada: User) -> None:
    for _ in range(10):
        _fail(identity, ada.email, "x" * 300)
    assert _fail(identity, ada.email, "x" * 300) is RateLimited


def test_success_forgets_the_failures_of_that_account(
    installation: Installation, identity: Identity, ada: User
) -> None:
    for _ in range(9):
        _fail(identity, ada.email, HERE)
    _fail(identity, "bo@example.com", HERE)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    assert _count(installation, sign_in_failures) == 1


def test_old_failures_are_cleared_away(installation: Installation, identity: Identity) -> None:
    _fail(identity, "bo@example.com", HERE)
    installation.clock.advance(minutes=15)
    _fail(identity, "bo@example.com", HERE)
    assert _count(installation, sign_in_failures) == 1
