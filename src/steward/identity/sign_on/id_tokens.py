"""Signed tokens of providers: only asymmetric signatures, only for us, only now."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import Any, Final

import jwt
from jwt.exceptions import PyJWTError

from steward.core import Denied

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""No `none`, and none in which a public key could serve as a shared secret."""
LEEWAY: Final = timedelta(seconds=60)
_OLDEST: Final = timedelta(hours=1)
_LONGEST: Final = 64 << 10
_LONGEST_SUBJECT: Final = 255
_MOST_TRIED: Final = 10
_JWS: Final = jwt.PyJWS(options={"enforce_minimum_key_length": True})


def key_id_of(token: str) -> str | None:
    found = _header(token).get("kid")
    return found if isinstance(found, str) else None


def verified_payload(
    token: str, keys: Sequence[Mapping[str, Any]], allowed: Iterable[str]
) -> dict[str, Any]:
    """What a token says, once one of the keys has signed it."""
    algorithm = _header(token).get("alg")
    if algorithm not in set(ALGORITHMS) & set(allowed):
        raise refused("is signed with an algorithm that is not accepted")
    for key in keys[:_MOST_TRIED]:
        # A key says itself what it is for; for anything else it is no key.
        if key.get("use", "sig") != "sig" or key.get("alg", algorithm) != algorithm:
            continue
        try:
            public = jwt.PyJWK(dict(key), algorithm=algorithm)
            text = _JWS.decode(token, key=public, algorithms=[algorithm])
            found = json.loads(text)
        except (PyJWTError, ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise refused("is not signed by a key of the provider")


def check_claims(
    claims: Mapping[str, Any], *, issuer: str, client_id: str, now: datetime, leeway: timedelta
) -> None:
    """Who speaks, to whom, and when; the same for ID tokens and logout tokens."""
    if claims.get("iss") != issuer:
        raise refused("was issued by somebody else")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise refused("is meant for somebody else")
    if claims.get("azp", client_id) != client_id or (len(audiences) > 1 and "azp" not in claims):
        raise refused("was given to somebody else")
    if _moment(claims, "exp") <= now - leeway:
        raise refused("has expired")
    issued = _moment(claims, "iat")
    if issued > now + leeway or issued < now - _OLDEST - leeway:
        raise refused("was not issued just now")
    if "nbf" in claims and _moment(claims, "nbf") > now + leeway:
        raise refused("is not valid yet")


def check_id_token(
    claims: Mapping[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    now: datetime,
    leeway: timedelta = LEEWAY,
) -> str:
    """The subject of an ID token that answers the sign-in with this nonce."""
    check_claims(claims, issuer=issuer, client_id=client_id, now=now, leeway=leeway)
    given = claims.get("nonce")
    if not isinstance(given, str) or not compare_digest(given.encode(), nonce.encode()):
        raise refused("does not belong to this sign-in")
    return subject_of(claims)


def subject_of(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= _LONGEST_SUBJECT:
        raise refused("does not say who signed in")
    return subject


def refused(why: str) -> Denied:
    return Denied(f"The provider's token {why}.", code="sign-on-failed")


def _header(token: str) -> Mapping[str, Any]:
    if len(token) > _LONGEST:
        raise refused("is too long")
    try:
        return jwt.get_unverified_header(token)
    except PyJWTError:
        raise refused("cannot be read") from None


def _moment(claims: Mapping[str, Any], name: str) -> datetime:
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise refused(f"has no {name}")
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError):
        raise refused(f"has no {name}") from None
