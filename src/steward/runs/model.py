"""What a run is: its request, its state, and the words for both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from steward.core import Misconfigured
from steward.runs.canonical import Json
from steward.store import Scope


class Status(StrEnum):
    queued = "queued"
    running = "running"
    blocked = "blocked"
    waiting_for_approval = "waiting_for_approval"
    reviewing = "reviewing"
    done = "done"
    failed = "failed"
    cancelled = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in _FINAL


LONGEST_FLOW: Final = 200
_FINAL: Final = frozenset({Status.done, Status.failed, Status.cancelled})


def stored_status(run_id: str, value: str) -> Status:
    """The status as it stands in the database, which something else may have spoilt."""
    try:
        return Status(value)
    except ValueError:
        raise Misconfigured(
            f"The status of {run_id} cannot be read: something else than Steward has written to the database."
            " Restore a backup with `steward restore`.",
            code="database-damaged",
        ) from None


@dataclass(frozen=True)
class RunRequest:
    """What to run, for whom, within which limits; recorded as the first entry of the journal."""

    title: str
    program: str
    """Which interpreter drives it; `flow` for graphs."""
    document: Json
    """What the interpreter reads: the graph, pinned as it was at the start."""
    inputs: Json = field(default_factory=dict)
    grant: Json = field(default_factory=dict)
    """What the run may do at most: tools, highest risk, playbook, branch. The broker reads it."""
    budget: Json = field(default_factory=dict)
    subject: str | None = None
    """What it belongs to, such as a playbook or a thread."""
    queue: str = "cpu"
    priority: int = 0
    max_steps: int = 10_000
    foreign: Sequence[str] = ()
    """Inputs that somebody outside wrote, such as an event: the run takes their word for nothing."""


@dataclass(frozen=True)
class Run:
    """A run as the database has it; the journal holds the rest."""

    id: str
    scope: Scope
    title: str
    program: str
    subject: str | None
    status: Status
    reason: str | None
    queue: str
    priority: int
    control: str | None
    control_by: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    parent_id: str | None
    parent_key: str | None
    root_id: str
    forked_from: str | None
    epoch: int
    holder: str | None
    head_seq: int
    head_hash: str
    progress: dict[str, Any] | None
    waits: list[dict[str, Any]] | None
    lost: int = 0
    """How often in a row it was lost with its worker, without getting any further."""


TESTS: Final = "tests"
"""How the subject of tests and shadow runs ends: they count as no run in figures and alerts, only what they spent does."""


def is_of_tests(flow: str | None) -> bool:
    return flow is not None and flow.endswith(f":{TESTS}")


def flow_name(subject: str | None, program: str) -> str:
    """What figures and budgets of a root run and of all below it are kept for: a playbook, else the program.

    Threads of a chat are one flow, and so are the sessions of programs outside.
    """
    is_flow = subject is not None and not subject.startswith(("thread:", "client:"))
    return (subject if is_flow and subject else program)[:LONGEST_FLOW]


@dataclass(frozen=True)
class Retries:
    """How often a step is tried, and how long one try may take."""

    attempts: int = 1
    first_delay: timedelta = timedelta(seconds=1)
    longest_delay: timedelta = timedelta(seconds=30)
    timeout: timedelta | None = None

    def delay(self, failed: int) -> float:
        """Seconds before the next try after so many failed ones: doubled each time, no dice."""
        doubled = self.first_delay.total_seconds() * float(2 ** (failed - 1))
        return min(doubled, self.longest_delay.total_seconds())


ONCE: Final = Retries()
IMPORTED: Final = "brought in from a capsule"
"""The reason of a run that was driven elsewhere."""


class StepFailed(Exception):
    """A step ended with an error, now or when it was first run; programs may catch it."""

    def __init__(
        self, key: str, code: str, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        """`details` is what the record knows beside code and message: the cause, the places in the input."""
        super().__init__(message)
        self.key = key
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = details or {}

    @classmethod
    def from_json(cls, key: str, error: Mapping[str, Any]) -> "StepFailed":
        details = {name: error[name] for name in ("cause", "problems") if name in error}
        return cls(key, error["code"], error["message"], details)

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, **self.details}


class Suspension(BaseException):
    """Leaves a program without ending its run. Not an Exception: no tool may swallow it."""


class Parked(Suspension):
    """The run waits for something; no process holds the wait."""

    def __init__(self, reason: str = "", request: Json = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.request = request


class Paused(Suspension):
    """Somebody paused the run."""


class Cancelled(Suspension):
    """Somebody cancelled the run."""


class Abandoned(Suspension):
    """The journal cannot be written just now; somebody drives the run again later."""


class Diverged(Suspension):
    """A replay asked for something that the journal does not hold."""

    def __init__(self, key: str, asked: Json, recorded: Json | None) -> None:
        super().__init__(key)
        self.key = key
        self.asked = asked
        self.recorded = recorded
