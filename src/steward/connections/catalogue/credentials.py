"""Who calls: keys, tokens and signatures, put where a service's description wants them; tokens are fetched once and kept in memory."""

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from steward.connections.catalogue.record import Operation, Scheme, Service
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.catalogue.sign_in import ServiceLine
from steward.connections.client_certificate import CERTIFICATE, ClientCertificate
from steward.connections.http import Http, HttpLimits
from steward.core import Clock, Denied, Misconfigured

_LIMITS: Final = HttpLimits(response_bytes=1 << 20)
_EARLIER: Final = 60
"""Seconds before its end at which a token is not used any more."""


@dataclass(frozen=True)
class Credentials:
    """What is added to a request; shown to nobody."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: ClientCertificate | None = None


class Tokens:
    """Access tokens that services give to programs, one request for each at a time."""

    def __init__(self, http: Http, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._known: dict[tuple[str, ...], tuple[str, float]] = {}
        self._turns: WeakKeyDictionary[Any, dict[tuple[str, ...], asyncio.Lock]] = (
            WeakKeyDictionary()
        )

    async def token(
        self,
        key: tuple[str, ...],
        url: str,
        form: Mapping[str, str],
        certificate: ClientCertificate | None = None,
    ) -> str:
        turns = self._turns.setdefault(asyncio.get_running_loop(), {})
        turn = turns.setdefault(key, asyncio.Lock())
        async with turn:
            known = self._known.get(key)
            if known is not None and known[1] > self._clock.now().timestamp() + _EARLIER:
                return known[0]
            token, seconds = await self._asked(url, form, certificate)
            self._known[key] = (token, self._clock.now().timestamp() + seconds)
            return token

    def forget(self, key: tuple[str, ...]) -> None:
        self._known.pop(key, None)

    async def _asked(
        self, url: str, form: Mapping[str, str], certificate: ClientCertificate | None
    ) -> tuple[str, int]:
        answer = await self._http.request(
            "POST",
            url,
            headers={
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
            certificate=certificate,
            body=urlencode(form, quote_via=quote).encode(),
            follow=False,
            limits=_LIMITS,
        )
        try:
            told = json.loads(answer.body)
            token, seconds = str(told["access_token"]), int(told.get("expires_in") or 300)
        except (ValueError, KeyError, TypeError):
            # The answer may repeat what it was sent.
            raise Denied(
                f"The token address gave no token (it answered {answer.status}). Check the client id, the secret and "
                "the scopes of the connection.",
                code="no-token",
            ) from None
        return token, seconds


async def credentials(
    tokens: Tokens,
    key: tuple[str, ...],
    service: Service,
    operation: Operation,
    settings: ServiceSettings,
    secrets: Mapping[str, str],
    line: ServiceLine | None = None,
) -> Credentials:
    """For one request to the service's own host. `key` names the connection and its revision."""
    shown = ClientCertificate.of(secrets)
    if settings.way == "certificate" and shown is None:
        _secret(secrets, CERTIFICATE)
    told = await _read_credentials(tokens, key, service, operation, settings, secrets, line, shown)
    return replace(told, certificate=shown)


async def _read_credentials(
    tokens: Tokens,
    key: tuple[str, ...],
    service: Service,
    operation: Operation,
    settings: ServiceSettings,
    secrets: Mapping[str, str],
    line: ServiceLine | None,
    shown: ClientCertificate | None,
) -> Credentials:
    match settings.way:
        case "bearer":
            return Credentials({"Authorization": f"Bearer {_secret(secrets, 'token')}"})
        case "basic":
            pair = f"{settings.username}:{secrets.get('password', '')}"
            return Credentials(
                {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
            )
        case "api_key":
            return _api_key(service, settings, _secret(secrets, "api_key"))
        case "person":
            if line is None:
                raise Misconfigured("The connection is not one that a person signs in to.")
            return Credentials({"Authorization": f"Bearer {await line.token(secrets)}"})
        case "client_credentials":
            token = await tokens.token(key, *_client_form(service, settings, secrets), shown)
            return Credentials({"Authorization": f"Bearer {token}"})
        case "service_account":
            scopes = settings.scopes or " ".join(operation.scopes[:1])
            url, form = service_account_form(_secret(secrets, "service_account"), scopes)
            token = await tokens.token((*key, scopes), url, form)
            return Credentials({"Authorization": f"Bearer {token}"})
        case _:
            return Credentials()


def _api_key(service: Service, settings: ServiceSettings, value: str) -> Credentials:
    keys = [each for each in service.schemes if each.kind == "api_key"]
    chosen = next((each for each in keys if each.id == settings.scheme), None)
    if chosen is None and settings.scheme:
        raise Misconfigured(f"{service.title} has no API key scheme {settings.scheme[:60]!r}.")
    scheme = chosen or next(iter(keys), Scheme("", "api_key", "header", "X-API-Key"))
    if scheme.place == "query":
        return Credentials(query={scheme.name: value})
    if scheme.place == "cookie":
        return Credentials({"Cookie": f"{scheme.name}={quote(value, safe='')}"})
    return Credentials({scheme.name or "X-API-Key": value})


def _client_form(
    service: Service, settings: ServiceSettings, secrets: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    told = next((each.token_url for each in service.schemes if each.token_url), "")
    url = settings.grant_url or told
    if not url.startswith("https://"):
        raise Misconfigured(
            "The connection does not say where tokens are given out; set its token address (https://…)."
        )
    form = {
        "grant_type": "client_credentials",
        "client_id": settings.client_id,
        "client_secret": _secret(secrets, "client_secret"),
        **({"scope": settings.scopes} if settings.scopes else {}),
    }
    return url, form


def service_account_form(account: str, scopes: str) -> tuple[str, dict[str, str]]:
    import jwt

    try:
        told = json.loads(account)
        issuer, key = str(told["client_email"]), str(told["private_key"])
        now = int(time.time())
        claims = {
            "iss": issuer,
            "scope": scopes,
            "aud": str(told.get("token_uri") or "https://oauth2.googleapis.com/token"),
            "iat": now,
            "exp": now + 3600,
        }
        signed = jwt.encode(
            claims, key, algorithm="RS256", headers={"kid": told.get("private_key_id")}
        )
    except (ValueError, KeyError, TypeError, jwt.PyJWTError):
        raise Misconfigured(
            "The secret “service_account” is not the JSON key file of a Google service account."
        ) from None
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed}
    return claims["aud"], form  # type: ignore[return-value]


def _secret(secrets: Mapping[str, str], name: str) -> str:
    if not secrets.get(name):
        raise Misconfigured(f"The connection has no secret “{name}”; set it under Connections.")
    return secrets[name]
