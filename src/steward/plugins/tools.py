"""Tools of plug-ins: `plugin.<plug-in>.<tool>`, in the sandbox or with the server's rights.

The tools of an agent that a plug-in brings are `plugin.<plug-in>.<agent>.<tool>`.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from pydantic_core import to_jsonable_python

from steward.agents import PackageAgent
from steward.broker import (
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
    arguments_of,
)
from steward.core import NotFound, StewardError
from steward.plugins.registry import Plugin, Plugins
from steward.plugins.wheel import SANDBOXED, Part
from steward.runs import Json
from steward.store import Scope
from steward.tools import sandboxed_tool

WORD: Final = "plugin"
_KINDS: Final = frozenset({SANDBOXED, "tool"})
_LONGEST: Final = timedelta(minutes=10)


class PluginTools:
    """Provides the broker with the tools of plug-ins that are switched on."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def find(self, _scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        plugin_name, tool_name = _parts(name)
        plugin = self._plugins.find(plugin_name, None if pin is None else pin["sha256"])
        for part in plugin.parts:
            if part.kind in _KINDS and part.name == tool_name:
                return self._tool(plugin, part)
        agent_name, _, function = tool_name.partition(".")
        if function and any(p.kind == "agent" and p.name == agent_name for p in plugin.parts):
            agent: PackageAgent = self._plugins.part(plugin, "agent", agent_name)
            if function in agent.authored.tools:
                return agent_tool(agent, function)
        raise NotFound(f"The plug-in {plugin_name} has no tool {tool_name!r}.")

    def listed(self, _scope: Scope) -> Iterator[Tool[Any]]:
        for plugin in self._plugins.active():
            for part in plugin.parts:
                try:
                    if part.kind in _KINDS:
                        yield self._tool(plugin, part)
                    elif part.kind == "agent":
                        agent: PackageAgent = self._plugins.part(plugin, "agent", part.name)
                        yield from (agent_tool(agent, name) for name in agent.authored.tools)
                except StewardError:
                    # The page Plug-ins says why it could not be loaded here.
                    continue

    def _tool(self, plugin: Plugin, part: Part) -> Tool[Any]:
        name = f"{WORD}.{plugin.name}.{part.name}"
        pin = {"plugin": plugin.name, "version": plugin.version, "sha256": plugin.sha256}
        source = f"{WORD}:{plugin.name}@{plugin.version}"
        if part.kind == SANDBOXED:
            wheel = self._plugins.wheel(plugin)
            return sandboxed_tool(
                name=name,
                title=part.title,
                description=part.description,
                arguments=part.arguments or {},
                risk=Risk(part.risk or Risk.compute),
                code=wheel.source_of(part),
                function=part.attribute,
                summary=f"{part.name} of the plug-in {plugin.name}",
                source=source,
                pin=pin,
            )
        return _with_source(
            replace(self._plugins.part(plugin, "tool", part.name), name=name, pin=pin), source
        )


def agent_tool(agent: PackageAgent, function: str) -> Tool[Any]:
    """A function of an agent as a tool; what an argument is for counts as undeclared unless its author declares it."""
    authored = agent.authored.tools[function]
    name, risk = agent.tool_name(function), agent.risk(function)
    plugin, version = agent.pin["plugin"], agent.pin["version"]
    reads = risk is Risk.read

    async def dry_run(_context: ToolContext, arguments: Arguments) -> Preview:
        return Preview(
            summary=f"{function} of the agent {agent.name}",
            details={"plug-in": f"{plugin} {version}"},
            irreversible=None if reads else "Steward cannot undo what the plug-in does.",
            payload={"tool": name, "arguments": arguments.model_dump(mode="json")},
        )

    async def run(context: ToolContext, arguments: Arguments) -> Outcome:
        found = await authored.call(context.key, arguments.model_dump(mode="json"))
        return Outcome(
            value=to_jsonable_python(found, fallback=str),
            summary=f"{function} of the agent {agent.name}",
            sources=(f"{WORD}:{plugin}@{version}",),
            trusted=False,
        )

    return Tool(
        name=name,
        title=f"{function} ({agent.name})",
        description=authored.description or f"A function of the agent {agent.name}.",
        arguments=arguments_of(authored.parameters, name),
        risk=risk,
        run=run,
        effects=Effects(reads=reads, writes=not reads, network=not reads),
        dry_run=dry_run,
        timeout=_LONGEST,
        destination=lambda _arguments: f"{WORD}:{plugin}",
        pin=dict(agent.pin),
    )


def _with_source(tool: Tool[Any], source: str) -> Tool[Any]:
    async def run(context: ToolContext, arguments: Any) -> Outcome:
        done = await tool.run(context, arguments)
        return replace(done, sources=(*done.sources, source))

    return replace(tool, run=run)


def _parts(name: str) -> tuple[str, str]:
    word, _, rest = name.partition(".")
    plugin, _, tool = rest.partition(".")
    if word != WORD or not plugin or not tool:
        raise NotFound(
            f"{name!r} is not a tool of a plug-in; those are called {WORD}.<plug-in>.<tool>."
        )
    return plugin, tool
