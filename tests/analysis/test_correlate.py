"""Associations: right numbers, everything planted found, noise left alone, warnings where due."""

import json
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from steward.analysis.correlate import arrays as arrays_module
from steward.analysis.correlate import correlate
from steward.analysis.correlate.results import Association, Correlations
from steward.analysis.correlate.significance import chi_square_tail, correlation_tail, holm
from steward.core.errors import Invalid
from steward.tables.engine import Limits, session
from steward.tables.table import Table, describe, parquet_table


def run(connection: duckdb.DuckDBPyConnection, frame: pl.DataFrame, path: Path) -> Correlations:
    frame.write_parquet(path / "t.parquet")
    result = correlate(connection, parquet_table(connection, "t", [path / "t.parquet"]))
    json.dumps(result.as_dict(), allow_nan=False)
    return result


def pair(result: Correlations, first: str, second: str) -> Association:
    return next(one for one in result.associations if {one.first, one.second} == {first, second})


def value(association: Association, name: str) -> float:
    return next(one.value for one in association.measures if one.name == name)


def planted(rows: int = 4_000, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    x = random.normal(size=rows)
    group = random.integers(0, 4, rows)
    kept = random.random(rows) < 0.7
    return pl.DataFrame(
        {
            "x": x,
            "line": 3 * x + random.normal(size=rows),
            "down": -x + 0.5 * random.normal(size=rows),
            "curve": np.exp(3 * x + 0.2 * random.normal(size=rows)),
            "bowl": x**2 + 0.2 * random.normal(size=rows),
            "shop": [f"s{one}" for one in group],
            "region": [
                f"r{one}" for one in np.where(kept, group // 2, random.integers(0, 2, rows))
            ],
            "sales": group * 1.0 + random.normal(size=rows),
            "width": random.normal(size=rows) * np.where(group == 0, 6, 1),
            "noise": random.normal(size=rows),
            "dice": [str(one) for one in random.integers(1, 7, rows)],
            "coin": random.random(rows) < 0.5,
        }
    )


RELATIONS = {
    ("x", "line"): ("pearson", "linear"),
    ("x", "down"): ("pearson", "linear"),
    ("x", "curve"): ("spearman", "monotone"),
    ("x", "bowl"): ("mutual_information", "non-linear"),
    ("shop", "region"): ("cramers_v", "categorical"),
    ("shop", "sales"): ("correlation_ratio", "groups differ"),
    ("shop", "width"): ("mutual_information", "non-linear"),
}


def test_everything_planted_is_found_with_the_right_measure(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    result = run(connection, planted(), tmp_path)
    for (first, second), (measure, relation) in RELATIONS.items():
        found = pair(result, first, second)
        assert (found.measure, found.relation) == (measure, relation), (first, second)
        assert found.p_adjusted < 1e-6
    assert pair(result, "x", "down").direction == "falling"
    assert pair(result, "x", "line").direction == "rising"
    assert not any("noise" in {one.first, one.second} for one in result.associations)
    assert not any({"dice", "coin"} & {one.first, one.second} for one in result.associations)
    strengths = [one.strength for one in result.associations]
    assert strengths == sorted(strengths, reverse=True)


def test_the_numbers_are_those_of_the_textbook(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    frame = planted(800)
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise(pl.col("line")).alias("line")
    )
    result = run(connection, frame, tmp_path)
    both = frame.drop_nulls("line")
    x, line = both["x"].to_numpy(), both["line"].to_numpy()
    found = pair(result, "x", "line")
    assert found.rows == len(both)
    truth = np.corrcoef(x, line)[0, 1]
    assert value(found, "pearson") == pytest.approx(truth, abs=1e-6)
    ranked = np.corrcoef(both["x"].rank().to_numpy(), both["line"].rank().to_numpy())[0, 1]
    assert value(found, "spearman") == pytest.approx(ranked, abs=1e-6)
    interval = next(one for one in found.measures if one.name == "pearson")
    error = 1.959964 / np.sqrt(len(both) - 3)
    assert interval.low == pytest.approx(np.tanh(np.arctanh(truth) - error), abs=1e-5)
    assert interval.high == pytest.approx(np.tanh(np.arctanh(truth) + error), abs=1e-5)


def test_ties_share_the_mean_of_their_ranks(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    random = np.random.default_rng(2)
    first = random.integers(0, 4, 500)
    frame = pl.DataFrame({"a": first, "b": (first + random.integers(0, 3, 500)) ** 3})
    found = pair(run(connection, frame, tmp_path), "a", "b")
    truth = np.corrcoef(frame["a"].rank().to_numpy(), frame["b"].rank().to_numpy())[0, 1]
    assert value(found, "spearman") == pytest.approx(truth, abs=1e-6)


def test_categorical_measures_agree_with_their_definitions(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    frame = planted(800)
    found = pair(run(connection, frame, tmp_path), "shop", "region")
    rows = len(frame)
    table = frame.pivot("region", index="shop", values="x", aggregate_function="len").drop("shop")
    cells = table.to_numpy().astype(float)
    expected = np.outer(cells.sum(1), cells.sum(0)) / rows
    spread = ((cells - expected) ** 2 / expected).sum() / rows
    lines, columns = cells.shape
    corrected = max(0, spread - (lines - 1) * (columns - 1) / (rows - 1))
    smaller = min(side - (side - 1) ** 2 / (rows - 1) for side in cells.shape) - 1
    assert value(found, "cramers_v") == pytest.approx(np.sqrt(corrected / smaller), abs=1e-6)
    shares = cells / rows
    information = (shares * np.log(shares / (expected / rows))).sum()
    for name, axis in (("theils_u_first", 1), ("theils_u_second", 0)):
        margin = shares.sum(axis)
        entropy = -(margin * np.log(margin)).sum()
        assert value(found, name) == pytest.approx(information / entropy, abs=1e-6)


def test_the_correlation_ratio_agrees_with_its_definition(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    frame = planted(800)
    found = pair(run(connection, frame, tmp_path), "shop", "sales")
    mean = float(np.mean(frame["sales"].to_numpy()))
    groups = frame.group_by("shop").agg(pl.col("sales").mean().alias("mean"), pl.len().alias("n"))
    between = (groups["n"].to_numpy() * (groups["mean"].to_numpy() - mean) ** 2).sum()
    total = ((frame["sales"].to_numpy() - mean) ** 2).sum()
    corrected = 1 - (1 - between / total) * (len(frame) - 1) / (len(frame) - 4)
    assert value(found, "correlation_ratio") == pytest.approx(np.sqrt(corrected), abs=1e-6)


def test_noise_is_not_reported(connection: duckdb.DuckDBPyConnection) -> None:
    """Twenty-five tables of unrelated columns, heavy tails, ties and rare categories among them."""
    findings = 0
    for seed in range(20, 45):
        random = np.random.default_rng(seed)
        rows = int(random.integers(25, 2_000))
        frame = pl.DataFrame(
            {
                "normal": random.normal(size=rows),
                "cauchy": random.standard_cauchy(size=rows),
                "wild": np.exp(random.normal(size=rows) * 6),
                "mostly_zero": np.where(random.random(rows) < 0.95, 0.0, random.normal(size=rows)),
                "whole": random.integers(0, 5, rows),
                "day": [
                    date(2024, 1, 1) + timedelta(int(one)) for one in random.integers(0, 300, rows)
                ],
                "few": [f"a{one}" for one in random.integers(0, 3, rows)],
                "many": [f"b{one}" for one in random.integers(0, 40, rows)],
                "rare": np.where(random.random(rows) < 0.99, "common", "rare"),
                "zipf": [f"z{min(int(one), 80)}" for one in random.zipf(1.5, rows)],
            }
        )
        connection.register("noise", frame.to_arrow())
        table = Table("noise", "noise", describe(connection, "noise"))
        findings += len(correlate(connection, table).associations)
    # 1,125 pairs; the promise is a false finding in at most one of a hundred tables.
    assert findings == 0


def test_one_extreme_row_makes_no_finding(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(size=500), random.normal(size=500)
    first[7] = second[7] = 1e6
    result = run(connection, pl.DataFrame({"a": first, "b": second}), tmp_path)
    assert result.associations == ()


def test_few_rows_are_a_warning_not_a_finding(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    tiny = run(connection, planted(12), tmp_path)
    assert tiny.associations == ()
    assert "12 rows are too few; at least 20 are needed." in tiny.warnings
    small = run(connection, planted(60), tmp_path)
    assert (
        "Only 60 rows have both values: take this as a hint." in pair(small, "x", "line").warnings
    )


def test_many_categories_are_lumped_and_said_so(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    city = random.zipf(1.3, 6_000) % 300
    frame = pl.DataFrame(
        {
            "city": [f"c{one}" for one in city],
            "zone": [f"z{one % 5}" for one in city],
            "token": [f"t{one}" for one in range(6_000)],
            "essay": ["x" * 300 + str(one % 3) for one in range(6_000)],
        }
    )
    result = run(connection, frame, tmp_path)
    roles = {one.name: (one.role, one.categories) for one in result.columns}
    assert roles["city"] == ("category", 50)
    assert roles["token"][0] == roles["essay"][0] == "left out"
    assert (
        "city has many categories; the rarest count as one."
        in pair(result, "city", "zone").warnings
    )


def test_odd_columns_are_left_out_with_a_reason(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        """
        CREATE TEMP TABLE made AS SELECT range AS n, 1 AS one, NULL::INT AS none, NULL::VARCHAR AS nil,
            [range] AS list, 'same' AS same, 'nan'::DOUBLE AS nan,
            CASE WHEN range % 2 = 0 THEN 'inf'::DOUBLE ELSE range END AS inf,
            170141183460469231731687303715884105727 - range AS huge,
            1.7e308::DOUBLE * sin(range) AS largest, TIMESTAMPTZ '2024-01-01 00:00:00+00'
            + INTERVAL (range) HOUR AS moment, range % 2 = 0 AS "a ""b"" c"
        FROM range(200)
        """
    )
    table = Table("made", "made", describe(connection, "made"))
    result = correlate(connection, table)
    json.dumps(result.as_dict(), allow_nan=False)
    roles = {one.name: one.role for one in result.columns}
    assert {name for name, role in roles.items() if role == "left out"} == {
        *("one", "none", "nil", "list", "same", "nan", "huge")
    }
    assert roles['a "b" c'] == "category"
    assert pair(result, "n", "moment").strength == 1.0
    assert pair(result, "n", "inf").rows == 100


@pytest.mark.parametrize("rows", [0, 1])
def test_next_to_no_rows(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    connection.execute(f"CREATE TEMP TABLE made AS SELECT range AS a, 'x' AS b FROM range({rows})")
    result = correlate(connection, Table("made", "made", describe(connection, "made")))
    assert (result.associations, result.pairs_tried) == ((), 0)
    json.dumps(result.as_dict(), allow_nan=False)


def test_a_large_table_is_sampled_marked_and_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays_module, "ROWS", 3_000)
    planted(20_000).write_parquet(tmp_path / "t.parquet", row_group_size=1_000)
    seen = set()
    for threads in (1, 2, 4):
        with session(Limits(threads=threads)) as connection:
            table = parquet_table(connection, "t", [tmp_path / "t.parquet"])
            result = correlate(connection, table)
            seen.add(json.dumps(result.as_dict()))
    assert len(seen) == 1
    assert (result.rows, result.used_rows, result.sampled) == (20_000, 3_000, True)
    assert "Computed from 3,000 of 20,000 rows" in result.warnings[0]
    assert pair(result, "x", "line").relation == "linear"


def test_wide_tables_stop_at_the_limit_of_pairs(connection: duckdb.DuckDBPyConnection) -> None:
    listed = ", ".join(f"hash(range + {place}000) % 100 AS c{place}" for place in range(30))
    connection.execute(f"CREATE TEMP TABLE made AS SELECT {listed} FROM range(100)")
    table = Table("made", "made", describe(connection, "made"))
    result = correlate(connection, table, limit_pairs=50)
    assert (result.pairs_tried, result.pairs_left_out) == (45, 435 - 45)
    assert [one.role for one in result.columns].count("left out") == 20
    assert "390 pairs were not tried: 50 is the limit." in result.warnings
    with pytest.raises(Invalid, match="At least one pair"):
        correlate(connection, table, limit_pairs=0)


def test_columns_can_be_chosen_and_must_exist(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    planted(200).write_parquet(tmp_path / "t.parquet")
    table = parquet_table(connection, "t", [tmp_path / "t.parquet"])
    result = correlate(connection, table, ["x", "line", "shop"])
    assert result.matrix.columns == ("x", "line", "shop")
    assert result.matrix.strengths[0][1] == result.matrix.strengths[1][0]
    assert result.matrix.strengths[0][0] is None
    assert result.matrix.measures[0][1] == "pearson"
    with pytest.raises(Invalid, match="has no column 'y'"):
        correlate(connection, table, ["x", "y"])


@pytest.mark.parametrize(
    ("statistic", "freedom", "expected"),
    # From printed tables of the chi-square distribution.
    [(3.841459, 1, 0.05), (6.634897, 1, 0.01), (18.307038, 10, 0.05), (124.342113, 100, 0.05),
     (0.0, 3, 1.0), (1000.0, 2, 0.0)],
)  # fmt: skip
def test_chi_square_tail(statistic: float, freedom: int, expected: float) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("t", "freedom", "expected"),
    # From printed tables of Student's distribution, two-sided.
    [(12.7062, 1, 0.05), (2.228139, 10, 0.05), (3.169273, 10, 0.01), (1.983972, 100, 0.05)],
)
def test_correlation_tail(t: float, freedom: int, expected: float) -> None:
    correlation = t / np.sqrt(freedom + t**2)
    assert correlation_tail(float(correlation), freedom + 2) == pytest.approx(expected, abs=1e-6)


def test_holm_is_monotone_and_strict() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
