"""Spellings of the same category: proposed by similarity, for a person to review."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from steward.core import TooLarge
from steward.tables import Table, quote

MAX_CATEGORIES = 2_000
_SHORT = 4


@dataclass(frozen=True)
class Spelling:
    value: str
    rows: int
    similarity: float


@dataclass(frozen=True)
class Category:
    """One proposed group: `name` is what all its spellings become."""

    name: str
    rows: int
    spellings: tuple[Spelling, ...]


@dataclass(frozen=True)
class CategoryProposal:
    column: str
    threshold: float
    categories: tuple[Category, ...]
    unmatched: tuple[Spelling, ...]
    """With a given list: values that resemble none of it enough."""

    @property
    def mapping(self) -> dict[str, str]:
        """What changes: every spelling that is not its category's name."""
        return {
            spelling.value: category.name
            for category in self.categories
            for spelling in category.spellings
            if spelling.value != category.name
        }

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"mapping": self.mapping}


def propose_categories(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    column: str,
    threshold: float = 0.88,
    allowed: Sequence[str] | None = None,
) -> CategoryProposal:
    """Groups the values of a text column; the most frequent spelling names the group, or the given list does.

    Values that differ in their digits are never put together: "Level 1" is not "Level 2".
    """
    name = quote(column)
    rows = connection.execute(
        f"SELECT {name}, count(*) AS n FROM {table.source} WHERE {name} IS NOT NULL "
        f"GROUP BY {name} ORDER BY n DESC, {name} LIMIT {MAX_CATEGORIES + 1}"
    ).fetchall()
    if len(rows) > MAX_CATEGORIES:
        raise TooLarge(
            f"Column {column!r} has more than {MAX_CATEGORIES:,} different values; that is no list of categories. "
            "Give a mapping, or clean case and spaces first."
        )
    counts = {str(value): int(number) for value, number in rows}
    groups: dict[str, list[Spelling]] = {each: [] for each in allowed or ()}
    unmatched: list[Spelling] = []
    for value, number in counts.items():
        best, similarity = _nearest(value, list(groups))
        if best is not None and similarity >= threshold:
            groups[best].append(Spelling(value, number, round(similarity, 3)))
        elif allowed is None:
            groups[value] = [Spelling(value, number, 1.0)]
        else:
            unmatched.append(Spelling(value, number, round(similarity, 3)))
    categories = tuple(
        Category(group, sum(spelling.rows for spelling in spellings), tuple(spellings))
        for group, spellings in groups.items()
        if spellings
    )
    return CategoryProposal(column, threshold, categories, tuple(unmatched))


def _nearest(value: str, names: Sequence[str]) -> tuple[str | None, float]:
    best: tuple[str | None, float] = (None, 0.0)
    folded = _folded(value)
    for name in names:
        similarity = 1.0 if name == value else _similarity(folded, _folded(name))
        if similarity > best[1]:
            best = (name, similarity)
    return best


def _similarity(left: str, right: str) -> float:
    from rapidfuzz import fuzz

    if left == right:
        return 0.99 if left else 0.0
    if re.findall(r"\d+", left) != re.findall(r"\d+", right):
        return 0.0
    if min(len(left), len(right)) < _SHORT:
        # Two letters of three prove nothing.
        return 0.0
    return max(fuzz.ratio(left, right), fuzz.token_sort_ratio(left, right) * 0.98) / 100


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(re.findall(r"\w+", plain.replace("_", " ")))
