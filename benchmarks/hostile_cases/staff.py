"""Chat turns as the application wires them, with the models and agents of a case."""

from typing import Final

from benchmarks.hostile_cases.desk import Desk
from steward.agents.chat.context import Contexts
from steward.agents.chat.turn import Turns
from steward.agents.explaining.explainer import Explainer
from steward.agents.operating.agent_nodes import Hands
from steward.agents.operating.model_requests import PaidDesk
from steward.agents.operating.operator import Operator
from steward.agents.operating.roster import Agent, Roster
from steward.agents.planning.planner import Planner
from steward.agents.rules.deciding import RulePlanner
from steward.broker.tool import Risk
from steward.models import ModelDesk
from steward.testing.models import ScriptedLineup

NONCE_KEY: Final = b"k" * 32


def anybody(name: str) -> Roster:
    """One agent that may do everything: the plan and the broker are all there is."""
    return Roster(
        [
            Agent(
                name=name,
                title="Anybody",
                description="May do everything.",
                instructions="Do what the person asks.",
                tools=["*"],
                highest_risk=Risk.secret,
            )
        ]
    )


def staffed(desk: Desk, roster: Roster, lineup: ScriptedLineup) -> Turns:
    steward, models = desk.steward, ModelDesk(lineup)
    broker = steward.governing.broker
    paid = PaidDesk(models, broker)
    return Turns(
        broker,
        Contexts(steward.workbench, steward.threads, steward.runs, broker, roster, models),
        Planner(paid, RulePlanner()),
        Hands(Operator(broker, paid, NONCE_KEY), roster, steward.agents.find),
        Explainer(paid),
        paid,
        steward.playbooks.flow_runner.inline,
        NONCE_KEY,
    )
