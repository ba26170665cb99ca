"""What a profile notices: gaps, patterns, outliers, meanings, keys, twins, missing values, people."""

import json

import duckdb
import pytest

from steward.analysis.profile.patterns import patterns, shape, shorten
from tests.analysis.profiling import run


def test_missing_days_are_named(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT DATE '2024-01-01' + i::INT AS day, TIMESTAMP '2024-01-01' + INTERVAL (i) DAY AS at
        FROM (SELECT range AS i FROM range(100))
        WHERE i NOT BETWEEN 10 AND 14 AND i <> 50
        """,
    )
    for name in ("day", "at"):
        dates = result.column(name).dates
        assert dates is not None
        assert (dates.unit, dates.missing, dates.span_days, dates.days_present) == (
            "day", 6, 100, 94,
        )  # fmt: skip
        assert [(gap.first, gap.last, gap.length) for gap in dates.gaps] == [
            ("2024-01-11", "2024-01-15", 5),
            ("2024-02-20", "2024-02-20", 1),
        ]
    assert "6 days without a row; the longest gap is 2024-01-11 to 2024-01-15." in (
        result.column("day").notes
    )
    assert result.column("at").dates.midnight_only  # type: ignore[union-attr]


def test_weekends_are_no_gaps_but_a_missing_friday_and_monday_are_one(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    result = run(
        connection,
        """
        SELECT d AS day FROM (SELECT (DATE '2024-01-01' + range::INT)::DATE AS d FROM range(60))
        WHERE isodow(d) <= 5 AND d NOT IN (DATE '2024-01-19', DATE '2024-01-22')
        """,
    )
    dates = result.column("day").dates
    assert dates is not None
    assert (dates.unit, dates.missing) == ("working day", 2)
    assert [(gap.first, gap.last, gap.length) for gap in dates.gaps] == [
        ("2024-01-19", "2024-01-22", 2)
    ]


def test_missing_months_and_irregular_dates(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT DATE '2020-01-15' + INTERVAL (i) MONTH AS monthly,
               DATE '1900-01-01' + (i * i * i)::INT AS scattered
        FROM (SELECT range AS i FROM range(36) WHERE range NOT IN (5, 6))
        """,
    )
    monthly = result.column("monthly").dates
    assert monthly is not None
    assert (monthly.unit, monthly.missing) == ("month", 2)
    assert monthly.gaps[0].first == "2020-06"
    scattered = result.column("scattered").dates
    assert scattered is not None
    assert scattered.unit in {"month", "none"}


def test_planted_outliers_are_counted_and_shown(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT CASE WHEN range < 3 THEN -999 WHEN range = 3 THEN 5000
                    ELSE 100 + (hash(range) % 50)::INT END AS reading
        FROM range(1000)
        """,
    )
    column = result.column("reading")
    assert column.outliers is not None
    assert column.outliers.rows == 4
    assert [(one.value, one.rows) for one in column.outliers.examples] == [
        ("-999", 3),
        ("5000", 1),
    ]
    assert any("-999 occurs in 3 rows" in note for note in column.notes)


def test_a_column_without_spread_has_no_outliers(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection, "SELECT CASE WHEN range < 9 THEN range ELSE 0 END AS a FROM range(100)"
    )
    assert result.column("a").outliers is None


@pytest.mark.parametrize(
    ("text", "full", "short"),
    [
        ("Anna-12", "Aaaa-99", "Aa+-9+"),
        ("DE89 3704", "AA99 9999", "A+9+ 9+"),
        ("Żółw 東京", "Aaaa xx", "Aa+ x+"),
        ("a\tb", "a a", "a a"),
        ("", "", ""),
    ],
)
def test_shapes(text: str, full: str, short: str) -> None:
    assert shape(text) == full
    assert shorten(full) == short


def test_patterns_keep_lengths_only_where_they_repeat() -> None:
    fixed = patterns([("AB12", 5), ("XY99", 3), ("ab", 1)])
    assert [(one.shape, one.rows) for one in fixed] == [("AA99", 8), ("aa", 1)]
    varied = patterns([(f"{'x' * length} {'9' * (40 - length)}", 1) for length in range(1, 40)])
    assert varied[0].shape == "a+ 9+"
    assert sum(one.rows for one in varied) == 39


@pytest.mark.parametrize(
    ("name", "expression", "kind"),
    [
        ("land", "['DE', 'FR', 'US', 'IT'][1 + i % 4]", "country"),
        ("from_where", "['Germany', 'France', 'Italy', 'Spain'][1 + i % 4]", "country"),
        ("ccy", "['EUR', 'USD'][1 + i % 2]", "currency"),
        ("page", "'https://example.org/p/' || i", "url"),
        ("ref", "md5(i::VARCHAR)::UUID::VARCHAR", "uuid"),
        ("when_text", "strftime(DATE '2024-01-01' + i::INT, '%d/%m/%Y')", "date_text"),
        ("when_iso", "strftime(TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR, '%Y-%m-%dT%H:%M:%SZ')",
         "date_text"),
        ("worth", "(i * 1.5)::VARCHAR", "number_text"),
        ("answer", "['yes', 'No'][1 + i % 2]", "boolean_text"),
        ("part", "(i % 100)::VARCHAR || ' %'", "percentage"),
        ("paid", "'€ ' || (i * 3.25)::DECIMAL(9,2)", "money_text"),
        ("zip", "lpad((i * 7)::VARCHAR, 5, '0')", "postcode"),
        ("doc", "'{\"n\": ' || i || '}'", "json"),
        ("order_id", "'A-' || i", "id"),
        ("remark", "'this is a longer text about ' || i || ' things'", "free_text"),
        ("colour", "['red', 'green', 'blue'][1 + i % 3]", "category"),
        ("bic", "['DEUTDEFF', 'BNPAFRPP', 'COBADEFFXXX'][1 + i % 3]", "bic"),
        ("vat_number", "['DE136695976', 'FR40303265045', 'IT00743110157'][1 + i % 3]", "vat_id"),
        ("isbn", "['978-0-306-40615-7', '0-306-40615-2'][1 + i % 2]", "isbn"),
    ],
)  # fmt: skip
def test_texts_are_understood(
    connection: duckdb.DuckDBPyConnection, name: str, expression: str, kind: str
) -> None:
    result = run(
        connection, f'SELECT {expression} AS "{name}" FROM (SELECT range AS i FROM range(200))'
    )
    found = result.column(name).meanings
    assert [one.kind for one in found][:1] == [kind]
    assert found[0].share == 1.0


@pytest.mark.parametrize(
    ("name", "expression", "kind"),
    [
        ("anything", "i + 17", "id"),
        ("customer_id", "i % 20", "reference"),
        ("latitude", "48 + i / 1000.0", "latitude"),
        ("year", "1990 + i % 30", "year"),
        ("created_at", "1700000000 + (i * i) % 86400", "unix_time"),
        ("flag", "i % 2", "flag"),
        ("unit_price", "i % 7 + 0.99", "money"),
    ],
)
def test_numbers_are_understood(
    connection: duckdb.DuckDBPyConnection, name: str, expression: str, kind: str
) -> None:
    result = run(
        connection, f"SELECT {expression} AS {name} FROM (SELECT range AS i FROM range(200))"
    )
    assert [one.kind for one in result.column(name).meanings] == [kind]


def test_plain_words_are_not_taken_for_codes(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT ['PENDING', 'SHIPPED', 'RETURNED'][1 + range % 3] AS status,
               ['CA', 'NY', 'TX', 'WA'][1 + range % 4] AS state,
               'v1.2.' || range AS version
        FROM range(100)
        """,
    )
    for column in result.columns:
        assert {one.kind for one in column.meanings} <= {"category", "id"}


def test_single_keys_come_first(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        "SELECT 'text ' || range AS words, range AS order_id, random_value FROM "
        "(SELECT range, sin(range) AS random_value FROM range(500))",
    )
    assert [key.columns for key in result.keys] == [("order_id",), ("words",), ("random_value",)]
    assert result.duplicate_rows == 0


def test_a_composite_key_is_found_and_proven(connection: duckdb.DuckDBPyConnection) -> None:
    lines = "SELECT range // 4 AS order_id, range % 4 AS line, range % 3 AS kind FROM range(50000)"
    result = run(connection, lines)
    assert [key.columns for key in result.keys] == [("order_id", "line")]
    assert "order_id and line together identify a row." in result.notes
    # The first rows still look unique together; the last one repeats another.
    spoilt = run(connection, f"{lines} UNION ALL SELECT 12499, 3, 1")
    assert spoilt.keys == ()


def test_three_columns_together(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        "SELECT range // 100 AS shop, range // 10 % 10 AS day, range % 10 AS slot FROM range(1000)",
    )
    assert [key.columns for key in result.keys] == [("shop", "day", "slot")]


def test_repeated_rows_are_counted(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, "SELECT range % 3 AS a, 'x' AS b FROM range(10)")
    assert result.duplicate_rows == 7
    assert result.keys == ()
    assert "7 rows repeat another row in full." in result.notes


def test_equal_and_nearly_equal_columns(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT range AS a, range AS b, CASE WHEN range % 50 = 0 THEN -1 ELSE range END AS c,
               CASE WHEN range % 10 = 0 THEN -1 ELSE range END AS d,
               'k' || range % 9 AS t, CASE WHEN range % 9 = 8 THEN NULL ELSE 'k' || range % 9 END AS u
        FROM range(3000)
        """,
    )
    found = {(one.first, one.second): (one.relation, one.equal_rows) for one in result.alike}
    assert found == {
        ("a", "b"): ("equal", 3000),
        ("a", "c"): ("nearly equal", 2940),
        ("b", "c"): ("nearly equal", 2940),
    }


def test_what_is_missing_together(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT range AS id, CASE WHEN range % 10 > 0 THEN 1 END AS a,
               CASE WHEN range % 10 > 0 THEN 'x' END AS b,
               CASE WHEN range % 7 > 0 THEN 2.5 END AS c
        FROM range(700)
        """,
    )
    missing = result.missing
    assert missing.complete_rows == 700 - 70 - 100 + 10
    assert [(one.columns, one.rows) for one in missing.combinations] == [
        (("c",), 90),
        (("a", "b"), 60),
        (("a", "b", "c"), 10),
    ]
    assert [(one.first, one.second, one.rows, one.share) for one in missing.pairs] == [
        ("a", "b", 70, 1.0)
    ]


def test_many_columns_with_nulls_are_told_apart(connection: duckdb.DuckDBPyConnection) -> None:
    listed = ", ".join(f"CASE WHEN range <> {place} THEN 1 END AS c{place}" for place in range(130))
    result = run(connection, f"SELECT {listed} FROM range(140)")
    assert result.missing.complete_rows == 10
    assert len(result.missing.combinations) == 20
    assert all(len(one.columns) == 1 and one.rows == 1 for one in result.missing.combinations)


PEOPLE = """
    SELECT 'anna' || range || '@shop.example' AS email, 4111111111111111 AS card_number,
           ['Anna Smith', 'Peter Miller', 'unknown'][1 + range % 3] AS full_name,
           'call me at +44 7911 123456 please' AS remark, range % 5 AS score
    FROM range(30)
"""


def test_personal_values_are_masked(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, PEOPLE)
    said = json.dumps(result.as_dict())
    for secret in ("anna0@", "@shop", "4111111111111111", "4.11111", "Smith", "7911"):
        assert secret not in said
    assert result.column("email").masked
    assert result.column("card_number").number is None
    assert result.column("remark").top[0].value == "call me at +** **** ****56 please"
    assert not result.column("score").masked
    assert "Personal data in email, card_number, full_name, remark." in result.notes


def test_personal_values_are_shown_on_request(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(connection, PEOPLE, reveal=True)
    assert result.column("email").minimum == "anna0@shop.example"
    assert result.column("card_number").minimum == "4111111111111111"
    assert not result.column("email").masked


def test_notes_read_like_sentences(connection: duckdb.DuckDBPyConnection) -> None:
    result = run(
        connection,
        """
        SELECT CASE WHEN range % 4 = 0 THEN NULL ELSE 'x' END AS a, 'same' AS b,
               CASE range WHEN 1 THEN ' y' WHEN 2 THEN 'n/a' ELSE 'y' END AS c
        FROM range(40)
        """,
    )
    assert "10 rows (25 %) are null." in result.column("a").notes
    assert "Every row that has a value has the same one." in result.column("b").notes
    notes = result.column("c").notes
    assert "1 row begins or ends with white space." in notes
    assert "1 row holds a placeholder such as N/A instead of null." in notes
    assert "1 value differs from another one only in case or spacing." in notes
