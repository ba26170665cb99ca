"""Hands a task to an agent; which agents there are is not the flow's business."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from steward.flows.node import NODES, JsonSchema, Node, Place, Template, TextTemplate, Valued


@NODES.register("agent")
class AgentNode(Node):
    type: Literal["agent"]
    instructions: TextTemplate = Field(min_length=1, max_length=50_000)
    context: Template = Field(None, description="Data the agent works on.")
    tools: list[str] = Field(
        [], max_length=200, description="What it may call; within the run's own."
    )
    max_steps: int = Field(30, ge=1, le=1_000)
    output: JsonSchema | None = Field(None, description="JSON Schema that its answer must fulfil.")

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return self.output

    def schemas(self) -> Iterator[tuple[str, JsonSchema]]:
        if self.output is not None:
            yield "/output", self.output

    async def run(self, at: Place) -> Valued:
        asked = at.filled({"instructions": self.instructions, "context": self.context})
        agent = {
            **asked.value,
            "tools": self.tools,
            "max_steps": self.max_steps,
            "output": self.output,
        }
        return await at.run_agent(agent, asked.labels)
