"""Borderline pairs side by side, for a person to say whether they are the same."""

from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from steward.analysis.resolve.clusters import cluster
from steward.analysis.resolve.estimates import constraints_of, party_sources, read_links
from steward.analysis.resolve.evidence import Evidence, evidence_of, mask
from steward.analysis.resolve.rules import Rules
from steward.analysis.resolve.scored import Scored, reweigh
from steward.core import Invalid
from steward.tables import quote

MAX_PAGE = 200


@dataclass(frozen=True)
class Side:
    """One party of a pair, by its first row."""

    table: str
    row: str
    rows: int
    values: dict[str, str | None]


@dataclass(frozen=True)
class Pair:
    probability: float
    weight: float
    merged: bool
    """Whether the two end in one entity under the rules as they stand."""
    left: Side
    right: Side
    evidence: tuple[Evidence, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def borderline(
    connection: duckdb.DuckDBPyConnection,
    rules: Rules,
    scored: Scored,
    *,
    limit: int = 20,
    offset: int = 0,
    masked: bool = False,
) -> tuple[Pair, ...]:
    """A page of the undecided pairs in the review band, those nearest to the threshold first."""
    if not 1 <= limit <= MAX_PAGE or offset < 0:
        raise Invalid(f"A page holds 1 to {MAX_PAGE} pairs and starts at 0 or later.")
    current = reweigh(scored, rules)
    if current is None:
        raise Invalid(
            "These rules compare other things than the scored pairs. Score the tables again.",
            code="not-scored",
        )
    thresholds = rules.thresholds
    constraints = constraints_of(connection, rules, current)
    decided = ", ".join(
        f"({left}, {right})" for left, right in (*constraints.together, *constraints.apart)
    )
    undecided = f"AND (l, r) NOT IN ({decided})" if decided else ""
    width = len(rules.comparisons)
    columns = "".join(f", level_{place}" for place in range(width))
    columns += "".join(f", weight_{place}" for place in range(width))
    rows = connection.execute(
        f"""SELECT l, r, probability, weight{columns} FROM {current.pairs}
            WHERE probability BETWEEN ? AND ? {undecided}
            ORDER BY abs(probability - ?), l, r LIMIT ? OFFSET ?""",
        [thresholds.review_from, thresholds.review_to, thresholds.match, limit, offset],
    ).fetchall()
    sides = _sides(connection, rules, current, {party for row in rows for party in row[:2]}, masked)
    entity = cluster(
        party_sources(connection, current),
        read_links(connection, current),
        constraints,
        thresholds,
        rules.grouping,
    ).entity
    pairs = []
    for row in rows:
        left, right = sides[row[0]], sides[row[1]]
        levels, weights = list(row[4 : 4 + width]), list(row[4 + width :])
        pairs.append(
            Pair(
                probability=float(row[2]),
                weight=float(row[3]),
                merged=bool(entity[row[0]] == entity[row[1]]),
                left=left,
                right=right,
                evidence=evidence_of(current.rules, levels, weights, left.values, right.values),
            )
        )
    return tuple(pairs)


def _sides(
    connection: duckdb.DuckDBPyConnection,
    rules: Rules,
    scored: Scored,
    parties: set[int],
    masked: bool,
) -> dict[int, Side]:
    if not parties:
        return {}
    names = [field.name for field in rules.fields if field.role != "other"]
    values = "".join(f", CAST(r.{quote('v_' + name)} AS VARCHAR)" for name in names)
    listed = ", ".join(str(party) for party in sorted(parties))
    rows = connection.execute(
        f"""SELECT p.party, p.source, coalesce(r.row_key, CAST(r.row_id AS VARCHAR)), p.size{values}
            FROM {scored.staged.parties} p
            JOIN {scored.staged.rows} r ON r.source = p.source AND r.row_id = p.first_row
            WHERE p.party IN ({listed})"""
    ).fetchall()
    shown = mask if masked else _as_is
    return {
        row[0]: Side(
            table=rules.sources[row[1]].table,
            row=row[2],
            rows=int(row[3]),
            values={name: shown(value) for name, value in zip(names, row[4:], strict=True)},
        )
        for row in rows
    }


def _as_is(value: str | None) -> str | None:
    return value
