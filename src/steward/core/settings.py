"""The one settings tree, and the only place that reads the environment.

Values come from `STEWARD_*` variables (`__` between levels, as in `STEWARD_HTTP__PORT`), then from
`steward.toml` in the home folder, then from the defaults below.
"""

import os
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from tomllib import TOMLDecodeError
from types import UnionType
from typing import Annotated, Any, Literal, Self, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from steward.core.errors import Misconfigured

CONFIG_FILE = "steward.toml"
PREFIX = "STEWARD_"
# Kubernetes announces a service called "steward" to every pod by variables of these forms.
_FROM_KUBERNETES = re.compile(
    r"STEWARD(_[A-Z0-9]+)*_(SERVICE_(HOST|PORT(_[A-Z0-9]+)*)|PORT(_\d+_(TCP|UDP)(_[A-Z]+)?)?)"
)


class _Section(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class HttpSettings(_Section):
    host: str = Field(
        "127.0.0.1",
        description="Address to listen on. Anything but loopback needs a user with a password.",
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8400, description="Port to listen on; 0 picks a free one."
    )
    public_url: str | None = Field(
        None,
        description="Address people use, when a proxy stands in front; links and cookie security follow it.",
    )
    trusted_proxies: list[str] = Field(
        [],
        description="Addresses, or networks such as `172.28.84.0/24`, whose X-Forwarded-For header is believed.",
    )
    max_body_bytes: int = Field(
        2_000_000,
        gt=0,
        description="Largest body of an ordinary request; uploads have their own limit.",
    )
    max_upload_request_bytes: int = Field(
        100_000_000,
        gt=0,
        description="Largest part of an upload sent in one request; larger files come in several.",
    )
    header_seconds: float = Field(
        15, gt=0, description="Seconds within which the headers of a request arrive."
    )
    body_seconds: float = Field(
        10,
        gt=0,
        description="Seconds within which each kilobyte of a body arrives; else the request is refused.",
    )
    streams_per_person: int = Field(
        20, gt=0, description="Event streams that one person may follow at a time on one server."
    )
    requests_per_minute: int = Field(
        1200,
        gt=0,
        description="Sustained requests a minute of one principal, or of one address when signed out.",
    )
    request_burst: int = Field(
        240, gt=0, description="Requests that may come at once before the sustained rate applies."
    )

    push_hosts: list[str] = Field(
        [
            "fcm.googleapis.com",
            "updates.push.services.mozilla.com",
            "*.push.apple.com",
            "*.notify.windows.com",
        ],
        description="Push services of browsers that may be asked to notify people's devices; `[]` switches this off.",
    )

    @property
    def address(self) -> str:
        """How the addresses begin that people are given at the terminal."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, proxies: list[str]) -> list[str]:
        for each in proxies:
            ip_network(each, strict=False)
        return proxies


def _holds_no_password(address: str) -> str:
    """Addresses are shown in errors and findings."""
    if urlsplit(address).password is not None:
        raise ValueError("an address holds no password; there are settings for keys")
    return address


_Address = Annotated[str, AfterValidator(_holds_no_password)]


class DatabaseSettings(_Section):
    url: SecretStr | None = Field(
        None, description="`postgresql://…` for PostgreSQL; unset: SQLite in the home folder."
    )
    pool_size: int = Field(
        10, gt=0, description="Open connections for reading (SQLite) or altogether (PostgreSQL)."
    )


class BlobSettings(_Section):
    url: str | None = Field(
        None,
        description="`s3://bucket/prefix` for S3-compatible storage; unset: files in the home folder.",
    )
    endpoint: _Address | None = Field(
        None, description="Address of an S3-compatible server that is not AWS."
    )
    region: str = Field("us-east-1", description="S3 region.")
    access_key_id: SecretStr | None = Field(
        None, description="S3 access key; unset: the machine's own credentials."
    )
    secret_access_key: SecretStr | None = Field(None, description="S3 secret key.")
    create_bucket: bool = Field(
        False, description="Create the bucket at start if it does not exist."
    )


class IdentitySettings(_Section):
    first_owner: str = Field(
        "owner@localhost",
        max_length=200,
        description="E-mail address of the first user, who is created at the first start.",
    )
    first_password: SecretStr | None = Field(
        None,
        description="Password of the first user. Read once, when that user is created; unset: none.",
    )
    session_lifetime: timedelta = Field(
        timedelta(days=14), description="How long a browser stays signed in without being used."
    )
    sign_in_link_lifetime: timedelta = Field(
        timedelta(hours=1), description="How long a printed sign-in link can be used, once."
    )
    sign_in_attempts: int = Field(
        10,
        gt=0,
        description="Failed sign-ins for one account, or five times as many from one address, before a pause.",
    )
    sign_in_window: timedelta = Field(
        timedelta(minutes=15), description="Window in which failed sign-ins are counted."
    )
    token_max_days: int = Field(366, gt=0, description="Longest lifetime of a personal API token.")
    link_max_lifetime: timedelta = Field(
        timedelta(days=7),
        ge=timedelta(0),
        description="How long a link for a file to fetch or to send may be valid at most; 0: no links.",
    )


class SignOnRule(_Section):
    """Who gets which role: people whose claim has this value."""

    claim: str = Field(min_length=1, max_length=100, description="Name of the claim.")
    value: str = Field(min_length=1, max_length=200, description="The value it must have.")
    project: str = Field(min_length=1, max_length=100, description="Id or name of the project.")
    role: Literal["runner", "viewer", "operator", "editor", "admin", "owner"] = Field(
        description="The role in that project."
    )


class SignOnProvider(_Section):
    """One OpenID provider that people sign in with."""

    name: str = Field(min_length=1, max_length=100, description="Shown on the sign-in page.")
    issuer: str = Field(max_length=500, description="The provider's issuer address.")
    client_id: str = Field(min_length=1, max_length=200, description="Steward's id there.")
    client_secret: SecretStr | None = Field(None, description="Steward's secret there.")
    client_secret_variable: str | None = Field(
        None, description="Name of the environment variable that holds the secret."
    )
    scopes: list[str] = Field(["openid", "profile", "email"], description="Scopes to ask for.")
    rules: list[SignOnRule] = Field([], description="Which claims give which roles.")
    just_in_time: bool = Field(
        True, description="Whether rules may create accounts; off: by invitation only."
    )
    join_verified_email: bool = Field(
        False, description="Whether a verified address may join an account that exists."
    )
    session_hours: int = Field(
        24, ge=1, le=720, description="Hours after which people sign in again."
    )


class SignOnSettings(_Section):
    providers: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")], SignOnProvider] = (
        Field(
            {},
            description="OpenID providers by a short name, which is part of their redirect address; "
            "others are added on the page Single sign-on.",
        )
    )


class AuditStream(_Section):
    """Where the event log of all projects is sent as it grows."""

    url: str = Field(
        max_length=500,
        description="`https://…` for a webhook, `syslog+tls://host:6514` or `syslog://host:601` for syslog.",
    )
    format: Literal["jsonl", "cef"] = Field(
        "jsonl", description="CloudEvents as JSON lines, or CEF."
    )
    secret: SecretStr | None = Field(
        None,
        description="Signs webhooks (Standard Webhooks): `whsec_` and base64 of 24 to 64 bytes.",
    )


class AuditSettings(_Section):
    streams: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")], AuditStream] = Field(
        {}, description="Places that get every event, by a short name."
    )


class LogSettings(_Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe level that is written."
    )
    format: Literal["auto", "json", "text"] = Field(
        "auto", description="`json` for machines, `text` for people; `auto`: text on a terminal."
    )


class MetricsSettings(_Section):
    token: SecretStr | None = Field(
        None, description="Bearer token for /metrics from other machines; unset: loopback only."
    )


class TraceSettings(_Section):
    otlp_endpoint: _Address | None = Field(
        None,
        description="Where finished runs are sent as OpenTelemetry traces, such as "
        "http://127.0.0.1:4318/v1/traces; MLflow, Phoenix and others take the same. Unset: nowhere.",
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="Headers for the collector, such as a key."
    )
    service: str = Field("steward", description="The service's name in traces.")
    tell_services: bool = Field(
        False,
        description="Whether calls of services carry `traceparent`, so that spans of these services can be joined to the trace.",
    )
    content: bool = Field(
        False,
        description="Whether prompts, arguments and results go along; off: names and numbers.",
    )


class NetworkSettings(_Section):
    allow_private: list[str] = Field(
        [],
        description="Hosts or addresses on private networks that tools may reach, as in `10.0.0.5`.",
    )


class ConnectionsSettings(_Section):
    discovery: bool = Field(
        True,
        description="Look at start-up for connections that are configured on this machine already, and propose them.",
    )
    file_folders: list[str] = Field(
        [], description="Folders whose SQLite and DuckDB files connections may read; none at first."
    )


class SandboxSettings(_Section):
    provider: str = Field(
        "embedded",
        description="Where SQL and code of agents and people run: `embedded`, `docker`, `kubernetes`, `microsandbox`, "
        "or a provider of an installed package.",
    )
    minimum: Literal["ns", "lsm", "container", "none"] = Field(
        "lsm",
        description="The weakest walls accepted; below them no code is run. `steward doctor` tells them.",
    )
    concurrency: int = Field(
        4,
        gt=0,
        le=64,
        description="Executions at a time; people who have none running get up to as many beside them.",
    )
    ready: int = Field(3, ge=1, le=32, description="Confined processes kept ready.")
    image: str = Field(
        "steward-runner",
        description="The runner's image, for all providers but `embedded`; `deploy/sandbox/image.py` builds it.",
    )
    start: timedelta = Field(
        timedelta(minutes=2),
        gt=timedelta(0),
        description="Longest time for a container, pod or machine to start, beside the time the code has.",
    )
    docker: str = Field("docker", description="The program that speaks to the container engine.")
    namespace: str = Field(
        "steward-sandbox", description="The Kubernetes namespace in which code runs."
    )
    claim: str | None = Field(
        None, description="The Kubernetes volume claim that holds Steward's home folder."
    )
    runtime_class: str | None = Field(
        None, description="The Kubernetes runtime class of the pods, such as `gvisor`."
    )


class RunsSettings(_Section):
    in_server: bool = Field(
        True,
        description="Drive runs inside the server; off where `steward worker` processes do it.",
    )
    concurrency: int = Field(
        64,
        gt=0,
        le=1000,
        description="Runs one process drives at a time; people who have none under way get up to as many beside them.",
    )
    lease: timedelta = Field(
        timedelta(seconds=6),
        description="How long a run stays with a worker that gives no sign of life.",
    )
    most_lost: int = Field(
        3,
        ge=2,
        description="How often a run may be lost with its worker, without getting any further, before it is set aside.",
    )
    nats_url: SecretStr | None = Field(
        None,
        description="`nats://…` to ring workers through NATS JetStream; unset: through PostgreSQL.",
    )


class ModelChoice(_Section):
    """One model: where it is served, under which name, and what it may see."""

    provider: str = Field(
        description="Who serves the model: `openai`, `anthropic`, `google`, `azure`, `bedrock`, `ollama`, `compatible` (any "
        "server that speaks OpenAI's protocol), `local` (one that Steward runs itself), or a provider of an installed package."
    )
    name: Annotated[str, Field(min_length=1)] = Field(
        description="The model's name at its provider; at Azure the name of the deployment."
    )
    base_url: str | None = Field(
        None, description="Address of the server, up to `/v1`; needed for `compatible` and `azure`."
    )
    api: Literal["chat", "responses"] = Field(
        "chat", description="Which of OpenAI's two protocols the server speaks."
    )
    api_key: SecretStr | None = Field(None, description="The provider's key.")
    api_key_secret: str | None = Field(
        None, description="Name of the project's secret that holds the key."
    )
    api_key_variable: str | None = Field(
        None, description="Name of the environment variable that holds the key."
    )
    region: str | None = Field(None, description="Region of Bedrock.")
    api_version: str | None = Field(
        None, description="Version of Azure's protocol, if it asks for one."
    )
    allow_rows: bool = Field(
        True,
        description="Whether rows of data may be sent to it; off: schemas and statistics alone.",
    )
    stream: bool = Field(
        True, description="Whether answers come word by word; off for servers that cannot do that."
    )
    planning: Literal["auto", "stages", "whole"] = Field(
        "auto",
        description="How it is asked for plans: in short `stages`, as small models need it, or the `whole` at once; "
        "`auto`: by what its server tells about its size.",
    )
    timeout: timedelta = Field(
        timedelta(minutes=5), gt=timedelta(0), description="Longest time for one answer."
    )
    stall: timedelta = Field(
        timedelta(minutes=2),
        gt=timedelta(0),
        description="Longest silence, before the first word and between words.",
    )
    attempts: int = Field(
        4, gt=0, le=10, description="Tries before the next model in line is asked, or none."
    )
    longest_wait: timedelta = Field(
        timedelta(seconds=30), description="Longest pause between two tries."
    )
    fallbacks: "list[ModelChoice]" = Field([], description="Models to ask in turn when it fails.")

    @model_validator(mode="after")
    def _complete(self) -> "ModelChoice":
        keys = (self.api_key, self.api_key_secret, self.api_key_variable)
        if sum(key is not None for key in keys) > 1:
            raise ValueError("give one of api_key, api_key_secret and api_key_variable")
        return self


class ModelPrice(_Section):
    """US dollars for a million tokens."""

    input: Annotated[Decimal, Field(ge=0)]
    output: Annotated[Decimal, Field(ge=0)]
    cache_read: Annotated[Decimal, Field(ge=0)] | None = None
    cache_write: Annotated[Decimal, Field(ge=0)] | None = None


class ModelsSettings(_Section):
    default: ModelChoice | None = Field(
        None, description="The model for everything; unset: Steward works without one."
    )
    planner: ModelChoice | None = Field(
        None, description="The model that plans, with the same names as the default."
    )
    operator: ModelChoice | None = Field(None, description="The model that works off the steps.")
    explainer: ModelChoice | None = Field(
        None, description="The model that says what was done, and why."
    )
    prices: dict[str, ModelPrice] = Field(
        {},
        description="Dollars per million tokens by model name, over those that come with Steward.",
    )


class ObserveSettings(_Section):
    alert_interval: timedelta = Field(
        timedelta(seconds=30),
        gt=timedelta(0),
        description="How often the alert rules of a project are checked.",
    )
    alert_history: timedelta = Field(
        timedelta(days=90),
        gt=timedelta(0),
        description="How long alerts are kept after they resolved.",
    )
    trace_history: timedelta = Field(
        timedelta(days=30),
        gt=timedelta(0),
        description="How long stored traces of long runs are kept. Later they are made again from the journal when someone opens them.",
    )
    received_spans: timedelta = Field(
        timedelta(days=30),
        gt=timedelta(0),
        description="How long spans are kept that other programs sent.",
    )
    minute_figures: timedelta = Field(
        timedelta(days=2),
        ge=timedelta(hours=1),
        description="How long figures are kept by the minute.",
    )
    hour_figures: timedelta = Field(
        timedelta(days=92),
        ge=timedelta(days=63),
        description="How long figures are kept by the hour. Figures by the day are kept for good.",
    )


class _SecretSource(_Section):
    projects: list[str] = []
    """Ids of the projects that may use it; empty: all."""


def _has_known_names(path: str) -> str:
    try:
        path.format(organisation="", project="")
    except (KeyError, IndexError, ValueError, AttributeError):
        raise ValueError("only {organisation} and {project} stand for something") from None
    return path


_Path = Annotated[str, AfterValidator(_has_known_names)]


class EnvironmentSource(_SecretSource):
    """Variables of the process."""

    kind: Literal["environment"]
    prefix: Annotated[str, Field(min_length=1, max_length=100)]
    """How the names of variables begin that may be read. Steward's own settings may not."""

    @field_validator("prefix")
    @classmethod
    def _is_not_ours(cls, prefix: str) -> str:
        if prefix.startswith(PREFIX) or PREFIX.startswith(prefix):
            raise ValueError(f"variables that begin with {PREFIX} are the settings themselves")
        return prefix


class FilesSource(_SecretSource):
    """Files of a folder, as Docker and Kubernetes mount them."""

    kind: Literal["files"]
    folder: Path


class VaultSource(_SecretSource):
    """The key-value engine, version 2, of a HashiCorp Vault or OpenBao server."""

    kind: Literal["vault"]
    address: Annotated[_Address, Field(pattern=r"^https?://")]
    namespace: str | None = None
    mount: str = "secret"
    path: _Path = "steward/{project}"
    """What paths begin with; `{organisation}` and `{project}` stand for their ids."""
    login: Literal["token", "approle", "kubernetes"] = "token"
    role: str = ""
    """The role id of AppRole, or the role of Kubernetes."""
    credential: SecretStr | None = None
    """The token, or the secret id of AppRole; unset: what the file holds."""
    credential_file: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
    certificate: Path | None = None
    """Authority that signed the server's certificate; unset: those that the machine trusts."""


class _Cloud(_SecretSource):
    credential: SecretStr | None = None
    credential_file: Path | None = None

    @model_validator(mode="after")
    def _has_a_credential(self) -> Self:
        if (self.credential is None) == (self.credential_file is None):
            raise ValueError("set either credential or credential_file")
        return self


class AwsSource(_Cloud):
    """AWS Secrets Manager; the credential is the secret access key."""

    kind: Literal["aws"]
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]
    access_key_id: Annotated[str, Field(min_length=1, max_length=200)]
    address: Annotated[_Address, Field(pattern=r"^https?://")] | None = None
    """Unset: that of AWS for the region."""
    path: _Path = "steward/{project}/"
    """How the names of secrets begin."""


class GcpSource(_Cloud):
    """Google Cloud Secret Manager; the credential is the JSON key file of a service account."""

    kind: Literal["gcp"]
    address: Annotated[_Address, Field(pattern=r"^https?://")] = (
        "https://secretmanager.googleapis.com"
    )
    path: _Path
    """How the names of secrets begin, such as projects/acme/secrets/steward-{project}-."""


CloudSource = AwsSource | GcpSource
SecretSourceSettings = EnvironmentSource | FilesSource | VaultSource | AwsSource | GcpSource


class SecretsSettings(_Section):
    sources: dict[
        Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")],
        Annotated[SecretSourceSettings, Field(discriminator="kind")],
    ] = Field(
        {},
        description="Where secrets may live outside of Steward, by name: `environment`, `files`, `vault`, `aws` or `gcp`. See the guide on secrets.",
    )


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        defer_build=True,
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        # `STEWARD_DATABASE__URL=` in a compose file means "unset", not an empty address.
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    home: Path = Field(
        Path(".steward"), description="Folder that holds the database, blobs, keys and logs."
    )
    demo: bool = Field(
        True, description="Create the demo project with sample data in an empty installation."
    )
    http: HttpSettings = HttpSettings()
    database: DatabaseSettings = DatabaseSettings()
    blobs: BlobSettings = BlobSettings()
    runs: RunsSettings = RunsSettings()
    network: NetworkSettings = NetworkSettings()
    connections: ConnectionsSettings = ConnectionsSettings()
    sandbox: SandboxSettings = SandboxSettings()
    models: ModelsSettings = ModelsSettings()
    identity: IdentitySettings = IdentitySettings()
    sign_on: SignOnSettings = SignOnSettings()
    audit: AuditSettings = AuditSettings()
    secrets: SecretsSettings = SecretsSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    trace: TraceSettings = TraceSettings()
    observe: ObserveSettings = ObserveSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        home = Path(init_settings().get("home") or env_settings().get("home") or ".steward")
        toml = TomlConfigSettingsSource(settings_cls, toml_file=home / CONFIG_FILE)
        if "home" in toml():
            raise Misconfigured(
                f"{home / CONFIG_FILE} lies in the home folder and cannot set home."
            )
        return init_settings, env_settings, toml


def load_settings(**overrides: Any) -> Settings:
    """Reads the settings; a wrong value or name is reported by its name, never by a stack trace."""
    _refuse_unknown_variables()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}: "
            + ("no such setting" if item["type"] == "extra_forbidden" else item["msg"])
            for item in error.errors(include_input=False, include_url=False)
        )
    except SettingsError as error:
        wrong = f"{error}; lists and whole sections are written as JSON"
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        wrong = f"{CONFIG_FILE} cannot be read: {error}"
    raise Misconfigured(
        f"Some settings are not valid (variables are named STEWARD_<SECTION>__<NAME>): {wrong}"
    )


def _refuse_unknown_variables() -> None:
    known = {variable for variable, _ in _variables()} | {
        f"{PREFIX}{name}".upper() for name in Settings.model_fields
    }
    for given in sorted(os.environ):
        name = given.upper()
        # Inside a section the section itself refuses what it does not know.
        in_section = any(name.startswith(f"{section}__") for section in known)
        if not name.startswith(PREFIX) or name in known or in_section:
            continue
        if _FROM_KUBERNETES.fullmatch(name):
            continue
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "The settings reference lists them all."
        raise Misconfigured(f"{given} is not a setting of Steward. {hint}")


def settings_reference() -> str:
    """The settings as a page of documentation, made from the tree above."""
    lines = [
        "# Settings",
        "",
        "Made from the code by `make fmt`. A setting comes from its environment variable, else from",
        f"`{CONFIG_FILE}` in the home folder (`home` itself from the variable alone), else from its default.",
        "",
        "| variable | default | meaning |",
        "|---|---|---|",
    ]
    lines += [_reference_row(variable, field) for variable, field in _variables()]
    return "\n".join(lines) + "\n"


def _variables() -> Iterator[tuple[str, FieldInfo]]:
    yield from _variables_of(Settings, PREFIX, set())


def _variables_of(
    tree: type[BaseModel], prefix: str, listed: set[type]
) -> Iterator[tuple[str, FieldInfo]]:
    """Every variable of a section; a section used several times is spelt out where it comes first."""
    for name, field in tree.model_fields.items():
        variable = f"{prefix}{name}".upper()
        section = _section_in(field.annotation)
        if section is None or get_origin(field.annotation) is not None:
            yield variable, field
        if section is not None and section not in listed:
            listed.add(section)
            yield from _variables_of(section, f"{variable}__", listed)


def _section_in(annotation: object) -> type[_Section] | None:
    """The section that a setting is, or may be."""
    for kind in (
        annotation,
        *(get_args(annotation) if get_origin(annotation) is UnionType else ()),
    ):
        if isinstance(kind, type) and issubclass(kind, _Section):
            return kind
    return None


def _reference_row(variable: str, field: FieldInfo) -> str:
    default = field.default
    shown = "unset" if default is None or default in ([], {}) else f"`{default}`"
    if field.is_required():
        shown = "needed"
    return f"| `{variable}` | {shown} | {field.description} |"


def minimal_environment() -> dict[str, str]:
    """What a child process may inherit: enough to find programs and write text, and no secrets."""
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ}


def secret_from_environment(variable: str) -> SecretStr | None:
    """The value of a variable that a setting names, such as a provider's own `OPENAI_API_KEY`."""
    value = os.environ.get(variable)
    return SecretStr(value) if value else None


def discoverable_environment() -> dict[str, str]:
    """Variables by which other programs of this machine know databases, storage, Slack and models."""
    exact = {"DATABASE_URL", "OLLAMA_HOST", "S3_BUCKET"}
    begins = ("PG", "AWS_", "SLACK_", "OPENAI_", "ANTHROPIC_")
    return {
        name: value
        for name, value in os.environ.items()
        if value and (name in exact or name.startswith(begins))
    }


def folder_of_this_user() -> Path | None:
    """The home folder of whoever runs Steward, where other programs keep their configuration."""
    try:
        return Path.home()
    except RuntimeError:
        return None
