"""What providers say of themselves and which keys they sign with; asked rarely, kept for a while, never trusted blindly."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from steward.core import Clock, Denied, StewardError, Unavailable
from steward.identity.sign_on.id_tokens import ALGORITHMS, key_id_of
from steward.identity.sign_on.providers import checked_address

_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_KEPT: Final = timedelta(minutes=15)
# A token with an unknown key may mean that the provider has new ones, or that somebody wants us to ask all the time.
_ASKED_AGAIN: Final = timedelta(minutes=1)
_MOST_KEYS: Final = 50


class Answer(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


class Outside(Protocol):
    """The checked way out by HTTP, as much of it as a sign-on needs; the composition root gives it."""

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        secret_headers: Mapping[str, str],
        body: bytes = b"",
    ) -> Answer: ...


@dataclass(frozen=True)
class Metadata:
    """The part of a discovery document that a sign-in uses."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    algorithms: tuple[str, ...] = ("RS256",)
    authentication: tuple[str, ...] = ("client_secret_basic",)
    names_itself: bool = False
    """Whether its answers carry `iss` (RFC 9207)."""


@dataclass
class _Kept:
    metadata: Metadata
    fetched_at: datetime
    keys: list[dict[str, Any]] = field(default_factory=list)
    keys_at: datetime | None = None
    asked_again_at: datetime | None = None


class Issuers:
    def __init__(self, outside: Outside, clock: Clock) -> None:
        self._outside = outside
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def metadata(self, issuer: str) -> Metadata:
        return (await self._current(issuer)).metadata

    async def keys(self, issuer: str, token: str) -> list[dict[str, Any]]:
        """The keys that may have signed a token; asks again, once a minute at most, for one that is not known."""
        kept, wanted, now = await self._current(issuer), key_id_of(token), self._clock.now()
        if kept.keys_at is None or now - kept.keys_at >= _KEPT:
            await self._fetch_keys(kept)
        found = _with_id(kept.keys, wanted)
        last = kept.asked_again_at
        if not found and (last is None or now - last >= _ASKED_AGAIN):
            kept.asked_again_at = now
            await self._fetch_keys(kept)
            found = _with_id(kept.keys, wanted)
        return found

    async def document(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> dict[str, Any]:
        """The JSON object that a provider answers with; Denied where it refuses, Unavailable where it fails."""
        answer = await self._outside.ask(
            method,
            url,
            headers={"Accept": "application/json", **(headers or {})},
            secret_headers=secret_headers or {},
            body=body,
        )
        if answer.status >= 500 or answer.status == 429:
            raise _away(f"it answered with status {answer.status}")
        if answer.status != 200:
            raise Denied(
                f"The provider refused the request (status {answer.status}).",
                code="sign-on-failed",
            )
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise _away("its answer is not a JSON document")
        return found

    async def _current(self, issuer: str) -> _Kept:
        kept, now = self._kept.get(issuer), self._clock.now()
        if kept is not None and now - kept.fetched_at < _KEPT:
            return kept
        found = await self.document("GET", issuer.rstrip("/") + _WELL_KNOWN)
        metadata = _metadata(found, issuer)
        if kept is not None and kept.metadata.jwks_uri == metadata.jwks_uri:
            kept.metadata, kept.fetched_at = metadata, now
        else:
            kept = self._kept[issuer] = _Kept(metadata, now)
        return kept

    async def _fetch_keys(self, kept: _Kept) -> None:
        found = await self.document("GET", kept.metadata.jwks_uri)
        keys = found.get("keys")
        if not isinstance(keys, list):
            raise _away("its keys cannot be read")
        kept.keys = [key for key in keys[:_MOST_KEYS] if isinstance(key, dict)]
        kept.keys_at = self._clock.now()


def _with_id(keys: list[dict[str, Any]], wanted: str | None) -> list[dict[str, Any]]:
    """Without an id in the token any key may be meant."""
    return [key for key in keys if wanted is None or key.get("kid") == wanted]


def _metadata(found: Mapping[str, Any], issuer: str) -> Metadata:
    if found.get("issuer") != issuer:
        raise Denied(
            f"The provider calls itself {str(found.get('issuer'))[:200]!r}, not {issuer!r}. "
            "Enter the issuer exactly as the provider writes it.",
            code="sign-on-wrong-issuer",
        )
    places = {
        name: _address(found, name)
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
    }
    offered = _texts(found.get("id_token_signing_alg_values_supported")) or ("RS256",)
    algorithms = tuple(name for name in ALGORITHMS if name in offered)
    if not algorithms:
        raise Denied(
            "The provider signs with none of the algorithms that Steward accepts: "
            f"{', '.join(ALGORITHMS)}.",
            code="sign-on-failed",
        )
    return Metadata(
        issuer=issuer,
        **places,
        userinfo_endpoint=_address(found, "userinfo_endpoint")
        if found.get("userinfo_endpoint")
        else "",
        algorithms=algorithms,
        authentication=_texts(found.get("token_endpoint_auth_methods_supported"))
        or ("client_secret_basic",),
        names_itself=found.get("authorization_response_iss_parameter_supported") is True,
    )


def _address(found: Mapping[str, Any], name: str) -> str:
    try:
        return checked_address(str(found.get(name, "")), f"The provider's {name}")
    except ValueError as problem:
        raise Denied(str(problem), code="sign-on-failed") from None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _away(reason: str) -> StewardError:
    return Unavailable(
        f"The sign-on provider cannot be used now: {reason}. Try again in a moment.",
        code="sign-on-unavailable",
    )
