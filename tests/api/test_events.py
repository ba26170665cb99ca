"""Following a project's events: live, resumed, ended with the membership."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest

from steward.identity import Role
from steward.testing import Installation
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
    assert (first["type"], first["data"]) == ("org.steward.project.updated", {"name": "One"})
    for name in ("Two", "Three"):
        _change(installation, name)
    headers["Last-Event-ID"] = str(first["cursor"])
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        events = _events(stream.iter_lines())
        assert [next(events)["data"]["name"] for _ in range(2)] == ["Two", "Three"]
        _change(installation, "Four")
        assert next(events)["data"]["name"] == "Four"


def test_a_stream_ends_with_the_membership(
    installation: Installation, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.api.routes.events.HEARTBEAT_SECONDS", 0.05)
    viewer = installation.person(Role.viewer)
    token = installation.by_token(viewer, Role.viewer).headers["Authorization"]
    address = f"{live}/projects/{installation.scope.project_id}/events/stream"
    with httpx.stream("GET", address, headers={"Authorization": token}, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        installation.steward.identity.members.remove(installation.owner.access, viewer.user.id)
        # Reading ends because the server closes the stream; otherwise the test would time out.
        for _ in lines:
            continue


def test_the_log_is_read_newest_first(installation: Installation) -> None:
    for name in ("One", "Two", "Three"):
        _change(installation, name)
    base = f"/api/v1/projects/{installation.scope.project_id}/events"
    page = installation.owner.client.get(base, params={"limit": 2}).json()
    assert [event["data"]["name"] for event in page["items"]] == ["Three", "Two"]
    following = installation.owner.client.get(
        base, params={"limit": 2, "cursor": page["next_cursor"]}
    ).json()
    assert following["items"][0]["data"] == {"name": "One"}
