"""Candidate keys: unique columns and small unique combinations, and the one that people would call the key."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import duckdb
import numpy as np
from numpy.typing import NDArray

from steward.analysis.relate.columns import Facts
from steward.analysis.relate.model import Key, NearKey
from steward.analysis.relate.names import Vocabulary, alike, listed
from steward.tables import Table, quote

PRIMARY_SCORE = 0.4
PRIMARY_COMPOSITE_SCORE = 0.7
LISTED_COMPOSITE_SCORE = 0.45
MAX_COMPOSITES = 10
_NEAR_SHARE = 0.95
_PREFIX_ROWS = 5_000
_MEMBERS_OF_PAIRS = 12
_MEMBERS_OF_TRIPLES = 8
_EXACT_CHECKS = 24
_LONG_TEXT = 64
_SHORT_CODE = 12
# With fewer collisions expected by chance than this, a combination without any proves little: many are tried.
_TELLING_COLLISIONS = 12.0

_NATURAL_WORDS = listed(
    "sku isbn ean iban bic vin email username login slug handle barcode symbol ticker iso"
)
_ORDINAL_WORDS = listed(
    "line seq sequence position step version attempt index year month week quarter day hour period"
)


@dataclass(frozen=True)
class FoundKeys:
    keys: tuple[Key, ...]
    near: tuple[NearKey, ...]


def find_keys(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    facts: Sequence[Facts],
    vocabulary: Vocabulary,
) -> FoundKeys:
    if not facts or facts[0].rows == 0:
        return FoundKeys((), ())
    single = [
        _Scored((each,), unary_score(each, len(facts)), _unary_reason(each))
        for each in facts
        if each.unique and each.nulls == 0 and each.family != "other"
    ]
    composite = _composites(connection, table, facts, vocabulary)
    primary = _primary(single, composite, len(facts))
    keys = [
        Key(
            table=table.name,
            columns=tuple(member.name for member in found.members),
            rows=facts[0].rows,
            primary=found is primary,
            score=round(max(0.0, min(1.0, found.score)), 3),
            reason=found.reason,
        )
        for found in (*single, *composite)
    ]
    keys.sort(key=lambda key: (not key.primary, len(key.columns), -key.score, key.columns))
    return FoundKeys(tuple(keys), () if primary else _near(facts))


@dataclass(frozen=True)
class _Scored:
    members: tuple[Facts, ...]
    score: float
    reason: str


def unary_score(facts: Facts, width: int) -> float:
    """How much a unique column looks like the key: by name, type, place and how its values are built."""
    name = facts.place.short
    score = 0.15 * (1 - facts.position / max(1, width))
    if name.measure:
        score -= 0.5
    elif name.identifier:
        score += 0.45
    elif set(name.words) & _NATURAL_WORDS:
        score += 0.35
    elif facts.position == 0 and facts.family == "text" and facts.longest <= _SHORT_CODE:
        # A table that begins with a column of short codes, none twice, begins with its key.
        score += 0.15
    elif facts.family == "date" and name.words[-1:] in {("date",), ("day",)}:
        score += 0.15
    table = facts.place.table_words
    if name.identifier and not name.core:
        score += 0.15
    elif name.core and len(name.core) <= len(table) and _same_thing(name.core, table):
        score += 0.15 if name.identifier else 0.3
    return score + _value_score(facts)


def _same_thing(core: tuple[str, ...], table: tuple[str, ...]) -> bool:
    ending = table[len(table) - len(core) :]
    return all(alike(a, b) >= 0.8 for a, b in zip(core, ending, strict=True))


def _value_score(facts: Facts) -> float:
    if facts.family == "uuid":
        return 0.3
    if facts.family == "integer":
        return 0.3 if facts.dense >= 0.999 else 0.2
    if facts.family == "date":
        return 0.1
    if facts.family == "text":
        if facts.longest > _LONG_TEXT:
            return -0.4
        even = facts.longest > 1 and facts.length >= facts.longest - 0.05
        return 0.22 if even else 0.12
    return -0.5


def _unary_reason(facts: Facts) -> str:
    said = [f"all {facts.rows:,} values differ and none is missing"]
    if facts.place.short.identifier:
        said.append("its name says identifier")
    if facts.family == "integer" and facts.dense >= 0.999:
        said.append("it counts without gaps")
    if facts.place.short.measure:
        said.append("but its name says measure")
    elif facts.family in {"float", "decimal", "timestamp"} or facts.longest > _LONG_TEXT:
        said.append(f"but {facts.type} values of this kind rarely identify")
    return "; ".join(said)


def _primary(single: Sequence[_Scored], composite: Sequence[_Scored], width: int) -> _Scored | None:
    best = max(single, key=lambda found: (found.score, -found.members[0].position), default=None)
    if best is not None and best.score >= PRIMARY_SCORE:
        return best
    telling = [
        found
        for found in composite
        if found.score >= PRIMARY_COMPOSITE_SCORE
        and (
            _expected_collisions(found.members) >= _TELLING_COLLISIONS
            or len(found.members) == width
            or _names_the_table(found.members)
        )
    ]
    return max(
        telling,
        key=lambda found: (found.score, tuple(-member.position for member in found.members)),
        default=None,
    )


def _names_the_table(members: Sequence[Facts]) -> bool:
    """Whether the members are what the table is called after: `student_id` and `course_id` of `student_courses`."""
    table = members[0].place.table_words
    cores = [member.place.short.core for member in members]
    return all(
        core and all(any(alike(word, other) >= 0.8 for other in table) for word in core)
        for core in cores
    )


def _expected_collisions(members: Sequence[Facts]) -> float:
    """How many pairs of rows would share a value if the columns had nothing to do with each other."""
    combinations_possible = 1.0
    for member in members:
        combinations_possible *= max(1, member.distinct)
    rows = members[0].rows
    return rows * (rows - 1) / 2 / combinations_possible


def _composites(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    facts: Sequence[Facts],
    vocabulary: Vocabulary,
) -> list[_Scored]:
    members = [each for each in facts if _may_be_member(each)]
    members.sort(key=lambda each: (-_member_score(each, vocabulary), each.position))
    members = members[:_MEMBERS_OF_PAIRS]
    if len(members) < 2:
        return []
    codes = _prefix_codes(connection, table, members)
    found: list[_Scored] = []
    checks = 0
    strong = [each for each in members if _member_score(each, vocabulary) >= 0.6]
    for arity, pool in ((2, members), (3, strong[:_MEMBERS_OF_TRIPLES])):
        ranked = sorted(
            (
                (_composite_score(group, len(facts), vocabulary), group)
                for group in combinations(sorted(pool, key=lambda each: each.position), arity)
            ),
            key=lambda item: (-item[0], [member.position for member in item[1]]),
        )
        for score, group in ranked:
            if checks >= _EXACT_CHECKS or len(found) >= MAX_COMPOSITES:
                break
            if score < LISTED_COMPOSITE_SCORE or not _can_be_unique(group, codes, found):
                continue
            checks += 1
            if _is_unique(connection, table, group):
                found.append(_Scored(group, score, _composite_reason(group)))
    return found


def _may_be_member(facts: Facts) -> bool:
    if facts.nulls or facts.unique or facts.distinct < 2:
        return False
    if facts.family not in {"integer", "text", "uuid", "date", "timestamp"}:
        return False
    ordinal = bool(set(facts.place.short.words) & _ORDINAL_WORDS)
    return facts.longest <= _LONG_TEXT and (ordinal or not facts.place.short.measure)


def _member_score(facts: Facts, vocabulary: Vocabulary) -> float:
    name = facts.place.short
    if name.identifier:
        return 1.0
    if set(name.words) & (_ORDINAL_WORDS | vocabulary.words):
        return 0.8
    if facts.family in {"date", "timestamp"}:
        return 0.6
    return 0.35 if facts.family in {"integer", "uuid"} else 0.3


def _composite_score(group: Sequence[Facts], width: int, vocabulary: Vocabulary) -> float:
    quality = sum(_member_score(each, vocabulary) for each in group) / len(group)
    place = sum(each.position for each in group) / len(group) / max(1, width)
    return quality * 0.9 - 0.1 * (len(group) - 2) + 0.1 * (1 - place)


def _composite_reason(group: Sequence[Facts]) -> str:
    names = " and ".join(f"{each.name!r}" for each in group)
    return f"no single one of {names} is unique, together they are in all {group[0].rows:,} rows"


def _prefix_codes(
    connection: duckdb.DuckDBPyConnection, table: Table, members: Sequence[Facts]
) -> dict[str, NDArray[np.uint64]]:
    """Hashes of the first rows: neighbours are the likeliest to collide, so they refute fastest."""
    terms = ", ".join(f"hash({quote(each.name)}) AS c{index}" for index, each in enumerate(members))
    columns = connection.execute(
        f"SELECT {terms} FROM (SELECT * FROM {table.source} LIMIT {_PREFIX_ROWS})"
    ).fetchnumpy()
    return {
        each.name: np.asarray(columns[f"c{index}"], dtype=np.uint64)
        for index, each in enumerate(members)
    }


def _can_be_unique(
    group: Sequence[Facts], codes: dict[str, NDArray[np.uint64]], found: Sequence[_Scored]
) -> bool:
    names = {each.name for each in group}
    if any({member.name for member in other.members} <= names for other in found):
        return False
    possible = 1.0
    for each in group:
        # Approximate counts may be low by some per cent.
        possible *= each.distinct * 1.1
    if possible < group[0].rows:
        return False
    combined = combine([codes[each.name] for each in group])
    return len(np.unique(combined)) == len(combined)


def combine(columns: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """One code per row for several columns of codes."""
    combined = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        combined = combined * np.uint64(0x9E3779B97F4A7C15) + column
        combined ^= combined >> np.uint64(29)
    return combined


def _is_unique(connection: duckdb.DuckDBPyConnection, table: Table, group: Sequence[Facts]) -> bool:
    names = ", ".join(quote(each.name) for each in group)
    row = connection.execute(
        f"SELECT 1 FROM {table.source} GROUP BY {names} HAVING count(*) > 1 LIMIT 1"
    ).fetchone()
    return row is None


def _near(facts: Sequence[Facts]) -> tuple[NearKey, ...]:
    near = []
    for each in facts:
        if not each.distinct_exact or each.family == "other":
            continue
        if each.distinct < each.rows * _NEAR_SHARE or (each.unique and each.nulls == 0):
            continue
        if unary_score(each, len(facts)) < PRIMARY_SCORE or not each.place.short.identifier:
            continue
        duplicates = each.filled - each.distinct
        said = f"{duplicates:,} rows repeat a value and {each.nulls:,} rows have none"
        near.append(NearKey(each.table, each.name, each.rows, duplicates, each.nulls, said))
    return tuple(near)
