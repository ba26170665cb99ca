"""A whole run goes back in one call; a change that later ones depend on goes back together with them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.broker.taking_back import TakeBackPlan, Whole
from steward.core.errors import Conflict, Denied
from steward.identity import Access
from steward.runs import Run
from tests.broker.conftest import Desk

PEOPLE = "id,name,city\n1, Ann ,berlin\n2,Bob, Paris\n3,Cid,Rome\n"
TIDY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("trim", {"columns": ["name"]}),
    ("case", {"columns": ["name"], "style": "upper"}),
    ("case", {"columns": ["city"], "style": "lower"}),
    ("trim", {"columns": ["city"]}),
)


@pytest.fixture
def people(desk: Desk, tmp_path: Path) -> Desk:
    for name in ("people", "others"):
        path = tmp_path / f"{name}.csv"
        path.write_text(PEOPLE)
        desk.steward.workbench.bringing.load(
            desk.access.scope, desk.access.user_id, path, f"{name}.csv", name
        )
    return desk


def state(desk: Desk) -> dict[str, str]:
    """Each dataset and file of the main branch with what it holds."""
    place = desk.steward.workbench.datasets.workspace(desk.access.scope, desk.access.user_id)
    found = {dataset.name: dataset.version for dataset in place.datasets()}
    return found | {file.path: file.digest for file in place.files()}


def changing(desk: Desk, *steps: tuple[str, int]) -> Run:
    """A run that changes datasets: each step is a dataset and which operation."""
    nodes = [
        {
            "id": f"step{number}",
            "type": "tool",
            "tool": "clean",
            **({"needs": [f"step{number - 1}"]} if number else {}),
            "arguments": {
                "dataset": dataset,
                "operation": TIDY[which][0],
                "arguments": TIDY[which][1],
            },
        }
        for number, (dataset, which) in enumerate(steps)
    ]
    run = desk.start(*nodes)
    desk.drive()
    assert desk.status(run) == "done", desk.outcome(run)
    return run


def planned(desk: Desk, run: Run, key: str | None = None) -> TakeBackPlan:
    return desk.steward.governing.undoing.plan_whole(desk.access.scope, Whole(run.id, key))


def taken_back(desk: Desk, run: Run, access: Access | None = None, **how: Any) -> Any:
    undoing = desk.steward.governing.undoing
    whole = Whole(run.id, how.pop("key", None))
    return asyncio.run(undoing.take_back(access or desk.access, whole, **how))


def undone(desk: Desk, run: Run) -> list[bool]:
    return [a.undone for a in desk.steward.governing.undoing.actions(desk.access.scope, run.id)]


def test_a_run_goes_back_in_one_call_and_says_so(people: Desk) -> None:
    before = state(people)
    run = changing(people, ("people", 0), ("people", 1), ("others", 2))
    after = state(people)
    assert after != before
    done = taken_back(people, run)
    assert (state(people), done.value["count"]) == (before, 3)
    actions = people.steward.governing.undoing.actions(people.access.scope, run.id)
    assert [(a.undone, a.turned_by) for a in actions] == [(True, people.access.user_id)] * 3
    with pytest.raises(Conflict, match="nothing left"):
        taken_back(people, run)
    asyncio.run(people.steward.governing.undoing.undo(people.access, done.run.id, "call"))
    assert state(people) == after, "taking back is itself undone in one step"


def test_later_changes_that_depend_on_it_are_listed_and_go_back_with_it(people: Desk) -> None:
    before = state(people)
    first = changing(people, ("people", 0))
    second = changing(people, ("people", 1), ("others", 2))
    plan = planned(people, first)
    assert [(step.run_id, step.key, step.later) for step in plan.steps] == [
        (second.id, "step0", True),
        (first.id, "step0", False),
    ]
    assert plan.blocked == ("people",)
    with pytest.raises(Conflict, match="Later changes edited people"):
        taken_back(people, first)
    taken_back(people, first, with_later=True)
    assert state(people)["people"] == before["people"]
    assert state(people)["others"] != before["others"], "what does not depend on it stays"
    assert (undone(people, first), undone(people, second)) == ([True], [True, False])


def test_one_change_of_a_run_goes_back_with_the_later_ones(people: Desk) -> None:
    run = changing(people, ("people", 0), ("people", 1), ("others", 2))
    assert [step.key for step in planned(people, run, "step0").steps] == ["step1", "step0"]
    taken_back(people, run, key="step0", with_later=True)
    assert undone(people, run) == [True, True, False]


def test_what_was_undone_in_the_history_counts_as_taken_back(people: Desk) -> None:
    before = state(people)
    run = changing(people, ("people", 0), ("people", 1))
    place = people.steward.workbench.datasets.workspace(people.access.scope, people.access.user_id)
    place.undo()
    taken_back(people, run)
    assert (state(people), undone(people, run)) == (before, [True, True])


def test_a_message_that_went_out_is_listed_as_staying(people: Desk) -> None:
    run = people.call("test_send")
    people.drive()
    people.decide(people.approval(run))
    people.passed_window()
    plan = planned(people, run)
    assert (plan.steps, [action.tool for action in plan.left]) == ((), ["test_send"])
    with pytest.raises(Conflict, match="nothing left"):
        taken_back(people, run)


def test_viewers_cannot_take_back(people: Desk, viewer: Access) -> None:
    run = changing(people, ("people", 0))
    with pytest.raises(Denied):
        taken_back(people, run, viewer)
    assert undone(people, run) == [False]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["people", "others"]), st.integers(0, len(TIDY) - 1)),
    min_size=1,
    max_size=3,
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(runs=st.lists(CHANGES, min_size=1, max_size=4), data=st.data())
def test_after_taking_back_the_state_is_what_it_was(
    people: Desk, runs: list[list[tuple[str, int]]], data: st.DataObject
) -> None:
    """With what depends on it, a run leaves nothing behind in the datasets it touched."""
    states, made = [state(people)], []
    for steps in runs:
        made.append(changing(people, *steps))
        states.append(state(people))
    which = data.draw(st.integers(0, len(made) - 1))
    touched = {dataset for dataset, _ in runs[which]}
    if not planned(people, made[which]).steps:
        return
    taken_back(people, made[which], with_later=True)
    now = state(people)
    assert {name: now[name] for name in touched} == {n: states[which][n] for n in touched}
    # The rest goes back by taking back what is left, newest first.
    for run in reversed(made):
        if planned(people, run).steps:
            taken_back(people, run)
    assert state(people) == states[0]
