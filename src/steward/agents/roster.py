"""Who can be given a step: agents as YAML documents with instructions, tools, guardrails and hand-offs."""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steward.agents.guardrails import Use
from steward.broker.tool import Risk
from steward.core.documents import Unreadable, read_yaml
from steward.core.errors import Invalid, NotFound

_PACKAGE = "steward.agents.builtin"
Pattern = Annotated[str, Field(min_length=1, max_length=120)]


class Agent(BaseModel):
    """What an agent is told, and the most it may do; a plan narrows that further, never widens it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")
    title: str = Field(min_length=1, max_length=80)
    description: str = Field(min_length=1, max_length=500, description="When to choose it.")
    instructions: str = Field(min_length=1, max_length=20_000)
    tools: list[Pattern] = Field(
        default=[], max_length=100, description="Names of tools, or patterns such as `skill.*`."
    )
    highest_risk: Risk = Field(Risk.compute, description="Above this it may call nothing.")
    role: Literal["planner", "operator", "explainer"] = Field(
        "operator", description="Whose model it uses."
    )
    guardrails: list[Use] = Field(
        default=[], max_length=20, description="Checks by name, or with settings under `use`."
    )
    handoffs: list[str] = Field(
        default=[], max_length=20, description="Agents that may go on with its result."
    )
    output: dict[str, Any] | None = Field(None, description="JSON Schema of its answer.")

    def may_call(self, tool: str, risk: Risk) -> bool:
        """The agent's tool policy; holds when a plan is made and again at every call."""
        return risk.at_most(self.highest_risk) and any(
            fnmatch.fnmatchcase(tool, pattern) for pattern in self.tools
        )


class Roster:
    """Agents by name: the built-in ones and those given."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._agents: Mapping[str, Agent] = {agent.name: agent for agent in agents}

    def get(self, name: str) -> Agent:
        found = self._agents.get(name)
        if found is None:
            known = ", ".join(self._agents)
            raise NotFound(f"There is no agent called {name!r}. Known: {known}.")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._agents

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())


def agent_from_yaml(text: str, where: str) -> Agent:
    try:
        return Agent.model_validate(read_yaml(text))
    except Unreadable as error:
        raise Invalid(f"{where} is not YAML in line {error.line}: {error.reason}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise Invalid(f"{where} is not an agent: {place}: {first['msg']}.") from None


@cache
def builtin_roster() -> Roster:
    folder = files(_PACKAGE)
    documents = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".yaml")),
        key=lambda item: item.name,
    )
    return Roster(agent_from_yaml(item.read_text("utf-8"), item.name) for item in documents)
