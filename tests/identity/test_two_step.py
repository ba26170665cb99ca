"""Two-step sign-in: a code after the password, each once, and a way back without the phone."""

import base64
from datetime import timedelta

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from steward.core import Conflict, Denied, Invalid, RateLimited, Unauthenticated
from steward.identity import User
from steward.identity._tables import two_step_keys
from steward.store import EVERYWHERE
from steward.testing import Installation

PASSWORD = "correct horse battery"
HERE = "192.0.2.7"


def code_of(secret: str, installation: Installation, steps: int = 0) -> str:
    """What an app on a phone shows."""
    key = base64.b32decode(secret)
    moment = int(installation.clock.now().timestamp()) + 30 * steps
    return TOTP(key, 6, SHA1(), 30).generate(moment).decode()


@pytest.fixture
def ada(installation: Installation) -> User:
    return installation.steward.identity.users.create("ada@example.com", "Ada", PASSWORD)


@pytest.fixture
def secret(installation: Installation, ada: User) -> str:
    """Of an app that is set up."""
    two_step = installation.steward.identity.two_step
    made = two_step.begin(ada.id, PASSWORD, address=HERE)
    two_step.confirm(ada.id, code_of(made.secret, installation), address=HERE)
    installation.clock.advance(seconds=30)
    return made.secret


def refusal(installation: Installation, code: str | None = None) -> str | None:
    with pytest.raises(Unauthenticated) as caught:
        installation.steward.identity.sessions.sign_in(
            "ada@example.com", PASSWORD, address=HERE, code=code
        )
    return caught.value.specific_code


def test_a_code_is_needed_once_it_is_confirmed(installation: Installation, ada: User) -> None:
    identity = installation.steward.identity
    made = identity.two_step.begin(ada.id, PASSWORD, address=HERE)
    assert made.address.startswith("otpauth://totp/Steward")
    # Somebody who never finishes the set-up still comes in.
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)
    with pytest.raises(Invalid):
        identity.two_step.confirm(ada.id, "000000", address=HERE)
    assert identity.two_step.state(ada.id).since is None
    code = code_of(made.secret, installation)
    assert len(identity.two_step.confirm(ada.id, code, address=HERE)) == 10
    assert identity.two_step.state(ada.id).recovery_codes_left == 10
    assert refusal(installation) == "code-needed"
    assert refusal(installation, code) == "wrong-code", "the code that confirmed it was used"
    installation.clock.advance(seconds=30)
    fresh = code_of(made.secret, installation)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE, code=f"{fresh[:3]} {fresh[3:]}")


@pytest.mark.parametrize(
    ("steps", "works"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_clocks_may_differ_a_little(
    installation: Installation, ada: User, secret: str, steps: int, works: bool
) -> None:
    installation.clock.advance(seconds=300)
    code = code_of(secret, installation, steps)
    if works:
        installation.steward.identity.sessions.sign_in(ada.email, PASSWORD, address=HERE, code=code)
    assert refusal(installation, code) == "wrong-code"


def test_a_recovery_code_works_once(installation: Installation, ada: User, secret: str) -> None:
    identity = installation.steward.identity
    code = code_of(secret, installation)
    old = identity.two_step.renew_recovery_codes(ada.id, code, address=HERE)
    installation.clock.advance(seconds=30)
    new = identity.two_step.renew_recovery_codes(
        ada.id, code_of(secret, installation), address=HERE
    )
    assert not set(old) & set(new)
    assert refusal(installation, old[0]) == "wrong-code"
    typed = new[0].lower().replace("-", " ")
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE, code=typed)
    assert refusal(installation, new[0]) == "wrong-code"
    assert identity.two_step.state(ada.id).recovery_codes_left == 9


def test_who_guesses_codes_has_to_wait(installation: Installation, ada: User, secret: str) -> None:
    identity = installation.steward.identity
    allowed = installation.steward.settings.identity.sign_in_attempts
    for _ in range(allowed - 1):
        assert refusal(installation, "000000") == "wrong-code"
        # The right password alone does not wipe the slate.
        assert refusal(installation) == "code-needed"
    with pytest.raises(Invalid):
        identity.two_step.turn_off(ada.id, "000000", address=HERE)
    good = code_of(secret, installation)
    with pytest.raises(RateLimited):
        identity.sessions.sign_in(ada.email, PASSWORD, address=HERE, code=good)
    with pytest.raises(RateLimited):
        identity.two_step.turn_off(ada.id, good, address=HERE)
    installation.clock.advance(
        seconds=installation.steward.settings.identity.sign_in_window / timedelta(seconds=1)
    )
    identity.two_step.turn_off(ada.id, code_of(secret, installation), address=HERE)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)


def test_setting_it_up_needs_the_password(installation: Installation, ada: User) -> None:
    """Somebody at an unlocked screen could lock its owner out."""
    two_step = installation.steward.identity.two_step
    for _ in range(installation.steward.settings.identity.sign_in_attempts):
        with pytest.raises(Denied):
            two_step.begin(ada.id, "a wrong guess", address=HERE)
    with pytest.raises(RateLimited):
        two_step.begin(ada.id, PASSWORD, address=HERE)


def test_it_is_set_up_once_and_only_beside_a_password(
    installation: Installation, ada: User, secret: str
) -> None:
    identity = installation.steward.identity
    with pytest.raises(Conflict):
        identity.two_step.begin(ada.id, PASSWORD, address=HERE)
    with pytest.raises(Conflict):
        identity.two_step.confirm(ada.id, code_of(secret, installation), address=HERE)
    other = identity.users.create("bo@example.com", "Bo")
    with pytest.raises(Conflict):
        identity.two_step.begin(other.id, "", address=HERE)
    with pytest.raises(Conflict):
        identity.two_step.turn_off(other.id, "000000", address=HERE)
    # A link from the terminal needs no code: whoever prints it holds the machine.
    identity.sessions.sign_in_by_link(identity.sessions.new_link(ada.id))
    identity.two_step.remove(ada.id)
    identity.sessions.sign_in(ada.email, PASSWORD, address=HERE)


def test_the_key_is_kept_encrypted(installation: Installation, ada: User, secret: str) -> None:
    with installation.steward.database.read(EVERYWHERE) as tx:
        [row] = tx.rows(sa.select(two_step_keys))
    assert row.user_id == ada.id
    assert base64.b32decode(secret) not in row.ciphertext


def test_a_new_encryption_key_changes_nothing_for_apps(
    installation: Installation, ada: User, secret: str
) -> None:
    steward = installation.steward
    with steward.database.read(EVERYWHERE) as tx:
        [before] = tx.rows(sa.select(two_step_keys))
    renewed = steward.keyring.with_new("key_second")
    steward.identity.two_step._keyring = renewed
    assert steward.identity.two_step.encrypt_again() == 1
    with steward.database.read(EVERYWHERE) as tx:
        [after] = tx.rows(sa.select(two_step_keys))
    assert (after.key_id, after.ciphertext != before.ciphertext) == ("key_second", True)
    code = code_of(secret, installation)
    steward.identity.sessions.sign_in(ada.email, PASSWORD, address=HERE, code=code)
