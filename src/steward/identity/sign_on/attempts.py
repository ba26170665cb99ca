"""A sign-in that is under way: kept sealed in the browser that began it, so that no other can finish it."""

import base64
import binascii
import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final
from urllib.parse import urlsplit

from steward.core import Denied, Misconfigured
from steward.store import Keyring

LIFETIME: Final = timedelta(minutes=10)
_CONTEXT: Final = "sign-on attempt"
_LONGEST_PATH: Final = 1000


@dataclass(frozen=True)
class Attempt:
    provider_id: str
    issuer: str
    redirect_uri: str
    next: str
    expires_at: str
    state: str = field(default_factory=lambda: token_urlsafe(32))
    nonce: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: token_urlsafe(64), repr=False)

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def require(self, provider_id: str, state: str, now: datetime) -> None:
        """Denied where this is not the answer that the browser waits for."""
        if (
            self.provider_id != provider_id
            or not compare_digest(self.state.encode(), state.encode())
            or now >= datetime.fromisoformat(self.expires_at)
        ):
            raise unexpected()


def seal(keyring: Keyring, attempt: Attempt) -> str:
    key_id, sealed = keyring.seal(json.dumps(asdict(attempt)).encode(), _CONTEXT)
    return f"{key_id}.{base64.urlsafe_b64encode(sealed).decode()}"


def unseal(keyring: Keyring, text: str) -> Attempt:
    key_id, _, sealed = text.partition(".")
    try:
        opened = keyring.open(key_id, base64.urlsafe_b64decode(sealed), _CONTEXT)
        return Attempt(**json.loads(opened))
    except (Misconfigured, binascii.Error, ValueError, TypeError):
        raise unexpected() from None


def local_path(wanted: str | None) -> str:
    """Where to go afterwards: a page of this app, never another site."""
    if not wanted or len(wanted) > _LONGEST_PATH or not wanted.startswith("/"):
        return "/"
    # Browsers read a backslash as a slash and skip control characters.
    odd = any(
        character == "\\" or ord(character) < 0x21 or ord(character) == 0x7F for character in wanted
    )
    if odd or wanted.startswith("//"):
        return "/"
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    if parts.scheme or parts.netloc or parts.path.startswith(("/api", "/sign-in")):
        return "/"
    return wanted


def unexpected() -> Denied:
    return Denied(
        "This sign-in has expired, was already used, or was begun in another browser. Start again.",
        code="sign-on-expired",
    )
