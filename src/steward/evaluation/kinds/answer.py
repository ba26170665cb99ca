"""Answer checks: what a person is told must be what SQL says about the same data."""

from typing import ClassVar

from pydantic import Field

from steward.evaluation.case import KINDS, Case, Findings, Message
from steward.evaluation.matching import is_told
from steward.evaluation.stage import Stage

_MOST_CELLS = 100


class AnswerCase(Case):
    kind: ClassVar[str] = "answer"
    say: Message
    sql: str = Field(
        min_length=1, max_length=20_000, description="Every value of its result is in the answer."
    )
    sourced: bool = Field(True, description="Whether every figure must come from a result.")
    flagged: list[str] = Field(
        default=[], description="Figures that nothing stands behind, flagged as such."
    )
    without: list[str] = Field(default=[], description="Texts that must not be in the answer.")
    rows: str = Field("all", pattern="^(all|schema-only)$")

    def judge(self, stage: Stage, findings: Findings) -> None:
        run = stage.say(self.say, rows=self.rows)
        output = stage.result(run, "answer") or {}
        text = str(output.get("answer", ""))
        unsourced = [each["text"] for each in output.get("figures", []) if each["source"] is None]
        wanted = [cell for row in stage.select(self.sql) for cell in row]
        findings.facts |= {
            "answer": text[:500],
            "expected": [None if cell is None else str(cell) for cell in wanted[:20]],
            "unsourced": unsourced,
        }
        stage.cancel(run)
        findings.expect(run.status.value == "done", f"the run is {run.status.value}")
        findings.expect(0 < len(wanted) <= _MOST_CELLS, f"the SQL gives {len(wanted)} values")
        for cell in wanted[:_MOST_CELLS]:
            findings.expect(is_told(cell, text), f"the answer does not say {cell}")
        for words in self.without:
            findings.expect(words.casefold() not in text.casefold(), f"the answer says {words!r}")
        for figure in self.flagged:
            findings.expect(figure in unsourced, f"{figure} was not flagged")
        if self.sourced:
            loose = [figure for figure in unsourced if figure not in self.flagged]
            findings.expect(not loose, f"figures without a source: {', '.join(loose)}")


KINDS.add("answer", AnswerCase)
