"""Definitions as entries: each thing that people confirm, change or reject by itself, by its pointer.

`/tables/orders`, `/tables/orders/columns/amount`, `/metrics/revenue` … Documents become entries and entries documents, so comparing,
changing and taking back are the same plain operation for every kind of entry.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from steward.core import Conflict, Invalid, Problem, in_words, mistakes
from steward.definitions.document import (
    ColumnDefinition,
    ConfirmedQuestion,
    DefaultFilter,
    Definitions,
    Metric,
    Relationship,
    Segment,
    TableDefinition,
)

Entry = dict[str, Any]
_INSIDE: Final[dict[str, type[BaseModel]]] = {
    "columns": ColumnDefinition,
    "segments": Segment,
    "default_filters": DefaultFilter,
}


@dataclass(frozen=True)
class EntryChange:
    """One entry before and after; unset where there was none, or is none any more."""

    entry: str
    before: Entry | None
    after: Entry | None


def pointer(*parts: str) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def parts_of(text: str) -> tuple[str, ...]:
    if not text.startswith("/"):
        raise Invalid(f"{text!r} does not name an entry; write it as /metrics/revenue.")
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in text[1:].split("/"))


def relationship_name(each: Relationship) -> str:
    """How a relationship is told apart: orders(buyer) → buyers(id)."""
    sides = (each.from_table, each.from_columns), (each.to_table, each.to_columns)
    return " → ".join(f"{table}({', '.join(columns)})" for table, columns in sides)


def to_entries(definitions: Definitions, *, every_table: bool = False) -> dict[str, Entry]:
    """Every entry by its pointer, as a document without defaults; tables that only hold entries are none, unless asked for."""
    found: dict[str, Entry] = {}
    for name, table in definitions.tables.items():
        own = _document(table, exclude=set(_INSIDE))
        if own or every_table or not any((table.columns, table.segments, table.default_filters)):
            found[pointer("tables", name)] = own
        for column, entry in table.columns.items():
            found[pointer("tables", name, "columns", column)] = _document(entry)
        for segment, part in table.segments.items():
            found[pointer("tables", name, "segments", segment)] = _document(part)
        for each in table.default_filters:
            found[pointer("tables", name, "default_filters", each.where)] = _document(each)
    for name, metric in definitions.metrics.items():
        found[pointer("metrics", name)] = _document(metric)
    for relationship in definitions.relationships:
        named = relationship_name(relationship)
        found[pointer("relationships", named)] = _document(relationship)
    for question in definitions.questions:
        found[pointer("questions", question.ask)] = _document(question)
    return found


def _document(part: Any, exclude: set[str] | None = None) -> Entry:
    found: Entry = part.model_dump(mode="json", exclude_defaults=True, exclude=exclude)
    return found


def from_entries(entries: Mapping[str, Entry]) -> Definitions:
    """The document of entries; Invalid names what does not fit, and where."""
    document: dict[str, Any] = {"tables": {}, "metrics": {}, "relationships": [], "questions": []}
    for name, value in entries.items():
        match parts_of(name):
            case ("tables", table):
                document["tables"].setdefault(table, {}).update(value)
            case ("tables", table, "default_filters", _):
                inside = document["tables"].setdefault(table, {})
                inside.setdefault("default_filters", []).append(value)
            case ("tables", table, "columns" | "segments" as kind, inner):
                document["tables"].setdefault(table, {}).setdefault(kind, {})[inner] = value
            case ("metrics", metric):
                document["metrics"][metric] = value
            case ("relationships" | "questions" as kind, _):
                document[kind].append(value)
            case _:
                raise Invalid(f"There is no kind of entry such as {name}.")
    try:
        return Definitions.model_validate(document)
    except ValidationError as error:
        raise _invalid(error, "The definitions are not valid") from None


def _invalid(error: ValidationError, what: str) -> Invalid:
    found = mistakes(error)
    return Invalid(f"{what}: {in_words(found)}.", code="definition-invalid", problems=found)


def checked_entry(name: str, value: Mapping[str, Any]) -> tuple[str, Entry]:
    """An entry's pointer and document as they are kept; the pointer of a listed one follows from its content."""
    parts = parts_of(name)
    try:
        match parts:
            case ("tables", _):
                if _INSIDE.keys() & value.keys():
                    raise Invalid(f"{name} holds a table's own fields; set columns one by one.")
                return name, _document(TableDefinition.model_validate(value))
            case ("tables", table, "default_filters", _):
                filtered = DefaultFilter.model_validate(value)
                kept = pointer("tables", table, "default_filters", filtered.where)
                return kept, _document(filtered)
            case ("tables", _, "columns" | "segments" as kind, _):
                return name, _document(_INSIDE[kind].model_validate(value))
            case ("metrics", _):
                return name, _document(Metric.model_validate(value))
            case ("relationships", _):
                relationship = Relationship.model_validate(value)
                named = relationship_name(relationship)
                return pointer("relationships", named), _document(relationship)
            case ("questions", _):
                question = ConfirmedQuestion.model_validate(value)
                return pointer("questions", question.ask), _document(question)
    except ValidationError as error:
        raise _invalid(error, f"{name} is not valid") from None
    raise Invalid(
        f"There is no kind of entry such as {name}.", problems=[Problem(name, "unknown kind")]
    )


def confirmed_entry(value: Entry) -> Entry:
    """The entry as somebody takes it in from a file: what they rejected stays so, the rest is confirmed."""
    return {**value, "state": "rejected" if value.get("state") == "rejected" else "confirmed"}


def diff_definitions(before: Definitions, after: Definitions) -> list[EntryChange]:
    """What differs, entry by entry, in the order of the later document."""
    old, new = to_entries(before), to_entries(after)
    return [
        EntryChange(name, old.get(name), new.get(name))
        for name in dict.fromkeys([*new, *old])
        if old.get(name) != new.get(name)
    ]


def apply_changes(definitions: Definitions, changes: Iterable[EntryChange]) -> Definitions:
    """The document with the changes; Conflict where an entry is no longer what a change starts from."""
    entries = to_entries(definitions)
    for change in changes:
        if entries.get(change.entry) != change.before:
            raise Conflict(
                f"{change.entry} was changed meanwhile. Look at it again before you change it.",
                code="definition-changed",
            )
        if change.after is None:
            entries.pop(change.entry, None)
        else:
            entries[change.entry] = change.after
    return from_entries(entries)


def planned_changes(
    definitions: Definitions, wanted: Iterable[tuple[str, Mapping[str, Any] | None]]
) -> list[EntryChange]:
    """The changes that lead to the wanted entries; None removes one."""
    entries = to_entries(definitions)
    planned: dict[str, EntryChange] = {}
    for given, value in wanted:
        name, after = (given, None) if value is None else checked_entry(given, value)
        if name != given and given in entries:
            # A condition or a pair of columns that was edited: the entry moves.
            planned[given] = EntryChange(given, entries[given], None)
        planned[name] = EntryChange(name, entries.get(name), after)
    return [each for each in planned.values() if each.before != each.after]
