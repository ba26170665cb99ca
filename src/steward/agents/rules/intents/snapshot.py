"""Keeping the present state under a name."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.request import Ask

_ASKED: Final = ("snapshot", "checkpoint", "save point", "tag the state", "save the state")


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    name = f"{ask.task.today.isoformat()} by chat"
    for _, end in ask.places(("called", "named", "as", "name")):
        if end < len(ask.tokens):
            name = ask.written(end, min(end + 8, len(ask.tokens)))
    draft = Draft(goal_of(ask))
    added = draft.add(
        ask, "snapshot", f"Keep the present state as {name!r}", "snapshot", {"name": name, "kind": "tag"},
        reason="A snapshot was asked for",
    )  # fmt: skip
    return draft if added else None
