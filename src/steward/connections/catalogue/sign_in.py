"""Signing in to services of the catalogue and to mailboxes: a person agrees in the browser or on another device, tokens are kept and renewed.

Codes are bound by PKCE, tokens are secrets of the connection, and a renewal happens once at a time.
"""

import asyncio
import base64
import hashlib
import json
import secrets as random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, urlencode

from steward.connections.catalogue.installed import InstalledServices
from steward.connections.catalogue.requests import completed
from steward.connections.catalogue.settings import ServiceSettings, SignInSettings
from steward.connections.documents import Connection
from steward.connections.hosts import require_encrypted
from steward.connections.http import Http, HttpLimits
from steward.connections.mcp.definitions import disarmed
from steward.connections.sign_in_sessions import (
    Pending,
    Session,
    SessionStore,
    Status,
    new_state,
    unexpected,
)
from steward.core import Clock, Denied, Invalid, Misconfigured, NotFound
from steward.identity import Access, Role
from steward.store import Database, EventLog, Scope, SecretStore

SIGN_IN_NEEDED: Final = "sign-in-needed"
_LIMITS: Final = HttpLimits(response_bytes=1 << 20)
_MOST_SCOPES: Final = 20
_DEVICE: Final = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True)
class Endpoints:
    """Where a person agrees, and where tokens are given out."""

    authorize: str
    token: str
    device: str
    between_scopes: str = " "

    def resource(self, settings: SignInSettings) -> str:
        """What tokens are good for: these addresses, this client, and this server where it is now."""
        return " ".join((self.authorize, self.token, settings.client_id, settings.place))


@dataclass(frozen=True)
class DeviceCode:
    """What the person types on another device, and how long that may take."""

    address: str
    code: str
    seconds: int
    interval: int
    secret: str


class ServiceLine:
    """The sign-in of an open connection: a token that is good now."""

    def __init__(self, signs: "ServiceSignIns", scope: Scope, connection: Connection) -> None:
        self._signs = signs
        self._scope = scope
        self._connection = connection

    def values(self) -> Mapping[str, str]:
        """Tokens, to take out of texts."""
        return self._signs.store(self._scope, self._connection.id).values()

    async def token(self, secrets: Mapping[str, str]) -> str:
        return await self._signs.token(self._scope, self._connection, secrets)


class ServiceSignIns:
    def __init__(
        self,
        database: Database,
        secrets: SecretStore,
        events: EventLog,
        clock: Clock,
        http: Http,
        services: InstalledServices,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._events = events
        self._clock = clock
        self._http = http
        self._services = services
        self._turns: dict[tuple[int, str], asyncio.Lock] = {}

    def store(self, scope: Scope, connection_id: str) -> SessionStore:
        return SessionStore(self._secrets, self._clock, scope, connection_id)

    def line(self, scope: Scope, connection: Connection) -> ServiceLine | None:
        """None where a connection does not sign in."""
        return ServiceLine(self, scope, connection) if _signs_in(connection) else None

    def status(self, scope: Scope, connection: Connection) -> Status | None:
        if not _signs_in(connection):
            return None
        try:
            settings = _settings(connection)
            resource = self._endpoints(scope, settings).resource(settings)
        except (Misconfigured, Invalid, NotFound):
            resource = ""
        return self.store(scope, connection.id).status("person", resource)

    def start(self, access: Access, connection: Connection, redirect_uri: str) -> str:
        """Where the person must go; what is needed when they come back is kept."""
        access.require(Role.admin)
        settings = _of_a_person(connection)
        endpoints = self._endpoints(access.scope, settings)
        if not endpoints.authorize:
            raise Misconfigured(
                "The connection does not say where people sign in. Choose a provider, or set its sign-in address."
            )
        state = new_state(access.scope.project_id, connection.id)
        verifier = random.token_urlsafe(64)
        challenge = hashlib.sha256(verifier.encode()).digest()
        scope = self._wanted_scope(access.scope, settings, endpoints)
        asked = {
            **settings.sign_in_parameters,
            "response_type": "code",
            "client_id": settings.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **({"scope": scope} if scope else {}),
        }
        self.store(access.scope, connection.id).keep_pending(
            Pending(
                state=state,
                verifier=verifier,
                user_id=access.user_id,
                resource=endpoints.resource(settings),
                redirect_uri=redirect_uri,
                scope=scope,
                metadata={"token_endpoint": endpoints.token},
                protected=None,
                client={"client_id": settings.client_id},
                started_at=self._clock.now().isoformat(),
            )
        )
        joined = "&" if "?" in endpoints.authorize else "?"
        return f"{endpoints.authorize}{joined}{urlencode(asked, quote_via=quote)}"

    async def finish(
        self,
        access: Access,
        connection: Connection,
        secrets: Mapping[str, str],
        state: str,
        answer: Mapping[str, str],
    ) -> None:
        """What came back with the person: checked against what was asked, then traded for tokens."""
        access.require(Role.admin)
        settings = _of_a_person(connection)
        store = self.store(access.scope, connection.id)
        pending = await asyncio.to_thread(store.pending)
        if pending is None:
            raise unexpected()
        pending.require(state, access.user_id, self._clock.now())
        # A code is good once; so is what waits for it.
        await asyncio.to_thread(store.drop_pending)
        endpoints = await asyncio.to_thread(self._endpoints, access.scope, settings)
        if pending.resource != endpoints.resource(settings):
            raise Denied("The connection leads to another address than when the sign-in began.")
        if answer.get("error") or not answer.get("code"):
            said = disarmed(
                answer.get("error_description") or answer.get("error") or "no code", 200
            )
            raise Denied(f"The provider did not agree: {said}", code="not-signed-in")
        form = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": pending.redirect_uri,
            "code_verifier": pending.verifier,
        }
        told = await self._asked(endpoints.token, form, settings, secrets)
        await self._keep(access, connection, endpoints, pending.scope, told)

    async def start_on_device(
        self, access: Access, connection: Connection, secrets: Mapping[str, str]
    ) -> DeviceCode:
        """A code that the person types on another device, for a terminal without a browser."""
        access.require(Role.admin)
        settings = _of_a_person(connection)
        endpoints = await asyncio.to_thread(self._endpoints, access.scope, settings)
        if not endpoints.device:
            raise Misconfigured(
                "The connection does not say where codes for other devices are given out. Set its device address, or "
                "sign in on the page Connections."
            )
        scope = await asyncio.to_thread(self._wanted_scope, access.scope, settings, endpoints)
        form = {"scope": scope} if scope else {}
        told = await self._asked(endpoints.device, form, settings, secrets, needs="device_code")
        address = str(told.get("verification_uri") or told.get("verification_url") or "")
        require_encrypted(address)
        return DeviceCode(
            address,
            disarmed(str(told.get("user_code", "")), 60),
            _seconds(told.get("expires_in"), 600),
            max(1, min(_seconds(told.get("interval"), 5), 60)),
            str(told["device_code"]),
        )

    async def finish_on_device(
        self,
        access: Access,
        connection: Connection,
        secrets: Mapping[str, str],
        device: DeviceCode,
    ) -> bool:
        """Asks once whether the person has agreed; False while they have not."""
        access.require(Role.admin)
        settings = _of_a_person(connection)
        endpoints = await asyncio.to_thread(self._endpoints, access.scope, settings)
        form = {"grant_type": _DEVICE, "device_code": device.secret}
        told = await self._asked(endpoints.token, form, settings, secrets, needs="")
        if told.get("error") in {"authorization_pending", "slow_down"}:
            return False
        if not isinstance(told.get("access_token"), str):
            raise Denied("The provider did not agree, or the code has ended.", code="not-signed-in")
        await self._keep(access, connection, endpoints, settings.scopes or None, told)
        return True

    def sign_out(self, access: Access, connection: Connection) -> None:
        access.require(Role.admin)
        self.store(access.scope, connection.id).forget()
        self._tell(access, connection, "signed_out")

    async def token(self, scope: Scope, connection: Connection, secrets: Mapping[str, str]) -> str:
        """An access token that is good now; renewed where it has ended."""
        settings = _of_a_person(connection)
        store = self.store(scope, connection.id)
        endpoints = await asyncio.to_thread(self._endpoints, scope, settings)
        key = (id(asyncio.get_running_loop()), connection.id)
        async with self._turns.setdefault(key, asyncio.Lock()):
            session = await asyncio.to_thread(store.session)
            resource = endpoints.resource(settings)
            if session is None or session.resource != resource or not session.signed_in_at:
                raise _needed("Nobody has signed in to this service")
            access_token, refresh = await asyncio.to_thread(store.tokens)
            if access_token and store.is_fresh(session):
                return access_token
            if not refresh:
                raise _needed("The sign-in has ended")
            form = {"grant_type": "refresh_token", "refresh_token": refresh}
            try:
                told = await self._asked(endpoints.token, form, settings, secrets)
            except Denied:
                return await asyncio.to_thread(self._renewed_elsewhere, store, refresh)
            renewed = str(told.get("refresh_token") or refresh)
            await asyncio.to_thread(
                store.keep_tokens,
                session,
                str(told["access_token"]),
                renewed,
                _lifetime(told),
                session.signed_in_by,
            )
            return str(told["access_token"])

    def _renewed_elsewhere(self, store: SessionStore, refresh: str) -> str:
        """Another worker may have used the refresh token first: then its token counts."""
        session = store.session()
        access_token, now = store.tokens()
        if now == refresh or session is None or not store.is_fresh(session):
            raise _needed("The sign-in could not be renewed")
        return access_token

    async def _keep(
        self,
        access: Access,
        connection: Connection,
        endpoints: Endpoints,
        scope: str | None,
        told: Mapping[str, Any],
    ) -> None:
        settings = _settings(connection)
        session = Session(
            endpoints.resource(settings),
            issuer=endpoints.token,
            client={"client_id": settings.client_id},
            scope=disarmed(str(told.get("scope") or scope or ""), 2_000),
            signed_in_by=access.user_id,
            signed_in_at=self._clock.now().isoformat(),
        )
        store = self.store(access.scope, connection.id)
        token, refresh = str(told["access_token"]), str(told.get("refresh_token") or "")
        await asyncio.to_thread(
            store.keep_tokens, session, token, refresh, _lifetime(told), access.user_id
        )
        await asyncio.to_thread(self._tell, access, connection, "signed_in")

    async def _asked(
        self,
        url: str,
        form: Mapping[str, str],
        settings: SignInSettings,
        secrets: Mapping[str, str],
        needs: str = "access_token",
    ) -> dict[str, Any]:
        """The provider's answer; one without what is needed is refused, in our words: its own may repeat secrets."""
        require_encrypted(url)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        secret = secrets.get("client_secret", "")
        sent = {**form, "client_id": settings.client_id}
        if secret and settings.client_authentication == "basic":
            pair = f"{quote(settings.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        elif secret:
            sent["client_secret"] = secret
        answer = await self._http.request(
            "POST",
            url,
            headers=headers,
            body=urlencode(sent, quote_via=quote).encode(),
            follow=False,
            limits=_LIMITS,
        )
        try:
            told = json.loads(answer.body)
        except ValueError:
            told = None
        if not isinstance(told, dict) or (needs and not isinstance(told.get(needs), str)):
            raise Denied(
                f"The provider gave no token (it answered {answer.status}). Check the client id, the secret and the "
                "scopes of the connection, and sign in again.",
                code="no-token",
            )
        return told

    def _endpoints(self, scope: Scope, settings: SignInSettings) -> Endpoints:
        """What the connection says, then the provider that it names, then the service's own description."""
        known = Endpoints("", "", "")
        if settings.provider:
            known = _provider(settings.provider)
        elif isinstance(settings, ServiceSettings):
            service = self._services.record(scope, settings.service).service
            for scheme in service.schemes:
                if scheme.token_url and (scheme.authorization_url or scheme.device_url):
                    known = Endpoints(scheme.authorization_url, scheme.token_url, scheme.device_url)
                    break
        found = replace(
            known,
            authorize=completed(settings.authorize_url or known.authorize, settings.fields),
            token=completed(settings.grant_url or known.token, settings.fields),
            device=settings.device_url or known.device,
        )
        if not found.token:
            raise Misconfigured(
                "The connection does not say where tokens are given out. Choose a provider, or set its token address."
            )
        for url in (found.authorize, found.token, found.device):
            if url:
                require_encrypted(url)
        return found

    def _wanted_scope(
        self, scope: Scope, settings: SignInSettings, endpoints: Endpoints
    ) -> str | None:
        """What the connection asks for; else the narrowest that the operations which agents are shown need."""
        wanted = settings.scopes.split()
        if not wanted and isinstance(settings, ServiceSettings):
            record = self._services.record(scope, settings.service)
            for choice in self._services.offered(scope, settings.service):
                operation = record.find(choice.operation)
                wanted += list(operation.scopes[:1]) if operation is not None else []
        return endpoints.between_scopes.join(dict.fromkeys(wanted[:_MOST_SCOPES])) or None

    def _tell(self, access: Access, connection: Connection, what: str) -> None:
        data = {"name": connection.name, "kind": connection.kind, "by": access.user_id}
        with self._database.write(access.scope) as tx:
            self._events.append(tx, f"connection.{what}", connection.id, data)


def providers() -> list[str]:
    """Names of providers whose addresses are known."""
    return list(_providers())


@cache
def _providers() -> dict[str, dict[str, str]]:
    text = files("steward.connections.catalogue").joinpath("oauth_providers.json").read_text()
    found: dict[str, dict[str, str]] = json.loads(text)["providers"]
    return found


def _provider(name: str) -> Endpoints:
    found = _providers().get(name)
    if found is None:
        raise Misconfigured(
            f"The addresses of the provider {name[:60]!r} are not known; set them in the connection."
        )
    return Endpoints(found["authorize"], found["token"], "", found.get("between_scopes", " "))


def _settings(connection: Connection) -> SignInSettings:
    settings = connection.parsed()
    assert isinstance(settings, SignInSettings)  # noqa: S101
    return settings


def _signs_in(connection: Connection) -> bool:
    settings = connection.parsed()
    return isinstance(settings, SignInSettings) and settings.signs_in


def _of_a_person(connection: Connection) -> SignInSettings:
    if not _signs_in(connection):
        raise Invalid(
            f"The connection {connection.name!r} is not one that a person signs in to.",
            code="no-sign-in",
        )
    settings = _settings(connection)
    if not settings.client_id:
        raise Misconfigured(
            "The connection has no client id. Register Steward with the provider, and set it."
        )
    return settings


def _needed(why: str) -> Denied:
    return Denied(f"{why}; somebody must sign in under Connections.", code=SIGN_IN_NEEDED)


def _lifetime(told: Mapping[str, Any]) -> int | None:
    """Seconds; None where the token does not end by itself."""
    return _seconds(told.get("expires_in"), 0) or None


def _seconds(value: Any, otherwise: int) -> int:
    try:
        return max(0, min(int(value), 10 * 365 * 86_400))
    except (TypeError, ValueError):
        return otherwise
