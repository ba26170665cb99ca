"""Does the same for every item of a list, several at a time; the output is the list of results, in order."""

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from steward.core import StewardError
from steward.flows.node import NODES, Body, Expr, Node, Place, Starter, Valued, joined
from steward.flows.nodes.tool import ToolNode
from steward.runs import StepFailed


@NODES.register("map")
class MapNode(Node):
    type: Literal["map"]
    over: Expr
    body: Body
    concurrency: int = Field(4, ge=1, le=64)
    at_most: int = Field(1_000, ge=1, le=10_000, description="More items than this are refused.")
    on_item_error: Literal["fail", "continue"] = Field(
        "fail", description="`continue` puts the error in the item's place."
    )

    approve_together: bool = Field(
        False,
        description="Asks once for all calls of the list, each shown exactly, where a policy asks at all; "
        "the body is then a single tool.",
    )

    @model_validator(mode="after")
    def _one_tool_to_approve(self) -> "MapNode":
        tools = [node for node in self.body.nodes if isinstance(node, ToolNode)]
        if self.approve_together and (len(tools) != 1 or len(self.body.nodes) != 1):
            raise ValueError("approve_together needs a body of a single tool node")
        return self

    parts: ClassVar = ("item", "index")
    graphs: ClassVar = ("/body",)
    group: ClassVar = "Logic"
    starters: ClassVar = (Starter("For each item", {"over": "[1, 2, 3]", "body": {"nodes": []}}),)

    def output_schema(self, tool_outputs: Any) -> dict[str, Any] | None:  # noqa: ARG002
        return {"type": "array"}

    async def run(self, at: Place) -> Valued:
        over = at.computed(self.over)
        items = self._checked(at.key, over.value)
        at.part_done(0, len(items))
        async with at.budget_for(len(items)):
            found = await self._each(at, over, items)
        labels = joined([over.labels, *(each.labels for each in found)])
        return Valued([each.value for each in found], labels)

    async def _each(self, at: Place, over: Valued, items: list[Any]) -> list[Valued]:
        found: list[Valued] = [Valued(None)] * len(items)
        if self.approve_together:
            await self._approved(at, over, items)
        free = asyncio.Semaphore(self.concurrency)
        finished = 0

        async def one(index: int, item: Any) -> None:
            nonlocal finished
            also = {"item": Valued(item, over.labels), "index": Valued(index)}
            async with free:
                found[index] = await self._item(at, index, also)
            finished += 1
            at.part_done(finished, len(items))

        branches: list[Coroutine[Any, Any, None]] = [one(i, item) for i, item in enumerate(items)]
        await at.execution.together(branches)
        return found

    async def _approved(self, at: Place, over: Valued, items: list[Any]) -> None:
        (node,) = self.body.nodes
        if isinstance(node, ToolNode):
            each = [
                {"item": Valued(item, over.labels), "index": Valued(index)}
                for index, item in enumerate(items)
            ]
            await at.approve_together(node.tool, node.arguments, each)

    async def _item(self, at: Place, index: int, also: dict[str, Valued]) -> Valued:
        try:
            return await at.body(f"[{index}]", self.body, also)
        except (StepFailed, StewardError) as problem:
            if self.on_item_error == "fail":
                raise
            code = problem.code if isinstance(problem, StepFailed) else problem.specific_code
            return at.error(code, problem.message)

    def _checked(self, key: str, items: Any) -> list[Any]:
        if not isinstance(items, list):
            raise StepFailed(key, "not-a-list", f"What {self.id!r} goes over is not a list.")
        if len(items) > self.at_most:
            raise StepFailed(
                key,
                "too-many-items",
                f"The list of {self.id!r} has {len(items):,} items, more than the "
                f"{self.at_most:,} it allows; raise `at_most` or filter before.",
            )
        return items
