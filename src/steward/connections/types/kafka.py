"""A Kafka cluster whose records start playbooks: where it is, and how Steward signs in and encrypts."""

import ssl
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from steward.connections.addresses import Address
from steward.connections.client_certificate import CERTIFICATE, KEY, ClientCertificate
from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.hosts import Place
from steward.connections.tls import NamedTls
from steward.connections.types._servers import PEM
from steward.core import Misconfigured, Unavailable

_MILLISECONDS = 10_000
SignIn = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class KafkaSettings(ConnectorSettings):
    host: str = Field(
        min_length=1,
        max_length=300,
        title="Host",
        description="Any broker of the cluster; it names the others.",
    )
    port: int = Field(9093, ge=1, le=65535, title="Port")
    security: Literal["tls", "none"] = Field(
        "tls", title="Encryption", description="“none” sends everything as it is."
    )
    root_certificate: str = Field(
        "",
        max_length=100_000,
        title="Root certificate",
        json_schema_extra={"format": "multiline"},
        description="Whom to trust, as PEM text. Empty: whom this machine trusts.",
    )
    sign_in: Literal["none", SignIn] = Field(
        "none",
        title="Authentication",
        description="By user name and password (SASL). A client certificate works with each of them, and alone.",
    )
    username: str = Field("", max_length=300, title="User name")

    @field_validator("root_certificate")
    @classmethod
    def _pem(cls, text: str) -> str:
        if text and (PEM not in text or "PRIVATE KEY" in text):
            raise ValueError(f"a certificate in PEM begins with {PEM} and holds no private key")
        return text

    @model_validator(mode="after")
    def _of_use(self) -> "KafkaSettings":
        if (self.sign_in != "none") != bool(self.username):
            raise ValueError("a user name and a way of authentication belong together")
        if self.root_certificate and self.security == "none":
            raise ValueError("a root certificate is looked at with encryption")
        return self


def kafka_tls(settings: KafkaSettings, secrets: Secrets) -> NamedTls | None:
    """How to encrypt, with the client certificate where there is one."""
    shown = ClientCertificate.of(secrets)
    if settings.security == "none":
        if shown is not None:
            raise Misconfigured(
                "A client certificate is shown with encryption only; set it to TLS."
            )
        return None
    tls = NamedTls(settings.root_certificate)
    if shown is not None:
        shown.load(tls)
    return tls


def kafka_options(
    tls: NamedTls | None, sign_in: str, user: str | None, password: str | None
) -> dict[str, Any]:
    """What the client library is told about signing in and encryption."""
    protocol = "SSL" if tls is not None else "PLAINTEXT"
    options = {"security_protocol": protocol, "ssl_context": tls}
    if user is None:
        return options
    return options | {
        "security_protocol": f"SASL_{protocol}",
        "sasl_mechanism": sign_in,
        "sasl_plain_username": user,
        "sasl_plain_password": password or "",
    }


async def require_kafka(host: str, place: Place, options: Mapping[str, Any]) -> None:
    """Connects once and signs in: of a whole cluster the library only says that it reached no broker."""
    from aiokafka.conn import create_conn
    from aiokafka.errors import (
        AuthenticationFailedError,
        KafkaError,
        SaslAuthenticationFailed,
        UnsupportedSaslMechanismError,
    )

    told = {"request_timeout_ms": _MILLISECONDS, "max_idle_ms": None, **options}
    try:
        connection = await create_conn(host, place.port, client_id="steward", **told)
        await connection.close()
    except (AuthenticationFailedError, SaslAuthenticationFailed):
        raise Misconfigured("Kafka refused the user name or password.") from None
    except UnsupportedSaslMechanismError:
        raise Misconfigured(
            f"Kafka does not accept {options['sasl_mechanism']} there. Choose another way of authentication."
        ) from None
    except ssl.SSLCertVerificationError as problem:
        raise Misconfigured(
            f"The certificate of the Kafka server {place.host} is not trusted ({problem.verify_message})."
        ) from None
    except (KafkaError, OSError, AssertionError, TimeoutError):
        raise Unavailable(
            f"Kafka did not answer as expected at {place.host}:{place.port}. Check the port, the encryption and "
            "the authentication."
        ) from None


async def check(around: Surroundings, settings: KafkaSettings, secrets: Secrets) -> str:
    try:
        from aiokafka.client import AIOKafkaClient
        from aiokafka.errors import KafkaError
    except ModuleNotFoundError:
        raise Misconfigured(
            "Kafka needs Steward's extra 'queues': pip install 'steward[queues]'."
        ) from None
    tls = kafka_tls(settings, secrets)
    place = Place("kafka", settings.host, settings.port)
    address: Address = (await around.http.checked_addresses(place))[0]
    if tls is not None:
        tls.names[str(address)] = settings.host
    host = f"[{address}]" if address.version == 6 else str(address)
    user, password = settings.username or None, secrets.get("password")
    options = kafka_options(tls, settings.sign_in, user, password)
    await require_kafka(str(address), place, options)
    client = AIOKafkaClient(
        bootstrap_servers=f"{host}:{settings.port}",
        client_id="steward",
        request_timeout_ms=_MILLISECONDS,
        **options,
    )
    try:
        await client.bootstrap()
        brokers = len(client.cluster.brokers())
    except KafkaError:
        raise Unavailable(
            f"Kafka did not name its brokers at {settings.host}:{settings.port}."
        ) from None
    finally:
        await client.close()
    how = "over TLS" if tls is not None else "without encryption"
    return f"Connected to {settings.host} {how}. Brokers: {brokers:,}."


add_connector(
    kind="kafka",
    title="Kafka",
    description="A Kafka cluster whose records start playbooks.",
    use="kafka",
    settings=KafkaSettings,
    check=check,
    place=lambda settings: f"kafka://{settings.host}:{settings.port}",
    secrets=(
        SecretField("password", "Password", "Of the user name."),
        SecretField(CERTIFICATE, "Client certificate", "As PEM text, where the cluster wants one."),
        SecretField(KEY, "Key of the client certificate", "As PEM text."),
    ),
)
