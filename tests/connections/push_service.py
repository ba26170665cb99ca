"""A push service and a device behind it: takes what is sent and reads it with the device's own key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from steward.connections import Http
from steward.connections.web_push import decode, encode

HOST = "push.example.com"


@dataclass
class Device:
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    auth: bytes = b"sixteen secrets!"
    path: str = "/send/1"

    @property
    def endpoint(self) -> str:
        return f"https://{HOST}{self.path}"

    @property
    def point(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def subscription(self) -> tuple[str, str, str]:
        return self.endpoint, encode(self.point), encode(self.auth)

    def read(self, body: bytes) -> Any:
        """As a browser does, by the texts of RFC 8188 and RFC 8291."""
        salt, length = body[:16], body[20]
        theirs, sealed = body[21 : 21 + length], body[21 + length :]
        shared = self.key.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        )
        info = b"WebPush: info\0" + self.point + theirs
        secret = HKDF(SHA256(), 32, self.auth, info).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(secret)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(secret)
        plain = AESGCM(key).decrypt(nonce, sealed, None)
        assert plain[-1] == 2
        return json.loads(plain[:-1])


class PushService(httpx2.AsyncBaseTransport):
    def __init__(self, *devices: Device) -> None:
        self._devices = {each.path: each for each in devices}
        self.got: list[Any] = []
        self.status = 201

    @property
    def http(self) -> Http:
        return Http(resolve=_public, transport=self)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert request.headers["content-encoding"] == "aes128gcm"
        _refuse_unsigned(request.headers["authorization"])
        if self.status < 300:
            body = await request.aread()
            self.got.append(self._devices[request.url.path].read(body))
        return httpx2.Response(self.status, content=b"")


def _refuse_unsigned(header: str) -> None:
    parts = dict(each.strip().split("=", 1) for each in header.removeprefix("vapid ").split(","))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(parts["k"]))
    options: Any = {"verify_exp": False}
    jwt.decode(parts["t"], key, ["ES256"], audience=f"https://{HOST}", options=options)


async def _public(_host: str, _port: int) -> Sequence[str]:
    return ["93.184.215.14"]
