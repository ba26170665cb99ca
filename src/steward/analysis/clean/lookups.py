"""Values converted in Python, once for each distinct value, and carried into SQL as a small table or a CASE."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from steward.core import TooLarge
from steward.tables import Table, literal, quote

MAX_VALUES = 50_000
"""The most values that may be written into the SQL of a change."""
_CASE_VALUES = 40


@dataclass(frozen=True)
class Lookup:
    """Old values with their new ones; `value` is SQL for the new one, null where there is none.

    `hit` is SQL that holds where the row's value is among the old ones. `join` is empty for short lists.
    """

    join: str
    hit: str
    value: str


@dataclass(frozen=True)
class Converted:
    """What became of the distinct values: those that change, and those that could not be converted."""

    changed: dict[tuple[str | None, ...], str | None]
    failed: tuple[tuple[str | None, ...], ...]


def convert(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    columns: Sequence[str],
    function: Callable[[tuple[str | None, ...]], str | None],
    where: str = "TRUE",
    advice: str = "Filter or split the table first.",
) -> Converted:
    """Calls `function` for every distinct combination of the columns; it returns the new first value or None.

    Only values that change or fail count towards the limit, and both together must not exceed it.
    """
    names = ", ".join(f"CAST({quote(column)} AS VARCHAR)" for column in columns)
    first = quote(columns[0])
    rows = connection.execute(
        f"SELECT DISTINCT {names} FROM {table.source} WHERE {first} IS NOT NULL AND ({where}) ORDER BY ALL"
    )
    changed: dict[tuple[str | None, ...], str | None] = {}
    failed: list[tuple[str | None, ...]] = []
    while batch := rows.fetchmany(10_000):
        for row in batch:
            new = function(row)
            if new is None:
                failed.append(row)
            elif new != row[0]:
                changed[row] = new
            if len(changed) + len(failed) > MAX_VALUES:
                raise TooLarge(
                    f"Column {columns[0]!r} has more than {MAX_VALUES:,} different values to convert. {advice}"
                )
    return Converted(changed, tuple(failed))


def lookup(
    columns: Sequence[str], pairs: Mapping[tuple[str | None, ...], str | None], alias: str
) -> Lookup:
    """SQL that finds the new value of the row `s` by its old ones; `alias` must be unique within the statement."""
    if not pairs:
        return Lookup("", "FALSE", "NULL")
    olds = [f"s.{quote(column)}" for column in columns]
    if len(pairs) <= _CASE_VALUES:
        conditions = {
            " AND ".join(_equals(old, part) for old, part in zip(olds, key, strict=True)): new
            for key, new in pairs.items()
        }
        hit = " OR ".join(f"({condition})" for condition in conditions)
        cases = " ".join(
            f"WHEN {condition} THEN {_text(new)}" for condition, new in conditions.items()
        )
        return Lookup("", f"({hit})", f"CASE {cases} END")
    rows = ", ".join(
        f"({', '.join(_text(part) for part in (*key, new))})" for key, new in pairs.items()
    )
    names = [f"o{index}" for index in range(len(columns))]
    condition = " AND ".join(
        f"{old} IS NOT DISTINCT FROM {alias}.{name}" if index else f"{old} = {alias}.{name}"
        for index, (old, name) in enumerate(zip(olds, names, strict=True))
    )
    join = f"LEFT JOIN (VALUES {rows}) AS {alias}({', '.join(names)}, n) ON {condition}"
    return Lookup(join, f"{alias}.o0 IS NOT NULL", f"{alias}.n")


def _equals(old: str, part: str | None) -> str:
    return f"{old} IS NULL" if part is None else f"{old} = {literal(part)}"


def _text(value: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if value is None else literal(value)
