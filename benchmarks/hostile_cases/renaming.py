"""The same tools under meaningless names: what an argument is called must not matter, only what it declares to be for."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from steward.agents.planning.plan import PlanStep
from steward.broker.declared import arguments_of
from steward.broker.plans import validated
from steward.broker.tool import Arguments, Outcome, Preview, Tool, ToolContext
from steward.core.errors import NotFound
from steward.runs import Json, Reconciled, Ticket
from steward.store import Scope

WORD: Final = "x"
"""With which the names of renamed built-in tools begin."""


class Names:
    """What tools and their arguments are called, there and back; without tools, everything keeps its name."""

    def __init__(self, tools: Mapping[str, Iterable[str]] | None = None) -> None:
        known = {name: list(arguments) for name, arguments in (tools or {}).items()}
        self._tools = {name: f"t{number}" for number, name in enumerate(known, 1)}
        pairs = [(tool, argument) for tool, arguments in known.items() for argument in arguments]
        self._arguments = {pair: f"a{number}" for number, pair in enumerate(pairs, 1)}
        self._tools_back = {new: name for name, new in self._tools.items()}
        self._arguments_back = {(tool, new): name for (tool, name), new in self._arguments.items()}

    def tool(self, name: str) -> str:
        """Of a full name, the part after the last dot."""
        start, dot, last = name.rpartition(".")
        return f"{start}{dot}{self._tools.get(last, last)}"

    def tool_back(self, name: str) -> str:
        start, dot, last = name.rpartition(".")
        return f"{start}{dot}{self._tools_back.get(last, last)}"

    def arguments(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """By the tool's own name; what it does not take keeps its name, and is refused under it."""
        last = tool.rpartition(".")[2]
        return {self._arguments.get((last, name), name): value for name, value in given.items()}

    def arguments_back(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        last = tool.rpartition(".")[2]
        return {self._arguments_back.get((last, name), name): value for name, value in given.items()}  # fmt: skip

    def step(self, step: PlanStep) -> PlanStep:
        """A plan gives the arguments of its first tool."""
        first = step.tools[0] if step.tools else ""
        return step.model_copy(
            update={
                "tools": [self.tool(name) for name in step.tools],
                "fallback_tools": [self.tool(name) for name in step.fallback_tools],
                "arguments": self.arguments(first, step.arguments),
                "open": self.arguments(first, step.open),
            }
        )


class BuiltIn(Names):
    """The built-in tools as `x.t1` and so on, brought to the broker as skills and connections bring theirs."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._known = {tool.name: tool for tool in tools}
        super().__init__({name: tool.schema()["properties"] for name, tool in self._known.items()})

    def tool(self, name: str) -> str:
        return f"{WORD}.{super().tool(name)}" if name in self._known else name

    def tool_back(self, name: str) -> str:
        return super().tool_back(name).removeprefix(f"{WORD}.")

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:  # noqa: ARG002
        known = self._known.get(self.tool_back(name))
        if known is None:
            raise NotFound(f"There is no tool {name!r}.")
        return self._renamed(known)

    def listed(self, scope: Scope) -> Iterable[Tool[Any]]:  # noqa: ARG002
        return [self._renamed(tool) for tool in self._known.values()]

    def _renamed(self, tool: Tool[Any]) -> Tool[Any]:
        schema = tool.schema()
        declared = {
            **schema,
            "properties": self.arguments(tool.name, schema["properties"]),
            "required": list(self.arguments(tool.name, dict.fromkeys(schema.get("required", ())))),
        }
        name = self.tool(tool.name)

        def back(given: Arguments) -> Any:
            return validated(tool, self.arguments_back(tool.name, given.model_dump(mode="json")))

        async def run(context: ToolContext, given: Arguments) -> Outcome:
            return await tool.run(context, back(given))

        async def dry_run(context: ToolContext, given: Arguments) -> Preview:
            assert tool.dry_run is not None
            return await tool.dry_run(context, back(given))

        async def reconcile(context: ToolContext, given: Arguments, ticket: Ticket) -> Reconciled:
            assert tool.reconcile is not None
            return await tool.reconcile(context, back(given), ticket)

        estimate, destination = tool.estimate, tool.destination
        return replace(
            tool,
            name=name,
            arguments=arguments_of(declared, name),
            run=run,
            dry_run=dry_run if tool.dry_run else None,
            reconcile=reconcile if tool.reconcile else None,
            undo=None,
            estimate=(lambda context, given: estimate(context, back(given))) if estimate else None,
            destination=(lambda given: destination(back(given))) if destination else None,
            pin={"renamed": tool.name},
        )
