"""Tools of plug-ins: `plugin.<plug-in>.<tool>`, in the sandbox or with the server's rights."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from steward.broker.tool import Outcome, Risk, Tool, ToolContext
from steward.core.errors import NotFound, StewardError
from steward.plugins.registry import Plugin, Plugins
from steward.plugins.wheel import SANDBOXED, Part
from steward.runs import Json
from steward.store import Scope
from steward.tools._scripts import sandboxed_tool

WORD: Final = "plugin"
_KINDS: Final = frozenset({SANDBOXED, "tool"})


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
        raise NotFound(f"The plug-in {plugin_name} has no tool {tool_name!r}.")

    def listed(self, _scope: Scope) -> Iterator[Tool[Any]]:
        for plugin in self._plugins.active():
            for part in plugin.parts:
                if part.kind in _KINDS:
                    try:
                        yield self._tool(plugin, part)
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
