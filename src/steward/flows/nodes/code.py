"""Runs SQL or Python over the project's data, in the sandbox.

It does so through the tools `query` and `execute_python`, never in this process. Expressions have no place in the code
itself, where a value could turn into code; they go into `parameters`.
"""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from steward.broker import CODE
from steward.flows.node import NODES, JsonSchema, Node, Place, Starter, Templates, ToolCall, Valued
from steward.runs import Json

_TOOLS: Final = {"sql": ("query", "sql"), "python": ("execute_python", "code")}


@NODES.register("code")
class CodeNode(Node):
    type: Literal["code"]
    language: Literal["sql", "python"]
    code: str = Field(
        min_length=1, max_length=100_000, json_schema_extra={CODE: {"field": "language"}}
    )
    parameters: Templates = Field({}, description="Values the code uses, by name.")
    limit: int | None = Field(
        None,
        ge=1,
        le=100_000,
        title="Most rows",
        description="How many rows SQL gives at most; unset: 200. More are cut off, and the step says so.",
    )

    group: ClassVar = "Code"
    starters: ClassVar = (
        Starter("SQL", {"language": "sql", "code": "SELECT 1 AS one"}),
        Starter("Python", {"language": "python", "code": "print(1)"}),
    )

    def tool_call(self) -> ToolCall | None:
        pointers = {_TOOLS[self.language][1]: "/code", "parameters": "/parameters"}
        return ToolCall(self._tool, "/language", self._arguments, pointers)

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:
        return tool_outputs.get(self._tool)

    async def run(self, at: Place) -> Valued:
        return await at.call_tool(self._tool, self._arguments)

    @property
    def _tool(self) -> str:
        return _TOOLS[self.language][0]

    @property
    def _arguments(self) -> dict[str, Json]:
        # What looks like an expression in code is code.
        given: dict[str, Json] = {_TOOLS[self.language][1]: self.code.replace("${", "$${")}
        if self.limit is not None and self.language == "sql":
            given["limit"] = self.limit
        return given | ({"parameters": self.parameters} if self.parameters else {})
