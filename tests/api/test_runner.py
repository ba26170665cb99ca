"""Somebody who only runs what was shared with them: walks every list and finds their own, and nothing else."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from steward.api.visibility import Visibility
from steward.connections import Draft
from steward.core import Event
from steward.core.errors import Denied, NotFound
from steward.identity import Level, Role
from steward.testing import Installation, Person
from tests.api.test_access import IN_PROJECT
from tests.api.test_playbooks import Desk
from tests.playbooks.conftest import ASKING

pytestmark = pytest.mark.every_database

SENDING = """\
format: 1
id: secret-salaries
name: Secret salaries
budget: {usd: 1}
approval: {preset: supervised}
steps:
  - {id: tell, tool: send_slack, arguments: {connection: hush, text: Salaries went up}}
"""
HOOK = "https://hooks.slack.com/services/T0P"
ASKED = {"/search": "?q=salar"}
"""What a path needs behind it."""
MONTH = {"inputs": {"month": "2026-02"}}


@dataclass(frozen=True)
class Office:
    installation: Installation
    engineer: Desk
    runner: Desk
    person: Person
    shared: str
    hidden: str
    theirs: str
    """A run that the engineer started of the shared playbook."""
    unseen: str
    """A run of the hidden one."""

    def drive(self) -> None:
        self.installation.steward.runs.drive_until_idle()


@pytest.fixture
def office(installation: Installation) -> Office:
    steward = installation.steward
    one = installation.person(Role.editor, "engineer")
    person = installation.person(Role.runner, "controller")
    engineer, runner = Desk(one), Desk(person)
    steward.workbench.bringing.load_text(
        one.access.scope, one.user.id, "salaries.csv", "who,salary\nAda,90000\n", "salaries"
    )
    hook = Draft("hush", "slack_webhook", {"channel": "#hush"}, values={"url": HOOK})
    steward.connections.documents.create(installation.owner.access, hook)
    made = [engineer.ok("POST", "/playbooks", {"yaml": text})["id"] for text in (ASKING, SENDING)]
    runs = []
    for playbook in made:
        engineer.ok("POST", f"/playbooks/{playbook}/deploy", {})
        inputs = MONTH if playbook == made[0] else {"inputs": {}}
        runs.append(engineer.ok("POST", f"/playbooks/{playbook}/runs", inputs)["id"])
    sharing = {
        "owner": one.user.email,
        "allowed": {"users": [person.user.email], "groups": [], "everyone": False},
    }
    engineer.ok("PUT", f"/playbooks/{made[0]}/sharing", sharing, engineer.etag(made[0]))
    steward.runs.drive_until_idle()
    return Office(installation, engineer, runner, person, *made, *runs)


def test_every_list_has_what_is_theirs_and_nothing_else(office: Office) -> None:
    mine = office.runner.ok("POST", f"/playbooks/{office.shared}/runs", MONTH)["id"]
    office.drive()
    forbidden = [
        office.hidden,
        office.theirs,
        office.unseen,
        "salaries",
        "engineer@example.com",
        "hush",
    ]
    named = {"playbook_id": office.shared, "run_id": mine}
    walked = 0
    for operation in IN_PROJECT:
        path = operation.path.removeprefix("/api/v1/projects/{project_id}")
        if operation.method != "get" or path.endswith("/stream"):
            continue
        for name, value in named.items():
            path = path.replace(f"{{{name}}}", value)
        if "{" in path:
            continue
        answer = office.runner.call("GET", f"{path}{ASKED.get(path, '')}")
        walked += 1
        if not operation.access["runner"]:
            assert answer.status_code == 403, operation
            continue
        assert answer.status_code == 200, (operation, answer.text)
        for word in forbidden:
            assert word.casefold() not in answer.text.casefold(), (operation, word)
    assert walked > 50
    assert _ids(office.runner.ok("GET", "/playbooks")) == [office.shared]
    assert _ids(office.runner.ok("GET", "/runs")) == [mine]
    assert _ids(office.runner.ok("GET", f"/playbooks/{office.shared}/runs")) == [mine]
    (waiting,) = office.runner.ok("GET", "/inbox")["items"]
    assert waiting["run_id"] == mine


def test_what_belongs_to_others_is_not_there_by_its_name_either(office: Office) -> None:
    runner = office.runner
    for run in (office.theirs, office.unseen):
        for path in ("", "/status", "/calls", "/stream", f"/artifacts/{'0' * 64}"):
            assert runner.call("GET", f"/runs/{run}{path}").status_code == 404, path
        assert runner.call("POST", f"/runs/{run}/cancel").status_code == 404
        answer = {"key": "ask", "answer": True}
        assert runner.call("POST", f"/runs/{run}/answers", answer).status_code == 404
        assert runner.call("POST", f"/runs/{run}/take-back", {"key": "tell"}).status_code == 404
    assert runner.call("GET", f"/playbooks/{office.hidden}").status_code == 404
    assert runner.call("POST", f"/playbooks/{office.hidden}/runs", {}).status_code == 404
    (approval,) = office.engineer.ok("GET", "/approvals")["items"]
    assert runner.call("GET", f"/approvals/{approval['id']}").status_code == 404
    verdict = {"approve": True, "body_hash": approval["body_hash"]}
    refused = runner.call("POST", f"/approvals/{approval['id']}/decision", verdict)
    assert refused.status_code == 404
    elsewhere = runner.call(
        "POST", f"/playbooks/{office.shared}/runs", {**MONTH, "branch": "draft"}
    )
    assert elsewhere.status_code == 403


def test_a_draft_of_what_is_shared_stays_with_its_author(office: Office) -> None:
    engineer, runner = office.engineer, office.runner
    place = f"/playbooks/{office.shared}"
    newer = ASKING.replace("Is ${inputs.month} closed?", "Half-written thought")
    engineer.ok("PUT", place, {"yaml": newer}, engineer.etag(office.shared))
    shown = runner.ok("GET", place)
    assert "Half-written" not in json.dumps(shown)
    assert (shown["may_run"], shown["may_edit"]) == (True, False)
    refused = runner.call("POST", f"{place}/runs", {**MONTH, "revision": 2})
    assert refused.status_code == 403
    engineer.ok("POST", f"{place}/archive")
    assert runner.call("POST", f"{place}/runs", MONTH).status_code == 409


def test_events_tell_a_runner_of_what_is_theirs(office: Office) -> None:
    mine = office.runner.ok("POST", f"/playbooks/{office.shared}/runs", MONTH)["id"]
    office.drive()
    steward, access = office.installation.steward, office.person.access
    seeing = Visibility(steward, access)
    log: list[Event] = steward.events.after(access.scope, 0, 1_000)
    seen = {event.subject for event in log if seeing.event(event)}
    assert seen == {office.shared, mine}
    with steward.database.write(access.scope) as tx:
        for person in (office.person, office.installation.owner):
            steward.identity.notifications.add_within(
                tx, person.user.id, Level.info, "Look", "Here", link="runs"
            )
    told = [event for event in steward.events.after(access.scope, 0, 1_000) if seeing.event(event)]
    assert [event.data["user"] for event in told if "user" in event.data] == [office.person.user.id]


def test_a_runner_approves_a_call_as_it_is(office: Office) -> None:
    """With arguments of their own it would be another call than the playbook's."""
    engineer, runner = office.engineer, office.runner
    sharing = {
        "owner": "engineer@example.com",
        "allowed": {"users": [office.person.user.email], "groups": [], "everyone": False},
    }
    etag = engineer.etag(office.hidden)
    engineer.ok("PUT", f"/playbooks/{office.hidden}/sharing", sharing, etag)
    runner.ok("POST", f"/playbooks/{office.hidden}/runs", {"inputs": {}})
    office.drive()
    (waiting,) = runner.ok("GET", "/inbox")["items"]
    approval = waiting["approval"]
    place = f"/approvals/{approval['id']}"
    verdict = {"approve": True, "body_hash": approval["body_hash"]}
    edited = {**verdict, "arguments": {"connection": "hush", "text": "Mine"}}
    assert runner.call("POST", f"{place}/decision", edited).status_code == 403
    assert runner.ok("POST", f"{place}/decision", verdict)["status"] == "approved"


def test_no_token_makes_more_of_a_role(installation: Installation) -> None:
    tokens, members = installation.steward.identity.tokens, installation.steward.identity.members
    viewer, operator = installation.person(Role.viewer), installation.person(Role.operator)
    with pytest.raises(Denied):
        tokens.create(viewer.access, "acts", Role.runner, 1)
    for role, now in ((Role.runner, Role.viewer), (Role.viewer, Role.runner)):
        _, text = tokens.create(operator.access, "narrow", role, 1)
        members.set_role(installation.owner.access, operator.user.id, now)
        with pytest.raises(NotFound):
            installation.steward.identity.projects.enter(
                tokens.resolve(text), installation.scope.project_id
            )
        members.set_role(installation.owner.access, operator.user.id, Role.operator)


def _ids(page: Any) -> list[str]:
    return [each["id"] for each in page["items"]]
