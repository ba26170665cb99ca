"""Standard Webhooks 1.0: messages signed so that the receiver knows the sender, the moment and the message's id."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from steward.core import Denied, Invalid

PREFIX: Final = "whsec_"
TOLERANCE: Final = timedelta(minutes=5)
_LEAST, _MOST = 24, 64


def signing_key(secret: str) -> bytes:
    """The key in a signing secret, `whsec_` and base64 of 24 to 64 bytes."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not _LEAST <= len(key) <= _MOST:
        raise Invalid(
            f"The signing secret must be {PREFIX} followed by base64 of {_LEAST} to {_MOST} bytes."
        )
    return key


def sign(key: bytes, message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers of a signed message."""
    if not message_id or "." in message_id:
        raise Invalid("A webhook's id has at least one character and no full stop.")
    timestamp = str(int(now.timestamp()))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": _signature(key, message_id, timestamp, body),
    }


def verify(key: bytes, headers: Mapping[str, str], now: datetime, body: bytes) -> str:
    """The id of a message that is genuine and fresh; the receiver drops ids it has seen."""
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not message_id or not (timestamp.isascii() and timestamp.isdigit()) or len(timestamp) > 15:
        raise Denied("The webhook's headers are missing or malformed.", code="webhook-malformed")
    if abs(int(timestamp) - now.timestamp()) > TOLERANCE.total_seconds():
        raise Denied(
            "The webhook is older or newer than five minutes; check both clocks.",
            code="webhook-stale",
        )
    wanted = _signature(key, message_id, timestamp, body).encode()
    signatures = given.get("webhook-signature", "").split()
    # Several signatures may be given while a key is changed.
    if not any(hmac.compare_digest(wanted, each.encode()) for each in signatures):
        raise Denied("The webhook's signature does not fit.", code="webhook-signature")
    return message_id


def _signature(key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
