"""A flow of one agent, to try it with a test input."""

from steward.agents import Agent, literal
from steward.flows.launch import Start
from steward.runs import Json


def agent_trial(agent: Agent, named: str, task: str, context: Json = None) -> Start:
    """`named` is how the flow names the agent, with a version where one is wanted."""
    node = {
        "id": "agent",
        "type": "agent",
        "title": agent.title,
        "agent": named,
        "instructions": literal(task),
        "context": literal(context),
    }
    flow = {"format": 1, "id": "try_agent", "name": f"Try {agent.title}", "nodes": [node]}
    return Start(document=flow, title=f"Try {agent.title}", subject=f"agent:{agent.name}")
