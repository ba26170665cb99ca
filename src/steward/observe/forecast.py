"""What spending will be, from the days before: the mean of the last whole weeks, with a band from past errors.

A straight line through few days is usually far off, and bands from resampling cover too little. So the same forecast is
made for every past day for which the outcome is known, and the band is how far those were off. With fewer than ten of
them there is no band.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

_WEEK: Final = 7
_MOST_WEEKS: Final = 4
_LEAST_DAYS: Final = 7
_LEAST_PAST: Final = 10
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Forecast:
    days: int
    usd: float
    low: float | None
    high: float | None
    """Four of five past forecasts were within such a band; None with too few past forecasts."""


def forecast_spend(daily: Sequence[float], days: int) -> Forecast | None:
    """The total of the coming days, from the totals of the days so far, oldest first; None with less than a week."""
    expected = _expected(daily, days)
    if expected is None:
        return None
    ratios = sorted(_past_ratios(daily, days))
    if len(ratios) < _LEAST_PAST:
        return Forecast(days, expected, None, None)
    return Forecast(
        days, expected, expected * _quantile(ratios, _LOW), expected * _quantile(ratios, _HIGH)
    )


def forecast_rest(daily: Sequence[float], days: float) -> Forecast | None:
    """The total of the rest of a period, which need not be whole days: a part of the whole days that it lies in."""
    whole = forecast_spend(daily, max(1, math.ceil(days)))
    if whole is None:
        return None
    part = days / whole.days
    return replace(
        whole,
        usd=whole.usd * part,
        low=None if whole.low is None else whole.low * part,
        high=None if whole.high is None else whole.high * part,
    )


def _expected(daily: Sequence[float], days: int) -> float | None:
    if len(daily) < _LEAST_DAYS:
        return None
    weeks = min(len(daily) // _WEEK, _MOST_WEEKS)
    last = daily[-weeks * _WEEK :]
    return sum(last) / len(last) * days


def _past_ratios(daily: Sequence[float], days: int) -> list[float]:
    """What came, over what would have been expected, for each day that is long enough ago."""
    found = []
    for at in range(_LEAST_DAYS, len(daily) - days + 1):
        expected = _expected(daily[:at], days)
        if expected:
            found.append(sum(daily[at : at + days]) / expected)
    return found


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
