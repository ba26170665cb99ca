"""Settings of a connection to an installed service: which one, where it is, and how it is told who calls."""

from typing import Literal, Self

from pydantic import Field, model_validator

from steward.connections.connector import ConnectorSettings
from steward.connections.hosts import place_of
from steward.core.errors import StewardError

Way = Literal[
    "none", "api_key", "bearer", "basic", "client_credentials", "service_account", "sigv4", "fields"
]


class ServiceSettings(ConnectorSettings):
    service: str = Field(
        max_length=80,
        pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$",
        title="Service",
        description="Name of a service that is installed from the catalogue.",
    )
    base_url: str = Field(
        "",
        max_length=500,
        title="Base address",
        description="Only where the service is somewhere else than its description says.",
    )
    way: Way = Field(
        "none",
        title="Authentication",
        description="How the service learns who calls.",
    )
    scheme: str = Field(
        "",
        max_length=100,
        title="Scheme",
        description="Which scheme of the description an API key belongs to; empty: the first.",
    )
    username: str = Field("", max_length=200, title="User name", description="With “basic”.")
    client_id: str = Field(
        "", max_length=300, title="Client id", description="With “client_credentials”."
    )
    grant_url: str = Field(
        "",
        max_length=500,
        title="Token address",
        description="Where tokens are given out; empty: as the description says.",
    )
    scopes: str = Field(
        "", max_length=2_000, title="Scopes", description="Asked for, separated by spaces."
    )
    fields: dict[str, str] = Field(
        default_factory=dict,
        max_length=40,
        title="Further values",
        description="Such as a region or an account, as the description names them.",
    )
    requests_per_minute: int = Field(
        0, ge=0, le=60_000, title="Requests per minute", description="At most; 0: no limit."
    )

    @model_validator(mode="after")
    def _addresses(self) -> Self:
        for url in (self.base_url, self.grant_url):
            try:
                if url:
                    place_of(url)
            except StewardError as problem:
                raise ValueError(problem.message) from None
        if self.grant_url and not self.grant_url.startswith("https://"):
            raise ValueError("the token address starts with https://")
        return self
