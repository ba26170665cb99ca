"""The threshold proposed for a match, by the precision it promises; and whether that promise can be trusted."""

from pathlib import Path

import duckdb
import numpy as np

from steward.analysis.resolve.rules import Rules, Thresholds
from steward.analysis.resolve.scoring import best_pairs_sql, weighted_sql
from steward.analysis.resolve.staging import Staged
from steward.tables import parquet_source

# Of the pairs merged, so many are expected to be right.
PRECISION = 0.95
LOWEST, HIGHEST = 0.5, 0.98
# Where more of the matches than this have a rival as good as they are, probabilities promise nothing.
RIVALS = 0.1


def with_threshold(
    own: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules, vectors: Path, notes: list[str]
) -> Rules:
    """The rules with the lowest threshold that still promises the precision."""
    if rules.entity != "thing" or not rules.comparisons:
        return rules
    weighed = weighted_sql(rules, parquet_source([vectors]), staged.party_count)
    clean = all(not source.duplicates for source in rules.sources)
    best = best_pairs_sql(weighed, staged.parties, "weight") if clean else weighed
    found = own.execute(f"SELECT probability FROM ({best}) ORDER BY probability DESC").fetchnumpy()
    chances = np.asarray(found["probability"], dtype=np.float64)
    promised = np.cumsum(chances) / np.arange(1, len(chances) + 1)
    kept = chances[(promised >= PRECISION) & (chances >= LOWEST)]
    match = round(float(min(HIGHEST, kept[-1])), 3) if len(kept) else HIGHEST
    if clean and len(rules.sources) > 1:
        rivals = _rivals(own, staged, weighed, match)
        if rivals > RIVALS:
            notes.append(
                f"{rivals:.0%} of the matches have a second candidate that looks as good, so these probabilities "
                "cannot be trusted. Look at the borderline pairs and decide about them before you merge."
            )
    thresholds = Thresholds(match=match, review_from=min(0.1, match), review_to=0.99)
    return rules.model_copy(update={"thresholds": thresholds})


def _rivals(own: duckdb.DuckDBPyConnection, staged: Staged, weighed: str, match: float) -> float:
    """The share of parties with a match that have a second one in the same source, which has everything once."""
    found = own.execute(
        f"""WITH good AS (
                SELECT l, r, a.source AS left_source, b.source AS right_source FROM ({weighed}) w
                JOIN {staged.parties} a ON a.party = w.l JOIN {staged.parties} b ON b.party = w.r
                WHERE probability >= {match}
            ),
            counted AS (
                SELECT l, right_source, count(*) AS n FROM good GROUP BY ALL
                UNION ALL SELECT r, left_source, count(*) FROM good GROUP BY ALL
            )
            SELECT coalesce(avg(CASE WHEN n > 1 THEN 1.0 ELSE 0.0 END), 0) FROM counted"""
    ).fetchone()
    return float(found[0]) if found is not None else 0.0
