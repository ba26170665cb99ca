"""What a program outside does here, such as an agent that speaks MCP: its session is a run, each call a run below it.

The session's journal names every call in order, and its budget covers all of them. A call is not made by a person's
hand: whatever arguments it brings count as written outside.
"""

import asyncio
import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from steward.broker import (
    ASK_HUMAN,
    Broker,
    Grant,
    Labels,
    Risk,
    Tool,
    Toolbox,
    untrusted,
    validated,
)
from steward.core import Conflict, Denied, Ids, NotFound, error_from_json
from steward.identity import Access
from steward.runs import Execution, Json, Run, RunRequest, Runs, Status

SESSION: Final = "client_session"
CALL: Final = "client_call"
KEY: Final = "call"
"""The name of the one call in its run's journal."""
SUBJECT: Final = "client:"
BUDGET: Final[Mapping[str, Any]] = {"usd": "5", "on_breach": "abort"}
"""Of a whole session. Nobody is there to ask, so that what exceeds it is refused."""
IDLE: Final = timedelta(hours=1)
MOST_CALLS: Final = 500
"""A session's journal is read again with each call: a busy client gets a new session after so many."""
CALL_PLAYBOOK: Final = "call_playbook"
UNDO, REDO = "undo_action", "redo_action"
_LONGEST_NAME: Final = 80


@dataclass(frozen=True)
class Client:
    """Who calls: `key` tells one connection from another, `name` is what it calls itself."""

    key: str
    name: str

    @property
    def shown(self) -> str:
        """Its name as people may see it: one short line."""
        return (
            " ".join("".join(c if c.isprintable() else " " for c in self.name).split())[
                :_LONGEST_NAME
            ]
            or "unnamed client"
        )


@dataclass(frozen=True)
class Outcome:
    """What a call gave."""

    value: Json
    summary: str
    commits: tuple[str, ...]
    artifacts: tuple[Json, ...]
    labels: Labels


class ClientSessions:
    def __init__(self, runs: Runs, broker: Broker, tools: Toolbox, ids: Ids) -> None:
        self._runs = runs
        self._broker = broker
        self._tools = tools
        self._ids = ids
        runs.programs[SESSION] = self._follow
        runs.programs[CALL] = self._make

    def tools(self, access: Access) -> list[Tool[Any]]:
        """What a client may call with this access, by name; policy decides about each call."""
        return [tool for tool in self._tools.listed(access.scope) if _is_open(tool, access)]

    async def session(self, access: Access, client: Client) -> Run:
        """The client's session: the one that is open, or a new one."""
        subject = _subject(access, client)
        found = await asyncio.to_thread(self._open, access, subject)
        if found is not None:
            return found
        request = RunRequest(
            title=f"MCP session of {client.shown}",
            program=SESSION,
            document={"client": client.shown},
            grant=Grant(frozenset(), Risk.read).started_by(access).to_json(),
            budget=dict(BUDGET),
            subject=subject,
        )
        run, _ = await self._runs.start_and_drive(access.scope, access.user_id, request)
        return run

    def _open(self, access: Access, subject: str) -> Run | None:
        live = [Status.blocked.value, Status.running.value, Status.queued.value]
        found = self._runs.records.listed(
            access.scope,
            statuses=live,
            subject=subject,
            author=access.user_id,
            program=SESSION,
            limit=1,
        )
        return found[0] if found and found[0].control is None else None

    async def call(
        self,
        access: Access,
        client: Client,
        name: str,
        arguments: Mapping[str, Json],
        cancel: asyncio.Event | None = None,
    ) -> Run:
        """Makes a call in the client's session, until it is over or waits for something."""
        tool = await asyncio.to_thread(self._callable, access, name)
        return await self._called(access, client, tool, arguments, cancel)

    async def undo(
        self, access: Access, client: Client, run_id: str, key: str, *, redo: bool = False
    ) -> Run:
        """Takes back, or puts back, what a call of any of the person's clients did; a call of the session as well."""

        def look() -> Tool[Any]:
            run = self.own_run(access, run_id)
            access.require_acting()
            return self._tools.get(run.scope, REDO if redo else UNDO)

        tool = await asyncio.to_thread(look)
        arguments = {"run_id": run_id, "key": key}
        return await self._called(access, client, tool, arguments, None, direct=True)

    def own_run(self, access: Access, run_id: str) -> Run:
        """A run that a client of this person started, or that belongs to one of those."""
        run = self._runs.get(access.scope, run_id)
        root = run if run.root_id == run.id else self._runs.get(access.scope, run.root_id)
        if root.program != SESSION or root.created_by != access.user_id:
            raise NotFound(f"There is no run {run_id!r} that was started through MCP.")
        return run

    def outcome(self, run: Run) -> Outcome:
        """What a call that is done gave; raises what stopped it."""
        ended = self._runs.outcome(run.scope, run.id)
        match run.status:
            case Status.done if run.program == CALL:
                found = ended["output"]
                return Outcome(
                    found["value"],
                    found["summary"],
                    tuple(found["commits"]),
                    tuple(found["artifacts"]),
                    Labels.from_json(found["labels"]),
                )
            case Status.done:
                return Outcome(ended["output"], run.title, (), (), untrusted("another run"))
            case Status.failed:
                raise error_from_json(ended["error"])
            case Status.cancelled:
                raise Conflict("This was cancelled. Nothing was changed.", code="cancelled")
            case _:
                raise Conflict("This is not done yet.", code="waits")

    def has_tool(self, access: Access, name: str) -> bool:
        """Whether a client may name such a tool, whatever its role lets it do."""
        try:
            tool = self._tools.get(access.scope, name)
        except NotFound:
            return False
        return not (tool.direct_only or tool.name == ASK_HUMAN)

    def _callable(self, access: Access, name: str) -> Tool[Any]:
        if not self.has_tool(access, name):
            raise NotFound(f"There is no tool {name[:100]!r}.")
        tool = self._tools.get(access.scope, name)
        if not _is_open(tool, access):
            raise Denied(
                f"{tool.title} changes something, and this token has the role {access.role.name}. "
                "Use a token with the role operator."
            )
        return tool

    async def _called(
        self,
        access: Access,
        client: Client,
        tool: Tool[Any],
        arguments: Mapping[str, Json],
        cancel: asyncio.Event | None,
        *,
        direct: bool = False,
    ) -> Run:
        checked = validated(tool, dict(arguments))
        session = await self.session(access, client)
        run_id = self._ids.new("run")
        await asyncio.to_thread(self._announce, session, tool.name, run_id)
        request = RunRequest(
            title=tool.title,
            program=CALL,
            document={
                "client": client.shown,
                "tool": tool.name,
                "arguments": checked.model_dump(mode="json", exclude_unset=True),
            },
            grant=self._grant(access, tool, direct=direct).to_json(),
            budget={"on_breach": "abort"},
        )
        run, _ = await self._runs.start_and_drive(
            access.scope, access.user_id, request, cancel=cancel, parent=session, run_id=run_id
        )
        return run

    def _announce(self, session: Run, tool: str, run_id: str) -> None:
        """Tells the session of its next call; two at once get different numbers."""
        asked = {"tool": tool, "run_id": run_id}
        first = len(self._runs.records.signals(session.scope, session.id)) + 1
        for number in itertools.count(first):
            try:
                self._runs.records.signal(session.scope, session.id, _key(number), asked)
            except Conflict:
                if self._runs.get(session.scope, session.id).status.is_final:
                    # It has just ended; the call itself still belongs to it.
                    return
                continue
            return

    def _grant(self, access: Access, tool: Tool[Any], *, direct: bool) -> Grant:
        names, risk = frozenset({tool.name}), tool.risk
        if tool.name == CALL_PLAYBOOK:
            # A playbook does no more than its caller may: here, what the client could call itself.
            names = frozenset(each.name for each in self.tools(access))
            risk = Risk.external_send if access.role.acts else Risk.compute
        return Grant(names, risk, direct=direct).started_by(access)

    async def _follow(self, execution: Execution) -> Json:
        """The session itself: takes note of calls until the client is silent for long."""
        await self._broker.begin(execution)
        for number in range(1, MOST_CALLS + 1):
            key = _key(number)
            until = await execution.now(f"{key}/since", of=key) + IDLE
            asked = await execution.wait(
                key,
                {"kind": "client", "number": number},
                status=Status.blocked,
                reason="Waits for the next call of the client",
                expires_at=until,
            )
            if asked.get("expired"):
                return {"calls": number - 1}
        return {"calls": MOST_CALLS}

    async def _make(self, execution: Execution) -> Json:
        asked = execution.request.document
        foreign = untrusted(f"mcp:{asked['client']}")
        done = await self._broker.call(
            execution,
            KEY,
            asked["tool"],
            asked["arguments"],
            dict.fromkeys(asked["arguments"], foreign),
            accept_failure=True,
        )
        return {
            "value": done.value,
            "summary": done.summary,
            "commits": list(done.commits),
            "artifacts": list(done.artifacts),
            "labels": done.labels.to_json(),
        }


def _subject(access: Access, client: Client) -> str:
    told = hashlib.sha256(client.key.encode("utf-8", "replace")).hexdigest()[:24]
    return f"{SUBJECT}{access.principal.id}:{told}"


def _key(number: int) -> str:
    return f"call-{number}"


def _is_open(tool: Tool[Any], access: Access) -> bool:
    if tool.direct_only or tool.name == ASK_HUMAN:
        return False
    return access.role.acts or tool.risk.at_most(Risk.compute)
