"""Starts it when a dataset has new data."""

from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.core import Event
from steward.playbooks.log_source import LogSource, kind_of
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Trigger


@TRIGGERS.register("dataset_changed")
class DatasetChangedTrigger(Trigger):
    title: ClassVar = "When a dataset changes"
    starter: ClassVar = {"dataset": "sales"}

    type: Literal["dataset_changed"]
    name: Name = "dataset"
    dataset: str = Field(min_length=1, max_length=200, description="Name of the dataset.")
    branch: str = Field(
        "main",
        min_length=1,
        max_length=100,
        description="The branch whose changes start a run; the run works on it, too.",
    )

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return LogSource(looking, lambda event: self._read(looking, event))

    def _read(self, looking: Looking, event: Event) -> Arrival | None:
        if kind_of(event) != "data.committed" or event.data.get("branch") != self.branch:
            return None
        if self.dataset not in (event.data.get("datasets") or ()):
            return None
        # A playbook that writes what it waits for would start itself for ever.
        if looking.is_own_run(event.data.get("run")):
            return None
        data = {"dataset": self.dataset, "commit": event.subject, **event.data}
        return Arrival(data, key=event.id)

    def works_on(self) -> str:
        return self.branch

    def details(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "branch": self.branch}
