"""What the rules would do: counts at the thresholds, and along a range of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np

from steward.analysis.resolve.answers import parties_of
from steward.analysis.resolve.blocks import possible_pairs
from steward.analysis.resolve.clusters import (
    Clusters,
    Constraints,
    Links,
    check_constraints,
    cluster,
    components,
)
from steward.analysis.resolve.rules import Rules
from steward.analysis.resolve.scored import FLOOR, Scored, reweigh, score
from steward.tables import Table

STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Step:
    """What one threshold for `match` would give."""

    threshold: float
    matches: int
    entities: int


@dataclass(frozen=True)
class SourceEstimate:
    table: str
    rows: int
    parties: int
    entities: int


@dataclass(frozen=True)
class Estimate:
    """Counts under the rules; `steps` shows how entities change with the match threshold."""

    rows: int
    parties: int
    pairs_possible: int
    pairs_compared: int
    matches: int
    borderline: int
    """Pairs to look at, without those a person has decided."""
    entities: int
    merged_parties: int
    """Parties that share their entity with another one."""
    largest_entity: int
    links_refused: int
    """Matching pairs kept apart because their groups do not fit together."""
    sources: tuple[SourceEstimate, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def estimate(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    rules: Rules,
    scored: Scored | None = None,
) -> Estimate:
    """Counts for a person to judge the rules by.

    With `scored` from before, a new threshold, weight or decision is answered without comparing
    anything again; rules that ask for other comparisons are compared anew, in the same folder.
    """
    if scored is None:
        with TemporaryDirectory(prefix="steward-resolve-") as folder:
            return _estimate(connection, rules, score(connection, tables, rules, Path(folder)))
    current = reweigh(scored, rules) or score(connection, tables, rules, scored.folder)
    return _estimate(connection, rules, current)


def _estimate(connection: duckdb.DuckDBPyConnection, rules: Rules, scored: Scored) -> Estimate:
    sources = party_sources(connection, scored)
    links = read_links(connection, scored)
    constraints = constraints_of(connection, rules, scored)
    clusters = cluster(sources, links, constraints, rules.thresholds, rules.grouping)
    sizes = np.bincount(clusters.entity, minlength=1)
    thresholds = rules.thresholds
    shown = (links.probability >= thresholds.review_from) & (
        links.probability <= thresholds.review_to
    )
    shown &= ~_among(links, len(sources), (*constraints.together, *constraints.apart))
    return Estimate(
        rows=sum(source.rows for source in scored.sources),
        parties=len(sources),
        pairs_possible=possible_pairs(
            [source.parties for source in scored.sources],
            [source.duplicates for source in rules.sources],
        ),
        pairs_compared=scored.compared,
        matches=int((links.probability >= thresholds.match).sum()),
        borderline=int(shown.sum()),
        entities=len(np.unique(clusters.entity)),
        merged_parties=int(sizes[sizes > 1].sum()),
        largest_entity=int(sizes.max()) if len(sources) else 0,
        links_refused=clusters.refused,
        sources=_source_estimates(scored, sources, clusters),
        steps=_steps(len(sources), links),
        notes=scored.notes,
    )


def read_links(connection: duckdb.DuckDBPyConnection, scored: Scored) -> Links:
    columns = connection.execute(
        f"SELECT l, r, weight, probability FROM {scored.pairs} ORDER BY l, r"
    ).fetchnumpy()
    return Links(
        l=np.asarray(columns["l"], dtype=np.int64),
        r=np.asarray(columns["r"], dtype=np.int64),
        weight=np.asarray(columns["weight"], dtype=np.float64),
        probability=np.asarray(columns["probability"], dtype=np.float64),
    )


def party_sources(connection: duckdb.DuckDBPyConnection, scored: Scored) -> np.ndarray[Any, Any]:
    columns = connection.execute(
        f"SELECT source FROM {scored.staged.parties} ORDER BY party"
    ).fetchnumpy()
    return np.asarray(columns["source"], dtype=np.int64)


def constraints_of(
    connection: duckdb.DuckDBPyConnection, rules: Rules, scored: Scored
) -> Constraints:
    """The decisions and duplicate-free sources, in terms of parties."""
    together, apart = [], []
    for place, decision in enumerate(rules.decisions):
        pair = parties_of(connection, rules, scored.staged, decision, place)
        if decision.same and pair[0] != pair[1]:
            together.append(pair)
        elif not decision.same:
            apart.append(pair)
    constraints = Constraints(
        together=tuple(together),
        apart=tuple(apart),
        once=frozenset(
            place for place, source in enumerate(rules.sources) if not source.duplicates
        ),
    )
    check_constraints(scored.staged.party_count, constraints)
    return constraints


def _among(
    links: Links, parties: int, pairs: tuple[tuple[int, int], ...]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which links are among the pairs."""
    numbers = [left * parties + right for left, right in pairs]
    return np.isin(links.l * parties + links.r, np.array(numbers, dtype=np.int64))


def _source_estimates(
    scored: Scored, sources: np.ndarray[Any, Any], clusters: Clusters
) -> tuple[SourceEstimate, ...]:
    return tuple(
        SourceEstimate(
            table=source.table,
            rows=source.rows,
            parties=source.parties,
            entities=len(np.unique(clusters.entity[sources == place])),
        )
        for place, source in enumerate(scored.sources)
    )


def _steps(parties: int, links: Links) -> tuple[Step, ...]:
    """Entities as plain chains of matches, without a closer look at bridges: a quick curve."""
    steps = []
    for threshold in STEPS:
        chosen = links.probability >= max(threshold, FLOOR)
        label = components(parties, links.l[chosen], links.r[chosen])
        steps.append(Step(threshold, int(chosen.sum()), len(np.unique(label))))
    return tuple(steps)
