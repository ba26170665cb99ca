"""What the two kinds of database servers share: settings, the address built from them, the check."""

import asyncio
from typing import Literal
from urllib.parse import quote, urlencode

from pydantic import Field, field_validator, model_validator

from steward.connections.connector import (
    ConnectorSettings,
    DatabasePlace,
    SecretField,
    Secrets,
    Surroundings,
)

PASSWORD = SecretField("password", "Password", "Of the database user.")
PEM = "-----BEGIN CERTIFICATE-----"
Tls = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]


class ServerSettings(ConnectorSettings):
    host: str = Field(
        min_length=1, max_length=300, description="Name or address of the server.", title="Host"
    )
    port: int = Field(0, ge=1, le=65535, title="Port")
    database: str = Field(
        min_length=1, max_length=200, description="Name of the database.", title="Database"
    )
    user: str = Field("", max_length=200, description="Whom to sign in as.", title="User")
    tls: Tls = Field(
        "prefer",
        title="Encryption",
        description="“require” refuses unencrypted connections; “verify-full” also checks the server's name.",
    )
    root_certificate: str = Field(
        "",
        max_length=100_000,
        title="Root certificate",
        json_schema_extra={"format": "multiline"},
        description="For “verify-ca” and “verify-full”: whom to trust, as PEM text. Empty: whom this machine trusts.",
    )

    @field_validator("root_certificate")
    @classmethod
    def _pem(cls, text: str) -> str:
        if text and (PEM not in text or "PRIVATE KEY" in text):
            raise ValueError(f"a certificate in PEM begins with {PEM} and holds no private key")
        return text

    @model_validator(mode="after")
    def _of_use(self) -> "ServerSettings":
        if self.root_certificate and not self.tls.startswith("verify"):
            raise ValueError(
                "a root certificate is looked at with the encryption verify-ca or verify-full"
            )
        return self


def address(scheme: str, settings: ServerSettings, port: int, secrets: Secrets) -> str:
    """The connection URL, every part escaped, so that no part can become another."""
    user = quote(settings.user, safe="")
    password = f":{quote(secrets['password'], safe='')}" if secrets.get("password") else ""
    at = f"{user}{password}@" if user or password else ""
    query: dict[str, str] = {"sslmode": settings.tls}
    if settings.root_certificate:
        query["sslrootcert"] = settings.root_certificate
    if settings.host.startswith("/"):
        # A socket of this machine has no place among hosts.
        place, query["host"] = "", settings.host
    else:
        bare = settings.host.strip("[]")
        place = f"[{bare}]" if ":" in bare else quote(bare, safe="")
    return f"{scheme}://{at}{place}:{port}/{quote(settings.database, safe='')}?{urlencode(query)}"


def shown(scheme: str, settings: ServerSettings, port: int) -> str:
    user = f"{settings.user}@" if settings.user else ""
    return f"{scheme}://{user}{settings.host}:{port}/{settings.database}"


async def version(around: Surroundings, place: DatabasePlace) -> str:
    """Signs in and asks the database what it is."""
    return await asyncio.to_thread(around.databases.version, place)
