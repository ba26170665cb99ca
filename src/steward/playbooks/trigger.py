"""What a trigger is: the part of a playbook that says when it runs by itself.

A trigger type is one file in `playbooks/triggers/` with a subclass of Trigger that is added to TRIGGERS.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from steward.core.errors import Problem
from steward.core.plugins import Registry
from steward.runs import Json, RunRequest, Runs
from steward.store import Scope

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]


@dataclass(frozen=True)
class Arming:
    """What a trigger may use when a revision is deployed: whose it is, and what it starts."""

    scope: Scope
    author: str
    title: str
    runs: Runs
    request: Callable[[Mapping[str, Json]], RunRequest]
    """A run of the deployed revision with these inputs; Invalid where they do not fit."""


@dataclass(frozen=True)
class Armed:
    """A trigger at work, as people see it."""

    name: str
    type: str
    enabled: bool
    next_at: datetime | None
    last_at: datetime | None
    details: Mapping[str, Any]


class Trigger(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    title: ClassVar[str] = ""
    """What an editor calls it; nothing: its type."""
    starter: ClassVar[Mapping[str, Any]] = {}
    """Fields of a new one, as an editor adds it."""

    type: str
    name: Name = "start"
    inputs: dict[str, Any] = Field({}, description="What the playbook is given.")

    def problems(self, now: datetime) -> Iterator[Problem]:  # noqa: ARG002
        """What is wrong with it, by JSON pointer within the trigger."""
        return iter(())

    def arm(self, arming: Arming) -> Json:  # noqa: ARG002
        """Begins to watch; answers with what `disarm` and `shown` need. None: there is nothing to watch."""
        return None

    def disarm(self, arming: Arming, state: Json) -> None:
        """Stops watching; harmless when it has stopped already."""

    def switch(self, arming: Arming, state: Json, *, enabled: bool) -> None:
        """Pauses it or lets it go on."""

    def shown(self, arming: Arming, state: Json) -> Armed:  # noqa: ARG002
        return Armed(self.name, self.type, enabled=True, next_at=None, last_at=None, details={})


TRIGGERS: Registry[type[Trigger]] = Registry("trigger")
