"""Four eyes over HTTP: who wrote a playbook, who started it and who tries it again approve none of what it does."""

from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Person
from tests.playbooks.conftest import Room

POLICY = """
@id("look") @outcome("allow") @reason("Fine.")
permit (principal, action in [Action::"read", Action::"compute"], resource);
@id("change") @outcome("ask") @four_eyes("yes") @reason("It changes something.")
permit (principal, action in Action::"write", resource);
"""
MARK = """\
format: 1
id: mark
allowed: {everyone: true}
budget: {usd: 1}
inputs: {type: object, properties: {}}
graph:
  nodes:
    - {id: mark, type: tool, tool: snapshot, arguments: {name: marked}}
    - {id: result, type: output, needs: [mark], value: 1}
"""


class Stage:
    """The people of a project with such a policy, each with their own session."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.owner = room.installation.owner
        self.place = f"/api/v1/projects/{self.owner.access.scope.project_id}"
        self.sent(self.owner, "PUT", "/policy/texts/project", {"text": POLICY}, revision=0)
        made = self.sent(room.editor, "POST", "/playbooks", {"yaml": MARK})
        self.playbook = f"/playbooks/{made['id']}"
        self.sent(room.editor, "POST", f"{self.playbook}/deploy", {})

    def sent(
        self, person: Person, method: str, path: str, body: Any, revision: int | None = None
    ) -> Any:
        headers = {} if revision is None else {"If-Match": f'"{revision}"'}
        answer = person.client.request(method, self.place + path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()

    def asked(self, run_id: str) -> dict[str, Any]:
        """The one approval that the run waits for."""
        self.room.drive()
        listed = self.owner.client.get(f"{self.place}/approvals", params={"limit": 100}).json()
        [found] = [each for each in listed["items"] if each["run_id"] == run_id]
        return dict(found)

    def decided(self, person: Person, asked: dict[str, Any]) -> tuple[int, str]:
        answer = person.client.post(
            f"{self.place}/approvals/{asked['id']}/decision",
            json={"approve": True, "body_hash": asked["body_hash"]},
        )
        return answer.status_code, answer.json().get("code", "")

    def status(self, run_id: str) -> str:
        self.room.drive()
        return str(self.room.runs.get(self.owner.access.scope, run_id).status.value)


@pytest.fixture
def stage(room: Room) -> Stage:
    return Stage(room)


REFUSED = (403, "approval-not-enough")


def test_neither_the_author_nor_the_starter_of_a_playbook_approves_what_it_does(
    stage: Stage, room: Room
) -> None:
    run = stage.sent(room.controller, "POST", f"{stage.playbook}/runs", {"inputs": {}})
    asked = stage.asked(run["id"])
    assert sorted(asked["askers"]) == sorted(
        person.access.user_id for person in (room.editor, room.controller)
    )
    for person in (room.editor, room.controller):
        assert stage.decided(person, asked) == REFUSED
    assert stage.status(run["id"]) == "waiting_for_approval"
    assert stage.decided(room.stranger, asked)[0] == 200
    assert stage.status(run["id"]) == "done"


def test_the_author_of_a_later_revision_approves_no_run_of_it(stage: Stage, room: Room) -> None:
    changed = {"yaml": MARK.replace("marked", "marked again")}
    read = room.stranger.client.get(stage.place + stage.playbook)
    newest = int(read.headers["ETag"].strip('"'))
    stage.sent(room.stranger, "PUT", stage.playbook, changed, revision=newest)
    stage.sent(room.editor, "POST", f"{stage.playbook}/deploy", {})
    run = stage.sent(room.controller, "POST", f"{stage.playbook}/runs", {"inputs": {}})
    asked = stage.asked(run["id"])
    for person in (room.stranger, room.controller):
        assert stage.decided(person, asked) == REFUSED
    assert stage.decided(stage.owner, asked)[0] == 200
    assert stage.status(run["id"]) == "done"


@pytest.mark.parametrize("version", ["same", "deployed"])
def test_whoever_started_a_run_approves_no_retry_of_it_either(
    stage: Stage, room: Room, version: str
) -> None:
    helper = room.installation.person(Role.operator, "helper")
    first = stage.sent(room.controller, "POST", f"{stage.playbook}/runs", {"inputs": {}})
    asked = stage.asked(first["id"])
    rejected = {"approve": False, "body_hash": asked["body_hash"], "reason": "Not now."}
    stage.sent(stage.owner, "POST", f"/approvals/{asked['id']}/decision", rejected)
    assert stage.status(first["id"]) == "failed"
    wish = {"runs": [first["id"]], "version": version}
    [retried] = stage.sent(helper, "POST", f"{stage.playbook}/retries", wish)["items"]
    again = stage.asked(retried["run"]["id"])
    for person in (room.editor, room.controller, helper):
        assert stage.decided(person, again) == REFUSED
    assert stage.decided(stage.owner, again)[0] == 200
    assert stage.status(retried["run"]["id"]) == "done"
