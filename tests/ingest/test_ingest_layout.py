"""Where names and data stand, what columns are by the evidence of the whole file, and what else is offered."""

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from steward import ingest
from steward.core.errors import Invalid
from steward.ingest import ColumnOption, Inspection, Options
from steward.ingest.layout import kind_of
from steward.tables.formula_marks import needs_mark, without_mark
from steward.workbench.dataset_loads import require_few_rejects


def looked(tmp_path: Path, text: str, **options: Any) -> Inspection:
    path = tmp_path / "file.csv"
    path.write_text(text, encoding="utf-8")
    return ingest.inspect(path, path.name, Options(**options))


def rows(tmp_path: Path, text: str, **options: Any) -> list[tuple[Any, ...]]:
    path, out = tmp_path / "file.csv", tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    loaded = ingest.load(path, Options(**options), out)
    return duckdb.execute(f"SELECT * FROM read_parquet('{out / loaded.data}')").fetchall()


def taken(found: Inspection, says: str) -> dict[str, Any]:
    """The options of the alternative whose text begins like this."""
    return next(other.options for other in found.alternatives if other.says.startswith(says))


HEADERS = [
    pytest.param(
        "Sales of 2024,,\n,,\nname,weight,height\nA,1.5,2\nB,2.5,3\n", 3, 1, ["name", "weight", "height"],
        id="title and blank row",
    ),
    pytest.param(
        "name,weight,height\n,kg,cm\nA,1.5,2\nB,2.5,3\n", 1, 2, ["name", "weight (kg)", "height (cm)"],
        id="units in the second row",
    ),
    pytest.param(
        "t,speed,share\n[s],[m/s],%\n0,1.5,2\n1,2.5,3\n2,2.5,3\n", 1, 2, ["t (s)", "speed (m/s)", "share (%)"],
        id="units in brackets, numbers only",
    ),
    pytest.param(
        "name,sold,kept\nName,verkauft,behalten\nA,1.5,2\nB,2.5,3\n", 1, 2,
        ["name Name", "sold verkauft", "kept behalten"], id="a second row of names is no row of units",
    ),
    pytest.param(
        "# made by a tool\n#taxon\tsite a\tsite b\nA\t1\t20\nB\t3\t40\n", 2, 1, ["#taxon", "site a", "site b"],
        id="names in the last comment",
    ),
    pytest.param(
        "# made by a tool\n# left, right, both\nname,weight,height\nA,1.5,2\nB,2.5,3\n", 3, 1,
        ["name", "weight", "height"], id="comments above names",
    ),
    pytest.param(
        "7031,AIRPORT,-9.0,64.5\nday,time,sun,rain,wind,gusts,snow,ice,fog\n"
        "2024-01-01,01:00,1,2,3,4,5,6,7\n2024-01-01,02:00,1,2,3,4,5,6,7\n2024-01-01,03:00,1,2,3,4,5,6,7\n", 2, 1,
        ["day", "time", "sun", "rain", "wind", "gusts", "snow", "ice", "fog"], id="the place of a station",
    ),
    pytest.param(
        '"name","weight" ,"owner\'s height" \n"A",1.5,2\n"B" ,2.5,3\n"\'October\'",2.5,3\n', 1, 1,
        ["name", "weight", "owner's height"], id="blanks behind quotes",
    ),
    pytest.param(
        ",2023,,2024,\nregion,Q1,Q2,Q1,Q2\nnorth,1.5,2,3,4.5\nsouth,5,6,7,8\n", 1, 2,
        ["region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"], id="groups above names",
    ),
    pytest.param(
        "Country,1960,1961,1962\nAruba,1.5,,3\nBali,4,5,6\n", 1, 1,
        ["Country", "1960", "1961", "1962"], id="years as names",
    ),
    pytest.param("5,6,7\n8,9,10\n11,12,14\n", None, 1, ["column_1", "column_2", "column_3"], id="no names"),
    pytest.param(
        "name,value\nA,\nB,3\nC,4\n", 1, 1, ["name", "value"], id="the first record has gaps",
    ),
    pytest.param(
        "name,value\nA,NA\nB,3\nC,4\n", 1, 1, ["name", "value"], id="the first value is a null word",
    ),
    pytest.param("id,year,value,\n1,2001,5\n2,2002,6\n3,2003,7\n", 1, 1, ["id", "year", "value"],
                 id="a delimiter behind the last name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "row", "count", "names"), HEADERS)
def test_names_are_found(
    text: str, row: int | None, count: int, names: list[str], tmp_path: Path
) -> None:
    found = looked(tmp_path, text)
    assert found.header is not None
    assert (found.header.row, found.header.rows) == (row, count)
    assert [column.name for column in found.columns] == names
    assert found.would_reject == 0


def test_another_reading_of_the_names_is_offered_and_can_be_taken(tmp_path: Path) -> None:
    text = "name,weight\n,kg\nA,1.5\nB,2.5\n"
    found = looked(tmp_path, text)
    options = taken(found, "Names in line 1")
    again = looked(tmp_path, text, **options)
    assert [column.name for column in again.columns] == ["name", "weight"]
    assert again.columns[1].type == "VARCHAR"
    years = looked(tmp_path, "Country,1960,1961,1962\nAruba,1.5,2,3\nBali,4,5,6\n")
    assert taken(years, "No row has names") == {"header_row": 0}


def test_units_can_be_left_out_of_the_names_or_kept_as_data(tmp_path: Path) -> None:
    text = "name,weight\n,kg\nA,1.5\nB,2.5\n"
    found = looked(tmp_path, text)
    assert found.header is not None
    assert "units" in found.header.reason
    bare = looked(tmp_path, text, **taken(found, "Leave the units out"))
    assert [column.name for column in bare.columns] == ["name", "weight"]
    assert bare.records_seen == 2
    plain = rows(tmp_path, text, **taken(found, "Leave the units out"))
    assert plain == [("A", Decimal("1.5")), ("B", Decimal("2.5"))]
    assert rows(tmp_path, text, **taken(found, "Names in line 1"))[0] == (None, "kg")


def test_a_null_word_is_read_as_empty_where_the_rest_is_of_one_type(tmp_path: Path) -> None:
    text = "n,t\n1,a\nNA,b\n3,NA\n"
    found = looked(tmp_path, text)
    number, words = found.columns
    assert (number.type, number.null_markers) == ("BIGINT", ("NA",))
    assert '"NA" is read as empty' in number.reason
    assert words.null_markers == ()
    assert rows(tmp_path, text) == [(1, "a"), (None, "b"), (3, "NA")]
    everywhere = taken(found, 'Read "NA" as empty in columns of text')
    assert rows(tmp_path, text, null_markers=tuple(everywhere["null_markers"]))[2] == (3, None)
    kept = taken(found, "Keep 'n' as text")["columns"]["n"]
    columns = {"n": ColumnOption(type=kept["type"], null_markers=tuple(kept["null_markers"]))}
    assert rows(tmp_path, text, columns=columns)[1][0] == "NA"


def test_words_that_are_not_known_are_offered_only(tmp_path: Path) -> None:
    found = looked(tmp_path, "time,n\n5,1\nDNF,2\nDNF,3\n9,4\n8,5\n7,6\n")
    assert found.columns[0].type == "VARCHAR"
    assert taken(found, 'Treat "DNF" as empty') == {"columns": {"time": {"null_markers": ["DNF"]}}}


def test_the_rest_of_the_file_settles_dates_and_numbers(tmp_path: Path) -> None:
    text = "day;amount;whole\n03.01.2024;1.234,50;1.234\n04.01.2024;5,00;2.000\n"
    found = looked(tmp_path, text)
    assert [column.type for column in found.columns] == ["DATE", "DECIMAL(18,2)", "BIGINT"]
    assert "decimal commas" in found.columns[0].reason
    first = rows(tmp_path, text)[0]
    assert first == (datetime.date(2024, 1, 3), Decimal("1234.50"), 1234)
    assert taken(found, "Read 'day' as month")["columns"]["day"]["format"] == "%m.%d.%Y"
    assert taken(found, "Read 'whole' with decimal mark '.'")
    plain = looked(tmp_path, "day,n\n1/2/2020,1.5\n1/3/2020,2.5\n1/4/2020,3.5\n")
    assert plain.columns[0].format == "%d/%m/%Y", "then every date is the first of a month"
    slashes = looked(tmp_path, "day,n\n1/2/2020,1.5\n4/3/2020,2.5\n")
    assert slashes.columns[0].format == "%m/%d/%Y"


WRITTEN = [
    ("1,234.50", Decimal("1234.50")), ("(12.00)", Decimal("-12.00")), ("€ 5", Decimal("5.00")),
    ("12 %", Decimal("12.00")), ("USD 3", Decimal("3.00")), ("7-", Decimal("-7.00")),
]  # fmt: skip


def test_a_chosen_type_reads_values_as_people_write_them(tmp_path: Path) -> None:
    text = "price\n" + "".join(f'"{value}"\n' for value, _ in WRITTEN)
    columns = {"price": ColumnOption(type="DECIMAL(18,2)")}
    assert [row[0] for row in rows(tmp_path, text, columns=columns)] == [n for _, n in WRITTEN]
    german = rows(tmp_path, 'price\n"1.234,50"\n"5,25"\n', columns=columns)
    assert german == [(Decimal("1234.50"),), (Decimal("5.25"),)]


def test_values_that_do_not_fit_a_chosen_type_are_counted_before_loading(tmp_path: Path) -> None:
    found = looked(tmp_path, "n\n1\nx\n3\ny\n", columns={"n": ColumnOption(type="BIGINT")})
    assert (found.columns[0].misfits, found.would_reject) == (2, 2)


def test_a_load_that_leaves_out_many_records_asks_first(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * 50 + "1,2\n" * 2, encoding="utf-8")
    loaded = ingest.load(path, Options(), tmp_path / "out")
    with pytest.raises(Invalid, match=r"2 of 52 records .* fill missing fields") as refusal:
        require_few_rejects(loaded, Options())
    assert refusal.value.specific_code == "many-rejects"
    require_few_rejects(loaded, Options(rejects_allowed=1))
    padded = ingest.load(path, Options(ragged="pad"), tmp_path / "padded")
    assert padded.rejected == 0


@pytest.mark.parametrize("sign", ["%", "#", "~", "::", "||", "§"])
def test_any_sign_may_delimit(sign: str, tmp_path: Path) -> None:
    lines = [("id", "name", "n"), *((str(i), f"name {i}", f"{i}.5") for i in range(1, 9))]
    text = "".join(sign.join(line) + "\n" for line in lines)
    found = looked(tmp_path, text)
    assert found.dialect is not None
    assert found.dialect.delimiter == sign
    assert [column.name for column in found.columns] == ["id", "name", "n"]


@pytest.mark.parametrize(
    "text", ["=1+1", "'=1", "''=1", "-12.5", "'-12.5", "'quoted", "+x", "@a", "'"]
)
def test_marks_of_formulas_come_off_again(text: str, tmp_path: Path) -> None:
    safe = f"'{text}" if needs_mark(text) else text
    assert without_mark(safe) == text
    assert rows(tmp_path, f"id,t\n1,word\n2,{safe}\n")[1][1] == text
    assert rows(tmp_path, f"id,t\n1,word\n2,{safe}\n", formula_marks="keep")[1][1] == safe


def test_mixed_scalars_of_json_are_text_without_quotes_and_floats_stay_floats(
    tmp_path: Path,
) -> None:
    path, out = tmp_path / "file.json", tmp_path / "out"
    path.write_text(
        '[{"v": "a", "f": 1.5}, {"v": 2, "f": 2.0}, {"v": true, "f": 3}]', encoding="utf-8"
    )
    loaded = ingest.load(path, None, out)
    assert [column.type for column in loaded.columns] == ["VARCHAR", "DOUBLE"]
    found = duckdb.execute(f"SELECT v FROM read_parquet('{out / loaded.data}')").fetchall()
    assert found == [("a",), ("2",), ("true",)]


def test_infinite_values_are_numbers_and_can_be_kept_as_text(tmp_path: Path) -> None:
    text = "days,n\n1.5,1\ninf,2\n-Infinity,3\n"
    found = looked(tmp_path, text)
    assert found.columns[0].type == "DOUBLE"
    assert "2 of 3 values are infinite" in found.columns[0].reason
    assert [row[0] for row in rows(tmp_path, text)] == [1.5, math.inf, -math.inf]
    kept = taken(found, "Keep 'days' as text")["columns"]["days"]
    assert rows(tmp_path, text, columns={"days": ColumnOption(**kept)})[1] == ("inf", 2)
    empty = taken(found, "Treat infinite values as empty")["columns"]["days"]["null_markers"]
    columns = {"days": ColumnOption(null_markers=tuple(empty))}
    assert [row[0] for row in rows(tmp_path, text, columns=columns)] == [Decimal("1.5"), None, None]
    names = looked(tmp_path, "name,n\nInf,1\nBob,2\n")
    assert names.columns[0].type == "VARCHAR"


def test_records_that_lack_only_what_others_leave_empty_are_filled(tmp_path: Path) -> None:
    full = "id,name,note\n" + "1,a,\n" * 5 + "2,b,x\n"
    assert rows(tmp_path, full + "3,c\n")[-1] == (3, "c", None)
    assert "padded" in {note.code for note in looked(tmp_path, full + "3,c\n").warnings}
    assert looked(tmp_path, full + "3\n").would_reject == 1, "its name is missing too"
    assert looked(tmp_path, full + "3,c\n", ragged="reject").would_reject == 1


def test_choices_below_the_questions_of_a_survey_are_names(tmp_path: Path) -> None:
    text = (
        "Who are you?,Which do you like?,,,Why?\n"
        "Open answer,Tea,Milk,Beer,Open answer\n"
        "Ann,Tea,,Beer,a\nBob,,Milk,,b\nCid,Tea,Milk,,\n"
    )
    found = looked(tmp_path, text)
    assert [column.name for column in found.columns] == [
        "Who are you? Open answer", "Which do you like? Tea", "Which do you like? Milk",
        "Which do you like? Beer", "Why? Open answer",
    ]  # fmt: skip
    assert len(rows(tmp_path, text, **taken(found, "Names in line 1"))) == 4


@pytest.mark.parametrize("start", ["1", "-", "($"])
def test_a_cell_of_blanks_costs_no_time(start: str) -> None:
    """At this length it took hours."""
    assert kind_of(f"{start}{' ' * 200_000}x") == "text"
    assert kind_of(f"{start.rstrip('1')}{' ' * 200_000}1 %") == "number"
