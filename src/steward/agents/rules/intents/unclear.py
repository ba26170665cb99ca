"""What is done when a request is not understood: something harmless, said honestly."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

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


def plan(ask: Ask) -> Draft | None:
    named = datasets_in(ask)
    draft = Draft(
        goal_of(ask), notes="The request was not understood; this only looks at what there is."
    )
    draft.said = f"I could not tell what you want. {_ABLE}"
    if ask.says(*_THANKS) and len(ask.tokens) <= 3:
        draft.notes, draft.said = "", f"At your service. {_ABLE}"
    if named:
        name = named[0].name
        for tool in ("profile", "get_dataset_schema"):
            if draft.add(ask, "look", f"Look at {name}", tool, {"dataset": name}):
                return draft
    if draft.add(ask, "look", "List the datasets", "list_datasets", {}):
        return draft
    return None
