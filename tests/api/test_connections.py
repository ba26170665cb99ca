"""Connections over HTTP: ETags, roles, checks in plain words; values of secrets never come back."""

from operator import itemgetter
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.connections.mcp.definitions import Definition, definition_of
from steward.identity import Role
from steward.testing import Installation

pytestmark = pytest.mark.every_database

SECRET = "t0p-secret-value-0123456789"
BODY = {
    "name": "crm",
    "kind": "http_api",
    "settings": {"base_url": "http://127.0.0.1:1/v1", "authentication": "bearer"},
    "values": {"token": SECRET},
}


def _at(installation: Installation, rest: str = "connections") -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/{rest}"


def _made(installation: Installation, client: TestClient, **changes: Any) -> Any:
    answer = client.post(_at(installation), json={**BODY, **changes})
    assert answer.status_code == 201, answer.text
    assert SECRET not in answer.text
    return answer.json()


def test_a_connection_lives_its_life(installation: Installation) -> None:
    client = installation.owner.client
    made = _made(installation, client)
    place = _at(installation, f"connections/{made['id']}")
    assert made["secrets"] == {"token": "connection.crm.token"}
    read = client.get(place)
    assert (read.status_code, read.headers["ETag"]) == (200, '"1"')
    change = {**BODY, "scope_hint": "Customers", "secrets": made["secrets"], "values": {}}
    assert client.put(place, json=change).status_code == 428
    assert client.put(place, json=change, headers={"If-Match": '"7"'}).status_code == 412
    changed = client.put(place, json=change, headers={"If-Match": '"1"'})
    assert (changed.json()["scope_hint"], changed.headers["ETag"]) == ("Customers", '"2"')
    check = client.post(f"{place}/check")
    assert (check.status_code, check.json()["worked"]) == (200, False)
    assert check.json()["code"] == "address-refused"
    (listed,) = client.get(_at(installation)).json()["items"]
    assert (listed["state"], len(listed["checks"])) == ("failing", 1)
    assert client.delete(place).status_code == 204
    assert client.get(place).status_code == 404
    assert client.post(f"{place}/restore").json()["name"] == "crm"
    everything = client.get(_at(installation)).text + client.get(place).text + check.text
    assert SECRET not in everything


def test_what_is_wrong_comes_with_its_place(installation: Installation) -> None:
    client = installation.owner.client
    wrong = client.post(_at(installation), json={**BODY, "settings": {"base_url": "x"}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid-settings")
    assert wrong.json()["errors"][0]["pointer"] == "/settings"
    assert SECRET not in wrong.text
    _made(installation, client)
    assert client.post(_at(installation), json=BODY).status_code == 409


def test_roles(installation: Installation) -> None:
    made = _made(installation, installation.owner.client)
    place = _at(installation, f"connections/{made['id']}")
    viewer = installation.person(Role.viewer).client
    assert viewer.get(place).json()["secrets"] == {}
    assert viewer.post(f"{place}/check").status_code == 403
    operator = installation.person(Role.operator).client
    assert operator.post(f"{place}/check").status_code == 200
    editor = installation.person(Role.editor).client
    assert editor.get(place).json()["secrets"] == made["secrets"]
    assert editor.post(_at(installation), json={**BODY, "name": "x"}).status_code == 403
    assert editor.delete(place).status_code == 403
    admin = installation.person(Role.admin).client
    assert admin.delete(place).status_code == 204


def test_the_machine_is_for_its_keeper_at_the_browser(installation: Installation) -> None:
    proposals = _at(installation, "connection-proposals")
    installation.steward.connections.discovery.enabled = False
    owner = installation.owner
    assert owner.client.get(proposals).json()["items"] == []
    admin = installation.person(Role.admin).client
    assert admin.get(proposals).json()["code"] == "not-a-keeper"
    by_token = installation.by_token(owner, Role.admin)
    assert by_token.get(proposals).json()["code"] == "session-only"
    settings = {"transport": "stdio", "command": "/bin/true"}
    body = {"name": "tool", "kind": "mcp", "settings": settings}
    made = owner.client.post(_at(installation), json=body).json()
    assert made["program"]["accepted"] is False
    accept = _at(installation, f"connections/{made['id']}/program")
    shown = {"hash": made["program"]["hash"]}
    assert admin.post(accept, json=shown).status_code == 403
    assert by_token.post(accept, json=shown).status_code == 403
    assert owner.client.post(accept, json=shown).json()["program"]["accepted"] is True


@pytest.mark.parametrize("kind", ["postgresql", "mcp", "s3"])
def test_kinds_bring_their_forms(installation: Installation, kind: str) -> None:
    found = installation.owner.client.get(_at(installation, "connection-kinds")).json()["items"]
    known = {each["kind"]: each for each in found}
    assert known[kind]["settings_schema"]["type"] == "object"
    assert all(each["title"] for each in known.values())
    certificate = known["postgresql"]["settings_schema"]["properties"]["root_certificate"]
    assert certificate["format"] == "multiline", "the form offers several lines"


def test_a_callback_is_for_the_person_who_started(installation: Installation) -> None:
    client = installation.owner.client
    settings = {"url": "http://127.0.0.1:1/mcp", "sign_in": "person"}
    made = _made(installation, client, kind="mcp", settings=settings, values={})
    assert made["sign_in"] == {
        "mode": "person",
        "state": "signed_out",
        "issuer": "",
        "scope": "",
        "by": "",
        "at": None,
        "until": None,
    }
    place = _at(installation, f"connections/{made['id']}")
    assert client.post(f"{place}/sign-in").json()["code"] == "address-refused"
    callback = "/api/v1/oauth/callback"
    # What is no sign-in leads nowhere; one that nobody waits for leads back to the page, with a code and no words.
    assert client.get(callback, params={"state": "x", "code": "c"}).status_code == 422
    state = f"{installation.scope.project_id}.{made['id']}.guessed"
    said = {"state": state, "code": "c", "error_description": "<b>words</b>"}
    answer = client.get(callback, params=said, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].endswith(
        f"/p/{installation.scope.project_id}/connections?signed_in={made['id']}&outcome=wrong-state"
    )
    editor = installation.person(Role.editor).client
    assert editor.get(callback, params=said, follow_redirects=False).status_code == 403
    assert editor.post(f"{place}/sign-in").status_code == 403
    outside = installation.anonymous()
    assert outside.get(callback, params=said, follow_redirects=False).status_code == 401
    described = outside.get("/api/v1/oauth/client.json").json()
    assert described["client_id"].endswith("/api/v1/oauth/client.json")
    assert described["redirect_uris"] == [described["client_id"].replace("client.json", "callback")]


def test_secrets_of_steward_s_own_are_neither_set_nor_deleted(installation: Installation) -> None:
    client = installation.owner.client
    place = _at(installation, "secrets/steward.oauth.con_1.access_token")
    for answer in (client.put(place, json={"value": "x"}), client.delete(place)):
        assert (answer.status_code, answer.json()["code"]) == (403, "own-secret")


def test_a_person_confirms_what_the_arguments_of_a_server_tool_are_for(
    installation: Installation,
) -> None:
    client, desk = installation.owner.client, installation.steward.connections
    made = _made(
        installation, client, kind="mcp", settings={"url": "https://mcp.example/x"}, values={}
    )
    offered = definition_of(
        {
            "name": "transfer",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "payee": {"type": "string", "description": "Who."},
                    "x9": {"type": "string", "x-role": "plain"},
                },
            },
        }
    )
    assert isinstance(offered, Definition)
    desk.tools.saw(
        installation.scope, desk.documents.get(installation.scope, made["id"]), [offered]
    )
    place = _at(installation, f"connections/{made['id']}/tools")
    (shown,) = client.get(place).json()["items"]
    # PostgreSQL keeps the fields of a document in an order of its own.
    assert sorted(shown["arguments_by_role"], key=itemgetter("path")) == [
        {"path": "payee", "description": "Who.", "role": None, "proposed": "recipient"},
        {"path": "x9", "description": "", "role": None, "proposed": None},
    ], "what a server says of its own arguments is no proposal"
    hashes = {"transfer": shown["hash"]}
    client.post(f"{place}/accept", json={"hashes": hashes})
    (accepted,) = client.get(place).json()["items"]
    assert (accepted["state"], accepted["roles_confirmed"]) == ("accepted", False)

    def put(roles: dict[str, str], shown_hash: str = shown["hash"]) -> Any:
        return client.put(f"{place}/transfer/roles", json={"hash": shown_hash, "roles": roles})

    assert put({"payee": "undeclared"}).status_code == 422
    assert put({"memo": "content"}).status_code == 422
    assert put({"payee": "recipient"}, "0" * 64).status_code == 409
    confirmed = put({"payee": "recipient"}).json()
    assert confirmed["roles_confirmed"]
    found = {each["path"]: each["role"] for each in confirmed["arguments_by_role"]}
    assert found == {"payee": "recipient", "x9": None}
