"""The planner that needs no model: asks each intent in turn, and takes the first plan that stands."""

from collections.abc import Callable
from typing import Final

from steward.agents.checking import Catalogue, PlanRefused, check, is_complete
from steward.agents.plan import Plan
from steward.agents.planning.task import Task
from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.intents import (
    aggregate,
    clean,
    combine,
    correlate,
    draw,
    duplicates,
    export,
    follow_up,
    listing,
    load,
    profile,
    recall,
    redact,
    relate,
    report,
    rows,
    schema,
    snapshot,
    unclear,
    undo,
)
from steward.core.errors import Denied

Intent = Callable[[Ask], Draft | None]

INTENTS: Final[tuple[Intent, ...]] = (
    # What has words of its own comes before what is read from names of columns.
    undo.plan,
    snapshot.plan,
    load.plan,
    recall.plan,
    export.plan,
    follow_up.plan,
    report.plan,
    redact.plan,
    duplicates.plan,
    combine.plan,
    relate.plan,
    correlate.plan,
    clean.plan,
    profile.plan,
    draw.plan,
    listing.plan,
    schema.plan,
    aggregate.plan,
    rows.plan,
    unclear.plan,
)


class RulePlanner:
    """Rules of `Planner`: the same message over the same data gives the same plan, always."""

    def __init__(self, intents: tuple[Intent, ...] = INTENTS) -> None:
        self._intents = intents

    def plan(self, task: Task, catalogue: Catalogue) -> tuple[Plan, str]:
        ask = Ask.of(task, catalogue)
        for intent in self._intents:
            draft = intent(ask)
            if draft is None:
                continue
            plan = _standing(draft, catalogue)
            if plan is not None:
                return plan, draft.said
        return _nothing(ask, catalogue)


def intended(ask: Ask, but: Intent | None = None) -> Draft | None:
    """The first draft that some intent makes of a request."""
    for intent in INTENTS:
        draft = intent(ask) if intent is not but else None
        if draft is not None:
            return draft
    return None


def _standing(draft: Draft, catalogue: Catalogue) -> Plan | None:
    """The plan, if it may be carried out and needs nobody to fill anything in."""
    try:
        plan = check(draft.document(), catalogue)
    except PlanRefused:
        return None
    return plan if all(is_complete(step, catalogue) for step in plan) else None


def _nothing(ask: Ask, catalogue: Catalogue) -> tuple[Plan, str]:
    """Not even looking is allowed: the plan says so by somebody who calls nothing."""
    silent = next((agent for agent in catalogue.agents if not agent.tools), None)
    said = (
        "Nothing can be done here: the project's policy allows none of the tools that look at data."
    )
    if silent is None:
        raise Denied(said, code="nothing-allowed")
    step = {
        "id": "say",
        "title": "Say that nothing is allowed",
        "agent": silent.name,
        "tools": [],
        "confidence": 0.0,
    }
    return check({"goal": goal_of(ask), "steps": [step], "notes": said}, catalogue), said
