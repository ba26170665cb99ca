"""Starts it at the moments of a cron expression, each moment once."""

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from steward.core.errors import Invalid, NotFound, Problem
from steward.playbooks.trigger import TRIGGERS, Armed, Arming, Name, Trigger
from steward.runs import Json, Missed
from steward.runs.schedules import next_moment


@TRIGGERS.register("cron")
class CronTrigger(Trigger):
    title: ClassVar = "On a schedule"
    starter: ClassVar = {"cron": "0 8 * * 1-5", "time_zone": "UTC"}

    type: Literal["cron"]
    name: Name = "schedule"
    cron: str = Field(max_length=200, description="Minute, hour, day, month, weekday.")
    time_zone: str = Field("UTC", max_length=80)
    missed: Missed = Field(
        Missed.once, description="What to do about moments at which Steward was not running."
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        try:
            next_moment(self.cron, self.time_zone, now)
        except Invalid as problem:
            yield from problem.problems

    def arm(self, arming: Arming) -> Json:
        made = arming.runs.schedules.create(
            arming.scope,
            arming.author,
            f"{arming.title}: {self.name}",
            self.cron,
            self.time_zone,
            arming.request(self.inputs),
            self.missed,
        )
        return {"schedule": made.id}

    def disarm(self, arming: Arming, state: Json) -> None:
        try:
            arming.runs.schedules.delete(arming.scope, state["schedule"])
        except NotFound:
            # Somebody removed the schedule by itself.
            return

    def switch(self, arming: Arming, state: Json, *, enabled: bool) -> None:
        schedules = arming.runs.schedules
        found = schedules.get(arming.scope, state["schedule"])
        schedules.change(arming.scope, found.id, found.revision, {"enabled": enabled})

    def shown(self, arming: Arming, state: Json) -> Armed:
        details = {"cron": self.cron, "time_zone": self.time_zone, "missed": self.missed.value}
        try:
            found = arming.runs.schedules.get(arming.scope, state["schedule"])
        except NotFound:
            return Armed(self.name, self.type, False, None, None, details)
        return Armed(self.name, self.type, found.enabled, found.next_at, found.last_at, details)
