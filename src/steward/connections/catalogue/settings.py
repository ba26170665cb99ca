"""Settings of a connection to an installed service: which one, where it is, and how it is told who calls.

What signing in takes is shared with other kinds that a person signs in to.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Literal, Self

from pydantic import Field, model_validator

from steward.connections.connector import ConnectorSettings
from steward.connections.hosts import Place, grpc_place, is_grpc, place_of
from steward.core import StewardError

Way = Literal[
    "none",
    "api_key",
    "bearer",
    "basic",
    "person",
    "client_credentials",
    "service_account",
    "sigv4",
    "certificate",
    "fields",
]


class _ServicePlace(ConnectorSettings):
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
        description=(
            "How the service learns who calls. “person”: somebody signs in with the browser (OAuth). "
            "“client_credentials”: Steward signs in by itself. “certificate”: Steward shows a client certificate "
            "(mutual TLS); with the secrets client_certificate and client_key it does so in every other way too."
        ),
    )
    scheme: str = Field(
        "",
        max_length=100,
        title="Scheme",
        description="Which scheme of the description an API key belongs to; empty: the first.",
    )
    username: str = Field("", max_length=200, title="User name", description="With “basic”.")


class SignInSettings(ConnectorSettings):
    """What a kind needs whose connections a person signs in to (OAuth 2)."""

    client_id: str = Field(
        "",
        max_length=300,
        title="Client id",
        description="With “person” and “client_credentials”: what Steward is registered as there.",
    )
    client_authentication: Literal["post", "basic"] = Field(
        "post", title="Client secret is sent", description="In the form, or as a header."
    )
    provider: str = Field(
        "",
        max_length=60,
        pattern=r"^[a-z0-9_-]*$",
        title="Provider",
        description="With “person”: whose sign-in it is, such as google, github or slack; empty: as the description says.",
    )
    authorize_url: str = Field(
        "",
        max_length=500,
        title="Sign-in address",
        description="Where people agree; empty: as the provider or the description says.",
    )
    device_url: str = Field(
        "",
        max_length=500,
        title="Device address",
        description="Where codes for other devices are given out, for signing in from a terminal.",
    )
    sign_in_parameters: dict[str, str] = Field(
        default_factory=dict,
        max_length=20,
        title="Further parameters of the sign-in",
        description="As the provider wants them, such as access_type: offline.",
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

    @property
    @abstractmethod
    def signs_in(self) -> bool:
        """Whether a person signs in to it, as this connection is set."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the tokens go; they are good for nothing else."""

    @model_validator(mode="after")
    def _sign_in_addresses(self) -> Self:
        for url in (self.grant_url, self.authorize_url, self.device_url):
            if url:
                _require_place(url)
        return self


class ServiceSettings(SignInSettings, _ServicePlace):
    requests_per_minute: int = Field(
        0, ge=0, le=60_000, title="Requests per minute", description="At most; 0: no limit."
    )

    @property
    def signs_in(self) -> bool:
        return self.way == "person"

    @property
    def place(self) -> str:
        return self.base_url or self.service

    @model_validator(mode="after")
    def _address(self) -> Self:
        if self.base_url:
            _require_place(self.base_url, grpc_place if is_grpc(self.base_url) else place_of)
        return self


def _require_place(url: str, read: Callable[[str], Place] = place_of) -> None:
    try:
        read(url.replace("{", "").replace("}", ""))
    except StewardError as problem:
        raise ValueError(problem.message) from None
