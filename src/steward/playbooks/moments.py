"""Events that are moments: those that are due, and missed ones as the policy of their trigger says."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from steward.playbooks.trigger import MOMENT, Arrival, Looking, Source, Taken
from steward.runs import Json, Missed, chosen_moments

MISSED_WORDS: Final = "What to do about moments at which Steward was not running: skip them, run once, run for all, or ask."


class Moments(Source):
    def __init__(
        self,
        looking: Looking,
        missed: Missed,
        due: Callable[[datetime, datetime], list[datetime]],
        following: Callable[[datetime], datetime],
    ) -> None:
        self._looking = looking
        self._missed = missed
        self._due = due
        self._following = following

    async def take(self, cursor: Json) -> Taken:
        now = self._looking.clock.now()
        moments = self._due(self._looking.due_at, now)
        starting, asked = chosen_moments(moments, self._missed, now)
        arrivals = [_arrival(moment) for moment in starting]
        if asked:
            arrivals.insert(0, _question(asked))
        return Taken(tuple(arrivals), cursor, self._following(now))


def _arrival(moment: datetime, held: str | None = None) -> Arrival:
    said = moment.isoformat()
    return Arrival({MOMENT: said}, key=said, inputs={MOMENT: said}, held=held)


def _question(asked: list[datetime]) -> Arrival:
    last = f"{asked[-1]:%Y-%m-%d %H:%M} UTC"
    said = (
        f"Steward was not running at {last}. Run it now for that moment, or drop it."
        if len(asked) == 1
        else f"Steward missed {len(asked)} moments, the last at {last}. Run it now for the last one, or drop it."
    )
    return _arrival(asked[-1], said)
