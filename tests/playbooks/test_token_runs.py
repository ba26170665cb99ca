"""Whatever an API token starts is bound to the token's role, however it is started."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from steward.identity import Access, Role
from steward.identity.principals import TokenLimits
from steward.playbooks.rehearsals import Wish
from steward.playbooks.retries import Which
from steward.runs import Run
from tests.playbooks.conftest import Room

LOOK = """\
format: 1
id: look
budget: {usd: 1}
inputs: {type: object, properties: {}}
graph:
  nodes:
    - {id: look, type: tool, tool: list_datasets, arguments: {}}
    - {id: result, type: output, needs: [look], value: 1}
"""
Start = Callable[[Room, Access, Run], Run]


def token_of(access: Access, role: Role) -> Access:
    limits = TokenLimits("tok_1", access.scope.project_id, role)
    return Access(replace(access.principal, limits=limits), access.scope, role)


def retried(room: Room, token: Access, before: Run, version: Which = "same") -> Run:
    [found] = room.playbooks.retries.retry(token, "look", [before.id], version=version)
    assert found.run is not None, found.problem
    return found.run


STARTS: dict[str, Start] = {
    "run": lambda room, token, _: room.playbooks.running.start(token, "look", {}),
    "test": lambda room, token, _: room.playbooks.rehearsals.start(token, "look", Wish()),
    "retry": retried,
    "retry deployed": lambda room, token, before: retried(room, token, before, "deployed"),
    "fork": lambda room, token, before: room.installation.steward.governing.forking.fork(
        token, before.id, at=None, changes={}
    ),
    "chat": lambda room, token, _: room.installation.steward.threads.begin(token, "hello")[1],
}


TIMED = (
    LOOK
    + """\
triggers:
  - {type: cron, cron: "0 6 * * *", time_zone: UTC}
"""
)
CALLER = """\
format: 1
id: caller
budget: {usd: 1}
inputs: {type: object, properties: {}}
tools: [list_datasets, call_playbook]
graph:
  nodes:
    - {id: call, type: tool, tool: call_playbook, arguments: {playbook: look, inputs: {}}}
    - {id: result, type: output, needs: [call], value: 1}
"""


def test_what_a_token_sets_up_or_calls_has_the_role_of_the_token(room: Room) -> None:
    owner = room.installation.owner.access
    token = token_of(owner, Role.editor)
    room.playbooks.library.create(token, TIMED)
    room.playbooks.deploying.deploy(token, "look")
    [trigger] = room.playbooks.deploying.triggers(owner, "look")
    assert trigger.request.grant.get("role") == "editor"
    room.playbooks.library.create(owner, CALLER)
    room.playbooks.deploying.deploy(owner, "caller")
    above = room.playbooks.running.start(token, "caller", {})
    room.drive()
    [below] = [
        run for run in room.runs.records.listed(owner.scope, limit=10) if run.parent_id == above.id
    ]
    assert room.runs.request(owner.scope, below.id).grant.get("role") == "editor"


def test_a_schedule_of_a_token_has_the_role_of_the_token(room: Room) -> None:
    person = room.installation.owner
    client = room.installation.by_token(person, Role.editor)
    flow = {"format": 1, "id": "f", "nodes": [{"id": "o", "type": "output", "value": 1}]}
    place = f"/api/v1/projects/{person.access.scope.project_id}/schedules"
    made = client.post(place, json={"name": "Daily", "cron": "0 6 * * *", "flow": flow}).json()
    kept = room.runs.schedules.get(person.access.scope, made["id"])
    assert kept.request.grant.get("role") == "editor"


@pytest.mark.parametrize("way", STARTS)
def test_a_run_of_a_token_has_the_role_of_the_token(room: Room, way: str) -> None:
    owner = room.installation.owner.access
    room.playbooks.library.create(owner, LOOK)
    room.playbooks.deploying.deploy(owner, "look")
    before = room.playbooks.running.start(owner, "look", {})
    room.drive()
    started = STARTS[way](room, token_of(owner, Role.editor), before)
    grant = room.runs.request(owner.scope, started.id).grant
    assert grant.get("role") == "editor"
    # A person's own run is bound by nothing but their role at the time of each call.
    own = STARTS[way](room, owner, before)
    assert "role" not in room.runs.request(owner.scope, own.id).grant
