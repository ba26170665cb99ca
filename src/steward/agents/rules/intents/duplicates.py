"""The same thing twice: rows that are equal, and records that mean the same."""

from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.request import Ask
from steward.agents.rules.targets import free_name

_EQUAL: Final = ("duplicate rows", "identical rows", "exact duplicates", "repeated rows", "equal rows", "duplicated rows")  # fmt: skip
_ALIKE: Final = ("duplicate", "duplicated", "dedupe", "dedup", "deduplicate", "deduplication", "resolve entities",
                 "entity resolution", "same customer", "same company", "golden records", "golden record", "twice",
                 "match customers", "match records", "match companies", "doubles", "duplikate", "doublons",
                 "resolve", "merge records")  # fmt: skip
_REMOVE: Final = ("remove", "drop", "delete", "clean", "get rid")


def plan(ask: Ask) -> Draft | None:
    if ask.says(*_EQUAL) and ask.says(*_REMOVE):
        return _equal(ask)
    if not ask.says(*_ALIKE, *_EQUAL):
        return None
    named = datasets_in(ask)
    several = ask.says("across", "between", "and", "all", "both")
    chosen = named[:5] if several and len(named) > 1 else named[:1]
    if not chosen:
        best = best_dataset(ask)
        chosen = [best] if best is not None else []
    if not chosen:
        return None
    names = [each.name for each in chosen]
    draft = Draft(
        goal_of(ask),
        notes="The rules of matching and the borderline pairs are shown before anything is kept; the sources stay as they are.",
    )
    target = free_name(ask, f"{' and '.join(names)} resolved")
    added = draft.add(
        ask, "resolve", f"Find records of {' and '.join(names)} that are the same", "resolve_entities",
        {"datasets": names, "target": target},
        reason="Duplicates were asked for; matching rules are proposed from the data",
    )  # fmt: skip
    return draft if added else None


def _equal(ask: Ask) -> Draft | None:
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    draft = Draft(goal_of(ask))
    added = draft.add(
        ask, "duplicates", f"Remove rows of {dataset.name} that repeat another in full", "clean",
        {"dataset": dataset.name, "operation": "drop_duplicates", "arguments": {}},
        reason="Equal rows were to be removed",
    )  # fmt: skip
    return draft if added else None
