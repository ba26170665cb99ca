"""A version as a Delta table and as one Parquet file: read back by delta-rs, polars and Arrow."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from steward.core import MovableClock
from steward.core.errors import Conflict
from steward.tables import Table
from steward.versions import Layout
from steward.versions._write import Sizes
from steward.versions.edits import Delete, Update
from tests.versions.versions_kit import Kit, opened


@pytest.fixture
def kit(home_template: Path, tmp_path: Path, clock: MovableClock) -> Iterator[Kit]:
    with opened(tmp_path, home_template, None, clock) as made:
        yield made


def test_delta_shares_the_parts_and_reads_elsewhere(kit: Kit, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    version = kit.versions.write(
        kit.scope,
        "SELECT i AS id, 'n' || i AS name, DATE '2026-01-01' + i::INT AS day, "
        "(i / 4)::DECIMAL(12,2) AS price, TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND AS at, "
        "TIMESTAMPTZ '2026-01-01 00:00:00+00' AS zoned, i % 2 = 0 AS even, NULL::DOUBLE AS nothing "
        "FROM range(230) t(i)",
        layout=Layout(key=("id",)),
    )
    target = tmp_path / "delta"
    exported = kit.versions.export_delta(kit.scope, version.id, target, "numbers")
    assert (exported.rows, exported.files, exported.linked) == (230, 5, 5)
    shared = next(target.glob("part-*.parquet")).stat()
    assert shared.st_nlink == 2
    table = DeltaTable(target)
    assert table.metadata().name == "numbers"
    found = pl.read_delta(str(target)).sort("id")
    assert found.height == 230
    assert found["name"].to_list() == [f"n{i}" for i in range(230)]
    assert str(found["price"][3]) == "0.75"
    assert found["day"][31].isoformat() == "2026-02-01"
    assert found["nothing"].null_count() == 230
    some = pl.scan_delta(str(target)).filter(pl.col("id") >= 220).collect()
    assert sorted(some["id"].to_list()) == list(range(220, 230))
    with pytest.raises(Conflict, match="not empty"):
        kit.versions.export_delta(kit.scope, version.id, target, "numbers")


def test_patches_and_foreign_types_are_materialised(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(
        kit.scope,
        "SELECT i AS id, i::UTINYINT AS small, i::HUGEINT AS huge, TIME '10:00:00' AS t, "
        "[i, i] AS list, uuid() AS u FROM range(120) t(i)",
    )
    after = kit.versions.edit(
        kit.scope, version.id, Update("id = 60", {"small": "200"}), Delete("id = 61")
    ).version
    exported = kit.versions.export_delta(kit.scope, after.id, tmp_path / "d", "x")
    assert exported.linked == 0
    found = pl.read_delta(str(tmp_path / "d")).sort("id")
    assert found.height == 119
    row = found.filter(pl.col("id") == 60).to_dicts()[0]
    assert (row["small"], row["huge"], row["t"], row["list"]) == (200, 60, "10:00:00", "[60, 60]")
    log = (tmp_path / "d" / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
    records = [json.loads(json.loads(line)["add"]["stats"])["numRecords"] for line in log[2:]]
    assert records == [50, 49, 20]
    plain = kit.versions.write(kit.scope, "SELECT i AS id FROM range(120) t(i)")
    patched = kit.versions.edit(kit.scope, plain.id, Delete("id = 61")).version
    mixed = kit.versions.export_delta(kit.scope, patched.id, tmp_path / "m", "x")
    assert (mixed.files, mixed.linked) == (3, 2)
    assert pl.read_delta(str(tmp_path / "m")).height == 119


_EVERY_KIND = (
    "SELECT i AS id, CASE WHEN i % 7 > 0 THEN 'n' || i END AS name, (i % 250)::UTINYINT AS small, "
    "DATE '2026-01-01' + (i % 900)::INT AS day, (i / 4)::DECIMAL(12,2) AS price, "
    "TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(i) AS zoned, i % 2 = 0 AS even, "
    "NULL::DOUBLE AS nothing, [i, NULL] AS list, {{'a': i, 'b': 'x'}} AS record, "
    "encode('b' || i)::BLOB AS bytes FROM range({first}, {last}) t(i)"
)


def rows_of(connection: duckdb.DuckDBPyConnection, source: str) -> list[tuple[object, ...]]:
    """Types, and a hash of the rows with their places."""
    types = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    numbered = f"(SELECT r, row_number() OVER () AS n FROM {source} r)"
    row = connection.execute(f"SELECT count(*), bit_xor(hash(r, n)) FROM {numbered}").fetchall()
    return [(kind[0], kind[1]) for kind in types] + row


@pytest.mark.parametrize("columns", ["*", "*, id::HUGEINT AS huge"])
def test_one_parquet_file_holds_the_rows_of_all_parts_in_order(
    home_template: Path, tmp_path: Path, clock: MovableClock, columns: str
) -> None:
    rows = _EVERY_KIND.format(first=0, last=25_000)
    with opened(tmp_path, home_template, None, clock, Sizes(part_rows=9_000)) as kit:
        whole = kit.versions.write(kit.scope, f"SELECT {columns} FROM ({rows})")
        edits = Update("id = 60", {"name": "'=changed'"}), Delete("id BETWEEN 9000 AND 9002")
        version = kit.versions.edit(kit.scope, whole.id, *edits).version
        file = tmp_path / "one.parquet"
        kit.versions.export_parquet(kit.scope, version.id, file)
        table: Table = kit.versions.table(kit.scope, version.id, "numbers")
        with duckdb.connect() as connection:
            found = rows_of(connection, f"read_parquet('{file}')")
            if columns == "*":
                assert found == rows_of(connection, table.source)
            assert found[-1][0] == 24_997
        groups = pq.ParquetFile(file).metadata
        assert (groups.num_rows, groups.num_row_groups) == (24_997, 3 if columns == "*" else 1)
        assert pl.read_parquet(file)["id"].to_list() == pq.read_table(file)["id"].to_pylist()
        few = pl.scan_parquet(file).filter(pl.col("id") > 24_990).collect()
        assert few["id"].to_list() == list(range(24_991, 25_000))


def test_small_parts_are_written_together(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(kit.scope, _EVERY_KIND.format(first=0, last=230))
    kit.versions.export_parquet(kit.scope, version.id, tmp_path / "one.parquet")
    assert pq.ParquetFile(tmp_path / "one.parquet").metadata.num_row_groups == 1
