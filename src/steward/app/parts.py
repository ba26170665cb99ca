"""Where deployments look up the parts of other rooms: tools, skills, agents, connections, models, policies, code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from steward import __version__
from steward.agents.composed import ComposedAgents
from steward.agents.skills import Skills
from steward.broker.rulebook import Rulebook
from steward.broker.toolbox import Toolbox
from steward.connections import Desk
from steward.core.errors import NotFound
from steward.models import ModelDesk, Role
from steward.playbooks.pins import Pin, Source
from steward.plugins import Plugins
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

    def by_kind(self) -> dict[str, Source]:
        return {
            "tool": self._tools,
            "skill": self._skills,
            "agent": self._agents,
            "connection": self._connections,
            "model": self._models,
            "policy": self._policies,
            "code": self._code,
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
        for each in self.connections.documents.listed(scope):
            if each.name in names:
                # How it is set up, never its secrets.
                yield Pin("connection", each.name, digest(each.settings), str(each.revision))

    def _models(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        for name in names:
            models = list(self.desk.names(scope, Role(name)))
            if models:
                yield Pin("model", name, digest(models), ", ".join(models)[:200])

    def _policies(self, scope: Scope, names: Sequence[str]) -> Iterator[Pin]:
        levels: list[tuple[str, str | None]] = [("organisation", None), ("project", None)]
        levels += [("playbook", name) for name in names]
        for level, subject in levels:
            found = self.rulebook.current(scope, level, subject)
            if found.text:
                name = f"{level} {subject}" if subject else level
                yield Pin("policy", name, digest(found.text), str(found.revision))

    def _code(self, _scope: Scope, _names: Sequence[str]) -> Iterator[Pin]:
        yield Pin("code", "steward", _code_hash(), __version__)
        for each in self.plugins.active():
            if each.rights:
                yield Pin("code", f"plug-in {each.name}", each.sha256, each.version)


@cache
def _code_hash() -> str:
    """One hash over the installed Python files; they do not change while a process runs."""
    found = sha256()
    open_ends = [files("steward")]
    while open_ends:
        for item in sorted(open_ends.pop().iterdir(), key=lambda each: each.name):
            if item.is_dir():
                open_ends.append(item)
            elif item.name.endswith((".py", ".yaml", ".cedar")):
                found.update(item.name.encode() + b"\0" + item.read_bytes())
    return found.hexdigest()
