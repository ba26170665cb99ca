"""The numbers of a profile, against the same numbers computed by polars and the standard library."""

import json
import statistics
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.analysis.profile import counting as counting_module
from steward.analysis.profile import measures, profile, selection
from steward.analysis.profile.results import ColumnProfile
from steward.tables.engine import Limits, session
from steward.tables.table import Column, Table, describe, parquet_table

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def some_data(rows: int, seed: int = 1) -> pl.DataFrame:
    random = Random(seed)
    start = datetime(2023, 5, 1)  # noqa: DTZ001 - a column without a zone
    return pl.DataFrame(
        {
            "id": range(rows),
            "whole": [random.choice([None, *range(-40, 60)]) for _ in range(rows)],
            "real": [random.choice([None, random.gauss(3, 50)]) for _ in range(rows)],
            "word": [random.choice([None, "", "  ", "ab", "Ab ", "ü", "N/A"]) for _ in range(rows)],
            "text": [f"k{random.randrange(10**6)}" for _ in range(rows)],
            "day": [date(2024, 1, 1) + timedelta(random.randrange(90)) for _ in range(rows)],
            "moment": [start + timedelta(seconds=random.randrange(10**7)) for _ in range(rows)],
            "flag": [random.choice([True, False, None]) for _ in range(rows)],
        }
    )


def profiled(
    connection: duckdb.DuckDBPyConnection, frame: pl.DataFrame, path: Path
) -> dict[str, ColumnProfile]:
    frame.write_parquet(path / "t.parquet")
    result = profile(connection, parquet_table(connection, "t", [path / "t.parquet"]))
    json.dumps(result.as_dict(), allow_nan=False)
    return {column.name: column for column in result.columns}


def assert_numbers_equal(found: ColumnProfile, truth: pl.Series) -> None:
    values = np.sort(truth.drop_nulls().to_numpy())
    assert found.number is not None
    assert found.number.finite == len(values)
    assert found.number.mean == pytest.approx(values.mean(), rel=1e-9)
    assert found.number.deviation == pytest.approx(values.std(ddof=1), rel=1e-6)
    median = np.median(values)
    assert found.number.median_deviation == pytest.approx(np.median(np.abs(values - median)))
    assert found.number.zero == (values == 0).sum()
    assert found.number.negative == (values < 0).sum()
    assert [one.value for one in found.quantiles] == pytest.approx(
        [float(np.quantile(values, share)) for share in SHARES]
    )
    assert found.histogram is not None
    assert sum(found.histogram.counts) == len(values)
    edges = np.array(found.histogram.edges)
    expected, _ = np.histogram(values, edges)
    assert found.histogram.counts == tuple(expected)
    assert found.outliers is not None
    low, high = float(found.outliers.lower), float(found.outliers.upper)
    quarter, three_quarters = np.quantile(values, 0.25), np.quantile(values, 0.75)
    whisker = 1.5 * (three_quarters - quarter)
    far = 3.5 * 1.4826 * np.median(np.abs(values - median))
    assert low == pytest.approx(min(quarter - whisker, median - far), rel=1e-9)
    assert high == pytest.approx(max(three_quarters + whisker, median + far), rel=1e-9)
    assert found.outliers.rows == ((values < low) | (values > high)).sum()


def assert_counts_equal(found: ColumnProfile, truth: pl.Series) -> None:
    counted = Counter(truth.drop_nulls().to_list())
    assert found.filled == counted.total()
    assert found.nulls == truth.null_count()
    assert found.distinct == len(counted)
    assert found.distinct_exact
    assert found.constant == (len(counted) == 1)
    assert found.unique == (len(counted) == len(truth))


def test_every_count_is_exact(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    frame = some_data(3_000)
    found = profiled(connection, frame, tmp_path)
    for name in frame.columns:
        assert_counts_equal(found[name], frame[name])
    for name in ("whole", "real", "id"):
        assert_numbers_equal(found[name], frame[name])
    assert (found["id"].minimum, found["id"].maximum) == ("0", "2999")
    assert found["day"].minimum == str(frame["day"].min())
    assert found["flag"].kind == "boolean"


def test_top_values_are_the_most_frequent_in_a_fixed_order(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    frame = some_data(2_000)
    found = profiled(connection, frame, tmp_path)
    counted = Counter(frame["whole"].drop_nulls().to_list())
    expected = sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:10]
    assert [(one.value, one.rows) for one in found["whole"].top] == [
        (str(value), rows) for value, rows in expected
    ]
    assert found["id"].top == ()


def test_texts_are_measured(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    frame = some_data(2_000)
    words = frame["word"].drop_nulls().to_list()
    text = profiled(connection, frame, tmp_path)["word"].text
    assert text is not None
    assert text.empty == words.count("")
    assert text.blank == words.count("  ")
    assert text.padded == words.count("  ") + words.count("Ab ")
    assert text.placeholders == words.count("N/A")
    assert (text.shortest, text.longest) == (0, 3)
    assert text.mean_length == pytest.approx(statistics.mean(map(len, words)), abs=1e-4)
    assert text.spellings == 2  # '' and '  ', 'ab' and 'Ab '
    assert {one.shape: one.rows for one in text.patterns} == {
        "aa": words.count("ab"),
        "Aa ": words.count("Ab "),
        "a": words.count("ü"),
        "A/A": words.count("N/A"),
        "  ": words.count("  "),
    }


def test_many_distinct_values_are_estimated_and_marked(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting_module, "DISTINCT_LIMIT", 5_000)
    monkeypatch.setattr(counting_module, "_ONE_IN", 11)
    monkeypatch.setattr(counting_module, "_ROW_SAMPLE", 3_000)
    monkeypatch.setattr(counting_module, "_UNIQUE_PART", 7_000)
    frame = some_data(20_000).with_columns(
        often=pl.Series([f"v{n}" if n % 4 else "again" for n in range(20_000)]),
        skewed=pl.Series(np.exp(np.random.default_rng(5).normal(0, 3, 20_000))),
    )
    found = profiled(connection, frame, tmp_path)
    for name in ("real", "text", "moment", "often"):
        assert not found[name].distinct_exact, name
        assert found[name].distinct == pytest.approx(frame[name].n_unique(), rel=0.1)
        assert found[name].filled == frame[name].count()
        assert found[name].unique is False
    for name in ("id", "skewed"):  # every value once, which is established and therefore exact
        assert_counts_equal(found[name], frame[name])
    for name in ("whole", "word", "day", "flag"):
        assert_counts_equal(found[name], frame[name])
    for name in ("real", "id", "skewed"):
        assert_numbers_equal(found[name], frame[name])
    assert (found["often"].top[0].value, found["often"].top[0].rows) == ("again", 5_000)
    assert not found["often"].top_exact
    moments = frame["moment"].dt.epoch("s").to_numpy()
    assert [one.value for one in found["moment"].quantiles] == pytest.approx(
        [float(np.quantile(moments, share)) for share in SHARES]
    )


def test_values_that_do_not_fit_into_memory_are_estimated(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(_: counting_module.Survey, column: Column) -> counting_module.Counted:
        raise duckdb.OutOfMemoryException(f"no room for {column.name}")

    monkeypatch.setattr(counting_module.Survey, "_count", too_long)
    monkeypatch.setattr(counting_module, "_ONE_IN", 3)
    frame = some_data(4_000)
    found = profiled(connection, frame, tmp_path)
    for name in frame.columns:
        assert found[name].filled == frame[name].count()
        assert found[name].unique == (name == "id")
    assert_numbers_equal(found["real"], frame["real"])
    assert found["text"].distinct == pytest.approx(frame["text"].n_unique(), rel=0.1)
    left = connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone()
    assert left == (0,)


def test_a_column_with_one_repeated_value_among_many_is_not_unique(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting_module, "DISTINCT_LIMIT", 1_000)
    monkeypatch.setattr(counting_module, "_UNIQUE_PART", 3_000)
    frame = pl.DataFrame({"a": [*range(9_999), 17], "b": range(10_000)})
    found = profiled(connection, frame, tmp_path)
    assert found["a"].unique is False
    assert found["b"].unique is True
    assert (found["b"].distinct, found["b"].distinct_exact) == (10_000, True)


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    frame = some_data(30_000)
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=2_000)
    seen = set()
    for threads in (1, 2, 4):
        for wanted in (None, 1_000):
            with session(Limits(threads=threads)) as connection:
                table = parquet_table(connection, "t", [tmp_path / "t.parquet"])
                result = profile(connection, table, sample=wanted)
                seen.add((wanted, json.dumps(result.as_dict())))
    assert len(seen) == 2


def test_a_sample_is_taken_only_when_asked_and_marked(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    some_data(5_000).write_parquet(tmp_path / "t.parquet")
    table = parquet_table(connection, "t", [tmp_path / "t.parquet"])
    sampled = profile(connection, table, sample=700)
    assert (sampled.rows, sampled.profiled_rows, sampled.sampled) == (5_000, 700, True)
    assert "Only 700 of 5,000 rows were profiled" in sampled.notes[0]
    spread = sampled.column("id").number
    assert spread is not None
    assert spread.mean == pytest.approx(2_500, rel=0.1)
    whole = profile(connection, table, sample=5_000)
    assert (whole.profiled_rows, whole.sampled) == (5_000, False)


def test_progress_names_every_step(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    some_data(50).write_parquet(tmp_path / "t.parquet")
    steps: list[tuple[int, int, str]] = []
    table = parquet_table(connection, "t", [tmp_path / "t.parquet"])
    profile(connection, table, progress=lambda *step: steps.append(step))
    assert [done for done, _, _ in steps] == list(range(steps[-1][1] + 1))
    assert [what for _, _, what in steps][:2] == ["id", "whole"]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.integers(-5, 5) | st.floats(-1e9, 1e9), min_size=1, max_size=60),
    st.integers(1, 4),
)
def test_selection_is_exact_however_poor_its_sample(
    connection: duckdb.DuckDBPyConnection, values: list[float], sampled: int
) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE numbers (x DOUBLE)")
    connection.executemany("INSERT INTO numbers VALUES (?)", [(value,) for value in values])
    sample = np.array(values[:sampled], dtype=np.float64)
    numbers = selection.Numbers(connection, "numbers", sample, whole_type=False)
    found = selection.spread(numbers)
    truth = np.array(values, dtype=np.float64)
    assert found is not None
    assert found.quantiles == pytest.approx([np.quantile(truth, one) for one in SHARES], abs=1e-6)
    deviation = np.median(np.abs(truth - np.median(truth)))
    assert found.median_deviation == pytest.approx(deviation, abs=1e-6)
    assert found.mean == pytest.approx(truth.mean(), abs=1e-6, rel=1e-9)
    bins = measures.edges(found)
    ordered = np.sort(truth)
    expected = measures.fill(ordered, np.ones(len(truth), dtype=np.int64), bins)
    assert selection.fill(numbers, bins) == expected


CELLS = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(width=64),
        st.none() | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6),
    ),
    max_size=30,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(CELLS)
def test_any_table_is_counted_right(
    connection: duckdb.DuckDBPyConnection, rows: list[tuple[int | None, float | None, str | None]]
) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE cells (i BIGINT, f DOUBLE, t VARCHAR)")
    if rows:
        connection.executemany("INSERT INTO cells VALUES (?, ?, ?)", rows)
    table = Table("cells", "cells", describe(connection, "cells"))
    result = profile(connection, table, reveal=True)
    json.dumps(result.as_dict(), allow_nan=False)
    for place, column in enumerate(result.columns):
        filled = [row[place] for row in rows if row[place] is not None]
        # NaN is not equal to itself, so it is counted by its name.
        distinct = {"nan" if value != value else value for value in filled}  # noqa: PLR0124
        assert (column.filled, column.distinct) == (len(filled), len(distinct))
        if column.histogram is not None and column.number is not None:
            assert sum(column.histogram.counts) == column.number.finite
            assert len(column.histogram.counts) == len(column.histogram.edges) - 1
        if column.number is not None:
            number = column.number
            assert number.finite + number.nan + number.infinite == len(filled)
    text = result.column("t").text
    if text is not None:
        assert text.empty == [row[2] for row in rows].count("")
