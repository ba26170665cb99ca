"""Runs another flow, written here or named; within this run, or as a run of its own under it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from steward.core import Invalid
from steward.flows.node import NODES, JsonSchema, Node, Place, Starter, Templates, Valued

if TYPE_CHECKING:
    from steward.flows.model import Flow

    AnyFlow: TypeAlias = Flow


@NODES.register("subflow")
class SubflowNode(Node):
    type: Literal["subflow"]
    ref: str | None = Field(
        None, max_length=200, description="Name of a flow; pinned when the run starts."
    )
    flow: "AnyFlow | None" = None
    inputs: Templates = Field(default={})
    run_as: Literal["part", "child"] = Field(
        "part", description="`child` makes a run of its own, with its own journal."
    )

    flows: ClassVar = ("/flow",)
    group: ClassVar = "Flows"
    starters: ClassVar = (Starter("Run another flow", {"ref": ""}),)

    @model_validator(mode="after")
    def _one_of_both(self) -> "SubflowNode":
        if self.ref is None and self.flow is None:
            raise ValueError("a sub-flow is named by `ref` or written under `flow`")
        return self

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return self.flow.outputs if self.flow is not None else None

    async def run(self, at: Place) -> Valued:
        if self.flow is None:
            raise Invalid(
                f"The flow {self.ref!r} was not pinned when the run started; start it again."
            )
        inputs = at.filled(self.inputs)
        if self.run_as == "child":
            return await at.child(self.flow, inputs)
        return await at.flow(self.flow, inputs)
