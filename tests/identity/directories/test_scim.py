"""SCIM: people and groups come, get roles, and lose everything when they go; attacks get nothing."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from steward.core import MovableClock
from steward.core.errors import Invalid, Unauthenticated
from steward.identity import Role
from steward.identity.directories.filters import read_filter
from steward.identity.directories.patches import patched
from steward.testing import Installation
from tests.api.live import LiveServer
from tests.api.test_access import GUARDED

USERS, GROUPS = "/scim/v2/Users", "/scim/v2/Groups"


class Provider:
    """An identity provider with the token of a directory."""

    def __init__(self, installation: Installation, *rules: tuple[str, str]) -> None:
        self.installation = installation
        body = {
            "name": "Acme",
            "rules": [
                {"group": group, "project_id": installation.scope.project_id, "role": role}
                for group, role in rules
            ],
        }
        self.place = f"/api/v1/projects/{installation.scope.project_id}/directories"
        made = installation.owner.client.post(self.place, json=body)
        assert made.status_code == 201, made.text
        self.token, self.id = made.json()["token"], made.json()["id"]
        self.client = by_bearer(installation, self.token)

    def add(self, name: str = "ann@acme.example", **more: Any) -> Any:
        body = {"schemas": [], "userName": name, "displayName": "Ann Acme", **more}
        return self.client.post(USERS, json=body)

    def group(self, name: str, *members: str) -> Any:
        body = {"displayName": name, "members": [{"value": each} for each in members]}
        return self.client.post(GROUPS, json=body)

    def change(self, place: str, *operations: dict[str, Any]) -> Any:
        return self.client.patch(place, json={"Operations": list(operations)})

    def role_of(self, email: str) -> Role | None:
        user = self.installation.steward.identity.users.find(email)
        assert user is not None
        steward = self.installation.steward
        with steward.database.read(self.installation.scope) as tx:
            return steward.identity.members.role_within(tx, user.id)


def by_bearer(installation: Installation, token: str) -> TestClient:
    client = installation.anonymous()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def test_a_group_gives_a_role_and_takes_it_back(installation: Installation) -> None:
    acme = Provider(installation, ("finance", "operator"), ("board", "admin"))
    ann = acme.add().json()["id"]
    assert acme.role_of("ann@acme.example") is None
    finance = acme.group("finance", ann).json()["id"]
    assert acme.role_of("ann@acme.example") is Role.operator
    shown = acme.client.get(f"{USERS}/{ann}").json()
    assert [each["display"] for each in shown["groups"]] == ["finance"]
    board = acme.group("board").json()["id"]
    added = {"op": "Add", "path": "members", "value": [{"value": ann}]}
    assert acme.change(f"{GROUPS}/{board}", added).status_code == 200
    assert acme.role_of("ann@acme.example") is Role.admin
    gone = {"op": "remove", "path": f'members[value eq "{ann}"]'}
    assert acme.change(f"{GROUPS}/{board}", gone).status_code == 200
    assert acme.role_of("ann@acme.example") is Role.operator
    assert acme.client.delete(f"{GROUPS}/{finance}").status_code == 204
    assert acme.role_of("ann@acme.example") is None


def test_other_rules_count_at_once(installation: Installation) -> None:
    acme = Provider(installation, ("finance", "operator"))
    ann = acme.add().json()["id"]
    acme.group("finance", ann)
    rule = {"group": "finance", "project_id": installation.scope.project_id, "role": "viewer"}
    place = f"{acme.place}/{acme.id}/rules"
    changed = installation.owner.client.put(place, json={"rules": [rule]})
    assert changed.status_code == 200, changed.text
    assert acme.role_of("ann@acme.example") is Role.viewer
    installation.owner.client.put(place, json={"rules": []})
    assert acme.role_of("ann@acme.example") is None


@pytest.mark.parametrize("way", ["patch", "patch-text", "put", "delete"])
def test_a_person_who_goes_loses_sessions_tokens_and_roles(
    installation: Installation, way: str
) -> None:
    acme = Provider(installation, ("finance", "operator"))
    ann = acme.add().json()["id"]
    acme.group("finance", ann)
    identity = installation.steward.identity
    user = identity.users.find("ann@acme.example")
    assert user is not None
    link = identity.sessions.new_link(user.id)
    session = identity.sessions.sign_in_by_link(link)
    access = identity.projects.enter(session.principal, installation.scope.project_id)
    _, token = identity.tokens.create(access, "mine", Role.operator, 1)
    place = f"{USERS}/{ann}"
    if way == "delete":
        assert acme.client.delete(place).status_code == 204
        assert acme.client.get(place).status_code == 404
    elif way == "put":
        body = {"userName": "ann@acme.example", "active": False}
        assert acme.client.put(place, json=body).status_code == 200
    else:
        value: Any = {"active": False} if way == "patch" else {"active": "False"}
        assert acme.change(place, {"op": "replace", "value": value}).status_code == 200
    with pytest.raises(Unauthenticated):
        identity.sessions.resolve(session.token)
    with pytest.raises(Unauthenticated):
        identity.tokens.resolve(token)
    # What they approved counts for nothing once their role is gone: it is looked up when it is used.
    assert acme.role_of("ann@acme.example") is None
    if way == "delete":
        again = acme.add()
        assert again.status_code == 201, again.text
    else:
        assert acme.change(place, {"op": "replace", "path": "active", "value": True}).is_success
        assert acme.role_of("ann@acme.example") is Role.operator
    assert identity.users.get(user.id).disabled_at is None
    with pytest.raises(Unauthenticated):
        identity.tokens.resolve(token)


def test_a_directory_cannot_take_over_accounts_of_others(installation: Installation) -> None:
    acme = Provider(installation, ("finance", "owner"))
    owner = installation.owner.user.email
    assert acme.add(owner).status_code == 409
    identity = installation.steward.identity
    stranger = identity.users.create("stranger@example.org", "Stranger")
    identity.projects.create_organisation("Elsewhere", stranger.id)
    refused = acme.add("x", emails=[{"value": "stranger@example.org", "primary": True}])
    assert (refused.status_code, refused.json()["scimType"]) == (409, "uniqueness")
    ann = acme.add().json()["id"]
    renamed = {"op": "replace", "path": "emails", "value": [{"value": owner, "primary": True}]}
    assert acme.change(f"{USERS}/{ann}", renamed).status_code == 409
    # A person whom an administrator disabled by hand is not brought back.
    bob = identity.users.create("bob@acme.example", "Bob")
    identity.users.disable(bob.id)
    assert acme.add("bob@acme.example").status_code == 409


def test_who_owns_the_organisation_is_not_removed_by_a_directory(
    installation: Installation,
) -> None:
    acme = Provider(installation)
    ann = acme.add().json()["id"]
    identity = installation.steward.identity
    user = identity.users.find("ann@acme.example")
    assert user is not None
    identity.members.set_organisation_role(installation.scope.org_id, user.id, Role.owner)
    refused = acme.client.delete(f"{USERS}/{ann}")
    assert (refused.status_code, refused.json()["scimType"]) == (403, "mutability")
    assert identity.users.get(user.id).disabled_at is None


def test_one_directory_sees_nothing_of_another(installation: Installation) -> None:
    acme, other = Provider(installation), Provider(installation)
    ann = acme.add().json()["id"]
    group = acme.group("finance", ann).json()["id"]
    for place in (f"{USERS}/{ann}", f"{GROUPS}/{group}"):
        assert other.client.get(place).status_code == 404
        assert other.client.delete(place).status_code == 404
        assert (
            other.change(place, {"op": "replace", "path": "externalId", "value": "x"}).status_code
            == 404
        )
    assert other.client.get(USERS).json()["totalResults"] == 0
    assert other.group("thieves", ann).status_code == 400


def test_tokens_open_their_own_door_and_no_other(
    installation: Installation, clock: MovableClock
) -> None:
    acme = Provider(installation)
    for operation in GUARDED:
        found = operation.call(acme.client, installation.scope.project_id)
        assert found == 401, f"{operation} opened to a provisioning token"
        # There are more routes than one address may ask at once.
        clock.advance(seconds=1)
    assert acme.client.post("/mcp", json={}).status_code == 401
    strangers = [
        installation.anonymous(),
        installation.owner.client,
        installation.by_token(installation.owner, Role.owner),
        by_bearer(installation, "scim_guess"),
    ]
    for client in strangers:
        for place in (USERS, GROUPS, "/scim/v2/Schemas", "/scim/v2/ServiceProviderConfig"):
            refused = client.get(place)
            assert refused.status_code == 401
            assert refused.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    renewed = installation.owner.client.post(f"{acme.place}/{acme.id}/token")
    assert renewed.status_code == 201
    assert acme.client.get(USERS).status_code == 401
    fresh = by_bearer(installation, renewed.json()["token"])
    assert fresh.get(USERS).status_code == 200
    clock.advance(days=366)
    assert fresh.get(USERS).status_code == 401


def test_only_owners_of_the_organisation_set_up_directories(installation: Installation) -> None:
    place = f"/api/v1/projects/{installation.scope.project_id}/directories"
    for role in (Role.viewer, Role.admin, Role.owner):
        client = installation.person(role, f"a-{role.name}").client
        assert client.get(place).status_code == 403
        assert client.post(place, json={"name": "Mine"}).status_code == 403
    token = installation.by_token(installation.owner, Role.owner)
    assert token.post(place, json={"name": "Mine"}).status_code == 403
    elsewhere = {"group": "g", "project_id": "prj_01kdgq3v0z8r5m2x7c4b9n6t1w", "role": "owner"}
    body = {"name": "Mine", "rules": [elsewhere]}
    assert installation.owner.client.post(place, json=body).status_code == 422


def test_lists_are_filtered_and_paged(installation: Installation) -> None:
    acme = Provider(installation)
    for number in range(5):
        acme.add(f"p{number}@acme.example", externalId=f"E{number}", active=number != 4)

    def names(**query: Any) -> list[str]:
        answer = acme.client.get(USERS, params=query)
        assert answer.status_code == 200, answer.text
        return [each["userName"][:2] for each in answer.json()["Resources"]]

    assert names(filter='userName eq "P1@ACME.example"') == ["p1"]
    assert names(filter='externalId eq "E2"') == ["p2"]
    assert names(filter='externalId eq "e2"') == []
    assert names(filter="active eq false") == ["p4"]
    assert names(filter='userName sw "p" and not (externalId eq "E0" or active eq false)') == [
        "p1",
        "p2",
        "p3",
    ]
    assert names(startIndex=2, count=2) == ["p1", "p2"]
    assert names(startIndex=-3, count=1) == ["p0"]
    assert names(count=0) == []
    assert names(startIndex=99) == []
    refused = acme.client.get(USERS, params={"filter": 'userName eq "'})
    assert (refused.status_code, refused.json()["scimType"]) == (400, "invalidFilter")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "userName",
        "userName eq",
        'userName xx "a"',
        '(userName eq "a"',
        "a" * 2000,
        "(" * 300 + 'a eq "b"' + ")" * 300,
        'userName eq "a" userName',
        "userName eq bare",
    ],
)
def test_filters_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        read_filter(text)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "replace", "path": "name.givenName", "value": "B"}, {"name": {"givenName": "B"}}),
        ({"op": "add", "value": {"nickName": "b"}}, {"nickName": "b"}),
        ({"op": "remove", "path": "title"}, {"title": None}),
        (
            {"op": "replace", "path": 'emails[type eq "work"].value', "value": "n@x"},
            {"emails": [{"type": "work", "value": "n@x"}, {"type": "home", "value": "h@x"}]},
        ),
        (
            {"op": "remove", "path": 'emails[type eq "home"]'},
            {"emails": [{"type": "work", "value": "w@x"}]},
        ),
        (
            {
                "op": "replace",
                "path": "urn:ietf:params:scim:schemas:core:2.0:User:title",
                "value": 1,
            },
            {"title": 1},
        ),
    ],
)
def test_changes_by_patch(operation: dict[str, Any], expected: dict[str, Any]) -> None:
    before = {
        "name": {"givenName": "A"},
        "title": "x",
        "emails": [{"type": "work", "value": "w@x"}, {"type": "home", "value": "h@x"}],
    }
    found = patched(before, [operation])
    assert {key: found.get(key) for key in expected} == expected
    assert before["title"] == "x"


@pytest.mark.parametrize(
    "operations",
    [
        None,
        [],
        ["x"],
        [{"op": "move", "path": "a"}],
        [{"op": "remove"}],
        [{"op": "add", "value": "x"}],
        [{"op": "replace", "path": "a[b", "value": 1}],
        [{"op": "replace", "path": 'emails[type eq "no"].value', "value": 1}],
        [{"op": "add", "path": "title", "value": 1}] * 1001,
    ],
)
def test_changes_that_do_not_fit_are_refused(operations: Any) -> None:
    with pytest.raises(Invalid):
        patched({"title": "x", "emails": []}, operations)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"userName": ""},
        {"userName": "x" * 300},
        {"userName": "no address"},
        {"userName": "a@b.example", "emails": "x"},
        {"userName": "a@b.example", "active": "maybe"},
        {"userName": "deleted:x@b.example"},
        {"userName": "a\x00@b.example"},
    ],
)
def test_people_that_cannot_be_kept_are_refused(installation: Installation, body: Any) -> None:
    refused = Provider(installation).client.post(USERS, json=body)
    assert refused.status_code == 400, refused.text
    assert refused.json()["status"] == "400"


LIBRARY = os.environ.get("SCIM_TESTER", "")
CHECK = """
import sys, httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server, Status
web = httpx2.Client(base_url=sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]}, trust_env=False)
client = SyncSCIMClient(web)
client.discover()
bad = 0
results = check_server(client)
for each in results:
    if each.status in (Status.ERROR, Status.CRITICAL):
        bad += 1
        print(each.status.name, each.title, each.reason)
print(len(results), "checks,", bad, "failed")
sys.exit(1 if bad else 0)
"""


@pytest.mark.skipif(not LIBRARY, reason="SCIM_TESTER names no folder with scim2-tester")
def test_an_independent_client_finds_no_fault(installation: Installation, tmp_path: Path) -> None:
    acme = Provider(installation)
    script = tmp_path / "check.py"
    script.write_text(CHECK, "utf-8")

    def around(app: ASGIApp) -> ASGIApp:
        async def call(scope: Scope, receive: Receive, send: Send) -> None:
            # The tester asks faster than a directory may, and the clock of a test stands still.
            installation.clock.advance(seconds=1)
            await app(scope, receive, send)

        return call

    with LiveServer(installation, around) as address:
        done = subprocess.run(
            [sys.executable, str(script), f"{address}/scim/v2", acme.token],
            env={**os.environ, "PYTHONPATH": LIBRARY},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
