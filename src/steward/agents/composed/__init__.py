"""The agents of a project: documents that people compose, each in versions; and those to start from."""

from steward.agents.composed.changes import FieldChange, changes_between
from steward.agents.composed.store import ComposedAgents, Listed

__all__ = [
    "ComposedAgents",
    "FieldChange",
    "Listed",
    "changes_between",
]
