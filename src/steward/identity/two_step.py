"""Two-step sign-in: after the password, a code from an app on a phone (TOTP, RFC 6238) or a recovery code."""

import base64
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any, Final

import sqlalchemy as sa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from steward.core import Clock, Conflict, Invalid, Problem
from steward.identity._tables import recovery_codes, sessions, two_step_keys, users
from steward.identity.credentials import token_hash
from steward.identity.guesses import Guesses
from steward.identity.second_step import refuse_password_alone
from steward.identity.users import Users
from steward.store import EVERYWHERE, Database, Keyring, Transaction, encrypt_again

_DIGITS: Final = 6
_SECONDS: Final = 30
_KEY_BYTES: Final = 20
_STEPS_OFF: Final = (0, -1, 1)
"""Codes that count: the one of now, and its neighbours, as clocks differ and people type slowly."""
_RECOVERY_CODES: Final = 10
_RECOVERY_BYTES: Final = 10
_ISSUER: Final = "Steward"


@dataclass(frozen=True)
class TwoStepState:
    since: datetime | None
    """None: a password is enough."""
    recovery_codes_left: int


@dataclass(frozen=True)
class Enrolment:
    """What an app on a phone needs; shown once."""

    secret: str
    address: str
    """`otpauth://…`, as apps read it from a QR code."""


class TwoStep:
    def __init__(
        self, database: Database, clock: Clock, keyring: Keyring, guesses: Guesses, people: Users
    ) -> None:
        self._database = database
        self._clock = clock
        self._keyring = keyring
        self._guesses = guesses
        self._people = people

    def state(self, user_id: str) -> TwoStepState:
        left = sa.select(sa.func.count()).where(
            recovery_codes.c.user_id == user_id, recovery_codes.c.used_at.is_(None)
        )
        with self._database.read(EVERYWHERE) as tx:
            row = _key_of(tx, user_id)
            count = tx.execute(left).scalar_one()
        since = row.confirmed_at if row is not None else None
        return TwoStepState(since, count if since is not None else 0)

    def is_on_within(self, tx: Transaction, user_id: str) -> bool:
        row = _key_of(tx, user_id)
        return row is not None and row.confirmed_at is not None

    def begin(
        self, user_id: str, password: str, *, address: str, session_id: str | None = None
    ) -> Enrolment:
        """A new key for an app. It counts from the first code on that the person types.

        Asks for the password: somebody at an unlocked screen could lock its owner out.
        """
        if not self._people.get(user_id).has_password:
            raise Conflict("Set a password first: two-step sign-in protects a password.")
        self._people.confirm_password(user_id, password, address=address)
        key = token_bytes(_KEY_BYTES)
        key_id, sealed = self._keyring.seal(key, _context(user_id))
        with self._database.write(EVERYWHERE) as tx:
            person = tx.execute(sa.select(users).where(users.c.id == user_id)).one()
            refuse_password_alone(tx, session_id)
            if self.is_on_within(tx, user_id):
                raise Conflict(
                    "Two-step sign-in is on already. Turn it off before you set it up again."
                )
            tx.execute(sa.delete(two_step_keys).where(two_step_keys.c.user_id == user_id))
            tx.execute(
                sa.insert(two_step_keys).values(
                    user_id=user_id, key_id=key_id, ciphertext=sealed, last_step=0
                )
            )
        address = _totp(key).get_provisioning_uri(person.email, _ISSUER)
        return Enrolment(base64.b32encode(key).decode().rstrip("="), address)

    def confirm(
        self, user_id: str, code: str, *, address: str, keep_session: str | None = None
    ) -> list[str]:
        """Turns it on; the recovery codes are shown once. Sessions that a password alone began end."""
        with self._checked(user_id, code, address) as tx:
            confirmed = {"confirmed_at": self._clock.now()}
            tx.execute(
                sa.update(two_step_keys).where(two_step_keys.c.user_id == user_id).values(confirmed)
            )
            others = sessions.c.id != (keep_session or "")
            by_password = sessions.c.provider_id.is_(None) & sessions.c.passkey_id.is_(None)
            tx.execute(
                sa.delete(sessions).where(sessions.c.user_id == user_id, others, by_password)
            )
            return self._new_recovery_codes(tx, user_id)

    def renew_recovery_codes(self, user_id: str, code: str, *, address: str) -> list[str]:
        """New ones; the old ones no longer work."""
        with self._checked(user_id, code, address, on=True) as tx:
            return self._new_recovery_codes(tx, user_id)

    def turn_off(self, user_id: str, code: str, *, address: str) -> None:
        with self._checked(user_id, code, address, on=True) as tx:
            self._remove_within(tx, user_id)

    def remove(self, user_id: str) -> None:
        """For an administrator at the command line, such as after a phone was lost."""
        with self._database.write(EVERYWHERE) as tx:
            self._remove_within(tx, user_id)

    def encrypt_again(self) -> int:
        """With the newest key; the number of keys of apps."""
        return encrypt_again(
            self._database, self._keyring, two_step_keys, lambda row: _context(row.user_id)
        )

    @contextmanager
    def _checked(
        self, user_id: str, code: str, address: str, *, on: bool = False
    ) -> Iterator[Transaction]:
        """A transaction for somebody who typed the right code; wrong ones count as failed sign-ins do."""
        with self._database.read(EVERYWHERE) as tx:
            person = tx.execute(sa.select(users).where(users.c.id == user_id)).one()
        self._guesses.refuse_too_many(person.email, address)
        with self._database.write(EVERYWHERE) as tx:
            row = _key_of(tx, user_id)
            if row is None or (row.confirmed_at is None) == on:
                raise Conflict(
                    "Two-step sign-in is off."
                    if on
                    else "There is nothing to confirm. Set up two-step sign-in first."
                )
            if self.accepts_within(tx, user_id, code):
                self._guesses.forget_within(tx, person.email)
                yield tx
                return
        self._guesses.record(person.email, address)
        said = "This code is not right. Type the one that your app shows now."
        raise Invalid(said, code="wrong-code", problems=[Problem("/code", said)])

    def accepts_within(self, tx: Transaction, user_id: str, code: str) -> bool:
        """Whether a code is right. Each one works once."""
        row = tx.first(
            sa.select(two_step_keys).where(two_step_keys.c.user_id == user_id).with_for_update()
        )
        if row is None:
            return False
        plain = "".join(code.split()).replace("-", "").upper()
        if len(plain) == _DIGITS and plain.isascii() and plain.isdigit():
            return self._takes_step(tx, row, plain)
        spent = (
            sa.update(recovery_codes)
            .where(
                recovery_codes.c.user_id == user_id,
                recovery_codes.c.code_hash == token_hash(plain),
                recovery_codes.c.used_at.is_(None),
            )
            .values(used_at=self._clock.now())
        )
        return tx.execute(spent).rowcount == 1

    def _takes_step(self, tx: Transaction, row: sa.Row[Any], code: str) -> bool:
        totp = _totp(self._keyring.open(row.key_id, row.ciphertext, _context(row.user_id)))
        now = int(self._clock.now().timestamp()) // _SECONDS
        for step in (now + off for off in _STEPS_OFF):
            if step > row.last_step and hmac.compare_digest(
                totp.generate(step * _SECONDS), code.encode()
            ):
                mine = two_step_keys.c.user_id == row.user_id
                tx.execute(sa.update(two_step_keys).where(mine).values(last_step=step))
                return True
        return False

    def _new_recovery_codes(self, tx: Transaction, user_id: str) -> list[str]:
        codes = [
            base64.b32encode(token_bytes(_RECOVERY_BYTES)).decode() for _ in range(_RECOVERY_CODES)
        ]
        tx.execute(sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
        rows = [{"user_id": user_id, "code_hash": token_hash(code)} for code in codes]
        tx.execute(sa.insert(recovery_codes), rows)
        return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]

    def _remove_within(self, tx: Transaction, user_id: str) -> None:
        for table in (recovery_codes, two_step_keys):
            tx.execute(sa.delete(table).where(table.c.user_id == user_id))


def _key_of(tx: Transaction, user_id: str) -> sa.Row[Any] | None:
    return tx.first(sa.select(two_step_keys).where(two_step_keys.c.user_id == user_id))


def _totp(key: bytes) -> TOTP:
    # What apps on phones agree on; RFC 6238 keeps SHA-1, where collisions do no harm.
    return TOTP(key, _DIGITS, SHA1(), _SECONDS)  # noqa: S303


def _context(user_id: str) -> str:
    return f"two-step:{user_id}"
