"""Signatures: an installation signs with its own Ed25519 key, and anyone can check with the public half alone."""

import hashlib
from collections.abc import Iterable
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)

from steward.core import Invalid
from steward.store.secrets import Keyring

PURPOSE: Final = "signed heads"
_END: Final = "-----END PUBLIC KEY-----"


class PublicKeys:
    """The public keys of an installation by fingerprint: more than one if its key file was ever extended."""

    def __init__(self, keys: Iterable[Ed25519PublicKey]) -> None:
        self._keys = {_fingerprint(key): key for key in keys}

    @classmethod
    def from_pem(cls, text: str) -> "PublicKeys":
        """Reads one or more PEM blocks, as `to_pem` writes them."""
        blocks = [block + _END for block in text.split(_END)[:-1]]
        try:
            keys = [load_pem_public_key(block.strip().encode()) for block in blocks]
        except (ValueError, UnsupportedAlgorithm):
            keys = []
        found = [key for key in keys if isinstance(key, Ed25519PublicKey)]
        if not found or len(found) != len(blocks):
            raise Invalid(
                "This is not a public key of Steward. 'steward verify --show-key' prints the right one.",
                code="not-a-key",
            )
        return cls(found)

    def to_pem(self) -> str:
        return "".join(
            key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
            for key in self._keys.values()
        )

    @property
    def fingerprints(self) -> tuple[str, ...]:
        return tuple(self._keys)

    def signed(self, fingerprint: str, message: bytes, signature: str) -> bool:
        """Whether the key with this fingerprint signed exactly this message."""
        key = self._keys.get(fingerprint)
        if key is None:
            return False
        try:
            key.verify(bytes.fromhex(signature), message)
        except (InvalidSignature, ValueError):
            return False
        return True


class Signer:
    """Signs for one installation; the private key never leaves it."""

    def __init__(self, seeds: Iterable[bytes]) -> None:
        """The last seed signs; the others stay known, so that older signatures can be checked."""
        keys = [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]
        self._key = keys[-1]
        self.public = PublicKeys(key.public_key() for key in keys)
        self.fingerprint = _fingerprint(self._key.public_key())

    @classmethod
    def of(cls, keyring: Keyring) -> "Signer":
        """The signer that belongs to a key file: nothing more has to be kept or backed up."""
        return cls(keyring.derived_by_all(PURPOSE))

    def sign(self, message: bytes) -> str:
        return self._key.sign(message).hex()


def _fingerprint(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()[:32]
