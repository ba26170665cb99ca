"""Connection URLs of database servers: parsed strictly, so that nothing unexpected reaches a driver."""

from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from steward.core.errors import Invalid

_TLS = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


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
    """Reads `postgresql://user:password@host:port/database?sslmode=…`, or the same with mysql."""
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
    unknown = set(query) - {"sslmode", "host"}
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
    )
    texts = (address.host, address.user, address.password, address.database)
    if any(not text.isprintable() for text in texts) or address.tls not in _TLS:
        raise Invalid("The connection URL has characters that are not allowed.", code="bad-url")
    if not address.host or not address.database:
        raise Invalid("The connection URL names no host or no database.", code="bad-url")
    return address


def driver_text(address: Address) -> str:
    """The address of a PostgreSQL server in the form that its driver takes."""
    fields = {
        "host": address.host,
        "port": str(address.port),
        "user": address.user,
        "password": address.password,
        "hostaddr": address.place,
        "dbname": address.database,
        "sslmode": address.tls,
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
