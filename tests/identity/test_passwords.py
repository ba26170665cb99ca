"""Passwords: which are accepted, how they are kept, and how hashes grow stronger."""

from typing import Literal

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from steward.core.errors import Denied, Invalid, NotFound, RateLimited, Unauthenticated
from steward.identity import Identity, Passwords
from steward.identity._tables import users
from steward.store import EVERYWHERE, Keyring
from steward.testing import Installation, fast_passwords

GOOD = "correct horse battery"
HERE = "192.0.2.1"


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "at least 10"),
        ("", "at least 10"),
        ("x" * 201, "at most 200"),
        ("abababababab", "too few characters"),
        ("ada.lovelace", "e-mail address"),
        ("ADA.Lovelace@example.com", "e-mail address"),
    ],
)
def test_weak_passwords_are_refused(password: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as caught:
        fast_passwords().hash(password, email="ada.lovelace@example.com")
    assert caught.value.specific_code == "weak-password"
    assert [problem.pointer for problem in caught.value.problems] == ["/password"]
    assert len(password) < 6 or password not in str(caught.value)


@pytest.mark.parametrize("password", [GOOD, "пароль из слов", "🔑🗝️🔐🚪 many keys", "a b c d e f"])
def test_other_passwords_work(password: str) -> None:
    passwords = fast_passwords()
    stored = passwords.hash(password, email="ada@example.com")
    assert stored.startswith("$argon2id$")
    assert password not in stored
    assert passwords.matches(stored, password)
    assert not passwords.matches(stored, password + " ")
    assert stored != passwords.hash(password, email="ada@example.com")


def test_nothing_matches_where_there_is_no_password() -> None:
    passwords = fast_passwords()
    assert not passwords.matches(None, "")
    assert not passwords.matches(None, GOOD)
    assert not passwords.matches("not a hash", GOOD)
    assert not passwords.matches("", GOOD)


def test_an_unknown_account_costs_a_check_too() -> None:
    """Otherwise the time of an answer tells who has an account."""
    checked: list[str] = []

    class _Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
            checked.append(str(hash))
            return super().verify(hash, password)

    passwords = Passwords(_Counting(time_cost=1, memory_cost=8, parallelism=1))
    stored = passwords.hash(GOOD, email="ada@example.com")
    passwords.matches(stored, GOOD)
    passwords.matches(None, GOOD)
    assert len(checked) == 2


def test_the_default_is_not_the_fast_one() -> None:
    stored = Passwords().hash(GOOD, email="ada@example.com")
    assert "m=65536" in stored or "m=47104" in stored or "m=19456" in stored


def _stored(installation: Installation, user_id: str) -> str:
    with installation.steward.database.read(EVERYWHERE) as tx:
        statement = sa.select(users.c.password_hash).where(users.c.id == user_id)
        return str(tx.execute(statement).scalar_one())


def test_signing_in_renews_a_weaker_hash(installation: Installation) -> None:
    steward = installation.steward
    user = steward.identity.users.create("ada@example.com", "Ada", GOOD)
    before = _stored(installation, user.id)
    steward.identity.sessions.sign_in(user.email, GOOD, address=HERE)
    assert _stored(installation, user.id) == before, "nothing to renew"
    stronger = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    identity = Identity(
        steward.database,
        steward.clock,
        steward.ids,
        steward.events,
        steward.settings.identity,
        Keyring.generate("test"),
        stronger,
    )
    with pytest.raises(Unauthenticated):
        identity.sessions.sign_in(user.email, "not the password", address=HERE)
    assert _stored(installation, user.id) == before
    identity.sessions.sign_in(user.email, GOOD, address=HERE)
    after = _stored(installation, user.id)
    assert "m=16,t=2" in after
    identity.sessions.sign_in(user.email, GOOD, address=HERE)
    assert _stored(installation, user.id) == after


def test_a_password_of_older_rules_still_signs_in(installation: Installation) -> None:
    """Rules apply when a password is chosen; renewing its hash must not lock anybody out."""
    steward = installation.steward
    user = steward.identity.users.create("ada@example.com", "Ada", GOOD)
    weak = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash("short")
    with steward.database.write(EVERYWHERE) as tx:
        tx.execute(sa.update(users).where(users.c.id == user.id).values(password_hash=weak))
    steward.identity.sessions.sign_in(user.email, "short", address=HERE)
    assert _stored(installation, user.id) != weak


def test_changing_needs_the_current_password(installation: Installation) -> None:
    people = installation.steward.identity.users
    user = people.create("ada@example.com", "Ada", GOOD)
    for wrong in (None, "", "not the password"):
        with pytest.raises(Denied) as caught:
            people.change_password(
                user.id, wrong, "another good one", keep_session=None, address=HERE
            )
        assert caught.value.specific_code == "wrong-password"
    with pytest.raises(Invalid) as refused:
        people.change_password(user.id, GOOD, "short", keep_session=None, address=HERE)
    assert [problem.pointer for problem in refused.value.problems] == ["/new_password"]
    people.change_password(user.id, GOOD, "another good one", keep_session=None, address=HERE)
    first = people.create("bo@example.com", "Bo")
    assert not first.has_password
    people.change_password(first.id, None, GOOD, keep_session=None, address=HERE)
    assert people.get(first.id).has_password
    for _ in range(installation.steward.settings.identity.sign_in_attempts):
        with pytest.raises(Denied):
            people.change_password(first.id, "a guess", GOOD, keep_session=None, address=HERE)
    with pytest.raises(RateLimited):
        people.change_password(first.id, GOOD, "another good one", keep_session=None, address=HERE)
    with pytest.raises(NotFound):
        people.change_password("usr_nobody", None, GOOD, keep_session=None, address=HERE)
