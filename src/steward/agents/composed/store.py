"""The agents of a project over time, beside those that come with Steward."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.agents.composed import _tables as tables
from steward.agents.composed.changes import changes_between
from steward.agents.composed.check import agent_problems
from steward.agents.composed.notes import AgentNotes
from steward.agents.operating.equipment import further_tools
from steward.agents.operating.packages import PackageAgent, package_agent, package_agents
from steward.agents.operating.roster import (
    Agent,
    agent_from_document,
    builtin_roster,
    library_roster,
)
from steward.agents.skills import Skills
from steward.broker import Toolbox
from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, Stale, in_words
from steward.store import Database, EventLog, Scope, Transaction

MOST_AGENTS: Final = 300
LIBRARY: Final = (
    *("summariser", "translator", "classifier", "extractor", "sql-analyst", "reviewer"),
    *("router", "file-researcher", "email-drafter", "data-quality-inspector"),
)
"""Those to start from, in the order in which they are shown."""
_V = tables.versions.c


@dataclass(frozen=True)
class AgentVersion:
    """One version; without an agent where that version archived it."""

    name: str
    version: int
    agent: Agent | None
    message: str
    author: str
    created_at: datetime
    call: str = ""

    @property
    def is_archived(self) -> bool:
        return self.agent is None


@dataclass(frozen=True)
class Listed:
    """An agent that flows can name."""

    agent: Agent
    origin: Literal["project", "library", "chat", "plugin"]
    """`chat`: it works on steps of plans; in a flow it has the tools that its node names."""
    version: int = 0
    updated_at: datetime | None = None
    updated_by: str | None = None


class ComposedAgents:
    def __init__(
        self,
        database: Database,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        tools: Toolbox,
        skills: Skills,
        models: Callable[[Scope], Sequence[str]],
    ) -> None:
        """`models` names those that can be asked, as `provider:name`."""
        self._database = database
        self._events = events
        self._clock = clock
        self._tools = tools
        self._skills = skills
        self._models = models
        self.notes = AgentNotes(database, events, clock, ids)
        """What they remember between runs; it belongs to an agent, whatever its version."""

    # Looking

    def listed(self, scope: Scope) -> list[Listed]:
        """The project's own by name, then those that come with Steward or with plug-ins."""
        own = [
            Listed(each.agent, "project", each.version, each.created_at, each.author)
            for each in self._newest(scope)
            if each.agent is not None
        ]
        taken = {each.agent.name for each in own}
        brought = [Listed(each.document, "plugin") for each in package_agents()]
        return [*own, *(each for each in [*_shipped(), *brought] if each.agent.name not in taken)]

    def archived(self, scope: Scope) -> list[Listed]:
        """Those that were archived, each as it was last."""
        gone = [each for each in self._newest(scope) if each.agent is None]
        last = [(each, self.version(scope, each.name, each.version - 1).agent) for each in gone]
        return [
            Listed(agent, "project", each.version, each.created_at, each.author)
            for each, agent in last
            if agent is not None
        ]

    def find(self, scope: Scope, name: str) -> Agent:
        """The agent of a name; `name@3` is its third version."""
        bare, has_version, number = name.partition("@")
        if has_version:
            if not number.isdigit():
                raise NotFound(f"{name!r} names no version of an agent; write it as {bare}@3.")
            found = self.version(scope, bare, int(number)).agent
        else:
            found = self._found(scope, bare)
        if found is None:
            known = ", ".join(each.agent.name for each in self.listed(scope))
            raise NotFound(f"There is no agent called {bare!r} in this project. Known: {known}.")
        return found

    def current(self, scope: Scope, name: str) -> AgentVersion | None:
        """The newest version of the project's own agent, archived ones included."""
        with self._database.read(scope) as tx:
            return _newest(tx, name)

    def version(self, scope: Scope, name: str, version: int) -> AgentVersion:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.versions).where(_V.name == name, _V.version == version))
        if row is None:
            raise NotFound(f"There is no version {version} of the agent {name!r}.")
        return _version(row)

    def versions(self, scope: Scope, name: str) -> list[AgentVersion]:
        """Newest first; none for an agent that comes with Steward."""
        wanted = sa.select(tables.versions).where(_V.name == name).order_by(_V.version.desc())
        with self._database.read(scope) as tx:
            found = [_version(row) for row in tx.rows(wanted)]
        if not found and _shipped_agent(name) is None and package_agent(name) is None:
            raise _missing(name)
        return found

    def made_by(self, scope: Scope, call: str) -> AgentVersion | None:
        """The version that a call made, if it made one."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.versions).where(_V.call == call))
        return _version(row) if row is not None else None

    def team(self, scope: Scope, name: str) -> list[Agent]:
        """The agent and everyone whom its work can reach, each once; who is missing is left out."""
        found: dict[str, Agent] = {}
        open_ends = [name]
        while open_ends:
            each = open_ends.pop(0)
            bare = each.partition("@")[0]
            if bare in found:
                continue
            try:
                found[bare] = self.find(scope, each)
            except NotFound:
                continue
            handoffs = found[bare].handoffs
            open_ends += handoffs.to if handoffs is not None else []
        return list(found.values())

    def tools_of(self, scope: Scope, name: str) -> Iterator[str]:
        """What a flow is granted for an agent that it names: the tools that it and those after it bring along."""
        for agent in self.team(scope, name):
            yield from brought_tools(agent)
            yield from further_tools(agent, " ".join(agent.skills))

    # Changing

    def checked(
        self,
        scope: Scope,
        document: Any,
        name: str | None = None,
        coming: Mapping[str, Agent] = MappingProxyType({}),
    ) -> Agent:
        """The agent of a document that could be kept; Invalid says everything that is wrong.

        It may hand over to those that are `coming`, too.
        """
        agent = agent_from_document(document)
        if name is not None and agent.name != name:
            raise Invalid(
                f"The document is about {agent.name!r}, not {name!r}. To rename an agent, make a new one.",
                code="agent-invalid",
                problems=[Problem("/name", f"must be {name!r}")],
            )
        if _shipped_agent(agent.name) is not None and self.current(scope, agent.name) is None:
            said = f"{agent.name!r} comes with Steward; choose another name"
            raise Invalid(
                f"The name is taken: {said}.",
                code="agent-invalid",
                problems=[Problem("/name", said)],
            )
        wrong = agent_problems(
            agent,
            self._known_tools(scope, agent.tools),
            {each.name for each in self._skills.catalogue(scope)},
            self._models(scope),
            lambda other: coming.get(other) or self._found(scope, other),
        )
        if wrong:
            raise Invalid(
                f"The agent {agent.name!r} cannot be kept: {in_words(wrong)}.",
                code="agent-invalid",
                problems=wrong,
            )
        return agent

    def save(
        self,
        scope: Scope,
        author: str,
        name: str,
        agent: Agent | None,
        *,
        message: str,
        call: str,
        expected: int | None = None,
    ) -> AgentVersion:
        """A new version; without an agent it is archived. `expected` is the version it was made from."""
        text = "" if agent is None else json.dumps(agent.model_dump(mode="json"))
        try:
            with self._database.write(scope) as tx:
                newest = _newest(tx, name)
                number = newest.version if newest is not None else 0
                if expected is not None and number != expected:
                    raise _changed(name)
                if agent is None and (newest is None or newest.agent is None):
                    raise _missing(name)
                if newest is None:
                    _refuse_too_many(tx)
                made = AgentVersion(
                    name, number + 1, agent, message[:400], author, self._clock.now(), call
                )
                tx.execute(
                    sa.insert(tables.versions).values(
                        name=name,
                        version=made.version,
                        document=text,
                        message=made.message,
                        author=author,
                        call=call,
                        created_at=made.created_at,
                    )
                )
                told = {"by": author, "name": name, "version": made.version}
                kind = "agent.archived" if agent is None else "agent.saved"
                self._events.append(tx, kind, name, told)
        except sa.exc.IntegrityError:
            raise _changed(name) from None
        return made

    # The service of the tool `change_agent`

    def preview_change(
        self, scope: Scope, name: str, document: Any
    ) -> tuple[int, list[dict[str, Any]]]:
        newest = self.current(scope, name)
        if document is None and (newest is None or newest.agent is None):
            raise _missing(name)
        agent = None if document is None else self.checked(scope, document, name)
        before = newest.agent if newest is not None else None
        changes = [asdict(each) for each in changes_between(before, agent)]
        return (newest.version if newest is not None else 0), changes

    def change(
        self,
        scope: Scope,
        author: str,
        name: str,
        document: Any,
        *,
        message: str,
        call: str,
        expected: int | None,
    ) -> AgentVersion:
        agent = None if document is None else self.checked(scope, document, name)
        return self.save(scope, author, name, agent, message=message, call=call, expected=expected)

    def document_before(self, scope: Scope, name: str, version: int) -> Any:
        if version <= 1:
            return None
        before = self.version(scope, name, version - 1).agent
        return None if before is None else before.model_dump(mode="json")

    def restore(
        self, scope: Scope, author: str, name: str, document: Any, *, call: str, expected: int
    ) -> AgentVersion:
        agent = None if document is None else Agent.model_validate(document)
        message = f"Undid version {expected}"
        return self.save(scope, author, name, agent, message=message, call=call, expected=expected)

    # Inside

    def _found(self, scope: Scope, name: str) -> Agent | None:
        own = self.current(scope, name)
        if own is not None and own.agent is not None:
            return own.agent
        shipped = _shipped_agent(name)
        brought = package_agent(name) if shipped is None else None
        return brought.document if brought is not None else shipped

    def package(self, scope: Scope, name: str) -> PackageAgent | None:
        """The code behind a name, where it means an agent of a plug-in: the project's own come first."""
        own = self.current(scope, name)
        if (own is not None and own.agent is not None) or _shipped_agent(name) is not None:
            return None
        return package_agent(name)

    def _newest(self, scope: Scope) -> list[AgentVersion]:
        last = sa.select(_V.name, sa.func.max(_V.version).label("version")).group_by(_V.name)
        wanted = sa.select(tables.versions).order_by(_V.name)
        with self._database.read(scope) as tx:
            newest = [(row.name, row.version) for row in tx.rows(last)]
            rows = tx.rows(wanted.where(sa.tuple_(_V.name, _V.version).in_(newest)))
            return [_version(row) for row in rows]

    def _known_tools(self, scope: Scope, names: Sequence[str]) -> dict[str, Any]:
        listed = {tool.name: tool for tool in self._tools.listed(scope)}
        return {**listed, **self._tools.searched(scope, set(names) - listed.keys())}


def brought_tools(agent: Agent) -> list[str]:
    """The tools that an agent brings to a node which names none; agents of the chat bring none."""
    if agent.name in builtin_roster():
        return []
    return list(agent.tools)


def _shipped() -> list[Listed]:
    ready = [_listed_shipped(name) for name in LIBRARY]
    chat = [Listed(each, "chat") for each in builtin_roster() if each.name not in LIBRARY]
    return [*ready, *chat]


def _listed_shipped(name: str) -> Listed:
    found = _shipped_agent(name)
    if found is None:
        raise Conflict(f"The library has no agent {name!r}.")
    return Listed(found, "library")


def _shipped_agent(name: str) -> Agent | None:
    for roster in (builtin_roster(), library_roster()):
        if name in roster:
            return roster.get(name)
    return None


def _newest(tx: Transaction, name: str) -> AgentVersion | None:
    wanted = sa.select(tables.versions).where(_V.name == name).order_by(_V.version.desc()).limit(1)
    row = tx.first(wanted)
    return _version(row) if row is not None else None


def _version(row: sa.Row[Any]) -> AgentVersion:
    agent = Agent.model_validate(json.loads(row.document)) if row.document else None
    return AgentVersion(
        row.name, row.version, agent, row.message, row.author, row.created_at, row.call
    )


def _refuse_too_many(tx: Transaction) -> None:
    counted = tx.first(sa.select(sa.func.count(sa.distinct(_V.name))))
    if counted is not None and counted[0] >= MOST_AGENTS:
        raise Conflict(f"The project has {MOST_AGENTS} agents, and more are not kept.")


def _missing(name: str) -> NotFound:
    return NotFound(f"There is no agent called {name!r} in this project.")


def _changed(name: str) -> Stale:
    return Stale(f"The agent {name!r} has changed since you read it. Read it again.")
