"""Proposes the whole rules document from the data alone: nothing is asked, everything is shown."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from steward.analysis.resolve.blocks import choose
from steward.analysis.resolve.comparing import ADDRESS
from steward.analysis.resolve.fields import View, comparisons, fields, survivorship, view_of
from steward.analysis.resolve.levels import column
from steward.analysis.resolve.references import party_key
from steward.analysis.resolve.roles import moment_of, row_key_of
from steward.analysis.resolve.rules import Rules, Source
from steward.analysis.resolve.scored import (
    ONE_THREAD,
    VECTORS,
    compare_parties,
    forget,
    inputs_hash,
    write_scored,
)
from steward.analysis.resolve.scoring import weighted_sql
from steward.analysis.resolve.shared_values import ignoring_shared_values
from steward.analysis.resolve.staging import Staged, drop_ignored, stage
from steward.analysis.resolve.thresholds import with_threshold
from steward.analysis.resolve.training import train
from steward.core import Invalid
from steward.tables import Table, literal, parquet_source, quote, session

# Fewer expected duplicates per thousand parties than this, and a source counts as free of them.
FREE_OF_DUPLICATES = 0.002
REPEATED = 0.02


def propose(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], folder: Path | None = None
) -> Rules:
    """Rules for one table (duplicates inside it) or several (the same entity across them).

    With a `folder` the compared pairs are left there, and `score` finds them.
    """
    if not tables:
        raise Invalid("Choose at least one table to resolve.", code="no-tables")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return _propose(connection, tables, folder)
    with TemporaryDirectory(prefix="steward-resolve-") as temporary:
        return _propose(connection, tables, Path(temporary))


def _propose(connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], folder: Path) -> Rules:
    view = view_of(connection, tables)
    sources = tuple(_source(connection, view, table) for table in tables)
    found = fields(view, sources)
    rules = Rules(
        entity=view.entity,
        sources=sources,
        fields=found,
        comparisons=comparisons(connection, view, found),
        survivorship=survivorship(found, sources),
    )
    rules = rules.model_copy(update={"telling": _telling(rules)})
    notes = _first_notes(rules)
    forget(folder)
    staged = stage(connection, tables, rules, folder)
    rules = ignoring_shared_values(connection, staged, rules, notes)
    staged = drop_ignored(connection, rules, staged)
    if rules.entity == "thing":
        rules = _hold_everything_once(connection, staged, rules, notes)
    with session(ONE_THREAD) as own:
        blocking = choose(own, staged.parties, rules, staged.party_count)
        rules = rules.model_copy(update={"blocking": blocking})
        compared = compare_parties(own, staged, rules, notes)
        rules = train(own, staged, rules, folder / VECTORS, notes)
        if rules.entity != "thing":
            rules = _duplicate_free(own, staged, rules, notes)
        rules = with_threshold(own, staged, rules, folder / VECTORS, notes)
    rules = rules.model_copy(update={"notes": tuple(notes)})
    write_scored(staged, rules, rules, compared, inputs_hash(connection, tables, rules), ())
    return rules


def _source(connection: duckdb.DuckDBPyConnection, view: View, table: Table) -> Source:
    facts = view.facts[table.name]
    key = party_key(connection, table, facts, view.roles[table.name])
    return Source(
        table=table.name,
        row_key=row_key_of(facts),
        party_key=() if key is None else (key,),
        updated=moment_of(facts),
    )


def _first_notes(rules: Rules) -> list[str]:
    notes = [
        f"{source.table} has many rows per party; rows with the same "
        f"{' and '.join(source.party_key)} are taken as one party."
        for source in rules.sources
        if source.party_key
    ]
    if not rules.comparisons:
        notes.append(
            "No column looks like a name, address, number or date to compare by. "
            "Add fields and comparisons by hand."
        )
    return notes


def _telling(rules: Rules) -> tuple[str, ...]:
    """What is compared and no part of an address: an address alone says where something is, not what it is."""
    compared = [comparison.field for comparison in rules.comparisons]
    telling = tuple(name for name in compared if rules.field(name).role not in ADDRESS)
    return telling if len(telling) < len(compared) else ()


def _hold_everything_once(
    connection: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules, notes: list[str]
) -> Rules:
    """Marks sources without rows that are equal in all compared texts: lists of things hold each once.

    Near misses inside a list are other editions and sizes far more often than the same thing twice.
    """
    names = [comparison.field for comparison in rules.comparisons]
    if len(rules.sources) < 2 or not names:
        return rules
    values = ", ".join(quote(column(name)) for name in names)
    filled = f"coalesce({', '.join(quote(column(name)) for name in names)}) IS NOT NULL"
    found = connection.execute(
        f"""SELECT source, count(*), count(DISTINCT hash({values})) FROM {staged.parties}
            WHERE {filled} GROUP BY source"""
    ).fetchall()
    repeated = {int(source): 1 - distinct / max(1, rows) for source, rows, distinct in found}
    sources = []
    for place, source in enumerate(rules.sources):
        clean = repeated.get(place, 0.0) < REPEATED
        sources.append(source.model_copy(update={"duplicates": not clean}))
        if clean:
            notes.append(f"{source.table} seems to hold everything once; no duplicates are sought.")
    return rules.model_copy(update={"sources": tuple(sources)})


def _duplicate_free(
    own: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules, notes: list[str]
) -> Rules:
    """Marks sources in which next to no duplicates are to be expected, so that none are made."""
    if len(rules.sources) < 2:
        return rules
    vectors = staged.folder / VECTORS
    weighted = weighted_sql(rules, parquet_source([vectors]), staged.party_count)
    # Not as a condition of the join: DuckDB would then pair all parties of a source first.
    found = own.execute(
        f"""SELECT a.source, coalesce(sum(p.probability) FILTER (a.source = b.source), 0)
            FROM ({weighted}) p
            JOIN {staged.parties} a ON a.party = p.l JOIN {staged.parties} b ON b.party = p.r
            GROUP BY a.source ORDER BY a.source"""
    ).fetchall()
    expected = {int(source): float(total) for source, total in found}
    sources = []
    for place, source in enumerate(rules.sources):
        parties = staged.sources[place].parties
        clean = parties > 0 and expected.get(place, 0.0) < FREE_OF_DUPLICATES * parties
        sources.append(source.model_copy(update={"duplicates": not clean}))
        if clean:
            notes.append(
                f"{source.table} seems to hold every entity once; no duplicates are sought."
            )
    rules = rules.model_copy(update={"sources": tuple(sources)})
    _drop_inner_pairs(own, staged, rules)
    return rules


def _drop_inner_pairs(own: duckdb.DuckDBPyConnection, staged: Staged, rules: Rules) -> None:
    """The vectors as they would be had the sources been marked from the start."""
    clean = [str(place) for place, source in enumerate(rules.sources) if not source.duplicates]
    if not clean:
        return
    vectors = staged.folder / VECTORS
    kept = staged.folder / "vectors-kept.parquet"
    own.execute(
        f"""COPY (
                SELECT v.* FROM {parquet_source([vectors])} v
                JOIN {staged.parties} a ON a.party = v.l JOIN {staged.parties} b ON b.party = v.r
                WHERE NOT (a.source = b.source AND a.source IN ({", ".join(clean)})) ORDER BY l, r
            ) TO {literal(str(kept))} (FORMAT parquet, COMPRESSION zstd)"""
    )
    kept.replace(vectors)
