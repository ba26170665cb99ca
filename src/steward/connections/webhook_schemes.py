"""How senders of webhooks prove who they are: Standard Webhooks and the schemes of common services.

Each scheme checks a message with the shared secret and says what makes it the same message as another one. Where the
sender's id is not covered by the signature, that is the hash of what is: a forged id must not make an old message new.
"""

import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from steward.connections.webhooks import TOLERANCE, signing_key, verify
from steward.core import Denied

Headers = Mapping[str, str]
Scheme = Callable[[str, Headers, datetime, bytes], str]
"""The key of a genuine, fresh message; Denied for all others. Headers have small letters."""


def standard(secret: str, headers: Headers, now: datetime, body: bytes) -> str:
    return verify(signing_key(secret), headers, now, body)


def github(secret: str, headers: Headers, now: datetime, body: bytes) -> str:  # noqa: ARG001
    _require("sha256=" + _hex(secret, body), headers.get("x-hub-signature-256"))
    return _digest(body)


def gitlab(secret: str, headers: Headers, now: datetime, body: bytes) -> str:  # noqa: ARG001
    _require(secret, headers.get("x-gitlab-token"))
    return headers.get("x-gitlab-event-uuid") or _digest(body)


def stripe(secret: str, headers: Headers, now: datetime, body: bytes) -> str:
    parts: dict[str, list[str]] = {}
    for each in headers.get("stripe-signature", "").split(","):
        name, _, value = each.strip().partition("=")
        parts.setdefault(name, []).append(value)
    moment = _fresh(next(iter(parts.get("t", [])), ""), now)
    wanted = _hex(secret, f"{moment}.".encode() + body)
    if not any(_is_same(wanted, each) for each in parts.get("v1", [])):
        raise _forged()
    return _id_in(body, "id") or _digest(body)


def slack(secret: str, headers: Headers, now: datetime, body: bytes) -> str:
    moment = _fresh(headers.get("x-slack-request-timestamp", ""), now)
    wanted = "v0=" + _hex(secret, f"v0:{moment}:".encode() + body)
    _require(wanted, headers.get("x-slack-signature"))
    return _id_in(body, "event_id") or f"{moment}:{_digest(body)}"


def shopify(secret: str, headers: Headers, now: datetime, body: bytes) -> str:  # noqa: ARG001
    wanted = b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    _require(wanted, headers.get("x-shopify-hmac-sha256"))
    return _digest(body)


def hmac_sha256(secret: str, headers: Headers, now: datetime, body: bytes) -> str:  # noqa: ARG001
    given = headers.get("x-signature-256") or headers.get("x-signature") or ""
    _require(_hex(secret, body), given.removeprefix("sha256="))
    return _digest(body)


def bearer(secret: str, headers: Headers, now: datetime, body: bytes) -> str:  # noqa: ARG001
    scheme, _, token = headers.get("authorization", "").partition(" ")
    _require(secret, token.strip() if scheme.lower() == "bearer" else None)
    return headers.get("webhook-id") or headers.get("idempotency-key") or ""


SCHEMES: Final[Mapping[str, Scheme]] = {
    "standard": standard,
    "github": github,
    "gitlab": gitlab,
    "stripe": stripe,
    "slack": slack,
    "shopify": shopify,
    "hmac": hmac_sha256,
    "bearer": bearer,
}


def _hex(secret: str, content: bytes) -> str:
    return hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _is_same(wanted: str, given: str) -> bool:
    return hmac.compare_digest(wanted.encode(), given.encode("utf-8", "surrogatepass"))


def _require(wanted: str, given: str | None) -> None:
    if given is None or not _is_same(wanted, given):
        raise _forged()


def _forged() -> Denied:
    return Denied(
        "The webhook's signature does not fit. Check that both sides use the same secret and scheme.",
        code="webhook-signature",
    )


def _fresh(moment: str, now: datetime) -> str:
    """The timestamp of the sender, if it is of the last five minutes."""
    if not (moment.isascii() and moment.isdigit()) or len(moment) > 15:
        raise Denied("The webhook's headers are missing or malformed.", code="webhook-malformed")
    if abs(int(moment) - now.timestamp()) > TOLERANCE.total_seconds():
        raise Denied(
            "The webhook is older or newer than five minutes; check both clocks.",
            code="webhook-stale",
        )
    return moment


def _id_in(body: bytes, name: str) -> str | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) and value else None
