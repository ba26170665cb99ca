"""How good a dataset is: its profile."""

from typing import Final

from steward.agents.asking.choosing import names_in
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.request import Ask

_ASKED: Final = ("profile", "quality", "what is wrong", "what's wrong", "problems", "issues with", "anomalies", "outliers",
                 "missing values", "null values", "statistics", "stats", "completeness", "how complete", "how clean",
                 "summary statistics", "any good", "check the data", "health", "inspect", "validate", "data check",
                 "personal data", "pii", "values are missing", "what is missing", "missing in", "missing data",
                 "gaps in", "how good")  # fmt: skip
_MOST: Final = 4


def plan(ask: Ask) -> Draft | None:
    names = names_in(ask.catalogue.world)
    # "Countries with a health below 55" asks about a column.
    if not any(ask.says(each) for each in _ASKED if each not in names):
        return None
    named = datasets_in(ask)[:_MOST]
    if not named:
        best = best_dataset(ask)
        everything = list(ask.catalogue.datasets.values())[:_MOST]
        named = [best] if best is not None else everything
    # Words such as "customers" may hit several; only those named equally well are all meant.
    if (
        len(named) > 1
        and not ask.says("all", "both", "and", "every", "each", "datasets", "tables")
        and datasets_in(ask)
    ):
        named = named[:1]
    draft = Draft(goal_of(ask))
    for number, dataset in enumerate(named, 1):
        added = draft.add(
            ask, f"profile_{number}" if len(named) > 1 else "profile", f"Profile {dataset.name}",
            "profile", {"dataset": dataset.name},
            reason="A profile says what is missing, what repeats and what looks wrong",
        )  # fmt: skip
        if not added:
            return None
    return draft if draft.steps else None
