"""Scored pairs on disk: compared once, weighed again when only weights change, cheap to re-read."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from steward.analysis.resolve.blocks import pairs_of
from steward.analysis.resolve.model import compare, quiet
from steward.analysis.resolve.rules import Rules
from steward.analysis.resolve.scoring import weighted_sql
from steward.analysis.resolve.staging import SourceCount, Staged, match_tables, stage
from steward.analysis.resolve.training import train
from steward.analysis.resolve.words import PARTIES_TABLE, create_parties, near_pairs
from steward.core import Invalid, TooLarge
from steward.tables import Limits, Table, literal, parquet_source, quote, session

VECTORS = "vectors.parquet"
MANIFEST = "scored.json"
# Pairs below this probability are not kept; no threshold may be lower.
FLOOR = 0.005
MAX_PAIRS = 60_000_000
# One thread: sums of fractions then come out the same every time.
ONE_THREAD = Limits(memory_mb=1024, threads=1)


@dataclass(frozen=True)
class Scored:
    """Every pair worth keeping, with its levels and weights, in a folder of the caller."""

    folder: Path
    inputs_hash: str
    compare_hash: str
    scoring_hash: str
    rules: Rules
    """The rules as scored: with every weight filled in."""
    sources: tuple[SourceCount, ...]
    compared: int
    notes: tuple[str, ...] = ()

    @property
    def staged(self) -> Staged:
        return Staged(self.folder, self.sources)

    @property
    def pairs(self) -> str:
        """A FROM item: l, r, probability, weight, level_0 …, weight_0 … ordered by l, r."""
        return parquet_source([_pairs_path(self.folder, self.scoring_hash)])


def score(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    rules: Rules,
    folder: Path,
) -> Scored:
    """Stages, compares and weighs, reusing from `folder` what these tables and rules left there."""
    match_tables(tables, rules)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = inputs_hash(connection, tables, rules)
    before = _read_manifest(folder)
    if before is not None and before.inputs_hash == inputs:
        again = reweigh(before, rules)
        if again is not None:
            return again
    forget(folder)
    staged = stage(connection, tables, rules, folder)
    notes: list[str] = []
    with session(ONE_THREAD) as own:
        compared = compare_parties(own, staged, rules, notes)
        weighted = rules
        if not rules.weighted:
            weighted = train(own, staged, rules, folder / VECTORS, notes)
    return write_scored(staged, rules, weighted, compared, inputs, tuple(notes))


def reweigh(scored: Scored, rules: Rules) -> Scored | None:
    """The same pairs under other weights; None when the rules ask for other comparisons."""
    if scored.compare_hash != compare_hash(rules):
        return None
    if not rules.weighted:
        # Weights that were estimated before stand until somebody sets others.
        rules = _borrow_weights(rules, scored.rules)
    if scored.scoring_hash == rules.scoring_hash():
        return scored
    return write_scored(
        scored.staged, rules, rules, scored.compared, scored.inputs_hash, scored.notes
    )


def compare_parties(
    own: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules, notes: list[str]
) -> int:
    """Runs Splink over the parties; the vectors lie in the staged folder afterwards."""
    path = staged.folder / VECTORS
    create_parties(own, staged, rules)
    _refuse_floods(own, rules)
    if not rules.comparisons or not rules.blocking or staged.party_count < 2:
        _write_no_vectors(own, rules, path)
        return 0
    found: list[str] = []
    with quiet(found):
        compared = compare(own, rules, path)
    notes.extend(found)
    return compared


def write_scored(
    staged: Staged,
    asked: Rules,
    weighted: Rules,
    compared: int,
    inputs: str,
    notes: tuple[str, ...],
) -> Scored:
    """Weighs the vectors and leaves the pairs and a manifest in the folder."""
    vectors = parquet_source([staged.folder / VECTORS])
    scored = Scored(
        folder=staged.folder,
        inputs_hash=inputs,
        compare_hash=compare_hash(asked),
        scoring_hash=weighted.scoring_hash(),
        rules=weighted,
        sources=staged.sources,
        compared=compared,
        notes=notes,
    )
    path = _pairs_path(staged.folder, scored.scoring_hash)
    with session() as own:
        own.execute(
            f"""COPY (SELECT * FROM ({weighted_sql(weighted, vectors, staged.party_count)})
                      WHERE probability >= {FLOOR} ORDER BY l, r)
                TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"""
        )
    _write_manifest(scored)
    return scored


def open_scored(folder: Path) -> Scored:
    """What `score` left in a folder; for a later request or after a pause."""
    found = _read_manifest(folder)
    if found is None:
        raise Invalid(
            "There are no scored pairs in this folder. Score the tables first.", code="not-scored"
        )
    return found


def forget(folder: Path) -> None:
    """Takes the manifest away first, so that half-written files are never taken for results."""
    (folder / MANIFEST).unlink(missing_ok=True)


def compare_hash(rules: Rules) -> str:
    """Changes when other pairs would be compared, or differently; not with weights."""
    document = rules.model_dump(
        mode="json", include={"sources", "fields", "blocking", "comparisons", "telling"}
    )
    for block in document["blocking"]:
        del block["pairs"]
    for comparison in document["comparisons"]:
        del comparison["counts"]
        for level in comparison["levels"]:
            del level["m"], level["u"]
    return _digest(document)


def inputs_hash(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], rules: Rules
) -> str:
    """A fingerprint of the rows that the rules read, in their order."""
    by_name = {table.name: table for table in tables}
    parts: list[object] = []
    for source in rules.sources:
        table = by_name[source.table]
        columns = ", ".join(quote(column) for column in table.column_names)
        found = connection.execute(
            f"""SELECT count(*), bit_xor(hash(steward_position, {columns}))
                FROM (SELECT *, row_number() OVER () AS steward_position FROM {table.source})"""
        ).fetchone()
        parts.append([source.table, [str(value) for value in found or ()]])
    return _digest(parts)


def _borrow_weights(rules: Rules, trained: Rules) -> Rules:
    known = {comparison.field: comparison for comparison in trained.comparisons}
    comparisons = tuple(
        comparison if comparison.weighted else known[comparison.field]
        for comparison in rules.comparisons
    )
    return rules.model_copy(update={"comparisons": comparisons, "prior": trained.prior})


def _refuse_floods(own: duckdb.DuckDBPyConnection, rules: Rules) -> None:
    for place, block in enumerate(rules.blocking):
        near = block.parts[0].nearest is not None
        pairs = (
            near_pairs(own, block.parts[0]) if near else pairs_of(own, PARTIES_TABLE, block.parts)
        )
        if pairs > MAX_PAIRS:
            fields = " and ".join(part.field for part in block.parts)
            raise TooLarge(
                f"Blocking rule {place + 1} (on {fields}) would compare {pairs:,} pairs; at most "
                f"{MAX_PAIRS:,} are allowed. Add another field to it.",
                code="too-many-pairs",
            )


def _write_no_vectors(own: duckdb.DuckDBPyConnection, rules: Rules, path: Path) -> None:
    columns = ["0::BIGINT AS l", "0::BIGINT AS r"]
    for place, comparison in enumerate(rules.comparisons):
        columns.append(f"0::TINYINT AS level_{place}")
        if comparison.rare_values_count_more:
            columns.append(f"0.0::DOUBLE AS rarity_{place}")
    own.execute(
        f"COPY (SELECT {', '.join(columns)} LIMIT 0) TO {literal(str(path))} (FORMAT parquet)"
    )


def _pairs_path(folder: Path, scoring_hash: str) -> Path:
    return folder / f"pairs-{scoring_hash[:16]}.parquet"


def _write_manifest(scored: Scored) -> None:
    document = {
        "inputs_hash": scored.inputs_hash,
        "compare_hash": scored.compare_hash,
        "scoring_hash": scored.scoring_hash,
        "rules": scored.rules.model_dump(mode="json"),
        "sources": [asdict(source) for source in scored.sources],
        "compared": scored.compared,
        "notes": list(scored.notes),
    }
    (scored.folder / MANIFEST).write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def _read_manifest(folder: Path) -> Scored | None:
    path = folder / MANIFEST
    if not path.is_file():
        return None
    document = json.loads(path.read_text("utf-8"))
    return Scored(
        folder=folder,
        inputs_hash=document["inputs_hash"],
        compare_hash=document["compare_hash"],
        scoring_hash=document["scoring_hash"],
        rules=Rules.model_validate(document["rules"]),
        sources=tuple(SourceCount(**source) for source in document["sources"]),
        compared=document["compared"],
        notes=tuple(document["notes"]),
    )


def _digest(document: object) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
