"""Foreign keys: from all pairs of columns to the few that names, values and counts agree on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from steward.analysis.relate.columns import Facts
from steward.analysis.relate.evidence import (
    KEYLIKE,
    LONGEST_KEY,
    Evidence,
    may_contain,
    too_many,
    weigh,
)
from steward.analysis.relate.inclusion import Inclusion, Sketches, measure
from steward.analysis.relate.model import Key
from steward.analysis.relate.names import alike, names_table, within
from steward.tables import Table, quote

_COVERAGE_NAMED = 0.85
_COVERAGE_SAME_NAME = 0.7
_COVERAGE_UNNAMED = 0.98
_SKETCH_NAMED = 0.05
_SKETCH_UNNAMED = 0.8
_MIN_FILLED_SHARE = 0.9
_CHAIN_TOLERANCE = 0.1
_SMALLEST_TREE = 10
_LARGEST_TREE = 1_000_000


@dataclass(frozen=True)
class Found:
    """A confirmed inclusion between column sets, with what speaks for it."""

    dependent: tuple[Facts, ...]
    referenced: tuple[Facts, ...]
    evidence: Evidence
    inclusion: Inclusion
    primary: bool
    home: bool

    @property
    def from_columns(self) -> tuple[str, tuple[str, ...]]:
        return self.dependent[0].table, tuple(each.name for each in self.dependent)

    @property
    def to_columns(self) -> tuple[str, tuple[str, ...]]:
        return self.referenced[0].table, tuple(each.name for each in self.referenced)

    @property
    def generic(self) -> bool:
        return any(each.place.short.generic for each in self.dependent)

    @property
    def score(self) -> float:
        bits = min(1.0, self.evidence.bits / 40.0)
        told = max(self.evidence.name, 0.9 * bits)
        return (
            0.55 * told
            + 0.25 * self.inclusion.coverage
            + 0.1 * self.evidence.type
            + 0.05 * self.primary
            + 0.05 * self.home
        )


def may_depend(facts: Facts) -> bool:
    return facts.family in KEYLIKE and facts.filled > 0 and 0 < facts.longest <= LONGEST_KEY


def may_be_referenced(facts: Facts) -> bool:
    return (
        may_depend(facts)
        and facts.unique
        and facts.rows >= 2
        and facts.filled >= facts.rows * _MIN_FILLED_SHARE
        and not facts.place.short.measure
    )


def find_unary(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    facts: Sequence[Facts],
    keys: Sequence[Key],
) -> list[Found]:
    """Every single-column foreign key, at most one per dependent column."""
    primary = {(key.table, key.columns) for key in keys if key.primary}
    pairs = _plausible(facts, primary)
    confirmed: list[Found] = []
    sketches = Sketches(connection, tables)
    try:
        owners = {index: facts[index] for index in sorted({left for left, _, _ in pairs})}
        for owner, each in owners.items():
            sketches.add(owner, each)
        by_referenced: dict[int, list[tuple[int, Evidence]]] = {}
        for left, right, evidence in pairs:
            by_referenced.setdefault(right, []).append((left, evidence))
        for right, lefts in sorted(by_referenced.items()):
            shares = sketches.contained(facts[right], [left for left, _ in lefts])
            for left, evidence in lefts:
                needed = _SKETCH_NAMED if evidence.named else _SKETCH_UNNAMED
                if shares[left] >= needed:
                    inclusion = measure(connection, tables, (facts[left],), (facts[right],))
                    confirmed.append(
                        _found((facts[left],), (facts[right],), evidence, inclusion, primary)
                    )
    finally:
        sketches.close()
    found = choose([found for found in confirmed if convinces(found)])
    return _without_copies(found + _trees(connection, tables, facts, primary, found))


def _without_copies(found: Sequence[Found]) -> list[Found]:
    """Without columns that repeat what a foreign key leads to anyway: the address beside the customer's number."""
    linked = {(each.from_columns[0], each.to_columns[0]) for each in found if each.primary}
    return [
        each
        for each in found
        if each.primary
        or (
            (each.from_columns[0], each.to_columns[0]) not in linked
            and (each.evidence.named or each.referenced[0].place.short.identifier)
        )
    ]


def _trees(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    facts: Sequence[Facts],
    primary: set[tuple[str, tuple[str, ...]]],
    known: Sequence[Found],
) -> list[Found]:
    """Columns that make a tree of their own table's rows, whatever they are called."""
    keys = {each.table: each for each in facts if (each.table, (each.name,)) in primary}
    used = {each.from_columns for each in known}
    found = []
    for each in facts:
        key = keys.get(each.table)
        if key is None or key.name == each.name or (each.table, (each.name,)) in used:
            continue
        if not _may_be_parent(each, key):
            continue
        inclusion = measure(connection, tables, (each,), (key,))
        if inclusion.coverage == 1.0 and _is_tree(connection, tables[each.table], each, key):
            evidence = replace(weigh(each, key), name=0.8)
            found.append(_found((each,), (key,), evidence, inclusion, primary))
    return found


def _may_be_parent(facts: Facts, key: Facts) -> bool:
    """Some rows have no parent, most parents have several children, and the column neither counts nor measures."""
    return (
        may_depend(facts)
        and may_contain(facts, key)
        and not facts.place.short.measure
        and facts.rows >= _SMALLEST_TREE
        and 0 < facts.nulls < facts.rows * 0.5
        and facts.distinct <= facts.filled * 0.7
    )


def _is_tree(
    connection: duckdb.DuckDBPyConnection, table: Table, parent: Facts, key: Facts
) -> bool:
    """Whether no row is its own ancestor; values that only happen to be small numbers run in circles."""
    if key.rows > _LARGEST_TREE:
        return False
    rows = connection.execute(
        f"SELECT {quote(key.name)}, {quote(parent.name)} FROM {table.source}"
    ).fetchall()
    parents = {str(own): str(above) for own, above in rows if above is not None}
    done: set[str] = set()
    for start in parents:
        path: set[str] = set()
        at: str | None = start
        while at is not None and at not in done:
            if at in path:
                return False
            path.add(at)
            at = parents.get(at)
        done |= path
    return True


def _plausible(
    facts: Sequence[Facts], primary: set[tuple[str, tuple[str, ...]]]
) -> list[tuple[int, int, Evidence]]:
    dependents = [index for index, each in enumerate(facts) if may_depend(each)]
    referenced = [index for index, each in enumerate(facts) if may_be_referenced(each)]
    pairs = []
    for right in referenced:
        target = facts[right]
        is_primary = (target.table, (target.name,)) in primary
        for left in dependents:
            source = facts[left]
            if left == right or not may_contain(source, target):
                continue
            if source.table == target.table and not is_primary:
                continue
            if target.family == "date" and not is_primary:
                continue
            own_key = (source.table, (source.name,)) in primary
            evidence = weigh(source, target, own_key=own_key)
            if is_primary and source.table != target.table:
                told = round(names_table(source.place, target.place), 3)
                evidence = replace(evidence, name=max(evidence.name, told))
            if source.table == target.table and evidence.name < 0.8:
                continue
            part = same_name(source, target) and at_home(target) and not at_home(source)
            if own_key and speaks_of_own_table(source) and not part:
                # A key named after its own table counts that table's rows, whatever other keys are called.
                evidence = replace(evidence, name=0.0)
            if not evidence.hopeless and not too_many(source, target, evidence):
                pairs.append((left, right, evidence))
    return pairs


def convinces(found: Found) -> bool:
    """The rule of acceptance: the weaker the name, the more the values must say."""
    evidence, inclusion = found.evidence, found.inclusion
    if inclusion.most_referenced != 1:
        return False
    if found.primary and evidence.name == 1.0 and evidence.type == 1.0 and not found.generic:
        # The same telling name as the other table's key: strays are rows that were never entered there.
        return inclusion.coverage >= _COVERAGE_SAME_NAME
    if evidence.named:
        return inclusion.coverage >= _COVERAGE_NAMED
    if evidence.name >= 0.5:
        return inclusion.coverage >= _COVERAGE_NAMED and evidence.bits >= 10.0
    return inclusion.coverage >= _COVERAGE_UNNAMED and inclusion.values >= 5


def choose(found: Sequence[Found]) -> list[Found]:
    """One target per dependent column set: the best, the root of a chain, one direction of a pair."""
    accepted = {(each.from_columns, each.to_columns): each for each in found}
    kept = [each for each in found if not _worse_direction(each, accepted)]
    by_dependent: dict[tuple[str, tuple[str, ...]], list[Found]] = {}
    for each in kept:
        by_dependent.setdefault(each.from_columns, []).append(each)
    chosen: list[Found] = []
    links = {(each.from_columns, each.to_columns) for each in kept}
    for candidates in by_dependent.values():
        best = max(each.evidence.name for each in candidates)
        named = [each for each in candidates if each.evidence.name >= best - _CHAIN_TOLERANCE]
        roots = [
            each
            for each in named
            if not any((each.to_columns, other.to_columns) in links for other in named)
        ]
        # `employee_pay_history` belongs to employees, even where every employee is a person too.
        own = [each for each in named if _names_dependent(each)]
        ranked = sorted(own or roots or candidates, key=lambda each: (-each.score, each.to_columns))
        if not _ambiguous(ranked):
            chosen.append(ranked[0])
    return sorted(chosen, key=lambda each: (each.from_columns, each.to_columns))


def _names_dependent(found: Found) -> bool:
    return within(found.referenced[0].place.table_words, found.dependent[0].place.table_words)


def same_name(left: Facts, right: Facts) -> bool:
    return left.place.full.words == right.place.full.words


def _worse_direction(
    found: Found,
    accepted: Mapping[tuple[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]], Found],
) -> bool:
    other = accepted.get((found.to_columns, found.from_columns))
    if other is None:
        return False
    mine = (round(found.score, 3), found.home, found.inclusion.coverage)
    theirs = (round(other.score, 3), other.home, other.inclusion.coverage)
    return (mine, other.to_columns) < (theirs, found.to_columns)


def _ambiguous(ranked: Sequence[Found]) -> bool:
    """Without a telling name, two equally good targets mean that neither is known."""
    if len(ranked) < 2 or ranked[0].evidence.name >= 0.5:
        return False
    return round(ranked[0].score, 2) == round(ranked[1].score, 2)


def _found(
    dependent: tuple[Facts, ...],
    referenced: tuple[Facts, ...],
    evidence: Evidence,
    inclusion: Inclusion,
    primary: set[tuple[str, tuple[str, ...]]],
) -> Found:
    target = referenced[0].table, tuple(each.name for each in referenced)
    return Found(
        dependent=dependent,
        referenced=referenced,
        evidence=evidence,
        inclusion=inclusion,
        primary=target in primary,
        home=len(referenced) == 1 and at_home(referenced[0]),
    )


def at_home(facts: Facts) -> bool:
    """Whether a column's name speaks of its own table: `customer_id` in `customers`, or plain `id`."""
    core, table = facts.place.short.core, facts.place.table_words
    return not core or (len(core) == len(table) and _ends_with(table, core))


def speaks_of_own_table(facts: Facts) -> bool:
    """Whether a column's name is the end of its table's: `event_id` in `order_events`."""
    core, table = facts.place.short.core, facts.place.table_words
    return bool(core) and len(core) <= len(table) and _ends_with(table, core)


def _ends_with(table: tuple[str, ...], core: tuple[str, ...]) -> bool:
    ending = table[len(table) - len(core) :]
    return all(alike(a, b) >= 0.8 for a, b in zip(core, ending, strict=True))
