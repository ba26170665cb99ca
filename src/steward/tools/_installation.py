"""What tools and triggers may use of the installation: they open nothing themselves. Tools add keys of their own."""

from collections.abc import Callable
from typing import Final

from steward.broker import TakingBack, Undoing
from steward.connections import Desk, Folders, Http, Mailer, NetworkPolicies
from steward.core import Clock, Service
from steward.definitions import DefinitionStore
from steward.identity import Links, Role
from steward.models.local import LocalServers
from steward.runs import Runs
from steward.sandbox import Sandbox
from steward.store import BlobStore, Bus, EventLog, Scope, SecretStore
from steward.workbench import Workbench

BLOBS: Final = Service[BlobStore]("blobs", "Keeping and reading files")
BUS: Final = Service[Bus]("bus", "Hearing of events")
CLOCK: Final = Service[Clock]("clock", "Telling the time")
CONNECTIONS: Final = Service[Desk]("connections", "Using a connection")
DEFINITIONS: Final = Service[DefinitionStore]("definitions", "Changing definitions")
EVENTS: Final = Service[EventLog]("events", "Reading the event log")
FOLDERS: Final = Service[Folders]("folders", "Watching a folder")
HTTP: Final = Service[Http]("http", "A request to the web")
KEEPS_MACHINE: Final = Service[Callable[[Scope, str], bool]](
    "keeps_machine", "Changing what belongs to the whole installation"
)
"""Whether somebody is an owner of the organisation that runs this installation."""
LINKS: Final = Service[Links]("links", "Links for people without an account")
LOCAL_MODELS: Final = Service[LocalServers]("local_models", "Fetching a model")
NETWORK: Final = Service[NetworkPolicies]("network", "The network policy")
MAIL: Final = Service[Mailer]("mail", "Sending mail")
NAME_OF: Final = Service[Callable[[str], str]]("name_of", "Naming people")
"""What the person with this id is called; NotFound where they have left."""
ROLE_OF: Final = Service[Callable[[Scope, str], Role | None]]("role_of", "Checking a role")
"""The role of somebody in a project."""
RUNS: Final = Service[Runs]("runs", "Reading runs")
SANDBOX: Final = Service[Sandbox]("sandbox", "Running code of agents and people")
SECRETS: Final = Service[SecretStore]("secrets", "Using a secret")
TAKING_BACK: Final = Service[TakingBack]("taking_back", "Undo")
UNDOING: Final = Service[Undoing]("undoing", "Undo")
WORKBENCH: Final = Service[Workbench]("workbench", "Working with data")
