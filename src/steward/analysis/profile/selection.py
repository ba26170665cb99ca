"""Exact statistics of columns with too many distinct values to hold: a few scans, little memory.

A quantile is found by counting rows between edges first and then reading only the values between
the two edges where it lies. The edges come from a sample, which decides the effort, not the result.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from steward.analysis.pii.values import one_row
from steward.analysis.profile import measures
from steward.analysis.profile.measures import SHARES, Beyond, Counts, Floats, Spread

EDGES = 400

# Values become whole numbers of this many steps before they are added up: sums of whole numbers do
# not depend on the order in which threads deliver them.
_STEPS = 2**52
_SQUARED_STEPS = 2**31


def double(value: float) -> str:
    """A number as SQL; a bare literal would be a DECIMAL and lose digits."""
    return f"'{float(value)!r}'::DOUBLE"


@dataclass(frozen=True)
class Numbers:
    """`source` is a FROM item with one finite DOUBLE column x and no nulls."""

    connection: duckdb.DuckDBPyConnection
    source: str
    sample: Floats
    whole_type: bool


def spread(numbers: Numbers) -> Spread | None:
    rows, low, high, zero, negative, whole = one_row(
        numbers.connection,
        "SELECT count(*), min(x), max(x), count(*) FILTER (x = 0), count(*) FILTER (x < 0), "
        f"coalesce(bool_and(x = floor(x)), true) FROM {numbers.source}",
    )
    if rows == 0:
        return None
    quantiles = _quantiles(numbers.connection, numbers.source, numbers.sample, rows, SHARES)
    median = quantiles[3]
    distance = f"(SELECT abs(x / 2 - {double(median)} / 2) AS x FROM {numbers.source})"
    distances = np.abs(numbers.sample / 2 - median / 2)
    deviation = _quantiles(numbers.connection, distance, distances, rows, (0.5,))[0] * 2
    mean, standard = _moments(numbers, rows, low, high)
    return Spread(
        rows=rows,
        low=low,
        high=high,
        zero=zero,
        negative=negative,
        whole=numbers.whole_type or whole,
        mean=mean,
        deviation=standard,
        quantiles=quantiles,
        median_deviation=deviation,
    )


def _quantiles(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    sample: Floats,
    rows: int,
    shares: Sequence[float],
) -> tuple[float, ...]:
    marks = np.unique(np.quantile(sample, np.linspace(0, 1, EDGES), method="nearest"))
    upto = np.cumsum(_rows_between(connection, source, marks))
    positions = [measures.ranks(rows, share) for share in shares]
    wanted = sorted({place for below, above, _ in positions for place in (below, above)})
    found = _read(connection, source, marks, upto, wanted)
    return tuple(
        measures.between(found[below], found[above], part) for below, above, part in positions
    )


def _rows_between(connection: duckdb.DuckDBPyConnection, source: str, marks: Floats) -> list[int]:
    """Rows at or below the first mark, between each two, and above the last."""
    # `histogram` searches the marks itself; the last one is for what lies above them.
    listed = ", ".join(double(mark) for mark in (*marks, math.inf))
    (filled,) = one_row(connection, f"SELECT map_values(histogram(x, [{listed}])) FROM {source}")
    return [int(count) for count in filled]


def _read(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    marks: Floats,
    upto: Counts,
    wanted: Sequence[int],
) -> dict[int, float]:
    """The values at the wanted positions; one scan that keeps only the bins that hold them."""
    bins = sorted({int(np.searchsorted(upto, place, side="right")) for place in wanted})
    within = " OR ".join(f"({_inside(marks, place)})" for place in bins)
    read = connection.execute(
        f"SELECT x, count(*) AS n FROM {source} WHERE {within} GROUP BY x ORDER BY x"
    ).fetchnumpy()
    values: Floats = np.asarray(read["x"], dtype=np.float64)
    counts: Counts = np.asarray(read["n"], dtype=np.int64)
    # The rows of bins that were not read lie between those that were.
    skipped = np.zeros(len(values), dtype=np.int64)
    for place in bins:
        above = marks[place - 1] if place else -np.inf
        first = int(np.searchsorted(values, above, side="right"))
        before = int(upto[place - 1]) if place else 0
        skipped[first:] = before - int(counts[:first].sum())
    reached = np.cumsum(counts) + skipped
    return {place: float(values[np.searchsorted(reached, place, side="right")]) for place in wanted}


def _inside(marks: Floats, place: int) -> str:
    above = f"x > {double(marks[place - 1])}" if place else "true"
    below = f"x <= {double(marks[place])}" if place < len(marks) else "true"
    return f"{above} AND {below}"


def _moments(
    numbers: Numbers, rows: int, low: float, high: float
) -> tuple[float | None, float | None]:
    width = high - low
    if not math.isfinite(width):
        return None, None
    if width == 0:
        return measures.tidy(low), 0.0 if rows > 1 else None
    step = f"((x - {double(low)}) / {double(width)})"
    total, coarse, squares = one_row(
        numbers.connection,
        f"SELECT sum(round({step} * {_STEPS})::BIGINT), "
        f"sum(round({step} * {_SQUARED_STEPS})::BIGINT), "
        f"sum(round({step} * {_SQUARED_STEPS})::BIGINT * round({step} * {_SQUARED_STEPS})::BIGINT) "
        f"FROM {numbers.source}",
    )
    mean = low + width * (int(total) / rows / _STEPS)
    # Whole-number arithmetic: the difference of two nearly equal numbers loses nothing.
    variance = (int(squares) * rows - int(coarse) ** 2) / (rows * max(1, rows - 1))
    return measures.tidy(mean), measures.tidy(math.sqrt(variance) * width / _SQUARED_STEPS)


def fill(numbers: Numbers, bins: Floats) -> tuple[int, ...]:
    """Rows per bin: a bin includes its lower edge, the last one both."""
    if len(bins) == 2:
        return (int(one_row(numbers.connection, f"SELECT count(*) FROM {numbers.source}")[0]),)
    # The marks include their upper end, bins their lower one: the next smaller number is the mark.
    marks = np.nextafter(bins[1:-1], -np.inf)
    return tuple(_rows_between(numbers.connection, numbers.source, marks))


def beyond(numbers: Numbers, lower: float, upper: float) -> Beyond:
    limits = f"x < {double(lower)} OR x > {double(upper)}"
    rows = one_row(numbers.connection, f"SELECT count(*) FROM {numbers.source} WHERE {limits}")[0]

    def extreme(condition: str, order: str) -> tuple[tuple[float, int], ...]:
        read = numbers.connection.execute(
            f"SELECT x, count(*) FROM {numbers.source} WHERE {condition} GROUP BY x "
            f"ORDER BY x {order} LIMIT {measures.EXAMPLES}"
        ).fetchall()
        return tuple(sorted((float(value), int(count)) for value, count in read))

    return Beyond(
        rows=int(rows),
        lowest=extreme(f"x < {double(lower)}", "ASC"),
        highest=extreme(f"x > {double(upper)}", "DESC"),
    )
