"""Wires the broker: tools, policy, approvals, budgets and tokens around the runs of an installation."""

from dataclasses import dataclass

from steward.app.foundation import Foundation
from steward.broker import (
    TOOLS,
    ApprovalDecisions,
    Approvals,
    Broker,
    Budgets,
    CallPlanner,
    Forking,
    Groups,
    Inbox,
    Measures,
    PeriodBudgets,
    PolicyTrials,
    Rulebook,
    RunTokens,
    TakingBack,
    TokenDesk,
    Toolbox,
    Undoing,
)
from steward.flows import AgentTools, ClientSessions, DirectCalls, Launcher, UndoCalls
from steward.tools import ROLE_OF, TAKING_BACK, UNDOING

TOKEN_PURPOSE = "run tokens"  # noqa: S105


@dataclass(frozen=True)
class Governance:
    """What stands between agents and the world; one attribute per noun."""

    rulebook: Rulebook
    groups: Groups
    approvals: Approvals
    budgets: Budgets
    period_budgets: PeriodBudgets
    tokens: TokenDesk
    broker: Broker
    undoing: UndoCalls
    inbox: Inbox
    deciding: ApprovalDecisions
    judging: PolicyTrials
    forking: Forking
    measures: Measures
    launcher: Launcher
    direct_calls: DirectCalls
    client_sessions: ClientSessions


def govern(base: Foundation, tools: Toolbox, agent_tools: AgentTools) -> Governance:
    database, events, clock, ids = base.database, base.events, base.clock, base.ids
    identity, runs, services = base.identity, base.runs, base.services
    versions = base.workbench.versions
    rulebook = Rulebook(database, events, clock, identity.members)
    groups = Groups(database, identity.members, events)
    approvals = Approvals(database, runs, events, clock, ids, groups)
    budgets = Budgets(database, clock)
    period_budgets = PeriodBudgets(database, events, clock, ids, identity.members, runs)
    runs.parts.chores.append(period_budgets.tidy)
    tokens = TokenDesk(RunTokens(base.keyring.derived(TOKEN_PURPOSE), clock), clock)
    planner = CallPlanner(database, tools, rulebook, groups, services)
    broker = Broker(tools, planner, rulebook, approvals, budgets, tokens, clock, versions)
    runs.parts.on_lost.append(broker.forget_lost)
    undoing = Undoing(runs, versions, TOOLS, rulebook, services, database, events, clock)
    taking_back = TakingBack(runs, versions, undoing)
    services.add(UNDOING.of(undoing), TAKING_BACK.of(taking_back), ROLE_OF.of(groups.role))
    direct_calls = DirectCalls(runs, broker, planner, tools)
    return Governance(
        rulebook=rulebook,
        groups=groups,
        approvals=approvals,
        budgets=budgets,
        period_budgets=period_budgets,
        tokens=tokens,
        broker=broker,
        undoing=UndoCalls(undoing, taking_back, direct_calls),
        measures=Measures(database),
        inbox=Inbox(runs, approvals, groups, clock),
        deciding=ApprovalDecisions(approvals, runs, tools, planner),
        judging=PolicyTrials(runs, rulebook, groups, tools),
        forking=Forking(runs, versions, ids, rulebook),
        launcher=Launcher(runs, tools, agent_tools),
        direct_calls=direct_calls,
        client_sessions=ClientSessions(runs, broker, tools, ids),
    )
