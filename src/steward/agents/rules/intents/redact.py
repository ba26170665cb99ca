"""Personal data masked, hashed or dropped."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, columns_in
from steward.agents.rules.request import Ask

_ASKED: Final = ("mask", "redact", "hide", "anonymise", "anonymize", "pseudonymise", "pseudonymize", "hash", "obfuscate")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    named = [each.column.name for each in columns_in(ask, dataset)]
    chosen = named or [column.name for column in dataset.columns if column.personal]
    if not chosen:
        return None
    method = "hash" if ask.says("hash", "pseudonymise", "pseudonymize") else "mask"
    draft = Draft(
        goal_of(ask),
        notes="Earlier versions still hold the values until they expire; the change can be taken back.",
    )
    added = draft.add(
        ask, "redact", f"{method.capitalize()} {', '.join(chosen[:4])} of {dataset.name}", "redact",
        {"dataset": dataset.name, "columns": {name: {"method": method} for name in chosen}},
        reason="Personal data is to be hidden",
    )  # fmt: skip
    return draft if added else None
