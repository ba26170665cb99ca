"""Types with their evidence, corrections before loading, and corrections after it."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from steward import ingest
from steward.core.errors import Invalid, NotFound
from steward.ingest import ColumnOption, Inspection, Options, retype
from steward.ingest.retype import retype_sql
from steward.tables import changes
from steward.tables.table import Table, parquet_table


def inspected(tmp_path: Path, text: str, options: Options | None = None) -> Inspection:
    path = tmp_path / "file.csv"
    path.write_text(text)
    return ingest.inspect(path, "file.csv", options)


def loaded_table(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, text: str, options: Options | None = None
) -> Table:
    path = tmp_path / "file.csv"
    path.write_text(text)
    loaded = ingest.load(path, options, tmp_path / "out")
    return parquet_table(connection, "file", [tmp_path / "out" / loaded.data])


def test_evidence_of_a_date_format(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, "id,d\n1,01/02/2024\n2,03/04/2024\n3,25/12/2024\n")
    column = inspection.columns[1]
    assert (column.type, column.format) == ("DATE", "%d/%m/%Y")
    assert column.candidates == {"DATE %d/%m/%Y": 3, "DATE %m/%d/%Y": 2}
    assert [(s.line, s.value) for s in column.samples] == [(4, "25/12/2024")]
    assert "not %m/%d/%Y" in column.samples[0].says


def test_evidence_of_text_that_is_nearly_numbers(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, "id,v\n1,5\n2,six\n3,7\n4,8\n")
    column = inspection.columns[1]
    assert column.type == "VARCHAR"
    assert column.reason == "1 of 4 values are not numbers."
    assert [(s.line, s.value) for s in column.samples] == [(3, "six")]


def test_evidence_of_marks(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, "id;v\n1;1.234,50\n2;7,25\n")
    column = inspection.columns[1]
    assert (column.type, column.decimal_mark, column.thousands) == ("DECIMAL(18,2)", ",", ".")
    assert (column.values, column.nulls, column.records) == (2, 0, 2)


def test_an_inspection_says_how_the_file_is_written(tmp_path: Path) -> None:
    inspection = inspected(tmp_path, "Made on Monday\r\n\r\nid;t\r\n1;a\r\n")
    assert inspection.format == "delimited"
    assert inspection.dialect is not None
    assert (inspection.dialect.delimiter, inspection.dialect.line_end) == (";", "\r\n")
    assert inspection.header is not None
    assert inspection.header.row == 3
    assert inspection.preamble == ("Made on Monday",)
    assert inspection.rows == (("1", "a"),)
    assert inspection.as_dict()["columns"][0]["name"] == "id"


@pytest.mark.parametrize(
    "options",
    [
        Options(columns={"v": ColumnOption("VARCHAR(5); DROP TABLE x")}),
        Options(columns={"v": ColumnOption("HUGEINT")}),
        Options(columns={"v": ColumnOption("DECIMAL(50,2)")}),
        Options(columns={"v": ColumnOption("DATE", "%d/%m/%Y %H:%M")}),
        Options(columns={"v": ColumnOption("DATE", "%Q")}),
        Options(columns={"v": ColumnOption("BIGINT", "%Y")}),
        Options(delimiter=",\n"),
        Options(quote="''"),
        Options(decimal_mark="1"),
        Options(tolerance=1.0),
        Options(header_row=-1),
        Options(format="word"),
        Options(encoding="rot13"),
    ],
)
def test_corrections_that_mean_nothing_are_refused(options: Options, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        inspected(tmp_path, "id,v\n1,2\n", options)


def test_null_markers_can_be_declared(tmp_path: Path) -> None:
    text = "id,v\n1,5\n2,empty\n3,7\n"
    before = inspected(tmp_path, text)
    assert before.columns[1].type == "VARCHAR"
    after = inspected(tmp_path, text, Options(null_markers=("empty",)))
    assert (after.columns[1].type, after.columns[1].nulls) == ("BIGINT", 1)


RETYPED: list[tuple[list[str], str, dict[str, Any], list[Any]]] = [
    (["007", "12"], "BIGINT", {}, [7, 12]),
    (["01/02/2024", "03/04/2024"], "VARCHAR", {}, ["01/02/2024", "03/04/2024"]),
    (
        ["1,234", "5,5"],
        "DECIMAL(10,3)",
        {"decimal_mark": ","},
        [Decimal("1.234"), Decimal("5.500")],
    ),
    (["yes", "no"], "BOOLEAN", {}, [True, False]),
    (["5", "NA"], "INTEGER", {"null_markers": ("NA",)}, [5, None]),
]


@pytest.mark.parametrize(("texts", "kind", "how", "values"), RETYPED)
def test_a_type_is_corrected_after_loading(
    connection: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    texts: list[str],
    kind: str,
    how: dict[str, Any],
    values: list[Any],
) -> None:
    text = "id;v\n" + "".join(f"r{i};{value}\n" for i, value in enumerate(texts))
    options = Options(columns={"v": ColumnOption("VARCHAR")})
    table = loaded_table(connection, tmp_path, text, options)
    sql, failing = retype_sql(table, "v", kind, **how)
    assert connection.execute(failing).fetchall() == [(0,)]
    assert [row[1] for row in connection.execute(sql).fetchall()] == values
    change = retype(connection, table, "v", kind, **how)
    assert change.sql == sql
    assert [column.type for column in change.columns] == ["VARCHAR", kind]


def test_values_that_do_not_fit_are_counted_and_never_dropped_unasked(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    table = loaded_table(connection, tmp_path, "id,d\n1,2024-01-02\n2,soon\n3,2024-02-30\n4,\n")
    sql, failing = retype_sql(table, "d", "DATE")
    assert connection.execute(failing).fetchall() == [(2,)]
    with pytest.raises(duckdb.Error, match="does not read as DATE"):
        connection.execute(sql).fetchall()
    with pytest.raises(Invalid, match="2 values"):
        retype(connection, table, "d", "DATE")
    change = retype(connection, table, "d", "DATE", misfits="null")
    assert [str(row[1]) for row in connection.execute(change.sql).fetchall()] == [
        "2024-01-02", "None", "None", "None",
    ]  # fmt: skip
    lost = changes.changed_cells(connection, change)
    assert [(cell.row, cell.old) for cell in lost] == [(2, "soon"), (3, "2024-02-30")]
    assert change.counts == {"values_that_do_not_fit": 2}


def test_a_typed_column_becomes_another_type_only_without_loss(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    table = loaded_table(
        connection, tmp_path, "id,at,v\n1,2024-01-02 03:04:05,1.25\n2,2024-01-03 00:00:00,2.00\n"
    )
    for column, kind, failing in (
        ("at", "DATE", 2),
        ("v", "BIGINT", 1),
        ("v", "VARCHAR", 0),
        ("id", "DOUBLE", 0),
    ):
        assert connection.execute(retype_sql(table, column, kind)[1]).fetchall() == [(failing,)]
    with pytest.raises(NotFound):
        retype_sql(table, "absent", "DATE")


def test_odd_column_names_survive_a_correction(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    table = loaded_table(connection, tmp_path, 'id,"a ""b"" \'c\'"\n1,x\n2,y\n')
    name = table.column_names[1]
    assert name == "a \"b\" 'c'"
    change = retype(connection, table, name, "BIGINT", misfits="null")
    assert connection.execute(change.sql).fetchall() == [(1, None), (2, None)]
    assert len(changes.changed_cells(connection, change)) == 2


def test_nested_records_may_lack_names(tmp_path: Path) -> None:
    file = tmp_path / "places.json"
    file.write_text(
        '[{"place": {"city": "Bath", "zip": "BA1", "spots": [{"x": 1}, {"y": 2}]}},'
        ' {"place": {"city": "Ulm"}}, {"place": null}]'
    )
    loaded = ingest.load(file, Options(), tmp_path / "out")
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT place FROM '{tmp_path / 'out' / loaded.data}'"
        ).fetchall()
    first = {"city": "Bath", "zip": "BA1", "spots": [{"x": 1, "y": None}, {"x": None, "y": 2}]}
    assert [row[0] for row in rows] == [
        first,
        {"city": "Ulm", "zip": None, "spots": None},
        None,
    ]
