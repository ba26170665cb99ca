"""Playbooks that work on another branch than main: their triggers, checks and tests look at its data."""

from pathlib import Path

import pytest

from steward.broker.grants import Grant
from steward.core.errors import Denied
from steward.identity import Role
from steward.playbooks.rehearsals import Wish
from steward.runs import Run
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import output

ON_STAGING = """\
format: 1
id: totals
budget: {usd: 1}
data: [{dataset: sales, columns: {amount: number}}]
tools: [query]
steps:
  - {id: total, tool: query, arguments: {sql: "SELECT sum(amount) AS total FROM sales"}}
output: {total: "${nodes.total.output.rows}"}
triggers: [TRIGGER]
"""
CHANGED = "{type: dataset_changed, dataset: sales, branch: staging}"


@pytest.fixture
def database_url() -> None:
    """SQLite alone: the SQL is DuckDB's."""


@pytest.fixture
def staged(room: Room) -> Room:
    """A branch beside main."""
    workbench, access = room.installation.steward.workbench, room.editor.access
    workbench.versions.workspace(access.scope, access.user_id).create_branch("staging")
    return room


def load(room: Room, folder: Path, branch: str, column: str, value: int) -> None:
    file = folder / f"{branch}-{value}.csv"
    file.write_text(f"{column}\n{value}\n")
    access = room.editor.access
    room.installation.steward.workbench.bringing.load(
        access.scope, access.user_id, file, file.name, "sales", branch=branch
    )


def branch_of(room: Room, run: Run) -> str:
    return Grant.from_json(room.runs.request(run.scope, run.id).grant).branch


def runs_of(room: Room, made: str) -> list[Run]:
    found: list[Run] = room.runs.records.listed(
        room.editor.access.scope, subject=f"playbook:{made}"
    )
    return found


def test_a_change_of_a_branch_starts_a_run_that_works_on_it(staged: Room, tmp_path: Path) -> None:
    room, access = staged, staged.editor.access
    load(room, tmp_path, "main", "amount", 1)
    made = room.playbooks.library.create(access, ON_STAGING.replace("TRIGGER", CHANGED)).id
    room.playbooks.deploying.deploy(access, made)
    room.go_round()
    load(room, tmp_path, "main", "amount", 2)
    assert room.go_round() == 0
    load(room, tmp_path, "staging", "amount", 70)
    assert room.go_round() == 1
    room.drive()
    (run,) = runs_of(room, made)
    assert branch_of(room, run) == "staging"
    assert output(room, room.fresh(run)) == {"total": [[70]]}


def test_the_checks_of_a_deployment_look_at_the_branch_of_its_triggers(
    staged: Room, tmp_path: Path
) -> None:
    room, access = staged, staged.editor.access
    load(room, tmp_path, "main", "amount", 1)
    library = room.playbooks.library
    made = library.create(access, ON_STAGING.replace("TRIGGER", CHANGED)).id

    def told() -> list[tuple[str, str]]:
        checks = room.playbooks.deploying.prepare(access, made).checks
        return [(each.state, each.message) for each in checks if each.check == "data"]

    assert told() == [("warning", "On the branch staging: there is no dataset sales.")]
    load(room, tmp_path, "staging", "price", 1)
    assert told()[0][1] == (
        "On the branch staging: the dataset sales has no column amount; it has price."
    )
    load(room, tmp_path, "staging", "amount", 2)
    said = "Every dataset and connection that it names is there on the branch staging."
    assert told() == [("passed", said)]
    library.save(access, made, None, ON_STAGING.replace("TRIGGER", CHANGED.replace("ging", "ge")))
    assert told() == [
        (
            "warning",
            "On the branch stage: there is no branch stage, so its datasets cannot be read.",
        )
    ]
    library.save(access, made, None, ON_STAGING.replace("TRIGGER", "{type: manual}"))
    assert told() == [("passed", "Every dataset and connection that it names is there.")]


def test_what_a_playbook_needs_is_looked_up_on_the_branch_that_is_asked_for(
    staged: Room, tmp_path: Path
) -> None:
    room, access = staged, staged.editor.access
    load(room, tmp_path, "staging", "amount", 1)
    made = room.playbooks.library.create(access, ON_STAGING.replace("TRIGGER", CHANGED)).id
    client, path = room.editor.client, f"playbooks/{made}/needs"

    def problem(**query: str) -> str | None:
        answer = client.get(f"/api/v1/projects/{access.scope.project_id}/{path}", params=query)
        assert answer.status_code == 200, answer.text
        (item,) = answer.json()["items"]
        found: str | None = item["problem"]
        return found

    assert problem() == "there is no dataset sales"
    assert problem(branch="staging") is None
    assert problem(branch="gone") == "there is no branch gone, so its datasets cannot be read"
    runner = room.installation.person(Role.runner)
    with pytest.raises(Denied):
        room.playbooks.running.needs(runner.access, made, branch="staging")


def test_a_test_begins_with_the_data_of_the_branch_that_the_flow_works_on(
    staged: Room, tmp_path: Path
) -> None:
    room, access = staged, staged.editor.access
    load(room, tmp_path, "main", "amount", 1)
    load(room, tmp_path, "staging", "amount", 70)
    made = room.playbooks.library.create(access, ON_STAGING.replace("TRIGGER", CHANGED)).id
    run = room.playbooks.rehearsals.start(access, made, Wish(inputs={}))
    room.drive()
    assert output(room, room.fresh(run)) == {"total": [[70]]}
