"""Passwords and random tokens: shown or typed once, kept only as a hash."""

import hashlib
from functools import cached_property
from secrets import token_urlsafe

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from steward.core import Invalid, Problem

MIN_PASSWORD = 10
MAX_PASSWORD = 200


def new_token(prefix: str) -> str:
    return f"{prefix}_{token_urlsafe(32)}"


def token_hash(token: str) -> str:
    # A token carries 256 random bits, so a fast hash is enough: there is nothing to guess.
    return hashlib.sha256(token.encode()).hexdigest()


class Passwords:
    """Argon2id; `hasher` is replaceable so that tests need not spend memory and time."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    @cached_property
    def _decoy(self) -> str:
        return self._hasher.hash(token_urlsafe(16))

    def hash(self, password: str, *, email: str, pointer: str = "/password") -> str:
        problem = _weakness(password, email)
        if problem:
            raise Invalid(problem, code="weak-password", problems=[Problem(pointer, problem)])
        return self._hasher.hash(password)

    def matches(self, stored: str | None, password: str) -> bool:
        # Checked when there is no such account, so that both cases take the same time; made in both,
        # and not before: hashing is slow on purpose, and most commands check no password.
        decoy = self._decoy
        try:
            self._hasher.verify(stored or decoy, password)
        except (VerifyMismatchError, InvalidHashError):
            return False
        return stored is not None

    def renewed(self, stored: str, password: str) -> str | None:
        """A hash by today's parameters, when the stored one is weaker. Old passwords keep their right
        to be used: today's rules apply when a password is chosen."""
        return self._hasher.hash(password) if self._hasher.check_needs_rehash(stored) else None


def _weakness(password: str, email: str) -> str | None:
    if len(password) < MIN_PASSWORD:
        return f"A password has at least {MIN_PASSWORD} characters; a few words make a good one."
    if len(password) > MAX_PASSWORD:
        return f"A password has at most {MAX_PASSWORD} characters."
    if len(set(password)) < 4:
        return "This password repeats too few characters; a few words make a good one."
    local_part = email.partition("@")[0].casefold()
    if len(local_part) > 3 and password.casefold() in {local_part, email.casefold()}:
        return "A password must not be the e-mail address."
    return None
