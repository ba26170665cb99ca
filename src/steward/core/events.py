"""Events in the shape of CloudEvents 1.0: what happened, to what, when, with small data and no secrets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

SPEC_VERSION: Final = "1.0"
TYPE_PREFIX: Final = "org.steward."
ACTIVITY: Final = frozenset(
    {"alert", "data", "evaluation", "notification", "run", "thread", "trigger"}
)
"""First words of events that tell of daily work; all others are entries for an audit."""


@dataclass(frozen=True)
class Event:
    id: str
    type: str
    source: str
    subject: str
    time: datetime
    data: dict[str, Any]
    cursor: int | None = None
    """Position in the event log; None until it has been appended."""

    def as_cloudevent(self) -> dict[str, Any]:
        return {
            "specversion": SPEC_VERSION,
            "id": self.id,
            "type": self.type,
            "source": self.source,
            "subject": self.subject,
            "time": self.time.isoformat().replace("+00:00", "Z"),
            "datacontenttype": "application/json",
            "data": self.data,
        }
