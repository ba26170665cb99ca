"""Who is asked: questions reach the people they are for, and rules are weighed by whoever is to approve them."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from steward.api.visibility import Visibility
from steward.identity import Role
from steward.testing import Installation, Person
from tests.api.test_playbooks import Desk
from tests.playbooks.conftest import ASKING

pytestmark = pytest.mark.every_database

MONTH = {"inputs": {"month": "2026-02"}}
RULES = """\
format: 1
id: same-customers
budget: {usd: 1}
steps:
  - {id: proposed, tool: propose_rules, arguments: {datasets: [customers]}}
  - id: review
    message: Are these the rules?
    review: true
    view: entity-rules
    payload: {rules: "${nodes.proposed.output.rules}"}
    shown: ${nodes.proposed.output}
    edit:
      type: object
      properties: {rules: {type: string, maxLength: 20000}}
      required: [rules]
      additionalProperties: false
  - {id: closed, question: "Is the month closed?", form: {type: boolean}}
"""
CRON = '{type: cron, name: daily, cron: "0 6 * * *", inputs: {month: "2026-02"}}'
NAMES = ["Sauer Logistik", "Weber Metall", "Krause Holz", "Lang Druck", "Vogt Energie", "Adler Bau"]
CUSTOMERS = "id,name,email,city\n" + "".join(
    f"{2 * at + twin},{name}{' GmbH' if twin else ''},office{at}@example.com,City {at}\n"
    for at, name in enumerate(NAMES)
    for twin in (0, 1)
)


@dataclass(frozen=True)
class Office:
    installation: Installation
    engineer: Desk
    author: Person
    runner: Desk
    person: Person

    def made(self, text: str, *, shared: bool = True) -> str:
        playbook: str = self.engineer.ok("POST", "/playbooks", {"yaml": text})["id"]
        self.engineer.ok("POST", f"/playbooks/{playbook}/deploy", {})
        users = [self.person.user.email] if shared else []
        sharing = {
            "owner": self.author.user.email,
            "allowed": {"users": users, "groups": [], "everyone": False},
        }
        etag = self.engineer.etag(playbook)
        self.engineer.ok("PUT", f"/playbooks/{playbook}/sharing", sharing, etag)
        return playbook

    def started(self, desk: Desk, playbook: str, inputs: Any = MONTH) -> str:
        run: str = desk.ok("POST", f"/playbooks/{playbook}/runs", inputs)["id"]
        self.drive()
        return run

    def drive(self) -> None:
        self.installation.steward.runs.drive_until_idle()

    def inbox(self, desk: Desk | None = None) -> list[Any]:
        found: list[Any] = (desk or self.runner).ok("GET", "/inbox")["items"]
        return found


@pytest.fixture
def office(installation: Installation) -> Office:
    author = installation.person(Role.editor, "engineer")
    person = installation.person(Role.runner, "controller")
    return Office(installation, Desk(author), author, Desk(person), person)


@pytest.mark.parametrize("by", ["address", "id", "group"])
def test_a_question_reaches_whom_it_names_whoever_started_the_run(office: Office, by: str) -> None:
    groups = office.installation.steward.governing.groups
    groups.put(office.installation.owner.access, "controllers", [office.person.user.id])
    names = {"address": office.person.user.email, "id": office.person.user.id}
    text = ASKING.replace("form: {type", f"to: [{names.get(by, 'controllers')}]\n    form: {{type")
    run = office.started(office.engineer, office.made(text, shared=False))
    (waiting,) = office.inbox()
    assert (waiting["run_id"], waiting["key"], waiting["may_open"]) == (run, "ask", False)
    assert office.inbox(office.engineer) == [], "it is put to somebody else"
    # To be asked opens nothing else of the run.
    for path in ("", "/calls", "/status"):
        assert office.runner.call("GET", f"/runs/{run}{path}").status_code == 404
    told = _events(office)
    assert f"org.steward.run.blocked {run}" in told
    other = office.runner.call("POST", f"/runs/{run}/answers", {"key": "else", "answer": True})
    assert other.status_code == 404
    refused = office.engineer.call("POST", f"/runs/{run}/answers", {"key": "ask", "answer": True})
    assert refused.status_code == 403
    office.runner.ok("POST", f"/runs/{run}/answers", {"key": "ask", "answer": True})
    office.drive()
    assert office.engineer.ok("GET", f"/runs/{run}")["output"]["closed"] is True
    assert office.inbox() == []


def test_a_question_for_anybody_stays_with_whoever_started_the_run(office: Office) -> None:
    playbook = office.made(ASKING)
    theirs = office.started(office.engineer, playbook)
    mine = office.started(office.runner, playbook)
    assert [(each["run_id"], each["may_open"]) for each in office.inbox()] == [(mine, True)]
    assert {each["run_id"] for each in office.inbox(office.engineer)} == {theirs, mine}
    answer = {"key": "ask", "answer": True}
    assert office.runner.call("POST", f"/runs/{theirs}/answers", answer).status_code == 404
    assert f"org.steward.run.blocked {theirs}" not in _events(office)


def test_a_question_of_a_schedule_is_for_those_it_is_shared_with(office: Office) -> None:
    text = ASKING.replace("steps:", f"triggers: [{CRON}]\nsteps:")
    office.made(text)
    office.made(text.replace("monthly-costs", "hidden-costs"), shared=False)
    office.installation.clock.advance(days=1)
    asyncio.run(office.installation.steward.playbooks.triggers.watch.round())
    office.drive()
    assert len(office.inbox(office.engineer)) == 2
    (waiting,) = office.inbox()
    assert (waiting["run_title"], waiting["may_open"]) == ("Monthly costs", False)
    answer = {"key": waiting["key"], "answer": True}
    office.runner.ok("POST", f"/runs/{waiting['run_id']}/answers", answer)


def test_whoever_is_asked_to_approve_rules_weighs_edits_of_them(office: Office) -> None:
    steward = office.installation.steward
    author = office.author.access
    steward.workbench.bringing.load_text(
        author.scope, author.user_id, "customers.csv", CUSTOMERS, "customers"
    )
    playbook = office.made(RULES)
    run = office.started(office.runner, playbook, {"inputs": {}})
    (waiting,) = office.inbox()
    rules = waiting["request"]["payload"]["rules"]
    place = f"/runs/{run}/weighings"
    begun = office.runner.call("POST", place, {"key": "review", "rules": rules}).json()
    office.drive()
    found = office.runner.ok("GET", f"{place}/{begun['id']}")
    assert found["status"] == "done", found
    assert found["output"]["value"]["estimate"] == waiting["request"]["shown"]["estimate"]
    # It is theirs alone, and about this question alone.
    assert office.engineer.call("GET", f"{place}/{begun['id']}").status_code == 404
    for body, status in (
        ({"key": "closed", "rules": rules}, 404),
        ({"key": "review", "rules": "x" * 20_001}, 422),
        ({"key": "review", "rules": "thresholds: [\n"}, 422),
    ):
        assert office.runner.call("POST", place, body).status_code == status, body["key"]
    operator = Desk(office.installation.person(Role.operator, "elsewhere"))
    assert operator.call("POST", place, {"key": "review", "rules": rules}).status_code == 404
    viewer = Desk(office.installation.person(Role.viewer, "looking"))
    assert viewer.call("POST", place, {"key": "review", "rules": rules}).status_code == 403
    gate = {"decision": "approve", "body_hash": waiting["request"]["body_hash"]}
    office.runner.ok("POST", f"/runs/{run}/answers", {"key": "review", "answer": gate})
    office.drive()
    late = office.runner.call("POST", place, {"key": "review", "rules": rules})
    assert late.status_code == 404
    asked = office.runner.call("POST", place, {"key": "closed", "rules": rules})
    assert asked.status_code == 422, "a question is not about rules"


def _events(office: Office) -> set[str]:
    steward, access = office.installation.steward, office.person.access
    seeing = Visibility(steward, access)
    log = steward.events.after(access.scope, 0, 1_000)
    return {f"{event.type} {event.subject}" for event in log if seeing.event(event)}
