"""The agents that ship: known tools, known guardrails, hand-offs that exist, and no more than their job needs."""

import pytest

from steward.agents.guardrails import GUARDRAILS, load_guardrails
from steward.agents.operating.roster import Agent, builtin_roster
from steward.broker.schemas import schema_problem
from steward.broker.tool import Risk
from steward.tools import load_tools

AGENTS = list(builtin_roster())
TOOLS = dict(load_tools())


def test_all_nine_are_there() -> None:
    assert {agent.name for agent in AGENTS} == {
        *("data-analyst", "data-engineer", "reconciler", "reporter", "summariser"),
        *("classifier", "extractor", "translator", "reviewer"),
    }


@pytest.mark.parametrize("agent", AGENTS, ids=lambda each: each.name)
def test_an_agent_names_only_what_exists(agent: Agent) -> None:
    load_guardrails()
    unknown = [name for name in agent.tools if name not in TOOLS and "*" not in name]
    assert unknown == []
    assert agent.handoffs is None, "the chat's agents are put together by plans"
    known = {name for name, _ in GUARDRAILS}
    assert {use if isinstance(use, str) else use["use"] for use in agent.guardrails} <= known
    assert agent.output is None or schema_problem(agent.output) is None


@pytest.mark.parametrize("agent", AGENTS, ids=lambda each: each.name)
def test_an_agent_can_use_every_tool_it_names(agent: Agent) -> None:
    over = [
        name for name in agent.tools if name in TOOLS and not agent.may_call(name, TOOLS[name].risk)
    ]
    assert over == []


@pytest.mark.parametrize("agent", AGENTS, ids=lambda each: each.name)
def test_no_agent_may_do_more_than_its_tools_need(agent: Agent) -> None:
    risks = [TOOLS[name].risk for name in agent.tools if name in TOOLS]
    needed = max(risks, key=lambda risk: risk.rank, default=Risk.read)
    assert agent.highest_risk == needed


def test_only_the_reporter_sends_and_only_engineers_change_data() -> None:
    sending = {agent.name for agent in AGENTS if agent.may_call("send_email", Risk.external_send)}
    cleaning = {agent.name for agent in AGENTS if agent.may_call("clean", Risk.write)}
    assert (sending, cleaning) == ({"reporter"}, {"data-engineer"})
    assert not any(agent.may_call("http_request", Risk.external_send) for agent in AGENTS)
