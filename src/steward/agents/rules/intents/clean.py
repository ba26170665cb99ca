"""Cleaning: what is named, or everything that the profile found."""

from typing import Any, Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, columns_in
from steward.agents.rules.request import Ask
from steward.definitions import ColumnFacts, DatasetFacts

_ASKED: Final = ("clean", "clean up", "cleanup", "tidy", "fix", "standardise", "standardize", "normalise", "normalize",
                 "trim", "parse", "convert", "unify", "harmonise", "harmonize", "repair", "correct", "read", "strip",
                 "whitespace", "bereinigen", "nettoyer")  # fmt: skip
_MOST: Final = 8
Operation = tuple[str, dict[str, Any], str, str]
"""Operation, its arguments, a title, a reason."""


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    dataset = best_dataset(ask)
    if dataset is None:
        return None
    operations = _named(ask, dataset)
    notes = ""
    if (
        not operations
        and ask.says("read", "convert", "correct", "fix")
        and not ask.says("clean", "tidy")
    ):
        return None
    if not operations:
        operations = _from_profile(dataset)
        notes = "Chosen from what the profile found." if operations else ""
    if not operations:
        return _profile_first(ask, dataset)
    draft = Draft(goal_of(ask), notes=notes)
    before: list[str] = []
    for number, (operation, arguments, title, reason) in enumerate(operations[:_MOST], 1):
        name = f"clean_{number}"
        given = {"dataset": dataset.name, "operation": operation, "arguments": arguments}
        # One after another: each works on what the one before it left.
        if not draft.add(ask, name, title, "clean", given, reason=reason, needs=before):
            return None
        before = [name]
    return draft


def _named(ask: Ask, dataset: DatasetFacts) -> list[Operation]:
    """Operations whose subject is in the request: spaces, dates, numbers, countries, e-mail, phones, categories."""
    columns = [each.column for each in columns_in(ask, dataset)]
    found: list[Operation] = []
    if ask.says("trim", "spaces", "whitespace", "white space", "strip", "padding"):
        texts = [c.name for c in columns if c.kind == "text"]
        arguments = {"columns": texts} if texts else {}
        found.append(
            (
                "collapse_spaces",
                arguments,
                f"Take spaces out of {dataset.name}",
                "Spaces were named",
            )
        )
    if ask.says("dates", "date", "as dates", "days"):
        chosen = [
            c for c in columns if ask.catalogue.world.is_time(dataset.name, c) and not c.is_time
        ] or [
            c
            for c in dataset.columns
            if ask.catalogue.world.is_time(dataset.name, c) and not c.is_time
        ]
        found += _one("parse_dates", chosen, "Read as dates", "Dates were named")
    if ask.says("numbers", "number", "as numbers", "numeric", "amounts"):
        chosen = [c for c in columns if c.kind == "text"] or [
            c for c in dataset.columns if c.is_number_text
        ]
        found += _one("parse_numbers", chosen, "Read as numbers", "Numbers were named")
    by_meaning = {
        "countries": (("country", "countries"), "country", "Write countries alike"),
        "emails": (("email", "emails", "e-mail", "e-mails"), "email", "Tidy e-mail addresses"),
        "phones": (("phone", "phones", "phone numbers"), "phone", "Write phone numbers alike"),
    }
    for operation, (words, meaning, title) in by_meaning.items():
        if ask.says(*words):
            chosen = [c for c in dataset.columns if meaning in c.meanings]
            found += _one(operation, chosen, title, f"{title.split()[-1].capitalize()} were named")
    if ask.says("categories", "category", "spelling", "spellings", "values", "typos"):
        chosen = [c for c in columns if c.kind == "text"] or [
            c for c in dataset.columns if _is_messy(c)
        ]
        found += [_category(c) for c in chosen[:4]]
    elif not found:
        found += [_category(c) for c in columns if _is_messy(c)]
    return found


def _from_profile(dataset: DatasetFacts) -> list[Operation]:
    """What the statistics call for, in the order in which it is best done."""
    columns = dataset.columns
    padded = [c.name for c in columns if c.padded]
    found: list[Operation] = []
    if padded:
        found.append(("collapse_spaces", {"columns": padded}, f"Take spaces out of {', '.join(padded[:3])}",
                      "The profile found spaces around values"))  # fmt: skip
    found += _one(
        "parse_dates",
        [c for c in columns if c.is_date_text],
        "Read as dates",
        "Dates are written as text",
    )
    found += _one("emails", [c for c in columns if "email" in c.meanings and c.spellings], "Tidy e-mail addresses",
                  "The same address is spelled in several ways")  # fmt: skip
    mixed = [c for c in columns if "country" in c.meanings and (c.spellings or _long(c))]
    found += _one(
        "countries", mixed, "Write countries alike", "Countries are written in several ways"
    )
    found += [_category(c) for c in columns if _is_messy(c)]
    if dataset.duplicate_rows:
        found.append(("drop_duplicates", {}, f"Remove {dataset.duplicate_rows:,} rows that repeat another",
                      "The profile found equal rows"))  # fmt: skip
    return found


def _one(operation: str, columns: list[ColumnFacts], title: str, reason: str) -> list[Operation]:
    names = [column.name for column in columns]
    if not names:
        return []
    return [(operation, {"columns": names}, f"{title}: {', '.join(names[:3])}", reason)]


def _category(column: ColumnFacts) -> Operation:
    title = f"Unify the spellings of {column.name}"
    return (
        "map_categories",
        {"column": column.name},
        title,
        "The same value is spelled in several ways",
    )


def _is_messy(column: ColumnFacts) -> bool:
    return bool(column.spellings) and "category" in column.meanings


def _long(column: ColumnFacts) -> bool:
    return any(len(each) > 3 for each in column.values)


def _profile_first(ask: Ask, dataset: DatasetFacts) -> Draft | None:
    if dataset.profiled:
        said = f"The profile of {dataset.name} found nothing that rules would clean; here it is."
    else:
        said = f"{dataset.name} was not profiled yet, so rules cannot know what to clean; the profile comes first. Then ask again."
    draft = Draft(goal_of(ask), said=said)
    added = draft.add(
        ask, "profile", f"Profile {dataset.name}", "profile", {"dataset": dataset.name},
        reason="It says what there is to clean",
    )  # fmt: skip
    return draft if added else None
