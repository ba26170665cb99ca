"""Sign-out by the provider (OpenID Connect Back-Channel Logout): a signed word that ends sessions here, once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import Clock
from steward.identity._tables import sessions, sign_on_identities, sign_on_logouts, users
from steward.identity.sign_on.id_tokens import LEEWAY, check_claims, refused, subject_of
from steward.identity.sign_on.providers import Provider
from steward.store import EVERYWHERE, Database, EventLog, News, Transaction

EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
_LONGEST_ID: Final = 255


@dataclass(frozen=True)
class Logout:
    """Whose sessions end: one of the provider's sessions, or all of a person."""

    token_id: str
    expires_at: datetime
    subject: str | None
    provider_session: str | None


def checked_logout(claims: Mapping[str, Any], provider: Provider, now: datetime) -> Logout:
    """What a verified logout token asks for; Denied where it is no such token."""
    check_claims(
        claims,
        issuer=provider.issuer,
        client_id=provider.document.client_id,
        now=now,
        leeway=LEEWAY,
    )
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise refused("does not ask for a sign-out")
    if "nonce" in claims:
        # Only ID tokens have one: one of those must not sign anybody out.
        raise refused("is an ID token")
    token_id, sid = claims.get("jti"), claims.get("sid")
    if not isinstance(token_id, str) or not 1 <= len(token_id) <= _LONGEST_ID:
        raise refused("has no jti")
    if sid is not None and (not isinstance(sid, str) or not 1 <= len(sid) <= _LONGEST_ID):
        raise refused("has an unreadable sid")
    subject = subject_of(claims) if "sub" in claims else None
    if subject is None and sid is None:
        raise refused("does not say whom it signs out")
    return Logout(token_id, datetime.fromtimestamp(claims["exp"], UTC), subject, sid)


class Logouts:
    def __init__(self, database: Database, clock: Clock, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._events = events

    def carry_out(self, provider: Provider, logout: Logout) -> int:
        """Ends the sessions that the provider began; how many. The same token twice is refused."""
        with self._database.write(EVERYWHERE) as tx:
            self._refuse_replay(tx, provider, logout)
            ended = sa.and_(
                sessions.c.provider_id == provider.id, *self._meant(tx, provider, logout)
            )
            rows = tx.rows(
                sa.select(sessions.c.user_id, users.c.name)
                .join(users, users.c.id == sessions.c.user_id)
                .where(ended)
            )
            done = tx.execute(sa.delete(sessions).where(ended)).rowcount
            self._events.append_many(
                tx,
                [
                    News(
                        provider.home,
                        "sign_on.signed_out",
                        user_id,
                        {"user": user_id, "name": name, "provider": provider.document.name},
                    )
                    for user_id, name in {row.user_id: row.name for row in rows}.items()
                ],
            )
        return done

    def _meant(
        self, tx: Transaction, provider: Provider, logout: Logout
    ) -> list[sa.ColumnElement[bool]]:
        meant: list[sa.ColumnElement[bool]] = []
        if logout.provider_session is not None:
            meant.append(sessions.c.provider_session == logout.provider_session)
        if logout.subject is not None:
            known = tx.first(
                sa.select(sign_on_identities.c.user_id).where(
                    sign_on_identities.c.issuer == provider.issuer,
                    sign_on_identities.c.subject == logout.subject,
                )
            )
            meant.append(sessions.c.user_id == (known.user_id if known is not None else ""))
        return meant

    def _refuse_replay(self, tx: Transaction, provider: Provider, logout: Logout) -> None:
        tx.execute(
            sa.delete(sign_on_logouts).where(sign_on_logouts.c.expires_at <= self._clock.now())
        )
        insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
        kept = tx.execute(
            insert(sign_on_logouts)
            .values(
                issuer=provider.issuer,
                token_id=sha256(logout.token_id.encode()).hexdigest(),
                # As long as it would be accepted again.
                expires_at=logout.expires_at + 2 * LEEWAY,
            )
            .on_conflict_do_nothing()
            .returning(sign_on_logouts.c.token_id)
        )
        if kept.first() is None:
            raise refused("was used already")
