"""The catalogue over HTTP: search, install, connect, judge, compare, update, remove."""

import json
from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.connections.catalogue.graph import SDL
from tests.connections.catalogue.petstore import OPENAPI

pytestmark = pytest.mark.every_database

KEY = "k3y-value-0123456789"


def _at(installation: Installation, rest: str) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/{rest}"


def _text(document: Any = OPENAPI) -> dict[str, str]:
    return {"text": json.dumps(document)}


def test_a_service_lives_its_life(installation: Installation) -> None:
    client = installation.owner.client
    made = client.post(_at(installation, "catalogue/installed"), json={"name": "pets", **_text()})
    assert made.status_code == 201, made.text
    assert (made.json()["operations"], made.json()["state"]) == (4, "converted")
    connection = {
        "name": "zoo",
        "kind": "service",
        "settings": {"service": "pets", "way": "api_key"},
        "values": {"api_key": KEY},
    }
    assert client.post(_at(installation, "connections"), json=connection).status_code == 201
    here = _at(installation, "catalogue/installed/pets")
    detail = client.get(here).json()
    assert detail["connections"] == ["zoo"]
    assert detail["hosts"] == ["https://{region}.pets.example/v1"]
    found = client.get(f"{here}/operations", params={"q": "create pet"}).json()["items"]
    assert found[0]["name"] == "createPet"
    one = client.get(f"{here}/operations/createPet").json()
    assert one["tools"] == ["api.zoo.createPet"]
    assert {each["path"] for each in one["arguments_by_role"]} >= {"body.name", "body.kind"}

    refused = client.put(f"{here}/operations/createPet/risk", json={"risk": "read"})
    assert (refused.status_code, refused.json()["code"]) == (422, "reason-needed")
    lowered = {"risk": "read", "reason": "It only looks a pet up."}
    judged = client.put(f"{here}/operations/createPet/risk", json=lowered).json()
    assert (judged["risk"], judged["risk_reason"]) == ("read", lowered["reason"])
    roles = {"hash": one["hash"], "roles": {"body.name": "content"}}
    assert client.put(f"{here}/operations/createPet/roles", json=roles).json()["roles_confirmed"]
    unknown = {"hash": one["hash"], "roles": {"body.nowhere": "content"}}
    assert client.put(f"{here}/operations/createPet/roles", json=unknown).status_code == 422
    client.put(f"{here}/operations/listPets/offered", json={"offered": True})
    tools = client.get(_at(installation, "tools")).json()["items"]
    assert [each["name"] for each in tools if each["name"].startswith("api.")] == [
        "api.zoo.listPets"
    ]

    changed = json.loads(json.dumps(OPENAPI))
    del changed["paths"]["/pets/{petId}"]["delete"]
    difference = client.post(f"{here}/changes", json=_text(changed)).json()
    assert (difference["removed"], difference["is_same"]) == (["deletePet"], False)
    stale = client.post(f"{here}/update", json={**_text(changed), "sha256": "0" * 64})
    assert stale.status_code == 409
    body = {**_text(changed), "sha256": difference["sha256"]}
    assert client.post(f"{here}/update", json=body).json()["operations"] == 3
    assert client.delete(here).status_code == 204
    assert client.get(here).status_code == 404
    events = client.get(_at(installation, "events")).text
    assert KEY not in events + json.dumps(detail) + json.dumps(one)


def test_what_is_wrong_is_said_and_others_may_only_look(installation: Installation) -> None:
    client = installation.owner.client
    where = _at(installation, "catalogue/installed")
    bad = client.post(where, json={"name": "x", "text": '{"a": 1}'})
    assert (bad.status_code, bad.json()["code"]) == (422, "not-openapi")
    assert client.post(where, json={"name": "x"}).status_code == 422
    assert client.post(where, json=_text()).status_code == 422
    inside = client.post(where, json={"name": "x", "url": "http://127.0.0.1:1/openapi.json"})
    assert (inside.status_code, inside.json()["code"]) == (403, "address-refused")
    viewer = installation.person(Role.viewer).client
    assert viewer.post(where, json={"name": "pets", **_text()}).status_code == 403
    assert viewer.get(where).json()["items"] == []
    other = client.post("/api/v1/projects", json={"name": "Elsewhere"}).json()
    client.post(where, json={"name": "pets", **_text()})
    elsewhere = f"/api/v1/projects/{other['id']}/catalogue/installed/pets"
    assert client.get(elsewhere).status_code == 404


def test_a_graphql_schema_becomes_forms_and_tools(installation: Installation) -> None:
    client = installation.owner.client
    made = client.post(
        _at(installation, "catalogue/installed"), json={"name": "graph", "text": SDL}
    )
    assert made.status_code == 201, made.text
    assert (made.json()["adapter"], made.json()["operations"]) == ("graphql", 10)
    here = _at(installation, "catalogue/installed/graph")
    one = client.get(f"{here}/operations/pet").json()
    assert (one["verb"], one["path"], one["risk"]) == ("QUERY", "pet", "read")
    assert "owner {" in one["arguments"]["properties"]["steward_selection"]["default"]
    # What Steward adds itself needs nobody's judgement.
    assert [each["path"] for each in one["arguments_by_role"]] == ["id"]
    assert client.get(f"{here}/operations/pets").json()["pages"] is True
    # No description makes a mutation harmless.
    assert client.get(f"{here}/operations/mutation.create").json()["risk"] == "external_send"
