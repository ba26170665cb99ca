"""Which pairs to compare at all: candidate blocks, their sizes, and the choice among them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import duckdb

from steward.analysis.resolve.levels import column
from steward.analysis.resolve.rules import Block, BlockPart, Role, Rules

# Pairs that one block may add per party, and all blocks together.
PER_BLOCK = 12
ALL_BLOCKS = 60
SMALL = 20_000
MAX_BLOCKS = 24
# Texts in which two random parties agree more often than this tell too few apart to look for near ones.
TELLING = 0.05
NEAREST = 5
# Inside one table groups are larger than two, and small tables can afford to look further.
NEAREST_INSIDE = 10
NEAREST_IN_FEW = 30
FEW_PARTIES = 3_000
MAX_NEAREST = 2
PER_EQUAL = 3

# Fields worth a block of their own, the most telling first.
_ORDER: tuple[Role, ...] = (
    *("tax_id", "identifier", "email", "bank_account", "phone", "birth_date", "company"),
    *("email_domain", "person_name", "family_name", "street", "given_name", "postcode"),
    *("code", "text", "address_detail", "city", "street_number", "date", "number", "other"),
)
_SPELT: frozenset[Role] = frozenset({"company", "person_name", "family_name", "given_name", "text"})
_TOO_COARSE: frozenset[Role] = frozenset({"country", "region"})


@dataclass(frozen=True)
class Candidate:
    parts: tuple[BlockPart, ...]
    pairs: int


def possible_pairs(counts: Sequence[int], duplicates: Sequence[bool]) -> int:
    """All pairs of parties that could be one entity."""
    total = sum(counts)
    inside = sum(
        count * (count - 1) // 2
        for count, open_ in zip(counts, duplicates, strict=True)
        if not open_
    )
    return total * (total - 1) // 2 - inside


def pairs_of(
    connection: duckdb.DuckDBPyConnection, parties: str, parts: Iterable[BlockPart]
) -> int:
    """How many pairs agree on all parts."""
    keys = [_key(part) for part in parts]
    filled = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    found = connection.execute(
        f"""SELECT coalesce(sum(n * (n - 1) // 2), 0)::HUGEINT FROM (
                SELECT count(*)::HUGEINT AS n FROM {parties} WHERE {filled} GROUP BY {", ".join(keys)}
            )"""
    ).fetchone()
    return int(found[0]) if found is not None else 0


def same_share(connection: duckdb.DuckDBPyConnection, parties: str, part: BlockPart) -> float:
    """The chance that two random parties with a value have the same one."""
    return pairs_of(connection, parties, [part]) / max(
        1.0, filled_pairs(connection, parties, part.field)
    )


def filled_pairs(connection: duckdb.DuckDBPyConnection, parties: str, field: str) -> float:
    """Pairs of parties that both have a value."""
    filled = _filled(connection, parties, field)
    return filled * (filled - 1) / 2


def choose(
    connection: duckdb.DuckDBPyConnection, parties: str, rules: Rules, count: int
) -> tuple[Block, ...]:
    """Blocks on single fields where that is selective enough, on two fields where it is not."""
    if rules.entity == "thing":
        return _by_words(connection, parties, rules, count)
    limit, budget = max(SMALL, PER_BLOCK * count), max(4 * SMALL, ALL_BLOCKS * count)
    ordered = _ordered_fields(rules)
    chosen: list[Candidate] = []
    broad: list[BlockPart] = []
    for part in [*ordered, *_spelt_alike(rules, ordered)]:
        pairs = pairs_of(connection, parties, [part])
        if pairs > limit:
            broad.append(part)
        elif pairs:
            chosen.append(Candidate((part,), pairs))
    for parts in combinations(broad, 2):
        if parts[0].field == parts[1].field:
            continue
        pairs = pairs_of(connection, parties, parts)
        if 0 < pairs <= limit:
            chosen.append(Candidate(parts, pairs))
        elif pairs:
            chosen.extend(_narrowed(connection, parties, parts, ordered, limit))
    return _within(chosen, budget)


def _by_words(
    connection: duckdb.DuckDBPyConnection, parties: str, rules: Rules, parties_in_all: int
) -> tuple[Block, ...]:
    """Things of all kinds: texts by the rare words they share, and equal values that few have."""
    compared = {comparison.field for comparison in rules.comparisons}
    parts = [BlockPart(field=one.name) for one in rules.fields if one.name in compared]
    filled = {part.field: _filled(connection, parties, part.field) for part in parts}
    shares = {part.field: same_share(connection, parties, part) for part in parts}
    texts = [
        part.field
        for part in parts
        if rules.field(part.field).role in {"text", "person_name", "company"}
        and shares[part.field] < TELLING
    ]
    texts.sort(key=lambda name: (-filled[name], shares[name]))
    nearest = NEAREST
    if len(rules.sources) == 1:
        nearest = NEAREST_IN_FEW if parties_in_all <= FEW_PARTIES else NEAREST_INSIDE
    near = [Block(parts=(BlockPart(field=name, nearest=nearest),)) for name in texts[:MAX_NEAREST]]
    count = max(filled.values(), default=0)
    equal = [
        Block(parts=(part,), pairs=pairs)
        for part in parts
        if shares[part.field] < TELLING
        and 0 < (pairs := pairs_of(connection, parties, [part])) <= max(SMALL, PER_EQUAL * count)
    ]
    return (*near, *equal)


def _filled(connection: duckdb.DuckDBPyConnection, parties: str, field: str) -> int:
    found = connection.execute(f'SELECT count("{column(field)}") FROM {parties}').fetchone()
    return int(found[0]) if found is not None else 0


def _ordered_fields(rules: Rules) -> list[BlockPart]:
    named = {comparison.field for comparison in rules.comparisons}
    named |= {
        level.field
        for comparison in rules.comparisons
        for level in comparison.levels
        if level.field
    }
    usable = [
        field for field in rules.fields if field.name in named and field.role not in _TOO_COARSE
    ]
    ranked = sorted(usable, key=lambda field: _ORDER.index(field.role))
    return [BlockPart(field=field.name) for field in ranked]


def _spelt_alike(rules: Rules, parts: list[BlockPart]) -> list[BlockPart]:
    """Beginnings of names, for those whose rest is misspelt."""
    return [
        BlockPart(field=part.field, start=5)
        for part in parts
        if rules.field(part.field).role in _SPELT
    ]


def _narrowed(
    connection: duckdb.DuckDBPyConnection,
    parties: str,
    parts: tuple[BlockPart, ...],
    others: list[BlockPart],
    limit: int,
) -> list[Candidate]:
    """The first third field that makes a pair of broad fields selective."""
    for other in others:
        if other in parts:
            continue
        pairs = pairs_of(connection, parties, (*parts, other))
        if 0 < pairs <= limit:
            return [Candidate((*parts, other), pairs)]
    return []


def _within(candidates: list[Candidate], budget: int) -> tuple[Block, ...]:
    kept: list[Block] = []
    spent = 0
    for candidate in sorted(candidates, key=lambda one: (len(one.parts), one.pairs)):
        if spent + candidate.pairs > budget or len(kept) == MAX_BLOCKS:
            continue
        spent += candidate.pairs
        kept.append(Block(parts=candidate.parts, pairs=candidate.pairs))
    return tuple(kept)


def _key(part: BlockPart) -> str:
    name = f'"{column(part.field)}"'
    if part.start is not None:
        return f"left({name}, {part.start})"
    if part.end is not None:
        return f"right({name}, {part.end})"
    return name
