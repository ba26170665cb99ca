"""Verdicts about rules: what holds when, and that a preview of the past is what hour-by-hour checks would have done."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from steward.observe.alert_rules import AlertRule, QuietHours, sentence
from steward.observe.alert_verdicts import ALL, BASELINE, causes_of, preview, reach_of, turns
from steward.observe.facts import NANO
from steward.observe.hourly import MESSAGES, Cell, Wait, Watched, WatchedBudget, end_of

LAST = 500_000
NOW = datetime.fromtimestamp(LAST * 3600 + 1800, UTC)
SPAN = 120
FACTS = ("runs", "failed_runs", "error_rate", "spend", "tokens", "mean_duration")


def rule(
    figure: str = "failed_runs", kind: str = "above", limit: float = 3, **more: Any
) -> AlertRule:
    name = "floor" if kind == "unusual" else "threshold"
    condition = {"kind": kind, name: limit}
    return AlertRule(name="R", figure=figure, condition=condition, **more)


def fired(
    found: AlertRule, watched: Watched, now: datetime = NOW
) -> list[tuple[str, int, int | None]]:
    past = preview(found, causes_of(found, watched, None), now, BASELINE)
    return [(each.flow, each.first, each.last) for each in past.episodes]


def failing(*hours: int) -> Watched:
    return Watched({"a": {hour: Cell(runs=2, failed=1) for hour in hours}})


# Thresholds


def test_a_figure_above_its_threshold_fires_once_and_resolves_with_its_window() -> None:
    watched = failing(LAST - 50, LAST - 49, LAST - 48)
    assert fired(rule(limit=2, window_hours=24), watched) == [(ALL, LAST - 48, LAST - 26)]
    assert fired(rule(limit=3, window_hours=24), watched) == []
    assert fired(rule(limit=2, window_hours=2), watched) == []


def test_the_hour_under_way_opens_and_does_not_resolve() -> None:
    found = rule(limit=0, window_hours=1)
    assert fired(found, failing(LAST)) == [(ALL, LAST, None)]
    assert fired(found, failing(LAST - 1)) == [(ALL, LAST - 1, None)]
    later = NOW + timedelta(hours=1)
    assert fired(found, failing(LAST - 1), later) == [(ALL, LAST - 1, LAST)]


def test_too_few_runs_are_noticed_at_the_end_of_an_hour_only() -> None:
    watched = Watched({"a": {hour: Cell(runs=1) for hour in range(LAST - 2000, LAST)}})
    few = rule("runs", "below", 2, window_hours=2)
    assert fired(few, watched) == []
    assert fired(few, watched, NOW + timedelta(hours=1)) == [(ALL, LAST, None)]


def test_nothing_is_missed_before_the_project_was_made() -> None:
    made = LAST - 30
    watched = Watched({"a": {made + 20: Cell(runs=1)}}, since=made)
    silent = rule("runs", "below", 1, window_hours=6)
    assert fired(silent, watched) == [(ALL, made + 6, made + 20), (ALL, made + 26, None)]
    assert fired(silent, Watched({}, since=LAST - 5)) == []
    past = preview(silent, causes_of(silent, watched, None), NOW, BASELINE)
    assert past.values[-32:-29] == [None, 0.0, 0.0]


def test_each_flow_has_its_own_alert_and_is_missed_for_four_weeks() -> None:
    watched = Watched({"a": {LAST - 40: Cell(runs=1)}, "b": {LAST - 30: Cell(runs=1)}})
    silent = rule("runs", "below", 1, window_hours=10, each_flow=True)
    assert fired(silent, watched) == [("a", LAST - 30, None), ("b", LAST - 20, None)]
    old = Watched({"a": {LAST - BASELINE - 20: Cell(runs=1)}})
    [(_, _, resolved)] = fired(silent, old)
    assert resolved == LAST - 10


def test_messages_of_alerts_and_hidden_flows_count_nowhere() -> None:
    cells = {flow: {LAST: Cell(runs=9, failed=9)} for flow in (MESSAGES, "playbook:hidden")}
    visible = ("playbook:", frozenset({"playbook:shown"}))
    for found in (
        rule(limit=0),
        rule(limit=0, each_flow=True),
        rule(limit=0, flow="playbook:hidden"),
    ):
        past = preview(found, causes_of(found, Watched(cells), visible), NOW, BASELINE)
        assert past.episodes == []


def test_rates_and_means_of_nothing_are_not_measured() -> None:
    assert fired(rule("error_rate", "below", 50), Watched({})) == []
    watched = Watched({"a": {LAST: Cell(runs=4, failed=3, milliseconds=8000)}})
    assert fired(rule("error_rate", "above", 74), watched) == [(ALL, LAST, None)]
    assert fired(rule("error_rate", "above", 75), watched) == []
    assert fired(rule("mean_duration", "above", 1.9), watched) == [(ALL, LAST, None)]
    assert fired(rule("mean_duration", "above", 2), watched) == []


# Approvals and forecasts


def test_approvals_that_wait_are_counted_and_timed() -> None:
    start = NOW - timedelta(hours=5)
    watched = Watched({}, (Wait("a", start, NOW - timedelta(hours=1)), Wait("b", start, NOW)))
    many = fired(rule("approvals_waiting", "above", 1), watched)
    assert many == [(ALL, LAST - 5, LAST - 1)]
    old = fired(rule("approval_age", "above", 2), watched)
    assert old == [(ALL, LAST - 3, LAST)]
    assert fired(rule("approval_age", "above", 2, flow="c"), watched) == []


def test_a_forecast_looks_at_whole_days() -> None:
    cells = {hour: Cell(nano_usd=NANO) for hour in range(LAST - 24 * 20, LAST)}
    watched = Watched({"a": cells})
    assert fired(rule("forecast_7", "above", 24 * 7 - 1), watched)
    assert fired(rule("forecast_7", "above", 24 * 7), watched) == []


# Unusual figures


def _daily(values: list[float], first: int) -> Watched:
    cells = {first + 24 * at: Cell(nano_usd=round(usd * NANO)) for at, usd in enumerate(values)}
    return Watched({"a": cells})


def test_a_spike_is_unusual_and_a_busy_day_is_not() -> None:
    usual = [10 + at % 3 for at in range(30)]
    spike = rule("spend", "unusual", 1)
    first = LAST - 24 * 30
    assert fired(spike, _daily([*usual, 12], first)) == []
    assert fired(spike, _daily([*usual, 30], first)) == [(ALL, LAST, None)]
    assert fired(rule("spend", "unusual", 50), _daily([*usual, 30], first)) == [], "the floor"
    assert fired(spike, _daily([*usual[:13], 30], LAST - 24 * 13)) == [], "too short a history"


def test_after_a_new_normal_the_past_does_not_count() -> None:
    found = rule("spend", "unusual", 1)
    causes = causes_of(found, _daily([10.0] * 30 + [50.0], LAST - 24 * 30), None)
    assert list(turns(found, causes, [LAST], NOW))
    assert not list(turns(found, causes, [LAST], NOW, normal={ALL: LAST - 24}))


# Preview and present


@st.composite
def pasts(draw: st.DrawFn) -> Watched:
    cells: dict[str, dict[int, Cell]] = {}
    for flow in draw(st.lists(st.sampled_from(["a", "b", "playbook:c"]), unique=True)):
        hours = draw(st.lists(st.integers(LAST - 1500, LAST), max_size=25))
        if draw(st.booleans()):
            hours += range(LAST - 1500, LAST, draw(st.sampled_from([1, 5, 24])))
        cells[flow] = {
            hour: Cell(draw(st.integers(1, 3)), hour % 2, 1000 * (hour % 7), NANO, hour % 11)
            for hour in hours
        }
    waits = tuple(
        Wait("a", NOW - timedelta(hours=start), NOW - timedelta(hours=start - length))
        for start, length in draw(
            st.lists(st.tuples(st.integers(0, 700), st.integers(1, 90)), max_size=4)
        )
    )
    return Watched(cells, waits)


@st.composite
def rules(draw: st.DrawFn) -> AlertRule:
    figure = draw(st.sampled_from([*FACTS, "approvals_waiting", "approval_age", "forecast_7"]))
    kinds = ["above"] if figure.startswith("approval") else ["above", "below"]
    kinds += ["unusual"] if figure in FACTS else []
    wheres: list[dict[str, Any]] = [{}, {"flow": "a"}, {"each_flow": True}]
    where = draw(st.sampled_from(wheres))
    return rule(
        figure,
        draw(st.sampled_from(kinds)),
        draw(st.sampled_from([0.5, 1, 3, 20])),
        window_hours=draw(st.sampled_from([1, 2, 24])),
        **where,
    )


def _until(watched: Watched, hour: int, reach: int, moment: datetime) -> Watched:
    """What a look at that time could read: nothing later, and no more of the past than the rule needs."""
    cells = {
        flow: {at: cell for at, cell in hours.items() if hour - reach <= at <= hour}
        for flow, hours in watched.cells.items()
    }
    return Watched(
        {flow: hours for flow, hours in cells.items() if hours},
        tuple(wait for wait in watched.waits if wait.start <= moment),
    )


@settings(max_examples=30, deadline=None)
@given(found=rules(), watched=pasts())
def test_a_preview_is_what_checks_hour_by_hour_would_have_done(
    found: AlertRule, watched: Watched
) -> None:
    opened: dict[str, int] = {}
    happened: list[tuple[str, int, int | None]] = []
    checked = LAST - SPAN + 1
    for hour in range(checked, LAST + 1):
        # As the check in the last moment of an hour does it: the hour before is whole by then.
        now = min(end_of(hour), NOW)
        seen = _until(watched, hour, reach_of(found) + 1, now)
        causes = causes_of(found, seen, None)
        for turn in turns(found, causes, range(checked, hour + 1), now, opened.keys()):
            if turn.kind == "opened":
                opened[turn.flow] = turn.hour
            else:
                happened.append((turn.flow, opened.pop(turn.flow), turn.hour))
        checked = hour
    happened += [(flow, first, None) for flow, first in opened.items()]
    past = preview(found, causes_of(found, watched, None), NOW, SPAN)
    previewed = [(each.flow, each.first, each.last) for each in past.episodes]
    assert sorted(previewed, key=str) == sorted(happened, key=str)


# Documents


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"flow": "a", "each_flow": True}, "not both"),
        (
            {"figure": "approval_age", "condition": {"kind": "unusual", "floor": 1}},
            "unusual is not known",
        ),
        ({"condition": {"kind": "unusual", "floor": 1}, "window_hours": 25}, "at most 24 hours"),
        (
            {"figure": "approval_age", "condition": {"kind": "below", "threshold": 1}},
            "only be above",
        ),
        ({"figure": "error_rate", "condition": {"kind": "above", "threshold": 101}}, "0 to 100"),
        ({"quiet_hours": {"start": "07:00", "end": "07:00"}}, "must differ"),
        ({"quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Moon"}}, "time zone"),
        ({"name": "a\nb"}, "control characters"),
        ({"channels": [{"kind": "pigeon"}]}, "channels"),
    ],
)
def test_wrong_rules_are_refused(wrong: dict[str, Any], said: str) -> None:
    right = {"name": "R", "figure": "runs", "condition": {"kind": "above", "threshold": 1}}
    with pytest.raises(ValidationError, match=said):
        AlertRule.model_validate({**right, **wrong})


def test_quiet_hours_follow_their_time_zone() -> None:
    quiet = QuietHours.model_validate(
        {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"}
    )
    assert quiet.holds(datetime(2026, 7, 1, 20, 0, tzinfo=UTC))
    assert not quiet.holds(datetime(2026, 7, 1, 19, 59, tzinfo=UTC))
    assert quiet.holds(datetime(2026, 7, 2, 4, 59, tzinfo=UTC))
    assert not quiet.holds(datetime(2026, 7, 2, 5, 0, tzinfo=UTC))
    noon = QuietHours.model_validate({"start": "12:00", "end": "13:00"})
    assert noon.holds(datetime(2026, 7, 1, 12, 30, tzinfo=UTC))
    assert not noon.holds(datetime(2026, 7, 1, 13, 0, tzinfo=UTC))


def test_rules_are_told_in_words() -> None:
    assert sentence(rule("spend", "above", 5, window_hours=168)) == "Spend in 7 days above $5.00"
    assert sentence(rule("forecast_30", "above", 100)) == (
        "Forecast spend for the next 30 days above $100.00"
    )
    assert sentence(rule("runs", "unusual", 10, window_hours=1)) == (
        "Runs ended in 1 hour unusually high, at least 10 above the mean"
    )


# Budgets


def test_a_budget_that_will_not_suffice_fires_before_it_is_used_up() -> None:
    """Ten dollars a day for two weeks: by the end of a month that costs three hundred."""
    now = datetime(2026, 3, 15, 12, 30, tzinfo=UTC)
    last = int(now.timestamp()) // 3600
    spent = {last - 24 * day: Cell(runs=1, nano_usd=10 * NANO) for day in range(1, 15)}
    watched = Watched(
        {"a": spent, "b": {}},
        budgets=(WatchedBudget(None, "month", 250.0), WatchedBudget("b", "month", 1.0)),
    )
    found = rule("budget_forecast", limit=100)
    [(flow, first, end)] = fired(found, watched, now)
    assert (flow, end) == (ALL, None)
    used = sum(cell.nano_usd for hour, cell in spent.items() if hour <= first) / NANO
    assert 0 < used < 250, "before it is used up"
    enough = Watched({"a": spent}, budgets=(WatchedBudget(None, "month", 400.0),))
    assert fired(found, enough, now) == []
    assert fired(rule("budget_forecast", limit=100, flow="b"), watched, now) == []
    assert fired(found, Watched({"a": spent}), now) == [], "without a budget there is no share"


def test_a_budget_can_only_be_above_its_share() -> None:
    with pytest.raises(ValidationError):
        rule("budget_forecast", kind="below", limit=10)
