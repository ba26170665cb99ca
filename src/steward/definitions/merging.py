"""Stored and proposed definitions as one: what people confirmed, changed or rejected wins over what is proposed."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from steward.definitions.document import (
    ColumnDefinition,
    ConfirmedQuestion,
    Definitions,
    Metric,
    Relationship,
    TableDefinition,
)
from steward.definitions.entries import pointer, relationship_name

_Named = TypeVar("_Named", ColumnDefinition, Metric)
_Listed = TypeVar("_Listed", Relationship, ConfirmedQuestion)


def merge_definitions(stored: Definitions, proposed: Definitions) -> Definitions:
    """Everything there is to see: stored entries, rejected ones too, and proposals for what is not stored.

    Tables and columns that datasets no longer have stay, so that people see what they once confirmed.
    """
    return Definitions(
        tables={
            name: _merge_table(stored.tables.get(name), proposed.tables.get(name))
            for name in {**proposed.tables, **stored.tables}
        },
        metrics=_merge_named(stored.metrics, proposed.metrics),
        relationships=_merge_listed(stored.relationships, proposed.relationships, _ends),
        questions=_merge_listed(stored.questions, proposed.questions, lambda each: each.ask),
    )


def effective(stored: Definitions, proposed: Definitions) -> Definitions:
    """What questions are read by: merged, without what was rejected and without what the datasets do not have."""
    merged = merge_definitions(stored, proposed)
    tables = {
        name: _usable(merged.tables[name], proposed.tables[name])
        for name in proposed.tables
        if merged.tables[name].state != "rejected"
    }
    return Definitions(
        tables=tables,
        metrics={
            name: each
            for name, each in merged.metrics.items()
            if each.state != "rejected" and each.over in tables
        },
        relationships=[
            each
            for each in merged.relationships
            if each.state != "rejected"
            and _has(tables, each.from_table, each.from_columns)
            and _has(tables, each.to_table, each.to_columns)
        ],
        questions=[each for each in merged.questions if each.state != "rejected"],
    )


def _has(tables: Mapping[str, TableDefinition], table: str, columns: Iterable[str]) -> bool:
    return table in tables and all(each in tables[table].columns for each in columns)


def _usable(table: TableDefinition, existing: TableDefinition) -> TableDefinition:
    columns = {
        name: each
        for name, each in table.columns.items()
        if name in existing.columns and each.state != "rejected"
    }
    return table.model_copy(
        update={
            "columns": columns,
            "key": table.key if all(each in existing.columns for each in table.key) else [],
            "name_column": table.name_column if table.name_column in columns else None,
            "default_time": table.default_time if table.default_time in columns else None,
            "default_filters": [each for each in table.default_filters if each.state != "rejected"],
            "segments": {
                name: each for name, each in table.segments.items() if each.state != "rejected"
            },
        }
    )


def _merge_table(
    stored: TableDefinition | None, proposed: TableDefinition | None
) -> TableDefinition:
    if stored is None or proposed is None:
        return stored or proposed or TableDefinition()
    # Whoever confirms the key of a table says nothing about its time: proposals fill what is left open.
    open_fields = {
        name: getattr(proposed, name)
        for name in ("row", "synonyms", "key", "name_column", "default_time", "why")
        if stored.state != "rejected" and not getattr(stored, name)
    }
    return stored.model_copy(
        update={**open_fields, "columns": _merge_named(stored.columns, proposed.columns)}
    )


def _merge_named(stored: Mapping[str, _Named], proposed: Mapping[str, _Named]) -> dict[str, _Named]:
    in_order = dict.fromkeys([*proposed, *stored])
    return {name: stored[name] if name in stored else proposed[name] for name in in_order}


def _merge_listed(
    stored: Iterable[_Listed],
    proposed: Iterable[_Listed],
    identity: Callable[[_Listed], Hashable],
) -> list[_Listed]:
    kept = list(stored)
    known = {identity(each) for each in kept}
    return kept + [each for each in proposed if identity(each) not in known]


def _ends(each: Relationship) -> Hashable:
    return (each.from_table, tuple(each.from_columns), each.to_table, tuple(each.to_columns))


def missing_entries(stored: Definitions, proposed: Definitions) -> list[str]:
    """Stored entries about tables or columns that the data does not have; every existing column is proposed for."""
    gone: list[str] = []
    for name, table in stored.tables.items():
        existing = proposed.tables.get(name)
        if existing is None:
            gone.append(pointer("tables", name))
            continue
        gone += [
            pointer("tables", name, "columns", column)
            for column in table.columns
            if column not in existing.columns
        ]
    gone += [
        pointer("metrics", name)
        for name, metric in stored.metrics.items()
        if metric.over not in proposed.tables
    ]
    gone += [
        pointer("relationships", relationship_name(each))
        for each in stored.relationships
        if not _has(proposed.tables, each.from_table, each.from_columns)
        or not _has(proposed.tables, each.to_table, each.to_columns)
    ]
    return gone
