"""Playbooks over HTTP: an engineer, a controller with whom one is shared, and somebody who guesses ids."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation, Person
from tests.playbooks.conftest import ASKING


class Desk:
    def __init__(self, person: Person) -> None:
        self.client: TestClient = person.client
        self.base = f"/api/v1/projects/{person.access.scope.project_id}"

    def call(self, method: str, path: str, body: Any = None, etag: str | None = None) -> Any:
        headers = {"If-Match": etag} if etag else {}
        return self.client.request(method, f"{self.base}{path}", json=body, headers=headers)

    def ok(self, method: str, path: str, body: Any = None, etag: str | None = None) -> Any:
        answer = self.call(method, path, body, etag)
        assert answer.status_code in {200, 201, 204}, (path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def etag(self, playbook: str) -> str:
        return str(self.call("GET", f"/playbooks/{playbook}").headers["ETag"])


@pytest.fixture
def people(installation: Installation) -> tuple[Desk, Desk, Desk]:
    engineer = installation.person(Role.editor, "engineer")
    controller = installation.person(Role.operator, "controller")
    guesser = installation.person(Role.editor, "guesser")
    return Desk(engineer), Desk(controller), Desk(guesser)


def test_from_the_first_draft_to_the_deleted_one(
    installation: Installation, people: tuple[Desk, Desk, Desk]
) -> None:
    engineer, _, _ = people
    made = engineer.ok("POST", "/playbooks", {"yaml": ASKING, "message": "First"})
    assert (made["state"], made["slug"], made["head"]) == ("draft", "monthly-costs", 1)
    place = f"/playbooks/{made['id']}"
    assert [each["id"] for each in engineer.ok("GET", "/playbooks?q=spread")["items"]] == [
        made["id"]
    ]
    assert engineer.ok("GET", "/playbooks?folder=Finance")["items"]
    assert not engineer.ok("GET", "/playbooks?folder=Sales")["items"]
    detail = engineer.ok("GET", place)
    assert detail["inputs"]["required"] == ["month"]
    assert detail["may_edit"]
    refused = engineer.call("PUT", place, {"yaml": ASKING})
    assert refused.status_code == 428
    etag = engineer.etag(made["id"])
    engineer.ok("PUT", place, {"yaml": ASKING.replace("usd: 2", "usd: 9"), "message": "More"}, etag)
    assert engineer.call("PUT", place, {"yaml": ASKING}, etag).status_code == 412
    assert engineer.ok("GET", f"{place}/diff?left=1&right=2") == {"lines": ["budget usd: 2 → 9"]}
    messages = [each["message"] for each in engineer.ok("GET", f"{place}/revisions")["items"]]
    assert messages == ["More", "First"]
    assert "usd: 2" in engineer.ok("GET", f"{place}/revisions/1")["text"]
    assert engineer.ok("POST", f"{place}/deploy", {"revision": 1})["deployed"] == 1
    redeployed = engineer.ok("POST", f"{place}/deploy", {})
    assert (redeployed["deployed"], redeployed["previous"]) == (2, 1)
    assert engineer.ok("POST", f"{place}/rollback")["deployed"] == 1
    run = engineer.ok("POST", f"{place}/runs", {"inputs": {"month": "2026-02"}})
    listed = engineer.ok("GET", f"{place}/runs")["items"]
    assert [(each["id"], each["revision"]) for each in listed] == [(run["id"], 1)]
    assert engineer.call("DELETE", place, etag=engineer.etag(made["id"])).status_code == 409
    engineer.ok("POST", f"{place}/archive")
    assert engineer.ok("GET", "/playbooks")["items"] == []
    assert len(engineer.ok("GET", "/playbooks?state=archived")["items"]) == 1
    engineer.ok("DELETE", place, etag=engineer.etag(made["id"]))
    assert engineer.call("GET", place).status_code == 404
    assert len(engineer.ok("GET", "/playbooks?deleted=true")["items"]) == 1
    assert engineer.ok("POST", f"{place}/restore")["state"] == "archived"
    assert engineer.ok("POST", f"{place}/unarchive")["state"] == "active"


def test_whoever_it_is_not_shared_with_finds_nothing(
    installation: Installation, people: tuple[Desk, Desk, Desk]
) -> None:
    engineer, controller, guesser = people
    text = ASKING + "triggers: [{type: cron, cron: '0 6 * * *', inputs: {month: 2026-02}}]\n"
    made = engineer.ok("POST", "/playbooks", {"yaml": text})
    place = f"/playbooks/{made['id']}"
    engineer.ok("POST", f"{place}/deploy", {})
    run = engineer.ok("POST", f"{place}/runs", {"inputs": {"month": "2026-02"}})
    installation.steward.runs.drive_until_idle()
    trigger = engineer.ok("GET", "/triggers")["items"][0]
    asked = engineer.ok("GET", "/inbox")["items"]
    assert [each["run_id"] for each in asked] == [run["id"]]
    for desk in (controller, guesser):
        for named in (made["id"], made["slug"]):
            for method, rest, body in _ways():
                answer = desk.call(method, f"/playbooks/{named}{rest}", body, '"1"')
                allowed = {403, 404} if desk is controller else {404}
                assert answer.status_code in allowed, (method, rest, answer.status_code)
        for rest in (
            "",
            "/status",
            "/journal",
            "/calls",
            "/stream",
            "/actions",
            "/verify",
            "/capsule",
        ):
            assert desk.call("GET", f"/runs/{run['id']}{rest}").status_code == 404, rest
        for action in ("pause", "resume", "cancel"):
            assert desk.call("POST", f"/runs/{run['id']}/{action}").status_code == 404
        answer = {"key": asked[0]["key"], "answer": True}
        assert desk.call("POST", f"/runs/{run['id']}/answers", answer).status_code == 404
        assert desk.ok("GET", "/playbooks")["items"] == []
        assert desk.ok("GET", "/runs")["items"] == []
        assert desk.ok("GET", "/inbox")["items"] == []
        assert desk.ok("GET", "/triggers")["items"] == []
        assert desk.call("GET", f"/triggers/{trigger['id']}").status_code == 404
        assert desk.call("GET", f"/triggers/{trigger['id']}/events").status_code == 404
        events = desk.call("GET", "/events?limit=200").text
        assert made["id"] not in events
        assert "Monthly costs" not in events
        assert desk.client.get(f"{desk.base}/playbooks/export").content.count(b".yaml") == 0
        # What is about a hidden run is hidden as well, when it is named in a question.
        assert desk.call("GET", f"/runs?parent={run['id']}").status_code == 404
        assert desk.call("GET", f"/take-back?run_id={run['id']}").status_code == 404
    assert guesser.call("POST", "/take-back", {"run_id": run["id"]}).status_code == 404
    place = f"/triggers/{trigger['id']}"
    assert guesser.call("POST", f"{place}/switch", {"enabled": False}).status_code == 404
    assert guesser.call("POST", f"{place}/address").status_code == 404
    decision = {"action": "drop", "states": ["stored"]}
    assert guesser.call("POST", f"{place}/decisions", decision).status_code == 404
    taken = guesser.call("POST", "/playbooks", {"yaml": ASKING})
    assert taken.status_code == 409


def _ways() -> list[tuple[str, str, Any]]:
    trigger = {"type": "cron", "settings": {"cron": "0 1 * * *"}}
    share = {"owner": "guesser@example.com", "allowed": {"everyone": True}}
    return [
        ("GET", "", None),
        ("PUT", "", {"yaml": ASKING}),
        ("DELETE", "", None),
        ("GET", "/revisions", None),
        ("GET", "/revisions/1", None),
        ("GET", "/diff?left=1&right=1", None),
        ("POST", "/deploy", {}),
        ("POST", "/rollback", None),
        ("POST", "/archive", None),
        ("POST", "/unarchive", None),
        ("POST", "/restore", None),
        ("POST", "/runs", {"inputs": {"month": "2026-02"}}),
        ("GET", "/runs", None),
        ("GET", "/schedule", None),
        ("PUT", "/schedule/schedule", trigger),
        ("DELETE", "/schedule/schedule", None),
        ("POST", "/schedule/schedule/switch", {"enabled": False}),
        ("PUT", "/sharing", share),
        ("GET", "/yaml", None),
    ]


def test_a_controller_runs_what_is_shared_and_changes_nothing(
    installation: Installation, people: tuple[Desk, Desk, Desk]
) -> None:
    engineer, controller, guesser = people
    made = engineer.ok("POST", "/playbooks", {"yaml": ASKING})
    other = engineer.ok("POST", "/playbooks", {"yaml": ASKING.replace("monthly", "yearly")})
    place = f"/playbooks/{made['id']}"
    engineer.ok("POST", f"{place}/deploy", {})
    share = {"owner": "engineer@example.com", "allowed": {"users": ["controller@example.com"]}}
    engineer.ok("PUT", f"{place}/sharing", share, engineer.etag(made["id"]))
    seen = controller.ok("GET", "/playbooks?state=draft&state=active")["items"]
    assert [each["id"] for each in seen] == [made["id"]]
    assert controller.call("GET", f"/playbooks/{other['slug']}").status_code == 404
    detail = controller.ok("GET", place)
    assert (detail["may_run"], detail["may_edit"]) == (True, False)
    wrong = controller.call("POST", f"{place}/runs", {"inputs": {"month": "soon"}})
    assert wrong.status_code == 422
    run = controller.ok("POST", f"{place}/runs", {"inputs": {"month": "2026-02"}})
    installation.steward.runs.drive_until_idle()
    waits = controller.ok("GET", "/inbox")["items"]
    nodes = engineer.ok("GET", f"/runs/{run['id']}/nodes")
    assert (nodes["items"][0]["state"], nodes["is_over"]) == ("waiting", False)
    controller.ok("POST", f"/runs/{run['id']}/answers", {"key": waits[0]["key"], "answer": True})
    installation.steward.runs.drive_until_idle()
    assert controller.ok("GET", f"/runs/{run['id']}")["output"]["closed"] is True
    nodes = engineer.ok("GET", f"/runs/{run['id']}/nodes")
    assert (nodes["items"][0]["state"], nodes["is_over"]) == ("done", True)
    for method, rest, body in _ways():
        if method != "GET" and rest != "/runs":
            answer = controller.call(method, f"{place}{rest}", body, '"1"')
            assert answer.status_code == 403, (method, rest)
    assert guesser.call("GET", f"/runs/{run['id']}").status_code == 404
    # No longer shared: the runs go with it.
    share["allowed"] = {}
    engineer.ok("PUT", f"{place}/sharing", share, engineer.etag(made["id"]))
    assert controller.call("GET", place).status_code == 404
    assert controller.call("GET", f"/runs/{run['id']}").status_code == 404


def test_problems_come_with_place_and_line(people: tuple[Desk, Desk, Desk]) -> None:
    engineer, _, _ = people
    bad = ASKING.replace("budget: {usd: 2}\n", "").replace(
        "${inputs.month} closed", "${inputs.mnth}"
    )
    refused = engineer.call("POST", "/playbooks", {"yaml": bad})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"pointer": "/budget", "message": "is missing (line 1)"}], (
        refused.json()
    )
    bad = ASKING.replace("${inputs.month} closed", "${inputs.mnth}")
    checked = engineer.ok("POST", "/playbooks/check", {"yaml": bad})
    assert not checked["valid"]
    assert checked["problems"][0]["pointer"] == "/steps/0/question"
    assert "line 15" in checked["problems"][0]["message"]


def test_schedules_are_set_paused_and_removed(
    installation: Installation, people: tuple[Desk, Desk, Desk]
) -> None:
    engineer, _, _ = people
    made = engineer.ok("POST", "/playbooks", {"yaml": ASKING})
    place = f"/playbooks/{made['id']}"
    engineer.ok("POST", f"{place}/deploy", {})
    settings = {"cron": "0 6 * * 1", "time_zone": "Europe/Berlin", "inputs": {"month": "2026-02"}}
    body = {"type": "cron", "settings": settings}
    engineer.ok("PUT", f"{place}/schedule/weekly", body, engineer.etag(made["id"]))
    found = engineer.ok("GET", f"{place}/schedule")["items"]
    assert [(each["name"], each["enabled"]) for each in found] == [("weekly", True)]
    assert found[0]["next_at"] == "2026-03-09T05:00:00Z"
    moments = engineer.ok("GET", "/schedule-moments?cron=0 6 * * 1&time_zone=Europe/Berlin")
    assert moments["moments"] == found[0]["next_moments"]
    refused = engineer.call("GET", "/schedule-moments?cron=soon")
    assert refused.json()["errors"][0]["pointer"] == "/cron"
    switched = engineer.ok("POST", f"{place}/schedule/weekly/switch", {"enabled": False})
    assert switched["items"][0]["enabled"] is False
    wrong = {"type": "cron", "settings": {"cron": "soon", "inputs": {"month": "2026-02"}}}
    answer = engineer.call("PUT", f"{place}/schedule/weekly", wrong, engineer.etag(made["id"]))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/triggers/0/cron"
    engineer.ok("DELETE", f"{place}/schedule/weekly", None, engineer.etag(made["id"]))
    assert engineer.ok("GET", f"{place}/schedule")["items"] == []
    assert engineer.ok("GET", "/triggers")["items"] == []


def test_an_invitation_shares_the_playbook_it_names(
    installation: Installation, people: tuple[Desk, Desk, Desk]
) -> None:
    engineer, _, guesser = people
    admin = Desk(installation.person(Role.admin, "admin"))
    made = engineer.ok("POST", "/playbooks", {"yaml": ASKING})
    wish = {"role": "runner", "playbook": made["id"]}
    assert admin.call("POST", "/invitations", wish).json()["code"] == "not-deployed"
    engineer.ok("POST", f"/playbooks/{made['id']}/deploy", {})
    unknown = admin.call("POST", "/invitations", {**wish, "playbook": "pbk_none"})
    assert unknown.status_code == 404
    token = admin.ok("POST", "/invitations", wish)["link"].split("token=")[1]
    offer = admin.client.post("/api/v1/invitations/lookup", json={"token": token}).json()
    assert (offer["playbook_id"], offer["playbook_name"]) == (made["id"], made["name"])
    assert guesser.call("GET", f"/playbooks/{made['id']}").status_code == 404
    joined = guesser.client.post("/api/v1/invitations/join", json={"token": token})
    assert joined.status_code == 200
    assert guesser.ok("GET", f"/playbooks/{made['id']}")["name"] == made["name"]


def test_files_come_and_go_unchanged(people: tuple[Desk, Desk, Desk]) -> None:
    engineer, _, guesser = people
    first = engineer.ok("POST", "/playbooks/import", {"yaml": ASKING})
    assert first["change"] == "created"
    address = f"{engineer.base}/playbooks/monthly-costs/yaml"
    text = engineer.client.get(address).text
    again = engineer.ok("POST", "/playbooks/import", {"yaml": text})
    assert again["change"] == "unchanged"
    assert again["playbook"]["head"] == 1
    assert engineer.client.get(address).text == text
    packed = engineer.client.get(f"{engineer.base}/playbooks/export").content
    assert packed == engineer.client.get(f"{engineer.base}/playbooks/export").content
    assert b"Finance/Monthly/monthly-costs.yaml" in packed
    assert guesser.call("POST", "/playbooks/import", {"yaml": text}).status_code == 409


def test_a_blueprint_becomes_a_draft_in_one_call(people: tuple[Desk, Desk, Desk]) -> None:
    engineer, controller, _ = people
    listed = engineer.ok("GET", "/blueprints")
    shipped = next(each for each in listed["items"] if each["id"] == "profile-and-report")
    assert shipped["category"] == "Data quality"
    assert engineer.ok("GET", "/blueprints/profile-and-report")["inputs"]["required"] == ["dataset"]
    one = engineer.ok("POST", "/blueprints/profile-and-report/fork")
    two = engineer.ok("POST", "/blueprints/profile-and-report/fork")
    assert (one["slug"], two["slug"]) == ("profile-and-report", "profile-and-report-2")
    assert one["state"] == "draft"
    assert engineer.call("POST", "/blueprints/nothing/fork").status_code == 404
    assert controller.call("POST", "/blueprints/profile-and-report/fork").status_code == 403


def test_comments_and_layout_are_kept_beside_the_document(people: tuple[Desk, Desk, Desk]) -> None:
    engineer, _, _ = people
    text = (
        ASKING.replace("budget:", "# At most two dollars.\nbudget:") + "owner: nobody@example.org\n"
    )
    refused = engineer.call("POST", "/playbooks", {"yaml": text})
    assert refused.status_code == 422
    mine = text.replace("owner: nobody@example.org\n", "")
    made = engineer.ok("POST", "/playbooks", {"yaml": mine, "layout": {"ask": {"x": 1, "y": 2}}})
    place = f"/playbooks/{made['id']}"
    found = engineer.ok("GET", place)
    assert found["source"] == mine
    assert found["layout"] == {"ask": {"x": 1, "y": 2}}
    moved = {"yaml": mine.replace("two", "2"), "layout": {"ask": {"x": 5, "y": 2}}}
    saved = engineer.ok("PUT", place, moved, engineer.etag(made["id"]))
    assert (saved["head"], saved["version"]) == (1, made["version"] + 1)
    again = engineer.ok("GET", place)
    assert again["layout"] == {"ask": {"x": 5, "y": 2}}
    assert "# At most 2 dollars." in again["source"]
    # A revision by other means keeps the layout.
    document = again["document"] | {"goal": "Another."}
    engineer.ok("PUT", place, {"document": document}, engineer.etag(made["id"]))
    newest = engineer.ok("GET", place)
    assert (newest["head"], newest["layout"]) == (2, {"ask": {"x": 5, "y": 2}})
    assert newest["source"].startswith("format: 1")
    # Who may see it is not a part of what was written, so that an old text shares nothing.
    shared = newest["source"] + f"# The end.\nowner: {newest['document']['owner']}\n# Really.\n"
    engineer.ok("PUT", place, {"yaml": shared}, engineer.etag(made["id"]))
    kept = engineer.ok("GET", place)["source"]
    assert kept == newest["source"] + "# The end.\n# Really.\n"


def test_the_palette_describes_every_type_of_node(people: tuple[Desk, Desk, Desk]) -> None:
    engineer, _, _ = people
    palette = engineer.ok("GET", "/flows/palette")
    nodes = {each["type"]: each for each in palette["nodes"]}
    assert nodes["branch"]["exits"] == ["/cases/*/port", "else"]
    assert nodes["map"]["graphs"] == ["/body"]
    assert nodes["map"]["expressions"] == ["/over"]
    assert "body" not in nodes["map"]["settings"]["properties"]
    assert all(each["description"] and each["starters"] for each in palette["nodes"])
    assert {each["type"] for each in palette["triggers"]} >= {"cron", "manual"}
    assert palette["telling"]["message"] == "approval"
