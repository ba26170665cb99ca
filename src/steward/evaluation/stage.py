"""Where one case is played: its own branch of the data, messages and calls driven to their end, and what they did."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from steward.agents import Thread
from steward.broker import Risk, State, Verdict
from steward.core import Invalid
from steward.evaluation.site import Site
from steward.flows import Start
from steward.identity import Access
from steward.runs import Call, EntryType, Json, Kind, Run, canonical, project

Decide = Literal["approve", "reject", "wait"]
"""What the person in a case does when they are asked: about a plan or about a call."""

_MOST_ROUNDS: Final = 40
_WINDOW_SECONDS: Final = 6
_PAGE: Final = 500


@dataclass
class Stage:
    site: Site
    branch: str
    folder: Path | None = None
    """Where the suite's file lies."""
    _thread: Thread | None = field(default=None, init=False)

    # Doing

    def say(
        self,
        message: str,
        *,
        decide: Decide = "approve",
        review: str = "changes",
        rows: str = "all",
    ) -> Run:
        """A message of the case's conversation, as far as it goes."""
        site = self.site
        if self._thread is None:
            settings = {"review": review, "rows": rows}
            self._thread = site.threads.create(site.access, branch=self.branch, settings=settings)
        _, run = site.threads.begin(site.access, message, thread_id=self._thread.id)
        return self.drive(run, decide)

    def call(
        self, tool: str, arguments: Json, *, by: Access | None = None, decide: Decide = "approve"
    ) -> Run:
        """One call of a tool by a person, through the broker like any other."""
        launcher = self.site.launcher
        start = Start(
            document=launcher.single(tool, arguments),
            branch=self.branch,
            highest_risk=Risk.secret,
        )
        run = launcher.start(by or self.site.access, start)
        return self.drive(run, decide)

    def drive(self, run: Run, decide: Decide) -> Run:
        site = self.site
        for _ in range(_MOST_ROUNDS):
            site.runs.drive_until_idle()
            run = site.runs.get(site.access.scope, run.id)
            if run.status.is_final or not self._answered(run, decide):
                return run
        raise Invalid("The case's run did not come to an end.")

    def cancel(self, run: Run) -> None:
        if not run.status.is_final:
            access = self.site.access
            self.site.runs.records.control(access.scope, run.id, "cancel", access.user_id)
            self.site.runs.drive_until_idle()

    def _answered(self, run: Run, decide: Decide) -> bool:
        """Whether something the run waits for was dealt with."""
        site, kinds = self.site, {wait["kind"]: wait for wait in run.waits or ()}
        if "undo_window" in kinds:
            site.clock.advance(seconds=_WINDOW_SECONDS)
            return True
        if decide == "wait":
            return False
        if "plan" in kinds:
            answer = {"decision": decide, "by": site.access.user_id}
            site.runs.records.signal(site.access.scope, run.id, kinds["plan"]["key"], answer)
            return True
        asked = site.approvals.listed(site.access, status=State.pending, run_id=run.id)
        for approval in asked:
            verdict = Verdict(decide == "approve", approval.body_hash)
            asyncio.run(site.deciding.decide(site.access, approval.id, verdict))
        return bool(asked)

    # Looking

    def calls(self, run: Run) -> list[Call]:
        """The calls of tools that reached the broker, by the steps of the plan, where there is one."""
        runs = self.site.runs
        told = project(runs.journal.entries(self.site.access.scope, run.id), runs.payload)
        calls = [call for call in told.calls.values() if call.tool is not None]
        # Steps that need nothing of one another run at the same time, in whichever order.
        places = {key: place for place, key in enumerate(told.steps)}

        def place_of(call: Call) -> int:
            step = told.step_of(call.key)
            return -1 if step is None else places[step.key]

        return sorted(calls, key=place_of)

    def result(self, run: Run, key: str) -> Any:
        """What a step of a run recorded; None when it did not get that far."""
        runs = self.site.runs
        for entry in runs.journal.entries(self.site.access.scope, run.id):
            if entry.key == key and entry.kind == Kind.step and "result" in entry.data:
                return runs.payload(entry.data["result"])
        return None

    def tried_outside(self, run: Run) -> list[Mapping[str, Any]]:
        """What a model tried and was not let do, or did another way than planned."""
        entries = self.site.runs.journal.entries(self.site.access.scope, run.id)
        return [entry.data for entry in entries if entry.type == EntryType.step_deviated]

    def prompts(self, run: Run) -> str:
        """Everything that models were shown, as one text."""
        runs = self.site.runs
        shown = [
            canonical(runs.payload(entry.data["request"]))
            for entry in runs.journal.entries(self.site.access.scope, run.id)
            if entry.kind == Kind.step and _asks_model(entry.data.get("request"))
        ]
        return "\n".join(shown)

    def datasets(self) -> list[str]:
        access = self.site.access
        workspace = self.site.workbench.datasets.workspace(access.scope, access.user_id)
        return [each.name for each in workspace.datasets(self.branch)]

    def state(self) -> dict[str, str]:
        """Every dataset and file of the branch by what is in it, to the byte."""
        access, bench = self.site.access, self.site.workbench
        workspace = bench.datasets.workspace(access.scope, access.user_id)
        found = {
            f"dataset {each.name}": f"{each.version} {self._digest(each.version, each.rows)}"
            for each in workspace.datasets(self.branch)
        }
        files = {f"file {each.path}": each.digest for each in workspace.files(self.branch)}
        return found | files

    def rows(self, dataset: str) -> Iterator[dict[str, Any]]:
        """A dataset of the branch, row by row."""
        access, bench = self.site.access, self.site.workbench
        known = bench.datasets.workspace(access.scope, access.user_id)
        version = known.dataset(dataset, self.branch)
        names = [column.name for column in version.columns]
        for row in self._pages(version.version, version.rows):
            yield dict(zip(names, row, strict=True))

    def select(self, sql: str) -> list[list[Any]]:
        """The rows of a query, run in the sandbox like anybody's."""
        run = self.call("execute_sql", {"sql": sql, "limit": 1_000})
        call = self.calls(run)[0]
        if call.state != "done":
            said = (call.error or {}).get("message", call.state)
            raise Invalid(f"The SQL of the case does not run: {said}")
        value: dict[str, Any] = call.value
        return [list(row) for row in value["rows"]]

    def _digest(self, version: str, rows: int) -> str:
        seen = hashlib.sha256()
        for row in self._pages(version, rows):
            seen.update(canonical([None if cell is None else str(cell) for cell in row]).encode())
        return seen.hexdigest()

    def _pages(self, version: str, rows: int) -> Iterator[Sequence[Any]]:
        scope, datasets = self.site.access.scope, self.site.workbench.datasets
        for offset in range(0, rows, _PAGE):
            yield from datasets.rows(scope, version, offset=offset, limit=_PAGE).rows

    # Rules

    @contextmanager
    def ruled(self, policy: str | None, *, safe_mode: bool) -> Iterator[None]:
        """The project under another policy for a while."""
        access, rulebook = self.site.access, self.site.rulebook
        before = rulebook.current(access.scope, "project")
        settings = rulebook.settings(access.scope)
        if policy is not None:
            rulebook.save(access, "project", policy, before.revision)
        if safe_mode:
            rulebook.change_settings(access, settings.revision, safe_mode=True)
        try:
            yield
        finally:
            if safe_mode:
                now = rulebook.settings(access.scope)
                rulebook.change_settings(access, now.revision, safe_mode=settings.safe_mode)
            if policy is not None:
                revision = rulebook.current(access.scope, "project").revision
                rulebook.save(access, "project", before.text, revision)


def _asks_model(request: Any) -> bool:
    return isinstance(request, dict) and {"role", "messages"} <= request.keys()
