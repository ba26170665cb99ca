"""What goes together within a dataset."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset
from steward.agents.rules.request import Ask

_ASKED: Final = ("correlate", "correlation", "correlated", "correlates", "go together", "depend on", "depends on",
                 "influence", "influences", "what drives", "relationship between", "associated with",
                 "affect", "affects", "explains")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    draft = Draft(goal_of(ask), notes="Columns that go together need not be cause and effect.")
    added = draft.add(
        ask, "correlate", f"Correlate the columns of {dataset.name}", "correlate", {"dataset": dataset.name},
        reason="It was asked what goes together",
    )  # fmt: skip
    return draft if added else None
