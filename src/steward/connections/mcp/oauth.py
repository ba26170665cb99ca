"""OAuth towards MCP servers, by the SDK's client: discovery, registration, PKCE, refresh, client credentials.

The SDK keeps a flow in memory and waits for the person; here the flow is cut in two at that point, so that another
process, or this one after a restart, can finish it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import httpx2
from mcp.client.auth import OAuthClientProvider, PKCEParameters
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.utils import extract_scope_from_www_auth, union_scopes
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from steward.connections.hosts import require_encrypted
from steward.connections.mcp.settings import McpSettings
from steward.connections.sign_in_sessions import Pending, Session, SessionStore
from steward.core import Denied, Misconfigured, Unavailable

# The SDK writes there what servers answer, which may repeat what they were sent.
logging.getLogger("mcp.client.auth.oauth2").setLevel(logging.CRITICAL + 1)

CLIENT_NAME: Final = "Steward"


class SignInNeeded(Misconfigured):
    """Nobody is signed in, or no longer, or with too little."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="sign-in-needed")


class Redirect(Exception):
    """Where the person must go to sign in."""

    def __init__(self, url: str) -> None:
        super().__init__("sign in there")
        self.url = url


async def only_encrypted(request: httpx2.Request) -> None:
    """Refuses to send codes and tokens in the clear, except within this machine."""
    require_encrypted(str(request.url))


def client_metadata(redirect_uri: str, scope: str | None) -> OAuthClientMetadata:
    """What Steward says of itself when it registers."""
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method="none",  # noqa: S106 - a method
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        client_name=CLIENT_NAME,
        scope=scope,
        application_type="web" if redirect_uri.startswith("https:") else "native",
    )


class _Kept:
    """The SDK's storage over ours; the provider knows what else belongs to the tokens."""

    def __init__(self, store: SessionStore, session: Session, author: str) -> None:
        self.store = store
        self.session = session
        self.author = author
        self.provider: OAuthClientProvider | None = None

    async def get_tokens(self) -> OAuthToken | None:
        access, refresh = await asyncio.to_thread(self.store.tokens)
        if not access:
            return None
        return OAuthToken(
            access_token=access, refresh_token=refresh or None, scope=self.session.scope
        )

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.provider.context if self.provider is not None else None
        metadata = context.oauth_metadata if context is not None else None
        protected = context.protected_resource_metadata if context is not None else None
        session = replace(
            self.session,
            issuer=str(metadata.issuer) if metadata is not None else self.session.issuer,
            metadata=_json(metadata) if metadata is not None else self.session.metadata,
            protected=_json(protected) if protected is not None else self.session.protected,
            scope=tokens.scope,
        )
        seconds = int(tokens.expires_in) if tokens.expires_in is not None else None
        self.session = await asyncio.to_thread(
            self.store.keep_tokens,
            session,
            tokens.access_token,
            tokens.refresh_token or "",
            seconds,
            self.author,
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self.session.client is None:
            return None
        secret = await asyncio.to_thread(self.store.client_secret)
        return OAuthClientInformationFull(
            **{**self.session.client, "client_secret": secret or None}
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.session = replace(self.session, client=without_secret(client_info))
        secret = client_info.client_secret
        await asyncio.to_thread(self.store.keep_client_secret, secret, self.author)


def without_secret(client: OAuthClientInformationFull) -> dict[str, Any]:
    return client.model_dump(mode="json", exclude={"client_secret"}, exclude_none=True)


def _json(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return found


def _restore(provider: OAuthClientProvider, kept: _Kept) -> None:
    """What the SDK forgets between processes: without it a refresh would go to the wrong server."""
    context, session = provider.context, kept.session
    if session.metadata is not None:
        context.oauth_metadata = OAuthMetadata.model_validate(session.metadata)
        context.auth_server_url = session.issuer or None
    if session.protected is not None:
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
            session.protected
        )
    # By our clock: none is a token without an end, and one second after 1970 is long ago.
    context.token_expiry_time = None if kept.store.is_fresh(session) else 1.0


class PersonProvider(OAuthClientProvider):
    """Sends the tokens of a person who signed in; renews them, and says when somebody must sign in again."""

    def __init__(self, settings: McpSettings, kept: _Kept) -> None:
        metadata = client_metadata("http://localhost/", settings.scopes or None)
        super().__init__(settings.url or "", metadata, kept)
        kept.provider = self
        self._kept = kept

    async def _initialize(self) -> None:
        await super()._initialize()
        _restore(self, self._kept)

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        try:
            outgoing = await flow.__anext__()
            while True:
                response = yield outgoing
                if outgoing is request and response.status_code in (401, 403):
                    self._refused(response)
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _refused(self, response: httpx2.Response) -> None:
        """A person must act: nothing is discovered or registered in the middle of a call."""
        if response.status_code == 401:
            raise SignInNeeded(
                "The server no longer accepts the sign-in; somebody must sign in again under Connections."
            )
        said = response.headers.get("www-authenticate", "")
        if "insufficient_scope" in said:
            wanted = union_scopes(self._kept.session.scope, extract_scope_from_www_auth(response))
            self._kept.session = replace(self._kept.session, wanted_scope=wanted)
            self._kept.store.keep_session(self._kept.session, self._kept.author)
            raise SignInNeeded(
                "The server wants more rights than were given; somebody must sign in again under Connections."
            )

    async def renew(self, web: httpx2.AsyncClient) -> None:
        """A new token where the old one has ended."""
        if not self._initialized:
            await self._initialize()
        if self.context.is_token_valid():
            return
        if not self.context.can_refresh_token():
            raise SignInNeeded(
                "The sign-in has ended; somebody must sign in again under Connections."
            )
        response = await web.send(await self._refresh_token())
        if not await self._handle_refresh_response(response):
            raise SignInNeeded(
                "The sign-in could not be renewed; somebody must sign in again under Connections."
            )


class StartingProvider(OAuthClientProvider):
    """Goes as far as the person: finds the authorization server, registers, and says where to go."""

    def __init__(
        self,
        settings: McpSettings,
        kept: _Kept,
        redirect_uri: str,
        state: str,
        metadata_url: str | None,
        client_secret: str,
    ) -> None:
        metadata = client_metadata(redirect_uri, settings.scopes or None)
        super().__init__(settings.url or "", metadata, kept, client_metadata_url=metadata_url)
        kept.provider = self
        self._kept = kept
        self._settings = settings
        self._redirect_uri = redirect_uri
        self._state = state
        self._client_secret = client_secret

    async def _initialize(self) -> None:
        """Without tokens, and with the registration there is: one by hand, or that of an earlier sign-in here."""
        settings = self._settings
        if settings.client_id:
            method = f"client_secret_{settings.client_authentication}"
            self.context.client_info = OAuthClientInformationFull(
                client_id=settings.client_id,
                client_secret=self._client_secret or None,
                token_endpoint_auth_method=method if self._client_secret else "none",
                redirect_uris=[AnyUrl(self._redirect_uri)],
                issuer=settings.issuer or None,
            )
        else:
            known = await self._kept.get_client_info()
            wanted = [AnyUrl(self._redirect_uri)]
            if known is not None and known.redirect_uris == wanted and known.issuer:
                self.context.client_info = known
        self._initialized = True

    async def _perform_authorization(self) -> httpx2.Request:
        context = self.context
        metadata, client = context.oauth_metadata, context.client_info
        if metadata is None or client is None:
            raise Unavailable(
                "The server asks to sign in and does not say where: it names no authorization server whose "
                "description can be read.",
                code="no-authorization-server",
            )
        self._check(metadata, client)
        pkce = PKCEParameters.generate()
        scope = union_scopes(
            union_scopes(self._settings.scopes or None, context.client_metadata.scope),
            self._kept.session.wanted_scope,
        )
        asked = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": self._redirect_uri,
            "state": self._state,
            "code_challenge": pkce.code_challenge,
            "code_challenge_method": "S256",
            "resource": context.get_resource_url(),
            **({"scope": scope} if scope else {}),
        }
        if scope and "offline_access" in scope.split():
            asked["prompt"] = "consent"
        protected = context.protected_resource_metadata
        pending = Pending(
            state=self._state,
            verifier=pkce.code_verifier,
            user_id=self._kept.author,
            resource=self._kept.session.resource,
            redirect_uri=self._redirect_uri,
            scope=scope,
            metadata=_json(metadata),
            protected=_json(protected) if protected is not None else None,
            client=without_secret(client),
            started_at=self._kept.store.clock.now().isoformat(),
        )
        await asyncio.to_thread(
            self._kept.store.keep_client_secret, client.client_secret, self._kept.author
        )
        await asyncio.to_thread(self._kept.store.keep_pending, pending)
        endpoint = str(metadata.authorization_endpoint)
        raise Redirect(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}")

    def _check(self, metadata: OAuthMetadata, client: OAuthClientInformationFull) -> None:
        if "S256" not in (metadata.code_challenge_methods_supported or []):
            raise Denied(
                f"The authorization server {metadata.issuer} does not say that it supports PKCE with S256; a code "
                "could be stolen on its way. Nobody is sent there.",
                code="no-pkce",
            )
        issuer = self._settings.issuer
        if issuer and str(metadata.issuer).rstrip("/") != issuer.rstrip("/"):
            raise Denied(
                f"The server leads to the authorization server {metadata.issuer}, and the connection's settings "
                f"name {issuer}.",
                code="wrong-issuer",
            )
        if client.client_secret and self._settings.client_id and not issuer:
            raise Misconfigured(
                "A client secret is sent only to the issuer it belongs to; name the issuer in the settings."
            )


class FinishingProvider(OAuthClientProvider):
    """Trades the code for tokens, at the server that the sign-in began with."""

    def __init__(self, settings: McpSettings, kept: _Kept, pending: Pending, secret: str) -> None:
        metadata = client_metadata(pending.redirect_uri, pending.scope)
        super().__init__(settings.url or "", metadata, kept)
        kept.provider = self
        self.context.oauth_metadata = OAuthMetadata.model_validate(pending.metadata)
        if pending.protected is not None:
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                pending.protected
            )
        self.context.client_info = OAuthClientInformationFull(
            **{**pending.client, "client_secret": secret or None}
        )
        # All revisions that sign in at all name the resource; so does this.
        self.context.protocol_version = "2025-06-18"

    async def exchange(self, web: httpx2.AsyncClient, code: str, verifier: str) -> None:
        request = await self._exchange_token_authorization_code(code, verifier)
        await self._handle_token_response(await web.send(request))


class ClientProvider(ClientCredentialsOAuthProvider):
    """Signs in as a program, with a client id and a secret, at the issuer that the settings name."""

    def __init__(self, settings: McpSettings, kept: _Kept, client_secret: str) -> None:
        super().__init__(
            settings.url or "",
            kept,
            settings.client_id,
            client_secret,
            "client_secret_post"
            if settings.client_authentication == "post"
            else "client_secret_basic",
            settings.scopes or None,
            settings.issuer,
        )
        kept.provider = self
        self._kept = kept

    async def _initialize(self) -> None:
        await super()._initialize()
        _restore(self, self._kept)


def kept(store: SessionStore, session: Session, author: str) -> _Kept:
    return _Kept(store, session, author)
