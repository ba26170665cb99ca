"""Columns of the same meaning across tables, for what has no role of its own: paired by name, content and kind.

Publications, products, restaurants and all other things are compared by these pairs: text by its words, numbers by
their distance, codes by their characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.resolve.cleaning import cleaned
from steward.analysis.resolve.columns import ColumnFacts, text
from steward.analysis.resolve.rules import Role
from steward.tables import Table

LOOKED_AT = 5_000
MOSTLY = 0.85
# How much of the smaller vocabulary two columns must share: with the same name, a related one, none.
SHARED_SAME_NAME = 0.03
SHARED_RELATED = 0.15
SHARED_ALONE = 0.4
FEWEST_WORDS = 20
LONGEST_TEXT = 4_000


@dataclass(frozen=True)
class Pairing:
    """Columns of several tables with one meaning, or one column of the only table."""

    name: str
    role: Role
    columns: dict[str, str]


@dataclass(frozen=True)
class _Like:
    left: ColumnFacts
    right: ColumnFacts
    score: float


def kind_of(facts: ColumnFacts) -> Role | None:
    """How values of the column compare; None where they say nothing about what the row is."""
    shares = facts.shares
    if not facts.filled or facts.distinct < 2 or facts.type == "BOOLEAN":
        return None
    if facts.length > LONGEST_TEXT or shares["url"] >= MOSTLY:
        return None
    if facts.temporal or shares["date"] >= MOSTLY:
        return "date"
    if facts.numeric or shares["digits"] + shares["amount"] >= MOSTLY:
        return "code" if facts.length >= 7 and shares["digits"] >= MOSTLY else "number"
    if shares["digit_inside"] >= 0.5 and facts.word_count < 1.3 and facts.length <= 30:
        return "code"
    return "text" if shares["letters"] >= 0.5 else None


def pairings(
    connection: duckdb.DuckDBPyConnection,
    tables: dict[str, Table],
    facts: Sequence[ColumnFacts],
) -> tuple[Pairing, ...]:
    """Each column at most once, the surest pairs first."""
    usable = [one for one in facts if kind_of(one) is not None]
    if len(tables) == 1:
        return tuple(
            Pairing(one.name, kind_of(one) or "text", {one.table: one.name}) for one in usable
        )
    shared = _shared_words(connection, tables, usable)
    likes = []
    for place, left in enumerate(usable):
        for other, right in enumerate(usable[place + 1 :], place + 1):
            if left.table != right.table:
                score = _score(left, right, shared.get((place, other), (0.0, 0)))
                if score is not None:
                    likes.append(_Like(left, right, score))
    groups: list[list[ColumnFacts]] = []
    for like in sorted(likes, key=lambda one: -one.score):
        _join(groups, like)
    order = {(one.table, one.name): place for place, one in enumerate(usable)}
    groups.sort(key=lambda group: min(order[one.table, one.name] for one in group))
    return tuple(
        Pairing(group[0].name, _common_kind(group), {one.table: one.name for one in group})
        for group in groups
    )


def _score(left: ColumnFacts, right: ColumnFacts, shared: tuple[float, int]) -> float | None:
    """How alike two columns are, None where that is too little to compare them."""
    named, (content, words) = name_likeness(left.words, right.words), shared
    kinds = {kind_of(left), kind_of(right)}
    if named == 1.0 and (content >= SHARED_SAME_NAME or kinds <= {"number", "date"}):
        return named + content
    if len(kinds) > 1:
        return None
    if named >= 0.4 and content >= SHARED_RELATED:
        return named + content
    if kinds <= {"text", "code"} and content >= SHARED_ALONE and words >= FEWEST_WORDS:
        return named + content
    return None


def name_likeness(left: Sequence[str], right: Sequence[str]) -> float:
    """The share of words that two names have in common; a plural is its singular."""
    if not left or not right:
        return 0.0
    common = sum(any(_same_word(one, other) for other in right) for one in left)
    return common / max(len(left), len(right))


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (
        len(short) >= 4 and long.startswith(short) and len(long) - len(short) < 3
    )


def _shared_words(
    connection: duckdb.DuckDBPyConnection, tables: dict[str, Table], facts: Sequence[ColumnFacts]
) -> dict[tuple[int, int], tuple[float, int]]:
    """Per pair of columns by place: the share of the smaller vocabulary, and that vocabulary's size."""
    if not facts:
        return {}
    said = " UNION ALL ".join(
        f"SELECT {place} AS place, {cleaned(text(one.name), ['fold', 'words'])} AS said "
        f"FROM (SELECT * FROM {tables[one.table].source} LIMIT {LOOKED_AT})"
        for place, one in enumerate(facts)
    )
    rows = connection.execute(
        f"""WITH words AS (
                SELECT DISTINCT place, unnest(string_split(said, ' ')) AS word FROM ({said})
                WHERE said IS NOT NULL
            ),
            sizes AS (SELECT place, count(*) AS n FROM words GROUP BY place)
            SELECT a.place, b.place, count(*) / any_value(least(s.n, t.n)), any_value(least(s.n, t.n))
            FROM words a JOIN words b ON a.word = b.word AND a.place < b.place
            JOIN sizes s ON s.place = a.place JOIN sizes t ON t.place = b.place
            GROUP BY a.place, b.place"""
    ).fetchall()
    return {(left, right): (float(share), int(size)) for left, right, share, size in rows}


def _join(groups: list[list[ColumnFacts]], like: _Like) -> None:
    """Into one group, unless that gave a table two columns of one meaning."""
    left = next((group for group in groups if like.left in group), [like.left])
    right = next((group for group in groups if like.right in group), [like.right])
    if left is right or {one.table for one in left} & {one.table for one in right}:
        return
    for group in (left, right):
        if group in groups:
            groups.remove(group)
    groups.append([*left, *right])


def _common_kind(group: Sequence[ColumnFacts]) -> Role:
    kinds: set[Role] = {kind_of(one) or "text" for one in group}
    if len(kinds) == 1:
        return kinds.pop()
    return "text" if "text" in kinds else "code"
