"""Differences of versions, checked against polars; and what they leave unread."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.core import MovableClock
from steward.core.errors import Invalid
from steward.tables.engine import session
from steward.versions import Layout
from steward.versions.edits import Delete, Insert, Update
from tests.versions.versions_kit import Kit, opened

NUMBERS = "SELECT i AS id, 'name ' || i AS name, i % 7 AS n FROM range({}) t(i)"
KEYED = Layout(key=("id",))


@pytest.fixture(scope="module")
def kit(home_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    from datetime import UTC, datetime

    clock = MovableClock(datetime(2026, 3, 2, tzinfo=UTC))
    with opened(tmp_path_factory.mktemp("diff"), home_template, None, clock) as made:
        yield made


def write(kit: Kit, query: str, layout: Layout = Layout()) -> str:  # noqa: B008
    return kit.versions.write(kit.scope, query, layout=layout).id


def frame(kit: Kit, version: str) -> pl.DataFrame:
    with session() as connection:
        table = kit.versions.table(kit.scope, version)
        return connection.execute(f"SELECT * FROM {table.source}").pl()


def test_by_key_with_every_kind_of_change(kit: Kit) -> None:
    before = write(kit, NUMBERS.format(400), KEYED)
    after = kit.versions.edit(
        kit.scope,
        before,
        Update("id % 90 = 1", {"name": "'x'", "n": "n + 1"}),
        Update("id = 20", {"n": "NULL"}),
        Delete("id IN (7, 300)"),
        Insert("SELECT 900 AS id, 'new' AS name"),
    ).version.id
    found = kit.versions.diff(kit.scope, before, after)
    assert (found.method, found.key) == ("key", ("id",))
    assert (found.added, found.removed, found.changed) == (1, 2, 6)
    assert found.changed_cells == {"name": 5, "n": 6}
    page = kit.versions.diff_rows(kit.scope, before, after, kind="changed", limit=2)
    assert [(r.before, r.after, r.changed) for r in page.rows] == [
        (("1", "name 1", "1"), ("1", "x", "2"), ("name", "n")),
        (("20", "name 20", "6"), ("20", "name 20", None), ("n",)),
    ]
    rest = kit.versions.diff_rows(kit.scope, before, after, kind="changed", limit=9, offset=2)
    assert [r.after[0] for r in rest.rows if r.after] == ["91", "181", "271", "361"]
    gone = kit.versions.diff_rows(kit.scope, before, after, kind="removed").rows
    assert [(r.before[0], r.after) for r in gone if r.before] == [("7", None), ("300", None)]
    back = kit.versions.diff(kit.scope, after, before)
    assert (back.added, back.removed, back.changed) == (2, 1, 6)


def test_without_a_key_rows_are_told_by_identity(kit: Kit) -> None:
    before = write(kit, "SELECT i % 3 AS a, 'same' AS b FROM range(120) t(i)")
    after = kit.versions.edit(kit.scope, before, Update("a = 1", {"b": "'other'"}), Delete("a = 0"))
    found = kit.versions.diff(kit.scope, before, after.version.id)
    assert (found.method, found.added, found.removed, found.changed) == ("row", 0, 40, 40)


def test_unrelated_tables_are_compared_as_multisets(kit: Kit) -> None:
    before = write(kit, "SELECT i // 2 AS a, NULL AS b FROM range(100) t(i)")
    after = write(kit, "SELECT i // 3 AS a, NULL AS b FROM range(99) t(i)")
    found = kit.versions.diff(kit.scope, before, after)
    old, new = frame(kit, before), frame(kit, after)
    counts = (
        old.group_by("a").len().join(new.group_by("a").len(), on="a", how="full", coalesce=True)
    )
    surplus = counts.fill_null(0).select(pl.col("len_right").cast(int) - pl.col("len").cast(int))
    values = surplus.to_series()
    assert found.method == "content"
    assert found.added == values.filter(values > 0).sum()
    assert found.removed == -values.filter(values < 0).sum()
    page = kit.versions.diff_rows(kit.scope, before, after, kind="added", limit=1000)
    assert len(page.rows) == found.added


def test_schema_changes_and_retyped_columns(kit: Kit) -> None:
    before = write(kit, "SELECT i AS id, '0' || i AS code, 1 AS gone FROM range(20) t(i)", KEYED)
    after = write(
        kit,
        "SELECT CASE WHEN i = 3 THEN 99 ELSE i END AS code, i::BIGINT AS id, 'x' AS fresh "
        "FROM range(20) t(i)",
        KEYED,
    )
    found = kit.versions.diff(kit.scope, before, after)
    assert {(c.name, c.kind, c.before, c.after) for c in found.columns} == {
        ("gone", "removed", "INTEGER", None),
        ("fresh", "added", None, "VARCHAR"),
        ("code", "retyped", "VARCHAR", "BIGINT"),
        ("code", "moved", "2", "1"),
        ("id", "moved", "1", "2"),
    }
    assert found.changed == 20
    row = kit.versions.diff_rows(kit.scope, before, after, limit=1).rows[0]
    assert (row.before, row.after) == (("0", "00", "1"), ("0", "0", "x"))


def test_a_key_that_does_not_identify_rows_is_refused(kit: Kit) -> None:
    before, after = write(kit, NUMBERS.format(50)), write(kit, NUMBERS.format(60))
    with pytest.raises(Invalid, match="does not identify rows"):
        kit.versions.diff(kit.scope, before, after, key=("n",))
    with pytest.raises(Invalid, match="both sides need it"):
        kit.versions.diff(kit.scope, before, after, key=("nn",))
    assert kit.versions.diff(kit.scope, before, after, key=("id",)).added == 10
    with pytest.raises(Invalid, match="page"):
        kit.versions.diff_rows(kit.scope, before, after, limit=100_000)


def test_parts_that_both_share_are_not_even_opened(kit: Kit) -> None:
    before = write(kit, "SELECT i AS id, 'only here ' || i AS t FROM range(500) t(i)")
    after = kit.versions.edit(kit.scope, before, Update("id = 480", {"t": "'x'"})).version.id
    needed = kit.versions.table(kit.scope, before, within=None).source.split("'")[1::2]
    hidden = [Path(path) for path in needed[:-1]]
    for path in hidden:
        path.rename(path.with_suffix(".away"))
    try:
        found = kit.versions.diff(kit.scope, before, after)
        row = kit.versions.diff_rows(kit.scope, before, after).rows[0]
    finally:
        for path in hidden:
            path.with_suffix(".away").rename(path)
    assert (found.added, found.removed, found.changed) == (0, 0, 1)
    assert row.after == ("480", "x")


cells = st.one_of(st.none(), st.integers(0, 3))
tables = st.dictionaries(st.integers(0, 30), st.tuples(cells, cells), max_size=25)


@settings(max_examples=max(10, settings().max_examples // 6))
@given(before=tables, after=tables, keyed=st.booleans())
def test_counts_agree_with_polars(
    kit: Kit,
    before: dict[int, tuple[int | None, int | None]],
    after: dict[int, tuple[int | None, int | None]],
    keyed: bool,
) -> None:
    versions, frames = [], []
    for content in (before, after):
        listed = ", ".join(
            f"({k}, {'NULL' if a is None else a}, {'NULL' if b is None else b})"
            for k, (a, b) in content.items()
        )
        values = f"VALUES {listed}" if listed else "SELECT NULL, NULL, NULL WHERE false"
        query = (
            "SELECT CAST(k AS BIGINT) AS k, CAST(a AS BIGINT) AS a, CAST(b AS BIGINT) AS b "
            f"FROM ({values}) v(k, a, b)"
        )
        versions.append(write(kit, query, Layout(key=("k",)) if keyed else Layout()))
        frames.append(frame(kit, versions[-1]))
    found = kit.versions.diff(kit.scope, *versions)
    old, new = frames
    if keyed or versions[0] == versions[1]:
        common = old.join(new, on="k")
        same = common.filter(
            pl.col("a").eq_missing(pl.col("a_right")) & pl.col("b").eq_missing(pl.col("b_right"))
        )
        assert found.changed == len(common) - len(same)
        assert found.added == len(new) - len(common)
        assert found.removed == len(old) - len(common)
    else:
        equal = old.join(new, on=["k", "a", "b"], nulls_equal=True)
        assert found.method == "content"
        assert (found.added, found.removed) == (len(new) - len(equal), len(old) - len(equal))
    rows = kit.versions.diff_rows(kit.scope, *versions, limit=1000).rows
    assert len(rows) == found.added + found.removed + found.changed


def test_rows_that_were_all_written_again_are_compared_in_step(kit: Kit) -> None:
    before = write(kit, NUMBERS.format(1_000))
    name = "CASE WHEN id BETWEEN 100 AND 149 THEN name WHEN id = 7 THEN NULL ELSE name || '!' END"
    after = kit.versions.write(
        kit.scope, f"SELECT id, {name} AS name, n FROM ({NUMBERS.format(1_000)})", rows_of=before
    ).id
    found = kit.versions.diff(kit.scope, before, after)
    assert (found.method, found.added, found.removed, found.changed) == ("row", 0, 0, 950)
    assert found.changed_cells == {"name": 950}
    page = kit.versions.diff_rows(kit.scope, before, after, limit=2, offset=99)
    assert [(r.row, r.before, r.after) for r in page.rows] == [
        (99, ("99", "name 99", "1"), ("99", "name 99!", "1")),
        (150, ("150", "name 150", "3"), ("150", "name 150!", "3")),
    ]
    edited = kit.versions.edit(kit.scope, after, Delete("id = 7"), Update("id = 8", {"n": "9"}))
    mixed = kit.versions.diff(kit.scope, before, edited.version.id)
    assert (mixed.removed, mixed.changed) == (1, 949)
