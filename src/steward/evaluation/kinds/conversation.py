"""Conversations: message after message, each held to what it is planned as, how it reads, and what SQL says."""

from typing import Any, ClassVar

from pydantic import Field

from steward.agents import Contract, Planned, in_words
from steward.evaluation.case import KINDS, Case, Findings, Message, ToolName
from steward.evaluation.matching import is_told
from steward.evaluation.stage import Decide, Stage
from steward.runs import Run

_MOST_CELLS = 100


class Turn(Contract):
    """A message, and what must come of it; what is not said does not matter."""

    say: Message
    tool: ToolName | None = Field(None, description="What the first step of its plan calls.")
    reads: str | None = Field(
        None, max_length=2_000, description="Its query in words, as Steward tells it."
    )
    chart: str | None = Field(None, max_length=20, description="The kind of chart that is drawn.")
    sql: str | None = Field(
        None, max_length=20_000, description="Every value of its result is in the answer."
    )
    tells: list[str] = Field(default=[], description="Texts that are in the answer.")
    lacks: list[str] = Field(default=[], description="Texts that are not in the answer.")
    left: list[str] = Field(default=[], description="Words that it says it did not understand.")
    understood: bool = Field(True, description="Off: it must say that it did not understand.")


class ConversationCase(Case):
    kind: ClassVar[str] = "conversation"
    turns: list[Turn] = Field(min_length=1, max_length=10)
    decide: Decide = Field("approve", description="What the person does when they are asked.")

    def judge(self, stage: Stage, findings: Findings) -> None:
        said: list[str] = []
        for number, turn in enumerate(self.turns, 1):
            run = stage.say(turn.say, decide=self.decide)
            where = f"{number}. {turn.say!r}"
            found = _found(stage, run)
            stage.cancel(run)
            findings.expect(run.status.value == "done", f"{where}: the run is {run.status.value}")
            if found is None:
                findings.problems.append(f"{where}: no plan was made")
                break
            said.append(f"{', '.join(found[0].plan.tools[:1])}: {query_in_words(found[0])}")
            for problem in problems_of(turn, *found):
                findings.problems.append(f"{where}: {problem}")
            self._against_sql(turn, found[1], where, stage, findings)
        findings.facts["turns"] = said

    def _against_sql(
        self, turn: Turn, answer: str, where: str, stage: Stage, findings: Findings
    ) -> None:
        if turn.sql is None:
            return
        wanted = [cell for row in stage.select(turn.sql) for cell in row]
        findings.expect(0 < len(wanted) <= _MOST_CELLS, f"{where}: SQL gives {len(wanted)} values")
        for cell in wanted[:_MOST_CELLS]:
            findings.expect(is_told(cell, answer), f"{where}: the answer does not say {cell}")


def _found(stage: Stage, run: Run) -> tuple[Planned, str] | None:
    recorded = stage.result(run, "plan/1")
    if recorded is None:
        return None
    output: Any = stage.result(run, "answer") or {}
    return Planned.model_validate(recorded), str(output.get("answer", ""))


def problems_of(turn: Turn, planned: Planned, answer: str | None) -> list[str]:
    """What does not hold of a turn; without an answer only its plan is looked at."""
    plan, found = planned.plan, []
    first = plan.steps[0]
    understood = planned.asked is None or planned.asked.status == "fact"
    if understood != turn.understood:
        found.append(f"it was {'not ' if turn.understood else ''}understood")
    if turn.tool is not None and first.tools[:1] != [turn.tool]:
        found.append(f"it calls {', '.join(first.tools)}, not {turn.tool}")
    reads = query_in_words(planned)
    if turn.reads is not None and reads != turn.reads:
        found.append(f"it reads {reads!r}")
    drawn = _drawn(planned)
    if turn.chart is not None and drawn != turn.chart:
        found.append(f"it draws {drawn or 'nothing'}, not {turn.chart}")
    found += [f"it understood {word!r}" for word in turn.left if f'"{word}"' not in planned.said]
    if answer is not None:
        folded = answer.casefold()
        found += [
            f"it does not tell {each!r}" for each in turn.tells if each.casefold() not in folded
        ]
        found += [f"it tells {each!r}" for each in turn.lacks if each.casefold() in folded]
    return found


def query_in_words(planned: Planned) -> str:
    """The query of the plan's first step; empty where that is no query."""
    document = planned.plan.steps[0].arguments.get("plan")
    return in_words(document) if isinstance(document, dict) else ""


def _drawn(planned: Planned) -> str | None:
    for step in planned.plan:
        chart = step.arguments.get("chart")
        if isinstance(chart, dict):
            return str(chart.get("kind"))
        parameters = step.arguments.get("parameters")
        if step.tools[:1] == ["execute_python"] and isinstance(parameters, dict):
            mark = str(parameters.get("mark"))
            return "pie" if mark == "arc" else mark
    return None


KINDS.add("conversation", ConversationCase)
