"""The agents of a project: documents that people compose, each in versions; and those to start from."""

from steward.agents.composed.changes import FieldChange, changes_between
from steward.agents.composed.notes import AgentNotes, Note
from steward.agents.composed.store import AgentVersion, ComposedAgents, Listed

__all__ = [
    "AgentNotes",
    "AgentVersion",
    "ComposedAgents",
    "FieldChange",
    "Listed",
    "Note",
    "changes_between",
]
