"""A report about datasets."""

from typing import Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, datasets_in

_ASKED: Final = ("report on", "report about", "report for", "report of", "a report", "the report", "write report",
                 "generate report", "create report", "make report", "pdf", "write up", "report")  # fmt: skip
_MOST: Final = 5


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    named = datasets_in(ask)
    if not named:
        best = best_dataset(ask)
        named = [best] if best is not None else list(ask.catalogue.datasets.values())
    if (
        len(named) > 1
        and datasets_in(ask)
        and not ask.says("all", "and", "both", "every", "everything")
    ):
        named = named[:1]
    chosen = [each.name for each in named[:_MOST]]
    if not chosen:
        return None
    draft = Draft(goal_of(ask))
    title = ("Report on " + ", ".join(chosen))[:200]
    added = draft.add(
        ask, "report", f"Write a report about {', '.join(chosen)}", "report", {"title": title, "datasets": chosen},
        reason="A report was asked for", confidence=0.85,
    )  # fmt: skip
    return draft if added else None
