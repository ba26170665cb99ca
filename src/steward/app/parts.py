"""Where deployments look up the parts of other rooms: tools, skills, agents, connections, models, policies, code."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from importlib.resources import files

from steward import __version__
from steward.agents import Use
from steward.agents.composed import ComposedAgents
from steward.agents.skills import Skills
from steward.broker import Rulebook, Toolbox
from steward.connections import Desk
from steward.core import NotFound
from steward.models import ModelDesk, Role
from steward.playbooks import Pin, PinSource
from steward.plugins import Plugin, Plugins
from steward.runs import digest
from steward.store import Scope


@dataclass(frozen=True)
class PartSources:
    tools: Toolbox
    skills: Skills
    agents: ComposedAgents
    connections: Desk
    desk: ModelDesk
    rulebook: Rulebook
    plugins: Plugins

    def names(self) -> dict[str, Callable[[Scope], Sequence[str]]]:
        """What playbooks may name besides tools, by the field of their document."""
        return {
            "agents": lambda scope: [each.agent.name for each in self.agents.listed(scope)],
            "connections": lambda scope: [
                each.name for each in self.connections.documents.listed(scope)
            ],
            "skills": lambda scope: [each.name for each in self.skills.catalogue(scope)],
        }

    def by_kind(self) -> dict[str, PinSource]:
        return {
            "tool": self._tools,
            "skill": self._skills,
            "agent": self._agents,
            "connection": self._connections,
            "model": self._models,
            "policy": self._policies,
            "code": self._code,
            "plugin": self._installed,
        }

    def _tools(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        for name in names:
            try:
                tool = self.tools.get(scope, name)
            except NotFound:
                continue
            known = [tool.schema(), tool.risk.value, tool.description, tool.pin]
            yield Pin("tool", name, digest(known))

    def _skills(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        for name in names:
            try:
                skill = self.skills.get(scope, name)
            except NotFound:
                continue
            # The version of a skill that Steward brings along is that of its code.
            own = str(skill.version) if skill.version else ""
            yield Pin("skill", name, skill.digest, own, fixed=bool(own))

    def _agents(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        """Named agents and those who go on with their work; of the latter Steward tells when they change."""
        reached = {each.name: each for name in names for each in self.agents.team(scope, name)}
        for name, agent in reached.items():
            own = self.agents.current(scope, name)
            version = str(own.version) if own is not None and own.agent is not None else ""
            fixed = bool(version) and name in names
            yield Pin("agent", name, digest(agent.model_dump(mode="json")), version, fixed=fixed)

    def _connections(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        for name in names:
            try:
                each = self.connections.documents.named(scope, name)
            except NotFound:
                continue
            # How it is set up, never its secrets.
            yield Pin("connection", each.name, digest(each.settings), str(each.revision))

    def _models(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        """The models of `operator` and of `agent …` with those who go on with its work; fixed, each with its settings."""
        asked: dict[str, tuple[Role, str | None]] = {}
        for name in names:
            kind, _, agent = name.partition(" ")
            team = self.agents.team(scope, agent) if agent else []
            asked |= {each.model or each.role: (Role(each.role), each.model) for each in team}
            asked |= {} if agent else {kind: (Role(kind), None)}
        for name, (role, model) in sorted(asked.items()):
            pins = self.desk.pins(scope, role, model)
            if pins:
                told = ", ".join(dict.fromkeys(each["model"] for each in pins))
                yield Pin("model", name, digest(pins), told[:200], fixed=True, content=pins)

    def _policies(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        levels: list[tuple[str, str | None]] = [("organisation", None), ("project", None)]
        levels += [("playbook", name) for name in names]
        for level, subject in levels:
            found = self.rulebook.current(scope, level, subject)
            if found.text:
                name = f"{level} {subject}" if subject else level
                own = str(found.revision)
                yield Pin("policy", name, digest(found.text), own, fixed=True, content=found.text)

    def _code(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        """Plug-ins of which a flow uses a part, named as `tool …`, `node …` and so on, are fixed.

        Of Steward's own code and of plug-ins that run with its rights a change is only told: an upgrade strands no run.
        """
        yield Pin("code", "steward", _code_hash(), __version__)
        used = self._used(scope, names)
        for each in self.plugins.active():
            name = f"plug-in {each.name}"
            if any(_brings(each, kind, part) for kind, part in used):
                yield Pin("code", name, each.sha256, each.version, fixed=True, content=each.name)
            elif each.rights:
                yield Pin("code", name, each.sha256, each.version)

    def _used(self, scope: Scope, names: Sequence[str]) -> set[tuple[str, str]]:
        """Kinds and names of parts, with the kinds of named connections and what named agents bring along."""
        found: set[tuple[str, str]] = set()
        for named in names:
            kind, _, name = named.partition(" ")
            found.add((kind, name.partition("@")[0]))
            found |= self._connector(scope, name) if kind == "connection" else set()
            for agent in self.agents.team(scope, name) if kind == "agent" else ():
                found.add(("agent", agent.name))
                found |= {("tool", tool) for tool in agent.tools}
                found |= {("guardrail", _guardrail(use)) for use in agent.guardrails}
        return found

    def _connector(self, scope: Scope, name: str) -> set[tuple[str, str]]:
        """The kind of a connection, which a plug-in may bring."""
        try:
            return {("connector", self.connections.documents.named(scope, name).kind)}
        except NotFound:
            return set()

    def _installed(self, _scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        """Plug-ins that are switched on."""
        for each in self.plugins.active():
            if each.name in names:
                yield Pin("plugin", each.name, each.sha256, each.version)


def _guardrail(use: Use) -> str:
    return use if isinstance(use, str) else str(use.get("use", ""))


def _brings(plugin: Plugin, kind: str, name: str) -> bool:
    if kind != "tool":
        return any((part.kind, part.name) == (kind, name) for part in plugin.parts)
    # The tools of an agent begin with its name; an agent may name several tools by a pattern.
    prefix = f"plugin.{plugin.name}."
    return name.startswith(prefix) or any(
        fnmatchcase(f"{prefix}{part.name}", name) for part in plugin.parts
    )


@cache
def _code_hash() -> str:
    """One hash over the installed Python files; they do not change while a process runs."""
    found = sha256()
    open_ends = [files("steward")]
    while open_ends:
        for item in sorted(open_ends.pop().iterdir(), key=lambda each: each.name):
            if item.is_dir():
                open_ends.append(item)
            elif item.name.endswith((".py", ".yaml", ".txt", ".cedar")):
                found.update(item.name.encode() + b"\0" + item.read_bytes())
    return found.hexdigest()
