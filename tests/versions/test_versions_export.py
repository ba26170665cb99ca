"""A version as a Delta table: read back by delta-rs and polars, over the very same files."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from steward.core import MovableClock
from steward.core.errors import Conflict
from steward.versions import Delete, Layout, Update
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
