"""Questions about the conversation: what was done, why, how a figure came about, who changed the data."""

from typing import Any, Final

from steward.agents.rules.describing import in_words
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.last_query import last_document
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

_DONE: Final = ("what did you do", "what have you done", "what did you change", "what have you changed", "what happened",
                "what was done", "what was changed", "what changed", "what has changed", "recap", "so far",
                "history", "list changes", "list the changes", "show changes", "show the changes", "what did we do",
                "the changes", "latest changes", "last changes", "recent changes")  # fmt: skip
_WHO: Final = ("who changed", "who has changed", "who did", "who edited", "who made", "who touched", "changed by whom",
               "when was it changed", "who modified", "who loaded", "who cleaned", "who added", "last changed",
               "who deleted", "who removed")  # fmt: skip
_WHY: Final = ("why", "how come", "how did you", "how was", "how is it computed", "how is this computed", "explain",
               "what does that mean", "what does this mean", "where does", "where do", "show the query",
               "show me the query", "what query", "which query", "the sql", "show sql", "how do you know",
               "based on what", "reason")  # fmt: skip
_SHORT: Final = 8
_MOST: Final = 6


def plan(ask: Ask) -> Draft | None:
    if ask.says(*_WHO):
        return _changes(ask, "")
    if ask.says(*_DONE) and len(ask.tokens) <= _SHORT:
        return _changes(ask, _history_text(ask))
    if ask.says(*_WHY) and len(ask.tokens) <= _SHORT and not datasets_in(ask):
        return _explained(ask)
    return None


def _changes(ask: Ask, notes: str) -> Draft | None:
    named = datasets_in(ask)
    acted = ask.task.acted
    known = {name.casefold(): name for name in ask.catalogue.datasets}
    about = named[0].name if named else known.get(acted.dataset.casefold()) if acted else None
    arguments: dict[str, Any] = {} if about is None or notes else {"dataset": about}
    draft = Draft(goal_of(ask), notes=notes)
    title = f"Changes of {arguments.get('dataset', 'the data')}"
    added = draft.add(
        ask, "changes", title, "list_changes", arguments,
        reason="It was asked what happened to the data",
    )  # fmt: skip
    return draft if added else None


def _history_text(ask: Ask) -> str:
    """What this conversation did, turn by turn."""
    lines = [
        f"{number}. “{said.message[:80]}”: "
        + "; ".join(f"{title}{f' ({came})' if came else ''}" for title, _, came in said.steps[:3])
        for number, said in enumerate(ask.task.history[-_MOST:], 1)
        if said.steps
    ]
    if not lines:
        return "In this conversation nothing was done yet."
    return "In this conversation:\n" + "\n".join(lines)


def _explained(ask: Ask) -> Draft | None:
    history = [said for said in ask.task.history if said.steps]
    if not history:
        return None
    reasons = [
        f"{title}: {reason or 'it was asked for'}."
        for title, reason, _ in history[-1].steps[:_MOST]
    ]
    notes = f"“{history[-1].message[:80]}” was done so. {' '.join(reasons)}"
    last = ask.task.last
    document = last_document(last)
    if document is None or last is None:
        return _changes(ask, notes)
    notes += f" It reads: {in_words(document)}"
    if last.sql:
        notes += f"\n\n```sql\n{last.sql[:1_200]}\n```"
    draft = Draft(goal_of(ask), notes=notes)
    added = draft.add(
        ask, "query", "The same query again, with how it came about", "execute_query_plan",
        {"plan": document}, reason="It was asked how the figures came about",
    )  # fmt: skip
    return draft if added else None
