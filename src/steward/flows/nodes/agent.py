"""Hands a task to an agent."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.flows.node import (
    NODES,
    JsonSchema,
    Node,
    Place,
    Starter,
    Template,
    Templates,
    TextTemplate,
    Valued,
)


@NODES.register("agent")
class AgentNode(Node):
    type: Literal["agent"]
    agent: str | None = Field(
        None,
        max_length=80,
        description="An agent by name, with its tools where none are named here; unset: what the instructions say.",
        json_schema_extra={"format": "agent"},
    )
    instructions: TextTemplate = Field(min_length=1, max_length=50_000)
    context: Template = Field(None, description="Data the agent works on.")
    tools: list[str] = Field(
        [],
        max_length=200,
        description="What it may call; within the run's own.",
        json_schema_extra={"format": "tools"},
    )
    fallback_tools: list[str] = Field(
        [],
        max_length=200,
        description="What it may call once one of those has failed.",
        json_schema_extra={"format": "tools"},
    )
    arguments: Templates = Field(
        default_factory=dict,
        description="Arguments of the first tool, as far as they are known; it cannot change them.",
    )
    open: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Arguments that it finds in its context, each with the names there; others that say where "
        "something goes, how much, how often or how far stay empty unless the tool requires them.",
    )
    skill: str | None = Field(
        None,
        max_length=120,
        description="A skill it follows, by name.",
        json_schema_extra={"format": "skill"},
    )
    budget: dict[str, Any] | None = Field(
        None, description="The most it may use: `calls`, `tokens`, `usd`."
    )
    max_steps: int = Field(30, ge=1, le=1_000)
    output: JsonSchema | None = Field(None, description="JSON Schema that its answer must fulfil.")

    group: ClassVar = "Agents"
    starters: ClassVar = (
        Starter(
            "Ask an agent",
            {"instructions": "Say in two sentences what matters here."},
            takes="context",
        ),
    )

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return self.output

    def schemas(self) -> Iterator[tuple[str, JsonSchema]]:
        if self.output is not None:
            yield "/output", self.output

    async def run(self, at: Place) -> Valued:
        parts = {
            "instructions": at.filled(self.instructions),
            "context": at.filled(self.context),
            "arguments": at.filled(self.arguments),
        }
        agent = {**self.asked(), **{name: part.value for name, part in parts.items()}}
        return await at.run_agent(agent, {name: part.labels for name, part in parts.items()})

    def asked(self) -> dict[str, Any]:
        """What an agent is asked, as it is written: no expression is computed."""
        return {
            "instructions": self.instructions,
            "context": self.context,
            "arguments": self.arguments,
            "agent": self.agent,
            "title": self.title,
            "tools": self.tools,
            "fallback_tools": self.fallback_tools,
            "open": self.open,
            "skill": self.skill,
            "budget": self.budget,
            "max_steps": self.max_steps,
            "output": self.output,
        }
