"""Following a project's events: live, resumed, ended with the membership."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest

from steward.identity import Role
from steward.testing import Installation, Person
from tests.api.live import LiveServer

pytestmark = pytest.mark.every_database


@pytest.fixture
def live(installation: Installation) -> Iterator[str]:
    assert installation.owner.user.email
    with LiveServer(installation) as address:
        yield f"{address}/api/v1"


def _headers(installation: Installation, role: Role = Role.viewer) -> dict[str, str]:
    client = installation.by_token(installation.owner, role)
    return {"Authorization": client.headers["Authorization"]}


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def _change(installation: Installation, name: str) -> None:
    projects = installation.steward.identity.projects
    access = installation.owner.access
    projects.rename(access, projects.get(access).revision, name)


def test_a_client_that_reconnects_misses_nothing(installation: Installation, live: str) -> None:
    address = f"{live}/projects/{installation.scope.project_id}/events/stream"
    headers = _headers(installation)
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        _change(installation, "One")
        first = next(_events(lines))
    assert (first["type"], first["data"]["name"]) == ("org.steward.project.updated", "One")
    for name in ("Two", "Three"):
        _change(installation, name)
    headers["Last-Event-ID"] = str(first["cursor"])
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        events = _events(stream.iter_lines())
        assert [next(events)["data"]["name"] for _ in range(2)] == ["Two", "Three"]
        _change(installation, "Four")
        assert next(events)["data"]["name"] == "Four"


def _removed(installation: Installation, person: Person) -> None:
    installation.steward.identity.members.remove(installation.owner.access, person.user.id)


def _disabled(installation: Installation, person: Person) -> None:
    installation.steward.identity.users.disable(person.user.id)


def _revoked(installation: Installation, person: Person) -> None:
    tokens = installation.steward.identity.tokens
    for token in tokens.page(person.access):
        tokens.revoke(person.access, token.id)


def _signed_out(installation: Installation, person: Person) -> None:
    installation.steward.identity.sessions.end_all(person.user.id)


ENDS = {
    "membership": (_removed, True),
    "account": (_disabled, True),
    "token": (_revoked, True),
    "session": (_signed_out, False),
}


@pytest.mark.parametrize("busy", [False, True], ids=["quiet", "busy"])
@pytest.mark.parametrize("what", ENDS)
def test_a_stream_ends_with_what_it_was_opened_with(
    installation: Installation, live: str, monkeypatch: pytest.MonkeyPatch, what: str, busy: bool
) -> None:
    monkeypatch.setattr("steward.api.routes.events.HEARTBEAT_SECONDS", 0.05)
    end, by_token = ENDS[what]
    viewer = installation.person(Role.viewer)
    cookies = "; ".join(f"{name}={value}" for name, value in viewer.client.cookies.items())
    headers = {"Cookie": cookies}
    if by_token:
        client = installation.by_token(viewer, Role.viewer)
        headers = {"Authorization": client.headers["Authorization"]}
    address = f"{live}/projects/{installation.scope.project_id}/events/stream"
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        end(installation, viewer)
        # Reading ends because the server closes the stream.
        _change(installation, "First")
        for number, line in enumerate(lines):
            assert number < 1_000, "the stream goes on"
            if busy and line.startswith("data: "):
                _change(installation, f"Name {number}")


def test_the_log_is_read_newest_first(installation: Installation) -> None:
    for name in ("One", "Two", "Three"):
        _change(installation, name)
    base = f"/api/v1/projects/{installation.scope.project_id}/events"
    page = installation.owner.client.get(base, params={"limit": 2}).json()
    assert [event["data"]["name"] for event in page["items"]] == ["Three", "Two"]
    following = installation.owner.client.get(
        base, params={"limit": 2, "cursor": page["next_cursor"]}
    ).json()
    assert following["items"][0]["data"] == {"name": "One", "by": installation.owner.user.id}


def test_events_say_who_did_it_and_what_it_is_called(installation: Installation) -> None:
    owner, base = installation.owner, f"/api/v1/projects/{installation.scope.project_id}"
    colleague = installation.person(Role.editor, "carla")
    flow = "{format: 1, id: unpaid, name: Unpaid invoices, budget: {usd: 1}, graph: {nodes: [{id: a, type: tool, tool: list_datasets}]}}"
    made = owner.client.post(f"{base}/playbooks", json={"yaml": flow})
    assert made.status_code == 201, made.text
    card = made.json()
    shared = owner.client.put(
        f"{base}/playbooks/{card['id']}/sharing",
        json={"owner": owner.user.email, "allowed": {"users": [colleague.user.email]}},
        headers={"If-Match": made.headers["etag"]},
    )
    assert shared.status_code == 200, shared.text
    newest = owner.client.get(f"{base}/events", params={"limit": 1}).json()["items"][0]
    assert newest["type"] == "org.steward.playbook.shared"
    assert newest["who"] == owner.user.name
    assert newest["names"][card["id"]] == "Unpaid invoices"
    assert newest["names"][colleague.user.id] == colleague.user.name

    outsider = installation.person(Role.viewer, "olga")
    seen = outsider.client.get(f"{base}/events").json()["items"]
    assert seen, "a viewer reads the log"
    assert "Unpaid invoices" not in json.dumps(seen)
