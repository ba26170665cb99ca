"""Taking back the last change."""

from typing import Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of

_ASKED: Final = (
    "undo",
    "take back",
    "take it back",
    "take that back",
    "revert",
    "roll back",
    "rollback",
    "rückgängig",
    "redo",
    "annuler",
)


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    draft = Draft(goal_of(ask))
    if not ask.task.commits:
        draft.said = "There is no change of data in this conversation that could be taken back; here is what there is."
        added = draft.add(ask, "datasets", "List the datasets", "list_datasets", {}, confidence=0.5)
        return draft if added else None
    commit = ask.task.commits[-1]
    draft.notes = "The preview shows what was built upon the change. Taking back an undo is a redo."
    added = draft.add(
        ask, "undo", "Take back the last change", "undo", {"commit": commit},
        reason="The last change was to be taken back", confidence=0.9,
    )  # fmt: skip
    return draft if added else None
