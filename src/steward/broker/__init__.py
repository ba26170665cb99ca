"""The one door to data, sandboxes and the world: tools, policy, approvals, budgets, tokens, labels, undo."""

from steward.broker._budget_tables import period_budgets as period_budgets_table
from steward.broker._tables import approvals as approvals_table
from steward.broker.approval_claims import approval_claim, approval_claims
from steward.broker.approvals import Approval, Approvals, Extent, State, Verdict
from steward.broker.broker import ASK_HUMAN, Broker
from steward.broker.budgets import Budgets
from steward.broker.call_planning import CallPlanner
from steward.broker.deciding import Deciding
from steward.broker.declared import arguments_of
from steward.broker.forking import Forking
from steward.broker.grants import (
    DIRECT_PROGRAM,
    PLUGIN_CHANGED,
    FixedParts,
    Grant,
    TokenDesk,
    bound_to,
    token_role,
)
from steward.broker.groups import Groups
from steward.broker.inbox import BUDGET, GATE, PLAN, QUESTION, UNCERTAIN, Inbox, Waiting
from steward.broker.judging import Judging
from steward.broker.labels import NONE, Labels, joined, untrusted
from steward.broker.limits import Budget, Foresight
from steward.broker.measures import Measures
from steward.broker.period_budgets import (
    BudgetKind,
    BudgetLimits,
    KeptBudget,
    PeriodBudget,
    PeriodBudgets,
)
from steward.broker.periods import PERIOD_WORDS, end_of, start_of
from steward.broker.plans import Labelled, as_number, refusal, validated
from steward.broker.policy_text import PolicyVerdict
from steward.broker.presets import DEFAULT_PRESET, PRESETS, faults
from steward.broker.rehearsal import SOURCE, Rehearsal, plain_path
from steward.broker.role_proposals import propose_roles
from steward.broker.roles import (
    CODE,
    CONTENT,
    DECLARABLE,
    DESTINATION,
    NEW_TARGET,
    PLAIN,
    RECIPIENT,
    SECRET,
    SELECTOR,
    TARGET,
    HasRole,
    Part,
    Role,
    fields_of,
    leaves_of,
    only_reads,
    read_parts,
    role_problem,
    roles_of,
    with_roles,
    without_roles,
)
from steward.broker.rulebook import PolicyRevision, Rulebook
from steward.broker.samples import Sample, sample, samples
from steward.broker.schemas import (
    KINDS,
    Schema,
    field_of,
    first_problem,
    kinds_of,
    problems_of,
    resolved,
    schema_problem,
    with_defaults,
)
from steward.broker.secrets_found import Scrubber
from steward.broker.taking_back import Step, TakeBackPlan, TakingBack, Whole
from steward.broker.tokens import RunTokens
from steward.broker.tool import (
    SERVICE_REFUSED,
    TOOLS,
    Arguments,
    Artifact,
    Cost,
    Effects,
    Failure,
    Notebook,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
    add_tool,
)
from steward.broker.toolbox import Toolbox
from steward.broker.undo import Action, Undoing, UndoPlan, Way
from steward.broker.untrusted_text import (
    MOST_BYTES,
    disarmed,
    for_model,
    nonce_for,
    system_rule,
    wrap_untrusted,
)

__all__ = [
    "ASK_HUMAN",
    "BUDGET",
    "CODE",
    "CONTENT",
    "DECLARABLE",
    "DEFAULT_PRESET",
    "DESTINATION",
    "DIRECT_PROGRAM",
    "GATE",
    "KINDS",
    "MOST_BYTES",
    "NEW_TARGET",
    "NONE",
    "PERIOD_WORDS",
    "PLAIN",
    "PLAN",
    "PLUGIN_CHANGED",
    "PRESETS",
    "QUESTION",
    "RECIPIENT",
    "SECRET",
    "SELECTOR",
    "SERVICE_REFUSED",
    "SOURCE",
    "TARGET",
    "TOOLS",
    "UNCERTAIN",
    "Action",
    "Approval",
    "Approvals",
    "Arguments",
    "Artifact",
    "Broker",
    "Budget",
    "BudgetKind",
    "BudgetLimits",
    "Budgets",
    "CallPlanner",
    "Cost",
    "Deciding",
    "Effects",
    "Extent",
    "Failure",
    "FixedParts",
    "Foresight",
    "Forking",
    "Grant",
    "Groups",
    "HasRole",
    "Inbox",
    "Judging",
    "KeptBudget",
    "Labelled",
    "Labels",
    "Measures",
    "Notebook",
    "Outcome",
    "Part",
    "PeriodBudget",
    "PeriodBudgets",
    "PolicyRevision",
    "PolicyVerdict",
    "Preview",
    "Rehearsal",
    "Risk",
    "Role",
    "Rulebook",
    "RunTokens",
    "Sample",
    "Schema",
    "Scrubber",
    "State",
    "Step",
    "TakeBackPlan",
    "TakingBack",
    "TokenDesk",
    "Tool",
    "ToolContext",
    "Toolbox",
    "UndoPlan",
    "Undoing",
    "Verdict",
    "Waiting",
    "Way",
    "Whole",
    "add_tool",
    "approval_claim",
    "approval_claims",
    "approvals_table",
    "arguments_of",
    "as_number",
    "bound_to",
    "disarmed",
    "end_of",
    "faults",
    "field_of",
    "fields_of",
    "first_problem",
    "for_model",
    "joined",
    "kinds_of",
    "leaves_of",
    "nonce_for",
    "only_reads",
    "period_budgets_table",
    "plain_path",
    "problems_of",
    "propose_roles",
    "read_parts",
    "refusal",
    "resolved",
    "role_problem",
    "roles_of",
    "sample",
    "samples",
    "schema_problem",
    "start_of",
    "system_rule",
    "token_role",
    "untrusted",
    "validated",
    "with_defaults",
    "with_roles",
    "without_roles",
    "wrap_untrusted",
]
