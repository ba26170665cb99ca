"""Looks at runs of flows before they begin: whether the deployed code is installed, and what unattended ones need.

Nobody is there when a trigger starts a run, so who owns it hears of a failure.
"""

import asyncio
from typing import Final

import sqlalchemy as sa

from steward.broker import PLUGIN_CHANGED, Grant, Rehearsal
from steward.core import NotFound, StewardError
from steward.flows import Flow
from steward.identity import Level, Notifications
from steward.playbooks import _tables as tables
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.model import Playbook
from steward.playbooks.needs import Needs, said_of
from steward.playbooks.people import SUBJECT
from steward.playbooks.trigger import EVENT, EVENTS, MOMENT
from steward.runs import EntryType, Execution, Json, Program, Run, StepFailed
from steward.store import Scope, Transaction

NEEDS: Final = "run:needs"
CODE: Final = "run:code"
_MOST_KNOWN: Final = 64


class Unattended:
    """Goes around the program of flows."""

    def __init__(
        self,
        library: Library,
        needs: Needs,
        notifications: Notifications,
        manifests: Manifests,
    ) -> None:
        self._library = library
        self._needs = needs
        self._notifications = notifications
        self._manifests = manifests
        self._known: dict[tuple[str, int], tuple[Playbook, Flow]] = {}
        """Revisions that ran of late, by playbook and number: what one says never changes."""

    async def __call__(self, program: Program, execution: Execution) -> Json:
        if not _is_unattended(execution):
            await self._require_code(execution)
            return await program(execution)
        try:
            await self._require_code(execution)
            await self._look(execution)
            return await program(execution)
        except (StepFailed, StewardError) as problem:
            if not execution.replaying:
                said, run = problem.message, execution.run
                # Told in the transaction in which the run fails: once, and never of one that did not.
                execution.take_along(lambda tx: self._tell(tx, run, said))
            raise

    async def _require_code(self, execution: Execution) -> None:
        """Whether plug-ins are what was deployed; a run may have waited in a queue since it was asked for."""
        scope, fixed = execution.run.scope, Grant.from_json(execution.request.grant).fixed
        if not fixed.code:
            return

        async def look() -> Json:
            return await asyncio.to_thread(self._manifests.code_problem, scope, fixed)

        asked: Json = {"code": dict(fixed.code)}
        if said := await execution.step(
            CODE, asked, look, type=EntryType.run_checked, of="run", lazily=_is_fine
        ):
            raise StepFailed(CODE, PLUGIN_CHANGED, said)

    async def _look(self, execution: Execution) -> None:
        """Whether what the playbook reads is there; whoever starts one by hand is told so when they do."""
        run, subject = execution.run, execution.run.subject or ""
        grant = Grant.from_json(execution.request.grant)
        if not subject.startswith(SUBJECT) or grant.revision is None:
            return
        playbook_id, number = subject.removeprefix(SUBJECT), grant.revision
        given = execution.request.inputs

        async def look() -> Json:
            known = self._known.get((playbook_id, number))
            if known is not None and not self._needs.names_any(*known, given):
                return None
            return await asyncio.to_thread(
                self._missing, run.scope, playbook_id, number, grant.branch, given
            )

        asked: Json = {"revision": number, "branch": grant.branch}
        if said := await execution.step(
            NEEDS, asked, look, type=EntryType.run_checked, of="run", lazily=_is_fine
        ):
            raise StepFailed(NEEDS, "not-ready", said)

    def _missing(
        self, scope: Scope, playbook_id: str, number: int, branch: str, inputs: Json
    ) -> str | None:
        try:
            revision = self._library.revision_by_id(scope, playbook_id, number)
        except NotFound:
            # Deleted for good since it was put in the queue; its steps are pinned and say what they miss.
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[playbook_id, number] = revision.playbook, revision.flow
        found = self._needs.missing(scope, revision.playbook, revision.flow, branch, inputs=inputs)
        return said_of(found) if found else None

    def _tell(self, tx: Transaction, run: Run, said: str) -> None:
        playbook_id = (run.subject or "").removeprefix(SUBJECT)
        columns = tables.playbooks.c
        row = tx.first(sa.select(columns.owner).where(columns.id == playbook_id))
        # Whoever deployed it set the trigger to work; whoever owns it answers for it.
        for user_id in dict.fromkeys([run.created_by, *([row.owner] if row else [])]):
            self._notifications.add_within(
                tx,
                user_id,
                Level.error,
                f"{run.title} failed",
                f"A trigger started it. {said}",
                link=f"runs/{run.id}",
                once=True,
            )


def _is_fine(problem: Json) -> bool:
    """Nothing was found, so nothing hangs on it: after a crash it is looked at again."""
    return problem is None


def _is_unattended(execution: Execution) -> bool:
    run, inputs = execution.run, execution.request.inputs
    # Nobody waits for a test, or for a shadow of a run that a trigger started.
    is_real = Rehearsal.of(execution.request.grant) is None
    is_first = is_real and run.parent_id is None and run.forked_from is None
    return is_first and isinstance(inputs, dict) and bool(inputs.keys() & {MOMENT, EVENT, EVENTS})
