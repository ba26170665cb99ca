"""Calls a tool, through the broker."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from steward.flows.expressions import escaped
from steward.flows.node import NODES, JsonSchema, Node, Place, Starter, Templates, ToolCall, Valued


@NODES.register("tool")
class ToolNode(Node):
    type: Literal["tool"]
    tool: str = Field(min_length=1, max_length=100)
    arguments: Templates = Field(default={})
    accept_failure: bool = Field(
        default=False,
        title="Go on when the service reports an error",
        description="The step's output is then the answer, with its status: a lookup that finds nothing, for example.",
    )

    group: ClassVar = "Tools"
    starters: ClassVar = (Starter("Call a tool", {"tool": "", "arguments": {}}),)

    def tool_call(self) -> ToolCall | None:
        pointers = {name: f"/arguments/{escaped(name)}" for name in self.arguments}
        return ToolCall(self.tool, "/tool", self.arguments, pointers)

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:
        return tool_outputs.get(self.tool)

    async def run(self, at: Place) -> Valued:
        return await at.call_tool(self.tool, self.arguments, accept_failure=self.accept_failure)
