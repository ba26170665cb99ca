"""Events in the shape of CloudEvents 1.0: what happened, to what, when, with small data and no secrets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

SPEC_VERSION: Final = "1.0"
TYPE_PREFIX: Final = "org.steward."
_WORDS: Final = {
    "alert": "opened resolved acknowledged muted unmuted rule_saved rule_deleted",
    "agent": "saved archived remembered notes_deleted notes_restored",
    "approval": "requested approved rejected edited delegated mismatched",
    "approvers": "changed deleted",
    "audit": "exported",
    "budget": "saved deleted",
    "client": "allowed removed replayed",
    "connection": (
        "created changed deleted restored health program_accepted proposal_dismissed "
        "proposal_brought_back tool_risk_set tool_roles_confirmed tool_withdrawn tools_accepted tools_changed"
    ),
    "data": "committed",
    "definitions": "changed",
    "directory": "saved token_renewed deleted person_added person_removed",
    "evaluation": "kept deleted restored",
    "hold": "placed lifted",
    "invitation": "created accepted revoked",
    "link": "created used revoked",
    "member": "changed removed",
    "models": "changed",
    "network": "changed",
    "notification": "created",
    "passkey": "added removed signed_in refused",
    "plugin": "installed enabled disabled removed",
    "playbook": "created saved redrawn shared deployed tried changed deleted restored",
    "policy": "changed",
    "project": "created updated deleted restored",
    "retention": "changed applied",
    "run": (
        "queued running blocked waiting_for_approval reviewing done failed cancelled "
        "pause_asked resume_asked cancel_asked brought_in undo_done undo_failed redo_done "
        "redo_failed"
    ),
    "schedule": "created changed deleted missed decided",
    "second_step": "changed",
    "secret": "changed deleted restored",
    "service": (
        "installed updated removed operation_offered operation_roles_confirmed operation_risk_set"
    ),
    "settings": "changed",
    "sign_on": "provider_saved provider_deleted signed_in refused account_joined signed_out",
    "skill": "saved enabled disabled deleted restored",
    "thread": "created changed deleted restored",
    "token": "created revoked restored",
    "trigger": "switched failing recovered silent dead_letter held replayed dropped address_changed",
}
ACTIVITY: Final = frozenset(
    {"alert", "data", "evaluation", "notification", "run", "thread", "trigger"}
)
"""First words of events that tell of daily work; all others are entries for an audit."""
KINDS: Final = frozenset(
    f"{noun}.{word}" for noun, words in _WORDS.items() for word in words.split()
)
"""Everything that the event log tells of; the web app has a sentence for each (tests/rules/test_events.py)."""


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
