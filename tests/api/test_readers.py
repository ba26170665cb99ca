"""Readers of streams that never read, or a few bytes at a time: they are many, the server keeps no more for each than one message, others miss nothing."""

import json
import re
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2 as httpx
import pytest
from websockets.sync.client import connect

from steward.api.metric_feeds import Feed
from steward.api.routes import events, metrics, run_journal
from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.identity import Role
from steward.testing import Installation, fast_passwords
from tests.api.live import LiveServer
from tests.observe.test_live_figures import applied

WAIT = 60.0
PADDING = 500_000
HIGH_WATER = 64 * 1024
"""What asyncio takes for a connection before it asks the sender to wait."""
MOST_KEPT = HIGH_WATER + PADDING + 100_000
"""Of one reader: one message beyond the mark."""
MOST = 4_000
SIP = 64
"""Bytes that a slow reader takes at a time."""


@pytest.fixture
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    http = {"streams_per_person": MOST, "requests_per_minute": 60_000, "request_burst": 10_000}
    settings = load_settings(home=tmp_path_factory.mktemp("readers"), http=http)
    clock = MovableClock(datetime.now(UTC))
    steward = open_steward(settings, clock=clock, passwords=fast_passwords())
    with closing(Installation(steward, clock)) as opened:
        yield opened


class Crowd:
    """Readers that shake hands and take nothing after that, beside a server that counts what it keeps for them."""

    def __init__(self, installation: Installation, server: LiveServer, address: str) -> None:
        self.installation = installation
        self.url = httpx.URL(address)
        self.project = f"/api/v1/projects/{installation.scope.project_id}"
        client = installation.by_token(installation.owner, Role.viewer)
        self.headers = {"Authorization": client.headers["Authorization"]}
        self._server = server

    def stuck(self, path: str, further: str = "") -> socket.socket:
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.settimeout(WAIT)
        opened.connect((self.url.host, self.url.port))
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{further}"
        opened.sendall(f"{head}Authorization: {self.headers['Authorization']}\r\n\r\n".encode())
        assert opened.recv(9) == b"HTTP/1.1 "
        return opened

    def stuck_socket(self) -> socket.socket:
        upgrade = (
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )
        return self.stuck(f"{self.project}/metrics/stream", upgrade)

    def kept(self) -> list[int]:
        """Bytes that wait to be sent, for each connection."""
        connections = list(self._server.connections)
        return [each.transport.get_write_buffer_size() for each in connections]

    def happen(self, count: int) -> None:
        steward, scope = self.installation.steward, self.installation.scope
        for number in range(count):
            with steward.database.write(scope) as tx:
                steward.events.append(tx, "thing.happened", f"thing {number}")

    def run(self) -> str:
        answer = self.installation.owner.client.post(
            f"{self.project}/runs", json={"query_type": "sql", "query": "SELECT 1 AS one"}
        )
        self.installation.steward.runs.drive_until_idle()
        return str(answer.json()["id"])


@contextmanager
def _crowd(installation: Installation) -> Iterator[Crowd]:
    server = LiveServer(installation)
    with server as address:
        yield Crowd(installation, server, address)


def _events_of(answer: httpx.Response) -> Iterator[int]:
    """Cursors of events in the order in which they arrive."""
    for line in answer.iter_lines():
        if line.startswith("id: "):
            yield int(line.removeprefix("id: "))


def _fill(crowd: Crowd, monkeypatch: pytest.MonkeyPatch, readers: int) -> None:
    """So many that never read, and one of each kind that reads and gets everything in order."""
    _pad(monkeypatch)
    run_id = crowd.run()
    steward, scope = crowd.installation.steward, crowd.installation.scope
    with ExitStack() as stack:
        for _ in range(readers):
            stack.enter_context(closing(crowd.stuck(f"{crowd.project}/events/stream?after=0")))
        for _ in range(readers // 10):
            stack.enter_context(closing(crowd.stuck(f"{crowd.project}/runs/{run_id}/stream")))
            stack.enter_context(closing(crowd.stuck_socket()))
        start = steward.events.latest(scope)
        good = stack.enter_context(httpx.Client(base_url=crowd.url, headers=crowd.headers))
        stream = stack.enter_context(
            good.stream("GET", f"{crowd.project}/events/stream?after={start}", timeout=WAIT)
        )
        arriving = _events_of(stream)
        seen: list[int] = []
        for _ in range(2):
            crowd.happen(15)
            latest = steward.events.latest(scope)
            while not seen or seen[-1] < latest:
                seen.append(next(arriving))
            kept = crowd.kept()
            assert len(kept) > readers
            assert max(kept) <= MOST_KEPT
            assert sum(each > 0 for each in kept) >= readers / 2
        assert seen == [each.cursor for each in steward.events.after(scope, start)]
        _read_figures(crowd)


def _read_figures(crowd: Crowd) -> None:
    address = f"ws://{crowd.url.host}:{crowd.url.port}{crowd.project}/metrics/stream"
    with connect(address, additional_headers=crowd.headers, max_size=None) as connection:
        document: Any = None
        number = 0
        for _ in range(3):
            message = json.loads(connection.recv(WAIT))
            document = applied(document, message["patch"])
            assert message["number"] > number
            number = message["number"]
            before = document["now"]["runs"]
            crowd.run()
        assert before >= 1


def _pad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large messages, so that what lies between the two ends is soon full."""
    padding = " " * PADDING
    for module in (events, run_journal):
        framed = module._frame

        def padded(*given: Any, _framed: Any = framed) -> str:
            return f": {padding}\n{_framed(*given)}"

        monkeypatch.setattr(module, "_frame", padded)
    message = Feed.message

    def long(self: Feed, number: int | None) -> tuple[int, str]:
        until, text = message(self, number)
        return until, text + padding

    monkeypatch.setattr(Feed, "message", long)
    monkeypatch.setattr(metrics, "TICK_SECONDS", 0.01)


def test_fifty_readers_that_never_read_cost_one_message_each_and_hurt_nobody(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _crowd(installation) as crowd:
        _fill(crowd, monkeypatch, 50)


# By itself: what lies unread in so many connections takes the kernel's memory for those of other tests.
@pytest.mark.battery
def test_a_thousand_readers_that_never_read_cost_one_message_each(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16_384), most))
    with _crowd(installation) as crowd:
        _fill(crowd, monkeypatch, 1_000)


class Drip:
    """A reader that does read, a few bytes at a time."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self.taken = bytearray(b"HTTP/1.1 ")

    def sip(self) -> None:
        """What has arrived, of a few bytes; nothing is no reason to wait."""
        self._take(SIP, wait=False)

    def drink(self, end: bytes) -> bytes:
        """All that arrives until something has come, or the server ends the connection."""
        begin = 0
        while self.taken.find(end, begin) < 0:
            begin = max(0, len(self.taken) - len(end))
            if not self._take(1 << 20, wait=True):
                break
        return bytes(self.taken)

    def messages(self, count: int) -> list[dict[str, Any]]:
        """The first text messages of a web socket; RFC 6455, without masks as servers send them."""
        found: list[dict[str, Any]] = []
        at = self._need(0, b"\r\n\r\n")
        while len(found) < count:
            self._until(at + 10)
            size, begin = self.taken[at + 1] & 127, at + 2
            if size >= 126:
                begin += 2 if size == 126 else 8
                size = int.from_bytes(self.taken[at + 2 : begin])
            self._until(begin + size)
            if self.taken[at] & 15 == 1:
                found.append(json.loads(self.taken[begin : begin + size]))
            at = begin + size
        return found

    def _need(self, begin: int, end: bytes) -> int:
        self.drink(end)
        return self.taken.index(end, begin) + len(end)

    def _until(self, size: int) -> None:
        while len(self.taken) < size:
            assert self._take(1 << 20, wait=True)

    def _take(self, most: int, *, wait: bool) -> bool:
        self._socket.settimeout(WAIT if wait else 0)
        try:
            piece = self._socket.recv(most)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        self.taken += piece
        return bool(piece)


def _slow(crowd: Crowd, monkeypatch: pytest.MonkeyPatch, readers: int) -> None:
    """So many of each kind that read a few bytes whenever something happens; one that reads gets everything in order."""
    _pad(monkeypatch)
    run_id = crowd.run()
    steward, scope = crowd.installation.steward, crowd.installation.scope
    start = steward.events.latest(scope)
    paths = [
        f"{crowd.project}/events/stream?after={start}",
        f"{crowd.project}/runs/{run_id}/stream",
        f"{crowd.project}/events/export?after=0",
    ]
    with ExitStack() as stack:
        slow = [
            Drip(stack.enter_context(closing(crowd.stuck(path))))
            for path in paths
            for _ in range(readers)
        ]
        sockets = [Drip(stack.enter_context(closing(crowd.stuck_socket()))) for _ in range(readers)]
        good = stack.enter_context(httpx.Client(base_url=crowd.url, headers=crowd.headers))
        stream = stack.enter_context(good.stream("GET", paths[0], timeout=WAIT))
        arriving, seen, most = _events_of(stream), [], 0
        for _ in range(12):
            crowd.happen(1)
            seen.append(next(arriving))
            for each in (*slow, *sockets):
                each.sip()
            most = max(most, *crowd.kept())
        assert most <= MOST_KEPT
        expected = [each.cursor for each in steward.events.after(scope, start)]
        assert seen == expected
        _read_figures(crowd)
        # Slow is not less: whoever goes on reading misses nothing.
        whole = slow[0].drink(f"\nid: {expected[-1]}\n".encode())
        assert [int(each) for each in re.findall(rb"\nid: (\d+)", whole)] == expected
        heard = sockets[0].messages(2)
        document: Any = None
        for message in heard:
            document = applied(document, message["patch"])
        since = {"since": heard[-1]["number"]}
        rest = good.get(f"{crowd.project}/metrics", params=since, timeout=WAIT).json()
        now = good.get(f"{crowd.project}/metrics", timeout=WAIT).json()
        assert applied(document, rest["patch"]) == applied(None, now["patch"])


@pytest.mark.soak
def test_slow_readers_cost_one_message_each_miss_nothing_and_hurt_nobody(
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    effort: Callable[[int, int], int],
) -> None:
    """Twenty, or a thousand when there is time."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16_384), most))
    with _crowd(installation) as crowd:
        _slow(crowd, monkeypatch, effort(5, 250))


def test_a_reader_too_slow_for_one_message_is_let_go_and_polls_from_its_number(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _crowd(installation) as crowd:
        crowd.run()
        good = httpx.Client(base_url=crowd.url, headers=crowd.headers, timeout=WAIT)
        with good, closing(crowd.stuck_socket()) as opened:
            reader = Drip(opened)
            [first] = reader.messages(1)
            monkeypatch.setattr(metrics, "_SEND_SECONDS", 0.05)
            _pad(monkeypatch)
            feeds = vars(installation.api.state.context.feeds)["_feeds"]
            while any(feed.readers for feed in list(feeds.values())):
                # Until what lies between the two ends is full.
                crowd.run()
                reader.sip()
            address = f"{crowd.project}/metrics"
            rest = good.get(address, params={"since": first["number"]}).json()
            document = applied(applied(None, first["patch"]), rest["patch"])
            assert document == applied(None, good.get(address).json()["patch"])
