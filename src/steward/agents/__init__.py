"""Agents: planner, operator, explainer, chat, skills; all under the broker."""

from steward.agents.asking.options import Option, Options
from steward.agents.asking.reading import Asked, Chip, ColumnRef, Reading
from steward.agents.asking.wording import Words
from steward.agents.chat.context import Contexts
from steward.agents.chat.gallery import Gallery, Kind
from steward.agents.chat.live_text import TRYING, Live, LiveText, live_topic
from steward.agents.chat.threads import (
    CHAT_PROGRAM,
    HEAD,
    PRIORITY,
    Parent,
    Thread,
    Threads,
    Turn,
    position_of,
    subject_of,
    thread_of,
)
from steward.agents.chat.turn import Turns
from steward.agents.chat.turn_documents import SHOWN_ROWS, turn_document
from steward.agents.chat.turn_events import Teller
from steward.agents.explaining.dossier import as_markdown, dossier
from steward.agents.explaining.explainer import Explainer
from steward.agents.explaining.figures import figures_in, is_found
from steward.agents.explaining.run_explainer import ANALYSIS_PROGRAM, RunExplainer
from steward.agents.explaining.written_values import Writing
from steward.agents.guardrails import GUARDRAILS, About, Guardrail, Use, load_guardrails
from steward.agents.operating.agent_nodes import DRAWN as UNNAMED_AGENT
from steward.agents.operating.agent_nodes import Hands
from steward.agents.operating.equipment import MEMORY_TOOLS, READ_SKILL
from steward.agents.operating.expected_cost import AgentCosts, ExpectedCost
from steward.agents.operating.model_requests import PaidDesk
from steward.agents.operating.operator import Operator
from steward.agents.operating.packages import AGENTS, PackageAgent, read_package_agent
from steward.agents.operating.roster import (
    Agent,
    Roster,
    agent_from_document,
    agent_from_yaml,
    agent_to_yaml,
    builtin_roster,
)
from steward.agents.planning.plan import Contract, Plan, Planned
from steward.agents.planning.plan_checks import Catalogue, PlanRefused, check_plan
from steward.agents.planning.plan_flow import literal
from steward.agents.planning.plan_measures import PlannerMeasures, Turned
from steward.agents.planning.planner import Planner, Recipe
from steward.agents.planning.shadow_plans import Compared, Shadow, ShadowReport
from steward.agents.planning.single_step import alone
from steward.agents.planning.suggestions import questions_to_try, suggestions
from steward.agents.rules.deciding import RulePlanner
from steward.agents.rules.describing import in_words

__all__ = [
    "AGENTS",
    "ANALYSIS_PROGRAM",
    "CHAT_PROGRAM",
    "GUARDRAILS",
    "HEAD",
    "MEMORY_TOOLS",
    "PRIORITY",
    "READ_SKILL",
    "SHOWN_ROWS",
    "TRYING",
    "UNNAMED_AGENT",
    "About",
    "Agent",
    "AgentCosts",
    "Asked",
    "Catalogue",
    "Chip",
    "ColumnRef",
    "Compared",
    "Contexts",
    "Contract",
    "ExpectedCost",
    "Explainer",
    "Gallery",
    "Guardrail",
    "Hands",
    "Kind",
    "Live",
    "LiveText",
    "Operator",
    "Option",
    "Options",
    "PackageAgent",
    "PaidDesk",
    "Parent",
    "Plan",
    "PlanRefused",
    "Planned",
    "Planner",
    "PlannerMeasures",
    "Reading",
    "Recipe",
    "Roster",
    "RulePlanner",
    "RunExplainer",
    "Shadow",
    "ShadowReport",
    "Teller",
    "Thread",
    "Threads",
    "Turn",
    "Turned",
    "Turns",
    "Use",
    "Words",
    "Writing",
    "agent_from_document",
    "agent_from_yaml",
    "agent_to_yaml",
    "alone",
    "as_markdown",
    "builtin_roster",
    "check_plan",
    "dossier",
    "figures_in",
    "in_words",
    "is_found",
    "literal",
    "live_topic",
    "load_guardrails",
    "position_of",
    "questions_to_try",
    "read_package_agent",
    "subject_of",
    "suggestions",
    "thread_of",
    "turn_document",
]
