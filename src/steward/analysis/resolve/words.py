"""Words with their weights, and the parties nearest to each other by rare words they share.

A word counts by how rare it is: two titles that share *turntable* and *pslx350h* are near, two that share *the* are
not. The parties table gets a column of weighted words for each field compared that way, and a column of pair numbers
for each block of nearest parties: two parties with the same number are a pair to compare.
"""

import duckdb

from steward.analysis.resolve.levels import column, words_column
from steward.analysis.resolve.rules import BlockPart, Rules
from steward.analysis.resolve.staging import Staged
from steward.tables import quote

PARTIES_TABLE = "parties"
# A word is its number times this plus its weight; see the test `rare_words`.
PLACE = 1 << 20
HEAVIEST = 4095
MOST_WORDS = 40
# Of each party the rarest words that others have too; and pairs looked at per party while looking for the nearest.
RAREST_WORDS = 12
PAIRS_PER_PARTY = 200


def pair_column(part: BlockPart) -> str:
    """The column of the parties table with the numbers of the pairs of a block of nearest parties."""
    return f"n_{part.field}"


def create_parties(own: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules) -> None:
    """The table that Splink compares, in `own`."""
    own.execute(f"CREATE OR REPLACE TABLE {PARTIES_TABLE} AS SELECT * FROM {staged.parties}")
    nearest = {part.field: part for block in rules.blocking for part in block.parts if part.nearest}
    worded = {
        level.field or comparison.field
        for comparison in rules.comparisons
        for level in comparison.levels
        if level.test == "rare_words"
    }
    for field in sorted(worded | set(nearest)):
        _create_words(own, field)
        if field in worded:
            _add(own, words_column(field), _WEIGHED)
        if field in nearest:
            _create_pairs(own, nearest[field].nearest or 1)
            _add(own, pair_column(nearest[field]), _NUMBERED)
            own.execute("DROP TABLE steward_near")
        own.execute("DROP TABLE steward_words")


def near_pairs(own: duckdb.DuckDBPyConnection, part: BlockPart) -> int:
    """How many pairs a block of nearest parties gives."""
    name = quote(pair_column(part))
    found = own.execute(
        f"SELECT coalesce(sum(len({name})) // 2, 0) FROM {PARTIES_TABLE}"
    ).fetchone()
    return int(found[0]) if found is not None else 0


_WEIGHED = f"""
    SELECT party, list(number * {PLACE} + weight ORDER BY number) AS words FROM (
        SELECT *, row_number() OVER (PARTITION BY party ORDER BY weight DESC, number) AS place
        FROM steward_words
    ) WHERE place <= {MOST_WORDS} GROUP BY party"""

_NUMBERED = """
    SELECT party, list(number ORDER BY number) AS words FROM (
        SELECT l AS party, number FROM steward_near UNION ALL SELECT r, number FROM steward_near
    ) GROUP BY party"""


def _create_words(own: duckdb.DuckDBPyConnection, field: str) -> None:
    """One line per party and word, with the word's number, weight and frequency."""
    split = f"list_distinct(string_split({quote(column(field))}, ' '))"
    own.execute(
        f"""CREATE OR REPLACE TEMP TABLE steward_words AS
            WITH said AS (
                SELECT party, source, unnest({split}) AS word FROM {PARTIES_TABLE}
            ),
            known AS (
                SELECT word, count(*) AS n, row_number() OVER (ORDER BY word) AS number
                FROM said GROUP BY word
            ),
            total AS (SELECT count(DISTINCT party) AS parties FROM said)
            SELECT party, source, number, n,
                   least({HEAVIEST}, 1 + round(16 * pow(ln((parties + 1) / n), 2)))::BIGINT AS weight
            FROM said JOIN known USING (word), total ORDER BY party, number"""
    )


def _create_pairs(own: duckdb.DuckDBPyConnection, nearest: int) -> None:
    """The pairs of which at least one party counts the other among its nearest, per source."""
    own.execute(
        f"""CREATE OR REPLACE TEMP TABLE steward_near AS
            WITH sized AS (
                SELECT n, sum(count(*) * (n - 1) / 2) OVER (ORDER BY n) AS pairs
                FROM steward_words WHERE n > 1 GROUP BY n
            ),
            common AS (
                SELECT coalesce(max(n), 0) AS most FROM sized
                WHERE pairs <= {PAIRS_PER_PARTY} * (SELECT count(*) FROM {PARTIES_TABLE})
            ),
            rare AS (
                SELECT party, source, number, weight FROM (
                    SELECT *, row_number() OVER (PARTITION BY party ORDER BY n, number) AS place
                    FROM steward_words, common WHERE n BETWEEN 2 AND most
                ) WHERE place <= {RAREST_WORDS}
            ),
            norms AS (SELECT party, sum(weight) AS norm FROM steward_words GROUP BY party),
            shared AS (
                SELECT l.party AS l, r.party AS r, any_value(l.source) AS left_source,
                       any_value(r.source) AS right_source, sum(l.weight) AS weight
                FROM rare l JOIN rare r ON l.number = r.number AND l.party < r.party
                GROUP BY l.party, r.party
            ),
            scored AS (
                SELECT s.*, weight / sqrt(a.norm * b.norm) AS alike FROM shared s
                JOIN norms a ON a.party = s.l JOIN norms b ON b.party = s.r
            )
            SELECT l, r, row_number() OVER (ORDER BY l, r) AS number FROM (
                SELECT l, r,
                    row_number() OVER (PARTITION BY l, right_source ORDER BY alike DESC, r) AS from_left,
                    row_number() OVER (PARTITION BY r, left_source ORDER BY alike DESC, l) AS from_right
                FROM scored
            ) WHERE least(from_left, from_right) <= {nearest}"""
    )


def _add(own: duckdb.DuckDBPyConnection, name: str, lists: str) -> None:
    own.execute(
        f"""CREATE OR REPLACE TABLE {PARTIES_TABLE} AS
            SELECT p.*, w.words AS {quote(name)} FROM {PARTIES_TABLE} p
            LEFT JOIN ({lists}) w USING (party) ORDER BY party"""
    )
