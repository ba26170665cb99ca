"""What a person does by hand: a run of one call through the broker, the same for a click, a command and a token.

Policy may let such a call pass unasked; it is journaled, audited and undoable like any other.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.broker import (
    DIRECT_PROGRAM,
    Broker,
    CallPlanner,
    Grant,
    PolicyVerdict,
    Risk,
    Toolbox,
    refusal,
    validated,
)
from steward.core import Conflict, Denied, StewardError, error_from_json
from steward.identity import Access
from steward.runs import Execution, Json, Run, RunRequest, Runs, Status

KEY: Final = "call"
"""The name of the one call in its run's journal."""
BUDGET: Final[Mapping[str, Any]] = {"usd": "5"}
"""Somebody waits for it and can cancel it, so time sets no limit."""


@dataclass(frozen=True)
class DirectCall:
    tool: str
    arguments: Mapping[str, Json]
    title: str = ""
    branch: str = "main"
    seen: bool = False
    """Whether the person has looked at a preview of exactly this."""
    subject: str | None = None
    """What the run is about, so that it is found again, such as `load`."""
    once: bool = False
    """Whether `run` refuses it while another one about the same subject is under way."""


@dataclass(frozen=True)
class Called:
    """A call that is done."""

    run: Run
    value: Json
    summary: str
    commits: tuple[str, ...]
    artifacts: tuple[Json, ...]


class NotDoneYet(Conflict):
    """The call is governed like any other, and something has to happen before it is made."""

    code = "waits"
    title = "Nothing has changed yet"

    def __init__(self, message: str, run_id: str, *, code: str) -> None:
        super().__init__(message, code=code)
        self.run_id = run_id


class DirectCalls:
    def __init__(self, runs: Runs, broker: Broker, planner: CallPlanner, tools: Toolbox) -> None:
        self._runs = runs
        self._broker = broker
        self._planner = planner
        self._tools = tools
        runs.programs[DIRECT_PROGRAM] = self._drive

    async def run(
        self, access: Access, call: DirectCall, cancel: asyncio.Event | None = None
    ) -> Called:
        """Makes the call and returns what it did; raises what stopped it, or NotDoneYet while somebody must approve."""
        request = self.request(access, call)
        if call.once:
            waiting = await asyncio.to_thread(self.under_way, access, call.subject)
            if waiting is not None:
                raise _not_done_yet(waiting)
        run, ended = await self._runs.start_and_drive(
            access.scope, access.user_id, request, cancel=cancel
        )
        return _called(run, ended)

    def start(self, access: Access, call: DirectCall) -> Run:
        """Puts the call in the queue, for work that takes longer than a request; any worker makes it."""
        request = self.request(access, call)
        return self._runs.start(access.scope, access.user_id, request)

    def start_once(self, access: Access, call: DirectCall) -> Run:
        """The run about the call's subject that is under way, whoever started it; otherwise a new one."""
        found = self.under_way(access, call.subject)
        return found if found is not None else self.start(access, call)

    def under_way(self, access: Access, subject: str | None) -> Run | None:
        """The call about a subject that is not over, whoever made it."""
        live = [status.value for status in Status if not status.is_final]
        found = self._runs.records.listed(
            access.scope, statuses=live, subject=subject, program=DIRECT_PROGRAM, limit=1
        )
        return found[0] if found else None

    def outcome(self, run: Run) -> Called:
        """What a direct call did, from its journal; raises what stopped it, or NotDoneYet."""
        return _called(run, self._runs.outcome(run.scope, run.id))

    def request(self, access: Access, call: DirectCall) -> RunRequest:
        """The call as a run; Invalid where the arguments do not fit, before anything is started."""
        tool = self._tools.get(access.scope, call.tool)
        checked = validated(tool, dict(call.arguments))
        # Looking at data is every member's; a role that acts is needed for what changes something.
        if not tool.risk.at_most(Risk.compute):
            access.require_acting()
        grant = Grant(frozenset({tool.name}), tool.risk, call.branch, direct=True)
        return RunRequest(
            title=call.title or tool.title,
            program=DIRECT_PROGRAM,
            subject=call.subject,
            document={
                "tool": tool.name,
                "arguments": checked.model_dump(mode="json", exclude_unset=True),
                "seen": call.seen,
            },
            grant=grant.started_by(access).to_json(),
            budget=dict(BUDGET),
        )

    async def needs_approval(self, access: Access, call: DirectCall) -> bool:
        """Whether a person would have to approve the call; raises what would stop it. Nothing is started."""
        request = await asyncio.to_thread(self.request, access, call)
        run = self._runs.records.prepared(access.scope, access.user_id, request).run
        planned = await self._planner.plan(
            run,
            Grant.from_json(request.grant),
            lambda: self._tools.get(access.scope, call.tool),
            request.document["arguments"],
            {},
            read_untrusted=False,
        )
        if planned.decision["outcome"] == PolicyVerdict.deny.value:
            raise Denied(refusal(planned.tool, planned.decision))
        return bool(planned.decision["outcome"] == PolicyVerdict.ask.value)

    async def _drive(self, execution: Execution) -> Json:
        asked = execution.request.document
        done = await self._broker.call(
            execution,
            KEY,
            asked["tool"],
            asked["arguments"],
            seen=asked["seen"],
            accept_failure=True,
        )
        return {
            "value": done.value,
            "summary": done.summary,
            "commits": list(done.commits),
            "artifacts": list(done.artifacts),
        }


def _called(run: Run, ended: Json) -> Called:
    match run.status:
        case Status.done:
            found = ended["output"]
            return Called(
                run,
                found["value"],
                found["summary"],
                tuple(found["commits"]),
                tuple(found["artifacts"]),
            )
        case Status.failed:
            raise error_from_json(ended["error"])
        case Status.cancelled:
            raise Conflict("This was cancelled. Nothing was changed.", code="cancelled")
        case _:
            raise _not_done_yet(run)


def _not_done_yet(run: Run) -> StewardError:
    if run.status is Status.waiting_for_approval:
        return NotDoneYet(
            "This needs approval, so nothing has changed yet. It waits in the inbox.",
            run.id,
            code="waits-for-approval",
        )
    reason = f": {run.reason}" if run.reason else ""
    return NotDoneYet(
        f"This is not done yet{reason}. Open the run to see what it waits for.",
        run.id,
        code="waits",
    )
