"""Tool-call trajectories: which tools a conversation calls, in which order, and what it must never call."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from steward.evaluation.case import KINDS, Case, Findings, Message, ToolName
from steward.evaluation.matching import Order, follows
from steward.evaluation.script import OrText
from steward.evaluation.stage import Decide, Stage

Messages = Annotated[
    list[Message],
    Field(min_length=1, max_length=10),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class ExpectedCall(OrText):
    """A call; what is not said about it does not matter."""

    tool: ToolName
    arguments: dict[str, Any] = Field(default_factory=dict)
    state: str = Field("done", description="done, denied, failed, refused or waiting.")

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: Any) -> Any:
        return {"tool": value} if isinstance(value, str) else value


class TrajectoryCase(Case):
    kind: ClassVar[str] = "trajectory"
    say: Messages = Field(description="A message, or several of one thread.")
    decide: Decide = Field("approve", description="What the person does when they are asked.")
    calls: list[ExpectedCall] = Field(default=[], max_length=50)
    order: Order = "exact"
    never: list[ToolName] = Field(default=[])
    deviations: list[str] | None = Field(
        None, description="Kinds of what models tried beside the plan, in order."
    )
    adherence: float | None = Field(None, ge=0, le=1, description="At least this, at the end.")
    status: str = Field("done", description="How the last message's run stands at the end.")

    def judge(self, stage: Stage, findings: Findings) -> None:
        runs = [stage.say(message, decide=self.decide) for message in self.say]
        calls = [call for run in runs for call in stage.calls(run)]
        made = [{"tool": c.tool, "arguments": c.arguments, "state": c.state} for c in calls]
        tried = [each["kind"] for run in runs for each in stage.tried_outside(run)]
        status, output = runs[-1].status.value, stage.result(runs[-1], "answer") or {}
        findings.facts |= {
            "calls": [f"{call.tool}: {call.state}" for call in calls],
            "deviations": tried,
            "adherence": output.get("adherence"),
            "status": status,
        }
        for run in runs:
            stage.cancel(run)
        wanted = [each.model_dump() for each in self.calls]
        told = ", ".join(findings.facts["calls"]) or "nothing"
        findings.expect(follows(wanted, made, self.order), f"it called {told}")
        for tool in self.never:
            findings.expect(all(call.tool != tool for call in calls), f"it called {tool}")
        findings.expect(status == self.status, f"the run is {status}, not {self.status}")
        if self.deviations is not None:
            said = f"deviations were {tried}, not {self.deviations}"
            findings.expect(tried == self.deviations, said)
        if self.adherence is not None:
            kept = output.get("adherence")
            said = f"adherence was {kept}, not at least {self.adherence}"
            findings.expect(kept is not None and kept >= self.adherence, said)


KINDS.add("trajectory", TrajectoryCase)
