"""Agents over HTTP: composed, compared, tried, counted; and what other people see of them."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from steward.testing.models import ScriptedLineup, ScriptedModel, calls

DOCUMENT = {
    "name": "helper",
    "title": "Helper",
    "description": "Helps.",
    "instructions": "Help.",
    "tools": ["list_datasets"],
}


@pytest.fixture
def base(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/agents"


def save(client: TestClient, base: str, version: int, **more: Any) -> Any:
    return client.put(
        f"{base}/helper",
        json={"document": {**DOCUMENT, **more}, "message": "Why"},
        headers={"If-Match": f'"{version}"'},
    )


def test_an_agent_is_composed_compared_restored_and_archived(
    installation: Installation, base: str
) -> None:
    client = installation.person(Role.editor).client
    assert save(client, base, 0).json()["version"] == 1
    assert save(client, base, 1, instructions="Help.\nBe short.").json()["version"] == 2
    assert save(client, base, 1).status_code == 412

    (newest, first) = client.get(f"{base}/helper/versions").json()["items"]
    assert (newest["changed"], first["version"]) == (["instructions"], 1)
    (change,) = client.get(f"{base}/helper/diff", params={"left": 1, "right": 2}).json()
    assert "+Be short." in change["lines"]

    again = client.post(
        f"{base}/helper/restore", json={"version": 1}, headers={"If-Match": '"2"'}
    ).json()
    assert again["version"] == 3
    shown = client.get(f"{base}/helper")
    assert shown.headers["ETag"] == '"3"'
    assert shown.json()["document"]["instructions"] == "Help."
    gone = client.request("DELETE", f"{base}/helper", headers={"If-Match": '"3"'}).json()
    assert gone["archived"]
    names = [each["name"] for each in client.get(base).json()["items"]]
    assert "helper" not in names
    assert client.get(f"{base}/helper").json()["archived"]


def test_undoing_the_run_takes_the_change_back(installation: Installation, base: str) -> None:
    client = installation.owner.client
    save(client, base, 0)
    run_id = save(client, base, 1, title="Changed").json()["run_id"]

    undone = client.post(f"{base.removesuffix('agents')}runs/{run_id}/undo", json={"key": "call"})

    assert undone.is_success, undone.text
    installation.steward.runs.drive_until_idle()
    assert client.get(f"{base}/helper").json()["title"] == "Helper"


def test_a_check_says_all_that_is_wrong_with_its_places(
    installation: Installation, base: str
) -> None:
    client = installation.person(Role.viewer).client
    document = {**DOCUMENT, "tools": ["lost"], "guardrails": ["lost"]}
    found = client.post(f"{base}/check", json={"document": document}).json()
    assert [each["pointer"] for each in found["problems"]] == ["/tools/0", "/guardrails/0"]
    fine = client.post(f"{base}/check", json={"document": "name: helper"}).json()
    assert "/instructions" in [each["pointer"] for each in fine["problems"]]
    broken = client.post(f"{base}/check", json={"document": "name: [helper"}).json()
    assert not broken["valid"]


def test_everyone_in_the_library_is_listed_and_in_the_palette(
    installation: Installation, base: str
) -> None:
    client = installation.person(Role.viewer).client
    save(installation.owner.client, base, 0)
    listed = client.get(base).json()["items"]
    assert [each["origin"] for each in listed].count("library") == 10
    palette = client.get(f"{base.removesuffix('agents')}flows/palette").json()["agents"]
    assert {each["name"] for each in palette} == {each["name"] for each in listed}
    assert "helper" in {each["name"] for each in palette}


def test_a_try_is_a_run_and_is_counted(
    installation: Installation, base: str, models: ScriptedLineup
) -> None:
    client = installation.owner.client
    save(client, base, 0)
    models.play(ScriptedModel([calls("list_datasets"), "There are none."]))
    body = {"task": "What is there?", "context": {"a": 1}}

    tried = client.post(f"{base}/helper/try", json=body)

    assert tried.status_code == 201, tried.text
    installation.steward.runs.drive_until_idle()
    run_id = tried.json()["run_id"]
    ended = installation.steward.runs.outcome(installation.scope, run_id)
    assert ended["output"] == "There are none."
    installation.clock.advance(hours=1)
    figures = client.get(f"{base}/helper/figures").json()
    assert (figures["works"], figures["runs"], figures["requests"]) == (1, 1, 2)
    assert figures["tools"] == [{"name": "list_datasets", "calls": 1, "errors": 0}]
    [latest] = figures["last_runs"]
    assert (latest["id"], latest["status"]) == (run_id, "done")
    assert latest["title"]
    # Nothing was planned that it could have kept to.
    assert (figures["judged"], figures["adhered"]) == (0, 0)
    assert figures["tokens"] > 0


def test_a_name_that_is_not_there_is_not_found(installation: Installation, base: str) -> None:
    client = installation.owner.client
    for path in ("lost", "lost/versions", "lost/diff?left=1&right=2", "helper?version=7"):
        assert client.get(f"{base}/{path}").status_code == 404, path
    tried = client.post(f"{base}/lost/try", json={"task": "x"})
    assert tried.status_code == 404


def test_parts_name_models_and_guardrails(
    installation: Installation, base: str, models: ScriptedLineup
) -> None:
    models.play(ScriptedModel([], name="one"))
    found = installation.owner.client.get(base.replace("/agents", "/agent-parts")).json()
    assert found["models"] == ["scripted:one"]
    assert "no-links" in [each["name"] for each in found["guardrails"]]
