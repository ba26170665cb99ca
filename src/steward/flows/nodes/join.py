"""Brings branches together again: waits for all its needs; the output has a field for each one that was taken."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from steward.flows.node import NODES, JsonSchema, Node, Place, Starter, Valued, joined


@NODES.register("join")
class JoinNode(Node):
    type: Literal["join"]
    start: Literal["all", "any"] = "any"

    group: ClassVar = "Logic"
    starters: ClassVar = (Starter("Bring ways together"),)

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return {
            "type": "object",
            "properties": {need.split(".")[0]: {} for need in self.needs},
            "additionalProperties": False,
        }

    async def run(self, at: Place) -> Valued:
        found = {}
        labels = []
        for name in dict.fromkeys(need.split(".")[0] for need in self.needs):
            if at.computed(f"nodes.{name}.state").value != "skipped":
                output = at.computed(f"nodes.{name}.output")
                found[name] = output.value
                labels.append(output.labels)
        return Valued(found, joined(labels))
