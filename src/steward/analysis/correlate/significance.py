"""Tail probabilities of the chi-square and Student distributions, and Holm's correction."""

import math
from collections.abc import Sequence

_ITERATIONS = 20_000
_PRECISION = 1e-15
_TINY = 1e-300


def chi_square_tail(value: float, freedom: int) -> float:
    """Probability that a chi-square variable exceeds the value."""
    if freedom < 1 or value <= 0:
        return 1.0
    return _gamma_tail(freedom / 2, value / 2)


def correlation_tail(correlation: float, rows: int) -> float:
    """Two-sided probability of a correlation at least this large if there is none (Student's t)."""
    freedom = rows - 2
    if freedom < 1:
        return 1.0
    rest = 1 - correlation**2
    if rest <= 0:
        return 0.0
    return _beta(freedom / 2, 0.5, rest)


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value adjusted so that the chance of any false finding stays below the threshold."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = highest
    return adjusted


def _gamma_tail(shape: float, x: float) -> float:
    """The upper regularised incomplete gamma function."""
    scale = math.exp(-x + shape * math.log(x) - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for step in range(1, _ITERATIONS):
            term *= x / (shape + step)
            total += term
            if term < total * _PRECISION:
                break
        return max(0.0, 1 - total * scale)
    # Lentz's continued fraction.
    b = x + 1 - shape
    c = 1 / _TINY
    d = 1 / b
    fraction = d
    for step in range(1, _ITERATIONS):
        a = -step * (step - shape)
        b += 2
        d = 1 / (_away_from_zero(a * d + b))
        c = _away_from_zero(b + a / c)
        change = c * d
        fraction *= change
        if abs(change - 1) < _PRECISION:
            break
    return min(1.0, fraction * scale)


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return max(0.0, 1 - front * _beta_fraction(b, a, 1 - x) / b)


def _beta_fraction(a: float, b: float, x: float) -> float:
    c = 1.0
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for step in range(1, _ITERATIONS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        fraction *= d * c
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        change = d * c
        fraction *= change
        if abs(change - 1) < _PRECISION:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
