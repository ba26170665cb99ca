"""Any API over HTTP: a base address, and how it wants to be told who calls."""

from typing import Literal, Self

from pydantic import Field, model_validator

from steward.connections.client_certificate import CERTIFICATE, KEY, ClientCertificate
from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.hosts import place_of
from steward.core import Invalid, Misconfigured, StewardError


class HttpApiSettings(ConnectorSettings):
    base_url: str = Field(
        min_length=1,
        max_length=500,
        title="Base address",
        description="Where all paths of the API begin, such as https://api.example.com/v2.",
    )
    authentication: Literal["none", "bearer", "header"] = Field(
        "none",
        title="Authentication",
        description="“bearer” sends the secret as a bearer token, “header” as it is.",
    )
    header: str = Field(
        "X-API-Key",
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,60}$",
        title="Header",
        description="Where the secret goes, with “header”.",
    )
    check_path: str = Field(
        "",
        max_length=500,
        title="Path to check",
        description="Fetched by the test, such as /health; empty: the base address.",
    )

    @model_validator(mode="after")
    def _an_address(self) -> Self:
        try:
            place_of(self.base_url)
        except StewardError as problem:
            raise ValueError(problem.message) from None
        if any(mark in self.base_url for mark in "?#"):
            raise ValueError("the base address has neither a question mark nor a fragment")
        return self

    def url(self, path: str) -> str:
        """The address of a path below the base; one that leads elsewhere is refused."""
        joined = self.base_url.rstrip("/") + ("/" + path.lstrip("/") if path else "")
        parts = path.partition("?")[0].replace("\\", "/").lower().replace("%2e", ".").split("/")
        if ".." in parts or place_of(joined) != place_of(self.base_url):
            raise Invalid(f"The path {path[:200]!r} leads out of the API's base address.")
        return joined


def headers(settings: HttpApiSettings, secrets: Secrets) -> dict[str, str]:
    """The headers that tell who calls; they go to the API's own host and no further."""
    if settings.authentication == "none":
        return {}
    if not secrets.get("token"):
        raise Misconfigured("The connection has no token; set its secret.")
    if settings.authentication == "bearer":
        return {"Authorization": f"Bearer {secrets['token']}"}
    return {settings.header: secrets["token"]}


async def check(around: Surroundings, settings: HttpApiSettings, secrets: Secrets) -> str:
    answer = await around.http.request(
        "GET",
        settings.url(settings.check_path),
        secret_headers=headers(settings, secrets),
        certificate=ClientCertificate.of(secrets),
    )
    host = place_of(settings.base_url).text
    if answer.status in {401, 403}:
        raise Misconfigured(f"{host} does not accept the credentials ({answer.status}).")
    if answer.status >= 400:
        raise Invalid(f"{host} answered {answer.status}; look at the address and the path.")
    return f"{host} answered {answer.status}."


add_connector(
    kind="http_api",
    title="HTTP API",
    description="An API on the web that requests go to, with its token kept as a secret.",
    use="http",
    settings=HttpApiSettings,
    check=check,
    place=lambda settings: settings.base_url,
    secrets=(
        SecretField("token", "Token or key", "Sent with every request."),
        SecretField(
            CERTIFICATE,
            "Client certificate",
            "For servers that want one (mutual TLS): in PEM, with those that signed it.",
        ),
        SecretField(KEY, "Key of the certificate", "In PEM, without a passphrase."),
    ),
)
