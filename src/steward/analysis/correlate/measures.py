"""The measures of association between two arrays, without a database."""

import math

import numpy as np

from steward.analysis.correlate.arrays import Categories, Codes, Floats, Numbers
from steward.analysis.correlate.results import Measure
from steward.analysis.correlate.significance import chi_square_tail, correlation_tail

_Z95 = 1.959963984540054
_THICK = 5
"""Rows that chance must put into a cell before its test can be trusted."""


def rounded(value: float) -> float:
    """Six decimals: the last bits of sums differ between processors."""
    return round(float(value), 6) + 0.0


def _p(value: float) -> float:
    return float(f"{value:.6g}")


def pearson(first: Floats, second: Floats) -> Measure | None:
    value = _correlation(first, second)
    if value is None:
        return None
    rows = len(first)
    low, high = _interval(value, 1 / math.sqrt(rows - 3)) if rows > 3 else (None, None)
    return Measure("pearson", rounded(value), _p(correlation_tail(value, rows)), low, high)


def spearman(first: Codes, second: Codes) -> Measure | None:
    """Of the places of the values in their order; ties share the mean of their ranks."""
    value = _correlation(ranks(first), ranks(second))
    if value is None:
        return None
    rows = len(first)
    low = high = None
    if rows > 3:
        low, high = _interval(value, math.sqrt((1 + value**2 / 2) / (rows - 3)))
    # Where nearly all values are tied, a few coinciding others would look like certainty.
    trusted = rows * _untied(first) * _untied(second) >= _THICK
    p_value = correlation_tail(value, rows) if trusted else 1.0
    return Measure("spearman", rounded(value), _p(p_value), low, high)


def _untied(order: Codes) -> float:
    """The share of rows that do not hold the most frequent value."""
    return 1 - float(np.max(np.bincount(order))) / len(order)


def ranks(order: Codes) -> Floats:
    counts = np.bincount(order)
    upto = np.cumsum(counts)
    middle = upto - (counts - 1) / 2
    return np.asarray(middle[order], dtype=np.float64)


def _correlation(first: Floats, second: Floats) -> float | None:
    if len(first) < 3:
        return None
    one, other = _standard(first), _standard(second)
    if one is None or other is None:
        return None
    # Not `dot`: its threads burn more time waiting than such short arrays take to add up.
    return float(np.clip(np.sum(one * other), -1.0, 1.0))


def _standard(values: Floats) -> Floats | None:
    """Centred and of length one; None for a constant. Scaled first against overflow."""
    largest = float(np.max(np.abs(values)))
    if largest == 0:
        return None
    centred = values / largest
    centred = centred - centred.mean()
    length = math.sqrt(float(np.sum(centred * centred)))
    if length <= 1e-12 * math.sqrt(len(values)):
        return None
    return np.asarray(centred / length, dtype=np.float64)


def _interval(value: float, error: float) -> tuple[float, float]:
    """Fisher's transformation."""
    if abs(value) >= 1:
        return rounded(value), rounded(value)
    z = math.atanh(value)
    return rounded(math.tanh(z - _Z95 * error)), rounded(math.tanh(z + _Z95 * error))


def crossed(first: Codes, second: Codes) -> Floats:
    """How many rows hold each combination; empty lines and columns left out."""
    width = int(second.max()) + 1
    cells = np.bincount(first * width + second, minlength=(int(first.max()) + 1) * width)
    table: Floats = cells.reshape(-1, width).astype(np.float64)
    filled: Floats = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return filled


def _information(table: Floats) -> float:
    """Mutual information in nats, as observed."""
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    filled = table > 0
    return max(0.0, float(np.sum(table[filled] * np.log(table[filled] / expected[filled])) / total))


def mutual_information(table: Floats) -> Measure:
    """On the scale of a correlation, corrected for what small samples show by chance."""
    total = float(table.sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    corrected = max(0.0, _information(table) - freedom / (2 * total))
    value = math.sqrt(1 - math.exp(-2 * corrected))
    return Measure("mutual_information", rounded(value), _p(independence(table)), None, None)


def cramers_v(table: Floats) -> Measure:
    """Corrected for bias (Bergsma 2013)."""
    total = float(table.sum())
    lines, columns = table.shape
    spread = max(0.0, _chi_square(table) / total - (lines - 1) * (columns - 1) / (total - 1))
    smaller = min(
        lines - (lines - 1) ** 2 / (total - 1), columns - (columns - 1) ** 2 / (total - 1)
    )
    value = math.sqrt(min(1.0, spread / (smaller - 1))) if smaller > 1 else 0.0
    return Measure("cramers_v", rounded(value), _p(independence(table)), None, None)


def independence(table: Floats) -> float:
    """The p-value of Pearson's test after the rarest lines and columns were put together."""
    tested = thick(table)
    if tested is None:
        return 1.0
    return chi_square_tail(_chi_square(tested), (tested.shape[0] - 1) * (tested.shape[1] - 1))


def thick(table: Floats) -> Floats | None:
    """The table with its rarest lines and columns merged until chance alone fills every cell.

    None if that leaves nothing to compare.
    """
    total = table.sum()
    while True:
        lines, columns = table.sum(axis=1), table.sum(axis=0)
        if float(lines.min() * columns.min()) >= _THICK * total:
            return table
        height, width = table.shape
        if height > 2 and (width == 2 or lines.min() <= columns.min()):
            table = _merge_rarest(table, lines)
        elif width > 2:
            table = _merge_rarest(table.T, columns).T
        else:
            return None


def _merge_rarest(table: Floats, sizes: Floats) -> Floats:
    first, second = np.argsort(sizes, kind="stable")[:2]
    merged = table.copy()
    merged[second] += merged[first]
    return np.asarray(np.delete(merged, first, axis=0))


def _chi_square(table: Floats) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sum((table - expected) ** 2 / expected))


def theils_u(table: Floats) -> tuple[Measure, Measure]:
    """Share of the uncertainty about one column that the other removes, in both directions."""
    information = _information(table)
    found = []
    for name, axis in (("theils_u_first", 1), ("theils_u_second", 0)):
        shares = table.sum(axis=axis) / table.sum()
        entropy = -float(np.sum(shares * np.log(shares)))
        value = min(1.0, information / entropy) if entropy > 0 else 0.0
        found.append(Measure(name, rounded(value), None, None, None))
    return found[0], found[1]


def correlation_ratio(groups: Codes, numbers: Floats, order: Codes) -> Measure | None:
    """How much of the spread of the numbers lies between groups; corrected for their count.

    The p-value is that of Kruskal and Wallis, which looks at ranks and assumes no distribution.
    """
    count = len(np.unique(groups))
    rows = len(numbers)
    standard = _standard(numbers)
    if standard is None or rows <= count:
        return None
    share = _between(groups, standard)
    corrected = max(0.0, 1 - (1 - share) * (rows - 1) / (rows - count))
    value = rounded(math.sqrt(corrected))
    return Measure("correlation_ratio", value, _p(_kruskal_wallis(groups, order)), None, None)


def _kruskal_wallis(groups: Codes, order: Codes) -> float:
    ranked = _standard(ranks(order))
    if ranked is None:
        return 1.0
    # A group needs enough rows that differ from the most frequent value; small ones are merged.
    least = _THICK / _untied(order)
    sizes = np.bincount(groups)
    small = sizes < least
    merged = np.where(small, len(sizes), np.arange(len(sizes)))[groups]
    if 0 < sizes[small].sum() < least:
        merged[merged == len(sizes)] = int(np.argmin(np.where(small, np.inf, sizes)))
    count = len(np.unique(merged))
    if count < 2:
        return 1.0
    return chi_square_tail((len(order) - 1) * _between(merged, ranked), count - 1)


def _between(groups: Codes, standard: Floats) -> float:
    """Sum of squares between groups of centred values of length one."""
    sizes = np.bincount(groups)
    sums = np.bincount(groups, weights=standard)
    filled = sizes > 0
    return min(1.0, float(np.sum(sums[filled] ** 2 / sizes[filled])))


def both(
    first: Numbers | Categories, second: Numbers | Categories
) -> "np.typing.NDArray[np.bool_]":
    """The rows in which both columns have a value."""
    return np.asarray((_codes(first) >= 0) & (_codes(second) >= 0))


def _codes(column: Numbers | Categories) -> Codes:
    return column.order if isinstance(column, Numbers) else column.codes
