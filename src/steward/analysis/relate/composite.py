"""Foreign keys of several columns, as from an order line to what a supplier offers of a part."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import duckdb

from steward.analysis.relate.columns import Facts
from steward.analysis.relate.evidence import Evidence, may_contain, type_score
from steward.analysis.relate.foreign import Found, choose, convinces, may_depend
from steward.analysis.relate.inclusion import measure
from steward.analysis.relate.keys import PRIMARY_COMPOSITE_SCORE
from steward.analysis.relate.model import Key
from steward.analysis.relate.names import Place, name_score
from steward.tables import Table

_MEMBER_NAME = 0.7
_CHOICES_PER_MEMBER = 3
_MIN_BITS = 10.0


def find_composite(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    facts: Mapping[str, Sequence[Facts]],
    keys: Sequence[Key],
    unary: Sequence[Found] = (),
) -> list[Found]:
    """`unary` are the foreign keys of one column: a table that refers to another is not what that one refers to."""
    found: list[Found] = []
    children = {(each.from_columns[0], each.to_columns[0]) for each in unary}
    primary = {key.table: key.columns for key in keys if key.primary}
    for key in keys:
        if len(key.columns) < 2 or key.score < PRIMARY_COMPOSITE_SCORE:
            continue
        referenced = tuple(_named(facts[key.table], column) for column in key.columns)
        for name, columns in facts.items():
            if name == key.table or (key.table, name) in children:
                continue
            for dependent, evidence in _assignments(columns, referenced):
                if _borrows_ordinal(dependent, primary.get(name, ())):
                    continue
                inclusion = measure(connection, tables, dependent, referenced)
                candidate = Found(dependent, referenced, evidence, inclusion, key.primary, False)
                if convinces(candidate):
                    found.append(candidate)
                    break
    return choose(found)


def _borrows_ordinal(dependent: Sequence[Facts], own_key: tuple[str, ...]) -> bool:
    """Whether a line number that counts within the table's own key is taken for one of another parent."""
    names = {each.name for each in dependent}
    if not names & set(own_key) or set(own_key) <= names:
        return False
    return any(each.name in own_key and each.place.short.measure for each in dependent)


def _named(facts: Sequence[Facts], column: str) -> Facts:
    return next(each for each in facts if each.name == column)


def _assignments(
    columns: Sequence[Facts], referenced: tuple[Facts, ...]
) -> Iterator[tuple[tuple[Facts, ...], Evidence]]:
    """Columns that could play the key's members, the best-named first."""
    options = [_options(columns, member) for member in referenced]
    ranked = []
    for chosen in product(*options):
        dependent = tuple(facts for _, facts in chosen)
        if len({facts.name for facts in dependent}) == len(dependent):
            names = tuple(name for name, _ in chosen)
            ranked.append((names, dependent))
    ranked.sort(key=lambda item: (-sum(item[0]), [facts.position for facts in item[1]]))
    bits = _bits(referenced)
    for names, dependent in ranked[:_CHOICES_PER_MEMBER]:
        types = min(type_score(d, r) for d, r in zip(dependent, referenced, strict=True))
        if bits >= _MIN_BITS or min(names) >= 0.9:
            yield dependent, Evidence(round(min(names), 3), types, round(bits, 1))


def _options(columns: Sequence[Facts], member: Facts) -> list[tuple[float, Facts]]:
    scored = [
        (_member_name(facts.place, member.place), facts)
        for facts in columns
        if (may_depend(facts) or _same_moment(facts, member)) and may_contain(facts, member)
    ]
    good = [item for item in scored if item[0] >= _MEMBER_NAME]
    good.sort(key=lambda item: (-item[0], item[1].position))
    return good[:_CHOICES_PER_MEMBER]


def _same_moment(facts: Facts, member: Facts) -> bool:
    """Times refer to nothing by themselves, but beside another column the same time may."""
    return facts.family == member.family == "timestamp" and facts.filled > 0


def _member_name(dependent: Place, referenced: Place) -> float:
    """As for single columns, but `line_no` and `year` may point at their equals too."""
    if dependent.short.words == referenced.short.words and dependent.short.words:
        return 1.0
    return name_score(dependent, referenced)


def _bits(referenced: Sequence[Facts]) -> float:
    """The surprise in meeting only combinations that exist: high where few of all possible ones do."""
    possible = 1.0
    for member in referenced:
        possible *= max(1, member.distinct)
    share = min(1.0, referenced[0].rows / possible)
    return min(60.0, -math.log2(share) * 30) if share < 0.9 else 0.0
