"""Record-matching sets that others made, read from a folder, with the pairs their makers say belong together.

Nothing of them is kept here. `python benchmarks/resolve.py --data FOLDER` wants in FOLDER:

* `pyJedAI`: a copy of the repository AI-team-UoA/pyJedAI (Apache-2.0), its `data` folder is enough;
* `py_entitymatching`: the unpacked source package of py-entitymatching 0.4.2 from PyPI (BSD);
* `splink_datasets`: a copy of the repository moj-analytical-services/splink_datasets (open data).

Half of the sets, chosen by a hash of their names before anything was tried on them, were set aside: rules of thumb were
tuned on the others only.
"""

import csv
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import duckdb

Pair = tuple[int, int]
Rows = list[tuple[str | None, ...]]


@dataclass(frozen=True)
class File:
    name: str
    columns: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class MatchSet:
    """Rows are numbered through all files, from 0; `pairs` are those that belong together, smaller number first."""

    name: str
    files: tuple[File, ...]
    pairs: frozenset[Pair]
    product: bool = False

    @property
    def linking(self) -> bool:
        return len(self.files) > 1


def set_aside(name: str) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 1


def read_rows(path: Path, delimiter: str) -> tuple[tuple[str, ...], Rows]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter=delimiter)
        columns = tuple(next(lines))
        rows = [
            tuple((value.strip() or None) for value in (line + [""] * len(columns))[: len(columns)])
            for line in lines
        ]
    return columns, rows


def jedai(
    name: str, folder: str, left: str, right: str, delimiter: str = "|", *, product: bool = False
) -> Callable[[Path], MatchSet]:
    def load(data: Path) -> MatchSet:
        place = data / "pyJedAI" / "data" / "ccer" / folder
        files, numbers = [], []
        start = 0
        for file in (left, right):
            columns, rows = read_rows(place / f"{file}clean.csv", delimiter)
            files.append(File(file, columns, rows))
            numbers.append({row[0]: start + number for number, row in enumerate(rows)})
            start += len(rows)
        _, gold = read_rows(place / "gtclean.csv", delimiter)
        pairs = frozenset(
            (numbers[0][one], numbers[1][other])
            for one, other in (row[:2] for row in gold)
            if one in numbers[0] and other in numbers[1]
        )
        return MatchSet(name, tuple(files), pairs, product)

    return load


def closed(pairs: Iterator[tuple[int, int]]) -> frozenset[Pair]:
    """With everything that follows: if a is b and b is c, a is c."""
    group: dict[int, list[int]] = {}
    for one, other in pairs:
        left, right = group.setdefault(one, [one]), group.setdefault(other, [other])
        if left is not right:
            left.extend(right)
            for member in right:
                group[member] = left
    found = {id(members): sorted(members) for members in group.values()}
    return frozenset(pair for members in found.values() for pair in combinations(members, 2))


def one_table(
    name: str, file: str, gold: str, delimiter: str, gold_delimiter: str, key: str
) -> Callable[[Path], MatchSet]:
    def load(data: Path) -> MatchSet:
        place = data / "pyJedAI" / "data" / "der"
        columns, rows = read_rows(place / file, delimiter)
        columns = tuple(column or f"column_{number}" for number, column in enumerate(columns))
        number = {row[columns.index(key)]: place for place, row in enumerate(rows)}
        with (place / gold).open(encoding="utf-8") as lines:
            listed = list(csv.reader(lines, delimiter=gold_delimiter))
        pairs = closed(
            (number[line[0]], number[line[1]])
            for line in listed
            if line[0] in number and line[1] in number
        )
        return MatchSet(name, (File(name, columns, rows),), pairs)

    return load


def fodors_zagats(data: Path) -> MatchSet:
    found = sorted((data / "py_entitymatching").rglob("restaurants/fodors.csv"))
    place = found[0].parent if found else data / "py_entitymatching"
    files, numbers, start = [], [], 0
    for name in ("fodors", "zagats"):
        columns, rows = read_rows(place / f"{name}.csv", ",")
        files.append(File(name, columns, rows))
        numbers.append({row[0]: start + number for number, row in enumerate(rows)})
        start += len(rows)
    _, gold = read_rows(place / "matches_fodors_zagats.csv", ",")
    pairs = frozenset((numbers[0][row[-2]], numbers[1][row[-1]]) for row in gold)
    return MatchSet("fodors_zagats", tuple(files), pairs)


def by_cluster(
    name: str, file: str, cluster: str, hidden: tuple[str, ...]
) -> Callable[[Path], MatchSet]:
    def load(data: Path) -> MatchSet:
        path = data / "splink_datasets" / "data" / file
        if not path.is_file():
            raise FileNotFoundError(path)
        with duckdb.connect() as connection:
            relation = connection.sql(f"SELECT * FROM '{path}'")
            columns = relation.columns
            values = relation.fetchall()
        kept = [place for place, column in enumerate(columns) if column not in hidden]
        groups = defaultdict(list)
        for number, row in enumerate(values):
            groups[row[columns.index(cluster)]].append(number)
        rows = [tuple(None if row[p] is None else str(row[p]) for p in kept) for row in values]
        pairs = frozenset(pair for one in groups.values() for pair in combinations(one, 2))
        return MatchSet(name, (File(name, tuple(columns[p] for p in kept), rows),), pairs)

    return load


SETS: dict[str, Callable[[Path], MatchSet]] = {
    "restaurants": jedai("restaurants", "D1", "rest1", "rest2"),
    "fodors_zagats": fodors_zagats,
    "abt_buy": jedai("abt_buy", "D2", "abt", "buy", product=True),
    "amazon_google": jedai("amazon_google", "D3", "amazon", "gp", "#", product=True),
    "dblp_acm": jedai("dblp_acm", "D4", "dblp", "acm", "%"),
    "imdb_tmdb": jedai("imdb_tmdb", "D5", "imdb", "tmdb"),
    "imdb_tvdb": jedai("imdb_tvdb", "D6", "imdb", "tvdb"),
    "tmdb_tvdb": jedai("tmdb_tvdb", "D7", "tmdb", "tvdb"),
    "walmart_amazon": jedai("walmart_amazon", "D8", "walmart", "amazon", product=True),
    "imdb_dbpedia": jedai("imdb_dbpedia", "D10", "imdb", "dbpedia"),
    "cora": one_table("cora", "cora/cora.csv", "cora/cora_gt.csv", "|", "|", "Entity Id"),
    "cddb": one_table("cddb", "cddb/cddb.csv", "cddb/gt.csv", ",", ",", "id"),
    "fake_1000": by_cluster("fake_1000", "fake_1000.csv", "cluster", ("cluster",)),
    "historical_50k": by_cluster(
        "historical_50k",
        "historical_figures_with_errors_50k.parquet",
        "cluster",
        ("cluster", "unique_id"),
    ),
}
