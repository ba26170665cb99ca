"""Carries the rules out: entities, golden records, the way back to every row, and the checks."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from steward.analysis.resolve.clusters import Clusters, Constraints, cluster
from steward.analysis.resolve.estimates import constraints_of, party_sources, read_links
from steward.analysis.resolve.evidence import evidence_sql
from steward.analysis.resolve.golden import (
    MEMBERS,
    create_survivors,
    golden_sql,
    mapping_sql,
    survivor_groups,
    table_name_sql,
)
from steward.analysis.resolve.rules import Rules
from steward.analysis.resolve.scored import Scored, score
from steward.core import Bug
from steward.tables import Table, literal, parquet_source, session

GOLDEN = "golden"
MAPPING = "mapping"
PAIRS = "pairs"


@dataclass(frozen=True)
class ResultFile:
    """One table of the result as Parquet, the same bytes for the same input and rules."""

    name: str
    path: Path
    rows: int
    sha256: str


@dataclass(frozen=True)
class Check:
    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Resolution:
    """What came out. `mapping` has a line for every source row; `golden` one for every entity."""

    rules_hash: str
    rows: int
    parties: int
    entities: int
    merged_entities: int
    """Entities that stand for more than one party."""
    largest_entity: int
    links_refused: int
    golden: ResultFile
    mapping: ResultFile
    pairs: ResultFile
    checks: tuple[Check, ...]
    notes: tuple[str, ...]

    @property
    def hash(self) -> str:
        """One fingerprint of all three tables."""
        files = (self.golden, self.mapping, self.pairs)
        return hashlib.sha256("".join(one.sha256 for one in files).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        document = asdict(self)
        for name in (GOLDEN, MAPPING, PAIRS):
            document[name]["path"] = str(document[name]["path"])
        return document | {"hash": self.hash}


def resolve(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], rules: Rules, folder: Path
) -> Resolution:
    """Writes `golden.parquet`, `mapping.parquet` and `pairs.parquet` into `folder`.

    Pairs that `propose` or `score` left in the folder are used if they fit tables and rules.
    """
    scored = score(connection, tables, rules, folder)
    with session() as own:
        constraints = constraints_of(own, rules, scored)
        clusters = cluster(
            party_sources(own, scored),
            read_links(own, scored),
            constraints,
            rules.thresholds,
            rules.grouping,
        )
        _create_members(own, rules, scored, clusters.entity)
        _create_decided(own, constraints)
        groups = survivor_groups(rules)
        create_survivors(own, groups)
        files = {
            GOLDEN: _write(own, golden_sql(rules, groups), folder, GOLDEN),
            MAPPING: _write(own, mapping_sql(rules, groups), folder, MAPPING),
            PAIRS: _write(own, _pairs_sql(rules, scored), folder, PAIRS),
        }
        checks = _checks(own, scored, files, clusters, constraints)
    failed = [check for check in checks if not check.passed]
    if failed:
        raise Bug(f"The resolution broke its own rule: {failed[0].name}: {failed[0].detail}.")
    sizes = np.bincount(clusters.entity, minlength=1)
    return Resolution(
        rules_hash=rules.hash(),
        rows=sum(source.rows for source in scored.sources),
        parties=scored.staged.party_count,
        entities=files[GOLDEN].rows,
        merged_entities=int((sizes > 1).sum()),
        largest_entity=int(sizes.max()) if scored.staged.party_count else 0,
        links_refused=clusters.refused,
        golden=files[GOLDEN],
        mapping=files[MAPPING],
        pairs=files[PAIRS],
        checks=checks,
        notes=scored.notes,
    )


def _create_members(
    own: duckdb.DuckDBPyConnection, rules: Rules, scored: Scored, entity: npt.NDArray[np.int64]
) -> None:
    """Every row with its entity; an entity is named after its smallest member, so names last."""
    numbers = np.arange(len(entity), dtype=np.int64)
    own.register("steward_entity_numbers", {"party": numbers, "entity": entity})
    own.execute("CREATE TEMP TABLE steward_entities AS SELECT * FROM steward_entity_numbers")
    own.unregister("steward_entity_numbers")
    named = (
        f"{table_name_sql(rules, 'r.source')} || chr(31) || coalesce(r.row_key, '#' || r.row_id)"
    )
    own.execute(
        f"""CREATE TEMP TABLE steward_entity_ids AS
            SELECT p.party AS entity, 'ent_' || left(sha256({named}), 16) AS entity_id
            FROM {scored.staged.parties} p
            JOIN {scored.staged.rows} r ON r.source = p.source AND r.row_id = p.first_row
            WHERE p.party IN (SELECT entity FROM steward_entities)"""
    )
    own.execute(
        f"""CREATE TEMP TABLE {MEMBERS} AS
            SELECT r.*, e.entity, i.entity_id FROM {scored.staged.rows} r
            JOIN steward_entities e USING (party) JOIN steward_entity_ids i USING (entity)"""
    )


def _create_decided(own: duckdb.DuckDBPyConnection, constraints: Constraints) -> None:
    own.execute("CREATE TEMP TABLE steward_decided (l BIGINT, r BIGINT, same BOOLEAN)")
    pairs = [*((*pair, True) for pair in constraints.together)]
    pairs += [(*pair, False) for pair in constraints.apart]
    if pairs:
        own.executemany("INSERT INTO steward_decided VALUES (?, ?, ?)", pairs)


def _pairs_sql(rules: Rules, scored: Scored) -> str:
    """Every pair worth a look, with its evidence in words and what became of it."""
    thresholds = rules.thresholds
    first = f"""SELECT p.party, {table_name_sql(rules, "p.source")} AS table_name,
                       coalesce(r.row_key, CAST(r.row_id AS VARCHAR)) AS row_name, e.entity, i.entity_id
                FROM {scored.staged.parties} p
                JOIN {scored.staged.rows} r ON r.source = p.source AND r.row_id = p.first_row
                JOIN steward_entities e ON e.party = p.party
                JOIN steward_entity_ids i ON i.entity = e.entity"""
    outcome = f"""CASE WHEN s.same THEN 'decided: the same'
                       WHEN NOT s.same THEN 'decided: different'
                       WHEN a.entity = b.entity AND s.probability >= {thresholds.match} THEN 'merged'
                       WHEN a.entity = b.entity THEN 'merged through others'
                       WHEN s.probability >= {thresholds.match} THEN 'kept apart'
                       ELSE 'not merged' END"""
    return f"""
        WITH firsts AS ({first}),
        seen AS (
            SELECT p.*, d.same FROM {scored.pairs} p
            LEFT JOIN (SELECT DISTINCT * FROM steward_decided) d USING (l, r)
            WHERE p.probability >= {thresholds.review_from} OR d.same IS NOT NULL
            UNION ALL BY NAME
            SELECT DISTINCT l, r, same FROM steward_decided d
            WHERE NOT EXISTS (FROM {scored.pairs} p WHERE p.l = d.l AND p.r = d.r)
        )
        SELECT a.table_name AS left_table, a.row_name AS left_row, b.table_name AS right_table,
               b.row_name AS right_row, s.probability, s.weight::DOUBLE AS weight,
               {outcome} AS outcome, a.entity_id AS left_entity, b.entity_id AS right_entity,
               {evidence_sql(scored.rules)} AS evidence
        FROM seen s JOIN firsts a ON a.party = s.l JOIN firsts b ON b.party = s.r
        ORDER BY s.l, s.r
    """


def _write(own: duckdb.DuckDBPyConnection, sql: str, folder: Path, name: str) -> ResultFile:
    path = folder / f"{name}.parquet"
    written = own.execute(
        f"COPY ({sql}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"
    ).fetchone()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return ResultFile(name, path, int(written[0]) if written is not None else 0, digest)


def _checks(
    own: duckdb.DuckDBPyConnection,
    scored: Scored,
    files: dict[str, ResultFile],
    clusters: Clusters,
    constraints: Constraints,
) -> tuple[Check, ...]:
    golden, mapping = (parquet_source([files[name].path]) for name in (GOLDEN, MAPPING))
    checks = []
    for source in scored.sources:
        found = _number(
            own,
            f"""SELECT count(DISTINCT row_number) FROM {mapping}
                WHERE source_table = {literal(source.table)} AND entity_id IS NOT NULL""",
        )
        checks.append(
            Check(
                name=f"every row of {source.table} has an entity",
                passed=found == source.rows,
                detail=f"{found} of {source.rows} rows",
            )
        )
    rows = sum(source.rows for source in scored.sources)
    checks.append(_equal("no row is mapped twice", files[MAPPING].rows, rows, "rows"))
    entities = _number(own, f"SELECT count(DISTINCT entity_id) FROM {mapping}")
    checks.append(
        _equal("every entity has one golden record", files[GOLDEN].rows, entities, "entities")
    )
    distinct = _number(own, f"SELECT count(DISTINCT entity_id) FROM {golden}")
    checks.append(_equal("golden records have their own ids", distinct, files[GOLDEN].rows, "ids"))
    records = _number(own, f"SELECT coalesce(sum(records), 0)::BIGINT FROM {golden}")
    checks.append(_equal("golden records add up to all rows", records, rows, "rows"))
    parted = sum(clusters.entity[a] != clusters.entity[b] for a, b in constraints.apart)
    checks.append(
        _equal("rows said to differ are apart", int(parted), len(constraints.apart), "decisions")
    )
    joined = sum(clusters.entity[a] == clusters.entity[b] for a, b in constraints.together)
    checks.append(
        _equal(
            "rows said to be the same are together",
            int(joined),
            len(constraints.together),
            "decisions",
        )
    )
    return tuple(checks)


def _equal(name: str, found: int, expected: int, unit: str) -> Check:
    return Check(name, found == expected, f"{found} of {expected} {unit}")


def _number(own: duckdb.DuckDBPyConnection, sql: str) -> int:
    found = own.execute(sql).fetchone()
    return int(found[0]) if found is not None else 0
