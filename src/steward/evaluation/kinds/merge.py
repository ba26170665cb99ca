"""Merge accuracy: entity resolution against a known truth, as the F1 score of its pairs."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from steward.core import Invalid
from steward.evaluation.case import KINDS, Case, DatasetName, Findings
from steward.evaluation.stage import Stage
from steward.samples import load_sample_truth

Row = tuple[str, str]
"""A dataset and the key of one of its rows."""


class MergeCase(Case):
    kind: ClassVar[str] = "merge"
    datasets: list[DatasetName] = Field(min_length=1, max_length=20)
    rules: str | None = Field(None, description="Matching rules as YAML; unset: as proposed.")
    truth: Literal["samples"] | str = Field(
        "samples", description="CSV with the columns dataset, row_id and entity_id; or `samples`."
    )
    f1: float = Field(ge=0, le=1, description="The least F1 of pairs.")
    precision: float = Field(0, ge=0, le=1)
    recall: float = Field(0, ge=0, le=1)

    def judge(self, stage: Stage, findings: Findings) -> None:
        target = "golden records"
        given = {} if self.rules is None else {"rules": self.rules}
        run = stage.call("resolve_entities", {"datasets": self.datasets, "target": target, **given})
        if run.status.value != "done":
            errors = [call.error["message"] for call in stage.calls(run) if call.error]
            findings.problems.append(f"resolving is {run.status.value}: {'; '.join(errors)}")
            return
        found = {
            (str(row["source_table"]), str(row["row_key"])): str(row["entity_id"])
            for row in stage.rows(f"{target} mapping")
        }
        truth = {row: entity for row, entity in self._truth(stage) if row[0] in self.datasets}
        missing = len(truth.keys() - found.keys())
        findings.expect(not missing, f"{missing} rows of the truth are in no mapping")
        score = scores(truth, found)
        findings.facts |= {name: round(value, 4) for name, value in score.items()}
        findings.facts["entities"] = len(set(found.values()))
        for name in ("f1", "precision", "recall"):
            least = getattr(self, name)
            said = f"{name} is {score[name]:.3f}, not at least {least}"
            findings.expect(score[name] >= least, said)

    def _truth(self, stage: Stage) -> Iterable[tuple[Row, str]]:
        if self.truth == "samples":
            if not stage.site.customers:
                raise Invalid("The suite has no samples, so their truth means nothing.")
            yield from load_sample_truth(stage.site.customers).items()
            return
        for line in csv.DictReader(io.StringIO(self.truth)):
            if set(line) != {"dataset", "row_id", "entity_id"}:
                raise Invalid("The truth has the columns dataset, row_id and entity_id.")
            yield (line["dataset"], line["row_id"]), line["entity_id"]


def scores(truth: Mapping[Row, str], found: Mapping[Row, str]) -> dict[str, float]:
    """Precision, recall and F1 over pairs of rows that are the same; without any pair, all is right."""
    rows = [row for row in truth if row in found]
    real = _pairs(Counter(truth[row] for row in rows))
    claimed = _pairs(Counter(found[row] for row in rows))
    both = _pairs(Counter((truth[row], found[row]) for row in rows))
    precision = both / claimed if claimed else 1.0
    recall = both / real if real else 1.0
    total = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total else 0.0,
    }


def _pairs(groups: Mapping[object, int]) -> int:
    return sum(count * (count - 1) // 2 for count in groups.values())


KINDS.add("merge", MergeCase)
