"""Publications, products and other things without a role: paired by name and content, compared by rare words."""

import random
from pathlib import Path

import duckdb
import numpy as np
import pytest

from steward.analysis.resolve import propose, resolve
from steward.analysis.resolve.clusters import Constraints, Links, cluster
from steward.analysis.resolve.columns import look
from steward.analysis.resolve.pairing import kind_of, pairings
from steward.analysis.resolve.rules import Grouping, Thresholds
from steward.core import Invalid
from steward.tables.engine import session
from steward.tables.table import Table, describe, parquet_source, quote

WORDS = [
    f"{a}{b}" for a in ("query", "index", "graph", "stream", "cache") for b in "abcdefghijklmnop"
]


def put(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: tuple[str, ...],
    rows: list[tuple[str | None, ...]],
) -> Table:
    listed = ", ".join(f"{quote(column)} VARCHAR" for column in columns)
    connection.execute(f"CREATE TABLE {quote(name)} ({listed})")
    marks = ", ".join("?" for _ in columns)
    connection.executemany(f"INSERT INTO {quote(name)} VALUES ({marks})", rows)
    return Table(name, quote(name), describe(connection, quote(name)), len(rows))


def papers(connection: duckdb.DuckDBPyConnection) -> tuple[Table, Table, int]:
    """A library and an archive that share their first 60 papers; the archive spells venues its own way."""
    chance = random.Random(5)
    library: list[tuple[str | None, ...]] = []
    archive: list[tuple[str | None, ...]] = []
    for number in range(120):
        title = " ".join(chance.sample(WORDS, 6))
        authors = (
            f"{chance.choice('ABCDEF')}. {chance.choice(WORDS)}er, J. {chance.choice(WORDS)}man"
        )
        year = str(1990 + number % 12)
        library.append((f"L{number}", title, authors, "VLDB" if number % 2 else "SIGMOD", year))
        if number < 60:
            words = title.split()
            archive.append(
                (
                    str(900 + number),
                    " ".join([*words[:5], "revisited"]),
                    authors,
                    "Proc. VLDB",
                    year,
                )
            )
    for number in range(60):
        other = " ".join(chance.sample(WORDS, 6))
        archive.append((str(700 + number), other, "X. Nobody, Y. Else", "Proc. VLDB", "1999"))
    chance.shuffle(archive)
    return (
        put(connection, "library", ("key", "title", "authors", "venue", "year"), library),
        put(connection, "archive", ("no", "paper_title", "author", "venue", "year"), archive),
        60,
    )


def test_columns_of_one_meaning_are_paired_by_name_content_and_kind() -> None:
    with session() as connection:
        library, archive, _ = papers(connection)
        tables = {"library": library, "archive": archive}
        facts = [one for table in tables.values() for one in look(connection, table)]
        open_ = [one for one in facts if one.name not in {"key", "no"}]
        found = {
            tuple(one.columns.values()): one.role for one in pairings(connection, tables, open_)
        }
        kinds = {one.name: kind_of(one) for one in facts}
    assert found[("title", "paper_title")] == "text"
    assert found[("authors", "author")] == "text"
    assert found[("year", "year")] == "number"
    assert kinds["year"] == "number"


def test_papers_of_two_sources_are_linked_one_to_one(tmp_path: Path) -> None:
    with session() as connection:
        library, archive, same = papers(connection)
        rules = propose(connection, [library, archive], tmp_path)
        resolution = resolve(connection, [library, archive], rules, tmp_path)
        mapped = connection.execute(
            f"SELECT entity_id, row_key FROM {parquet_source([resolution.mapping.path])}"
        ).fetchall()
    groups: dict[str, list[str]] = {}
    for entity, key in mapped:
        groups.setdefault(entity, []).append(str(key))
    pairs = [keys for keys in groups.values() if len(keys) > 1]
    right = [
        keys
        for keys in pairs
        if {int(key.lstrip("L")) % 900 for key in keys} == {int(min(keys)) % 900}
    ]
    assert rules.entity == "thing"
    assert [source.duplicates for source in rules.sources] == [False, False]
    assert len(pairs) == len(right)
    assert len(right) >= 0.9 * same
    assert 0.5 <= rules.thresholds.match <= 0.98


def test_between_clean_sources_only_the_best_of_both_sides_counts() -> None:
    links = Links(
        l=np.array([0, 0, 1]),
        r=np.array([2, 3, 2]),
        weight=np.array([9.0, 5.0, 7.0]),
        probability=np.array([0.99, 0.97, 0.98]),
    )
    sources = np.array([0, 0, 1, 1])
    found = cluster(sources, links, Constraints(once=frozenset({0, 1})), Thresholds(), Grouping())
    assert list(found.entity) == [0, 1, 0, 3], "party 3 is second best for 0, and 1 for 2"


def test_an_address_alone_makes_no_match(tmp_path: Path) -> None:
    """Shops and, in rows of their own, the addresses of some: two lists that share streets share no shop by it."""
    chance = random.Random(7)
    names = [" ".join(chance.sample(WORDS, 2)) for _ in range(80)]
    streets = [f"{number} {chance.choice(WORDS)} road" for number in range(80)]

    def rows(shops: range) -> list[tuple[str | None, ...]]:
        named = [(f"s{place}", names[place], f"555-{place:04}", None) for place in shops]
        return [*named, *((f"a{place}", None, None, streets[place]) for place in shops)]

    with session() as connection:
        columns = ("key", "name", "phone", "street")
        tables = [
            put(connection, "guide", columns, rows(range(50))),
            put(connection, "directory", columns, rows(range(30, 80))),
        ]
        rules = propose(connection, tables, tmp_path)
        resolution = resolve(connection, tables, rules, tmp_path)
        found = connection.execute(
            f"""SELECT entity_id, list(row_key ORDER BY row_key)
                FROM {parquet_source([resolution.mapping.path])} GROUP BY ALL HAVING count(*) > 1"""
        ).fetchall()
        # Whoever reads an address as a thing says so in the rules.
        places = resolve(connection, tables, rules.revised(telling=[]), tmp_path).mapping.path
        entities = connection.execute(
            f"SELECT count(DISTINCT entity_id) FROM {parquet_source([places])} WHERE row_key LIKE 'a%'"
        ).fetchone()

    assert set(rules.telling) == {"phone", "name"}
    assert sorted(keys for _, keys in found) == [
        [f"s{place}", f"s{place}"] for place in range(30, 50)
    ]
    assert entities == (80,)


def test_only_what_is_compared_can_be_telling(tmp_path: Path) -> None:
    with session() as connection:
        left, right, _ = papers(connection)
        rules = propose(connection, [left, right], tmp_path)

    with pytest.raises(Invalid, match="telling"):
        rules.revised(telling=["nothing"])
