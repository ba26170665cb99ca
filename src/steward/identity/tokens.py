"""Personal API tokens: one project, at most one role, an end date; only a hash is kept."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import (
    Clock,
    Conflict,
    IdentitySettings,
    Ids,
    Invalid,
    NotFound,
    Problem,
    Unauthenticated,
    copied,
)
from steward.identity._tables import api_tokens, users
from steward.identity.credentials import new_token, token_hash
from steward.identity.principals import Access, Principal, TokenLimits, Via
from steward.identity.roles import Role
from steward.identity.users import checked_name
from steward.store import EVERYWHERE, Database, EventLog, Transaction

PREFIX = "stw"
UNDO_WINDOW = timedelta(minutes=10)
_SHOWN = 9
# Noting every use would write on every request.
_USE_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Token:
    id: str
    name: str
    role: Role
    prefix: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(eq=False, repr=False)
class Tokens:
    _database: Database
    _clock: Clock
    _ids: Ids
    _events: EventLog
    _settings: IdentitySettings

    def create(self, access: Access, name: str, role: Role, days: int) -> tuple[Token, str]:
        """Makes a token for the caller; the text is returned here and never again."""
        access.may_grant(role)
        if not 1 <= days <= self._settings.token_max_days:
            message = f"A token lives between 1 and {self._settings.token_max_days} days."
            raise Invalid(message, problems=[Problem("/expires_in_days", message)])
        text, token_id, now = new_token(PREFIX), self._ids.new("tok"), self._clock.now()
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.insert(api_tokens).values(
                    id=token_id,
                    user_id=access.user_id,
                    name=checked_name(name),
                    role=role.name,
                    token_hash=token_hash(text),
                    prefix=text[:_SHOWN],
                    created_at=now,
                    expires_at=now + timedelta(days=days),
                )
            )
            told = {"name": name, "role": role.name, "by": access.user_id}
            self._events.append(tx, "token.created", token_id, told)
            return self._own(tx, access, token_id), text

    def page(self, access: Access, *, after: str | None = None, limit: int = 200) -> list[Token]:
        """The caller's own tokens in this project, newest first."""
        # What programs got by OAuth is listed with the programs.
        statement = sa.select(api_tokens).where(
            api_tokens.c.user_id == access.user_id, api_tokens.c.grant_id.is_(None)
        )
        if after is not None:
            statement = statement.where(api_tokens.c.id < after)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(api_tokens.c.id.desc()).limit(limit))
        return [_token(row) for row in rows]

    def revoke(self, access: Access, token_id: str) -> None:
        with self._database.write(access.scope) as tx:
            token = self._own(tx, access, token_id)
            tx.execute(
                sa.update(api_tokens)
                .where(api_tokens.c.id == token_id, api_tokens.c.revoked_at.is_(None))
                .values(revoked_at=self._clock.now())
            )
            told = {"name": token.name, "by": access.user_id}
            self._events.append(tx, "token.revoked", token_id, told)

    def restore(self, access: Access, token_id: str) -> Token:
        """Undoes a revocation, for a short while: afterwards a revoked token stays revoked."""
        earliest = self._clock.now() - UNDO_WINDOW
        with self._database.write(access.scope) as tx:
            token = self._own(tx, access, token_id)
            if token.revoked_at is not None and token.revoked_at < earliest:
                raise Conflict("This token was revoked too long ago. Create a new one.")
            tx.execute(
                sa.update(api_tokens).where(api_tokens.c.id == token_id).values(revoked_at=None)
            )
            told = {"name": token.name, "by": access.user_id}
            self._events.append(tx, "token.restored", token_id, told)
            return self._own(tx, access, token_id)

    def resolve(self, text: str) -> Principal:
        """Who a bearer token speaks for."""
        now = self._clock.now()
        statement = (
            sa.select(api_tokens, users.c.email, users.c.name.label("user_name"))
            .join(users, users.c.id == api_tokens.c.user_id)
            .where(
                api_tokens.c.token_hash == token_hash(text),
                api_tokens.c.expires_at > now,
                api_tokens.c.revoked_at.is_(None),
                users.c.disabled_at.is_(None),
            )
        )
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(statement)
        if row is None:
            raise Unauthenticated(
                "This API token is unknown, revoked or expired. Create one under API tokens.",
                code="bad-token",
            )
        if row.last_used_at is None or now - row.last_used_at > _USE_NOTED_EVERY:
            with self._database.write(EVERYWHERE) as tx:
                tx.execute(
                    sa.update(api_tokens).where(api_tokens.c.id == row.id).values(last_used_at=now)
                )
        limits = TokenLimits(row.id, row.project_id, Role[row.role], row.audience)
        return Principal(row.user_id, row.email, row.user_name, Via.token, limits=limits)

    def is_valid(self, token_id: str) -> bool:
        statement = (
            sa.select(api_tokens.c.id)
            .join(users, users.c.id == api_tokens.c.user_id)
            .where(
                api_tokens.c.id == token_id,
                api_tokens.c.expires_at > self._clock.now(),
                api_tokens.c.revoked_at.is_(None),
                users.c.disabled_at.is_(None),
            )
        )
        with self._database.read(EVERYWHERE) as tx:
            return tx.first(statement) is not None

    def _own(self, tx: Transaction, access: Access, token_id: str) -> Token:
        row = tx.first(
            sa.select(api_tokens).where(
                api_tokens.c.id == token_id, api_tokens.c.user_id == access.user_id
            )
        )
        if row is None:
            raise NotFound("There is no such token of yours in this project.")
        return _token(row)


def _token(row: sa.Row[Any]) -> Token:
    return copied(Token, row, role=Role[row.role])
