"""People: created by the first start, an invitation or the command line."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import email_validator
import sqlalchemy as sa
from email_validator import EmailNotValidError
from sqlalchemy.exc import IntegrityError

from steward.core import Clock, Conflict, Denied, Ids, Invalid, NotFound, Problem, Stale, copied
from steward.identity._tables import (
    api_tokens,
    client_grants,
    organisation_members,
    sessions,
    sign_in_links,
    sign_on_identities,
    users,
)
from steward.identity.credentials import Passwords
from steward.identity.guesses import Guesses
from steward.identity.roles import Role
from steward.store import EVERYWHERE, Database, Transaction

MAX_NAME = 100
# Self-hosted installations use addresses that mean nothing elsewhere, such as owner@localhost.
_PRIVATE_DOMAINS = {"local", "localhost", "test"}
email_validator.SPECIAL_USE_DOMAIN_NAMES[:] = [
    name for name in email_validator.SPECIAL_USE_DOMAIN_NAMES if name not in _PRIVATE_DOMAINS
]


@dataclass(frozen=True)
class User:
    id: str
    email: str
    name: str
    locale: str | None
    has_password: bool
    revision: int
    created_at: datetime
    disabled_at: datetime | None


class Users:
    def __init__(
        self, database: Database, clock: Clock, ids: Ids, passwords: Passwords, guesses: Guesses
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._passwords = passwords
        self._guesses = guesses

    def get(self, user_id: str) -> User:
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(sa.select(users).where(users.c.id == user_id))
        if row is None:
            raise NotFound("There is no such user.")
        return as_user(row)

    def names(self, user_ids: Collection[str]) -> dict[str, str]:
        """Names by id, also of people who left."""
        wanted = sa.select(users.c.id, users.c.name).where(users.c.id.in_(sorted(user_ids)))
        with self._database.read(EVERYWHERE) as tx:
            return {row.id: row.name for row in tx.rows(wanted)}

    def find(self, email: str) -> User | None:
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(sa.select(users).where(users.c.email == canonical_email(email)))
        return None if row is None else as_user(row)

    def all(self) -> list[User]:
        """Everyone in the installation; for its administrator at the command line."""
        with self._database.read(EVERYWHERE) as tx:
            return [as_user(row) for row in tx.rows(sa.select(users).order_by(users.c.email))]

    def create(self, email: str, name: str, password: str | None = None) -> User:
        with self._database.write(EVERYWHERE) as tx:
            return self.create_within(tx, email, name, password)

    def create_within(
        self, tx: Transaction, email: str, name: str, password: str | None = None
    ) -> User:
        """Creates inside a larger transaction opened for EVERYWHERE, such as accepting an invitation."""
        address = canonical_email(email)
        if tx.first(sa.select(users.c.id).where(users.c.email == address)) is not None:
            raise _address_taken(address)
        hashed = self._passwords.hash(password, email=address) if password is not None else None
        user_id = self._ids.new("usr")
        row = {
            "id": user_id,
            "email": address,
            "name": checked_name(name),
            "password_hash": hashed,
            "revision": 1,
            "created_at": self._clock.now(),
        }
        try:
            tx.execute(sa.insert(users).values(**row))
        except IntegrityError:
            # Somebody else took the address between our look and our write.
            raise _address_taken(address) from None
        return as_user(tx.execute(sa.select(users).where(users.c.id == user_id)).one())

    def update(self, user_id: str, revision: int, changes: dict[str, Any]) -> User:
        with self._database.write(EVERYWHERE) as tx:
            done = tx.execute(
                sa.update(users)
                .where(users.c.id == user_id, users.c.revision == revision)
                .values(**changes, revision=revision + 1)
            )
            row = tx.first(sa.select(users).where(users.c.id == user_id))
        if row is None:
            raise NotFound("There is no such user.")
        if done.rowcount == 0:
            raise Stale("Your profile was changed elsewhere meanwhile. Reload and try again.")
        return as_user(row)

    def change_password(
        self,
        user_id: str,
        current: str | None,
        new: str,
        *,
        keep_session: str | None,
        address: str,
    ) -> None:
        """Sets a password and ends every other session; API tokens are revoked one by one."""
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(sa.select(users).where(users.c.id == user_id))
            vouched = tx.first(
                sa.select(sign_on_identities.c.user_id).where(
                    sign_on_identities.c.user_id == user_id
                )
            )
        if row is None:
            raise NotFound("There is no such user.")
        if row.password_hash is None and vouched is not None:
            # Otherwise somebody whom the provider no longer lets in would still come in here.
            raise Denied(
                "You sign in with a provider, so this account has no password. An owner can set one on the machine.",
                code="signs-in-with-provider",
            )
        if row.password_hash is not None:
            self.confirm_password(user_id, current or "", address=address)
        self.set_password(user_id, new, keep_session=keep_session)

    def confirm_password(self, user_id: str, password: str, *, address: str) -> None:
        """Refuses whoever does not know the password; wrong ones count as failed sign-ins do."""
        with self._database.read(EVERYWHERE) as tx:
            row = tx.execute(sa.select(users).where(users.c.id == user_id)).one()
        self._guesses.refuse_too_many(row.email, address)
        if not self._passwords.matches(row.password_hash, password):
            self._guesses.record(row.email, address)
            raise Denied("The current password is not right.", code="wrong-password")

    def set_password(self, user_id: str, new: str, *, keep_session: str | None = None) -> None:
        user = self.get(user_id)
        hashed = self._passwords.hash(new, email=user.email, pointer="/new_password")
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.update(users).where(users.c.id == user_id).values(password_hash=hashed))
            tx.execute(
                sa.delete(sessions).where(
                    sessions.c.user_id == user_id, sessions.c.id != (keep_session or "")
                )
            )
            tx.execute(sa.delete(sign_in_links).where(sign_in_links.c.user_id == user_id))

    def disable(self, user_id: str) -> None:
        """Ends all access at once; what the user did stays on record."""
        with self._database.write(EVERYWHERE) as tx:
            self.disable_within(tx, user_id)

    def disable_within(self, tx: Transaction, user_id: str) -> None:
        if active_owners(tx) == {user_id}:
            raise last_owner()
        tx.execute(
            sa.update(users)
            .where(users.c.id == user_id, users.c.disabled_at.is_(None))
            .values(disabled_at=self._clock.now())
        )
        self.end_access_within(tx, user_id)

    def end_access_within(self, tx: Transaction, user_id: str, org_id: str | None = None) -> None:
        """Ends sessions, and the tokens and programs of one organisation or of all."""
        now = self._clock.now()
        tx.execute(sa.delete(sessions).where(sessions.c.user_id == user_id))
        tx.execute(sa.delete(sign_in_links).where(sign_in_links.c.user_id == user_id))
        for table in (api_tokens, client_grants):
            mine = table.c.user_id == user_id
            if org_id is not None:
                mine &= table.c.org_id == org_id
            tx.execute(
                sa.update(table).where(mine, table.c.revoked_at.is_(None)).values(revoked_at=now)
            )

    def enable(self, user_id: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            self.enable_within(tx, user_id)

    def enable_within(self, tx: Transaction, user_id: str) -> None:
        tx.execute(sa.update(users).where(users.c.id == user_id).values(disabled_at=None))

    def anyone_with_password(self) -> bool:
        statement = sa.select(users.c.id).where(
            users.c.password_hash.is_not(None), users.c.disabled_at.is_(None)
        )
        with self._database.read(EVERYWHERE) as tx:
            return tx.first(statement.limit(1)) is not None

    def first_owner(self) -> User | None:
        statement = (
            sa.select(users)
            .join(organisation_members, organisation_members.c.user_id == users.c.id)
            .where(organisation_members.c.role == Role.owner.name, users.c.disabled_at.is_(None))
            .order_by(users.c.created_at)
            .limit(1)
        )
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(statement)
        return None if row is None else as_user(row)


def active_owners(tx: Transaction) -> set[str]:
    """Who owns an organisation and may sign in; locked, so that two owners cannot end each other."""
    owning = organisation_members.c.role == Role.owner.name
    # The lock is a statement of its own: only the next one sees what others did while we waited.
    tx.execute(sa.select(organisation_members.c.user_id).where(owning).with_for_update())
    statement = (
        sa.select(organisation_members.c.user_id)
        .join(users, users.c.id == organisation_members.c.user_id)
        .where(owning, users.c.disabled_at.is_(None))
    )
    return {row.user_id for row in tx.rows(statement)}


def last_owner() -> Conflict:
    return Conflict("This is the last owner. Make somebody else an owner first.")


def checked_name(name: str) -> str:
    """A name people can read: not empty, one line, and short enough for every database."""
    name = name.strip()
    unstorable = any(unicodedata.category(character) in {"Cc", "Cs"} for character in name)
    if not 1 <= len(name) <= MAX_NAME or unstorable:
        message = f"A name has between 1 and {MAX_NAME} characters and no control characters."
        raise Invalid(message, problems=[Problem("/name", message)])
    return name


def _address_taken(address: str) -> Conflict:
    return Conflict(f"There is already a user with the address {address}.")


def canonical_email(email: str) -> str:
    try:
        return email_validator.validate_email(
            email, check_deliverability=False, globally_deliverable=False
        ).normalized.casefold()
    except EmailNotValidError as error:
        message = f"{email[:100]!r} is not an e-mail address: {error}"
        raise Invalid(message, problems=[Problem("/email", str(error))]) from None


def as_user(row: sa.Row[Any]) -> User:
    return copied(User, row, has_password=row.password_hash is not None)
