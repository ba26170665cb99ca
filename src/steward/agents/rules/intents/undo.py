"""Taking back the last change."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.request import Ask

_ASKED: Final = ("undo", "take back", "take it back", "take that back", "take this back", "revert", "roll back",
                 "rollback", "reverse that", "reverse the change")  # fmt: skip
_ANY: Final = ("last change", "latest change", "last commit", "latest commit")
"""Said where it does not matter whose change it is."""
_REDO: Final = ("redo", "undo the undo", "do it again after all", "restore the change", "put it back", "bring it back")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    if ask.says(*_REDO):
        return _redone(ask)
    if not ask.says(*_ASKED):
        return None
    draft = Draft(goal_of(ask))
    if not ask.task.commits:
        again = ' "Redo" brings the last one back.' if ask.task.redo else ""
        draft.said = f"There is no change of data in this conversation left to take back.{again}"
        added = draft.add(ask, "datasets", "List the datasets", "list_datasets", {})
        return draft if added else None
    if not ask.task.commits_are_own and not ask.says(*_ANY):
        draft.said = (
            "This conversation changed no data, so there is nothing of it to take back. "
            '"Undo the last change" takes back the latest of these, whoever made it.'
        )
        added = draft.add(ask, "changes", "List the changes", "list_changes", {})
        return draft if added else None
    commit = ask.task.commits[-1]
    draft.notes = "The preview shows what was built upon the change. Taking back an undo is a redo."
    added = draft.add(
        ask, "undo", "Take back the last change", "undo", {"commit": commit},
        reason="The last change was to be taken back",
    )  # fmt: skip
    return draft if added else None


def _redone(ask: Ask) -> Draft | None:
    draft = Draft(goal_of(ask))
    if ask.task.redo is None:
        draft.said = "Nothing was taken back in this conversation that could be done again."
        added = draft.add(ask, "datasets", "List the datasets", "list_datasets", {})
        return draft if added else None
    draft.notes = "Taking back an undo is a redo."
    added = draft.add(
        ask, "undo", "Do again what was taken back", "undo", {"commit": ask.task.redo},
        reason="The last undo was to be taken back",
    )  # fmt: skip
    return draft if added else None
