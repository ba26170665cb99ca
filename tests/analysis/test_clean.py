"""Cleaning operations as such: what they change, what they leave, and that they lose nothing on the way."""

import json
from typing import Any

import polars as pl
import pytest

from steward.analysis.clean import catalogue, clean, suggest
from steward.analysis.clean import lookups as lookups_module
from steward.core.errors import Invalid, NotFound, TooLarge
from steward.tables.changes import Change, changed_cells, leftovers
from tests.analysis.cleaning import run
from tests.kits.shelf import Shelf


def test_every_operation_is_documented_and_has_a_schema() -> None:
    names = [name for name, _ in catalogue()]
    assert len(names) == 19
    for _, operation in catalogue():
        assert operation.title
        assert len(operation.description) > 20
        schema = operation.schema()
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        json.dumps(schema)


def test_unknown_operations_and_wrong_arguments_are_refused(shelf: Shelf) -> None:
    table = shelf.put("t", {"c": ["x"], "n": [1]})
    with pytest.raises(NotFound, match="'polish'"):
        clean(shelf.connection, table, "polish", {})
    with pytest.raises(Invalid, match="/style"):
        clean(shelf.connection, table, "case", {"style": "loud"})
    with pytest.raises(Invalid, match="/colums"):
        clean(shelf.connection, table, "trim", {"colums": ["c"]})
    with pytest.raises(Invalid, match="no column 'd'"):
        clean(shelf.connection, table, "trim", {"columns": ["d"]})
    with pytest.raises(Invalid, match="holds BIGINT, not text"):
        clean(shelf.connection, table, "trim", {"columns": ["n"]})


def test_missing_values(shelf: Shelf) -> None:
    assert run(shelf, "null_markers", ["N/A", " - ", "x", "", "None"])[0] == [
        None,
        None,
        "x",
        None,
        None,
    ]
    frame = pl.DataFrame(
        {
            "n": [None, 1, None, 3, 3, None],
            "t": [3, 1, 2, 5, 4, 6],
            "s": ["b", None, "a", "a", "b", None],
        }
    )
    table = shelf.put("t", frame)

    def filled(column: str, **arguments: Any) -> list[Any]:
        change = clean(shelf.connection, table, "fill_missing", {"columns": [column], **arguments})
        return shelf.column(change.sql, column)

    assert filled("n", value="7") == [7, 1, 7, 3, 3, 7]
    assert filled("n", strategy="median") == [3, 1, 3, 3, 3, 3]
    assert filled("n", strategy="previous") == [None, 1, 1, 3, 3, 3]
    assert filled("n", strategy="previous", order_by="t") == [1, 1, 1, 3, 3, 3]
    assert filled("s", strategy="most common") == ["b", "a", "a", "a", "b", "a"]
    with pytest.raises(Invalid, match="does not fit column 'n'"):
        filled("n", value="many")
    with pytest.raises(Invalid, match="needs numbers"):
        filled("s", strategy="mean")


def test_duplicate_rows_go_and_are_listed(shelf: Shelf) -> None:
    frame = pl.DataFrame({"a": [1, 2, 1, None, None], "b": ["x", "y", "x", None, None]})
    change = clean(shelf.connection, shelf.put("t", frame), "drop_duplicates", {})
    assert shelf.rows(change.sql) == frame.unique(keep="first", maintain_order=True).rows()
    assert change.counts["removed_rows"] == 2
    removed = changed_cells(shelf.connection, change)
    assert [(cell.row, cell.column) for cell in removed] == [(3, None), (5, None)]
    assert json.loads(removed[0].old or "") == {"a": 1, "b": "x"}
    by_one = clean(
        shelf.connection, change.inputs[0], "drop_duplicates", {"columns": ["b"], "keep": "last"}
    )
    assert shelf.column(by_one.sql, "a") == [2, 1, None]


def test_columns_renamed_dropped_cast_split_and_merged(shelf: Shelf) -> None:
    table = shelf.put("t", {"full": ["Ann B C", "Cy", None], "n": ["1", "2", "x"], "z": [1, 2, 3]})

    def done(name: str, **arguments: Any) -> Change:
        return clean(shelf.connection, table, name, arguments)

    renamed = done("rename_columns", names={"z": "Z2"})
    assert [column.name for column in renamed.columns] == ["full", "n", "Z2"]
    assert renamed.lineage[2].inputs == (("t", "z"),)
    with pytest.raises(Invalid, match="two columns called 'FULL'"):
        done("rename_columns", names={"z": "FULL"})
    assert [column.name for column in done("drop_columns", columns=["n"]).columns] == ["full", "z"]
    with pytest.raises(Invalid, match="1 values do not fit"):
        done("cast_columns", types={"n": "INTEGER"})
    emptied = done("cast_columns", types={"n": "INTEGER"}, on_failure="empty")
    assert shelf.column(emptied.sql, "n") == [1, 2, None]
    assert [cell.old for cell in leftovers(shelf.connection, emptied)] == ["x"]
    split = done("split_column", column="full", separator=" ", into=["first", "rest"])
    assert [row[:2] for row in shelf.rows(split.sql)] == [
        ("Ann", "B C"),
        ("Cy", None),
        (None, None),
    ]
    assert (split.counts["fewer"], split.counts["more"]) == (1, 1)
    merged = done("merge_columns", columns=["full", "z"], into="both", separator="/", keep=True)
    assert shelf.column(merged.sql, "both") == ["Ann B C/1", "Cy/2", "3"]
    assert merged.lineage[1].inputs == (("t", "full"), ("t", "z"))


def test_values_replaced(shelf: Shelf) -> None:
    mapping = {"it's": 'say "so"', "b": None}
    assert run(shelf, "replace_values", ["it's", "b", "B"], column="c", replacements=mapping)[
        0
    ] == [
        'say "so"',
        None,
        "B",
    ]
    folded = run(
        shelf,
        "replace_values",
        ["b", "B"],
        column="c",
        replacements={"b": "x"},
        match="ignore case",
    )
    assert folded[0] == ["x", "x"]


def test_long_mappings_keep_the_order_of_rows(shelf: Shelf) -> None:
    values = [f"v{i * 7919 % 5000}" for i in range(20_000)]
    mapping = {f"v{i}": f"w{i}" for i in range(0, 5000, 2)}
    found, change = run(shelf, "replace_values", list(values), column="c", replacements=mapping)
    assert found == [mapping.get(value, value) for value in values]
    assert change.counts["changed_cells"] == sum(value in mapping for value in values)
    cells = changed_cells(shelf.connection, change, limit=1000)
    assert [cell.row for cell in cells] == sorted(cell.row for cell in cells)


def test_too_many_different_values_are_refused(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups_module, "MAX_VALUES", 50)
    with pytest.raises(TooLarge, match="more than 50 different values"):
        run(shelf, "countries", [f"nowhere {i}" for i in range(60)], columns=["c"])


HOSTILE_NAME = 'c"; DROP TABLE x; --'


HOSTILE = [
    "'; DROP TABLE x; --",
    '"',
    "\\",
    "%s",
    "$1",
    "{}",
    "a\x00b",
    "💣",
    "' OR '1'='1",
    "ß" * 300,
]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("trim", {}),
        ("collapse_spaces", {}),
        ("case", {"style": "title"}),
        ("unicode_repair", {}),
        ("parse_dates", {"columns": [HOSTILE_NAME]}),
        ("parse_numbers", {"columns": [HOSTILE_NAME]}),
        ("phones", {"columns": [HOSTILE_NAME]}),
        ("emails", {"columns": [HOSTILE_NAME]}),
        ("countries", {"columns": [HOSTILE_NAME]}),
        ("map_categories", {"column": HOSTILE_NAME}),
        ("null_markers", {}),
        ("fill_missing", {"columns": [HOSTILE_NAME], "value": "'); DROP"}),
        ("drop_duplicates", {}),
        ("split_column", {"column": HOSTILE_NAME, "separator": "'", "into": ["a'", 'b"']}),
        (
            "merge_columns",
            {"columns": [HOSTILE_NAME, "steward_row"], "into": "'", "separator": "'"},
        ),
        ("replace_values", {"column": HOSTILE_NAME, "replacements": {"'; DROP": "'"}}),
    ],
)
def test_hostile_names_and_values_change_nothing_else(
    shelf: Shelf, name: str, arguments: dict[str, Any]
) -> None:
    frame = pl.DataFrame(
        {HOSTILE_NAME: [*HOSTILE, None], "steward_row": range(11), "STEWARD_0_0": range(11)}
    )
    change = clean(shelf.connection, shelf.put("t", frame), name, arguments)
    rows = shelf.rows(change.sql)
    assert len(rows) == 11
    if change.cells_sql is not None:
        changed_cells(shelf.connection, change)
    if "steward_row" in [column.name for column in change.columns]:
        assert shelf.column(change.sql, "steward_row") == list(range(11))


@pytest.mark.parametrize("name", ["trim", "unicode_repair", "drop_duplicates", "null_markers"])
def test_empty_tables(shelf: Shelf, name: str) -> None:
    table = shelf.put("t", pl.DataFrame({"c": pl.Series([], dtype=pl.String)}))
    change = clean(shelf.connection, table, name, {})
    assert shelf.rows(change.sql) == []
    assert change.counts["changed_cells"] == 0


def test_all_changes_are_plain_data(shelf: Shelf) -> None:
    _, change = run(shelf, "parse_dates", ["5.3.2024", "x"], columns=["c"])
    json.dumps(change.as_dict())
    assert change.summary == (
        "Reads dates: 1 cells change: 1 in 'c' (1 could not be converted and stay as they are)."
    )
    assert change.lineage[0].transformation == "written as ISO date"


def test_suggestions_have_evidence_and_counts(shelf: Shelf) -> None:
    frame = pl.DataFrame(
        {
            "id": [f"{i:04}" for i in range(40)],
            "mail": [f"User{i}@X.de" for i in range(39)] + ["n/a"],
            "phone": ["030 901820"] * 40,
            "country": ["Germany", "DE", "Deutschland", "FR"] * 10,
            "joined": ["25.04.2024"] * 40,
            "amount": ["1.234,50"] * 40,
            "status": ["open", "Open", "closed", "closed "] * 10,
            "name": ["MÃ¼ller", "Anna"] * 20,
            "free": [f"text {i}" for i in range(40)],
        }
    )
    table = shelf.put("t", frame)
    made = {each.operation: each for each in suggest(shelf.connection, table)}
    assert set(made) == {
        "unicode_repair",
        "collapse_spaces",
        "null_markers",
        "emails",
        "phones",
        "countries",
        "parse_dates",
        "parse_numbers",
        "map_categories",
    }
    assert made["unicode_repair"].columns == ("name",)
    assert made["unicode_repair"].changed == 20
    assert made["countries"].changed == 20
    assert made["phones"].arguments["country_column"] == "country"
    assert made["emails"].changed == 39
    assert made["parse_dates"].columns == ("joined",)
    for each in made.values():
        change = clean(shelf.connection, table, each.operation, each.arguments)
        assert change.counts["changed_cells"] == each.changed
    duplicated = shelf.put("d", {"a": [1, 1], "b": ["x", "x"]})
    assert [s.operation for s in suggest(shelf.connection, duplicated)] == ["drop_duplicates"]


def test_columns_called_like_the_aliases_within_the_sql(shelf: Shelf) -> None:
    frame = pl.DataFrame({"s": [{"c": 1}], "c": [" x "], "m0": ["y"], "t": [{"c": "no"}]})
    table = shelf.put("t", frame)
    assert shelf.column(clean(shelf.connection, table, "trim", {}).sql, "c") == ["x"]
    dates = clean(shelf.connection, table, "parse_dates", {"columns": ["c"]})
    assert shelf.rows(dates.sql) == [({"c": 1}, " x ", "y", {"c": "no"})]
    mapping = {f"v{i}": "w" for i in range(100)} | {" x ": "found"}
    replaced = clean(
        shelf.connection, table, "replace_values", {"column": "c", "replacements": mapping}
    )
    assert shelf.column(replaced.sql, "c") == ["found"]
    swapped = clean(shelf.connection, table, "rename_columns", {"names": {"c": "m0", "m0": "c"}})
    assert shelf.rows(swapped.sql) == [({"c": 1}, " x ", "y", {"c": "no"})]
