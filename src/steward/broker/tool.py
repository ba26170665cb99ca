"""What a tool is: a function with a schema, a risk class, effects, and what makes it safe to undo and repeat."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from steward.broker.roles import Part, PartsReader, Role, values_with
from steward.core import Registry, Services, work
from steward.identity import Role as MemberRole
from steward.runs import Json, Reconciled, Ticket
from steward.store import Scope

SERVICE_FAILED: Final = "service-failed"
SERVICE_REFUSED: Final = "service-refused"


class Risk(StrEnum):
    """What a call can do at worst, from harmless to grave; `at_most` compares by this order."""

    read = "read"
    compute = "compute"
    write = "write"
    external_send = "external_send"
    destructive = "destructive"
    admin = "admin"
    secret = "secret"  # noqa: S105

    @property
    def rank(self) -> int:
        return list(Risk).index(self)

    def at_most(self, other: "Risk") -> bool:
        return self.rank <= other.rank


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused, nothing is converted by guess."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


@dataclass(frozen=True)
class Effects:
    """What a tool touches, for policies and for people."""

    reads: bool = False
    writes: bool = False
    network: bool = False
    spends: bool = False
    hands_out: bool = False
    """Makes a file of data for a person to take along."""


@dataclass(frozen=True)
class Artifact:
    """A file that a call made; its bytes are a blob."""

    name: str
    media_type: str
    digest: str
    size: int


@dataclass(frozen=True)
class Cost:
    """What a call uses up of a budget."""

    usd: Decimal = Decimal(0)
    tokens: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Preview:
    """What a call would do, found out without doing it: shown before anybody approves."""

    summary: str
    details: Json = None
    """Counts, a diff, a page of rows: whatever the tool's card shows."""
    irreversible: str | None = None
    """Why this cannot be taken back; None when it can."""
    payload: Json = None
    """What exactly will be sent or written, when that is more than the arguments."""


@dataclass(frozen=True)
class Failure:
    """Why a call that was made and answered did not succeed, by the word of the service that answered."""

    message: str
    status: int | None = None
    final: bool = False
    """Whether the same call would be refused again."""

    def to_json(self) -> Json:
        code = SERVICE_REFUSED if self.final else SERVICE_FAILED
        return {"code": code, "message": self.message, "status": self.status}


@dataclass(frozen=True)
class Outcome:
    """What a call did."""

    value: Json
    summary: str = ""
    artifacts: tuple[Artifact, ...] = ()
    commits: tuple[str, ...] = ()
    """Commits it made, newest last; undo goes by them."""
    inverse: Json = None
    """What the tool's `undo` needs to take the call back, when no commit does it."""
    sources: tuple[str, ...] = ()
    """Where the value comes from, such as `dataset:orders@ver_…` or `url:https://…`."""
    trusted: bool = True
    """False for text that people outside wrote: rows, files, web pages, messages."""
    cost: Cost = field(default_factory=Cost)
    failure: Failure | None = None


@dataclass(frozen=True)
class Notebook:
    """Where an agent keeps what it remembers between runs."""

    agent: str
    person: str
    """Whose notes they are; empty where all runs of the project share them."""
    keep: int
    """The most notes that it keeps."""


@dataclass(frozen=True)
class ToolContext:
    """For whom and where a call is made."""

    scope: Scope
    run_id: str
    author: str
    branch: str
    services: Services
    """What tools may use: `context.services.use(HTTP)`. Tools open nothing themselves."""
    settings: Mapping[str, Any]
    """What the project allows the tool, such as the addresses it may call."""
    ticket: Ticket | None = None
    """Present when the effect is being committed."""
    approval: Json = None
    """The approval that allowed it, when one was needed."""
    key: str = ""
    """The name of the call in its run's journal, while it is being made."""
    token_role: MemberRole | None = None
    """The most that an API token allows which started the run; None where a person did."""
    direct: bool = False
    """Whether a person makes this call themselves, so that what it reaches is theirs to choose."""
    notebook: Notebook | None = None
    """Of the agent that makes the call, where it has a memory."""

    def report(self, doing: str, done: int = 0, total: int | None = None) -> None:
        """Says how far the call is, for people who follow the run; ends the call when it was cancelled."""
        work.report(doing, done, total)


A = TypeVar("A", bound=Arguments)


Answers = Literal["query", "rows", "schema"]
"""What its value shows: the rows of one query, rows or figures found otherwise, or never a single row."""


@dataclass(frozen=True)
class Tool(Generic[A]):
    name: str
    title: str
    description: str
    arguments: type[A]
    risk: Risk
    run: Callable[[ToolContext, A], Awaitable[Outcome]]
    effects: Effects = Effects()
    dry_run: Callable[[ToolContext, A], Awaitable[Preview]] | None = None
    undo: Callable[[ToolContext, A, Json], Awaitable[Outcome]] | None = None
    """Takes a call back by its `Outcome.inverse`; calls that made commits need none."""
    undo_is_compensation: bool = False
    """True when undoing sends something further instead of making it unhappen."""
    idempotent: bool = False
    reconcile: Callable[[ToolContext, A, Ticket], Awaitable[Reconciled]] | None = None
    timeout: timedelta = timedelta(minutes=10)
    attempts: int = 1
    """How often a read or compute call is tried when something is unavailable."""
    estimate: Callable[[ToolContext, A], Cost] | None = None
    destination: Callable[[A], str | tuple[str, ...]] | None = None
    """Where a call goes, where that is more than the values of its recipients and destinations."""
    acts_as: Callable[[ToolContext, A], tuple[str, ...]] | None = None
    """Names of tools whose work a call does itself: rules about those count for it, too, and the role that they need."""
    role: MemberRole = MemberRole.operator
    """The least that somebody needs to be in a project to change something with it."""
    direct_only: bool = False
    """True for what people do by hand and no flow or agent may: such as reaching into other runs."""
    memory_only: bool = False
    """True for what only an agent with a memory calls. No list offers it, and nobody names it: the memory brings it."""
    beyond_data: bool = False
    """True where a call keeps more than data on the branch of its run, such as a document; one with an `undo` does."""
    gives: Mapping[str, Any] | None = None
    """JSON Schema of the value that it gives, where that is known: a test that makes no call makes a value from it."""
    answers: Answers | None = None
    usual: bool = False
    """Whether planners are shown it first, whatever is asked."""
    pin: Json = None
    """Names the exact version of a tool that a project can change; None for installed tools."""

    def destination_of(self, arguments: A) -> str | None:
        """To whom or where a call goes, for approval cards."""
        return ", ".join(self.places_of(arguments)) or None

    def places_of(self, arguments: A) -> tuple[str, ...]:
        """Every place where a call goes, each by itself: rules are asked about each of them."""
        if self.destination is not None:
            told = self.destination(arguments)
            return (told,) if isinstance(told, str) else told
        named = values_with(self.parts_of(arguments), Role.recipient, Role.destination)
        return tuple(map(str, named))

    def parts_of(self, arguments: A) -> tuple[Part, ...]:
        """The arguments of a call by their roles."""
        return _reader(self.arguments).read(arguments.model_dump(mode="json"))

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments; the caller's to change."""
        found: dict[str, Any] = json.loads(_schema_text(self.arguments))
        return found


@lru_cache(maxsize=1_000)
def _schema_text(arguments: type[Arguments]) -> str:
    # Every plan and every chat looks at all schemas, and making one takes milliseconds.
    return json.dumps(arguments.model_json_schema())


@lru_cache(maxsize=1_000)
def _reader(arguments: type[Arguments]) -> PartsReader:
    return PartsReader(json.loads(_schema_text(arguments)))


TOOLS: Registry[Tool[Any]] = Registry("tool")
add_tool = TOOLS.adding(Tool)
"""Adds a tool; takes what a `Tool` takes."""


def tools_that_answer(*kinds: Answers) -> frozenset[str]:
    """Names of the installed tools whose value shows that."""
    return frozenset(name for name, tool in TOOLS if tool.answers in kinds)
