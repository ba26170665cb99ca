"""A dataset as a workbook."""

from typing import Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset

_ASKED: Final = ("export", "excel", "xlsx", "workbook", "spreadsheet", "download")


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    said = ""
    if ask.says("csv", "json", "parquet"):
        said = "Rules can only make Excel workbooks; other formats are on the dataset's page."
    draft = Draft(goal_of(ask), said=said)
    added = draft.add(
        ask, "workbook", f"Write {dataset.name} as an Excel workbook", "render_xlsx", {"dataset": dataset.name},
        reason="A workbook was asked for", confidence=0.85,
    )  # fmt: skip
    return draft if added else None
