"""Wires the agents: models, planner, operator, explainer, and the program that drives a chat turn."""

from dataclasses import dataclass
from typing import Final

from steward.agents import (
    Contexts,
    Explainer,
    Hands,
    Live,
    Operator,
    PaidDesk,
    Planner,
    PlannerMeasures,
    Roster,
    RulePlanner,
    RunExplainer,
    Shadow,
    Threads,
    Turns,
)
from steward.agents.composed import ComposedAgents
from steward.agents.skills import Skills
from steward.app.foundation import Foundation
from steward.app.governance import Governance
from steward.app.tracing import counting
from steward.broker import Broker
from steward.core import Clock
from steward.models import ModelDesk
from steward.observe import NANO, AgentExplorer
from steward.playbooks import AgentPast, FindAgentPast, Playbooks
from steward.store import Scope
from steward.trace import Metrics

NONCE_PURPOSE = "untrusted content"
_LATELY: Final = 30
"""Days whose work tells what an agent uses."""


@dataclass(frozen=True)
class Staff:
    """Those who work under the broker."""

    desk: ModelDesk
    paid: PaidDesk
    roster: Roster
    hands: Hands
    nonce_key: bytes


def hire(
    base: Foundation,
    broker: Broker,
    desk: ModelDesk,
    live: Live,
    roster: Roster,
    skills: Skills,
    agents: ComposedAgents,
) -> Staff:
    paid = PaidDesk(desk, broker, live, base.scrubbing.scrubber)
    nonce_key = base.keyring.derived_for_good(NONCE_PURPOSE)
    operator = Operator(broker, paid, nonce_key, skills)
    hands = Hands(operator, roster, agents.find, agents.package, agents.notes.recalled)
    return Staff(desk, paid, roster, hands, nonce_key)


def agent_past(figures: AgentExplorer, clock: Clock) -> FindAgentPast:
    """What agents used lately, for the prices of playbooks."""

    def past(scope: Scope, name: str, among: tuple[str, frozenset[str]] | None) -> AgentPast | None:
        found = figures.figures(scope, clock.now(), _LATELY, name, among)
        if not found.works or not found.tokens:
            return None
        usd = found.nano_usd / NANO / found.works
        return AgentPast(found.works, _LATELY, usd, found.tokens / found.works)

    return past


@dataclass(frozen=True)
class Planning:
    """What planning leaves to look at."""

    contexts: Contexts
    shadow: Shadow
    measures: PlannerMeasures


def put_to_work(
    base: Foundation,
    staff: Staff,
    governing: Governance,
    playbooks: Playbooks,
    threads: Threads,
    skills: Skills,
    metrics: Metrics,
) -> Planning:
    """Registers the programs of chat turns and of analyses."""
    broker, rules, runs, identity = governing.broker, RulePlanner(), base.runs, base.identity
    contexts = Contexts(
        base.workbench,
        threads,
        runs,
        broker,
        staff.roster,
        staff.desk,
        skills,
        lambda user_id: identity.users.get(user_id).locale,
        lambda scope: base.definitions.current(scope).definitions,
        identity.projects.name_of,
    )
    turns = Turns(
        broker,
        contexts,
        Planner(staff.paid, rules),
        staff.hands,
        Explainer(staff.paid),
        staff.paid,
        playbooks.flow_runner.inline,
        staff.nonce_key,
        counting(metrics),
    )
    turns.register(runs)
    RunExplainer(broker, staff.paid, staff.nonce_key).register(runs)
    return Planning(contexts, Shadow(runs, contexts, rules), PlannerMeasures(runs))
