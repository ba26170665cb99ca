"""Forecasts: the mean of whole weeks, with a band only where enough past forecasts can be compared."""

import pytest

from steward.observe.forecast import forecast_rest, forecast_spend


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


def test_the_rest_of_a_period_is_a_part_of_its_whole_days() -> None:
    daily = [1.0, 9.0, 2.0, 12.0, 0.0, 3.0] * 10
    whole = forecast_spend(daily, 3)
    rest = forecast_rest(daily, 2.5)
    assert whole is not None
    assert rest is not None
    assert whole.low is not None
    assert rest.low is not None
    assert rest.high is not None
    assert rest.usd == pytest.approx(whole.usd * 2.5 / 3)
    assert rest.low == pytest.approx(whole.low * 2.5 / 3)
    assert rest.low < rest.usd < rest.high


def test_minutes_before_the_reset_next_to_nothing_is_expected() -> None:
    rest = forecast_rest([4.0] * 60, 0.01)
    assert rest is not None
    assert rest.usd == rest.high == pytest.approx(0.04)
