"""Signing in with a provider: the browser goes there with a secret of ours and comes back with a code for tokens."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, quote_plus, urlencode

from steward.core import Clock, Denied, StewardError
from steward.identity.sessions import NewSession
from steward.identity.sign_on.admission import Admission, Person
from steward.identity.sign_on.attempts import (
    LIFETIME,
    Attempt,
    local_path,
    seal,
    unexpected,
    unseal,
)
from steward.identity.sign_on.id_tokens import check_id_token, refused, verified_payload
from steward.identity.sign_on.issuers import Issuers, Metadata
from steward.identity.sign_on.logouts import Logouts, checked_logout
from steward.identity.sign_on.providers import Provider, Providers
from steward.store import Keyring
from steward.trace import get_logger

_logger = get_logger("steward.sign_on")
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
# Anybody can begin a sign-in and spoil it; the event log is not theirs to fill.
_REFUSALS_TOLD: Final = 30
_REFUSALS_WINDOW: Final = timedelta(hours=1)
_PROFILE: Final = ("email", "email_verified", "name")


@dataclass(frozen=True)
class Start:
    url: str
    """Where the browser goes."""
    state: str
    cookie: str
    """What it keeps meanwhile."""
    lifetime: timedelta = LIFETIME


@dataclass(frozen=True)
class Return:
    session: NewSession
    next: str


class SignOn:
    def __init__(
        self,
        providers: Providers,
        issuers: Issuers,
        admission: Admission,
        logouts: Logouts,
        keyring: Keyring,
        clock: Clock,
    ) -> None:
        self.providers = providers
        self.issuers = issuers
        self._admission = admission
        self._logouts = logouts
        self._keyring = keyring
        self._clock = clock
        self._told: dict[str, list[datetime]] = {}

    async def start(self, provider_id: str, redirect_uri: str, wanted: str | None) -> Start:
        provider = await asyncio.to_thread(self.providers.find, provider_id)
        metadata = await self.issuers.metadata(provider.issuer)
        attempt = Attempt(
            provider_id=provider.id,
            issuer=provider.issuer,
            redirect_uri=redirect_uri,
            next=local_path(wanted),
            expires_at=(self._clock.now() + LIFETIME).isoformat(),
        )
        asked = {
            "response_type": "code",
            "client_id": provider.document.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(provider.document.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        place = metadata.authorization_endpoint
        joined = "&" if "?" in place else "?"
        url = f"{place}{joined}{urlencode(asked, quote_via=quote)}"
        return Start(url, attempt.state, seal(self._keyring, attempt))

    async def finish(
        self,
        provider_id: str,
        cookie: str,
        answer: Mapping[str, str],
        *,
        agent: str = "",
        address: str = "",
    ) -> Return:
        """Signs in the person who came back; a refusal is recorded and raised."""
        attempt = unseal(self._keyring, cookie)
        attempt.require(provider_id, answer.get("state", ""), self._clock.now())
        provider = await asyncio.to_thread(self.providers.find, provider_id)
        person: Person | None = None
        try:
            if provider.issuer != attempt.issuer:
                raise unexpected()
            person = await self._person(provider, attempt, answer)
            sid = person.claims.get("sid")
            session = await asyncio.to_thread(
                self._admission.admit,
                provider,
                person,
                agent=agent,
                address=address,
                sid=sid if isinstance(sid, str) and len(sid) <= 255 else None,
            )
        except StewardError as problem:
            await self._refuse(provider, problem, person)
            raise
        return Return(session, attempt.next)

    async def sign_out(self, provider_id: str, token: str) -> int:
        """What a provider asks for behind the browser's back: ends sessions; how many."""
        provider = await asyncio.to_thread(self.providers.find, provider_id)
        metadata = await self.issuers.metadata(provider.issuer)
        keys = await self.issuers.keys(provider.issuer, token)
        claims = verified_payload(token, keys, metadata.algorithms)
        logout = checked_logout(claims, provider, self._clock.now())
        return await asyncio.to_thread(self._logouts.carry_out, provider, logout)

    async def check(self, provider: Provider) -> Metadata:
        """Asks the provider what it is and for its keys; raises what is wrong with it."""
        metadata = await self.issuers.metadata(provider.issuer)
        await self.issuers.document("GET", metadata.jwks_uri)
        return metadata

    async def _person(
        self, provider: Provider, attempt: Attempt, answer: Mapping[str, str]
    ) -> Person:
        metadata = await self.issuers.metadata(provider.issuer)
        named = answer.get("iss")
        if named != provider.issuer and (named is not None or metadata.names_itself):
            # Otherwise one provider could pass off its answer as another's.
            raise Denied("The answer came from another provider.", code="sign-on-failed")
        code = answer.get("code")
        if answer.get("error") or not code:
            raise Denied("The provider did not sign you in.", code="sign-on-declined")
        tokens = await self._tokens(provider, metadata, attempt, code)
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise refused("is missing")
        keys = await self.issuers.keys(provider.issuer, token)
        claims = verified_payload(token, keys, metadata.algorithms)
        subject = check_id_token(
            claims,
            issuer=provider.issuer,
            client_id=provider.document.client_id,
            nonce=attempt.nonce,
            now=self._clock.now(),
        )
        more = await self._more_claims(provider, metadata, claims, tokens, subject)
        return Person(provider.issuer, subject, {**more, **claims})

    async def _tokens(
        self, provider: Provider, metadata: Metadata, attempt: Attempt, code: str
    ) -> dict[str, Any]:
        client_id = provider.document.client_id
        secret = await asyncio.to_thread(self.providers.secret, provider)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        secret_headers: dict[str, str] = {}
        if not secret:
            form["client_id"] = client_id
        elif "client_secret_basic" in metadata.authentication:
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()
            secret_headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        else:
            form |= {"client_id": client_id, "client_secret": secret}
        return await self.issuers.document(
            "POST",
            metadata.token_endpoint,
            headers=_FORM,
            secret_headers=secret_headers,
            body=urlencode(form).encode(),
        )

    async def _more_claims(
        self,
        provider: Provider,
        metadata: Metadata,
        claims: Mapping[str, Any],
        tokens: Mapping[str, Any],
        subject: str,
    ) -> dict[str, Any]:
        """What the ID token leaves out and the provider tells on request."""
        used = {rule.claim.partition(".")[0] for rule in provider.document.rules}
        access = tokens.get("access_token")
        missing = [name for name in (*_PROFILE, *used) if name not in claims]
        if not missing or not metadata.userinfo_endpoint or not isinstance(access, str):
            return {}
        found = await self.issuers.document(
            "GET",
            metadata.userinfo_endpoint,
            secret_headers={"Authorization": f"Bearer {access}"},
        )
        if found.get("sub") != subject:
            raise refused("and the provider's user information speak of two people")
        if "email" in claims and found.get("email") != claims["email"]:
            # Verified is the address that was told along with it, not another.
            found.pop("email_verified", None)
        return found

    async def _refuse(
        self, provider: Provider, problem: StewardError, person: Person | None
    ) -> None:
        code = problem.specific_code
        _logger.warning(
            "sign-on refused", provider=provider.id, reason=code, detail=problem.message
        )
        now = self._clock.now()
        recent = [at for at in self._told.get(provider.id, []) if now - at < _REFUSALS_WINDOW]
        if person is None and len(recent) >= _REFUSALS_TOLD:
            return
        self._told[provider.id] = [*recent, now][-_REFUSALS_TOLD:]
        await asyncio.to_thread(self._admission.record_refusal, provider, code, person)
