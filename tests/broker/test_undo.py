"""What a run did to data can be taken back and put back, with what depends on it shown first; a fork has data of its own."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steward.broker.undo import Way
from steward.core.errors import Conflict, Denied, NotFound
from steward.identity import Access
from steward.runs import Run
from steward.tables.engine import session
from tests.broker.conftest import Desk

pytestmark = pytest.mark.every_database

PEOPLE = "id,name,city\n1, Ann ,berlin\n2,Bob, Paris\n3,Cid,Rome\n"


@pytest.fixture
def people(desk: Desk, tmp_path: Path) -> Desk:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    desk.steward.workbench.bringing.load(
        desk.access.scope, desk.access.user_id, path, "people.csv", "people"
    )
    return desk


def names(desk: Desk, branch: str = "main") -> list[str]:
    workspace = desk.steward.workbench.datasets.workspace(desk.access.scope, desk.access.user_id)
    table = workspace.table("people", branch)
    with session() as connection:
        rows = connection.execute(f"SELECT name FROM {table.source} ORDER BY id").fetchall()
    return [name for (name,) in rows]


def clean(desk: Desk, operation: str = "trim", **arguments: Any) -> Run:
    node = {
        "id": "tidy",
        "type": "tool",
        "tool": "clean",
        "arguments": {
            "dataset": "people",
            "operation": operation,
            "arguments": {"columns": ["name"], **arguments},
        },
    }
    run = desk.start(node)
    desk.drive()
    assert desk.status(run) == "done", desk.outcome(run)
    return run


def turned(desk: Desk, run: Run, verb: str, access: Access | None = None, **how: Any) -> Any:
    undoing = desk.steward.governing.undoing
    turn = {"undo": undoing.undo, "redo": undoing.redo}[verb]
    return asyncio.run(turn(access or desk.access, run.id, "tidy", **how))


def test_an_action_is_undone_redone_and_both_are_in_the_journal(people: Desk) -> None:
    before = names(people)
    run = clean(people)
    after = names(people)
    assert (before[0], after[0]) == (" Ann ", "Ann")
    (action,) = people.steward.governing.undoing.actions(people.access.scope, run.id)
    assert (action.way, action.undone, len(action.commits)) == (Way.version, False, 1)
    for _ in range(2):
        assert turned(people, run, "undo").undone is True
        assert names(people) == before
        with pytest.raises(Conflict):
            turned(people, run, "undo")
        assert turned(people, run, "redo").undone is False
        assert names(people) == after
    assert people.outcome(run)["output"] is not None, "what it found is still told"
    kinds = [e.kind for e in people.steward.runs.journal.entries(people.access.scope, run.id)]
    assert kinds[-4:] == ["undo", "redo", "undo", "redo"]
    assert people.steward.runs.verify(people.access.scope, run.id).is_intact
    assert people.replays(run)


def test_what_was_built_upon_it_is_shown_first(people: Desk) -> None:
    first = clean(people)
    second = clean(people, "case", style="upper")
    plan = people.steward.governing.undoing.plan(people.access.scope, first.id, "tidy")
    assert [(d.name, d.reason) for d in plan.dependants] == [("people", "changed it again")]
    assert plan.blocked == ("people",)
    with pytest.raises(Conflict, match="both sides changed it"):
        turned(people, first, "undo")
    events = people.steward.events.before(people.access.scope, None, 20)
    assert "org.steward.run.undo_failed" in [event.type for event in events]
    turned(people, second, "undo")
    turned(people, first, "undo")
    assert names(people)[0] == " Ann "


def test_strangers_and_viewers_cannot_undo(people: Desk, viewer: Access) -> None:
    run = clean(people)
    with pytest.raises(Denied):
        turned(people, run, "undo", viewer)
    with pytest.raises(NotFound):
        asyncio.run(people.steward.governing.undoing.undo(people.access, run.id, "nothing"))


def test_a_message_that_went_out_says_that_it_cannot_be_taken_back(people: Desk) -> None:
    run = people.call("test_send")
    people.drive()
    people.decide(people.approval(run))
    people.passed_window()
    (action,) = people.steward.governing.undoing.actions(people.access.scope, run.id)
    assert action.way is Way.none
    with pytest.raises(Denied, match="cannot be taken back"):
        asyncio.run(people.steward.governing.undoing.undo(people.access, run.id, "call"))


def test_a_fork_works_on_a_branch_of_its_own(people: Desk) -> None:
    run = clean(people)
    after = names(people)
    forking = people.steward.governing.forking
    pointer = "/document/nodes/0/arguments/operation"
    changes = {pointer: "case", "/document/nodes/0/arguments/arguments/style": "upper"}
    fork = forking.fork(people.access, run.id, at="tidy", changes=changes)
    people.drive()
    assert people.status(fork) == "done", people.outcome(fork)
    assert names(people) == after, "the original stays as it is"
    branch = people.steward.runs.request(people.access.scope, fork.id).grant["branch"]
    assert names(people, branch) == [" ANN ", "BOB", "CID"]
    assert people.replays(fork)


def test_measures_count_what_happened(people: Desk) -> None:
    run = clean(people)
    turned(people, run, "undo")
    since = people.clock.now().replace(year=2025)
    found = people.steward.governing.measures.since(people.access.scope, since)
    assert (found.completion_rate, found.undo_success_rate) == (1.0, 1.0)
    assert found.runs == {"done": 1}
