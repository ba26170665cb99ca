"""Which columns of several tables are the same: proposed from names, types and values, decided by people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
from rapidfuzz import fuzz

from steward.analysis.consolidate.naming import Names
from steward.analysis.relate.keytext import FLOATS, INTEGERS, key_text
from steward.analysis.relate.names import alike, words_of
from steward.tables import Column, Table, quote

_THRESHOLD = 0.6
_SAMPLE_ROWS = 2_000
_SAMPLE_VALUES = 200
# Words for the same thing that neither spelling nor abbreviation gives away.
_SYNONYMS = (
    frozenset(("email", "mail", "e")),
    frozenset(("phone", "telephone", "tel", "mobile", "fon")),
    frozenset(("zip", "postcode", "postal", "plz")),
    frozenset(("surname", "last", "family")),
    frozenset(("forename", "first", "given")),
    frozenset(("town", "city", "place")),
    frozenset(("company", "organisation", "organization", "firm")),
    frozenset(("amount", "sum", "total", "value")),
    frozenset(("id", "no", "nr", "number", "key", "code")),
)


@dataclass(frozen=True)
class MappedColumn:
    """One output column with the column of each table that feeds it, and how sure that is."""

    name: str
    columns: dict[str, str]
    confidence: float
    reason: str


def suggest_mapping(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table]
) -> tuple[MappedColumn, ...]:
    """A proposal for `union`: columns of later tables are matched to what the earlier ones have."""
    groups: list[list[tuple[Table, Column]]] = []
    told: list[tuple[float, str]] = []
    samples = {table.name: _sample(connection, table) for table in tables}
    for table in tables:
        scored = [
            (score, -index, -position, reason)
            for index, group in enumerate(groups)
            for position, column in enumerate(table.columns)
            for score, reason in [_similarity(group, table, column, samples)]
            if score >= _THRESHOLD
        ]
        scored.sort(reverse=True)
        used_groups: set[int] = set()
        used_columns: set[int] = set()
        for score, negative_group, negative_column, reason in scored:
            index, position = -negative_group, -negative_column
            if index in used_groups or position in used_columns:
                continue
            used_groups.add(index)
            used_columns.add(position)
            groups[index].append((table, table.columns[position]))
            if score < told[index][0]:
                told[index] = (score, reason)
        for position, column in enumerate(table.columns):
            if position not in used_columns:
                groups.append([(table, column)])
                told.append((1.0, "only here"))
    return _named(groups, told)


def _named(
    groups: Sequence[Sequence[tuple[Table, Column]]], told: Sequence[tuple[float, str]]
) -> tuple[MappedColumn, ...]:
    names = Names()
    result = []
    for group, (confidence, reason) in zip(groups, told, strict=True):
        table, column = group[0]
        name = names.take(column.name, f"{column.name}_{table.name}")
        columns = {each.name: member.name for each, member in group}
        said = "same name in all" if len(group) > 1 and reason == "only here" else reason
        result.append(MappedColumn(name, columns, round(confidence, 3), said))
    return tuple(result)


def _similarity(
    group: Sequence[tuple[Table, Column]],
    table: Table,
    column: Column,
    samples: Mapping[str, Mapping[str, frozenset[str]]],
) -> tuple[float, str]:
    best = (0.0, "")
    for other_table, other in group:
        name = _name_similarity(other.name, column.name)
        kind = _type_similarity(other.type, column.type)
        shared = _overlap(samples[other_table.name][other.name], samples[table.name][column.name])
        if name == 1.0:
            # The same name is the same column unless the types exclude it.
            score, reason = (1.0, "same name") if kind > 0 else (0.65, "same name, other type")
        else:
            score = 0.65 * name + 0.15 * kind + 0.2 * shared
            reason = f"names {name:.0%} alike, values {shared:.0%} shared"
            if kind == 0 or (name < 0.5 and shared < 0.9):
                score = 0.0
        best = max(best, (score, reason))
    return best


def _name_similarity(left: str, right: str) -> float:
    a, b = words_of(left), words_of(right)
    if a == b and a:
        return 1.0
    if not a or not b:
        return 1.0 if left.lower() == right.lower() else 0.0
    short, long = sorted((a, b), key=len)
    hits = sum(max(_same(word, other) for other in long) for word in short)
    covered = 2 * hits / (len(a) + len(b))
    # Letters alone never prove sameness: "start" and "state" look alike.
    return max(covered, fuzz.ratio("".join(a), "".join(b)) / 100 * 0.9)


def _same(word: str, other: str) -> float:
    if any(word in group and other in group for group in _SYNONYMS):
        return 0.95
    return alike(word, other)


def _type_similarity(left: str, right: str) -> float:
    if left == right:
        return 1.0
    numbers = [_is_number(left), _is_number(right)]
    if all(numbers):
        return 0.9
    times = [left.startswith(("DATE", "TIMESTAMP")), right.startswith(("DATE", "TIMESTAMP"))]
    if all(times):
        return 0.9
    return 0.5 if "VARCHAR" in {left, right} else 0.0


def _is_number(name: str) -> bool:
    return name in INTEGERS or name in FLOATS or name.startswith("DECIMAL")


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller >= 3 else 0.0


def _sample(connection: duckdb.DuckDBPyConnection, table: Table) -> dict[str, frozenset[str]]:
    """Some distinct values of each column, from its first rows, in comparable form."""
    found: dict[str, frozenset[str]] = {}
    for column in table.columns:
        text = key_text(quote(column.name), column.type, "case")
        rows = connection.execute(
            f"SELECT DISTINCT v FROM (SELECT {text} AS v FROM {table.source} LIMIT {_SAMPLE_ROWS}) "
            f"WHERE v IS NOT NULL ORDER BY v LIMIT {_SAMPLE_VALUES}"
        ).fetchall()
        found[column.name] = frozenset(str(row[0]) for row in rows)
    return found
