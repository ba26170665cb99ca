"""What a kind of connection is: its settings, the secrets it needs, and how to find out whether it works."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from steward.connections.folders import Folders
from steward.connections.http import Http
from steward.connections.mail import Mailer
from steward.core import Registry

if TYPE_CHECKING:
    from steward.connections.catalogue.sign_in import ServiceLine
    from steward.connections.mcp.sign_in import Line

Use = Literal[
    "database", "bucket", "mail", "mailbox", "slack", "http", "mcp", "service", "sftp", "kafka"
]
"""What tools can do with a connection; a tool asks for one of these."""


class ConnectorSettings(BaseModel):
    """Base of the settings of a kind: its JSON Schema is the form, unknown names are refused."""

    model_config = ConfigDict(
        defer_build=True, extra="forbid", frozen=True, str_strip_whitespace=True
    )


@dataclass(frozen=True)
class SecretField:
    """A value that is kept as a secret of the project; the connection knows its name alone."""

    name: str
    title: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True)
class DatabasePlace:
    """Where rows are: a server by its URL, or a file; the URL may hold a password."""

    url: str | None = field(default=None, repr=False)
    file: Path | None = None


class Databases(Protocol):
    """Databases as another room reads them; whoever wires the rooms gives this."""

    def version(self, place: DatabasePlace) -> str:
        """What the database says it is, after a real connection."""


@dataclass(frozen=True)
class Surroundings:
    """What a connector may use to reach out; it opens nothing by itself."""

    http: Http
    mail: Mailer
    folders: Folders
    databases: Databases
    line: "Line | None" = None
    """The sign-in of the connection that is checked, for MCP servers that are signed in to."""
    service_line: "ServiceLine | None" = None
    """The same for other servers."""


S = TypeVar("S", bound=ConnectorSettings)
Secrets = Mapping[str, str]
"""Values by the names of the connector's secret fields."""


@dataclass(frozen=True)
class Connector(Generic[S]):
    kind: str
    title: str
    description: str
    use: Use
    settings: type[S]
    check: Callable[[Surroundings, S, Secrets], Awaitable[str]]
    """Really connects and says in plain words what was found; raises one of our errors if it does not work."""
    place: Callable[[S], str]
    """Where it leads, for lists and labels: no secrets."""
    secrets: tuple[SecretField, ...] = ()
    extra_secrets: str = ""
    """A pattern of further names of secrets, where a kind has any number of them."""
    database: Callable[[Surroundings, S, Secrets], DatabasePlace] | None = None
    """Where the rows are, for databases."""
    time: timedelta = timedelta(seconds=20)
    """Longest time for a check."""
    command: Callable[[S], tuple[str, ...] | None] = field(default=lambda _settings: None)
    """The program that a connection would start on this machine, if it does."""

    def schema(self) -> dict[str, Any]:
        return self.settings.model_json_schema()


CONNECTORS: Registry[Connector[Any]] = Registry("connector")
add_connector = CONNECTORS.adding(Connector, "kind")
"""Adds a kind of connection; takes what a `Connector` takes."""


@cache
def load_connectors() -> Registry[Connector[Any]]:
    """All kinds: the built-in ones and those of installed packages."""
    CONNECTORS.load_package("steward.connections.types")
    CONNECTORS.load_entry_points()
    return CONNECTORS
