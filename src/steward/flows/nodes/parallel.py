"""Several named graphs at the same time; the output has one field for each."""

from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.flows.node import NODES, Body, Id, JsonSchema, Node, Place, Starter, Valued, joined


@NODES.register("parallel")
class ParallelNode(Node):
    type: Literal["parallel"]
    branches: dict[Id, Body] = Field(min_length=1, max_length=50)

    graphs: ClassVar = ("/branches/*",)
    group: ClassVar = "Logic"
    starters: ClassVar = (
        Starter(
            "At the same time", {"branches": {"first": {"nodes": []}, "second": {"nodes": []}}}
        ),
    )

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return {
            "type": "object",
            "properties": {name: {} for name in self.branches},
            "additionalProperties": False,
        }

    async def run(self, at: Place) -> Valued:
        found: dict[str, Valued] = {}

        async def one(name: str, body: Body) -> None:
            found[name] = await at.body(f"/{name}", body, {})
            at.part_done(len(found), len(self.branches))

        async with at.budget_for(len(self.branches)):
            branches: list[Coroutine[Any, Any, None]] = [
                one(name, body) for name, body in self.branches.items()
            ]
            await at.execution.together(branches)
        labels = joined([found[name].labels for name in self.branches])
        return Valued({name: found[name].value for name in self.branches}, labels)
