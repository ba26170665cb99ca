"""What the flow, or the graph inside a node, gives back."""

from typing import Literal

from steward.flows.node import NODES, Id, Node, Place, Template, Valued


@NODES.register("output")
class OutputNode(Node):
    """With a name it is one field of the result; without, it is the result."""

    type: Literal["output"]
    name: Id | None = None
    value: Template

    async def run(self, at: Place) -> Valued:
        return at.filled(self.value)
