"""Starts it at the moments of a cron expression, each moment once."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.core import Invalid, Problem
from steward.playbooks.moments import MISSED_WORDS, Moments
from steward.playbooks.trigger import TRIGGERS, Looking, Name, Source, Trigger
from steward.runs import Missed, due_moments, following_moments, next_moment


@TRIGGERS.register("cron")
class CronTrigger(Trigger):
    title: ClassVar = "On a schedule"
    starter: ClassVar = {"cron": "0 8 * * 1-5", "time_zone": "UTC"}
    trusted: ClassVar = True
    has_rhythm: ClassVar = False

    type: Literal["cron"]
    name: Name = "schedule"
    cron: str = Field(max_length=200, description="Minute, hour, day, month, weekday.")
    time_zone: str = Field("UTC", max_length=80)
    missed: Missed = Field(Missed.once, description=MISSED_WORDS)

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        try:
            next_moment(self.cron, self.time_zone, now)
        except Invalid as problem:
            yield from problem.problems

    def place(self) -> Any:
        return {"cron": self.cron, "time_zone": self.time_zone}

    def first_look(self, now: datetime) -> datetime:
        return next_moment(self.cron, self.time_zone, now)

    def source(self, looking: Looking) -> Source:
        return Moments(
            looking,
            self.missed,
            lambda first, now: due_moments(self.cron, self.time_zone, first, now),
            lambda now: next_moment(self.cron, self.time_zone, now),
        )

    def details(self) -> dict[str, Any]:
        return {"cron": self.cron, "time_zone": self.time_zone, "missed": self.missed.value}

    def next_moments(self, now: datetime, count: int) -> list[datetime]:
        return following_moments(self.cron, self.time_zone, now, count)
