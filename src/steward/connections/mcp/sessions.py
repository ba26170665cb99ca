"""What is kept of a sign-in to an MCP server: tokens, each a secret of its own, and where they came from.

Everything is in the secret store, under names that no connection can refer to and nobody can set by hand.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from steward.core.clock import Clock
from steward.core.errors import NotFound
from steward.store import Scope, SecretStore

_PARTS: Final = ("access_token", "refresh_token", "client_secret", "session", "pending")
# Clocks differ, and a request takes its time.
_EARLY: Final = timedelta(seconds=30)


@dataclass(frozen=True)
class Session:
    """A sign-in, without its tokens: for which server, by whom, and what the authorization server said of itself."""

    resource: str
    """The server's address; its tokens go nowhere else."""
    issuer: str = ""
    metadata: Mapping[str, Any] | None = None
    """Of the authorization server, as it was checked at the sign-in."""
    protected: Mapping[str, Any] | None = None
    """Of the MCP server as a resource."""
    client: Mapping[str, Any] | None = None
    """What Steward is registered as there; its secret is kept apart."""
    scope: str | None = None
    wanted_scope: str | None = None
    """What the server asked for beyond that; the next sign-in asks for it too."""
    expires_at: str | None = None
    signed_in_by: str = ""
    signed_in_at: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(**json.loads(text))

    def until(self) -> datetime | None:
        return datetime.fromisoformat(self.expires_at) if self.expires_at else None


@dataclass(frozen=True)
class Pending:
    """A sign-in that waits for the person to come back from the authorization server."""

    state: str
    verifier: str = field(repr=False)
    user_id: str
    resource: str
    redirect_uri: str
    scope: str | None
    metadata: Mapping[str, Any]
    protected: Mapping[str, Any] | None
    client: Mapping[str, Any]
    started_at: str

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(**json.loads(text))


class SessionStore:
    """The sign-in of one connection."""

    def __init__(
        self, secrets: SecretStore, clock: Clock, scope: Scope, connection_id: str
    ) -> None:
        self._secrets = secrets
        self._scope = scope
        self._base = f"steward.oauth.{connection_id}."
        self.clock = clock

    def session(self) -> Session | None:
        text = self._read("session")
        return Session.parse(text) if text else None

    def keep_session(self, session: Session, author: str) -> None:
        self._write("session", json.dumps(asdict(session)), author)

    def tokens(self) -> tuple[str, str]:
        """Access and refresh token; empty where there is none."""
        return self._read("access_token"), self._read("refresh_token")

    def keep_tokens(
        self, session: Session, access: str, refresh: str, seconds: int | None, author: str
    ) -> Session:
        """The tokens, and when the first of them ends."""
        ends = self.clock.now() + timedelta(seconds=seconds) if seconds is not None else None
        kept = replace(session, expires_at=ends.isoformat() if ends else None)
        self._write("access_token", access, author)
        if refresh:
            self._write("refresh_token", refresh, author)
        else:
            self._drop("refresh_token")
        self.keep_session(kept, author)
        return kept

    def client_secret(self) -> str:
        return self._read("client_secret")

    def keep_client_secret(self, value: str | None, author: str) -> None:
        if value:
            self._write("client_secret", value, author)
        else:
            self._drop("client_secret")

    def pending(self) -> Pending | None:
        text = self._read("pending")
        return Pending.parse(text) if text else None

    def keep_pending(self, pending: Pending) -> None:
        self._write("pending", json.dumps(asdict(pending)), pending.user_id)

    def drop_pending(self) -> None:
        self._drop("pending")

    def forget(self) -> None:
        for part in _PARTS:
            self._drop(part)

    def is_fresh(self, session: Session) -> bool:
        until = session.until()
        return until is None or self.clock.now() < until - _EARLY

    def values(self) -> dict[str, str]:
        """Whatever must appear in no text."""
        names = ("access_token", "refresh_token", "client_secret")
        return {name: value for name in names if (value := self._read(name))}

    def _read(self, part: str) -> str:
        try:
            return self._secrets.get(self._scope, self._base + part)
        except NotFound:
            return ""

    def _write(self, part: str, value: str, author: str) -> None:
        self._secrets.set(self._scope, self._base + part, value, author=author)

    def _drop(self, part: str) -> None:
        self._secrets.forget(self._scope, self._base + part)
