"""What a trigger is: the part of a playbook that says what starts it.

A trigger type is one file in `playbooks/triggers/` with a subclass of Trigger that is added to TRIGGERS. One that has
to look or to listen brings a Source. `steward.testing.triggers` has the contract that every one keeps.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from steward.core import Clock, NotFound, Problem, Registry, Services
from steward.flows import ExpressionError, expressions_in
from steward.playbooks.delivery import Delivery
from steward.runs import Json
from steward.store import Scope
from steward.tools import RUNS
from steward.versions import MAIN

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
MOMENT: Final = "scheduled_at"
"""The input in which a schedule says for which moment it starts a run."""
EVENT: Final = "event"
"""The input in which a run finds the event that started it."""
EVENTS: Final = "events"
"""The same for those of a batch."""


@dataclass(frozen=True)
class Arrival:
    """An event as a source found it, before it is stored."""

    data: Json
    key: str | None = None
    """What its sender calls it; two arrivals with the same key are the same event."""
    facts: Mapping[str, Json] = field(default_factory=dict)
    """What else is known about it, such as headers; stands beside `data` in the event."""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Inputs of the run that Steward itself sets, such as the moment of a schedule."""
    held: str | None = None
    """Why a person decides first whether it runs."""


@dataclass(frozen=True)
class Taken:
    """What a source found at one look."""

    arrivals: tuple[Arrival, ...] = ()
    cursor: Json = None
    """Where the next look begins; written together with the arrivals, never before them."""
    again_at: datetime | None = None
    """When to look next; unset: at once."""
    receipt: Any = None
    """What `settle` needs."""


@dataclass(frozen=True)
class Looking:
    """What a source may use: whose it is, and the services of the installation by name."""

    scope: Scope
    subscription_id: str
    playbook_id: str
    author: str
    """Who deployed it, and answers for what it starts."""
    due_at: datetime
    """The moment for which it looks."""
    clock: Clock
    services: Services = field(repr=False)
    patience: float = 0.0
    """Seconds that one that listens may wait for an event."""

    def is_own_run(self, run_id: str | None) -> bool:
        """Whether the playbook itself ran there, or something that it called."""
        runs = self.services.use(RUNS)
        while run_id is not None:
            try:
                run = runs.get(self.scope, run_id)
            except NotFound:
                return False
            if (run.subject or "").endswith(f":{self.playbook_id}"):
                return True
            run_id = run.parent_id
        return False


class Source(ABC):
    """Looks for events of one trigger. One process at a time holds it, by a lease."""

    @abstractmethod
    async def take(self, cursor: Json) -> Taken:
        """What is there now; one that listens may wait some seconds for it. Raises a StewardError with the reason."""

    async def settle(self, taken: Taken) -> None:  # noqa: B027 - many have nobody to acknowledge to
        """Called when everything taken is on disk: acknowledges it to where it came from."""

    async def close(self) -> None:  # noqa: B027
        """Lets go of connections."""


class Trigger(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    title: ClassVar[str] = ""
    """What an editor calls it; nothing: its type."""
    starter: ClassVar[Mapping[str, Any]] = {}
    """Fields of a new one, as an editor adds it."""
    trusted: ClassVar[bool] = False
    """Whether its events are Steward's own; of all others the runs treat what they read as a stranger's."""
    has_rhythm: ClassVar[bool] = True
    """Whether silence can mean that something is wrong."""
    is_subscribed: ClassVar[bool] = True
    """Whether anything has to be kept about it while it is deployed."""

    type: str
    name: Name = "start"
    inputs: dict[str, Any] = Field(
        {}, description="What the playbook is given; ${event.data.…} takes it from the event."
    )
    delivery: Delivery = Delivery()

    def problems(self, now: datetime) -> Iterator[Problem]:  # noqa: ARG002
        """What is wrong with it, by JSON pointer within the trigger."""
        for problem in self.delivery.problems():
            yield Problem(f"/delivery{problem.pointer}", problem.message)
        variable = "event" if self.delivery.batch is None else "events"
        for pointer, text in expressions_in(self.inputs, "/inputs"):
            if isinstance(text, ExpressionError):
                yield Problem(pointer, str(text))
                continue
            roots = {path.root for _, each in text.expressions for path in each.paths}
            if roots - {variable}:
                said = f"there is no {min(roots - {variable})!r} here; use {variable}"
                yield Problem(pointer, said)

    def place(self) -> Json:
        """What a cursor belongs to: with another place, a trigger begins anew."""
        left_out = {"name", "inputs", "delivery"}
        return {key: value for key, value in self.to_json().items() if key not in left_out}

    def first_look(self, now: datetime) -> datetime | None:  # noqa: ARG002
        """When to look first after it was deployed; None: events come by themselves."""
        return None

    def source(self, looking: Looking) -> Source | None:  # noqa: ARG002
        """Looks for events; None: they come by themselves."""
        return None

    def left_behind(self) -> str | None:
        """What stays at the place it watched once nobody looks any more, and what to do about it; None: nothing."""
        return None

    def works_on(self) -> str:
        """The branch of the data that its runs work on."""
        return MAIN

    def details(self) -> dict[str, Any]:
        """What people see of it in a list."""
        return {}

    def next_moments(self, now: datetime, count: int) -> list[datetime]:  # noqa: ARG002
        """When it starts next, where that is known."""
        return []

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True) | {"type": self.type}


TRIGGERS: Registry[type[Trigger]] = Registry("trigger")
"""The triggers that Steward brings along, one file each."""


def read_trigger(document: Mapping[str, Any]) -> Trigger:
    """A trigger as `to_json` wrote it."""
    return TRIGGERS.get(str(document["type"])).model_validate(document)
