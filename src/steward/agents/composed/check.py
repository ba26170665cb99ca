"""What is wrong with an agent before it is kept: names that lead nowhere, tools it may not have, broken schemas."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from steward.agents.guardrails import guardrail
from steward.agents.operating.agent_nodes import DEEPEST
from steward.agents.operating.roster import Agent
from steward.broker import Tool, schema_problem
from steward.core import Problem, StewardError

MOST_TOOLS: Final = 8
"""As many as a step of a plan; models choose badly among more."""


def agent_problems(
    agent: Agent,
    tools: Mapping[str, Tool[Any]],
    skills: Collection[str],
    models: Collection[str],
    find: Callable[[str], Agent | None],
) -> list[Problem]:
    """Everything, each with its place in the document."""
    return [
        *_tools(agent, tools),
        *_skills(agent, skills),
        *_model(agent, models),
        *_guardrails(agent),
        *_schemas(agent),
        *_handoffs(agent, find),
    ]


def _tools(agent: Agent, tools: Mapping[str, Tool[Any]]) -> Iterator[Problem]:
    if len(agent.tools) > MOST_TOOLS:
        yield Problem("/tools", f"an agent has at most {MOST_TOOLS} tools; name the ones it needs")
    for index, name in enumerate(agent.tools):
        tool = tools.get(name)
        if name in agent.tools[:index]:
            yield Problem(f"/tools/{index}", f"{name!r} is there twice")
        elif tool is None:
            yield Problem(f"/tools/{index}", f"there is no tool {name!r} in this project")
        elif tool.direct_only:
            yield Problem(f"/tools/{index}", f"{name!r} is for people alone; no agent may call it")
        elif not tool.risk.at_most(agent.highest_risk):
            yield Problem(
                f"/tools/{index}",
                f"{name!r} is a tool of the class {tool.risk.value!r}, and the agent may do "
                f"{agent.highest_risk.value!r} at most; raise `highest_risk` or leave the tool out",
            )


def _skills(agent: Agent, skills: Collection[str]) -> Iterator[Problem]:
    for index, name in enumerate(agent.skills):
        if name not in skills:
            yield Problem(f"/skills/{index}", f"there is no skill {name!r} that is switched on")


def _model(agent: Agent, models: Collection[str]) -> Iterator[Problem]:
    if agent.model is not None and agent.model not in models:
        known = ", ".join(sorted(models)) or "none"
        yield Problem("/model", f"the model {agent.model!r} is not set up; set up are: {known}")


def _guardrails(agent: Agent) -> Iterator[Problem]:
    for index, use in enumerate(agent.guardrails):
        try:
            guardrail(use)
        except StewardError as problem:
            yield Problem(f"/guardrails/{index}", problem.message)


def _schemas(agent: Agent) -> Iterator[Problem]:
    for place, schema in (("/input", agent.input), ("/output", agent.output)):
        wrong = schema_problem(schema) if schema is not None else None
        if wrong is not None:
            yield Problem(place, wrong)


def _handoffs(agent: Agent, find: Callable[[str], Agent | None]) -> Iterator[Problem]:
    if agent.handoffs is None:
        return
    for index, name in enumerate(agent.handoffs.to):
        place = f"/handoffs/to/{index}"
        if name in agent.handoffs.to[:index]:
            yield Problem(place, f"{name!r} is there twice")
        elif name != agent.name and find(name) is None:
            yield Problem(place, f"there is no agent {name!r}")
        else:
            wrong = _chain_problem([agent.name], name, find)
            if wrong is not None:
                yield Problem(place, wrong)


def _chain_problem(before: list[str], name: str, find: Callable[[str], Agent | None]) -> str | None:
    """Why an agent cannot come after these: work would go in a circle, or through too many hands."""
    if name in before:
        return f"work would go in a circle: {' → '.join([*before, name])}"
    if len(before) >= DEEPEST:
        return f"work would go through more than {DEEPEST} agents: {' → '.join([*before, name])}"
    agent = find(name)
    if agent is None or agent.handoffs is None:
        return None
    for following in agent.handoffs.to:
        wrong = _chain_problem([*before, name], following, find)
        if wrong is not None:
            return wrong
    return None
