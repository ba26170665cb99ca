"""What the flow, or the graph inside a node, gives back."""

from typing import ClassVar, Literal

from steward.flows.node import NODES, Id, Node, Place, Starter, Template, Valued


@NODES.register("output")
class OutputNode(Node):
    """With a name it is one field of the result; without, it is the result."""

    type: Literal["output"]
    name: Id | None = None
    value: Template

    group: ClassVar = "Flows"
    starters: ClassVar = (Starter("Result", {"value": ""}, takes="value"),)

    async def run(self, at: Place) -> Valued:
        return at.filled(self.value)
