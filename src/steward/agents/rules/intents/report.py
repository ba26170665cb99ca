"""A report about datasets, or about the rows that are named."""

from typing import Final

from steward.agents.asking.reading import Asked
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.request import Ask
from steward.agents.rules.rhythm import rhythm_in
from steward.agents.rules.selecting import keep_reading, rows_named

_ASKED: Final = ("report on", "report about", "report for", "report of", "a report", "the report", "write report",
                 "generate report", "create report", "make report", "pdf", "write up", "report")  # fmt: skip
_WORDS: Final = (
    *_ASKED,
    "write",
    "create",
    "make",
    "generate",
    "send",
    "on",
    "about",
    "both",
    "everything",
)
_MOST: Final = 5


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    rhythm = rhythm_in(ask.text)
    notes = (
        f"This is done once. “Make this a playbook…” below sets it up for {rhythm.said}."
        if rhythm
        else ""
    )
    draft = Draft(goal_of(ask), notes=notes)
    named = datasets_in(ask)
    rows = rows_named(ask, *_WORDS) if named else None
    if rows is not None:
        return _about_rows(ask, draft, rows)
    if not named:
        best = best_dataset(ask)
        named = [best] if best is not None else list(ask.catalogue.datasets.values())
    if (
        len(named) > 1
        and datasets_in(ask)
        and not ask.says("all", "and", "both", "every", "everything")
    ):
        named = named[:1]
    return _report(ask, draft, [each.name for each in named[:_MOST]])


def _about_rows(ask: Ask, draft: Draft, rows: Asked) -> Draft | None:
    """Only what was read whole is reported; the rest is asked about."""
    draft.asked = rows if rows.status != "fact" else None
    if rows.reading is None:
        named = datasets_in(ask)
        return _report(ask, draft, [named[0].name])
    kept = keep_reading(ask, draft, rows.reading)
    return None if kept is None else _report(ask, draft, [kept], needs=["keep"])


def _report(
    ask: Ask, draft: Draft, names: list[str], needs: list[str] | None = None
) -> Draft | None:
    if not names:
        return None
    title = ("Report on " + ", ".join(names))[:200]
    added = draft.add(
        ask, "report", f"Write a report about {', '.join(names)}", "report", {"title": title, "datasets": names},
        reason="A report was asked for", needs=needs or (),
    )  # fmt: skip
    return draft if added else None
