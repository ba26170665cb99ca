"""Figures on every page equal sums over the journals that are computed by other means, after a rebuild too."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from steward.core import created_at
from steward.observe._tables import abouts, ended_hours, outputs, people, rollups
from steward.observe.facts import hour_of
from steward.observe.projector import Projector
from steward.observe.rollups import DAY, HOUR, MINUTE, hours_between
from steward.runs import EntryType, Execution, Json, RunRequest, Status
from steward.store import Scope
from steward.testing import Installation
from tests.observe.random_runs import AGENTS, Noted, noted, play
from tests.observe.test_cost_tags import save_tagged
from tests.observe.test_figures import API

pytestmark = pytest.mark.every_database
NANO = 10**9
DIMENSIONS: dict[str, Callable[[Noted], str]] = {
    "flow": lambda each: each.flow,
    "agent": lambda each: each.agent,
    "model": lambda each: each.name,
    "tool": lambda each: each.name,
    "connector": lambda each: each.connector,
    "person": lambda each: each.person,
}


def _get(installation: Installation, path: str, **query: Any) -> Any:
    address = f"{API}/projects/{installation.scope.project_id}/{path}"
    answer = installation.owner.client.get(address, params=query)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["is_complete"]
    return found


def _rolled(installation: Installation) -> list[tuple[Any, ...]]:
    with installation.steward.database.read(installation.scope) as tx:
        return [
            row
            for table in (rollups, abouts, people, ended_hours, outputs)
            for row in sorted(tuple(row) for row in tx.rows(sa.select(table)))
        ]


def _now(installation: Installation) -> int:
    return int(installation.clock.now().timestamp()) // 3600


def _sums(found: Iterable[Noted]) -> dict[str, Any]:
    everything = list(found)
    roots = [each for each in everything if each.kind == "run" and each.is_root]
    return {
        "runs": len(roots),
        "failed": sum(each.name == "failed" for each in roots),
        "cancelled": 0,
        "usd": sum(each.nano_usd for each in everything),
        "tokens": sum(each.tokens for each in everything),
        "calls": sum(each.kind == "tool" for each in everything),
        "seconds": sum(each.milliseconds for each in roots),
    }


def _totals(shown: dict[str, Any]) -> dict[str, Any]:
    return {**shown, "usd": round(shown["usd"] * NANO), "seconds": round(shown["seconds"] * 1000)}


def _check_overview(installation: Installation, told: list[Noted], hours: int) -> None:
    shown, now = _get(installation, "overview", hours=hours), _now(installation)
    by_day = hours > 48 and hours % 24 == 0
    # Longer periods are whole days, today included.
    end = now - now % 24 + 23 if by_day else now
    inside = [each for each in told if end - hours < each.hour <= end]
    before = [each for each in told if end - 2 * hours < each.hour <= end - hours]
    assert _totals(shown["now"]) == _sums(inside)
    assert _totals(shown["before"]) == _sums(before)
    today = [each for each in told if each.hour // 24 == now // 24]
    assert round(shown["today_usd"] * NANO) == sum(each.nano_usd for each in today)
    kinds: dict[str, Callable[[Noted], tuple[str, bool]]] = {
        "flow": lambda each: (each.flow, each.kind == "run"),
        "model": lambda each: (each.name if each.kind == "model" else "", True),
        "tool": lambda each: (each.name if each.kind == "tool" else "", True),
        "connector": lambda each: (each.connector, True),
        "agent": lambda each: (
            each.name if each.kind == "agent" else each.agent,
            each.kind == "agent",
        ),
    }
    for kind, place in kinds.items():
        expected: defaultdict[str, list[int]] = defaultdict(lambda: [0] * 5)
        for each in inside:
            name, counted = place(each)
            if name:
                sums = (counted, bool(each.error) and counted, each.nano_usd, each.tokens)
                for at, value in enumerate((*sums, each.milliseconds * counted)):
                    expected[name][at] += value
        assert {
            each["name"]: [
                each["count"],
                each["errors"],
                round(each["usd"] * NANO),
                each["tokens"],
                round(each["seconds"] * 1000),
            ]
            for each in shown["ranked"]
            if each["kind"] == kind
        } == expected, kind
    _check_map(shown, inside, 24 if by_day else 1)


def _check_map(shown: dict[str, Any], inside: list[Noted], part: int) -> None:
    cells: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    failed: defaultdict[str, list[str]] = defaultdict(list)
    for each in inside:
        is_run = each.kind == "run"
        for at, value in enumerate((each.tokens, is_run, is_run and bool(each.error))):
            cells[each.flow, each.hour - each.hour % part][at] += value
        if is_run and each.is_root and each.error:
            failed[each.flow].append(each.run_id)
    assert {
        (cell["flow"], int(datetime.fromisoformat(cell["hour"]).timestamp()) // 3600): [
            cell["tokens"],
            cell["runs"],
            cell["errors"],
        ]
        for cell in shown["heat"]
        if cell["tokens"] or cell["runs"]
    } == {place: cell for place, cell in cells.items() if any(cell)}
    assert {each["flow"]: (each["failed"], each["last_run_id"]) for each in shown["failing"]} == {
        flow: (len(ids), max(ids)) for flow, ids in failed.items()
    }


def _check_costs(installation: Installation, told: list[Noted], days: int) -> None:
    today = installation.clock.now().date()
    for by, name in DIMENSIONS.items():
        kinds = (by,) if by in ("model", "tool") else ("model", "tool")
        expected = _spent(
            (name(each), each)
            for each in told
            if each.kind in kinds
            and (by != "connector" or each.connector != "")
            and each.at.date() > today - timedelta(days=days)
        )
        shown = _get(installation, "costs", by=by, days=days)
        assert _lines(shown) == expected, by
        assert round(shown["usd"] * NANO) == sum(line[0] for line in expected.values())


def _check_cost_days(installation: Installation, told: list[Noted], zone: str) -> None:
    found = installation.owner.client.get(
        f"{API}/projects/{installation.scope.project_id}/costs/days",
        params={"zone": zone, "days": 40},
    )
    today = installation.clock.now().astimezone(ZoneInfo(zone)).date()
    expected: defaultdict[str, int] = defaultdict(int)
    for each in told:
        # Figures are by the hour: an hour belongs to the day in which it begins.
        day = datetime.fromtimestamp(each.hour * 3600, ZoneInfo(zone)).date()
        if each.nano_usd and day > today - timedelta(days=40):
            expected[str(day)] += each.nano_usd
    assert {line["day"]: round(line["usd"] * NANO) for line in found.json()["items"]} == expected, (
        zone
    )


def _check_agents(installation: Installation, told: list[Noted], days: int) -> None:
    now = _now(installation)
    for agent in AGENTS:
        own = [
            each
            for each in told
            if (each.hour // 24 > now // 24 - days if days > 2 else each.hour > now - days * 24)
            and (each.agent == agent or (each.kind == "agent" and each.name == agent))
        ]
        shown = _get(installation, f"agents/{agent}/figures", days=days)
        works = [each for each in own if each.kind == "agent"]
        assert shown["works"] == len(works)
        assert shown["requests"] == sum(each.kind == "model" for each in own)
        assert shown["tokens"] == sum(each.tokens for each in own)
        assert round(shown["usd"] * NANO) == sum(each.nano_usd for each in own)
        assert round(shown["seconds"] * 1000) == sum(each.milliseconds for each in works)
        assert shown["runs"] == len({each.run_id for each in own})
        assert {
            each["day"]: (
                each["works"],
                each["tokens"],
                round(each["usd"] * NANO),
                round(each["seconds"] * 1000),
                (each["adhered"], each["judged"]),
            )
            for each in shown["days"]
        } == {
            day: (
                sum(each.kind == "agent" for each in found),
                sum(each.tokens for each in found),
                sum(each.nano_usd for each in found),
                sum(each.milliseconds for each in found if each.kind == "agent"),
                _kept_to_plans(found),
            )
            for day in {str(each.at.date()) for each in own}
            for found in [[each for each in own if str(each.at.date()) == day]]
        }
        failed = Counter(
            ("" if each.kind == "agent" else each.name, each.error) for each in own if each.error
        )
        assert {
            (each["where"], each["code"]): each["times"] for each in shown["failures"]
        } == failed
        taken = {each.run_id for each in own}
        assert shown["changes"] == sum(each.changes for each in told if each.run_id in taken)
        assert shown["undone"] == 0
        assert (shown["adhered"], shown["judged"]) == _kept_to_plans(own)
        assert [each["id"] for each in shown["last_runs"]] == sorted(taken, reverse=True)[:10]


def _kept_to_plans(found: Iterable[Noted]) -> tuple[int, int]:
    judged = [each.adhered for each in found if each.adhered is not None]
    return sum(judged), len(judged)


def _shown_sums(shown: dict[str, Any]) -> tuple[int, ...]:
    return (
        shown["count"],
        shown["errors"],
        round(shown["seconds"] * 1000),
        shown["tokens"],
        round(shown["usd"] * NANO),
        shown["changes"],
    )


def _own_sums(found: Iterable[Noted], counts: Callable[[Noted], bool]) -> tuple[int, ...]:
    everything = list(found)
    counted = [each for each in everything if counts(each)]
    return (
        len(counted),
        sum(each.error != "" for each in counted),
        sum(each.milliseconds for each in counted),
        sum(each.tokens for each in everything),
        sum(each.nano_usd for each in everything),
        sum(each.changes for each in everything),
    )


def _check_details(installation: Installation, told: list[Noted], days: int) -> None:
    today = _now(installation) // 24
    recent = [each for each in told if each.hour // 24 > today - days]
    counting: dict[str, Callable[[Noted], bool]] = {
        "flow": lambda each: each.kind == "run" and each.is_root,
        "connector": lambda each: True,
    }
    names = [("flow", each.flow) for each in told] + [
        ("connector", each.connector) for each in told if each.connector
    ]
    for kind, name in sorted(set(names)):
        shown = _get(installation, "overview/detail", kind=kind, name=name, days=days)
        own = [each for each in recent if getattr(each, kind) == name]
        counts = counting[kind]
        assert _shown_sums(shown["total"]) == _own_sums(own, counts)
        assert {each["day"]: _shown_sums(each) for each in shown["days"]} == {
            day: _own_sums((each for each in own if str(each.at.date()) == day), counts)
            for day in {str(each.at.date()) for each in own}
        }
        if kind == "flow":
            assert {each["revision"]: _shown_sums(each) for each in shown["versions"]} == {
                revision: _own_sums((each for each in own if each.revision == revision), counts)
                for revision in {each.revision for each in own}
            }
            assert {
                each["name"]: _shown_sums(each)
                for each in shown["parts"]
                if each["kind"] == "agent"
            } == {
                agent: _own_sums(
                    (each for each in own if agent in (each.agent, each.name)),
                    lambda each: each.kind == "agent",
                )
                for agent in AGENTS
                if any(agent in (each.agent, each.name) for each in own)
            }
        failed: defaultdict[tuple[str, str], int] = defaultdict(int)
        for each in own:
            if each.error and each.kind != "agent" and (each.kind != "run" or each.is_root):
                failed["" if each.kind == "run" else each.name, each.error] += 1
        assert {
            (each["where"], each["code"]): each["times"] for each in shown["failures"]
        } == failed


def _check_summary(installation: Installation, told: list[Noted], days: int) -> None:
    steward, today = installation.steward, installation.clock.now().date()
    shown = steward.activity.of_days(installation.owner.access, days)
    assert shown.last == today - timedelta(days=1)

    def totals(last: date) -> dict[str, Any]:
        first = last - timedelta(days=days - 1)
        return _sums(each for each in told if first <= each.at.date() <= last)

    for found, expected in (
        (shown.now, totals(shown.last)),
        (shown.before, totals(shown.first - timedelta(days=1))),
    ):
        assert {
            "runs": found.runs,
            "failed": found.failed,
            "cancelled": found.cancelled,
            "usd": found.nano_usd,
            "tokens": found.tokens,
            "calls": found.calls,
            "seconds": found.milliseconds,
        } == expected


def _check_alert_figures(installation: Installation, told: list[Noted]) -> None:
    """What the preview of a rule draws, hour by hour: all that a run did counts where it ended."""
    ends = {each.run_id: each.hour for each in told if each.kind == "run"}
    roots = [each for each in told if each.kind == "run" and each.is_root]
    now, made = _now(installation), hour_of(created_at(installation.scope.project_id))
    window = 24
    figures: dict[str, Callable[[Noted], float]] = {
        "runs": lambda each: each in roots,
        "failed_runs": lambda each: each in roots and each.name == "failed",
        "spend": lambda each: each.nano_usd,
        "tokens": lambda each: each.tokens,
    }
    for figure, amount in figures.items():
        by_hour: defaultdict[int, float] = defaultdict(float)
        for each in told:
            by_hour[ends[each.run_id]] += amount(each)
        condition = {"kind": "above", "threshold": 0}
        rule = {"name": "A", "figure": figure, "window_hours": window, "condition": condition}
        answer = installation.owner.client.post(
            f"{API}/projects/{installation.scope.project_id}/alert-rule-preview", json=rule
        )
        assert answer.status_code == 200, answer.text
        values = answer.json()["values"]
        unit = NANO if figure == "spend" else 1
        assert [None if value is None else round(value * unit) for value in values] == [
            None if at < made else sum(by_hour[at - back] for back in range(window))
            for at in range(now - len(values) + 1, now + 1)
        ], figure
        assert any(values)


def _check_pages(installation: Installation) -> None:
    told = noted(installation)
    assert {each.kind for each in told} == {"run", "model", "tool", "agent"}
    for hours in (24, 50, 24 * 7, 24 * 31):
        _check_overview(installation, told, hours)
    for days in (1, 7, 40):
        _check_costs(installation, told, days)
        _check_agents(installation, told, days)
        _check_details(installation, told, days)
    for days in (1, 7, 31):
        _check_summary(installation, told, days)
    _check_alert_figures(installation, told)
    for zone in ("UTC", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland"):
        _check_cost_days(installation, told, zone)


@pytest.mark.parametrize("seed", range(2))
def test_figures_on_every_page_equal_sums_over_journals(
    installation: Installation, seed: int
) -> None:
    random = Random(seed)
    for _ in range(3):
        # Pages are read in between: figures grow by what is new.
        play(installation, random, runs=14, hours=240)
        _get(installation, "overview")
    _check_pages(installation)
    # Old minutes are not made again.
    installation.steward.observations.projector.sums.tidy()
    before = _rolled(installation)
    assert installation.steward.observations.projector.rebuild(installation.scope) >= 42
    assert _rolled(installation) == before
    _check_pages(installation)


def _spent(found: Iterable[tuple[str, Noted]]) -> dict[tuple[str, str], list[int]]:
    """By day and name: dollars, tokens in and out, requests and calls."""
    expected: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 4)
    for name, each in found:
        amounts = (each.nano_usd, each.input_tokens, each.output_tokens, 1)
        for at, value in enumerate(amounts):
            expected[str(each.at.date()), name][at] += value
    return expected


def _lines(shown: dict[str, Any]) -> dict[tuple[str, str], list[int]]:
    return {
        (line["day"], line["name"]): [
            round(line["usd"] * NANO),
            line["input_tokens"],
            line["output_tokens"],
            line["count"],
        ]
        for line in shown["lines"]
    }


def test_costs_by_tag_and_by_project_equal_sums_over_journals(installation: Installation) -> None:
    other = installation.project("Other")
    tags = {"both": ["sales", "finance"], "one": ["sales"], "plain": []}
    flows = {
        f"playbook:{save_tagged(installation, slug, named)}": named for slug, named in tags.items()
    }
    random, there = Random(5), Scope(installation.scope.org_id, other)
    for scope in (installation.scope, there, installation.scope):
        played = [*flows, None] if scope == installation.scope else [None]
        play(installation, random, runs=10, hours=100, flows=played, scope=scope)
    told = {
        project: [each for each in noted(installation, project) if each.kind in ("model", "tool")]
        for project in (installation.scope.project_id, other)
    }
    assert all(sum(each.nano_usd for each in found) for found in told.values())
    own = told[installation.scope.project_id]
    by_tag = _get(installation, "costs", by="tag", days=40)
    assert _lines(by_tag) == _spent(
        (tag, each) for each in own for tag in flows.get(each.flow) or [""]
    )
    assert round(by_tag["usd"] * NANO) == sum(each.nano_usd for each in own)
    by_project = _get(installation, "costs", by="project", days=40)
    everything = [(project, each) for project, found in told.items() for each in found]
    assert _lines(by_project) == _spent(everything)
    assert round(by_project["usd"] * NANO) == sum(each.nano_usd for _, each in everything)


def test_two_that_count_the_same_runs_add_them_once(installation: Installation) -> None:
    play(installation, Random(3), runs=10, hours=30)
    steward = installation.steward
    first = steward.observations.projector
    other = Projector(steward.database, steward.runs, first.sums, first.run_outputs)
    missing = other._missing(installation.scope, None)
    first.catch_up(installation.scope)
    # It had looked before the first one was done.
    other._add(installation.scope, missing)
    _check_pages(installation)


def test_minutes_and_hours_go_with_time_and_days_stay(installation: Installation) -> None:
    play(installation, Random(4), runs=8, hours=24)
    _get(installation, "overview")
    steward = installation.steward

    def grains() -> set[int]:
        with steward.database.read(installation.scope) as tx:
            return {row.grain for row in tx.rows(sa.select(rollups.c.grain).distinct())}

    tidy = steward.observations.projector.sums.tidy
    tidy()
    assert grains() == {MINUTE, HOUR, DAY}
    for days, left in ((4, {HOUR, DAY}), (100, {DAY})):
        installation.clock.advance(days=days)
        tidy()
        assert grains() == left
        # What is counted again later brings nothing back that is too old.
        steward.observations.projector.rebuild(installation.scope)
        assert grains() == left
    told = [each.nano_usd for each in noted(installation)]
    costs = steward.observations.costs.report(
        installation.scope, installation.clock.now(), 366, "flow"
    )
    assert costs.nano_usd == sum(told) > 0


def test_the_day_that_is_under_way_is_read_as_one(installation: Installation) -> None:
    sums = installation.steward.observations.projector.sums
    engine = sa.create_engine("sqlite://")

    def spelled(held: sa.ColumnElement[bool]) -> str:
        return str(held.compile(engine, compile_kwargs={"literal_binds": True}))

    now = hour_of(installation.clock.now())
    assert now % 24 not in {0, 23}
    midnight = now - now % 24
    assert spelled(sums.between(midnight - 24, now)) == spelled(
        hours_between(midnight - 24, midnight + 23)
    )
    # What ended before now may have more after it.
    for last in (now - 1, now - 24):
        assert spelled(sums.between(midnight - 48, last)) == spelled(
            hours_between(midnight - 48, last)
        )


@given(st.integers(0, 200), st.integers(1, 200))
def test_hours_are_made_of_whole_days_where_there_are_any(first: int, hours: int) -> None:
    last = first + hours - 1
    engine = sa.create_engine("sqlite://")
    held = hours_between(first, last).compile(engine, compile_kwargs={"literal_binds": True})
    covered: list[int] = []
    for grain, size in ((HOUR, 1), (DAY, 24)):
        for at in range(420 // size):
            text = str(held).replace("observed_rollups.grain", str(grain))
            with engine.connect() as connection:
                found = connection.exec_driver_sql(
                    f"SELECT {text.replace('observed_rollups.at', str(at))}"
                ).scalar_one()
            if found:
                covered += range(at * size, (at + 1) * size)
    assert sorted(covered) == list(range(first, last + 1))


def test_a_fork_counts_only_what_it_did_itself(installation: Installation) -> None:
    steward, scope = installation.steward, installation.scope

    async def three_requests(execution: Execution) -> Json:
        async def answer() -> Json:
            installation.clock.advance(seconds=2)
            usage = {"input_tokens": 100, "output_tokens": 20, "cost": "0.25"}
            return {"model": "openai:small", "parts": [], "usage": usage}

        for n in range(3):
            request: Json = {"role": "operator", "messages": []}
            await execution.step(f"ask-{n}", request, answer, type=EntryType.model_asked)
        return None

    steward.runs.programs["three"] = three_requests
    author = installation.owner.user.id
    run = steward.runs.start(scope, author, RunRequest("Three", "three", {}, {}))
    steward.runs.drive_until_idle()
    installation.clock.advance(minutes=5)
    fork = steward.runs.fork(scope, author, run.id, at="ask-2", changes={})
    installation.clock.advance(minutes=5)
    steward.runs.drive_until_idle()
    assert steward.runs.get(scope, fork.id).status is Status.done
    shown = _get(installation, "costs", by="model", days=7)
    assert [(line["count"], line["usd"]) for line in shown["lines"]] == [(4, 1.0)]
    assert _get(installation, "overview")["now"]["runs"] == 2
