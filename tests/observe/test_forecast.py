"""Forecasts: the mean of whole weeks, with a band only where enough past forecasts can be compared."""

import pytest

from steward.observe import forecast_spend


def test_less_than_a_week_gives_no_forecast() -> None:
    assert forecast_spend([1.0] * 6, 7) is None


def test_whole_weeks_are_averaged() -> None:
    # Eleven days hold one whole week: the last seven.
    found = forecast_spend([100.0] * 4 + [2.0] * 7, 7)
    assert found is not None
    assert found.usd == pytest.approx(14.0)
    assert found.low is None


def test_a_weekly_rhythm_does_not_change_the_total() -> None:
    week = [5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0]
    found = forecast_spend(week * 6, 7)
    assert found is not None
    assert found.usd == pytest.approx(25.0)
    assert found.low == found.high == pytest.approx(25.0)


def test_the_band_is_as_wide_as_past_forecasts_were_off() -> None:
    steady = forecast_spend([4.0] * 60, 7)
    wild = forecast_spend([1.0, 9.0, 2.0, 12.0, 0.0, 3.0] * 10, 7)
    assert steady is not None
    assert wild is not None
    assert steady.low == steady.high == pytest.approx(28.0)
    assert wild.low is not None
    assert wild.high is not None
    assert wild.low < wild.usd < wild.high
