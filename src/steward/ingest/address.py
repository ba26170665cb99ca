"""Connection URLs of database servers: parsed strictly, so that nothing unexpected reaches a driver."""

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from steward.core import Invalid

_TLS = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_LONGEST_ROOT: Final = 200_000
_CERTIFICATE: Final = re.compile(
    r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----"
)


@dataclass(frozen=True)
class Address:
    """A parsed connection URL; only what is understood is passed on to the driver."""

    kind: str
    host: str
    port: int
    user: str
    password: str
    database: str
    tls: str
    root: str = ""
    """Certificates to trust instead of those of this machine, as PEM."""
    place: str = ""
    """The numeric address to connect to, once the host has been looked up."""

    def shown(self) -> str:
        """For people and records: without the password."""
        user = f"{self.user}@" if self.user else ""
        return f"{self.kind}://{user}{self.host}:{self.port}/{self.database}"


def is_address(text: str) -> bool:
    """Whether somebody means a database server by this, rather than a file."""
    return text.startswith(("postgresql://", "postgres://", "mysql://"))


def parse_address(url: str) -> Address:
    """Reads `postgresql://user:password@host:port/database?sslmode=…`, or the same with mysql.

    `sslrootcert` holds certificates themselves, as PEM: a path would name a file of this machine.
    """
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise Invalid("The connection URL cannot be read.", code="bad-url") from problem
    kind = {"postgres": "postgresql", "postgresql": "postgresql", "mysql": "mysql"}.get(
        parts.scheme
    )
    if kind is None:
        raise Invalid("A connection URL begins with postgresql:// or mysql://.", code="bad-url")
    query = dict(parse_qsl(parts.query))
    unknown = set(query) - {"sslmode", "sslrootcert", "host"}
    if unknown:
        raise Invalid(
            f"The connection URL has parameters that are not allowed: {', '.join(sorted(unknown))}.",
            code="bad-url",
        )
    host = parts.hostname or query.get("host", "")
    address = Address(
        kind,
        host,
        port or (5432 if kind == "postgresql" else 3306),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        unquote(parts.path.lstrip("/")),
        query.get("sslmode", "prefer"),
        certificates(query["sslrootcert"]) if "sslrootcert" in query else "",
    )
    texts = (address.host, address.user, address.password, address.database)
    if any(not text.isprintable() for text in texts) or address.tls not in _TLS:
        raise Invalid("The connection URL has characters that are not allowed.", code="bad-url")
    if not address.host or not address.database:
        raise Invalid("The connection URL names no host or no database.", code="bad-url")
    return address


def certificates(text: str) -> str:
    """PEM with one certificate or more; Invalid with the reason for anything else."""
    # A form of one line takes the line breaks away, which the format asks for.
    found = ["\n".join(wrap("".join(body.split()), 64)) for body in _CERTIFICATE.findall(text)]
    if not found or "PRIVATE KEY" in text or len(text) > _LONGEST_ROOT:
        raise Invalid(
            "The root certificate is text in PEM: it begins with -----BEGIN CERTIFICATE-----, and holds no key.",
            code="bad-certificate",
        )
    whole = "".join(
        f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n" for body in found
    )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=whole)
    except (ssl.SSLError, ValueError) as problem:
        raise Invalid(
            "The root certificate cannot be read; is it whole?", code="bad-certificate"
        ) from problem
    return whole


def driver_text(address: Address, root: Path | None = None) -> str:
    """The address of a PostgreSQL server in the form that its driver takes; `root`: the file of what to trust."""
    fields = {
        "host": address.host,
        "port": str(address.port),
        "user": address.user,
        "password": address.password,
        "hostaddr": address.place,
        "dbname": address.database,
        "sslmode": address.tls,
        "sslrootcert": str(root or ""),
        "connect_timeout": "10",
        "application_name": "steward",
        # Dates and moments cross as text: in one form, whatever the server's settings.
        "options": "-c datestyle=ISO -c timezone=UTC -c extra_float_digits=1 -c bytea_output=hex",
    }
    return " ".join(f"{name}={_quoted(value)}" for name, value in fields.items() if value)


def _quoted(value: str) -> str:
    """A value that cannot end early."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
