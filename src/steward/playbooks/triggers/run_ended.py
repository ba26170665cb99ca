"""Starts it when a run of another playbook ends."""

from datetime import datetime
from typing import Any, ClassVar, Final, Literal, Protocol

from pydantic import Field

from steward.core import Event, NotFound, Service
from steward.playbooks.log_source import LogSource, kind_of
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Trigger
from steward.runs import Json
from steward.store import Scope
from steward.tools import RUNS

Ending = Literal["done", "failed", "cancelled"]


class WatchedPlaybooks(Protocol):
    def watched_playbook(self, scope: Scope, user_id: str, named: str) -> str:
        """The subject of its runs; NotFound where this person may not see it."""
        ...


WATCHED_PLAYBOOKS: Final = Service[WatchedPlaybooks]("watched_playbooks", "Watching a playbook")


@TRIGGERS.register("run_ended")
class RunEndedTrigger(Trigger):
    title: ClassVar = "When another playbook has run"
    starter: ClassVar = {"playbook": "monthly-costs", "status": ["done"]}

    type: Literal["run_ended"]
    name: Name = "after"
    playbook: str = Field(min_length=1, max_length=60, description="Id of the other playbook.")
    status: list[Ending] = Field(
        ["done"], min_length=1, max_length=3, description="How its run must have ended."
    )

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return LogSource(looking, lambda event: self._read(looking, event))

    def _read(self, looking: Looking, event: Event) -> Arrival | None:
        kind = kind_of(event)
        if kind not in {f"run.{each}" for each in self.status}:
            return None
        runs, playbooks = looking.services.use(RUNS), looking.services.use(WATCHED_PLAYBOOKS)
        try:
            run = runs.get(looking.scope, event.subject)
            wanted = playbooks.watched_playbook(looking.scope, looking.author, self.playbook)
        except NotFound:
            return None
        # A playbook that started itself would never end.
        if run.subject != wanted or looking.is_own_run(run.id):
            return None
        data: dict[str, Json] = {"run": run.id, "status": run.status.value, "title": run.title}
        if run.status.value == "done":
            data["output"] = (runs.outcome(looking.scope, run.id) or {}).get("output")
        return Arrival(data, key=run.id)

    def details(self) -> dict[str, Any]:
        return {"playbook": self.playbook, "status": list(self.status)}
