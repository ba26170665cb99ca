"""Plug-ins over HTTP: look first, agree to a hash, then switch off and remove."""

from pathlib import Path
from typing import Any

import pytest

from steward.testing import Installation
from tests.plugins.wheels import example, scaffold


@pytest.fixture
def address(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/plugins"


def _sent(content: bytes) -> dict[str, Any]:
    return {"content": content, "headers": {"Content-Type": "application/zip"}}


def test_look_agree_switch_and_remove(
    installation: Installation, address: str, tmp_path: Path
) -> None:
    client = installation.owner.client
    content = scaffold(tmp_path, "sandboxed_tool", "guardrail")
    shown = client.post(f"{address}/inspect", **_sent(content)).json()
    assert (shown["name"], shown["version"], shown["problems"]) == ("acme-tax", "0.1.0", [])
    assert shown["needs_rights"] is True
    assert {part["name"]: part["runs"] for part in shown["parts"]} == {
        "add_tax": "sandbox",
        "no-shouting": "server",
    }
    assert client.get(address).json()["items"] == []

    agreed = {"sha256": shown["sha256"]}
    refused = client.post(address, params=agreed, **_sent(content))
    assert (refused.status_code, refused.json()["code"]) == (403, "plugin-rights")
    wrong = client.post(address, params={"sha256": "0" * 64, "rights": True}, **_sent(content))
    assert (wrong.status_code, wrong.json()["code"]) == (409, "plugin-changed")
    made = client.post(address, params={**agreed, "rights": True}, **_sent(content))
    assert made.status_code == 201, made.text
    assert made.json()["enabled"] is True
    again = client.post(f"{address}/inspect", **_sent(content)).json()
    assert again["installed_version"] == "0.1.0"

    assert client.post(f"{address}/acme-tax/disable").json()["enabled"] is False
    assert client.post(f"{address}/acme-tax/enable").json()["enabled"] is True
    assert client.delete(f"{address}/acme-tax").status_code == 204
    assert client.get(address).json()["items"] == []
    [gone] = client.get(address, params={"removed": True}).json()["items"]
    assert gone["sha256"] == shown["sha256"]
    assert client.delete(f"{address}/acme-tax").status_code == 404


def test_what_is_no_wheel_is_a_problem_that_says_so(
    installation: Installation, address: str
) -> None:
    answer = installation.owner.client.post(f"{address}/inspect", **_sent(b"no zip"))
    assert (answer.status_code, answer.json()["code"]) == (422, "wheel")


def test_a_token_installs_nothing(installation: Installation, address: str) -> None:
    from steward.identity import Role

    token = installation.by_token(installation.owner, Role.owner)
    answer = token.post(f"{address}/inspect", **_sent(example()))
    assert (answer.status_code, answer.json()["code"]) == (403, "session-only")


def test_every_step_is_in_the_event_log(
    installation: Installation, address: str, tmp_path: Path
) -> None:
    client, content = installation.owner.client, scaffold(tmp_path)
    shown = client.post(f"{address}/inspect", **_sent(content)).json()
    client.post(address, params={"sha256": shown["sha256"]}, **_sent(content)).raise_for_status()
    client.post(f"{address}/acme-tax/disable").raise_for_status()
    client.delete(f"{address}/acme-tax").raise_for_status()
    events = client.get(address.replace("/plugins", "/events")).json()["items"]
    kinds = [each["type"] for each in events if "plugin" in each["type"]]
    assert [kind.rpartition(".")[2] for kind in kinds] == ["removed", "disabled", "installed"]
