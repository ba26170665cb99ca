"""Agents that packages bring: who they are, what their tools may do at worst, and how authors say it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.operating.equipment import MEMORY_TOOLS
from steward.agents.operating.roster import Agent, Memory, builtin_roster, library_roster
from steward.broker import Risk
from steward.core import Conflict, Invalid, Registry
from steward.models import AuthoredAgent, read_agent

MOST_TOOLS: Final = 8
"""As many as a step of a plan; models choose badly among more."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class Packaged:
    """An agent as its author declares it; an agent without this counts as one whose tools may do anything."""

    agent: Any
    """An Agent of openai-agents or of pydantic-ai."""
    reads: Collection[str] = ()
    """Names of its tools that only read; all others are taken to send something out."""
    description: str = ""
    """When to choose it."""
    memory: Memory | None = None
    """What it remembers between runs; unset: nothing."""


@dataclass(frozen=True)
class PackageAgent:
    """An agent that a plug-in brings, loaded in this process."""

    name: str
    pin: Mapping[str, str]
    """The plug-in, its version and the hash of its wheel."""
    authored: AuthoredAgent
    reads: frozenset[str] = frozenset()
    description: str = ""
    memory: Memory | None = None

    def risk(self, tool: str) -> Risk:
        return Risk.read if tool in self.reads else Risk.external_send

    def tool_name(self, tool: str) -> str:
        """What the broker calls a tool of the agent."""
        return f"plugin.{self.pin['plugin']}.{self.name}.{tool}"

    @property
    def document(self) -> Agent:
        """The agent as lists and grants see it."""
        authored = self.authored
        risks = [self.risk(tool) for tool in authored.tools]
        about = self.description or authored.description
        return Agent(
            name=self.name,
            title=authored.title[:80] or self.name,
            description=about[:500] or f"An agent of the plug-in {self.pin['plugin']}.",
            instructions=authored.instructions[:20_000] or "Written in its plug-in.",
            tools=[self.tool_name(tool) for tool in authored.tools],
            highest_risk=max(risks, key=lambda risk: risk.rank, default=Risk.read),
            memory=self.memory,
        )


AGENTS: Final[Registry[PackageAgent]] = Registry("agent")
"""Those of the plug-ins that this process has loaded."""


def package_agent(name: str) -> PackageAgent | None:
    if name not in AGENTS:
        # Another process may have installed it a moment ago.
        AGENTS.look_again()
    return AGENTS.get(name) if name in AGENTS else None


def package_agents() -> Iterator[PackageAgent]:
    return (agent for _, agent in AGENTS)


def read_package_agent(name: str, pin: Mapping[str, str], found: Any) -> PackageAgent:
    """The agent in an object of a plug-in; Invalid says why Steward cannot run it."""
    declared = found if isinstance(found, Packaged) else Packaged(found)
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} is no name of an agent: it has small letters, digits and hyphens.",
            code="plugin",
        )
    if name in builtin_roster() or name in library_roster():
        raise Conflict(f"An agent called {name!r} comes with Steward. Rename it.", code="plugin")
    authored = read_agent(name, declared.agent)
    if len(authored.tools) > MOST_TOOLS:
        raise Invalid(
            f"{name} and those it hands over to have {len(authored.tools)} tools; at most {MOST_TOOLS} fit.",
            code="plugin",
        )
    unknown = sorted(set(declared.reads) - authored.tools.keys())
    if unknown:
        raise Invalid(f"{name} has no tool {unknown[0]!r} that could only read.", code="plugin")
    taken = sorted(set(MEMORY_TOOLS) & authored.tools.keys())
    if declared.memory is not None and taken:
        raise Invalid(
            f"{name} has a memory, which brings a tool {taken[0]!r}, and a tool of that name itself. Rename its own.",
            code="plugin",
        )
    return PackageAgent(
        name, pin, authored, frozenset(declared.reads), declared.description, declared.memory
    )
