"""Which values of one column occur in another: sketches to rule out, exact counts to confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from steward.analysis.relate.columns import Facts
from steward.analysis.relate.keytext import LADDER, key_text
from steward.tables import Table, quote

_SKETCH = 128
# Normalising must win at least this share of rows to be worth mentioning.
_WORTH = 0.001


@dataclass(frozen=True)
class Inclusion:
    """Exact counts for one pair of column sets under one normalisation."""

    normalisation: str
    coverage_exact: float
    rows: int
    filled: int
    matched: int
    values: int
    orphan_values: int
    most_dependent: int
    most_referenced: int
    referenced_matched: int

    @property
    def coverage(self) -> float:
        return self.matched / self.filled if self.filled else 0.0


class Sketches:
    """The smallest hashes of every column's values, tested against whole columns at once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Table]) -> None:
        self._connection = connection
        self._tables = tables
        self._sizes: dict[int, int] = {}
        connection.execute("CREATE OR REPLACE TEMP TABLE steward_sketch (owner INTEGER, h UBIGINT)")

    def close(self) -> None:
        self._connection.execute("DROP TABLE IF EXISTS steward_sketch")

    def add(self, owner: int, facts: Facts) -> None:
        counted = self._connection.execute(
            f"INSERT INTO steward_sketch SELECT {owner}, h FROM ({self._hashes(facts)}) "
            f"ORDER BY h LIMIT {_SKETCH}"
        ).fetchone()
        self._sizes[owner] = int(counted[0]) if counted else 0

    def contained(self, referenced: Facts, owners: Sequence[int]) -> dict[int, float]:
        """For each owner the estimated share of its values that `referenced` holds."""
        if not owners:
            return {}
        wanted = ", ".join(str(owner) for owner in owners)
        rows = self._connection.execute(
            f"SELECT owner, count(*) FROM steward_sketch SEMI JOIN ({self._hashes(referenced)}) "
            f"USING (h) WHERE owner IN ({wanted}) GROUP BY owner"
        ).fetchall()
        hits = {int(owner): int(count) for owner, count in rows}
        return {
            owner: hits.get(owner, 0) / self._sizes[owner] if self._sizes.get(owner) else 0.0
            for owner in owners
        }

    def _hashes(self, facts: Facts) -> str:
        # Distinct values first: normalising text costs more than grouping it.
        values = f"SELECT DISTINCT {quote(facts.name)} AS v FROM {self._tables[facts.table].source}"
        text = key_text("v", facts.type, LADDER[-1])
        return f"SELECT DISTINCT hash({text}) AS h FROM ({values}) WHERE v IS NOT NULL"


def measure(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    dependent: Sequence[Facts],
    referenced: Sequence[Facts],
) -> Inclusion:
    """Exact inclusion, with the mildest normalisation that matches as much as the strongest does."""
    exact = _count(connection, tables, dependent, referenced, "exact", None)
    textual = any(each.family in {"text", "uuid"} for each in (*dependent, *referenced))
    if not textual or exact.coverage == 1.0:
        return exact
    strongest = _count(connection, tables, dependent, referenced, LADDER[-1], exact.coverage)
    if strongest.coverage < exact.coverage + _WORTH:
        return exact
    # A normalisation that makes different keys equal explains nothing.
    repeats = exact.most_referenced > 1
    for level in LADDER[1:-1]:
        found = _count(connection, tables, dependent, referenced, level, exact.coverage)
        if found.coverage >= strongest.coverage - _WORTH and (
            repeats or found.most_referenced == 1
        ):
            return found
    return strongest if repeats or strongest.most_referenced == 1 else exact


def _count(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Table],
    dependent: Sequence[Facts],
    referenced: Sequence[Facts],
    level: str,
    coverage_exact: float | None,
) -> Inclusion:
    keys = ", ".join(f"k{index}" for index in range(len(dependent)))
    row = connection.execute(
        f"WITH d AS ({_grouped(tables, dependent, level)}), r AS ({_grouped(tables, referenced, level)}), "
        f"both_sides AS (SELECT d.n AS d, r.n AS r FROM d LEFT JOIN r USING ({keys})) "
        "SELECT sum(d), sum(d) FILTER (r IS NOT NULL), count(*), count(*) FILTER (r IS NULL), "
        "max(d), (SELECT max(n) FROM r), sum(r) FROM both_sides"
    ).fetchone()
    filled, matched, values, orphans, most_d, most_r, referenced_matched = (
        int(value or 0) for value in (row or (0,) * 7)
    )
    coverage = matched / filled if filled else 0.0
    return Inclusion(
        normalisation=level,
        coverage_exact=coverage if coverage_exact is None else coverage_exact,
        rows=dependent[0].rows,
        filled=filled,
        matched=matched,
        values=values,
        orphan_values=orphans,
        most_dependent=most_d,
        most_referenced=most_r,
        referenced_matched=referenced_matched,
    )


def _grouped(tables: Mapping[str, Table], columns: Sequence[Facts], level: str) -> str:
    texts = ", ".join(
        f"{key_text(quote(each.name), each.type, level)} AS k{index}"
        for index, each in enumerate(columns)
    )
    present = " AND ".join(f"k{index} IS NOT NULL" for index in range(len(columns)))
    source = tables[columns[0].table].source
    return (
        f"SELECT *, count(*) AS n FROM (SELECT {texts} FROM {source}) WHERE {present} GROUP BY ALL"
    )
