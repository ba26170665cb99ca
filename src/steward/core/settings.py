"""The one settings tree, and the only place that reads the environment.

Values come from `STEWARD_*` variables (`__` between levels, as in `STEWARD_HTTP__PORT`), then from
`steward.toml` in the home folder, then from the defaults below.
"""

import os
import re
from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
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
    model_config = ConfigDict(extra="forbid", frozen=True)


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
        [], description="Addresses whose X-Forwarded-For header is believed."
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
    requests_per_minute: int = Field(
        1200,
        gt=0,
        description="Sustained requests a minute of one principal, or of one address when signed out.",
    )
    request_burst: int = Field(
        240, gt=0, description="Requests that may come at once before the sustained rate applies."
    )


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
    endpoint: str | None = Field(
        None, description="Address of an S3-compatible server that is not AWS."
    )
    region: str = Field("us-east-1", description="S3 region.")
    access_key_id: SecretStr | None = Field(
        None, description="S3 access key; unset: the machine's own credentials."
    )
    secret_access_key: SecretStr | None = Field(None, description="S3 secret key.")


class IdentitySettings(_Section):
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


class NetworkSettings(_Section):
    allow_private: list[str] = Field(
        [],
        description="Hosts or addresses on private networks that tools may reach, as in `10.0.0.5`.",
    )


class SandboxSettings(_Section):
    provider: Literal["embedded", "docker"] = Field(
        "embedded", description="Where SQL and code of agents and people run."
    )
    minimum: Literal["ns", "lsm", "none"] = Field(
        "lsm",
        description="The weakest walls accepted; below them no code is run. `steward doctor` tells them.",
    )
    concurrency: int = Field(4, gt=0, le=64, description="Executions at a time.")
    ready: int = Field(2, ge=1, le=32, description="Confined processes kept ready.")


class RunsSettings(_Section):
    in_server: bool = Field(
        True,
        description="Drive runs inside the server; off where `steward worker` processes do it.",
    )
    concurrency: int = Field(16, gt=0, le=1000, description="Runs one process drives at a time.")
    lease: timedelta = Field(
        timedelta(seconds=6),
        description="How long a run stays with a worker that gives no sign of life.",
    )
    nats_url: SecretStr | None = Field(
        None,
        description="`nats://…` to ring workers through NATS JetStream; unset: through PostgreSQL.",
    )


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
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
    sandbox: SandboxSettings = SandboxSettings()
    identity: IdentitySettings = IdentitySettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()

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
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, _Section):
            for inner, detail in section.model_fields.items():
                yield f"{PREFIX}{name}__{inner}".upper(), detail
        else:
            yield f"{PREFIX}{name}".upper(), field


def _reference_row(variable: str, field: FieldInfo) -> str:
    default = field.default
    shown = "unset" if default is None or default == [] else f"`{default}`"
    return f"| `{variable}` | {shown} | {field.description} |"


def minimal_environment() -> dict[str, str]:
    """What a child process may inherit: enough to find programs and write text, and no secrets."""
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ}
