"""Following a project's events: live, resumed, ended with the membership."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn

from steward.identity import Role
from steward.testing import Installation


class LiveServer:
    """The application on a real socket: streams cannot be tested in memory."""

    def __init__(self, installation: Installation) -> None:
        config = uvicorn.Config(installation.api, port=0, log_config=None, lifespan="off")
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        startup = self._server.startup

        async def announce(*args: Any, **kwargs: Any) -> None:
            await startup(*args, **kwargs)
            self._started.set()

        self._server.startup = announce  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._server.run)
        self._context = installation.api.state.context
        self._bus = installation.steward.bus

    def __enter__(self) -> str:
        self._thread.start()
        assert self._started.wait(30)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/api/v1"

    def __exit__(self, *_: object) -> None:
        self._context.stopping.set()
        self._bus.wake_all()
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()


@pytest.fixture
def live(installation: Installation) -> Iterator[str]:
    assert installation.owner
    with LiveServer(installation) as address:
        yield address


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
