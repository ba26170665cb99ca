"""Undo of any action of any run: by moving data back, by the tool's inverse, or by saying plainly that it cannot be."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from steward.broker.grants import Grant
from steward.broker.plans import validated
from steward.broker.rulebook import Rulebook
from steward.broker.tool import Tool, ToolContext
from steward.core import (
    Clock,
    Conflict,
    Denied,
    NotFound,
    Registry,
    Services,
    fault,
    reaching_for,
)
from steward.identity import Role
from steward.runs import Entry, Json, Kind, Runs, Ticket, digest
from steward.store import Database, EventLog, Scope
from steward.versions import Dependant, Versions, Workspace, on_ticket


class Way(StrEnum):
    """How an action can be taken back."""

    version = "version"
    inverse = "inverse"
    compensation = "compensation"
    none = "none"


@dataclass(frozen=True)
class Action:
    """One call of a run that changed something."""

    key: str
    tool: str
    summary: str
    at: str
    commits: tuple[str, ...]
    way: Way
    undone: bool
    times: int
    """How often it was undone or redone; names the next change."""
    turned_by: str | None
    """Who undid or redid it last."""
    turned_at: str | None
    inverse: Json
    arguments: Json


@dataclass(frozen=True)
class UndoPlan:
    """What taking an action back would mean."""

    action: Action
    dependants: tuple[Dependant, ...]
    """Later work that was built upon it."""
    blocked: tuple[str, ...]
    """Datasets that later work changed again; their rows are put back only where nobody touched them."""


@dataclass(frozen=True)
class _Turn:
    """One undo or redo that somebody wants."""

    scope: Scope
    author: str
    run_id: str
    key: str
    kind: Kind
    merge_rows: bool = False
    token_role: Role | None = None
    """The most that an API token allows with which it is wanted."""


@dataclass(eq=False, repr=False)
class Undoing:
    """Carries undo and redo out; who may is decided by policy before, as for any other call."""

    _runs: Runs
    _versions: Versions
    _tools: Registry[Tool[Any]]
    _rulebook: Rulebook
    _services: Services
    _database: Database
    _events: EventLog
    _clock: Clock

    def actions(self, scope: Scope, run_id: str) -> list[Action]:
        """What a run changed, oldest first."""
        self._runs.get(scope, run_id)
        found: dict[str, Action] = {}
        for entry in self._runs.journal.entries(scope, run_id):
            if entry.kind == Kind.outcome and "result" in entry.data:
                action = self._action(entry)
                if action is not None:
                    found[entry.key] = action
            elif entry.kind in {Kind.undone, Kind.redone} and entry.key in found:
                before = found[entry.key]
                undone = entry.kind == Kind.undone
                found[entry.key] = replace(
                    before,
                    undone=undone,
                    times=before.times + 1,
                    turned_by=entry.data.get("by"),
                    turned_at=entry.at,
                )
        return list(found.values())

    def plan(self, scope: Scope, run_id: str, key: str) -> UndoPlan:
        """Looks what depends on an action before anything is taken back."""
        action = self.action(scope, run_id, key)
        if action.way is not Way.version:
            return UndoPlan(action, (), ())
        branch = self.branch(scope, run_id, action)
        workspace = self._versions.workspace(scope, "steward")
        dependants: list[Dependant] = []
        blocked: set[str] = set()
        for commit in reversed(action.commits):
            found = workspace.undo_plan(commit, branch)
            own = set(action.commits)
            dependants += [item for item in found.dependants if item.commit not in own]
            blocked |= set(found.blocked)
        return UndoPlan(action, tuple(dependants), tuple(sorted(blocked)))

    async def undo(
        self,
        scope: Scope,
        author: str,
        run_id: str,
        key: str,
        *,
        merge_rows: bool = False,
        token_role: Role | None = None,
    ) -> Action:
        """Takes an action back and writes so into the run's journal."""
        turn = _Turn(scope, author, run_id, key, Kind.undone, merge_rows, token_role)
        return await self._measured(turn)

    async def redo(self, scope: Scope, author: str, run_id: str, key: str) -> Action:
        """Puts an undone action back in place."""
        return await self._measured(_Turn(scope, author, run_id, key, Kind.redone))

    async def _measured(self, turn: "_Turn") -> Action:
        """Tells the event log how it went and how long it took, also when it failed."""
        began = self._clock.monotonic()
        outcome = f"{turn.kind.value}_failed"
        try:
            action = await self._turn(turn)
            outcome = f"{turn.kind.value}_done"
            return action
        finally:
            took = round((self._clock.monotonic() - began) * 1000)
            await asyncio.to_thread(self._tell, turn, outcome, took)

    def _tell(self, turn: "_Turn", outcome: str, took: int) -> None:
        with self._database.write(turn.scope) as tx:
            data = {"key": turn.key, "by": turn.author, "milliseconds": took}
            self._events.append(tx, f"run.{outcome}", turn.run_id, data)

    async def _turn(self, turn: "_Turn") -> Action:
        scope, run_id, key, kind = turn.scope, turn.run_id, turn.key, turn.kind
        action = await asyncio.to_thread(self.action, scope, run_id, key)
        _refuse_wrong_turn(action, kind)
        ticket = digest([run_id, key, kind.value, action.times])
        if action.way is Way.version:
            commits = await asyncio.to_thread(self._move, turn, action, ticket)
            data: Json = {"by": turn.author, "commits": commits, "way": action.way.value}
        else:
            value = await self._inverse(turn, action, ticket)
            data = {"by": turn.author, "value": value, "way": action.way.value}
        fault("broker.undone")
        await asyncio.to_thread(self._runs.append_aside, scope, run_id, kind, key, data)
        return await asyncio.to_thread(self.action, scope, run_id, key)

    def _move(self, turn: "_Turn", action: Action, ticket: str) -> list[str]:
        scope, run_id = turn.scope, turn.run_id
        branch = self.branch(scope, run_id, action)
        workspace = self._versions.workspace(scope, turn.author, run_id=run_id)
        done = workspace.commits_on_ticket(ticket)
        if done:
            # The data was moved and the note of it lost in a crash.
            return [commit.id for commit in done]
        turned = list(action.commits)
        if turn.kind == Kind.redone:
            # To undo an undo is to redo.
            turned = self._undoing(scope, run_id, action.key)
        with on_ticket(ticket):
            return [
                _undone_commit(workspace, commit, branch, turn.merge_rows)
                for commit in reversed(turned)
            ]

    def _undoing(self, scope: Scope, run_id: str, key: str) -> list[str]:
        """The commits that undid the action the last time."""
        for entry in reversed(list(self._runs.journal.entries(scope, run_id))):
            if entry.kind == Kind.undone and entry.key == key:
                return list(entry.data.get("commits", ()))
        return []

    async def _inverse(self, turn: "_Turn", action: Action, ticket: str) -> Json:
        scope, run_id = turn.scope, turn.run_id
        tool = self._tools.get(action.tool)
        if turn.kind == Kind.redone or tool.undo is None:
            raise Conflict("This action cannot be redone from here. Start the run again.")
        context = ToolContext(
            scope=scope,
            run_id=run_id,
            author=turn.author,
            branch=self._grant(scope, run_id).branch,
            services=self._services,
            settings=self._rulebook.settings(scope).tools,
            ticket=Ticket(ticket, digest(action.inverse), action.inverse),
            token_role=turn.token_role,
        )
        with on_ticket(ticket, run_id), reaching_for(scope):
            outcome = await tool.undo(context, validated(tool, action.arguments), action.inverse)
        return outcome.value

    def destination(self, action: Action) -> str | None:
        """Where a correction would go: where the original went."""
        tool = self._tools.get(action.tool)
        if tool.destination is None:
            return None
        return tool.destination_of(validated(tool, action.arguments))

    def action(self, scope: Scope, run_id: str, key: str) -> Action:
        """One action of a run, by its key in the journal."""
        for action in self.actions(scope, run_id):
            if action.key == key:
                return action
        raise NotFound(f"The run has no action {key!r} that changed something.")

    def _action(self, entry: Entry) -> Action | None:
        outcome = self._runs.payload(entry.data["result"])
        request = entry.data["request"]
        if not isinstance(outcome, dict) or "commits" not in outcome:
            return None
        tool = self._tools.get(request["tool"]) if request["tool"] in self._tools else None
        return Action(
            key=entry.key,
            tool=request["tool"],
            summary=outcome["summary"] or (tool.title if tool else request["tool"]),
            at=entry.at,
            commits=tuple(outcome["commits"]),
            way=_way(tool, outcome),
            undone=False,
            times=0,
            turned_by=None,
            turned_at=None,
            inverse=outcome["inverse"],
            arguments=request["arguments"],
        )

    def branch(self, scope: Scope, run_id: str, action: Action) -> str:
        """Where it was done: on the branch the call named, below the run's own, or on that."""
        own = self._grant(scope, run_id).branch
        named = action.arguments.get("branch") if isinstance(action.arguments, dict) else None
        return named if isinstance(named, str) and named.startswith(f"{own}/") else own

    def _grant(self, scope: Scope, run_id: str) -> Grant:
        return Grant.from_json(self._runs.request(scope, run_id).grant)


def _undone_commit(workspace: Workspace, commit: str, branch: str, merge_rows: bool) -> str:
    """The commit that undid it: a new one, or the one by which somebody undid it in the history of the data."""
    try:
        return workspace.undo(commit, branch, merge_rows=merge_rows).id
    except Conflict as conflict:
        if conflict.specific_code != "already-undone":
            raise
        return workspace.undo_of(commit, branch).id


def _way(tool: Tool[Any] | None, outcome: Mapping[str, Any]) -> Way:
    if outcome["commits"]:
        return Way.version
    if tool is not None and tool.undo is not None and outcome["inverse"] is not None:
        return Way.compensation if tool.undo_is_compensation else Way.inverse
    return Way.none


def _refuse_wrong_turn(action: Action, kind: Kind) -> None:
    if action.way is Way.none:
        raise Denied(
            f"{action.summary} cannot be taken back: it left this machine or has no inverse.",
            code="irreversible",
        )
    if kind == Kind.undone and action.undone:
        raise Conflict("This action is undone already.")
    if kind == Kind.redone and not action.undone:
        raise Conflict("This action is not undone.")
