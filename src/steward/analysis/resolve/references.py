"""Numbers that tables share and columns that mark one party: found in the values, not declared."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.resolve.cleaning import cleaned
from steward.analysis.resolve.columns import ColumnFacts, text
from steward.analysis.resolve.roles import is_event_like, is_id_like
from steward.analysis.resolve.rules import Role
from steward.tables import Table

ID_STEPS = ("fold", "letters_and_digits")
STEADY = 0.75
JUDGED_ROWS = 20_000
LENGTHS_APART = 3
MARKING = 0.3
MOVING = 0.6
_GENERIC = {"id", "key", "ref", "reference", "code", "no", "nr", "num", "number", "row", "uuid"}


@dataclass(frozen=True)
class SharedNumber:
    """A number that several tables use for the same thing; columns by table."""

    name: str
    columns: dict[str, str]


def shared_numbers(
    connection: duckdb.DuckDBPyConnection,
    tables: dict[str, Table],
    facts: Sequence[ColumnFacts],
) -> tuple[SharedNumber, ...]:
    """Groups of id-like columns whose values overlap and whose names or shapes agree."""
    ids = [one for one in facts if is_id_like(one) and one.distinct > 1]
    groups: list[list[ColumnFacts]] = []
    for place, left in enumerate(ids):
        for right in ids[place + 1 :]:
            if left.table != right.table and _refers(connection, tables, left, right):
                _join(groups, left, right)
    numbers = []
    for group in groups:
        columns: dict[str, str] = {}
        # The column where the number is at home names it: the one that knows most of them.
        for one in sorted(group, key=lambda one: (-one.distinct, one.table, one.name)):
            columns.setdefault(one.table, one.name)
        home = max(group, key=lambda one: (one.unique, one.distinct))
        numbers.append(SharedNumber(home.name, columns))
    return tuple(numbers)


def _join(groups: list[list[ColumnFacts]], left: ColumnFacts, right: ColumnFacts) -> None:
    for group in groups:
        if left in group or right in group:
            group.extend(one for one in (left, right) if one not in group)
            return
    groups.append([left, right])


def _refers(
    connection: duckdb.DuckDBPyConnection,
    tables: dict[str, Table],
    left: ColumnFacts,
    right: ColumnFacts,
) -> bool:
    # A number that marks something is nearly unique where that something is at home.
    if max(left.variety, right.variety) < MARKING:
        return False
    related = _related(left, right)
    plain = max(left.shares["digits"], right.shares["digits"]) > 0.5
    # Counters from 1 overlap by accident, so plain numbers must also be named alike.
    if plain and not related:
        return False
    # Numbers of one kind are about equally long; this saves most of the comparing.
    if abs(left.length - right.length) > LENGTHS_APART:
        return False
    found = connection.execute(
        f"""SELECT count(*) FROM (
                SELECT v FROM {_numbers(left, tables)} INTERSECT SELECT v FROM {_numbers(right, tables)}
            ) WHERE v IS NOT NULL"""
    ).fetchone()
    overlap = (found[0] if found is not None else 0) / max(1, min(left.distinct, right.distinct))
    return bool(overlap >= (0.3 if related else 0.6))


def _related(left: ColumnFacts, right: ColumnFacts) -> bool:
    """Whether the names share a telling word, or one names the other's table."""
    a, b = set(left.words) - _GENERIC, set(right.words) - _GENERIC
    return bool(
        a & b
        or any(word in right.table.lower() for word in a if len(word) > 2)
        or any(word in left.table.lower() for word in b if len(word) > 2)
    )


def _numbers(facts: ColumnFacts, tables: dict[str, Table]) -> str:
    """A FROM item: the numbers of a column, once each, in plain letters and digits."""
    once = f"SELECT DISTINCT {text(facts.name)} AS raw FROM {tables[facts.table].source}"
    return f"(SELECT {cleaned('raw', ID_STEPS)} AS v FROM ({once}))"


def party_key(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    facts: Sequence[ColumnFacts],
    roles: dict[str, Role],
) -> str | None:
    """The column that marks one party in a table of events: invoices, tickets, orders.

    Most rows share its value with others, names and addresses agree within it, and times or
    amounts do not. A table of parties with duplicates has no such column.
    """
    described = [one for one in facts if roles[one.name] in _DESCRIBING]
    events = [one for one in facts if is_event_like(one)]
    keys = [one for one in facts if _may_mark_a_party(one, roles[one.name])]
    if not described or not events or not keys:
        return None
    best: tuple[float, float] | None = None
    chosen = None
    shares = agreements(connection, table, keys, [*described, *events])
    for key in keys:
        steady = _average(shares, key, [one for one in described if one.name != key.name])
        moving = _average(shares, key, events)
        score = (round(steady, 2), key.distinct)
        if steady >= STEADY and moving < MOVING and (best is None or score > best):
            best, chosen = score, key.name
    return chosen


_DESCRIBING: frozenset[Role] = frozenset(
    {"person_name", "given_name", "family_name", "company", "email", "tax_id", "postcode", "city"}
)


def _may_mark_a_party(facts: ColumnFacts, role: Role) -> bool:
    keyed = role == "email" or (role == "other" and is_id_like(facts))
    return keyed and facts.fill >= 0.5 and 1 < facts.distinct <= 0.8 * facts.filled


def _average(
    shares: dict[tuple[str, str], float], key: ColumnFacts, others: Sequence[ColumnFacts]
) -> float:
    known = [shares[key.name, one.name] for one in others if (key.name, one.name) in shares]
    return sum(known) / len(known) if known else 0.0


def agreements(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    keys: Sequence[ColumnFacts],
    others: Sequence[ColumnFacts],
) -> dict[tuple[str, str], float]:
    """Per key and column: of the rows that share their key with others, the share that has the
    key's usual value. Large tables are judged by a part of their keys, whole ones."""
    names = {one.name: place for place, one in enumerate(others)}
    plain = [
        f"array_to_string(list_sort(string_split({cleaned(text(name), ['fold', 'words'])}, ' ')), ' ') AS v{place}"
        for name, place in names.items()
    ]
    found: dict[tuple[str, str], float] = {}
    for key in keys:
        step = max(1, key.filled // JUDGED_ROWS)
        marked = f"lower({text(key.name)})"
        counted = ", ".join(f"histogram(v{place}) AS h{place}" for place in names.values())
        usual = ", ".join(
            f"sum(list_max(map_values(h{place}))) / sum(list_sum(map_values(h{place})))"
            for place in names.values()
        )
        row = connection.execute(
            f"""SELECT {usual} FROM (
                    SELECT {counted} FROM (
                        SELECT {marked} AS k, {", ".join(plain)} FROM {table.source}
                        WHERE {marked} IS NOT NULL AND hash({marked}) % {step} = 0
                    ) GROUP BY k HAVING count(*) > 1)"""
        ).fetchone()
        for name, share in zip(names, row or (), strict=False):
            if share is not None:
                found[key.name, name] = float(share)
    return found
