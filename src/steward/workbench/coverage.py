"""How many values of a column another column has: looked up for a sample, so that the cost stays small."""

from dataclasses import dataclass
from typing import Final

from steward.store import Scope
from steward.tables import quote, session
from steward.versions import Versions

SAMPLE: Final = 10_000
MOST_ROWS: Final = 20_000_000
"""Rows of the other column that are looked at, at most: one column of them is read once."""


@dataclass(frozen=True)
class KeyCoverage:
    sampled: int
    filled: int
    """Of the sampled rows, those with a value."""
    found: int
    """Of these, those whose value the other column has."""
    unique: bool
    """Whether no value repeats in the other column."""


def key_coverage(
    versions: Versions, scope: Scope, left: str, column: str, right: str, other: str
) -> KeyCoverage | None:
    """Over two versions; None when the other one is too large to look."""
    if versions.get(scope, right).rows > MOST_ROWS:
        return None
    mine = versions.table(scope, left, ordered=False)
    theirs = versions.table(scope, right, ordered=False)
    with session() as connection:
        row = connection.execute(
            f"WITH l AS (SELECT CAST({quote(column)} AS VARCHAR) AS k FROM {mine.source} "
            f"USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)), "
            f"r AS (SELECT CAST({quote(other)} AS VARCHAR) AS k, count(*) AS n FROM {theirs.source} "
            f"WHERE {quote(other)} IS NOT NULL GROUP BY 1) "
            "SELECT (SELECT count(*) FROM l), (SELECT count(k) FROM l), "
            "(SELECT count(*) FROM l SEMI JOIN r USING (k)), (SELECT coalesce(max(n), 0) <= 1 FROM r)"
        ).fetchone()
    sampled, filled, found, unique = row if row is not None else (0, 0, 0, True)
    return KeyCoverage(int(sampled), int(filled), int(found), bool(unique))
