"""Signing in and staying signed in: passwords, one-time links, browser sessions."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, IdentitySettings, Ids, NotFound, Unauthenticated
from steward.identity._tables import sessions, sign_in_links, users
from steward.identity.credentials import Passwords, new_token, token_hash
from steward.identity.guesses import Guesses
from steward.identity.principals import Principal, Via
from steward.identity.second_step import owes_second_step
from steward.identity.two_step import TwoStep
from steward.identity.users import canonical_email
from steward.store import EVERYWHERE, Database, Transaction

# Sliding the expiry on every request would write on every request.
_RENEW_AFTER = timedelta(hours=1)
_ADDRESS_LENGTH = 64
_AGENT_LENGTH = 200
_MOST_LISTED = 100


@dataclass(frozen=True)
class NewSession:
    token: str
    principal: Principal
    expires_at: datetime


@dataclass(frozen=True)
class Origin:
    """Where a session comes from: a browser, and the provider or the passkey that vouched for the person."""

    agent: str = ""
    address: str = ""
    provider_id: str | None = None
    provider_session: str | None = None
    lifetime: timedelta | None = None
    """The person signs in again after it, however much they use the session."""
    passkey_id: str | None = None


_UNKNOWN = Origin()


@dataclass(frozen=True)
class OpenSession:
    """One of a person's sessions, as they see it."""

    id: str
    agent: str
    address: str
    provider_id: str | None
    created_at: datetime
    used_at: datetime | None
    """To the hour: using a session is noted no more often, and of one that a provider bounds not at all."""
    expires_at: datetime


@dataclass(eq=False, repr=False)
class Sessions:
    _database: Database
    _clock: Clock
    _ids: Ids
    _passwords: Passwords
    _settings: IdentitySettings
    _guesses: Guesses
    _two_step: TwoStep

    def sign_in(
        self, email: str, password: str, *, address: str, agent: str = "", code: str | None = None
    ) -> NewSession:
        account = canonical_email(email)
        self._guesses.refuse_too_many(account, address)
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(sa.select(users).where(users.c.email == account))
        stored = row.password_hash if row is not None and row.disabled_at is None else None
        if not self._passwords.matches(stored, password) or row is None:
            self._guesses.record(account, address)
            raise Unauthenticated(
                "The e-mail address or the password is not right.", code="wrong-credentials"
            )
        with self._database.write(EVERYWHERE) as tx:
            is_right = not self._two_step.is_on_within(tx, row.id) or (
                code is not None and self._two_step.accepts_within(tx, row.id, code)
            )
            if is_right:
                return self._signed_in(tx, row, password, Origin(agent, address))
        if code is None:
            raise Unauthenticated(
                "Type the code that your app shows, or a recovery code.", code="code-needed"
            )
        self._guesses.record(account, address)
        raise Unauthenticated(
            "This code is not right. Type the one that your app shows now.", code="wrong-code"
        )

    def _signed_in(
        self, tx: Transaction, row: sa.Row[Any], password: str, origin: Origin
    ) -> NewSession:
        self._guesses.forget_within(tx, row.email)
        stored = row.password_hash
        renewed = self._passwords.renewed(stored or "", password)
        if renewed is not None:
            tx.execute(
                sa.update(users)
                .where(users.c.id == row.id, users.c.password_hash == stored)
                .values(password_hash=renewed)
            )
        return self.open_within(tx, row.id, origin)

    def new_link(self, user_id: str) -> str:
        """A token that signs its bearer in once, for the person at the terminal."""
        token = new_token("stl")
        expires = self._clock.now() + self._settings.sign_in_link_lifetime
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.insert(sign_in_links).values(
                    token_hash=token_hash(token), user_id=user_id, expires_at=expires
                )
            )
        return token

    def sign_in_by_link(self, link: str, origin: Origin = _UNKNOWN) -> NewSession:
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            row = tx.first(
                sa.select(sign_in_links)
                .where(sign_in_links.c.token_hash == token_hash(link))
                .with_for_update()
            )
            if row is None or row.expires_at <= now:
                raise Unauthenticated(
                    "This sign-in link was used already or has expired. Restart Steward, or run "
                    "'steward user link', to get a new one.",
                    code="link-expired",
                )
            # Deleting is what makes it single-use: of two at once, one finds nothing to delete.
            tx.execute(
                sa.delete(sign_in_links).where(
                    (sign_in_links.c.token_hash == row.token_hash)
                    | (sign_in_links.c.expires_at <= now)
                )
            )
            return self.open_within(tx, row.user_id, origin)

    def open_within(self, tx: Transaction, user_id: str, origin: Origin = _UNKNOWN) -> NewSession:
        now = self._clock.now()
        token, csrf = new_token("sts"), new_token("csrf")
        ends = now + origin.lifetime if origin.lifetime is not None else None
        expires = _earlier(now + self._settings.session_lifetime, ends)
        row = tx.execute(
            sa.select(users).where(users.c.id == user_id, users.c.disabled_at.is_(None))
        ).first()
        if row is None:
            raise Unauthenticated("This account is disabled. Ask an administrator.")
        session_id = self._ids.new("ses")
        tx.execute(sa.delete(sessions).where(sessions.c.expires_at <= now))
        tx.execute(
            sa.insert(sessions).values(
                id=session_id,
                token_hash=token_hash(token),
                user_id=user_id,
                csrf_token=csrf,
                created_at=now,
                expires_at=expires,
                ends_at=ends,
                provider_id=origin.provider_id,
                provider_session=origin.provider_session,
                passkey_id=origin.passkey_id,
                agent=origin.agent[:_AGENT_LENGTH],
                address=origin.address[:_ADDRESS_LENGTH],
            )
        )
        principal = Principal(row.id, row.email, row.name, Via.session, csrf, session_id, expires)
        owes = tx.first(_owing(session_id)) is not None
        return NewSession(token, replace(principal, owes_second_step=owes), expires)

    def resolve(self, token: str) -> Principal:
        """Who a session cookie speaks for; keeps a session that is used from expiring."""
        now = self._clock.now()
        statement = (
            sa.select(
                sessions.c.id,
                sessions.c.csrf_token,
                sessions.c.expires_at,
                sessions.c.ends_at,
                users.c.id.label("user_id"),
                users.c.email,
                users.c.name,
                owes_second_step().label("owes"),
            )
            .join(users, users.c.id == sessions.c.user_id)
            .where(
                sessions.c.token_hash == token_hash(token),
                sessions.c.expires_at > now,
                users.c.disabled_at.is_(None),
            )
        )
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(statement)
        if row is None:
            raise Unauthenticated("Your session has ended. Sign in again.", code="session-ended")
        expires = self._renew(row, now)
        principal = Principal(
            row.user_id, row.email, row.name, Via.session, row.csrf_token, row.id, expires
        )
        return replace(principal, owes_second_step=row.owes)

    def is_open(self, session_id: str) -> bool:
        statement = (
            sa.select(sessions.c.id)
            .join(users, users.c.id == sessions.c.user_id)
            .where(
                sessions.c.id == session_id,
                sessions.c.expires_at > self._clock.now(),
                users.c.disabled_at.is_(None),
                ~owes_second_step(),
            )
        )
        with self._database.read(EVERYWHERE) as tx:
            return tx.first(statement) is not None

    def close(self, session_id: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(sessions).where(sessions.c.id == session_id))

    def listed(self, user_id: str) -> list[OpenSession]:
        """A person's sessions that have not ended, the last used first."""
        statement = sa.select(sessions).where(
            sessions.c.user_id == user_id, sessions.c.expires_at > self._clock.now()
        )
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(statement.order_by(sessions.c.expires_at.desc()).limit(_MOST_LISTED))
        return [self._open(row) for row in rows]

    def end_one(self, user_id: str, session_id: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            done = tx.execute(
                sa.delete(sessions).where(
                    sessions.c.id == session_id, sessions.c.user_id == user_id
                )
            )
        if done.rowcount == 0:
            raise NotFound("You have no such session; it may have ended already.")

    def end_all(self, user_id: str, *, keep: str | None = None) -> int:
        """Signs a person out everywhere, except in one session where that is named; how many ended."""
        with self._database.write(EVERYWHERE) as tx:
            done = tx.execute(
                sa.delete(sessions).where(
                    sessions.c.user_id == user_id, sessions.c.id != (keep or "")
                )
            )
            tx.execute(sa.delete(sign_in_links).where(sign_in_links.c.user_id == user_id))
        return done.rowcount

    def _open(self, row: sa.Row[Any]) -> OpenSession:
        # Using a session moves its end, unless a provider bounds it.
        used = row.expires_at - self._settings.session_lifetime
        return OpenSession(
            row.id,
            row.agent,
            row.address,
            row.provider_id,
            row.created_at,
            max(used, row.created_at) if row.ends_at is None else None,
            row.expires_at,
        )

    def _renew(self, row: sa.Row[Any], now: datetime) -> datetime:
        full = _earlier(now + self._settings.session_lifetime, row.ends_at)
        expires: datetime = row.expires_at
        if full - expires < min(_RENEW_AFTER, self._settings.session_lifetime / 2):
            return expires
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.update(sessions).where(sessions.c.id == row.id).values(expires_at=full))
        return full


def _earlier(moment: datetime, end: datetime | None) -> datetime:
    return moment if end is None else min(moment, end)


def _owing(session_id: str) -> sa.Select[Any]:
    mine = sa.select(sessions.c.id).join(users, users.c.id == sessions.c.user_id)
    return mine.where(sessions.c.id == session_id, owes_second_step())
