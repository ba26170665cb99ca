"""Profiles of tables that are empty, odd, wide or hostile: always a result, never NaN."""

import time

import duckdb
import pytest

from steward.core.errors import Invalid
from steward.tables.table import quote
from tests.analysis.profiling import run


def test_an_empty_table(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        "SELECT 1 AS a, 'x' AS b, DATE '2020-01-01' AS c, 1.5::DOUBLE AS d, [1] AS e WHERE false",
    )
    assert result.rows == 0
    assert result.notes == ("The table has no rows.",)
    assert [column.distinct for column in result.columns] == [0] * 5
    assert result.keys == ()
    assert result.duplicate_rows == 0


def test_all_null(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        "SELECT NULL::INTEGER AS a, NULL::VARCHAR AS b, NULL::DATE AS c, NULL::INT[] AS d FROM range(5)",
    )
    for column in result.columns:
        assert (column.filled, column.nulls, column.null_share) == (0, 5, 1.0)
        assert column.notes == ("Every row is null.",)
        assert not column.constant
    assert result.missing.combinations[0].columns == ("a", "b", "c", "d")
    assert result.missing.complete_rows == 0
    assert "a, b, c, d are entirely null." in result.notes


def test_a_single_row(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, "SELECT 7 AS a, 'x' AS b, TIMESTAMP '2020-02-29 12:00:00' AS c")
    number = result.column("a").number
    assert number is not None
    assert (number.mean, number.deviation) == (7.0, None)
    assert result.column("a").histogram is not None
    dates = result.column("c").dates
    assert dates is not None
    assert (dates.first, dates.last, dates.unit) == ("2020-02-29", "2020-02-29", "none")
    assert result.keys == ()


def test_nested_and_unusual_types(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT [i % 3, 1] AS list, {'a': i % 2, 'b': 'x'} AS struct, MAP {'k': i % 2} AS map,
               [i % 2, 2]::INT[2] AS arr, union_value(n := i % 2) AS uni, i::VARCHAR::BLOB AS blob,
               '101'::BIT AS bits, INTERVAL (i % 4) DAY AS inter, TIME '10:00:00' AS clock,
               '12:00:00+01'::TIMETZ AS clock_zone, (i % 2)::VARIANT AS var,
               ['a', 'b'][1 + i % 2]::ENUM('a', 'b') AS enu, uuid AS uu, '{"a": 1}'::JSON AS js,
               i::BIGNUM AS big
        FROM (SELECT range AS i, md5(range::VARCHAR)::UUID AS uuid FROM range(12))
        """,
    )
    distinct = {column.name: column.distinct for column in result.columns}
    assert distinct == {
        "list": 3,
        "struct": 2,
        "map": 2,
        "arr": 2,
        "uni": 2,
        "blob": 12,
        "bits": 1,
        "inter": 4,
        "clock": 1,
        "clock_zone": 1,
        "var": 2,
        "enu": 2,
        "uu": 12,
        "js": 1,
        "big": 12,
    }
    kinds = {column.name: column.kind for column in result.columns}
    assert kinds["list"] == kinds["struct"] == kinds["map"] == kinds["arr"] == "nested"
    assert kinds["enu"] == kinds["uu"] == kinds["js"] == "text"
    assert result.column("list").top[0].value == "[0, 1]"
    assert [one.kind for one in result.column("uu").meanings] == ["uuid"]


def test_huge_numbers_and_decimals_keep_their_digits(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT 170141183460469231731687303715884105727::HUGEINT - range AS huge,
               340282366920938463463374607431768211455::UHUGEINT AS unsigned,
               (9223372036854775807 - range)::BIGINT AS big,
               12345678901234567890123456789.123456789::DECIMAL(38,9) + range AS money
        FROM range(3)
        """,
    )
    assert result.column("huge").maximum == "170141183460469231731687303715884105727"
    assert result.column("huge").distinct == 3
    assert result.column("unsigned").minimum == "340282366920938463463374607431768211455"
    assert result.column("big").minimum == "9223372036854775805"
    assert result.column("money").minimum == "12345678901234567890123456789.123456789"
    number = result.column("huge").number
    assert number is not None
    assert number.mean == pytest.approx(1.7014118346046923e38)


def test_not_a_number_and_infinity(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT * FROM (VALUES (1.0::DOUBLE, 1::FLOAT), ('nan', 'nan'), ('inf', '-inf'),
                              ('-inf', 2), (3.0, 3), ('nan', 4), (NULL, NULL)) AS t(d, f)
        """,
    )
    number = result.column("d").number
    assert number is not None
    assert (number.finite, number.nan, number.infinite, number.mean) == (2, 2, 2, 2.0)
    assert "2 rows are not a number (NaN)." in result.column("d").notes
    assert "2 rows are infinite." in result.column("d").notes
    assert result.column("d").distinct == 5


def test_only_not_a_number(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, "SELECT 'nan'::DOUBLE AS d FROM range(3)")
    number = result.column("d").number
    assert number is not None
    assert (number.finite, number.nan, number.mean) == (0, 3, None)
    assert result.column("d").histogram is None


def test_the_largest_doubles_do_not_overflow(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        "SELECT * FROM (VALUES (1.7e308::DOUBLE), (-1.7e308), (1.7e308), (5e-324), (0), (1)) t(d)",
    )
    column = result.column("d")
    assert column.number is not None
    assert column.number.mean == pytest.approx(1.7e308 / 6)
    assert column.histogram is not None
    assert sum(column.histogram.counts) == 6


def test_zero_and_minus_zero_are_one_value(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, "SELECT * FROM (VALUES (-0.0::DOUBLE), (0.0), (-0.0)) t(d)")
    assert [(one.value, one.rows) for one in result.column("d").top] == [("0.0", 3)]


def test_moments_with_a_zone_and_endless_dates(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT TIMESTAMPTZ '2024-03-31 01:30:00+01' + INTERVAL (range) HOUR AS zoned,
               CASE WHEN range = 0 THEN DATE 'infinity' ELSE DATE '2024-01-01' + range::INT END AS day,
               CASE range WHEN 0 THEN TIMESTAMP '-infinity' ELSE TIMESTAMP '0044-03-15 (BC)' END AS old,
               TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS nano,
               '2024-01-01'::TIMESTAMP_S AS sec
        FROM range(10)
        """,
    )
    assert result.column("zoned").minimum == "2024-03-31 00:30:00+00"
    assert result.column("zoned").quantiles[3].text == "2024-03-31 05:00:00"
    dates = result.column("day").dates
    assert dates is not None
    assert (dates.first, dates.last, dates.missing) == ("2024-01-02", "2024-01-10", 0)
    assert result.column("old").filled == 10
    seconds = result.column("sec").dates
    assert seconds is not None
    assert seconds.midnight_only


@pytest.mark.parametrize(
    "name",
    [
        'a"b', "select", "ünïcødé 名前", "a'b", "x; DROP TABLE made", "  ", "v", "n", "x",
        "position", "c0", "a.b", "\\", "😀", "%s", "{0}",
    ],
)  # fmt: skip
def test_any_column_name(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    quoted = quote(name)
    result = run(
        connection,
        f'SELECT range AS {quoted}, range % 3 AS other, NULL::INT AS "{"_" * 3}" FROM range(30)',
        sample=20,
    )
    assert result.columns[0].name == name
    assert result.column(name).distinct == 20
    assert result.keys[0].columns == (name,)


def test_three_hundred_columns(connection: duckdb.DuckDBPyConnection) -> None:
    listed = ", ".join(
        f"(range * {place + 1} % 97)::{'VARCHAR' if place % 3 else 'BIGINT'} AS c{place}"
        for place in range(300)
    )
    started = time.process_time()
    result = run(connection, f"SELECT {listed} FROM range(200)")
    assert time.process_time() - started < 20
    assert len(result.columns) == 300
    assert result.column("c1").distinct == 97


def test_a_sample_of_nothing_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(Invalid, match="at least one row"):
        run(connection, "SELECT 1 AS a", sample=0)


def test_long_values_are_cut(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, "SELECT repeat('x', 100000 + range::INT) AS t FROM range(3)")
    column = result.column("t")
    assert len(column.maximum or "") == 200
    assert column.text is not None
    assert column.text.longest == 100_002
    assert column.text.patterns[0].shape.endswith("…")


def test_no_temporary_table_is_left_behind(connection: duckdb.DuckDBPyConnection) -> None:
    run(connection, "SELECT range % 5 AS a, range % 7 AS b FROM range(100)", sample=50)
    left = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert left == [("made",)]
