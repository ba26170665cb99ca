"""Starts it again and again, so many seconds after the last time."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.playbooks.moments import MISSED_WORDS, Moments
from steward.playbooks.trigger import TRIGGERS, Looking, Name, Source, Trigger
from steward.runs import MOST_MISSED, Missed


@TRIGGERS.register("interval")
class IntervalTrigger(Trigger):
    title: ClassVar = "Every so often"
    starter: ClassVar = {"seconds": 3600}
    trusted: ClassVar = True
    has_rhythm: ClassVar = False

    type: Literal["interval"]
    name: Name = "interval"
    seconds: int = Field(ge=10, le=31_622_400, description="Seconds from one start to the next.")
    missed: Missed = Field(Missed.once, description=MISSED_WORDS)

    def place(self) -> Any:
        return {"seconds": self.seconds}

    def first_look(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self.seconds)

    def source(self, looking: Looking) -> Source:
        step = timedelta(seconds=self.seconds)

        def due(first: datetime, now: datetime) -> list[datetime]:
            count = min((now - first) // step + 1, MOST_MISSED)
            return [first + step * index for index in range(max(count, 1))]

        def following(now: datetime) -> datetime:
            # Counted from the first moment, so that a late look does not shift all later ones.
            return looking.due_at + step * ((now - looking.due_at) // step + 1)

        return Moments(looking, self.missed, due, following)

    def details(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "missed": self.missed.value}

    def next_moments(self, now: datetime, count: int) -> list[datetime]:
        return [now + timedelta(seconds=self.seconds) * (index + 1) for index in range(count)]
