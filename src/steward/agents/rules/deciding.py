"""The planner that needs no model: commands by their words, everything else as a question about tables."""

from collections.abc import Callable
from typing import Final, NamedTuple

from steward.agents.asking.reading import Asked
from steward.agents.planning.plan import Plan
from steward.agents.planning.plan_checks import Catalogue, PlanRefused, check_plan, is_complete
from steward.agents.planning.task import Task
from steward.agents.rules import questions
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.intents import (
    clean,
    combine,
    duplicates,
    export,
    load,
    looking,
    profile,
    recall,
    redact,
    repeat,
    report,
    snapshot,
    unclear,
    undo,
)
from steward.agents.rules.request import Ask
from steward.core import Denied

Intent = Callable[[Ask], Draft | None]

INTENTS: Final[tuple[Intent, ...]] = (
    undo.plan,
    snapshot.plan,
    load.plan,
    recall.plan,
    export.plan,
    report.plan,
    redact.plan,
    duplicates.plan,
    combine.plan,
    looking.RELATE.plan,
    looking.CORRELATE.plan,
    clean.plan,
    profile.plan,
    looking.LISTING.plan,
    looking.SCHEMA.plan,
    repeat.plan,
)


class Ruled(NamedTuple):
    """A plan made by rules, what the person is told about it, and what their question was taken to ask."""

    plan: Plan
    said: str
    asked: Asked | None

    @property
    def understood(self) -> bool:
        return self.asked is None or self.asked.status == "fact"


class RulePlanner:
    """Rules of `Planner`: the same message over the same data gives the same plan, always."""

    def plan(self, task: Task, catalogue: Catalogue) -> Ruled:
        ask = Ask.of(task, catalogue)
        for intent in INTENTS if task.reading is None else ():
            draft = intent(ask)
            plan = None if draft is None else _standing(draft, catalogue)
            if draft is not None and plan is not None:
                return Ruled(plan, draft.said, draft.asked)
        greets = task.reading is None and task.proposed is None and unclear.is_greeting(ask)
        asked = Asked(status="refused") if greets else questions.read(ask)
        if asked.reading is not None:
            draft = questions.plan_reading(ask, asked.reading)
            plan = None if draft is None else _standing(draft, catalogue)
            if draft is not None and plan is not None:
                return Ruled(plan, draft.said, asked)
        draft = unclear.plan(ask)
        plan = None if draft is None else _standing(draft, catalogue)
        if draft is None or plan is None:
            return _nothing(ask, catalogue)
        told = [*asked.problems, unclear.able(ask)]
        nothing = {"status": "refused", "reading": None, "nearest": [], "problems": told}
        return Ruled(plan, draft.said, asked.model_copy(update=nothing))


def _standing(draft: Draft, catalogue: Catalogue) -> Plan | None:
    """The plan, if it may be carried out and needs nobody to fill anything in."""
    try:
        plan = check_plan(draft.document(), catalogue)
    except PlanRefused:
        return None
    return plan if all(is_complete(step, catalogue) for step in plan) else None


def _nothing(ask: Ask, catalogue: Catalogue) -> Ruled:
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
    plan = check_plan({"goal": goal_of(ask), "steps": [step], "notes": said}, catalogue)
    return Ruled(plan, said, None)
