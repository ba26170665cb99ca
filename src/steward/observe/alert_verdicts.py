"""Whether a rule holds, hour by hour: the one place that decides, for the present and for a preview of the past."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import fsum, sqrt
from typing import Final, Literal

from steward.broker import end_of as end_of_period
from steward.broker import start_of
from steward.core import Bug
from steward.observe.alert_rules import Above, AlertRule, Below, Figure, Unusual
from steward.observe.facts import NANO, hour_of
from steward.observe.forecast import forecast_spend
from steward.observe.hourly import Cell, Series, Watched, end_of
from steward.observe.output_drift import Drift
from steward.observe.overview import Visible, shows

DAY: Final = 24
BASELINE: Final = 28 * DAY
LEAST_BASELINE: Final = 14 * DAY
_LEAST_SAMPLES: Final = 14
_SIGMAS: Final = 3.0
_FORECAST_HISTORY: Final = 120 * DAY
OUTPUTS_REACH: Final = 92 * DAY
"""How far back outputs are compared: a flow that runs once a week has ten earlier runs then."""
_AHEAD: Final = {"forecast_7": 7, "forecast_30": 30}
ALL: Final = ""
"""The cause of a rule for the whole project, where others have a flow."""


@dataclass(frozen=True)
class Verdict:
    value: float | None
    """None where there is nothing to measure, such as the error rate of no runs."""
    limit: float | None
    """None where no limit could matter: nothing to measure, or too little known about what is usual."""
    holds: bool
    drift: Drift | None = None
    """What changed, where outputs are looked at."""


NOTHING: Final = Verdict(None, None, holds=False)


@dataclass(frozen=True)
class Turn:
    """An alert that opens or resolves at an hour."""

    kind: Literal["opened", "resolved"]
    flow: str
    hour: int
    verdict: Verdict


def reach_of(rule: AlertRule) -> int:
    """How many hours back one verdict looks."""
    if rule.figure in _AHEAD or rule.figure == "budget_forecast":
        return _FORECAST_HISTORY + DAY
    if rule.is_instant:
        return 1
    looks_back = rule.each_flow or isinstance(rule.condition, Unusual)
    return rule.window_hours + (BASELINE if looks_back else 0)


def outputs_since(rules: Iterable[AlertRule], hour: int) -> int | None:
    """The first hour of outputs that rules look at from an hour on; None where none looks at them."""
    return hour - OUTPUTS_REACH if any(rule.figure == "output_drift" for rule in rules) else None


def causes_of(rule: AlertRule, watched: Watched, visible: Visible) -> dict[str, Series]:
    """The figures for which the rule has an alert each, by flow; nothing of what the author may not see."""
    flows = watched.flows(visible)
    if rule.each_flow:
        return {flow: watched.series([flow], flow) for flow in flows}
    if rule.flow is not None:
        return (
            {rule.flow: watched.series([rule.flow], rule.flow)} if shows(visible, rule.flow) else {}
        )
    return {ALL: watched.series(frozenset(flows))}


def turns(
    rule: AlertRule,
    causes: Mapping[str, Series],
    hours: Iterable[int],
    now: datetime,
    opened: Set[str] = frozenset(),
    normal: Mapping[str, int] | None = None,
) -> Iterator[Turn]:
    """What opens and resolves from hour to hour, given what is open before the first of them.

    The hour under way may open an alert. It resolves none, because more may come: only a whole hour does that.
    """
    still = set(opened)
    for hour in hours:
        is_whole = hour < hour_of(now)
        if not is_whole and isinstance(rule.condition, Below) and not rule.is_instant:
            continue
        for flow, series in causes.items():
            since = (normal or {}).get(flow)
            found = verdict(rule, series, hour, min(end_of(hour), now), since)
            if not rule.is_instant and not _is_expected(rule, series, hour):
                found = NOTHING
            if found.holds and flow not in still:
                still.add(flow)
                yield Turn("opened", flow, hour, found)
            elif not found.holds and flow in still and (is_whole or rule.is_instant):
                still.discard(flow)
                yield Turn("resolved", flow, hour, found)
        if is_whole:
            # Of flows that are not there any more nothing can hold.
            for flow in sorted(still - causes.keys()):
                still.discard(flow)
                yield Turn("resolved", flow, hour, NOTHING)


def verdict(
    rule: AlertRule, series: Series, hour: int, moment: datetime, normal_since: int | None = None
) -> Verdict:
    """Looks at nothing after the hour; `moment` is its end, or now."""
    if rule.figure == "output_drift":
        drift = _drift(rule, series, hour, normal_since)
        if drift is None:
            return NOTHING
        return Verdict(float(len(drift.drifted)), 0.0, bool(drift.drifted), drift)
    value = value_of(rule, series, hour, moment)
    if value is None or (isinstance(rule.condition, Unusual) and value <= rule.condition.floor):
        # No mean is below zero, so such a value is not the floor above it, whatever is usual.
        return Verdict(value, None, holds=False)
    limit = limit_of(rule, series, hour, moment, normal_since)
    if limit is None:
        return Verdict(value, None, holds=False)
    is_below = isinstance(rule.condition, Below)
    return Verdict(value, limit, value < limit if is_below else value > limit)


def limit_of(
    rule: AlertRule, series: Series, hour: int, moment: datetime, normal_since: int | None = None
) -> float | None:
    """None while too little is known about what is usual."""
    match rule.condition:
        case Above(threshold=threshold) | Below(threshold=threshold):
            return threshold
        case Unusual() if rule.figure == "output_drift":
            return None if _drift(rule, series, hour, normal_since) is None else 0.0
        case Unusual(floor=floor):
            return _usual_limit(rule, series, hour, moment, floor, normal_since)


def value_of(rule: AlertRule, series: Series, hour: int, moment: datetime) -> float | None:
    match rule.figure:
        case "approvals_waiting":
            return float(len(series.waiting_since(moment)))
        case "approval_age":
            since = series.waiting_since(moment)
            return (moment - min(since)).total_seconds() / 3600 if since else 0.0
        case "budget_forecast":
            return _budget_share(series, hour, moment)
        case "output_drift":
            drift = _drift(rule, series, hour, None)
            return None if drift is None else float(len(drift.drifted))
    # A forecast is the same all day.
    at = hour - hour % DAY if rule.figure in _AHEAD else hour
    known = (rule.figure, rule.window_hours, at)
    if known not in series.values:
        series.values[known] = _computed(rule, series, at)
    return series.values[known]


def _drift(rule: AlertRule, series: Series, hour: int, normal_since: int | None) -> Drift | None:
    if not isinstance(rule.condition, Unusual):
        raise Bug("Outputs drift when they are unusual.")
    return series.outputs.drift(
        hour, rule.condition.floor, normal_since or 0, back=BASELINE, least=LEAST_BASELINE
    )


def _computed(rule: AlertRule, series: Series, hour: int) -> float | None:
    if rule.figure in _AHEAD:
        found = forecast_spend(_daily(series, hour), _AHEAD[rule.figure])
        return found.usd if found is not None else None
    return _value(rule.figure, series.total(hour - rule.window_hours + 1, hour))


def _budget_share(series: Series, hour: int, moment: datetime) -> float | None:
    """Percent of the budget that is nearest to its end: spent, and what the time until its reset usually costs."""
    if not series.budgets:
        return None
    known = ("usual", 0, hour - hour % DAY)
    if known not in series.values:
        found = forecast_spend(_daily(series, hour), 1)
        series.values[known] = found.usd if found is not None else 0.0
    usual = series.values[known] or 0.0
    return max(
        100
        * (
            series.total(hour_of(start_of(each.period, moment)), hour).nano_usd / NANO
            + usual * ((end_of_period(each.period, moment) - moment) / timedelta(days=1))
        )
        / each.usd
        for each in series.budgets
    )


def _value(figure: Figure, total: Cell) -> float | None:
    match figure:
        case "runs":
            return float(total.runs)
        case "failed_runs":
            return float(total.failed)
        case "spend":
            return total.nano_usd / NANO
        case "tokens":
            return float(total.tokens)
        case "error_rate":
            return 100 * total.failed / total.runs if total.runs else None
        case "mean_duration":
            return total.milliseconds / total.runs / 1000 if total.runs else None
        case _:
            raise Bug(f"{figure} is not a figure of a window.")


def _is_expected(rule: AlertRule, series: Series, hour: int) -> bool:
    """Whether there is anything to miss: the project was there for the whole window, and has the flow.

    A flow is expected to run for four weeks after its last run; before the first and after that it is not missed.
    """
    if isinstance(rule.condition, Below) and hour - rule.window_hours < series.since:
        return False
    if not rule.each_flow:
        return True
    first = series.first_hour(hour - rule.window_hours - BASELINE + 1)
    return first is not None and first <= hour


def _usual_limit(
    rule: AlertRule,
    series: Series,
    hour: int,
    moment: datetime,
    floor: float,
    normal_since: int | None,
) -> float | None:
    """Three standard deviations above the mean of the windows before this one, at least the floor above it."""
    before = hour - rule.window_hours
    start = series.first_hour(max(before - BASELINE + 1, normal_since or 0))
    if start is None or before - start + 1 < LEAST_BASELINE:
        return None
    samples = [
        value
        for at in range(before, start + rule.window_hours - 2, -rule.window_hours)
        if (value := value_of(rule, series, at, moment)) is not None
    ]
    if len(samples) < _LEAST_SAMPLES:
        return None
    mean = fsum(samples) / len(samples)
    deviation = sqrt(fsum((each - mean) ** 2 for each in samples) / (len(samples) - 1))
    return mean + max(_SIGMAS * deviation, floor)


def _daily(series: Series, hour: int) -> list[float]:
    """Dollars of each whole day (UTC) before the hour's, since the first that cost anything."""
    today = hour - hour % DAY
    days = [
        series.total(first, first + DAY - 1).nano_usd / NANO
        for first in range(today - _FORECAST_HISTORY, today, DAY)
    ]
    spent = next((at for at, usd in enumerate(days) if usd > 0), len(days))
    return days[spent:]


@dataclass(frozen=True)
class Episode:
    """A time in which an alert would have been open; without an end it would be open now."""

    flow: str
    first: int
    last: int | None
    value: float


@dataclass(frozen=True)
class Past:
    """What a rule would have done."""

    episodes: list[Episode]
    flow: str
    """Whose values these are: of several flows, the one that fired most."""
    values: list[float | None]
    limits: list[float | None]
    first_hour: int
    learned_hours: int | None
    """For unusual figures: hours of history so far; they need 14 days."""

    @property
    def moments(self) -> list[datetime]:
        return [datetime.fromtimestamp(each.first * 3600, UTC) for each in self.episodes]


def preview(rule: AlertRule, causes: Mapping[str, Series], now: datetime, hours: int) -> Past:
    """What the rule would have done in the last hours, the one under way included."""
    last = hour_of(now)
    span = range(last - hours + 1, last + 1)
    episodes: dict[tuple[str, int], Episode] = {}
    under_way: dict[str, Episode] = {}
    for turn in turns(rule, causes, span, now):
        if turn.kind == "opened":
            under_way[turn.flow] = Episode(turn.flow, turn.hour, None, turn.verdict.value or 0.0)
            episodes[turn.flow, turn.hour] = under_way[turn.flow]
        else:
            began = under_way.pop(turn.flow)
            over = Episode(turn.flow, began.first, turn.hour, began.value)
            episodes[turn.flow, began.first] = over
    found = sorted(episodes.values(), key=lambda each: (each.first, each.flow))
    flow = _busiest(causes, found, span)
    if flow is None:
        return Past(found, ALL, [None] * hours, [None] * hours, span.start, None)
    moments = [(at, min(end_of(at), now)) for at in span]
    return Past(
        found,
        flow,
        _since(causes[flow], [value_of(rule, causes[flow], *moment) for moment in moments], span),
        [limit_of(rule, causes[flow], *moment) for moment in moments],
        span.start,
        _learned(rule, causes[flow], last),
    )


def _since(series: Series, values: list[float | None], span: range) -> list[float | None]:
    """Without values from before the project was made."""
    return [value if at >= series.since else None for at, value in zip(span, values, strict=True)]


def _busiest(causes: Mapping[str, Series], found: list[Episode], span: range) -> str | None:
    fired: dict[str, int] = dict.fromkeys(causes, 0)
    for each in found:
        fired[each.flow] = fired.get(each.flow, 0) + 1
    known = [flow for flow in fired if flow in causes]
    if not known:
        return None
    return max(known, key=lambda flow: (fired[flow], causes[flow].total(span[0], span[-1]).runs))


def _learned(rule: AlertRule, series: Series, hour: int) -> int | None:
    if not isinstance(rule.condition, Unusual):
        return None
    if rule.figure == "output_drift":
        return series.outputs.learned_hours(hour, OUTPUTS_REACH)
    before = hour - rule.window_hours
    start = series.first_hour(before - BASELINE + 1)
    return max(0, before - start + 1) if start is not None else 0
