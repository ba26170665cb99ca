"""Several tables on one sheet, dates counted from 1904, and nested records as columns."""

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from steward import ingest
from steward.core.errors import Invalid, NotFound
from steward.ingest import Options
from steward.ingest.sheet_tables import find_regions

FIRST = [("region", "sales"), ("north", 10), ("south", 20)]
SECOND = [("person", "age", "size"), ("Ann", 31, 1.7), ("Bob", 42, 1.8)]


def sheet(tmp_path: Path, *blocks: tuple[int, int, list[tuple[Any, ...]]]) -> Path:
    """A workbook whose one sheet has each block at its row and column, counted from 1."""
    book = openpyxl.Workbook()
    for top, left, block in blocks:
        for i, row in enumerate(block):
            for j, cell in enumerate(row):
                book.active.cell(top + i, left + j, cell)
    path = tmp_path / "book.xlsx"
    book.save(path)
    return path


def loaded(path: Path, **options: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    out = path.parent / "out"
    done = ingest.load(path, Options(**options), out)
    found = duckdb.execute(f"SELECT * FROM read_parquet('{out / done.data}')")
    return [column[0] for column in found.description or ()], found.fetchall()


@pytest.mark.parametrize("place", [(6, 1), (1, 4), (6, 5), (2, 5)])
def test_the_tables_of_a_sheet_are_listed_and_one_is_chosen(
    tmp_path: Path, place: tuple[int, int]
) -> None:
    path = sheet(tmp_path, (1, 1, FIRST), (*place, [*SECOND, ("Cid", 53, 1.9)]))
    found = ingest.inspect(path, path.name)
    names = [table.name for table in found.tables]
    assert names[:2] == ["Sheet", "Sheet!A1:B3"]
    assert found.table == "Sheet!A1:B3"
    assert [column.name for column in found.columns] == ["region", "sales"]
    assert "several-tables" in {note.code for note in found.warnings}
    offered = [other.options for other in found.alternatives]
    assert offered == [{"table": names[2]}, {"table": "Sheet"}]
    with pytest.raises(Invalid, match="Sheet!A1:B3") as refusal:
        loaded(path)
    assert refusal.value.specific_code == "which-table"
    assert loaded(path, table="Sheet!A1:B3") == (["region", "sales"], FIRST[1:])
    assert loaded(path, table=names[2]) == (
        ["person", "age", "size"], [*SECOND[1:], ("Cid", 53, 1.9)],
    )  # fmt: skip
    assert len(loaded(path, table="Sheet")[1]) > 2


ONE_TABLE = {
    "a title, a blank row and a footnote": [
        (1, 1, [("Sales",)]), (3, 1, FIRST), (7, 1, [("Source: us",)]),
    ],
    "a gap within the data": [(1, 1, FIRST), (5, 1, [("east", 30), ("west", 40)])],
    "a blank column within it": [(1, 1, FIRST), (1, 4, [("target",), (1,), (2,)])],
    "a total below a gap": [(1, 1, FIRST), (5, 1, [("total", 30)])],
    "parameters above it": [(1, 1, [("from", 2020), ("to", 2024)]), (4, 1, FIRST)],
}  # fmt: skip


@pytest.mark.parametrize("blocks", ONE_TABLE.values(), ids=ONE_TABLE)
def test_gaps_titles_and_notes_make_no_tables(tmp_path: Path, blocks: list[Any]) -> None:
    found = ingest.inspect(sheet(tmp_path, *blocks), "book.xlsx")
    assert [table.name for table in found.tables] == ["Sheet"]
    assert found.table == "Sheet"


def test_any_range_of_a_sheet_can_be_read_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    path = sheet(tmp_path, (2, 3, SECOND))
    assert loaded(path, table="Sheet!$c$2:D3") == (["person", "age"], [("Ann", 31)])
    assert loaded(path, table="Sheet!B2:D3")[1] == [(None, "Ann", 31)]
    with pytest.raises(NotFound, match="as in Sheet!A3:D20"):
        loaded(path, table="Sheet!A3")


def test_a_title_stays_with_the_table_below_it(tmp_path: Path) -> None:
    path = sheet(tmp_path, (1, 1, FIRST), (6, 1, [("People",)]), (8, 1, SECOND))
    found = ingest.inspect(path, path.name, Options(table="Sheet!A6:C10"))
    assert found.table in {table.name for table in found.tables}
    assert found.preamble == ("People",)


def test_dates_counted_from_1904_are_the_days_they_say(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    day = datetime.date(2024, 2, 29)
    for row in [("day", "n"), (day, 1), (day + datetime.timedelta(1), 2)]:
        book.active.append(row)
    book.save(tmp_path / "mac.xlsx")
    assert loaded(tmp_path / "mac.xlsx")[1][0] == (day, 1)


NESTED = [
    {"id": 1, "a": {"b": 1, "c": {"d": "x"}}, "a.b": 2, "A.b": 3, "e": {}, "l": [{"m": 1}]},
    {"id": 2, "a": {"b": 5, "c": None}, "a.b": 6, "A.b": 7, "e": {"f": 8}, "l": []},
    {"id": 3, "a": 9},
]


def nested(tmp_path: Path, records: list[Any]) -> Path:
    path = tmp_path / "nested.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def unflat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The nested record that a flat one was made from."""
    record: dict[str, Any] = {}
    for path, value in row.items():
        if value is None:
            continue
        hidden = path.replace("\\\\", "\0").replace("\\.", "\1")
        *above, last = [part.replace("\1", ".").replace("\0", "\\") for part in hidden.split(".")]
        inner = record
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return record


def test_nested_records_become_columns_and_can_be_put_back(tmp_path: Path) -> None:
    path = nested(tmp_path, [{"id": 1, "x": {"a.b": 1, "c": {"d": "y", "\\": 2}}}, {"id": 2}])
    found = ingest.inspect(path, path.name)
    assert [column.name for column in found.columns] == ["id", "x"]
    assert next(iter(found.alternatives)).options == {"flatten": True}
    names, rows = loaded(path, flatten=True)
    assert names == ["id", "x.a\\.b", "x.c.d", "x.c.\\\\"]
    put_back = [unflat(dict(zip(names, row, strict=True))) for row in rows]
    assert put_back == json.loads(path.read_text())
    again = ingest.inspect(path, path.name, Options(flatten=True))
    assert next(iter(again.alternatives)).options == {"flatten": False}


def test_names_that_collide_when_records_are_flattened_stay_apart(tmp_path: Path) -> None:
    names, rows = loaded(nested(tmp_path, NESTED), flatten=True)
    assert len(names) == len({name.lower() for name in names})
    first, second, third = (dict(zip(names, row, strict=True)) for row in rows)
    assert (first["a.b"], first["a\\.b"], first["a.c.d"]) == (1, 2, "x")
    assert (second["a.b"], second["e.f"]) == (5, 8)
    assert third["a"] == 9
    assert json.loads(first["e"]) == {}


def test_flat_records_are_not_offered_to_be_flattened(tmp_path: Path) -> None:
    path = nested(tmp_path, [{"a": 1, "l": [1, 2]}, {"a": 2, "l": []}])
    assert ingest.inspect(path, path.name).alternatives == ()


def test_a_sheet_of_tables_within_tables_ends() -> None:
    """Each level splits off one column and one row; the rest lies within."""
    size = 1_000
    rows: list[list[str | None]] = [[None] * size for _ in range(size)]
    for end in range(size, 2, -2):
        for place in range(end):
            rows[place][end - 1] = "x"
        for place in range(end - 2):
            rows[end - 1][place] = "x"
    assert find_regions(rows, 1) == ()
