"""Models: providers by configuration, roles with fallbacks, prices, and requests that a journal remembers.

Importing this room loads no SDK; the first request to a model does.
"""

from steward.models.abilities import AbilityMemory
from steward.models.answer import ModelAnswer, Usage
from steward.models.authored import (
    AgentStopped,
    AuthoredAgent,
    read_agent,
)
from steward.models.backend import Backend, Delta, Failed, OnDelta, Patience, gist
from steward.models.desk import Conceal, Journaled, ModelDesk
from steward.models.examine import examine, hurried
from steward.models.lineup import (
    NO_MODEL,
    Chosen,
    ConfiguredModels,
    FixedModels,
    Lineup,
    Role,
    set_up,
    unique_models,
)
from steward.models.messages import (
    WITHHELD,
    Asking,
    Call,
    Message,
    Request,
    Said,
    System,
    Text,
    Thought,
    ToolResult,
    ToolSpec,
    User,
)
from steward.models.probe import probe
from steward.models.provided import name_of
from steward.models.providers import check_choice
from steward.models.providers import load_providers as load_model_providers
from steward.models.setups import LEVELS, Level, SetUpModel, SetupRevision, Setups, own_scope

__all__ = [
    "LEVELS",
    "NO_MODEL",
    "WITHHELD",
    "AbilityMemory",
    "AgentStopped",
    "Asking",
    "AuthoredAgent",
    "Backend",
    "Call",
    "Chosen",
    "Conceal",
    "ConfiguredModels",
    "Delta",
    "Failed",
    "FixedModels",
    "Journaled",
    "Level",
    "Lineup",
    "Message",
    "ModelAnswer",
    "ModelDesk",
    "OnDelta",
    "Patience",
    "Request",
    "Role",
    "Said",
    "SetUpModel",
    "SetupRevision",
    "Setups",
    "System",
    "Text",
    "Thought",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "User",
    "check_choice",
    "examine",
    "gist",
    "hurried",
    "load_model_providers",
    "name_of",
    "own_scope",
    "probe",
    "read_agent",
    "set_up",
    "unique_models",
]
