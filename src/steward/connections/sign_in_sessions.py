"""What is kept of a sign-in to another server: tokens, each a secret of its own, and where they came from.

Everything is in the secret store, under names that no connection can refer to and nobody can set by hand.
"""

import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Self

from steward.core import Clock, Denied, NotFound
from steward.store import Scope, SecretStore

_PARTS: Final = ("access_token", "refresh_token", "client_secret", "session", "pending")
# Clocks differ, and a request takes its time.
_EARLY: Final = timedelta(seconds=30)
_WAITS: Final = timedelta(minutes=10)
State = Literal["signed_out", "signed_in", "ended", "elsewhere"]


@dataclass(frozen=True)
class Session:
    """A sign-in, without its tokens: for which server, by whom, and what the authorization server said of itself."""

    resource: str
    """The server's address; its tokens go nowhere else."""
    issuer: str = ""
    metadata: Mapping[str, Any] | None = None
    """Of the authorization server, as it was checked at the sign-in."""
    protected: Mapping[str, Any] | None = None
    """Of an MCP server as a resource."""
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

    def require(self, state: str, user_id: str, now: datetime) -> None:
        """Denied where this is not the answer that is waited for."""
        if not hmac.compare_digest(self.state.encode(), state.encode()):
            raise unexpected()
        if self.user_id != user_id:
            # Otherwise somebody could be made to hand over their account to another's connection.
            raise Denied("Somebody else started this sign-in; start your own.", code="wrong-person")
        if now - datetime.fromisoformat(self.started_at) > _WAITS:
            raise Denied(
                "The sign-in took longer than ten minutes; start it again.", code="too-late"
            )


def unexpected() -> Denied:
    return Denied(
        "This sign-in has expired or was already used. Start it again.", code="wrong-state"
    )


def new_state(project_id: str, connection_id: str) -> str:
    """Names the sign-in when the person comes back; nobody can guess it."""
    return f"{project_id}.{connection_id}.{secrets.token_urlsafe(32)}"


@dataclass(frozen=True)
class Status:
    """How a connection stands with signing in."""

    mode: Literal["person", "client"]
    state: State
    """`ended`: the token has ended and cannot be renewed. `elsewhere`: it was given for another address."""
    issuer: str = ""
    scope: str = ""
    by: str = ""
    at: datetime | None = None
    until: datetime | None = None


class SessionStore:
    """The sign-in of one connection."""

    def __init__(self, store: SecretStore, clock: Clock, scope: Scope, connection_id: str) -> None:
        self._secrets = store
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

    def status(self, mode: Literal["person", "client"], resource: str) -> Status:
        session = self.session()
        if session is None or not (session.signed_in_at or mode == "client"):
            return Status(mode, "signed_out")
        access, refresh = self.tokens()
        at = datetime.fromisoformat(session.signed_in_at) if session.signed_in_at else None
        state: State = "signed_in"
        if not access:
            state = "signed_out"
        elif session.resource != resource:
            state = "elsewhere"
        elif not refresh and not self.is_fresh(session) and mode == "person":
            state = "ended"
        by = session.signed_in_by
        return Status(mode, state, session.issuer, session.scope or "", by, at, session.until())

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
