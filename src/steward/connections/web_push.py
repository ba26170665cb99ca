"""Messages for browsers through their push services (RFC 8030), readable by the device alone (RFC 8291)."""

import base64
import hashlib
import json
import os
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from steward.connections.http import Http, HttpLimits
from steward.core import Clock, Invalid, NotFound, Unavailable
from steward.identity import PushAddress

# The order of the curve P-256: private keys are numbers from 1 to one less.
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_POINT, _SECRET, _SALT = 65, 16, 16
_RECORD: Final = 4096
_LONGEST: Final = 3000
_GONE: Final = frozenset({404, 410})
_LIFETIME: Final = timedelta(hours=12)
_KEPT_SECONDS: Final = 24 * 3600
_LIMITS: Final = HttpLimits(response_bytes=64 << 10, time=timedelta(seconds=10), redirects=0)


class WebPush:
    """Sends as one and the same sender for as long as the installation's first key exists."""

    def __init__(self, seed: bytes, hosts: list[str], contact: str, clock: Clock) -> None:
        """`seed` makes the key that push services know this installation by; `contact` is told to them."""
        number = int.from_bytes(hashlib.sha512(seed).digest()) % (_ORDER - 1) + 1
        self._key = ec.derive_private_key(number, ec.SECP256R1())
        self._hosts = hosts
        self._contact = contact
        self._clock = clock

    @property
    def is_on(self) -> bool:
        return bool(self._hosts)

    @property
    def public_key(self) -> str:
        """As browsers want it when they subscribe."""
        return encode(_point(self._key.public_key()))

    def checked(self, endpoint: str, p256dh: str, auth: str) -> PushAddress:
        """What a browser says about itself, or Invalid."""
        self._refuse_others(endpoint)
        try:
            target = PushAddress(endpoint, decode(p256dh), decode(auth))
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), target.p256dh)
        except ValueError:
            raise Invalid("The keys of this device cannot be read.", code="push-keys") from None
        if len(target.p256dh) != _POINT or len(target.auth) != _SECRET:
            raise Invalid("The keys of this device have the wrong length.", code="push-keys")
        return target

    async def send(self, http: Http, target: PushAddress, message: dict[str, Any]) -> None:
        """NotFound: the push service does not know the device any more. Unavailable: it did not take the message."""
        self._refuse_others(target.endpoint)
        body = encrypt(json.dumps(message).encode(), target.p256dh, target.auth)
        headers = {
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(_KEPT_SECONDS),
            "urgency": "high",
        }
        secret = {"authorization": self._signature(target.endpoint)}
        answer = await http.request(
            "POST",
            target.endpoint,
            headers=headers,
            secret_headers=secret,
            body=body,
            follow=False,
            limits=_LIMITS,
        )
        if answer.status in _GONE:
            raise NotFound("The push service does not know this device any more.")
        if not 200 <= answer.status < 300:
            raise Unavailable(f"The push service answered {answer.status}.", code="push-refused")

    def _refuse_others(self, endpoint: str) -> None:
        address = urlsplit(endpoint)
        host = (address.hostname or "").lower()
        if address.scheme == "https" and any(fnmatchcase(host, each) for each in self._hosts):
            return
        raise Invalid(
            f"Steward does not send to the push service {host!r}. An administrator can add it to "
            "STEWARD_HTTP__PUSH_HOSTS.",
            code="push-service-unknown",
        )

    def _signature(self, endpoint: str) -> str:
        """Says who sends, for this push service only and for a short time (RFC 8292)."""
        import jwt

        address = urlsplit(endpoint)
        claims = {
            "aud": f"{address.scheme}://{address.netloc}",
            "exp": int((self._clock.now() + _LIFETIME).timestamp()),
            "sub": self._contact,
        }
        return f"vapid t={jwt.encode(claims, self._key, 'ES256')}, k={self.public_key}"


def encrypt(
    message: bytes,
    p256dh: bytes,
    auth: bytes,
    *,
    key: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """One record of the content coding aes128gcm; `key` and `salt` are made for each message."""
    if len(message) > _LONGEST:
        raise Invalid("The message is too long for a push service.")
    key = key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(_SALT)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), p256dh)
    mine = _point(key.public_key())
    shared = key.exchange(ec.ECDH(), theirs)
    secret = _derived(shared, auth, b"WebPush: info\0" + p256dh + mine, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD.to_bytes(4) + bytes([len(mine)]) + mine
    # The byte after the message marks the last record.
    return head + AESGCM(content_key).encrypt(nonce, message + b"\x02", None)


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
