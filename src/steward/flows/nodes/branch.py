"""Goes one of several ways: the first condition that holds, or `else`."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from steward.flows.node import (
    NODES,
    Document,
    Expr,
    Id,
    JsonSchema,
    Labels,
    Node,
    Place,
    Starter,
    Valued,
    joined,
)
from steward.runs import StepFailed


class Case(Document):
    port: Id
    when: Expr


@NODES.register("branch")
class BranchNode(Node):
    type: Literal["branch"]
    cases: list[Case] = Field(min_length=1, max_length=50)

    exits: ClassVar = ("/cases/*/port", "else")
    group: ClassVar = "Logic"
    starters: ClassVar = (
        Starter("Choose a way", {"cases": [{"port": "yes", "when": "inputs.choice == 'yes'"}]}),
    )

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return {
            "type": "object",
            "properties": {"port": {"type": "string"}},
            "additionalProperties": False,
        }

    async def run(self, at: Place) -> Valued:
        labels: list[Labels | None] = []
        for case in self.cases:
            found = at.computed(case.when)
            labels.append(found.labels)
            if not isinstance(found.value, bool):
                raise StepFailed(
                    at.key,
                    "condition",
                    f"The condition of {case.port!r} in {self.id!r} gave neither true nor false.",
                )
            if found.value:
                return Valued({"port": case.port}, joined(labels), case.port)
        return Valued({"port": "else"}, joined(labels), "else")
