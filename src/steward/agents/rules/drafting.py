"""Plans as the rules write them: steps with an agent that may do them, a goal, and words for the person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from steward.agents.asking.reading import Asked
from steward.agents.planning.plan import StepBudget
from steward.agents.rules.request import Ask

_USUAL: Final[dict[str, tuple[str, ...]]] = {
    "clean": ("data-engineer",),
    "join": ("data-engineer",),
    "union": ("data-engineer",),
    "profile": ("data-analyst",),
    "resolve_entities": ("reconciler",),
    "report": ("reporter",),
    "render_xlsx": ("reporter",),
    "undo": ("data-engineer",),
    "redact": ("data-engineer",),
    "ingest": ("data-engineer",),
    "snapshot": ("data-engineer",),
    "transform": ("data-engineer",),
}
_FALLBACK: Final[dict[str, tuple[str, ...]]] = {"execute_query_plan": ("execute_sql",)}


@dataclass
class Draft:
    goal: str
    steps: list[dict[str, Any]] = field(default_factory=list)
    notes: str = ""
    said: str = ""
    asked: Asked | None = None
    """What the rows that it works on were taken to be, where it is about some of a table's rows."""

    def add(
        self,
        ask: Ask,
        name: str,
        title: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str = "",
        needs: Sequence[str] = (),
    ) -> bool:
        """A step of a tool; False when nobody here may call it, so that the draft is not worth going on with."""
        agent = ask.catalogue.agent_for(tool, _USUAL.get(tool, ("data-analyst",)))
        if agent is None:
            return False
        policy = ask.catalogue.agents.get(agent)
        fallback = [
            each
            for each in _FALLBACK.get(tool, ())
            if ask.catalogue.usable(each) and policy.may_call(each, ask.catalogue.tools[each].risk)
        ]
        self.steps.append(
            {
                "id": name,
                "title": title[:200],
                "agent": agent,
                "tools": [tool],
                "fallback_tools": fallback,
                "arguments": dict(arguments),
                "needs": list(needs),
                "reason": reason[:1_000],
                "budget": StepBudget(calls=4).model_dump(mode="json"),
            }
        )
        return True

    def document(self) -> dict[str, Any]:
        return {"goal": self.goal[:2_000], "steps": self.steps, "notes": self.notes[:2_000]}


def goal_of(ask: Ask) -> str:
    return ask.text[:2_000] or "Look at the data"
