"""Programs that people let act for them by OAuth: registered, allowed once, renewed, and disconnected.

A program gets short-lived tokens for the MCP door. A code or a refresh token that comes a second time was stolen from
somebody, so that everything the program got by it ends.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import sqlalchemy as sa

from steward.core import Clock, Ids, Invalid, NotFound
from steward.identity._tables import api_tokens, client_grants, registered_clients, users
from steward.identity.credentials import new_token, token_hash
from steward.identity.principals import Access
from steward.identity.roles import Role
from steward.identity.tokens import PREFIX
from steward.identity.users import MAX_NAME, checked_name
from steward.store import EVERYWHERE, Database, EventLog, News, Scope, Transaction

MCP: Final = "mcp"
CODE_LIFETIME: Final = timedelta(minutes=2)
TOKEN_LIFETIME: Final = timedelta(hours=1)
IDLE: Final = timedelta(days=30)
"""A program that renews nothing for so long has to ask again."""
_CLIENTS_KEPT: Final = timedelta(days=30)
_MOST_CLIENTS: Final = 5_000
_MOST_ADDRESSES: Final = 10
_LONGEST_ADDRESS: Final = 1_000
_VERIFIER: Final = re.compile(r"[A-Za-z0-9\-._~]{43,128}")
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_BY_BROWSERS: Final = frozenset(
    {"about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "ws", "wss"}
)
"""Schemes that a browser handles itself: no program listens to them."""


@dataclass(frozen=True)
class Client:
    id: str
    name: str
    redirect_uris: tuple[str, ...]

    def redirects_to(self, address: str) -> bool:
        """Whether the program named this address; on the own machine any port will do (RFC 8252)."""
        return any(_same_address(known, address) for known in self.redirect_uris)


@dataclass(frozen=True)
class ClientGrant:
    id: str
    client_id: str
    client_name: str
    role: Role
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime


@dataclass(frozen=True)
class Issued:
    access_token: str
    refresh_token: str
    expires_in: int
    role: Role


class ClientGrants:
    def __init__(self, database: Database, clock: Clock, ids: Ids, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events

    def register(self, name: str, redirect_uris: Sequence[str]) -> Client:
        """Takes down a program that introduces itself; it may do nothing until a person allows it."""
        addresses = checked_addresses(redirect_uris)
        name = name or urlsplit(addresses[0]).hostname or "unnamed program"
        client = Client(self._ids.new("mcl"), checked_name(name[:MAX_NAME]), addresses)
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            self._sweep(tx, now)
            tx.execute(
                sa.insert(registered_clients).values(
                    id=client.id, name=client.name, redirect_uris=list(addresses), created_at=now
                )
            )
        return client

    def client(self, client_id: str) -> Client:
        """A program that registered here."""
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(
                sa.select(registered_clients).where(registered_clients.c.id == client_id)
            )
        if row is None:
            raise Invalid(
                "This program is not registered here. Start again from the program.",
                code="invalid_client",
            )
        return Client(row.id, row.name, tuple(row.redirect_uris))

    def allow(
        self, access: Access, client: Client, redirect_uri: str, challenge: str, role: Role
    ) -> str:
        """Lets a program act for the caller; returns the code that it turns into a token, once and soon."""
        access.may_grant(role)
        if role > Role.operator:
            raise Invalid("A program gets at most the role operator.", code="role-too-high")
        checked_challenge(challenge)
        if not client.redirects_to(redirect_uri):
            raise Invalid("The program did not register this address.", code="invalid_redirect")
        code, grant_id, now = new_token("stc"), self._ids.new("cgr"), self._clock.now()
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.insert(client_grants).values(
                    id=grant_id,
                    user_id=access.user_id,
                    client_id=client.id,
                    client_name=client.name,
                    redirect_uri=redirect_uri,
                    role=role.name,
                    challenge=challenge,
                    code_hash=token_hash(code),
                    code_expires_at=now + CODE_LIFETIME,
                    created_at=now,
                    expires_at=now + CODE_LIFETIME,
                )
            )
            data = {"name": client.name, "role": role.name, "by": access.user_id}
            self._events.append(tx, "client.allowed", grant_id, data)
        return code

    def redeem(self, code: str, client_id: str, redirect_uri: str, verifier: str) -> Issued:
        """The tokens for a code; whoever shows it must be who asked for it."""
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            row = self._row(tx, client_grants.c.code_hash == token_hash(code))
            if row is not None and row.code_used_at is not None:
                self._end(tx, row, "replayed")
            else:
                fits = (
                    row is not None
                    and row.code_expires_at > now
                    and row.revoked_at is None
                    and hmac.compare_digest(row.client_id.encode(), client_id.encode())
                    and hmac.compare_digest(row.redirect_uri.encode(), redirect_uri.encode())
                    and _matches(row.challenge, verifier)
                )
                if row is not None and fits:
                    return self._issue(tx, row, now, client_grants.c.code_used_at.is_(None))
        raise _refused()

    def renew(self, refresh_token: str, client_id: str) -> Issued:
        """New tokens for a refresh token, which is worth nothing afterwards."""
        now, wanted = self._clock.now(), token_hash(refresh_token)
        known = (client_grants.c.refresh_hash == wanted) | (
            client_grants.c.previous_refresh_hash == wanted
        )
        with self._database.write(EVERYWHERE) as tx:
            row = self._row(tx, known)
            if row is not None and row.refresh_hash != wanted:
                self._end(tx, row, "replayed")
            elif (
                row is not None
                and row.revoked_at is None
                and row.expires_at > now
                and hmac.compare_digest(row.client_id.encode(), client_id.encode())
            ):
                return self._issue(tx, row, now, client_grants.c.refresh_hash == wanted)
        raise _refused()

    def revoke(self, token: str) -> None:
        """Ends what a token of a program belongs to; an unknown token is nothing to speak of (RFC 7009)."""
        wanted = token_hash(token)
        of_token = sa.select(api_tokens.c.grant_id).where(api_tokens.c.token_hash == wanted)
        known = (client_grants.c.refresh_hash == wanted) | client_grants.c.id.in_(of_token)
        with self._database.write(EVERYWHERE) as tx:
            row = self._row(tx, known)
            if row is not None and row.revoked_at is None:
                self._end(tx, row, "removed")

    def page(
        self, access: Access, *, after: str | None = None, limit: int = 200
    ) -> list[ClientGrant]:
        """The programs that may act for the caller in this project, newest first."""
        statement = sa.select(client_grants).where(
            client_grants.c.user_id == access.user_id,
            client_grants.c.code_used_at.is_not(None),
            client_grants.c.revoked_at.is_(None),
            client_grants.c.expires_at > self._clock.now(),
        )
        if after is not None:
            statement = statement.where(client_grants.c.id < after)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(client_grants.c.id.desc()).limit(limit))
        return [_grant(row) for row in rows]

    def remove(self, access: Access, grant_id: str) -> None:
        """Disconnects a program of the caller: its tokens end at once."""
        with self._database.write(access.scope) as tx:
            row = tx.first(
                sa.select(client_grants).where(
                    client_grants.c.id == grant_id, client_grants.c.user_id == access.user_id
                )
            )
            if row is None or row.revoked_at is not None:
                raise NotFound("No such program acts for you in this project.")
            self._end(tx, row, "removed")

    def _row(self, tx: Transaction, condition: sa.ColumnElement[bool]) -> sa.Row[Any] | None:
        statement = (
            sa.select(client_grants)
            .join(users, users.c.id == client_grants.c.user_id)
            .where(condition, users.c.disabled_at.is_(None))
        )
        return tx.first(statement)

    def _issue(
        self, tx: Transaction, row: sa.Row[Any], now: datetime, still: sa.ColumnElement[bool]
    ) -> Issued:
        access, refresh = new_token(PREFIX), new_token("str")
        done = tx.execute(
            sa.update(client_grants)
            .where(client_grants.c.id == row.id, client_grants.c.revoked_at.is_(None), still)
            .values(
                code_used_at=row.code_used_at or now,
                refresh_hash=token_hash(refresh),
                previous_refresh_hash=row.refresh_hash,
                last_used_at=now,
                expires_at=now + IDLE,
            )
        )
        if done.rowcount != 1:
            # Of two at once, one is late.
            raise _refused()
        tx.execute(
            sa.insert(api_tokens).values(
                id=self._ids.new("tok"),
                org_id=row.org_id,
                project_id=row.project_id,
                user_id=row.user_id,
                name=row.client_name,
                role=row.role,
                token_hash=token_hash(access),
                prefix=access[:9],
                created_at=now,
                expires_at=now + TOKEN_LIFETIME,
                audience=MCP,
                grant_id=row.id,
            )
        )
        return Issued(access, refresh, int(TOKEN_LIFETIME.total_seconds()), Role[row.role])

    def _end(self, tx: Transaction, row: sa.Row[Any], why: str) -> None:
        now = self._clock.now()
        tx.execute(
            sa.update(client_grants).where(client_grants.c.id == row.id).values(revoked_at=now)
        )
        tx.execute(
            sa.update(api_tokens)
            .where(api_tokens.c.grant_id == row.id, api_tokens.c.revoked_at.is_(None))
            .values(revoked_at=now)
        )
        scope = Scope(row.org_id, row.project_id)
        data = {"name": row.client_name, "user": row.user_id}
        self._events.append_many(tx, [News(scope, f"client.{why}", row.id, data)])

    def _sweep(self, tx: Transaction, now: datetime) -> None:
        """Programs that introduced themselves and that nobody has allowed: for long, or before many others.

        Anyone may introduce programs, so those of one sender must not keep out all others.
        """
        kept, allowed = registered_clients.c, sa.select(client_grants.c.client_id)
        unknown = kept.id.not_in(allowed)
        newest = sa.select(kept.id).where(unknown).order_by(kept.created_at.desc(), kept.id.desc())
        tx.execute(
            sa.delete(registered_clients).where(
                unknown,
                (kept.created_at < now - _CLIENTS_KEPT)
                | kept.id.not_in(newest.limit(_MOST_CLIENTS - 1)),
            )
        )


def checked_addresses(addresses: Sequence[str]) -> tuple[str, ...]:
    """Where a program may be answered: by TLS, on the person's own machine, or by a scheme of its own."""
    if not 1 <= len(addresses) <= _MOST_ADDRESSES:
        raise Invalid(
            f"Name between 1 and {_MOST_ADDRESSES} redirect_uris.", code="invalid_redirect_uri"
        )
    for address in addresses:
        if not _is_safe(address):
            raise Invalid(
                f"The redirect address {address[:200]!r} cannot be used. Use https, http on the "
                "own machine, or a scheme of the program's own, without a fragment.",
                code="invalid_redirect_uri",
            )
    return tuple(addresses)


def checked_challenge(challenge: str) -> str:
    if not _CHALLENGE.fullmatch(challenge):
        raise Invalid("code_challenge must be a SHA-256 in base64url.", code="invalid_request")
    return challenge


def _is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if len(address) > _LONGEST_ADDRESS or "#" in address or "@" in parts.netloc:
        return False
    if not address.isascii() or any(each <= " " or each in '"<>\\^`{|}' for each in address):
        return False
    if parts.scheme == "http":
        return host in _LOOPBACK
    return bool(host) and bool(parts.scheme) and parts.scheme not in _BY_BROWSERS


def _same_address(known: str, address: str) -> bool:
    if known == address:
        return True
    one, other = urlsplit(known), urlsplit(address)
    return (
        _is_safe(address)
        and one.scheme == other.scheme == "http"
        and one.hostname == other.hostname
        and one.hostname in _LOOPBACK
        and (one.path, one.query) == (other.path, other.query)
    )


def _matches(challenge: str, verifier: str) -> bool:
    if not _VERIFIER.fullmatch(verifier):
        return False
    told = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(challenge.encode(), told)


def _refused() -> Invalid:
    """One answer for all reasons: whoever guesses learns nothing."""
    return Invalid(
        "The code or refresh token is unknown, used, expired, or was given to another program.",
        code="invalid_grant",
    )


def _grant(row: sa.Row[Any]) -> ClientGrant:
    return ClientGrant(
        row.id,
        row.client_id,
        row.client_name,
        Role[row.role],
        row.created_at,
        row.last_used_at,
        row.expires_at,
    )
