"""What is done when a request is not understood: something harmless, said honestly."""

from typing import Final

from steward.agents.rules.asking import Ask
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.frames import frame_of
from steward.agents.rules.leftovers import ignored
from steward.agents.rules.naming import datasets_in

_ABLE: Final = (
    'Rules understand requests such as "total net by country", "how many tickets per month", "top 10 products by gross", '
    '"show open invoices", "profile the customers", "find duplicate customers", "join invoices and customers", '
    '"write a report about the tickets", "export the customers to Excel" and "undo".'
)


_THANKS: Final = (
    "thanks",
    "thank you",
    "great",
    "perfect",
    "hello",
    "hi",
    "good morning",
    "ok",
    "okay",
    "danke",
)
SURE: Final = 0.2
"""How sure a plan is that only looks because nothing was understood."""


def plan(ask: Ask) -> Draft | None:
    named = datasets_in(ask)
    draft = Draft(
        goal_of(ask), notes="The request was not understood; this only looks at what there is."
    )
    draft.said = f"I could not tell what you want. {_words(ask)}{_ABLE}"
    if ask.says(*_THANKS) and len(ask.tokens) <= 3:
        draft.notes, draft.said = "", f"At your service. {_ABLE}"
    if named:
        name = named[0].name
        for tool in ("profile", "get_dataset_schema"):
            if draft.add(ask, "look", f"Look at {name}", tool, {"dataset": name}, confidence=SURE):
                return draft
    if draft.add(ask, "look", "List the datasets", "list_datasets", {}, confidence=SURE):
        return draft
    return None


def _words(ask: Ask) -> str:
    """What was not understood, where there is something to compare it with."""
    frame = frame_of(ask)
    if frame is None:
        return ""
    missed = ignored(ask, frame.dataset, ())
    listed = ", ".join(f'"{word}"' for word in missed)
    told = f"{listed} is no column and no known value of {frame.dataset.name}. " if missed else ""
    return f'{told}The last query can be changed with "by month", "only 2025", "as a bar chart" and the like. '
