"""Repeats a graph until a condition holds, at most so many times: the only cycle there is."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from steward.flows.node import NODES, Body, Node, Place, Reads, Starter, Template, Valued, joined
from steward.runs import StepFailed


@NODES.register("loop")
class LoopNode(Node):
    """Inside, `last` is the result of the pass before, and `index` counts from 0."""

    type: Literal["loop"]
    until: Annotated[str, Reads(bare=True, names=("last", "index")), Field(min_length=1)]
    at_most: int = Field(ge=1, le=1_000)
    body: Body
    first: Template = Field(None, description="What `last` is in the first pass.")
    exhausted: Literal["fail", "continue"] = Field(
        "fail", description="What happens when the condition never held."
    )

    parts: ClassVar = ("last", "index")
    graphs: ClassVar = ("/body",)
    group: ClassVar = "Logic"
    starters: ClassVar = (
        Starter("Repeat until", {"until": "index >= 2", "at_most": 10, "body": {"nodes": []}}),
    )

    async def run(self, at: Place) -> Valued:
        last = at.filled(self.first)
        for index in range(self.at_most):
            also = {"last": last, "index": Valued(index)}
            last = await at.body(f"#{index + 1}", self.body, also)
            at.part_done(index + 1, self.at_most)
            verdict = at.computed(self.until, {"last": last, "index": Valued(index)})
            if not isinstance(verdict.value, bool):
                raise StepFailed(
                    at.key,
                    "condition",
                    f"The condition of {self.id!r} gave neither true nor false.",
                )
            if verdict.value:
                return Valued(last.value, joined([last.labels, verdict.labels]))
        if self.exhausted == "fail":
            raise StepFailed(
                at.key,
                "exhausted",
                f"{self.id!r} was repeated {self.at_most} times and its condition never held.",
            )
        return last
