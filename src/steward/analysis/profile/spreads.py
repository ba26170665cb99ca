"""The distribution of a column of numbers, dates or times, made ready for showing."""

from dataclasses import dataclass

import numpy as np

from steward.analysis.pii.values import one_row
from steward.analysis.profile import measures, selection
from steward.analysis.profile.counting import Counted, Scope
from steward.analysis.profile.gaps import iso
from steward.analysis.profile.measures import SHARES, Beyond, Counts, Floats, Spread
from steward.analysis.profile.results import Histogram, Number, Outliers, Quantile, ValueCount
from steward.analysis.profile.shapes import ColumnKind, Reading

_FEW = 5
"""With fewer distinct values than this, none of them is an outlier."""


@dataclass(frozen=True)
class Distribution:
    spread: Spread | None
    quantiles: tuple[Quantile, ...] = ()
    histogram: Histogram | None = None
    outliers: Outliers | None = None


def distribution(scope: Scope, counted: Counted, read: Reading) -> Distribution:
    """`read` reads the values v of the counted column."""
    if counted.grouped:
        return _from_values(scope, counted, read)
    return _from_rows(scope, counted, read)


def _from_values(scope: Scope, counted: Counted, read: Reading) -> Distribution:
    fetched = scope.connection.execute(
        f"SELECT {read.number} AS x, n FROM {counted.source} WHERE x IS NOT NULL"
    ).fetchnumpy()
    values: Floats = np.asarray(fetched["x"], dtype=np.float64)
    if not len(values):
        return Distribution(None)
    order = np.argsort(values)
    values, counts = values[order], np.asarray(fetched["n"], dtype=np.int64)[order]
    found = measures.spread(values, counts, whole=True if read.whole else None)
    bins = measures.edges(found)
    limits = _limits(found, counted, read)
    outside = measures.beyond(values, counts, *limits[1:]) if limits else None
    return _present(found, bins, measures.fill(values, counts, bins), limits, outside, read)


def _from_rows(scope: Scope, counted: Counted, read: Reading) -> Distribution:
    rows = f"(SELECT {read.number} AS x FROM {counted.source} WHERE x IS NOT NULL)"
    sampled = scope.connection.execute(
        f"SELECT {read.number} AS x FROM {counted.sample} WHERE x IS NOT NULL"
    ).fetchnumpy()["x"]
    if not len(sampled):
        low, high = one_row(scope.connection, f"SELECT min(x), max(x) FROM {rows}")
        sampled = np.array([edge for edge in (low, high) if edge is not None])
        if not len(sampled):
            return Distribution(None)
    numbers = selection.Numbers(
        scope.connection, rows, np.asarray(sampled, dtype=np.float64), read.whole
    )
    found = selection.spread(numbers)
    if found is None:
        return Distribution(None)
    bins = measures.edges(found)
    limits = _limits(found, counted, read)
    outside = selection.beyond(numbers, *limits[1:]) if limits else None
    return _present(found, bins, selection.fill(numbers, bins), limits, outside, read)


def _limits(found: Spread, counted: Counted, read: Reading) -> tuple[str, float, float] | None:
    """A time of day has no far end: midnight is next to midnight."""
    if counted.distinct < _FEW or read.kind is ColumnKind.TIME:
        return None
    return measures.fences(found)


def _present(
    found: Spread,
    bins: Floats,
    filled: tuple[int, ...],
    limits: tuple[str, float, float] | None,
    outside: Beyond | None,
    read: Reading,
) -> Distribution:
    quantiles = tuple(
        Quantile(share, value, label(value, read))
        for share, value in zip(SHARES, found.quantiles, strict=True)
    )
    histogram = Histogram(
        edges=tuple(float(edge) for edge in bins),
        labels=tuple(label(float(edge), read) for edge in bins),
        counts=filled,
    )
    outliers = None
    if limits is not None and outside is not None:
        method, lower, upper = limits
        outliers = Outliers(
            method=method,
            lower=label(lower, read),
            upper=label(upper, read),
            rows=outside.rows,
            share=round(outside.rows / found.rows, 6),
            examples=tuple(
                ValueCount(label(value, read), rows)
                for value, rows in (*outside.lowest, *outside.highest)
            ),
        )
    return Distribution(found, quantiles, histogram, outliers)


def label(value: float, read: Reading) -> str:
    """As a person would write it."""
    if read.kind is ColumnKind.DATE:
        return iso(int(np.floor(value)))
    if read.kind is ColumnKind.MOMENT:
        return str(np.datetime64(int(np.floor(value)), "s")).replace("T", " ")
    if read.kind is ColumnKind.TIME:
        seconds = int(value)
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.12g}"


def number(scope: Scope, counted: Counted, read: Reading, found: Spread | None) -> Number:
    nan = infinite = 0
    if read.floating:
        nan, infinite = one_row(
            scope.connection,
            "SELECT coalesce(sum(n) FILTER (isnan(v)), 0)::BIGINT, "
            f"coalesce(sum(n) FILTER (isinf(v)), 0)::BIGINT FROM {counted.source}",
        )
    return Number(
        finite=found.rows if found else 0,
        nan=int(nan),
        infinite=int(infinite),
        zero=found.zero if found else 0,
        negative=found.negative if found else 0,
        mean=found.mean if found else None,
        deviation=found.deviation if found else None,
        median_deviation=measures.tidy(found.median_deviation) if found else None,
        whole=found.whole if found else False,
    )


def present_days(scope: Scope, counted: Counted) -> Counts:
    """The sorted days since 1970 on which the column has rows."""
    fetched = scope.connection.execute(
        "SELECT DISTINCT (v::DATE - DATE '1970-01-01')::BIGINT AS d "
        f"FROM {counted.source} WHERE isfinite(v) ORDER BY d"
    ).fetchnumpy()
    return np.asarray(fetched["d"], dtype=np.int64)
