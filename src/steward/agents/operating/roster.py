"""Who can be given a step: agents as YAML documents with instructions, tools, guardrails and hand-offs."""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steward.agents.guardrails import Use
from steward.agents.planning.plan import StepBudget
from steward.broker import Risk
from steward.core import Invalid, NotFound, Unreadable, dump_yaml, in_words, mistakes, read_yaml

_PACKAGE = "steward.agents.builtin"
_LIBRARY = "steward.agents.library"
Pattern = Annotated[str, Field(min_length=1, max_length=120)]
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,59}$", max_length=60)]


class Handoffs(BaseModel):
    """Who goes on once an agent has answered, and what they get."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    how: Literal["sequence", "parallel", "choice"] = Field(
        description="One after the other; all at the same time; or the one that the agent chooses, or none."
    )
    to: list[AgentName] = Field(min_length=1, max_length=8, description="Agents by name.")
    give: Literal["answer", "task", "everything"] = Field(
        "task",
        description="Its answer; the task and its answer; or those and everything it was given itself.",
    )


class Memory(BaseModel):
    """What an agent keeps between runs: short notes that it writes itself."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    keep: int = Field(20, ge=1, le=50, description="The most notes that it keeps.")
    per: Literal["project", "person"] = Field(
        "project",
        description="Whether all runs of the project share the notes, or each person has their own.",
    )


class Agent(BaseModel):
    """What an agent is told, and the most it may do; a plan narrows that further, never widens it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    format: Literal[1] = 1
    name: AgentName
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
    model: str | None = Field(
        None,
        max_length=240,
        description="A certain model, as `provider:name`; unset: those of the role.",
    )
    skills: list[str] = Field(default=[], max_length=4, description="Skills that it follows.")
    guardrails: list[Use] = Field(
        default=[], max_length=20, description="Checks by name, or with settings under `use`."
    )
    handoffs: Handoffs | None = Field(None, description="Who goes on with its answer.")
    budget: StepBudget | None = Field(
        None, description="The most that one piece of work may use; the run's budget holds besides."
    )
    memory: Memory | None = Field(
        None, description="What it remembers between runs; unset: nothing."
    )
    input: dict[str, Any] | None = Field(
        None, description="JSON Schema of the data that it works on."
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
        return agent_from_document(read_yaml(text), where)
    except Unreadable as error:
        raise Invalid(f"{where} is not YAML in line {error.line}: {error.reason}.") from None


def agent_to_yaml(agent: Agent) -> str:
    """The document as people write it: what is left to its default is left out."""
    given = agent.model_dump(mode="json", exclude_defaults=True)
    return dump_yaml({"format": agent.format, **given})


def agent_from_document(document: Any, where: str = "This") -> Agent:
    """The agent that a document describes; Invalid says everything that is wrong with it, each with its place."""
    try:
        return Agent.model_validate(document)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"{where} is not an agent: {in_words(found)}.", code="agent-invalid", problems=found
        ) from None


@cache
def builtin_roster() -> Roster:
    """Who can be given a step of a plan in a chat."""
    return _shipped(_PACKAGE)


@cache
def library_roster() -> Roster:
    """Further agents that come with Steward, for flows and to start from; they bring their tools along."""
    return _shipped(_LIBRARY)


def _shipped(package: str) -> Roster:
    documents = sorted(
        (item for item in files(package).iterdir() if item.name.endswith(".yaml")),
        key=lambda item: item.name,
    )
    return Roster(agent_from_yaml(item.read_text("utf-8"), item.name) for item in documents)
