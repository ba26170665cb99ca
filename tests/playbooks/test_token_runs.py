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
