"""Versions as content: determinism, exact types, small edits, row identity, layout."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.core import MovableClock
from steward.core.errors import Conflict, Invalid, NotFound, TooLarge
from steward.tables.engine import Limits, session
from steward.versions import Layout
from steward.versions._write import Sizes
from steward.versions.edits import (
    CellValue,
    Delete,
    DeleteRows,
    Insert,
    InsertRows,
    SetCells,
    Update,
    Upsert,
)
from tests.versions.versions_kit import Kit, fetch, opened

NUMBERS = "SELECT i AS id, 'name ' || i AS name, i % 7 AS n FROM range({}) t(i)"


@pytest.fixture
def kit(home_template: Path, tmp_path: Path, clock: MovableClock) -> Iterator[Kit]:
    with opened(tmp_path, home_template, None, clock) as made:
        yield made


def written(kit: Kit, query: str, **options: object) -> str:
    return kit.versions.write(kit.scope, query, **options).id  # type: ignore[arg-type]


def edited(kit: Kit, version: str, *edits: object) -> str:
    return kit.versions.edit(kit.scope, version, *edits).version.id  # type: ignore[arg-type]


def row_ids(kit: Kit, version: str) -> dict[int, int]:
    """id column → row id."""
    page = kit.versions.page(kit.scope, version, 0, 10_000)
    return {row[1]: row[0] for row in fetch(page)}


def test_the_same_rows_give_the_same_parts_however_they_were_computed(kit: Kit) -> None:
    plain = "SELECT i AS id, 'v' || i AS v FROM range(1000) t(i)"
    filtered = (
        "SELECT id, v FROM (SELECT i // 3 AS id, 'v' || (i // 3) AS v, i FROM range(3000) t(i)) "
        "WHERE i % 3 = 0 ORDER BY id"
    )
    joined = (
        "SELECT a.i AS id, 'v' || b.i AS v FROM range(1000) a(i) JOIN range(1000) b(i) ON a.i = b.i "
        "ORDER BY a.i"
    )
    first = written(kit, plain)
    stored = kit.stored()
    assert {written(kit, filtered), written(kit, joined)} == {first}
    for threads in (1, 3):
        with session(Limits(threads=threads)) as connection:
            assert written(kit, plain, connection=connection) == first
    assert kit.stored() == stored


def test_parts_do_not_depend_on_chunk_borders_at_full_size(kit: Kit, tmp_path: Path) -> None:
    """The default part size, rows that arrive in odd chunks: byte for byte the same."""
    from steward.core import Ids
    from steward.versions import Versions

    large = Versions(kit.database, kit.blobs, kit.clock, Ids(kit.clock), tmp_path / "large")
    plain = "SELECT i AS id, 'text ' || (i % 977) AS t, i * 0.25 AS x FROM range(200000) t(i)"
    odd = (
        "SELECT i - 5000 AS id, 'text ' || ((i - 5000) % 977) AS t, (i - 5000) * 0.25 AS x "
        "FROM range(400000) t(i) WHERE i >= 5000 AND (i * 7919) % 100003 >= 0 AND i < 205000"
    )
    first = large.write(kit.scope, plain)
    assert first.parts == 2
    assert large.write(kit.scope, odd).id == first.id


EXACT = {
    "hugeint": "170141183460469231731687303715884105727::HUGEINT",
    "interval": "INTERVAL '1 year 2 months 3 days 4.123456 seconds'",
    "enum": "'b'::ENUM('a', 'b', 'it''s')",
    "bit": "'0101'::BIT",
    "timetz": "'10:00:00.123456+02:30'::TIMETZ",
    "seconds": "TIMESTAMP_S '2020-01-01 00:00:01'",
    "nanos": "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00.5+00'",
    "uuid": "'cb1c4455-0b12-4a50-88ad-0cd92e609d90'::UUID",
    "json": """'{"a": [1, null]}'::JSON""",
    "decimal": "12345678901234567890.12345::DECIMAL(38,5)",
    "array": "[1, 2, 3]::INTEGER[3]",
    "nested": "{'BIT': [1::HUGEINT, NULL], 'b c': MAP {'k': INTERVAL '5 days'}}",
    "ubigint": "18446744073709551615::UBIGINT",
    "blob": "'\\xAA\\x00'::BLOB",
    "float": "1.1::FLOAT",
    "nan": "'nan'::DOUBLE",
    "old": "DATE '0001-01-01'",
    "endless": "'infinity'::TIMESTAMP",
    "time": "TIME '23:59:59.999999'",
    "text": "'tab\t \"quoted\" ünï — 🦆'",
    "empty": "''",
}


def test_every_type_comes_back_exactly(kit: Kit) -> None:
    fields = ", ".join(f'{sql} AS "{name}"' for name, sql in EXACT.items())
    query = f"SELECT {fields} UNION ALL SELECT {', '.join(['NULL'] * len(EXACT))}"
    version = written(kit, query)
    table = kit.versions.table(kit.scope, version)
    texts = ", ".join(f'CAST("{n}" AS VARCHAR), typeof("{n}")' for n in EXACT)
    with session() as connection:
        stored = connection.execute(f"SELECT {texts} FROM {table.source}").fetchall()
        direct = connection.execute(f"SELECT {texts} FROM ({query})").fetchall()
    assert stored == direct
    patched = kit.versions.edit(kit.scope, version, Update("empty = ''", {"text": "'x'"}))
    with session() as connection:
        source = kit.versions.table(kit.scope, patched.version.id).source
        after = connection.execute(f"SELECT {texts} FROM {source}").fetchall()
    changed = [(a, b) for a, b in zip(stored[0], after[0], strict=True) if a != b]
    assert [b for _, b in changed] == ["x"]


def test_names_that_reading_parquet_would_hide(kit: Kit) -> None:
    query = (
        'SELECT 7 AS "file_row_number", \'x\' AS filename, i AS "File_Index" FROM range(120) t(i)'
    )
    version = written(kit, query)
    version = edited(kit, version, Update('"File_Index" % 50 = 3', {"filename": "'y'"}))
    rows = kit.version_rows(version)
    assert [row[2] for row in rows] == list(range(120))
    assert [row[2] for row in rows if row[1] == "y"] == [3, 53, 103]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ('SELECT 1 AS "__steward_row"', "Steward's own"),
        ("SELECT union_value(num := 2) AS u", "cannot be kept"),
        ("SELECT CAST('x' || i AS INTEGER) AS a FROM range(2) t(i)", "cannot be converted"),
    ],
)
def test_what_cannot_be_kept_is_refused(kit: Kit, query: str, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        written(kit, query)
    assert kit.stored() == set()


def test_an_empty_table_is_a_table(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(0))
    assert kit.versions.get(kit.scope, version).parts == 0
    assert kit.version_rows(version) == []
    filled = edited(kit, version, InsertRows(({"id": "5", "name": None},)))
    assert kit.version_rows(filled) == [(5, None, None)]
    emptied = edited(kit, filled, Delete("true"))
    assert kit.version_rows(emptied) == []
    assert kit.versions.diff(kit.scope, filled, emptied).removed == 1


def test_scattered_edits_write_a_patch_and_keep_order(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(1000))
    before = kit.stored()
    outcome = kit.versions.edit(
        kit.scope, version, Update("id % 100 = 5", {"name": "upper(name)"}), Delete("id % 250 = 9")
    )
    assert (outcome.counts.updated, outcome.counts.removed) == (10, 4)
    assert len(kit.stored() - before) == 1
    rows = kit.version_rows(outcome.version.id)
    expected = [
        (i, f"NAME {i}" if i % 100 == 5 else f"name {i}", i % 7)
        for i in range(1000)
        if i % 250 != 9
    ]
    assert rows == expected
    again = kit.versions.edit(kit.scope, outcome.version.id, Update("id = 105", {"n": "99"}))
    assert again.version.patched_rows == outcome.version.patched_rows
    assert (105, "NAME 105", 99) in kit.version_rows(again.version.id)


def test_an_edit_that_fills_a_part_rewrites_that_part_alone(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(1000))
    before = kit.stored()
    outcome = kit.versions.edit(
        kit.scope, version, Update("id BETWEEN 100 AND 130", {"name": "'x'"})
    )
    assert outcome.version.patched_rows == 0
    assert len(kit.stored() - before) == 1
    assert outcome.version.parts == 20
    assert [r[0] for r in kit.version_rows(outcome.version.id)] == list(range(1000))


def test_an_update_that_changes_nothing_is_no_new_version(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(100))
    outcome = kit.versions.edit(kit.scope, version, Update("true", {"name": "'name ' || id"}))
    assert outcome.version.id == version
    assert outcome.written_bytes == 0


def test_many_small_inserts_do_not_leave_many_small_parts(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(120))
    for number in range(24):
        version = edited(kit, version, InsertRows(({"id": str(1000 + number), "name": "n"},)))
    found = kit.versions.get(kit.scope, version)
    assert found.parts <= 3 + 6
    assert [r[0] for r in kit.version_rows(version)] == [*range(120), *range(1000, 1024)]
    assert len(set(row_ids(kit, version).values())) == 144


def test_rows_keep_their_identity_through_edits_rewrites_and_compaction(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(300))
    start = row_ids(kit, version)
    version = edited(kit, version, Delete("id % 3 = 0"))
    version = edited(
        kit, version, Insert("SELECT 900 + i AS id, 'late' AS name FROM range(60) t(i)")
    )
    version = edited(kit, version, Update("id < 31", {"name": "'x'"}), Delete("id = 31"))
    version = edited(kit, version, InsertRows(({"id": "990"},)))
    before = row_ids(kit, version)
    assert all(before[i] == start[i] for i in before if i < 300)
    compact = kit.versions.compact(kit.scope, version)
    assert compact.patched_rows == 0
    assert row_ids(kit, compact.id) == before
    assert kit.version_rows(compact.id) == kit.version_rows(version)
    assert max(before.values()) < 2**53


def test_a_rewrite_of_the_same_rows_keeps_identity_and_unchanged_parts(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(500))
    version = edited(kit, version, Delete("id IN (3, 120)"))
    stored = kit.stored()
    source = kit.versions.table(kit.scope, version).source
    query = f"SELECT * REPLACE (CASE WHEN id = 444 THEN 'y' ELSE name END AS name) FROM {source}"
    after = written(kit, query, rows_of=version)
    assert row_ids(kit, after) == row_ids(kit, version)
    # The changed part, and the two that had a patch, with their ids beside.
    assert len(kit.stored() - stored) == 5
    difference = kit.versions.diff(kit.scope, version, after)
    assert (difference.method, difference.changed, difference.changed_cells) == (
        "row",
        1,
        {"name": 1},
    )
    assert written(kit, f"SELECT * FROM {source}", rows_of=after) != after
    same = written(
        kit, f"SELECT * FROM {kit.versions.table(kit.scope, after).source}", rows_of=after
    )
    assert same == after


def test_cells_rows_and_upserts(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(200), layout=Layout(key=("id",)))
    ids = row_ids(kit, version)
    version = edited(
        kit,
        version,
        SetCells(
            (
                CellValue(ids[3], "name", "it's; --"),
                CellValue(ids[3], "n", "42"),
                CellValue(ids[4], "name", "nul \0 in it"),
                CellValue(ids[180], "name", None),
            )
        ),
        InsertRows(({"id": "778", "name": "\0"},)),
        DeleteRows((ids[5], ids[6])),
        Upsert("SELECT 7 AS id, 'seven' AS name UNION ALL SELECT 777, 'new'", ("id",)),
    )
    rows = {row[0]: row for row in kit.version_rows(version)}
    assert rows[3] == (3, "it's; --", 42)
    assert rows[4] == (4, "nul \0 in it", 4)
    assert rows[778] == (778, "\0", None)
    assert rows[180] == (180, None, 180 % 7)
    assert rows[7] == (7, "seven", 0)
    assert rows[777] == (777, "new", None)
    assert len(rows) == 200
    with pytest.raises(NotFound):
        edited(kit, version, DeleteRows((ids[5],)))
    with pytest.raises(Invalid, match="not of its type"):
        edited(kit, version, SetCells((CellValue(ids[9], "n", "many"),)))
    with pytest.raises(Invalid, match="not of its type"):
        edited(kit, version, SetCells((CellValue(ids[9], "n", "1\0"),)))
    with pytest.raises(Invalid, match="no column"):
        edited(kit, version, SetCells((CellValue(ids[9], "nn", "1"),)))
    with pytest.raises(Invalid, match="same row"):
        edited(kit, version, Delete("id = 9"), Update("id = 9", {"n": "1"}))
    with pytest.raises(TooLarge):
        edited(kit, version, DeleteRows(tuple(range(10_001))))


def test_a_declared_key_stays_unique(kit: Kit) -> None:
    layout = Layout(key=("id",))
    with pytest.raises(Invalid, match="cannot be the key"):
        written(kit, "SELECT i // 2 AS id FROM range(10) t(i)", layout=layout)
    version = written(kit, NUMBERS.format(100), layout=layout)
    for edit in (
        InsertRows(({"id": "7"},)),
        InsertRows(({"id": None},)),
        Update("id = 8", {"id": "9"}),
        InsertRows(({"id": "200"}, {"id": "200"})),
    ):
        with pytest.raises(Invalid, match="key of this dataset is id"):
            edited(kit, version, edit)
    swapped = edited(kit, version, Update("id IN (8, 9)", {"id": "17 - id"}))
    assert sorted(row[0] for row in kit.version_rows(swapped)) == list(range(100))
    moved = edited(kit, version, Delete("id = 7"), InsertRows(({"id": "7"},)))
    assert len(kit.version_rows(moved)) == 100


def test_a_declared_order_is_how_rows_are_written_and_prunes_reading(kit: Kit) -> None:
    query = "SELECT (i * 37) % 1000 AS day, i AS id FROM range(1000) t(i)"
    version = written(kit, query, layout=Layout(sort=("day",)))
    assert [row[0] for row in kit.version_rows(version)] == list(range(1000))
    part = kit.versions.table(kit.scope, version, within={"day": (100, 140)})
    assert part.source.count("blobs/") == 1
    with session() as connection:
        counted = connection.execute(
            f"SELECT count(*) FROM {part.source} WHERE day BETWEEN 100 AND 140"
        ).fetchone()
    assert counted == (41,)
    late = edited(kit, version, InsertRows(({"day": "100", "id": "-1"},)))
    found = fetch(kit.versions.table(kit.scope, late, within={"day": (100, 100)}))
    assert (100, -1) in found
    days = [row[0] for row in kit.version_rows(kit.versions.compact(kit.scope, late).id)]
    assert days == sorted(days)
    moved = edited(kit, version, Update("day = 700", {"day": "110"}))
    found = fetch(kit.versions.table(kit.scope, moved, within={"day": (110, 110)}))
    assert len([row for row in found if row[0] == 110]) == 2


def test_pages_read_only_the_parts_they_need(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(1000))
    version = edited(kit, version, Delete("id IN (3, 510)"))
    page = kit.versions.page(kit.scope, version, 500, 20)
    rows = fetch(page)
    assert [row[1] for row in rows] == [i for i in range(501, 522) if i != 510]
    assert page.rows == 20
    assert len({p for p in page.source.split("'") if "/blobs/" in p}) <= 4
    assert fetch(kit.versions.page(kit.scope, version, 998, 10)) == []


def test_wide_rows_make_smaller_parts(
    home_template: Path, tmp_path: Path, clock: MovableClock
) -> None:
    sizes = Sizes(part_rows=5000, part_bytes=100_000)
    with opened(tmp_path, home_template, None, clock, sizes) as kit:
        wide = kit.versions.write(
            kit.scope, "SELECT i, repeat('x', 1000) AS t FROM range(1000) r(i)"
        )
        assert wide.parts >= 10
        narrow = kit.versions.write(kit.scope, "SELECT i FROM range(1000) r(i)")
        assert narrow.parts == 1


def test_a_failed_write_leaves_nothing(kit: Kit) -> None:
    version = written(kit, NUMBERS.format(10))
    stored = kit.stored()
    with pytest.raises(Invalid):
        edited(kit, version, Insert("SELECT 'x' || i AS id FROM range(3) t(i)"))
    assert kit.stored() == stored
    scratch = kit.blobs.root.parent / "scratch"
    assert list(scratch.iterdir()) == []


@settings(max_examples=max(7, settings().max_examples // 8))
@given(seed=st.integers(0, 2**32), data=st.data())
def test_edits_in_any_order_agree_with_a_model(
    tmp_path_factory: pytest.TempPathFactory, home_template: Path, seed: int, data: st.DataObject
) -> None:
    """Row by row, in order, with identities, whatever mixture of patches, rewrites and appends came of it."""
    from datetime import UTC, datetime

    clock = MovableClock(datetime(2026, 1, 1, tzinfo=UTC))
    dice = random.Random(seed)
    sizes = Sizes(part_rows=dice.choice([3, 10, 40]), small_part_rows=dice.choice([0, 4]))
    folder = tmp_path_factory.mktemp("model")
    with opened(folder, home_template, None, clock, sizes) as kit:
        version = written(kit, "SELECT i AS id, 'n' AS name FROM range(60) t(i)")
        model: list[tuple[int, str]] = [(i, "n") for i in range(60)]
        ids = row_ids(kit, version)
        fresh = 1000
        for step in range(data.draw(st.integers(1, 6))):
            low = dice.randrange(60)
            high, stride = low + dice.choice([0, 5, 30]), dice.choice([1, 1, 7])
            touched = f"id BETWEEN {low} AND {high} AND id % {stride} = 0"
            hit = {i for i, _ in model if low <= i <= high and i % stride == 0}
            match dice.choice(["update", "delete", "insert", "compact"]):
                case "update":
                    version = edited(kit, version, Update(touched, {"name": f"'s{step}'"}))
                    model = [(i, f"s{step}" if i in hit else n) for i, n in model]
                case "delete":
                    version = edited(kit, version, Delete(touched))
                    model = [(i, n) for i, n in model if i not in hit]
                case "insert":
                    count = dice.choice([1, 2, 15])
                    query = f"SELECT {fresh} + i AS id, 'new' AS name FROM range({count}) t(i)"
                    version = edited(kit, version, Insert(query))
                    model += [(fresh + i, "new") for i in range(count)]
                    fresh += count
                case _:
                    version = kit.versions.compact(kit.scope, version).id
            assert kit.version_rows(version) == model
            now = row_ids(kit, version)
            assert all(now[i] == ids[i] for i in now if i in ids)
            assert len(set(now.values())) == len(model)
            ids.update(now)


def test_a_version_swept_while_it_waited_is_refused(kit: Kit) -> None:
    from steward.versions import Draft

    version = written(kit, NUMBERS.format(10))
    kit.clock.advance(days=2)
    kit.versions.sweep()
    with pytest.raises(Conflict, match="Make it again"):
        kit.workspace.commit(Draft("Late", datasets={"a": version}))
