"""Saved queries over HTTP: the caller's own, replaced by name, without secrets, gone with the person."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from steward.workbench import saved_queries

pytestmark = pytest.mark.every_database


def _place(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/saved-queries"


def _listed(client: TestClient, place: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(place).json()["items"]
    return found


def _saved(client: TestClient, place: str, name: str, query: str = "SELECT 1") -> dict[str, Any]:
    answer = client.put(place, json={"name": name, "kind": "sql", "query": query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_query_is_kept_replaced_and_deleted(installation: Installation) -> None:
    client, place = installation.owner.client, _place(installation)
    _saved(client, place, "unpaid")
    first = _saved(client, place, "All invoices")
    again = _saved(client, place, "All invoices", "SELECT 2")
    assert again["id"] == first["id"]
    told = [(each["name"], each["query"]) for each in _listed(client, place)]
    assert told == [("All invoices", "SELECT 2"), ("unpaid", "SELECT 1")]
    assert client.delete(f"{place}/{first['id']}").status_code == 204
    assert client.delete(f"{place}/{first['id']}").status_code == 404
    assert [each["name"] for each in _listed(client, place)] == ["unpaid"]


def test_a_colleague_sees_neither_queries_nor_that_they_exist(installation: Installation) -> None:
    client, place = installation.owner.client, _place(installation)
    theirs = installation.person(Role.operator).client
    query = _saved(client, place, "unpaid")
    assert _listed(theirs, place) == []
    assert theirs.delete(f"{place}/{query['id']}").status_code == 404
    _saved(theirs, place, "unpaid", "SELECT 3")
    assert [each["query"] for each in _listed(client, place)] == ["SELECT 1"]
    assert installation.person(Role.viewer).client.get(place).status_code == 403


def test_a_secret_in_a_query_is_refused(installation: Installation) -> None:
    client, place = installation.owner.client, _place(installation)
    secret = "s3cr3t-and-long-enough"
    answer = client.put(place.replace("saved-queries", "secrets/PASS"), json={"value": secret})
    assert answer.is_success, answer.text
    body = {"name": "unpaid", "kind": "sql", "query": f"SELECT '{secret}'"}
    refused = client.put(place, json=body)
    assert refused.status_code == 422
    assert secret not in refused.text
    assert _listed(client, place) == []


def test_there_is_an_end_to_how_many(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, place = installation.owner.client, _place(installation)
    monkeypatch.setattr(saved_queries, "MOST", 1)
    _saved(client, place, "one")
    refused = client.put(place, json={"name": "two", "kind": "sql", "query": "SELECT 1"})
    assert refused.status_code == 422
    assert "Delete one" in refused.json()["detail"]
    _saved(client, place, "one", "SELECT 2")
