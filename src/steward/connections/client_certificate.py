"""A certificate that Steward shows to servers which want to know who calls (mutual TLS); it and its key are secrets."""

import os
import re
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from steward.core import Misconfigured

_BLOCK: Final = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]{1,100000})-----END \1-----"
)
CERTIFICATE: Final = "client_certificate"
KEY: Final = "client_key"
"""The names of both among the secrets of a connection."""


@dataclass(frozen=True)
class ClientCertificate:
    certificate: str = field(repr=False)
    key: str = field(repr=False)

    @classmethod
    def of(cls, secrets: Mapping[str, str]) -> "ClientCertificate | None":
        """The one among a connection's secrets; None where there is none."""
        certificate, key = secrets.get(CERTIFICATE), secrets.get(KEY)
        if not certificate and not key:
            return None
        if not certificate or not key:
            missing = KEY if certificate else CERTIFICATE
            raise Misconfigured(
                f"The connection has no secret “{missing}”; a client certificate needs its key."
            )
        return cls(certificate, key)

    @property
    def digest(self) -> str:
        return sha256(f"{self.certificate}\n{self.key}".encode()).hexdigest()

    def parts(self) -> tuple[bytes, bytes]:
        """The key and the chain in PEM, for libraries that take bytes."""
        certificates, key = self._blocks()
        return key.encode(), "".join(certificates).encode()

    def load(self, context: ssl.SSLContext) -> None:
        """Makes the context show it."""
        certificates, key = self._blocks()
        try:
            _load(context, "".join([key, *certificates]).encode())
        except (ssl.SSLError, ValueError):
            raise Misconfigured(
                "The client certificate and its key cannot be used: one of them is damaged, or they do not belong "
                "together."
            ) from None

    def _blocks(self) -> tuple[list[str], str]:
        certificates = _blocks(self.certificate, "CERTIFICATE")
        keys = _blocks(self.key, "PRIVATE KEY")
        if not certificates:
            raise Misconfigured(f"The secret “{CERTIFICATE}” is not a certificate in PEM.")
        if not keys:
            raise Misconfigured(f"The secret “{KEY}” is not a key in PEM without a passphrase.")
        return certificates, keys[0]


def _blocks(text: str, kind: str) -> list[str]:
    """Parts of a PEM file, with lines as libraries want them: fields of forms swallow line ends."""
    found = []
    for name, content in _BLOCK.findall(text):
        if name.endswith(kind) and "ENCRYPTED" not in name:
            letters = "".join(content.split())
            lines = [letters[at : at + 64] for at in range(0, len(letters), 64)]
            found.append(
                "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----", ""])
            )
    return found


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """The library reads files only. Where the system has files in memory, the key touches no disk."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("certificate", os.MFD_CLOEXEC)
        try:
            os.write(number, pem)
            context.load_cert_chain(f"/proc/self/fd/{number}", password=_no_passphrase)
        finally:
            os.close(number)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name, password=_no_passphrase)


def _no_passphrase() -> str:
    """Otherwise the library asks at the terminal."""
    raise ValueError("the key has a passphrase")
