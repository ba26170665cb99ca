"""How datasets belong together."""

from typing import Any, Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

_ASKED: Final = ("relate", "related", "relations", "relationships", "foreign keys", "primary keys", "primary key",
                 "which keys", "keys", "belong together", "how do the tables", "how do the datasets", "linked",
                 "can i match", "can i join", "connected", "entity relationship")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    named = [each.name for each in datasets_in(ask)[:20]]
    arguments: dict[str, Any] = {"datasets": named} if len(named) > 1 else {}
    draft = Draft(goal_of(ask))
    added = draft.add(
        ask, "relate", "Look for keys between the datasets", "relate", arguments,
        reason="It was asked how data belongs together",
    )  # fmt: skip
    return draft if added else None
