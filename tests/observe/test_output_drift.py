"""Drift of a flow's outputs: what is measured, what counts as changed, and that alerts and previews agree."""

from collections.abc import Callable
from itertools import pairwise
from math import exp
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa

from steward.core import MovableClock
from steward.identity import Role
from steward.observe._tables import outputs
from steward.observe.output_drift import Drift, OutputPast, RunOutput, _Sums
from steward.observe.run_outputs import Measures, measures_of
from steward.runs import Entry, EntryType, Json
from steward.testing import Installation

DAY = 24
BACK, LEAST = 28 * DAY, 14 * DAY


def entry(type_: EntryType, of: str, data: Json) -> Entry:
    assert isinstance(data, dict)
    return Entry(1, "step.outcome", of, "", data, "", "", type_.value, of)


def measured(output: Json, **steps: Json) -> Measures:
    calls = [
        entry(EntryType.call_done, of, {"result": {"value": value}}) for of, value in steps.items()
    ]
    done = entry(EntryType.run_done, "run", {"output": output})
    return measures_of([*calls, done], lambda value: value)


# What is measured


def test_a_table_is_measured_by_its_rows_and_columns() -> None:
    table = {
        "columns": [{"name": "mail", "type": "VARCHAR"}, {"name": "sum", "type": "DOUBLE"}],
        "rows": [["a@b.c", 1], [None, 2], ["  ", 6], ["d@e.f", None]],
    }
    assert measured(table) == {
        "output": {
            "": {"rows": 4},
            "mail": {"empty": 50},
            "sum": {"empty": 25, "mean": 3},
        }
    }
    as_objects = [{"mail": "a@b.c", "sum": 1}, {"sum": 2}]
    assert measured({"found": as_objects})["output.found"] == {
        "": {"rows": 2},
        "mail": {"empty": 50},
        "sum": {"empty": 0, "mean": 1.5},
    }


def test_columns_of_an_empty_table_are_there() -> None:
    assert measured({"columns": ["a"], "rows": []}) == {"output": {"": {"rows": 0}, "a": {}}}


def test_numbers_and_empty_fields_of_an_output_are_measured() -> None:
    found = measured({"total": 3, "sent": True, "note": "", "text": "x", "tags": ["a", "b"]})
    assert found == {
        "output": {
            "total": {"number": 3},
            "sent": {"number": 1},
            "note": {"empty": 100},
            "text": {"empty": 0},
        },
        "output.tags": {"": {"rows": 2}},
    }
    assert measured(5) == {"output": {"": {"number": 5}}}
    assert measured(float("nan")) == {"output": {"": {}}}


def test_of_steps_tables_and_counts_are_measured() -> None:
    load = {"dataset": "orders", "version": "ver_1", "counts": {"rows": 900, "rejected": 2}}
    look = {"columns": ["n"], "rows": [[4]], "sql": "SELECT 4"}
    assert measured(None, load=load, look=look) == {
        "load.counts": {"rows": {"number": 900}, "rejected": {"number": 2}},
        "look": {"": {"rows": 1}, "n": {"empty": 0, "mean": 4}},
        "output": {"": {"empty": 100}},
    }
    # Inside a loop, names would count the rounds.
    inner = entry(EntryType.call_done, "each/0/look", {"result": {"value": look}})
    assert measures_of([inner], lambda value: value) == {}


# What has changed


def past(values: list[Measures], every: int = DAY) -> OutputPast:
    return OutputPast(
        RunOutput(hour * every, f"run_{hour}", each) for hour, each in enumerate(values)
    )


def found(values: list[Measures], floor: float = 20, since: int = 0) -> Drift | None:
    last = (len(values) - 1) * DAY
    return past(values).drift(last, floor, since, back=BACK, least=LEAST)


def told(values: list[Measures], floor: float = 20) -> list[str]:
    drift = found(values, floor)
    assert drift is not None
    return [each.sentence for each in drift.drifted]


def rows(count: float) -> Measures:
    return {"output": {"": {"rows": count}}}


def test_a_number_far_from_its_past_has_drifted() -> None:
    usual = [rows(1000 + 10 * (n % 5)) for n in range(20)]
    assert told([*usual, rows(1030)]) == []
    assert told([*usual, rows(100)]) == ["The output has 100 rows (usually 816 to 1,224)."]
    assert told([*usual, rows(1300)]) == ["The output has 1,300 rows (usually 816 to 1,224)."]
    assert told([*usual, rows(1300)], floor=50) == []
    drift = found([*usual, rows(100)])
    assert drift is not None
    assert drift.run_id == "run_20"


def test_an_output_without_rows_has_drifted_however_much_they_vary() -> None:
    random = Random(1)
    usual = [rows(random.randrange(1, 2000)) for _ in range(25)]
    [said] = told([*usual, rows(0)])
    assert said.startswith("The output has 0 rows")
    assert told([*usual[:20], rows(0), *usual[20:], rows(0)]) == []


def test_columns_that_appear_or_vanish_are_told() -> None:
    usual: list[Measures] = [
        {"look": {"": {"rows": 5}, "mail": {"empty": 0}, "name": {"empty": 0}}} for _ in range(20)
    ]
    now: Measures = {"look": {"": {"rows": 5}, "name": {"empty": 60}, "e-mail": {"empty": 0}}}
    assert told([*usual, now]) == [
        "“mail” in “look” is missing.",
        "“e-mail” in “look” is new.",
        "“name” in “look” is empty in 60 % (usually 0 to 20 %).",
    ]
    # What was there only sometimes is not missed, and a step that is gone is told once.
    assert told([{}, *usual, {}]) == []
    assert told([*usual, rows(1)]) == ["“look” is missing.", "The output is new."]


def test_too_little_is_known_at_first_and_after_a_new_normal() -> None:
    usual = [rows(10)] * 14
    assert found([*usual, rows(90)]) is not None
    assert found([*usual[:13], rows(90)]) is None
    assert found([*usual, rows(90)], since=3 * DAY) is None
    # Ten runs once a week, longer ago than four weeks.
    weekly = past([*usual[:10], rows(90)], every=7 * DAY)
    drift = weekly.drift(10 * 7 * DAY, 20, 0, back=BACK, least=LEAST)
    assert drift is not None
    assert drift.drifted
    # Many runs on one day say nothing about other days.
    assert past([rows(10)] * 30, every=1).drift(29, 20, 0, back=BACK, least=LEAST) is None


def test_sums_over_any_runs_are_those_added_up() -> None:
    random = Random(7)
    values = [1e6 + random.expovariate(1 / 3) for _ in range(60)]
    sums = _Sums(list(enumerate(values)))
    for first, end in ((0, 60), (10, 30), (55, 60)):
        part = values[first:end]
        count, mean, squares = sums.between(first, end)
        own = sum(part) / len(part)
        spread = sum((each - own) ** 2 for each in part)
        assert count == len(part)
        assert mean == pytest.approx(own)
        assert squares == pytest.approx(spread, rel=1e-6)
        skew, likeness = sums.shape(first, end)
        third = sum((each - own) ** 3 for each in part) / len(part)
        assert skew == pytest.approx(third / (spread / len(part)) ** 1.5, rel=1e-4)
        pairs = pairwise(part)
        alike = sum((one - own) * (other - own) for one, other in pairs) / spread
        # The first and the last count once less: with few values that is most of the difference.
        assert abs(likeness - max(0.0, alike)) < 4 / len(part)


def test_weekends_are_compared_with_weekends() -> None:
    random = Random(3)

    def usual(day: int) -> float:
        # Hour 0 was a Thursday: days 2 and 3 are a weekend.
        return (200 if day % 7 in (2, 3) else 1000) + random.randrange(40)

    known = [rows(usual(day)) for day in range(37)]
    assert [told(known[:days]) for days in range(30, 38)] == [[]] * 8
    # Day 37 is a weekend again.
    assert told([*known, rows(210)]) == []
    [said] = told([*known, rows(1000)])
    assert said.startswith("The output has 1,000 rows (usually")
    [said] = told([*known[:35], rows(330)])
    assert said.startswith("The output has 330 rows (usually")


def test_a_lasting_drop_is_found_where_outputs_vary_a_lot() -> None:
    caught = alarms = days = 0
    for seed in range(30):
        random = Random(seed)
        values = [1000 * exp(random.gauss(0, 0.5)) for _ in range(90)]
        before = past([rows(value) for value in values])
        verdicts = [before.drift(day * DAY, 30, 0, back=BACK, least=LEAST) for day in range(30, 90)]
        alarms += sum(bool(each and each.drifted) for each in verdicts)
        days += len(verdicts)
        after = past([rows(value / 3 if day >= 60 else value) for day, value in enumerate(values)])
        drifts = [after.drift(day * DAY, 30, 0, back=BACK, least=LEAST) for day in range(60, 67)]
        caught += any(each and each.drifted for each in drifts)
        said = [one.sentence for each in drifts if each for one in each.drifted]
        assert all("usually" in each for each in said)
    assert caught >= 20
    assert alarms / days * 30 < 0.6


# Alerts about it

PLAYBOOK = """\
format: 1
id: daily-list
name: Daily list
budget: {usd: 1}
inputs:
  type: object
  properties: {rows: {type: array}}
graph:
  nodes:
    - {id: result, type: output, value: "${inputs.rows}"}
"""
RULE: dict[str, Any] = {
    "name": "Outputs",
    "figure": "output_drift",
    "each_flow": True,
    "condition": {"kind": "unusual", "floor": 20},
}


@pytest.fixture
def run_list(installation: Installation) -> Callable[[int], None]:
    base = f"/api/v1/projects/{installation.scope.project_id}"
    made = installation.owner.client.post(f"{base}/playbooks", json={"yaml": PLAYBOOK})
    assert made.status_code == 201, made.text

    def run(count: int, **more: Any) -> None:
        clock: MovableClock = installation.clock
        clock.advance(days=1)
        rows = [{"name": "a", "amount": 5, **more}] * count
        started = installation.owner.client.post(
            f"{base}/playbooks/daily-list/runs", json={"inputs": {"rows": rows}}
        )
        assert started.status_code in {200, 201, 202}, started.text
        installation.steward.runs.drive_until_idle()
        installation.steward.observations.alert_rounds.round()

    return run


def _get(installation: Installation, path: str, role: Role = Role.owner) -> Any:
    who = installation.owner if role is Role.owner else installation.person(role)
    answer = who.client.get(f"/api/v1/projects/{installation.scope.project_id}/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _post(installation: Installation, path: str, body: Any) -> Any:
    answer = installation.owner.client.post(
        f"/api/v1/projects/{installation.scope.project_id}/{path}", json=body
    )
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


@pytest.mark.every_database
def test_an_output_that_drifts_fires_is_told_and_resolves(
    installation: Installation, run_list: Callable[..., None]
) -> None:
    _post(installation, "alert-rules", RULE)
    for n in range(15):
        run_list(20 + n % 3)
    assert _get(installation, "alerts")["items"] == []
    run_list(3, mail="a@b.c")
    [alert] = _get(installation, "alerts")["items"]
    [added, fewer] = alert["changes"]
    assert added == "“mail” in the output is new."
    assert fewer.startswith("The output has 3 rows (usually ")
    assert (alert["flow_title"], alert["value"]) == ("Daily list", 2)
    run = _get(installation, f"runs/{alert['run_id']}")
    assert run["title"] == "Daily list"
    [note] = _get(installation, "notifications")["items"]
    assert "the output of “Daily list” changed. “mail” in the output is new." in note["body"]
    # Others do not see the playbook, nor what its outputs look like.
    assert _get(installation, "alerts", Role.viewer)["items"] == []
    previewed = _post(installation, "alert-rule-preview", RULE)
    assert previewed["times"] == 1
    run_list(21)
    assert _get(installation, "alerts")["items"] == []
    assert _post(installation, "alert-rule-preview", RULE)["times"] == 1
    [resolved] = _get(installation, "alerts?state=resolved")["items"]
    assert resolved["resolved_why"] == "recovered"

    def stored() -> list[str]:
        with installation.steward.database.read(installation.scope) as tx:
            return sorted(str(tuple(row)) for row in tx.rows(sa.select(outputs)))

    before = stored()
    assert len(before) == 17
    installation.steward.observations.projector.rebuild(installation.scope)
    assert stored() == before
    assert _post(installation, "alert-rule-preview", RULE)["times"] == 1
    # Outputs go as figures by the hour do.
    installation.clock.advance(days=100)
    installation.steward.observations.projector.sums.tidy()
    assert stored() == []


def test_a_new_output_is_accepted_as_normal(
    installation: Installation, run_list: Callable[..., None]
) -> None:
    _post(installation, "alert-rules", RULE)
    for _ in range(15):
        run_list(20)
    run_list(60)
    [alert] = _get(installation, "alerts")["items"]
    assert _post(installation, f"alerts/{alert['id']}/normal", {})["resolved_why"] == "new_normal"
    run_list(60)
    assert _get(installation, "alerts")["items"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"condition": {"kind": "above", "threshold": 3}},
        {"each_flow": False},
        {"condition": {"kind": "unusual", "floor": 0}},
    ],
)
def test_wrong_rules_about_outputs_are_refused(
    installation: Installation, wrong: dict[str, Any]
) -> None:
    answer = installation.owner.client.post(
        f"/api/v1/projects/{installation.scope.project_id}/alert-rules", json={**RULE, **wrong}
    )
    assert answer.status_code == 422
