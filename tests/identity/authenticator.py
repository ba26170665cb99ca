"""A security key in software: makes passkeys and signs challenges as WebAuthn describes it."""

import hashlib
import json
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn import base64url_to_bytes
from webauthn.helpers import bytes_to_base64url

_PRESENT, _VERIFIED, _NEW_KEY = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    origin: str = "http://localhost:8400"
    verifies: bool = True
    """Whether it asks for a finger or a PIN."""
    count: int = 0
    user: str = ""
    id: bytes = field(default_factory=lambda: token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def made(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.create` gives."""
        self.user = base64url_to_bytes(options["user"]["id"]).decode()
        numbers = self.key.public_key().public_numbers()
        x, y = (each.to_bytes(32, "big") for each in (numbers.x, numbers.y))
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        described = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        told = self._told(options["rp"]["id"], _NEW_KEY) + described
        attested = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": told})
        client = self._client("webauthn.create", options["challenge"])
        return self._answer(clientDataJSON=client, attestationObject=attested)

    def signed(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.get` gives."""
        self.count += 1
        told = self._told(options["rpId"])
        client = self._client("webauthn.get", options["challenge"])
        signature = self.key.sign(told + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._answer(
            clientDataJSON=client,
            authenticatorData=told,
            signature=signature,
            userHandle=self.user.encode(),
        )

    def _told(self, rp_id: str, more: int = 0) -> bytes:
        flags = _PRESENT | (_VERIFIED if self.verifies else 0) | more
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def _client(self, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _answer(self, **response: bytes) -> dict[str, Any]:
        named = bytes_to_base64url(self.id)
        told = {name: bytes_to_base64url(value) for name, value in response.items()}
        return {"id": named, "rawId": named, "type": "public-key", "response": told}
