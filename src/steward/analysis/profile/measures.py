"""Statistics over sorted values with counts: small arithmetic, no database."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
BINS = 30
EXAMPLES = 5

_NORMAL = 1.4826
"""Makes the median absolute deviation comparable with a standard deviation."""
_FAR = 3.5
_WHISKER = 1.5


@dataclass(frozen=True)
class Spread:
    """Where the finite values of a column lie."""

    rows: int
    low: float
    high: float
    zero: int
    negative: int
    whole: bool
    mean: float | None
    deviation: float | None
    quantiles: tuple[float, ...]
    median_deviation: float


@dataclass(frozen=True)
class Beyond:
    """The values outside the fences."""

    rows: int
    lowest: tuple[tuple[float, int], ...]
    highest: tuple[tuple[float, int], ...]


def tidy(value: float) -> float | None:
    """Twelve significant digits: sums differ in the last bits from one processor to another."""
    return float(f"{value:.12g}") if math.isfinite(value) else None


def ranks(rows: int, share: float) -> tuple[int, int, float]:
    """The two positions between which a quantile lies, and how far it is from the first."""
    position = (rows - 1) * share
    below = math.floor(position)
    return below, min(below + 1, rows - 1), position - below


def between(below: float, above: float, part: float) -> float:
    """Linear interpolation that neither overflows nor leaves the two values."""
    if part == 0 or below == above:
        return below
    return below * (1 - part) + above * part


def quantile(values: Floats, upto: Counts, share: float) -> float:
    """`upto` holds for each value how many rows lie at or below it."""
    below, above, part = ranks(int(upto[-1]), share)
    first, second = np.searchsorted(upto, (below, above), side="right")
    return between(float(values[first]), float(values[second]), part)


def spread(values: Floats, counts: Counts, *, whole: bool | None = None) -> Spread:
    """Of sorted, distinct, finite values and the rows that hold each."""
    upto = np.cumsum(counts)
    rows = int(upto[-1])
    quantiles = tuple(quantile(values, upto, share) for share in SHARES)
    mean, deviation = moments(values, counts, rows)
    return Spread(
        rows=rows,
        low=float(values[0]),
        high=float(values[-1]),
        zero=int(counts[values == 0].sum()),
        negative=int(counts[values < 0].sum()),
        whole=bool(np.all(values == np.floor(values))) if whole is None else whole,
        mean=mean,
        deviation=deviation,
        quantiles=quantiles,
        median_deviation=_median_deviation(values, counts, quantiles[3]),
    )


def moments(values: Floats, counts: Counts, rows: int) -> tuple[float | None, float | None]:
    """Mean and standard deviation; values are scaled first so that huge ones do not overflow."""
    scale = float(np.max(np.abs(values))) or 1.0
    scaled = values / scale
    # Not `dot`: its threads burn more time waiting than such short arrays take to add up.
    mean = float(np.sum(scaled * counts)) / rows
    if rows < 2:
        return tidy(mean * scale), None
    squares = float(np.sum((scaled - mean) ** 2 * counts))
    return tidy(mean * scale), tidy(math.sqrt(squares / (rows - 1)) * scale)


def _median_deviation(values: Floats, counts: Counts, median: float) -> float:
    # Halving keeps the difference of the two largest doubles finite.
    distances = np.abs(values / 2 - median / 2)
    order = np.argsort(distances)
    return quantile(distances[order], np.cumsum(counts[order]), 0.5) * 2


def fences(found: Spread) -> tuple[str, float, float] | None:
    """Beyond these a value is an outlier: the wider of Tukey's fences and those of the MAD.

    None where most rows share one value, so that nothing says how far is far.
    """
    lower_quarter, median, upper_quarter = found.quantiles[2:5]
    whisker = _WHISKER * (upper_quarter - lower_quarter)
    far = _FAR * _NORMAL * found.median_deviation
    if not (math.isfinite(whisker) and math.isfinite(far)) or max(whisker, far) == 0:
        return None
    lower = min(lower_quarter - whisker, median - far)
    upper = max(upper_quarter + whisker, median + far)
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return None
    method = "interquartile range and median absolute deviation"
    return method, lower, upper


def edges(found: Spread) -> Floats:
    """Bins of equal width; extreme values get wide first and last bins instead of the whole width.

    Bins of whole numbers begin at whole numbers, so that each holds equally many of them.
    """
    low, high = found.low, found.high
    if low == high:
        return np.array([low, high])
    inner_low, inner_high = found.quantiles[0], found.quantiles[-1]
    stretched = high - low > 4 * (inner_high - inner_low) and inner_low < inner_high
    first, last = (inner_low, inner_high) if stretched else (low, high)
    if found.whole and math.isfinite(high - low) and max(abs(low), abs(high)) < 2**52:
        first = math.floor(first)
        width = math.ceil((last - first + 1) / BINS)
        inner = np.arange(first, last + width, width, dtype=np.float64)
        return _distinct(inner, low, max(high, float(inner[-1])))
    # Weighted, because the distance between the two largest doubles is no double.
    shares = np.linspace(0, 1, BINS - 1 if stretched else BINS + 1)
    return _distinct(first * (1 - shares) + last * shares, low, high)


def _distinct(wanted: Floats, low: float, high: float) -> Floats:
    finite = wanted[np.isfinite(wanted)]
    return np.unique(np.concatenate(([low], finite[(finite > low) & (finite < high)], [high])))


def fill(values: Floats, counts: Counts, bins: Floats) -> tuple[int, ...]:
    """Rows per bin: a bin includes its lower edge, the last one both."""
    if len(bins) == 2 and bins[0] == bins[1]:
        return (int(counts.sum()),)
    places = np.clip(np.searchsorted(bins, values, side="right") - 1, 0, len(bins) - 2)
    filled = np.bincount(places, weights=counts, minlength=len(bins) - 1)
    return tuple(int(rows) for rows in filled)


def beyond(values: Floats, counts: Counts, lower: float, upper: float) -> Beyond:
    first = int(np.searchsorted(values, lower, side="left"))
    last = int(np.searchsorted(values, upper, side="right"))
    return Beyond(
        rows=int(counts[:first].sum() + counts[last:].sum()),
        lowest=_pairs(values[:first][:EXAMPLES], counts[:first][:EXAMPLES]),
        highest=_pairs(values[last:][-EXAMPLES:], counts[last:][-EXAMPLES:]),
    )


def _pairs(values: Floats, counts: Counts) -> tuple[tuple[float, int], ...]:
    return tuple((float(value), int(rows)) for value, rows in zip(values, counts, strict=True))
