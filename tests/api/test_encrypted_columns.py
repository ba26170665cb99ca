"""Encrypted columns over HTTP: policy decides who sees values and who takes an encryption back."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from tests.mcp.clients import load, token_of

pytestmark = pytest.mark.every_database
CSV = "name,salary\nAnn,4100\nBob,\nZoe,4100\n"


def _place(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}"


def _encrypted(installation: Installation) -> str:
    load(installation, CSV, "staff")
    client, place = installation.owner.client, _place(installation)
    change = {
        "operation": "encrypt_columns",
        "datasets": ["staff"],
        "arguments": {"columns": {"salary": "deterministic"}},
    }
    shown = client.post(f"{place}/changes/preview", json=change)
    assert shown.status_code == 200, shown.text
    assert "can read or restore" in str(shown.json()["warnings"])
    made = client.post(f"{place}/changes", json=change)
    assert made.is_success, made.text
    run_id: str = client.get(f"{place}/runs").json()["items"][0]["id"]
    return run_id


def _rows(client: TestClient, place: str, **asked: str) -> Any:
    return client.get(f"{place}/datasets/staff/rows", params=asked)


def _reveal(installation: Installation, client: TestClient, **asked: Any) -> str:
    """Asks, has an admin approve what policy puts to one, and gives the run."""
    place = _place(installation)
    answer = client.post(f"{place}/datasets/staff/reveal", json=asked)
    assert answer.status_code == 202, answer.text
    run_id: str = answer.json()["id"]
    _drive(installation)
    return run_id


def _drive(installation: Installation) -> None:
    installation.steward.runs.drive_until_idle()


def _approve(installation: Installation) -> None:
    client, place = installation.owner.client, _place(installation)
    for each in client.get(f"{place}/approvals", params={"status": "pending"}).json()["items"]:
        verdict = {"approve": True, "body_hash": each["body_hash"]}
        answer = client.post(f"{place}/approvals/{each['id']}/decision", json=verdict)
        assert answer.is_success, answer.text
    _drive(installation)


def test_values_are_shown_to_the_person_whom_policy_allowed(installation: Installation) -> None:
    _encrypted(installation)
    place, owner = _place(installation), installation.owner.client
    told = owner.get(f"{place}/datasets/staff").json()["encrypted"]
    assert told["salary"]["mode"] == "deterministic"
    tokens = [row[1] for row in _rows(owner, place).json()["rows"]]
    assert tokens[0] == tokens[2] != "4100"
    assert tokens[1] is None
    run_id = _reveal(installation, owner)
    assert not _rows(owner, place, revealed=run_id).is_success
    _approve(installation)
    answer = _rows(owner, place, revealed=run_id)
    assert [row[1] for row in answer.json()["rows"]] == ["4100", None, "4100"]
    # No one else, no token, no record of the run, and not for ever.
    other = installation.person(Role.admin).client
    assert _rows(other, place, revealed=run_id).status_code == 404
    bearer = {"authorization": f"Bearer {token_of(installation, Role.admin)}"}
    address = f"{place}/datasets/staff/rows"
    assert owner.get(address, params={"revealed": run_id}, headers=bearer).status_code == 403
    assert "4100" not in owner.get(f"{place}/runs/{run_id}/journal").text
    installation.clock.advance(hours=1)
    assert _rows(owner, place, revealed=run_id).status_code == 403


def test_policy_says_who_may_ask(installation: Installation) -> None:
    _encrypted(installation)
    editor, place = installation.person(Role.editor).client, _place(installation)
    run_id = _reveal(installation, editor)
    assert editor.get(f"{place}/runs/{run_id}").json()["status"] == "failed"
    assert _rows(editor, place, revealed=run_id).status_code == 403


def test_an_encryption_is_taken_back_with_permission_only(installation: Installation) -> None:
    run_id = _encrypted(installation)
    place, editor = _place(installation), installation.person(Role.editor).client
    start = {"run_id": run_id}
    refused = editor.post(f"{place}/take-back", json=start)
    assert refused.status_code == 403, refused.text
    asked = installation.owner.client.post(f"{place}/take-back", json=start)
    assert asked.status_code == 409, asked.text
    assert _rows(editor, place).json()["rows"][0][1].startswith("enc1.")
    _approve(installation)
    assert _rows(editor, place).json()["rows"][0][1] == "4100"
