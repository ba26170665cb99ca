"""Agents that packages bring, written with a library of their own: one shape for all of them, whatever the library.

Such an agent drives itself. What it asks of models and what its tools do goes through a `Governor`, from the beginning in
every pass, so that a journal can answer what was asked and done before. Importing this module loads no library.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steward.core import Invalid
from steward.models.answer import ModelAnswer
from steward.models.messages import Asking, Message, ToolSpec


@dataclass(frozen=True)
class AuthoredTool:
    """A function that an agent can call, as its package wrote it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of its arguments."""
    call: Callable[[str, Mapping[str, Any]], Awaitable[Any]]
    """Calls the function itself, with the id of the call and its arguments."""


class Governor(Protocol):
    """In whose name an agent works: its models are asked here, and its tools are called here."""

    async def ask(
        self, messages: list[Message], tools: list[ToolSpec], asking: Asking
    ) -> ModelAnswer: ...

    async def call(self, tool: str, call_id: str, written: str) -> str:
        """Calls a tool of the agent or one that it was given; what it is told, as text."""
        ...


class AgentStopped(Exception):
    """The agent's own library ended its work without an answer."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def out_of_turns(most_turns: int) -> AgentStopped:
    said = f"It used up its {most_turns} turns. Give it less to do."
    return AgentStopped("too-many-steps", said)


def without_answer(error: Exception) -> AgentStopped:
    return AgentStopped("no-answer", str(error)[:500])


def refused(name: str, why: str) -> Invalid:
    """An agent that Steward cannot govern."""
    return Invalid(f"{name} {why}.", code="plugin")


def no_model_in_tools() -> Invalid:
    return Invalid("A tool of a package asks a model. Give that work to an agent instead.")


def joined_texts(parts: Iterable[Any], between: str) -> str:
    """Texts as one; anything else that a library puts there is refused."""
    texts = list(parts)
    if not all(isinstance(each, str) for each in texts):
        raise Invalid("An agent of a package sends pictures or files; only text is passed on here.")
    return between.join(texts)


class AuthoredAgent(ABC):
    """An agent of a package with everyone to whom it can hand over."""

    title: str
    description: str
    instructions: str
    tools: Mapping[str, AuthoredTool]
    """The tools of all of them by name, as the package wrote them."""

    @abstractmethod
    async def run(
        self,
        governor: Governor,
        said: Sequence[str],
        given: Sequence[ToolSpec],
        most_turns: int,
    ) -> Any:
        """Its answer to what is said to it, with tools given besides its own. AgentStopped where there is none."""


def read_agent(name: str, found: Any) -> AuthoredAgent:
    """The agent in an object of a package; Invalid says why it cannot be run under a governor."""
    libraries = {base.__module__.partition(".")[0] for base in type(found).__mro__}
    # An object of a library is only there where the library is loaded.
    if "agents" in libraries and "agents" in sys.modules:
        from steward.models.openai_agents import OpenAiAgent, is_agent

        if is_agent(found):
            return OpenAiAgent(name, found)
    if "pydantic_ai" in libraries:
        from steward.models.pydantic_agents import PydanticAgent
        from steward.models.pydantic_agents import is_agent as is_pydantic_agent

        if is_pydantic_agent(found):
            return PydanticAgent(name, found)
    raise Invalid(
        f"{name} is neither an Agent of openai-agents nor one of pydantic-ai.", code="plugin"
    )
