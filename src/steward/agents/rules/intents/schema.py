"""What a dataset is made of: its columns and types."""

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

_ASKED = ("columns", "schema", "structure", "describe", "which fields", "what fields", "fields of", "data types",
          "column names", "column types", "what is in", "what's in")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    named = datasets_in(ask)
    if not ask.says(*_ASKED) or not named:
        return None
    draft = Draft(goal_of(ask))
    dataset = named[0]
    added = draft.add(
        ask, "schema", f"Columns of {dataset.name}", "get_dataset_schema", {"dataset": dataset.name},
        reason="Its columns were asked for",
    )  # fmt: skip
    return draft if added else None
