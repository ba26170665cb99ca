"""What is done when a request is not understood: something harmless, said honestly."""

from typing import Final

from steward.agents.asking.examples import example_questions
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import datasets_in
from steward.agents.rules.request import Ask

_ABLE: Final = "I can also find duplicates, clean, join and export datasets, and write a report."
_THANKS: Final = ("thanks", "thank you", "great", "perfect", "hello", "hi", "good morning", "ok", "okay", "danke")  # fmt: skip
_ABOUT_STEWARD: Final = ("what can you do", "what do you do", "help", "help me", "who are you", "how does this work")  # fmt: skip


def is_greeting(ask: Ask) -> bool:
    """Whether a message asks nothing of the data: hi, thanks, what can you do?"""
    greets = ask.says(*_THANKS) and len(ask.tokens) <= 3
    return greets or (ask.says(*_ABOUT_STEWARD) and len(ask.tokens) <= 6)


def able(ask: Ask) -> str:
    """What can be asked, with questions that work on the datasets there are."""
    world, lexicon = ask.catalogue.world, ask.catalogue.lexicon
    found = example_questions(world, lexicon, ask.task.today)
    if not found:
        return f"Upload a file first, then ask about it. {_ABLE}"
    return f"You can ask, for example: {'; '.join(f'“{each}”' for each in found)}. {_ABLE}"


def plan(ask: Ask) -> Draft | None:
    named = datasets_in(ask)
    draft = Draft(
        goal_of(ask), notes="The request was not understood; this only looks at what there is."
    )
    draft.said = f"I could not tell what you want. {able(ask)}"
    if is_greeting(ask):
        draft.said = f"Ask me about your data. {able(ask)}"
        draft.notes = draft.said
    if named:
        name = named[0].name
        for tool in ("profile", "get_dataset_schema"):
            if draft.add(ask, "look", f"Look at {name}", tool, {"dataset": name}):
                return draft
    if draft.add(ask, "look", "List the datasets", "list_datasets", {}):
        return draft
    return None
