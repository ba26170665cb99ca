"""Wires the agents: models, planner, operator, explainer, and the program that drives a chat turn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from steward.agents import (
    AgentCosts,
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
from steward.app.governing import Governing
from steward.app.tracing import counting
from steward.broker import Broker, Scrubber
from steward.core import Clock
from steward.definitions import DefinitionStore
from steward.identity import Access
from steward.models import ModelDesk
from steward.observe import NANO, AgentExplorer
from steward.playbooks import AgentPast, Playbooks
from steward.runs import Runs
from steward.store import Keyring, Scope
from steward.trace import Metrics
from steward.workbench import Workbench

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
    broker: Broker,
    desk: ModelDesk,
    live: Live,
    keyring: Keyring,
    roster: Roster,
    skills: Skills,
    agents: ComposedAgents,
    scrubber: Callable[[Scope], Scrubber],
) -> Staff:
    paid = PaidDesk(desk, broker, live, scrubber)
    nonce_key = keyring.derived_for_good(NONCE_PURPOSE)
    operator = Operator(broker, paid, nonce_key, skills)
    hands = Hands(operator, roster, agents.find, agents.package, agents.notes.recalled)
    return Staff(desk, paid, roster, hands, nonce_key)


def know_prices(
    playbooks: Playbooks,
    staff: Staff,
    governing: Governing,
    skills: Skills,
    figures: AgentExplorer,
    clock: Clock,
) -> None:
    """What agents will use: by what they are told, and by what they used lately in runs that somebody may see."""

    def past(access: Access, name: str) -> AgentPast | None:
        sight = playbooks.people.sight(access)
        found = figures.figures(access.scope, clock.now(), _LATELY, name, sight.among)
        if not found.works or not found.tokens:
            return None
        usd = found.nano_usd / NANO / found.works
        return AgentPast(found.works, _LATELY, usd, found.tokens / found.works)

    tools = governing.broker.tools
    playbooks.prices.expected = AgentCosts(staff.desk, staff.hands, tools, skills).expected
    playbooks.prices.agent_past = past


@dataclass(frozen=True)
class Planning:
    """What planning leaves to look at."""

    contexts: Contexts
    shadow: Shadow
    measures: PlannerMeasures


def put_to_work(
    staff: Staff,
    governing: Governing,
    runs: Runs,
    workbench: Workbench,
    threads: Threads,
    skills: Skills,
    metrics: Metrics,
    locale_of: Callable[[str], str | None],
    definitions: DefinitionStore,
) -> Planning:
    """Registers the programs of chat turns and of analyses."""
    broker, rules = governing.broker, RulePlanner()
    contexts = Contexts(
        workbench,
        threads,
        runs,
        broker,
        staff.roster,
        staff.desk,
        skills,
        locale_of,
        lambda scope: definitions.current(scope).definitions,
    )
    turns = Turns(
        broker,
        contexts,
        Planner(staff.paid, rules),
        staff.hands,
        Explainer(staff.paid),
        staff.paid,
        governing.launcher.inline,
        staff.nonce_key,
        counting(metrics),
    )
    turns.register(runs)
    RunExplainer(broker, staff.paid, staff.nonce_key).register(runs)
    return Planning(contexts, Shadow(runs, contexts, rules), PlannerMeasures(runs))
