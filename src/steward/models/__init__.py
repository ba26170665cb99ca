"""Models: providers by configuration, roles with fallbacks, prices, and requests that a journal remembers.

Importing this room loads no SDK; the first request to a model does.
"""

from steward.models.abilities import Abilities, AbilityMemory, Way
from steward.models.answer import Attempt, ModelAnswer, Usage
from steward.models.authored import (
    AgentStopped,
    AuthoredAgent,
    AuthoredTool,
    Governor,
    read_agent,
)
from steward.models.backend import Backend, Delta, Failed, OnDelta, Patience, gist
from steward.models.desk import Conceal, Journaled, ModelDesk
from steward.models.examine import Examined, examine, hurried
from steward.models.lineup import (
    NO_MODEL,
    Chosen,
    ConfiguredModels,
    FixedModels,
    Lineup,
    Role,
    unique_models,
)
from steward.models.messages import (
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
    message_from_json,
)
from steward.models.prices import Prices
from steward.models.probe import ModelFinding, probe
from steward.models.setups import Setup, SetUpModel, SetupRevision, Setups

__all__ = [
    "NO_MODEL",
    "Abilities",
    "AbilityMemory",
    "AgentStopped",
    "Asking",
    "Attempt",
    "AuthoredAgent",
    "AuthoredTool",
    "Backend",
    "Call",
    "Chosen",
    "Conceal",
    "ConfiguredModels",
    "Delta",
    "Examined",
    "Failed",
    "FixedModels",
    "Governor",
    "Journaled",
    "Lineup",
    "Message",
    "ModelAnswer",
    "ModelDesk",
    "ModelFinding",
    "OnDelta",
    "Patience",
    "Prices",
    "Request",
    "Role",
    "Said",
    "SetUpModel",
    "Setup",
    "SetupRevision",
    "Setups",
    "System",
    "Text",
    "Thought",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "User",
    "Way",
    "examine",
    "gist",
    "hurried",
    "message_from_json",
    "probe",
    "read_agent",
    "unique_models",
]
