"""Figures over web sockets: who may follow them, what is pushed, and readers that are slow, many, or never read."""

import asyncio
import json
import select
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Event
from typing import Any

import httpx2 as httpx
import pytest
from websockets.asyncio.client import connect as connect_many
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from steward.api import server
from steward.api.guards import cookie_name
from steward.api.metric_feeds import Feed
from steward.api.routes import metrics
from steward.app import open_steward
from steward.app.dashboards import live_figures
from steward.core import MovableClock, load_settings
from steward.identity import Role
from steward.testing import Installation, Person, fast_passwords
from tests.api.live import LiveServer
from tests.observe.test_live_figures import applied

MOST = 300
WAIT = 60.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    settings = load_settings(
        home=tmp_path_factory.mktemp("metrics"),
        http={"streams_per_person": MOST, "requests_per_minute": 60_000, "request_burst": 1_000},
    )
    clock = MovableClock(datetime.now(UTC))
    opened = Installation(open_steward(settings, clock=clock, passwords=fast_passwords()), clock)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def address(installation: Installation) -> Iterator[str]:
    with LiveServer(installation) as address:
        yield address


def _token(installation: Installation, person: Person | None = None) -> dict[str, str]:
    client = installation.by_token(person or installation.owner, Role.viewer)
    return {"Authorization": client.headers["Authorization"]}


def _url(address: str, installation: Installation, query: str = "") -> str:
    project = installation.scope.project_id
    return f"{address.replace('http', 'ws')}/api/v1/projects/{project}/metrics/stream{query}"


def _query(installation: Installation, sql: str = "SELECT 1 AS one") -> None:
    project = installation.scope.project_id
    answer = installation.owner.client.post(
        f"/api/v1/projects/{project}/runs", json={"query_type": "sql", "query": sql}
    )
    assert answer.status_code == 201, answer.text
    installation.steward.runs.drive_until_idle()


class Reader:
    """Applies what it gets."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.document: Any = None
        self.number = 0

    def read(self) -> None:
        message = json.loads(self.connection.recv(WAIT))
        self.document = applied(self.document, message["patch"])
        assert message["number"] > self.number
        self.number = message["number"]

    def read_until(self, runs: int) -> None:
        while self.document is None or self.document["now"]["runs"] < runs:
            self.read()


def _ended(installation: Installation) -> int:
    found = installation.steward.observations.overview.figures(
        installation.scope, installation.clock.now(), 24
    )
    return found.now.runs


def test_patches_lead_to_what_the_overview_says(installation: Installation, address: str) -> None:
    before = _ended(installation)
    with connect(
        _url(address, installation), additional_headers=_token(installation)
    ) as connection:
        reader = Reader(connection)
        reader.read()
        assert reader.document["now"]["runs"] == before
        _query(installation)
        _query(installation, "SELECT * FROM there_is_no_such_table")
        reader.read_until(before + 2)
    project = installation.scope.project_id
    overview = installation.owner.client.get(f"/api/v1/projects/{project}/overview").json()
    assert reader.document["now"]["failed"] == overview["now"]["failed"]
    titles = {each["name"]: each["title"] for each in overview["ranked"] if each["kind"] == "flow"}
    assert titles.items() <= reader.document["titles"].items()


def test_a_reader_goes_on_by_asking_from_its_number(
    installation: Installation, address: str
) -> None:
    headers = _token(installation)
    with connect(_url(address, installation), additional_headers=headers) as connection:
        reader = Reader(connection)
        reader.read()
        path = f"{address}/api/v1/projects/{installation.scope.project_id}/metrics"
        _query(installation)
        answer = httpx.get(path, params={"since": reader.number}, headers=headers).json()
        assert all(each["path"] != "" for each in answer["patch"])
        document = applied(json.loads(json.dumps(reader.document)), answer["patch"])
        reader.read_until(document["now"]["runs"])
        assert reader.document["now"] == document["now"]
    with connect(
        _url(address, installation, f"?since={answer['number']}"), additional_headers=headers
    ) as connection:
        _query(installation)
        message = json.loads(connection.recv(WAIT))
        assert message["number"] > answer["number"]
        assert all(each["path"] != "" for each in message["patch"])


def _refused(url: str, headers: dict[str, str]) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as refused, connect(url, additional_headers=headers):
        pass
    response = refused.value.response
    return response.status_code, json.loads(response.body)["code"]


def test_who_may_follow(installation: Installation, address: str) -> None:
    url = _url(address, installation)
    assert _refused(url, {}) == (401, "unauthenticated")
    stranger = installation.person(Role.owner, "stranger", installation.project("Other"))
    assert _refused(url, _token(installation, stranger))[0] in {403, 404}
    assert _refused(f"{url}?hours=1000000", _token(installation)) == (422, "invalid")
    assert _refused(f"{url}?since=-1", _token(installation)) == (422, "invalid")


def test_a_page_of_another_site_is_refused(installation: Installation, address: str) -> None:
    sessions = installation.steward.identity.sessions
    session = sessions.sign_in_by_link(sessions.new_link(installation.owner.user.id))
    cookie = f"{cookie_name(installation.steward.settings.http)}={session.token}"
    url = _url(address, installation)
    assert _refused(url, {"Cookie": cookie, "Origin": "https://evil.example"}) == (
        403,
        "cross-site",
    )
    with connect(url, additional_headers={"Cookie": cookie, "Origin": address}) as connection:
        Reader(connection).read()


def test_the_project_is_found_or_asked_for(installation: Installation, address: str) -> None:
    named = f"{address.replace('http', 'ws')}/ws/metrics"
    with connect(named, additional_headers=_token(installation)) as connection:
        Reader(connection).read()
    installation.project("Second")
    client, project = installation.owner.client, installation.scope.project_id
    assert client.get("/api/dashboard/summary").json()["code"] == "which-project"
    found = client.get("/api/dashboard/summary", params={"project_id": project})
    assert found.json() == client.get(f"/api/v1/projects/{project}/overview").json()
    elsewhere = installation.person(Role.owner, "elsewhere", installation.project("Third")).client
    assert elsewhere.get("/api/dashboard/summary").json()["now"]["runs"] == 0
    asked = elsewhere.get("/api/dashboard/summary", params={"project_id": project})
    assert asked.status_code == 404
    _query(installation)
    [run, *_] = client.get(f"/api/v1/projects/{project}/runs").json()["items"]
    path = f"/api/executions/{run['id']}/trace"
    assert client.get(path, params={"project_id": project}).json()["total"] > 0
    assert elsewhere.get(path).status_code == 404
    assert elsewhere.get(path, params={"project_id": project}).status_code == 404


def test_somebody_who_is_removed_is_let_go(installation: Installation, address: str) -> None:
    person = installation.person(Role.viewer, "leaver")
    with connect(
        _url(address, installation), additional_headers=_token(installation, person)
    ) as connection:
        Reader(connection).read()
        project = installation.scope.project_id
        answer = installation.owner.client.delete(
            f"/api/v1/projects/{project}/members/{person.user.id}"
        )
        assert answer.status_code in {200, 204}, answer.text
        with pytest.raises(ConnectionClosed) as closed:
            _read_on(connection)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def _read_on(connection: Connection) -> None:
    while True:
        connection.recv(WAIT)


def _never_reading(address: str, installation: Installation) -> socket.socket:
    """Shakes hands, and takes nothing after that."""
    url = httpx.URL(_url(address, installation))
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.settimeout(WAIT)
    opened.connect((url.host, url.port))
    head = (
        f"GET {url.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: {_token(installation)['Authorization']}\r\n\r\n"
    )
    opened.sendall(head.encode())
    assert opened.recv(12) == b"HTTP/1.1 101"
    return opened


def test_a_reader_that_never_reads_is_let_go_and_hurts_nobody(
    installation: Installation, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "_SEND_SECONDS", 0.5)
    monkeypatch.setattr(metrics, "TICK_SECONDS", 0.01)
    said = Feed.message

    def padded(self: Feed, number: int | None) -> tuple[int, str]:
        # Large, so that what lies between the two ends is soon full.
        until, text = said(self, number)
        return until, text + " " * 3_000_000

    monkeypatch.setattr(Feed, "message", padded)
    before = _ended(installation)
    stuck = _never_reading(address, installation)
    with connect(
        _url(address, installation), additional_headers=_token(installation), max_size=None
    ) as connection:
        reader = Reader(connection)
        reader.read()
        for count in range(1, 5):
            _query(installation)
            reader.read_until(before + count)
    watched = select.poll()
    watched.register(stuck, select.POLLHUP | select.POLLERR)
    # The server lets go without the reader's doing.
    assert watched.poll(WAIT * 1000)
    stuck.close()


def test_many_readers_share_one_look(
    installation: Installation, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = 0
    since = Feed.message

    def counted(self: Feed, number: int | None) -> tuple[int, str]:
        nonlocal built
        known = self._message
        found = since(self, number)
        built += known is not self._message
        return found

    monkeypatch.setattr(Feed, "message", counted)
    before = _ended(installation)
    url, headers = _url(address, installation), _token(installation)

    async def read_all() -> list[dict[str, Any]]:
        readers = []
        for _ in range(MOST - 5):
            opened = await connect_many(url, additional_headers=headers, compression=None)
            document = applied(None, json.loads(await opened.recv())["patch"])
            readers.append((opened, document))
        await asyncio.to_thread(_query, installation)

        async def rest(opened: Any, document: Any) -> dict[str, Any]:
            while document["now"]["runs"] <= before:
                document = applied(document, json.loads(await opened.recv())["patch"])
            await opened.close()
            totals: dict[str, Any] = document["now"]
            return totals

        return await asyncio.gather(*(rest(*each) for each in readers))

    found = asyncio.run(read_all())
    assert len(found) == MOST - 5
    assert all(each == found[0] for each in found)
    assert found[0]["runs"] == before + 1
    # One text for all who were level, not one for each.
    assert built < 30


def test_one_person_has_only_so_many(installation: Installation, address: str) -> None:
    person = installation.person(Role.viewer, "eager")
    headers = _token(installation, person)
    places = installation.api.state.context.streams
    places._open[person.user.id] = MOST
    assert _refused(_url(address, installation), headers) == (429, "too-many-streams")
    del places._open[person.user.id]
    with connect(_url(address, installation), additional_headers=headers) as connection:
        Reader(connection).read()


def test_a_reader_who_leaves_during_the_first_look_leaves_no_empty_figures(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, scope = installation.steward, installation.scope
    figures = live_figures(steward, scope, 24, None)
    feed = Feed(figures, scope, steward.events, steward.bus)
    looking, left, looked, look = Event(), Event(), Event(), feed._look

    def held() -> Any:
        looking.set()
        left.wait(30)
        found = look()
        looked.set()
        return found

    async def leave_and_come() -> None:
        monkeypatch.setattr(feed, "_look", held)
        first = asyncio.create_task(feed.look())
        await asyncio.to_thread(looking.wait, 30)
        first.cancel()
        await asyncio.wait([first])
        left.set()
        await asyncio.to_thread(looked.wait, 30)
        had_looked = feed.has_looked
        await feed.look()
        assert (had_looked, feed.has_looked) == (False, True)
        assert "first_hour" in figures.document.document

    asyncio.run(leave_and_come())


def test_a_reader_that_answers_no_ping_is_let_go(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_PING_SECONDS", 0.1)
    monkeypatch.setattr(server, "_PONG_SECONDS", 0.1)
    config = server.server_config(installation.api, installation.steward.settings.http)
    assert (config.ws_ping_interval, config.ws_ping_timeout) == (0.1, 0.1)
    with LiveServer(installation) as address:
        stuck = _never_reading(address, installation)
        watched = select.poll()
        watched.register(stuck, select.POLLHUP | select.POLLERR)
        assert watched.poll(WAIT * 1000)
        stuck.close()
