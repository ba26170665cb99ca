"""Projects as code: a project as files that Git can hold, planned, applied, compared and taken back."""

from steward.projects.applies import Applies
from steward.projects.folder import LARGEST_FILE, MOST_FILES
from steward.projects.kinds import (
    AgentKind,
    BudgetKind,
    ConnectionKind,
    DefinitionKind,
    PlaybookKind,
    PolicyKind,
    ToolsKind,
)
from steward.projects.plans import Plan
from steward.projects.project import ProjectCode
from steward.projects.values import Values, read_values

__all__ = [
    "LARGEST_FILE",
    "MOST_FILES",
    "AgentKind",
    "Applies",
    "BudgetKind",
    "ConnectionKind",
    "DefinitionKind",
    "Plan",
    "PlaybookKind",
    "PolicyKind",
    "ProjectCode",
    "ToolsKind",
    "Values",
    "read_values",
]
