"""Packages of others: wheels that add tools, nodes, triggers, kinds of connections, guardrails and agents, with the consent of an owner."""

from steward.plugins import code
from steward.plugins.packing import pack_folder
from steward.plugins.registry import Plugin, Plugins, declaration
from steward.plugins.scaffold import KINDS, write_package
from steward.plugins.tools import PluginTools, agent_tool
from steward.plugins.wheel import MOST_BYTES, Part, Wheel, read_wheel

__all__ = [
    "KINDS",
    "MOST_BYTES",
    "Part",
    "Plugin",
    "PluginTools",
    "Plugins",
    "Wheel",
    "agent_tool",
    "code",
    "declaration",
    "pack_folder",
    "read_wheel",
    "write_package",
]
