"""An installation in which hostile runs are driven to their end, with a person who answers what is asked."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from steward.app import open_steward
from steward.broker.approvals import Approval, State, Verdict
from steward.broker.grants import Grant
from steward.broker.presets import PRESETS
from steward.broker.tool import Risk
from steward.core import MovableClock, load_settings
from steward.runs import Json, Program, Run, RunRequest
from steward.testing import Installation, fast_passwords

_WINDOW_SECONDS = 6
_MOST_ROUNDS = 60


class Desk:
    def __init__(self, installation: Installation, preset: str) -> None:
        self.installation = installation
        self.steward = installation.steward
        self.access = installation.owner.access
        self.steward.governing.rulebook.save(self.access, "project", PRESETS[preset], 0)

    def program(self, name: str, program: Program) -> None:
        self.steward.runs.programs[name] = program

    def start(self, program: str, title: str, tools: frozenset[str], document: Json) -> Run:
        request = RunRequest(
            title, program, document, grant=Grant(tools, Risk.secret).to_json(), budget={}
        )
        return self.steward.runs.start(self.access.scope, self.access.user_id, request)

    def finish(self, runs: list[Run], decide: Callable[[Approval], bool]) -> set[str]:
        """Drives the runs, lets the time pass in which sends can be taken back, answers approvals.

        Returns those that asked a person something else; they are cancelled.
        """
        unfinished = {run.id for run in runs}
        asking: set[str] = set()
        for _ in range(_MOST_ROUNDS):
            self.steward.runs.drive_until_idle()
            unfinished = {
                run_id
                for run_id in unfinished
                if not self.steward.runs.get(self.access.scope, run_id).status.is_final
            }
            if not unfinished:
                return asking
            for approval in self.steward.governing.approvals.listed(
                self.access, status=State.pending, limit=1_000
            ):
                self._answer(approval, approve=decide(approval))
            for run_id in unfinished:
                waits = self.steward.runs.get(self.access.scope, run_id).waits or []
                if any(wait["kind"] == "question" for wait in waits):
                    asking.add(run_id)
                    self.steward.runs.records.control(
                        self.access.scope, run_id, "cancel", self.access.user_id
                    )
            self.installation.clock.advance(seconds=_WINDOW_SECONDS)
        raise RuntimeError(f"{len(unfinished)} runs did not come to an end")

    def _answer(self, approval: Approval, *, approve: bool) -> None:
        verdict = Verdict(approve, approval.body_hash, "" if approve else "Nobody asked for this.")
        asyncio.run(self.steward.governing.deciding.decide(self.access, approval.id, verdict, None))


@contextmanager
def opened(home: Path, preset: str) -> Iterator[Desk]:
    clock = MovableClock(datetime(2026, 3, 1, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    try:
        yield Desk(installation, preset)
    finally:
        installation.close()
