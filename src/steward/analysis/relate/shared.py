"""Columns that hold the same things without either side being unique: joinable, but many to many."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import duckdb

from steward.analysis.relate.columns import Facts
from steward.analysis.relate.evidence import may_contain, weigh
from steward.analysis.relate.foreign import Found, may_depend
from steward.analysis.relate.inclusion import Sketches, measure
from steward.analysis.relate.names import listed
from steward.tables import Table

_NATURAL = listed("email phone sku isbn ean iban vin barcode username login domain")
_MIN_VALUES = 10
_MIN_NAME = 0.9
_MIN_COVERAGE = 0.5
_REFERENCE_COVERAGE = 0.85


def find_shared(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    facts: Sequence[Facts],
    foreign: Sequence[Found],
) -> list[Found]:
    """Pairs with the same telling name and common values that no foreign key explains already."""
    target = {each.from_columns: each.to_columns for each in foreign}
    referenced = {each.to_columns for each in foreign}
    pool = [(index, each) for index, each in enumerate(facts) if _telling(each) and not each.unique]
    sketches = Sketches(connection, tables)
    try:
        for index, each in pool:
            sketches.add(index, each)
        found = []
        for left, right in _pairs(pool):
            if _explained(left[1], right[1], target, referenced):
                continue
            # The side whose values are found more fully on the other is the one that refers.
            forth = sketches.contained(right[1], [left[0]])[left[0]]
            back = sketches.contained(left[1], [right[0]])[right[0]]
            dependent, other = (left[1], right[1]) if forth >= back else (right[1], left[1])
            if max(forth, back) < _MIN_COVERAGE / 2:
                continue
            inclusion = measure(connection, tables, (dependent,), (other,))
            if inclusion.coverage >= _MIN_COVERAGE:
                evidence = weigh(dependent, other)
                found.append(Found((dependent,), (other,), evidence, inclusion, False, False))
    finally:
        sketches.close()
    return found


def kind_of(found: Found) -> str:
    refers = found.inclusion.coverage >= _REFERENCE_COVERAGE and found.evidence.name >= _MIN_NAME
    return "reference" if refers else "shared values"


def _telling(facts: Facts) -> bool:
    name = facts.place.short
    if not may_depend(facts) or facts.distinct < _MIN_VALUES or facts.family == "date":
        return False
    return (name.identifier and bool(name.core)) or bool(set(name.words) & _NATURAL)


def _pairs(
    pool: Sequence[tuple[int, Facts]],
) -> list[tuple[tuple[int, Facts], tuple[int, Facts]]]:
    return [
        (left, right)
        for left, right in combinations(pool, 2)
        if left[1].table != right[1].table
        and (may_contain(left[1], right[1]) or may_contain(right[1], left[1]))
        and max(weigh(left[1], right[1]).name, weigh(right[1], left[1]).name) >= _MIN_NAME
    ]


def _explained(
    left: Facts,
    right: Facts,
    target: Mapping[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]],
    referenced: set[tuple[str, tuple[str, ...]]],
) -> bool:
    a, b = (left.table, (left.name,)), (right.table, (right.name,))
    if target.get(a) == b or target.get(b) == a or b in referenced:
        return True
    return a in target and b in target and target[a] == target[b]
