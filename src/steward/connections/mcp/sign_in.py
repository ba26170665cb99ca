"""Signing in to MCP servers: started by a person, finished at our callback, renewed when a token ends, forgotten."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import httpx2

from steward.connections.documents import Connection
from steward.connections.http import Http
from steward.connections.mcp.definitions import disarmed
from steward.connections.mcp.settings import McpSettings
from steward.connections.sign_in_sessions import (
    Session,
    SessionStore,
    Status,
    new_state,
    unexpected,
)
from steward.core import Clock, Denied, Invalid, Misconfigured, StewardError, Unavailable
from steward.identity import Access, Role
from steward.store import Database, EventLog, Scope, SecretStore

if TYPE_CHECKING:
    from steward.connections.mcp.oauth import ClientProvider, PersonProvider

_SECONDS: Final = 20
_MOST_BYTES: Final = 1 << 20


class Line:
    """The sign-in of an open connection, for the client that calls the server."""

    def __init__(
        self, signs: "SignIns", store: SessionStore, settings: McpSettings, connection_id: str
    ) -> None:
        self._signs = signs
        self._store = store
        self._settings = settings
        self._connection_id = connection_id

    def values(self) -> Mapping[str, str]:
        """Tokens, to take out of texts."""
        return self._store.values()

    async def auth(
        self, web: httpx2.AsyncClient, secrets: Mapping[str, str]
    ) -> "PersonProvider | ClientProvider":
        """What adds the token to requests; a token that has ended is renewed first, by one call at a time."""
        from steward.connections.mcp.oauth import (
            ClientProvider,
            PersonProvider,
            SignInNeeded,
            kept,
        )

        settings, resource = self._settings, self._settings.resource
        async with self._signs.turn(self._connection_id):
            session = await asyncio.to_thread(self._store.session)
            here = session is not None and session.resource == resource
            if settings.sign_in == "client":
                if not secrets.get("client_secret"):
                    raise Misconfigured("The connection has no client secret; set it.")
                if session is None or not here:
                    await asyncio.to_thread(self._store.forget)
                    session = Session(resource)
                author = session.signed_in_by or "steward"
                return ClientProvider(
                    settings, kept(self._store, session, author), secrets["client_secret"]
                )
            if session is None or not here or not session.signed_in_at:
                raise SignInNeeded(
                    "Nobody has signed in to this server; sign in under Connections."
                )
            provider = PersonProvider(settings, kept(self._store, session, session.signed_in_by))
            await provider.renew(web)
            return provider


class SignIns:
    def __init__(
        self, database: Database, secrets: SecretStore, events: EventLog, clock: Clock, http: Http
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self.http = http
        self._turns: dict[tuple[int, str], asyncio.Lock] = {}

    def turn(self, connection_id: str) -> asyncio.Lock:
        """One renewal at a time: a refresh token may be good for a single use."""
        key = (id(asyncio.get_running_loop()), connection_id)
        return self._turns.setdefault(key, asyncio.Lock())

    def line(self, scope: Scope, connection: Connection) -> Line | None:
        """None where a connection does not sign in."""
        settings = connection.parsed()
        if not isinstance(settings, McpSettings) or settings.sign_in == "none":
            return None
        return Line(self, self._store(scope, connection.id), settings, connection.id)

    def status(self, scope: Scope, connection: Connection) -> Status | None:
        settings = connection.parsed()
        if not isinstance(settings, McpSettings) or settings.sign_in == "none":
            return None
        return self._store(scope, connection.id).status(settings.sign_in, settings.resource)

    async def start(
        self,
        access: Access,
        connection: Connection,
        secrets: Mapping[str, str],
        redirect_uri: str,
        metadata_url: str | None,
    ) -> str:
        """Where the person must go; everything that is needed when they come back is kept."""
        from mcp.client.auth import OAuthFlowError

        from steward.connections.mcp.oauth import (
            Redirect,
            StartingProvider,
            kept,
        )

        access.require(Role.admin)
        settings = self._of_a_person(connection)
        store = self._store(access.scope, connection.id)
        known = await asyncio.to_thread(store.session)
        resource = settings.resource
        session = known if known is not None and known.resource == resource else Session(resource)
        provider = StartingProvider(
            settings,
            kept(store, session, access.user_id),
            redirect_uri,
            new_state(access.scope.project_id, connection.id),
            metadata_url,
            secrets.get("client_secret", ""),
        )
        try:
            async with asyncio.timeout(_SECONDS), self._web(settings) as web:
                answer = await web.post(
                    settings.url or "", json=_HELLO, headers=_ASKING, auth=provider
                )
        except Redirect as found:
            return found.url
        except (OAuthFlowError, TimeoutError, httpx2.HTTPError, ValueError) as problem:
            raise _sign_in_error(problem, settings) from None
        raise Invalid(
            f"{settings.place} does not ask anybody to sign in (it answered {answer.status_code}); set the sign-in "
            "of the connection to “none”.",
            code="no-sign-in",
        )

    async def finish(
        self,
        access: Access,
        connection: Connection,
        secrets: Mapping[str, str],
        state: str,
        answer: Mapping[str, str],
    ) -> None:
        """What came back from the authorization server: checked against what was asked, then traded for tokens."""
        from mcp.client.auth import OAuthFlowError
        from mcp.client.auth.utils import validate_authorization_response_iss
        from mcp.shared.auth import OAuthMetadata

        from steward.connections.mcp.oauth import FinishingProvider, kept

        access.require(Role.admin)
        settings = self._of_a_person(connection)
        store = self._store(access.scope, connection.id)
        pending = await asyncio.to_thread(store.pending)
        if pending is None:
            raise unexpected()
        pending.require(state, access.user_id, self._clock.now())
        # A code is good once; so is what waits for it.
        await asyncio.to_thread(store.drop_pending)
        if pending.resource != settings.resource:
            raise Denied("The connection leads to another address than when the sign-in began.")
        try:
            metadata = OAuthMetadata.model_validate(pending.metadata)
            validate_authorization_response_iss(answer.get("iss"), metadata)
        except OAuthFlowError:
            raise Denied(
                "The answer came from another authorization server than the one that was asked; nothing was kept.",
                code="wrong-issuer",
            ) from None
        if answer.get("error") or not answer.get("code"):
            said = disarmed(
                answer.get("error_description") or answer.get("error") or "no code", 200
            )
            raise Denied(f"The authorization server did not agree: {said}", code="not-signed-in")
        session = Session(
            pending.resource,
            client=pending.client,
            signed_in_by=access.user_id,
            signed_in_at=self._clock.now().isoformat(),
        )
        secret = secrets.get("client_secret", "") if settings.client_id else store.client_secret()
        provider = FinishingProvider(
            settings, kept(store, session, access.user_id), pending, secret
        )
        try:
            async with asyncio.timeout(_SECONDS), self._web(settings) as web:
                await provider.exchange(web, answer["code"], pending.verifier)
        except (OAuthFlowError, TimeoutError, httpx2.HTTPError, ValueError) as problem:
            raise _sign_in_error(problem, settings) from None
        await asyncio.to_thread(self._tell, access, connection, "signed_in")

    async def sign_out(self, access: Access, connection: Connection) -> None:
        """Forgets the tokens, here; whether they are withdrawn there is tried once."""
        access.require(Role.admin)
        store = self._store(access.scope, connection.id)
        session = await asyncio.to_thread(store.session)
        tokens = await asyncio.to_thread(store.tokens)
        await asyncio.to_thread(store.forget)
        await asyncio.to_thread(self._tell, access, connection, "signed_out")
        endpoint = (session.metadata or {}).get("revocation_endpoint") if session else None
        token = tokens[1] or tokens[0]
        settings = connection.parsed()
        if not endpoint or not token or session is None or not isinstance(settings, McpSettings):
            return
        form = {"token": token, "client_id": str((session.client or {}).get("client_id", ""))}
        try:
            async with asyncio.timeout(5), self._web(settings) as web:
                await web.post(str(endpoint), data=form)
        except (TimeoutError, httpx2.HTTPError, StewardError):
            # Nobody can use the token from here any more, which is what was asked for.
            return

    def _store(self, scope: Scope, connection_id: str) -> SessionStore:
        return SessionStore(self._secrets, self._clock, scope, connection_id)

    def _of_a_person(self, connection: Connection) -> McpSettings:
        settings = connection.parsed()
        if not isinstance(settings, McpSettings) or settings.sign_in != "person":
            raise Invalid(
                f"The connection {connection.name!r} is not one that a person signs in to.",
                code="no-sign-in",
            )
        return settings

    def _web(self, settings: McpSettings) -> httpx2.AsyncClient:
        from steward.connections.mcp.oauth import only_encrypted

        return httpx2.AsyncClient(
            transport=self.http.transport(_MOST_BYTES),
            timeout=httpx2.Timeout(_SECONDS),
            headers=dict(settings.headers),
            event_hooks={"request": [only_encrypted]},
            trust_env=False,
        )

    def _tell(self, access: Access, connection: Connection, what: str) -> None:
        data: dict[str, Any] = {
            "name": connection.name,
            "kind": connection.kind,
            "by": access.user_id,
        }
        with self._database.write(access.scope) as tx:
            self._events.append(tx, f"connection.{what}", connection.id, data)


# What any server answers with 401 before it looks further.
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "steward", "version": "1"},
    },
}
_ASKING: Final = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}


def _sign_in_error(problem: Exception, settings: McpSettings) -> StewardError:
    """The step that failed, in our words: those of a server may repeat what it was sent."""
    from mcp.client.auth import OAuthRegistrationError, OAuthTokenError

    if isinstance(problem, TimeoutError):
        return Unavailable(f"Signing in to {settings.place} took too long.", code="timeout")
    if isinstance(problem, OAuthRegistrationError):
        return Misconfigured(
            f"The authorization server of {settings.place} does not let programs register by themselves. Register "
            "Steward there by hand, and put the client id (and secret) into the connection.",
            code="no-registration",
        )
    if isinstance(problem, OAuthTokenError):
        return Denied(
            f"The authorization server of {settings.place} gave no token for the sign-in; start it again.",
            code="no-token",
        )
    if isinstance(problem, httpx2.HTTPError):
        return Unavailable(
            f"No connection while signing in to {settings.place} ({type(problem).__name__})."
        )
    said = disarmed(str(problem), 200)
    return Denied(f"{settings.place} cannot be signed in to: {said}", code="sign-in-failed")
