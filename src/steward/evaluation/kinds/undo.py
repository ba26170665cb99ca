"""Undo and redo: after taking calls back, data and files are what they were, byte for byte; redo brings them back."""

import asyncio
from typing import Any, ClassVar

from pydantic import Field, model_validator

from steward.evaluation.case import KINDS, Case, DatasetName, Findings, Message
from steward.evaluation.script import ScriptedCall
from steward.evaluation.stage import Stage
from steward.runs import Run


class UndoCase(Case):
    kind: ClassVar[str] = "undo"
    calls: list[ScriptedCall] = Field(default=[], max_length=10, description="What is done.")
    say: Message | None = Field(None, description="Or a message whose turn is taken back.")
    changes: list[DatasetName] = Field(
        default=[], description="Datasets that must be different before they are taken back."
    )
    last: int | None = Field(
        None, ge=1, description="How many of the calls are taken back, from the last; unset: all."
    )
    redo: bool = True

    @model_validator(mode="after")
    def _something_to_undo(self) -> "UndoCase":
        if bool(self.calls) == (self.say is not None):
            raise ValueError("say what is done: calls, or a message")
        return self

    def judge(self, stage: Stage, findings: Findings) -> None:
        states = [stage.state()]
        done: list[tuple[Run, Any]] = []
        for run in self._runs(stage):
            actions = stage.site.undoing.actions(stage.site.access.scope, run.id)
            done += [(run, action) for action in actions]
            states.append(stage.state())
            said = f"a run is {run.status.value}: {_error(stage, run)}"
            findings.expect(run.status.value == "done", said)
        findings.facts["actions"] = [action.tool for _, action in done]
        if findings.problems or not self._changed(states, done, findings):
            return
        taken = done if self.last is None or self.say else done[-self.last :]
        wanted = states[0] if self.last is None or self.say else states[-1 - self.last]
        for run, action in reversed(taken):
            asyncio.run(stage.site.undoing.undo(stage.site.access, run.id, action.key))
        _compare("after undo", wanted, stage.state(), findings)
        if self.redo:
            for run, action in taken:
                asyncio.run(stage.site.undoing.redo(stage.site.access, run.id, action.key))
            _compare("after redo", states[-1], stage.state(), findings)

    def _runs(self, stage: Stage) -> Any:
        if self.say is not None:
            yield stage.say(self.say)
        for call in self.calls:
            yield stage.call(call.tool, call.arguments)

    def _changed(self, states: list[dict[str, str]], done: Any, findings: Findings) -> bool:
        changed = [name for name, value in states[-1].items() if states[0].get(name) != value] + [
            name for name in states[0] if name not in states[-1]
        ]
        findings.facts["changed"] = sorted(changed)
        findings.expect(bool(done), "nothing was done that can be taken back")
        for name in self.changes:
            findings.expect(f"dataset {name}" in changed, f"{name} was not changed")
        return not findings.problems


def _compare(when: str, wanted: dict[str, str], found: dict[str, str], findings: Findings) -> None:
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            how = (
                "is missing" if name not in found else "is new" if name not in wanted else "differs"
            )
            findings.problems.append(f"{when}, {name} {how}")


def _error(stage: Stage, run: Run) -> str:
    errors = [call.error["message"] for call in stage.calls(run) if call.error]
    return "; ".join(errors) or "no reason was recorded"


KINDS.add("undo", UndoCase)
