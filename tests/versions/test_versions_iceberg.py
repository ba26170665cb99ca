"""A version as an Iceberg table: read back by pyiceberg, Polars and DuckDB, with edits and foreign types."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import duckdb
import polars as pl
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

from steward.core import Conflict, MovableClock
from steward.versions.edits import Delete, Update
from tests.versions.versions_kit import Kit, opened

_ROWS = (
    "SELECT i AS id, 'n' || i AS name, DATE '2026-01-01' + i::INT AS day, (i / 4)::DECIMAL(12,2) AS price, "
    "TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND AS at, TIME '10:00:00' AS hour, "
    "TIMESTAMPTZ '2026-01-01 00:00:00+00' AS zoned, i % 2 = 0 AS even, NULL::DOUBLE AS nothing "
    "FROM range({}) t(i)"
)


@pytest.fixture
def kit(
    home_template: Path, tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Kit]:
    # Polars would rather plan with a package of its own, and warns where it is not there.
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    with opened(tmp_path, home_template, None, clock) as made:
        yield made


def extension(name: str) -> str:
    spec = find_spec(f"duckdb_extension_{name}")
    if spec is None:
        pytest.skip(f"duckdb-extension-{name} is not installed")
    places = list(spec.submodule_search_locations or [])
    return str(next(Path(places[0]).rglob(f"v{duckdb.__version__}/*.duckdb_extension")))


def in_duckdb(folder: Path, sql: str) -> list[tuple[object, ...]]:
    """What DuckDB's own reader of Iceberg says, without a network and wherever the folder is."""
    with duckdb.connect() as connection:
        for name in ("avro", "iceberg"):
            connection.execute(f"LOAD '{extension(name)}'")
        scan = f"iceberg_scan('{folder}', allow_moved_paths = true)"
        return connection.execute(sql.format(scan)).fetchall()


def test_iceberg_shares_the_parts_and_other_engines_read_it(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(kit.scope, _ROWS.format(230))
    target = tmp_path / "out" / "orders"
    made, address = kit.versions.export_iceberg(kit.scope, version.id, target, "orders", "orders")
    assert (made.rows, made.files, made.linked) == (230, 5, 5)
    assert next((target / "data").iterdir()).stat().st_nlink == 2
    table = StaticTable.from_metadata(address)
    assert table.scan().to_arrow().num_rows == 230
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary.additional_properties["steward.version"] == version.id
    found = pl.scan_iceberg(table).sort("id").collect()
    assert (found["name"][229], str(found["price"][3])) == ("n229", "0.75")
    few = pl.scan_iceberg(table).filter(pl.col("id") >= 220).collect()
    assert sorted(few["id"].to_list()) == list(range(220, 230))
    with SqlCatalog("steward", uri="sqlite:///orders/catalog.db") as catalogue:
        assert catalogue.load_table("steward.orders").metadata_location == address
    with pytest.raises(Conflict, match="not empty"):
        kit.versions.export_iceberg(kit.scope, version.id, target, "orders", "orders")


def test_duckdb_reads_it_from_another_folder(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(kit.scope, _ROWS.format(230))
    target = tmp_path / "out" / "orders"
    kit.versions.export_iceberg(kit.scope, version.id, target, "orders", "s3://lake/orders")
    moved = target.rename(tmp_path / "elsewhere")
    said = in_duckdb(moved, "SELECT count(*), sum(price), max(day) FROM {}")
    (theirs,) = [tuple(map(str, row)) for row in said]
    assert theirs == ("230", "6583.75", "2026-08-18")


def test_edits_are_in_it(kit: Kit, tmp_path: Path) -> None:
    whole = kit.versions.write(kit.scope, "SELECT i AS id, 'n' || i AS name FROM range(120) t(i)")
    edits = Update("id = 60", {"name": "'changed'"}), Delete("id = 61")
    version = kit.versions.edit(kit.scope, whole.id, *edits).version
    made, address = kit.versions.export_iceberg(
        kit.scope, version.id, tmp_path / "out" / "x", "x", "x"
    )
    assert (made.rows, made.files, made.linked) == (119, 3, 2)
    rows = dict(StaticTable.from_metadata(address).scan().to_arrow().to_pandas().values.tolist())
    assert (len(rows), rows[60], 61 in rows) == (119, "changed", False)


def test_types_that_iceberg_lacks_are_told_and_converted(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(
        kit.scope,
        "SELECT i AS id, i::UTINYINT AS small, i::HUGEINT AS huge, '{\"a\": 1}'::JSON AS doc, "
        "[i, i] AS list, uuid() AS u, INTERVAL (i) DAY AS span, "
        "TIMESTAMP_NS '2026-01-01 00:00:00.123456789' AS fine FROM range(3) t(i)",
    )
    assert kit.versions.iceberg_conversions(kit.scope, version.id) == {
        "small": ("UTINYINT", "INTEGER"),
        "huge": ("HUGEINT", "DECIMAL(38,0)"),
        "doc": ("JSON", "VARCHAR"),
        "list": ("BIGINT[]", "VARCHAR"),
        "u": ("UUID", "VARCHAR"),
        "span": ("INTERVAL", "VARCHAR"),
        "fine": ("TIMESTAMP_NS", "VARCHAR"),
    }
    _, address = kit.versions.export_iceberg(
        kit.scope, version.id, tmp_path / "out" / "x", "x", "x"
    )
    rows = pl.scan_iceberg(StaticTable.from_metadata(address)).sort("id").collect().to_dicts()
    assert (rows[2]["small"], int(rows[2]["huge"]), rows[2]["list"]) == (2, 2, "[2, 2]")
    assert (rows[2]["doc"], rows[2]["fine"][-9:]) == ('{"a": 1}', "123456789")


def test_a_table_without_rows_has_its_columns(kit: Kit, tmp_path: Path) -> None:
    version = kit.versions.write(kit.scope, _ROWS.format(0))
    made, address = kit.versions.export_iceberg(
        kit.scope, version.id, tmp_path / "out" / "x", "x", "x"
    )
    table = StaticTable.from_metadata(address)
    assert (made.rows, table.scan().to_arrow().num_rows) == (0, 0)
    assert [field.name for field in table.schema().fields][:2] == ["id", "name"]
