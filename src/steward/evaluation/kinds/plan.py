"""Prompt tests: what a message is planned as, without carrying it out."""

import json
import re
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.agents import Plan, Planned
from steward.evaluation.case import KINDS, Case, DatasetName, Findings, Message, ToolName
from steward.evaluation.matching import holds
from steward.evaluation.stage import Stage


class PlanCase(Case):
    kind: ClassVar[str] = "plan"
    say: Message
    before: list[Message] = Field(
        default=[], max_length=10, description="Messages that come first and are carried out."
    )
    tools: list[ToolName] = Field(default=[], description="Tools that the plan has.")
    no_tools: list[ToolName] = Field(default=[], description="Tools that it must not have.")
    datasets: list[DatasetName] = Field(default=[], description="Datasets that it names.")
    no_datasets: list[DatasetName] = Field(default=[])
    agents: list[str] = Field(default=[])
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="What one of its steps has in its arguments, at least."
    )
    made_by: Literal["model", "rules", "fallback"] | None = None
    steps: int | None = Field(None, ge=1, le=12, description="How many steps it has.")
    problems: bool | None = Field(
        None, description="Whether what a model proposed was at first not valid."
    )

    def judge(self, stage: Stage, findings: Findings) -> None:
        for message in self.before:
            stage.say(message, review="always")
        run = stage.say(self.say, decide="wait", review="always")
        recorded = stage.result(run, "plan/1")
        stage.cancel(run)
        if recorded is None:
            findings.problems.append(f"no plan was made; the run is {run.status.value}")
            return
        planned = Planned.model_validate(recorded)
        plan, named = planned.plan, _named(planned.plan, stage)
        findings.facts |= {
            "tools": list(plan.tools),
            "datasets": named,
            "made_by": planned.made_by,
            "steps": len(plan.steps),
        }
        self._check_names(plan, named, findings)
        self._check_shape(planned, findings)

    def _check_names(self, plan: Plan, named: list[str], findings: Findings) -> None:
        for what, wanted, unwanted, there in (
            ("tool", self.tools, self.no_tools, plan.tools),
            ("dataset", self.datasets, self.no_datasets, named),
            ("agent", self.agents, [], plan.agents),
        ):
            for name in wanted:
                findings.expect(name in there, f"the plan lacks the {what} {name}")
            for name in unwanted:
                findings.expect(name not in there, f"the plan has the {what} {name}")

    def _check_shape(self, planned: Planned, findings: Findings) -> None:
        plan = planned.plan
        if self.arguments:
            found = any(holds(self.arguments, step.arguments) for step in plan)
            findings.expect(found, f"no step has the arguments {json.dumps(self.arguments)}")
        if self.made_by is not None:
            said = f"the plan was made by {planned.made_by}, not by {self.made_by}"
            findings.expect(planned.made_by == self.made_by, said)
        if self.steps is not None:
            said = f"the plan has {len(plan.steps)} steps, not {self.steps}"
            findings.expect(len(plan.steps) == self.steps, said)
        if self.problems is not None:
            said = "nothing was wrong with the model's plan" if self.problems else ""
            findings.expect(
                bool(planned.problems) == self.problems, said or "; ".join(planned.problems)
            )


def _named(plan: Plan, stage: Stage) -> list[str]:
    """Datasets that stand in the arguments of a plan, in queries too."""
    text = json.dumps([step.arguments for step in plan], ensure_ascii=False)
    known = stage.datasets()
    return [name for name in known if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


KINDS.add("plan", PlanCase)
