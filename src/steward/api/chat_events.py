"""Events of a turn as a chat shows them, each with its exact place in the journal."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from steward.core import Invalid
from steward.runs import Kind

ALL: Final = 1_000
"""More events than one entry ever has."""
ENDS: Final = frozenset({Kind.done, Kind.failed, Kind.cancelled})
_ID: Final = re.compile(r"(run_[0-9a-hjkmnp-tv-z]{26})\.([0-9]{1,12})(?:\.([0-9]{1,3}))?")


@dataclass(frozen=True)
class ChatEvent:
    """An event before it is put in anybody's words."""

    kind: str
    data: Any
    id: str | None = None

    def frame(self) -> str:
        body = json.dumps(self.data, separators=(",", ":"), ensure_ascii=False)
        place = f"id: {self.id}\n" if self.id is not None else ""
        return f"{place}event: {self.kind}\ndata: {body}\n\n"


@dataclass(frozen=True)
class Place:
    """How far somebody has come: all events of the entries up to `seq`, but of that one only the first `part`."""

    seq: int = 0
    part: int | None = None

    @classmethod
    def of(cls, event_id: str | None, run_id: str) -> "Place":
        """From a `Last-Event-ID`."""
        if not event_id:
            return cls()
        found = _ID.fullmatch(event_id)
        if found is None or found.group(1) != run_id:
            raise Invalid("Last-Event-ID is not of this turn; follow it from the beginning.")
        part = found.group(3)
        return cls(int(found.group(2)), None if part is None else int(part))

    def shown(self, seq: int) -> int:
        """How many events of an entry were told already."""
        if seq < self.seq or (seq == self.seq and self.part is None):
            return ALL
        return self.part or 0 if seq == self.seq else 0

    def id(self, run_id: str) -> str:
        part = "" if self.part is None else f".{self.part}"
        return f"{run_id}.{self.seq}{part}"


def placed(run_id: str, seq: int, events: list[tuple[str, Any]], place: Place) -> list[ChatEvent]:
    """Events of one entry with their ids, without those that were told already."""
    last = len(events) - 1
    return [
        ChatEvent(kind, data, Place(seq, None if number == last else number + 1).id(run_id))
        for number, (kind, data) in enumerate(events)
        if number >= place.shown(seq)
    ]
