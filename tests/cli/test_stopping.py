"""Ctrl-C and SIGTERM end a server and a worker within ten seconds, whatever they are doing, with all their children."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from steward.testing import PostgresServer
from tests.cli.terminal import Server, Terminal, until

SECONDS = 10.0
OFTEN = {"STEWARD_HTTP__REQUESTS_PER_MINUTE": "1000000", "STEWARD_HTTP__REQUEST_BURST": "10000"}
"""For tests that look again and again."""
BUSY = [
    "PYTHON: while True: pass",
    'SQL: SELECT count(*) FROM "{0}" a, "{0}" b, "{0}" c, "{0}" d WHERE random() < 2',
]


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                found |= {child, *_descendants(child)}
    return found


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class Load:
    """Someone who keeps a server busy in every way there is."""

    def __init__(self, server: Server, stack: ExitStack) -> None:
        self._client = server.signed_in()
        project = self._client.get("/projects").json()["items"][0]["id"]
        self._project = f"/projects/{project}"
        self._stack = stack

    def open_stream(self) -> Iterator[str]:
        stream = self._stack.enter_context(
            self._client.stream("GET", f"{self._project}/events/stream")
        )
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        return lines

    def ask(self) -> None:
        """Endless Python, endless SQL: each waits for its answer in a thread of its own."""
        [dataset, *_] = self._client.get(f"{self._project}/datasets").json()["items"]
        for message in BUSY:
            body = {"message": message.format(dataset["name"])}
            self._in_background("POST", "/chat", json=body)
        # One is enough: on a machine with much else to do, the other may come to its limits before.
        until(self._running, what="the runs")

    def load_file(self) -> None:
        upload = self._client.post(f"{self._project}/uploads", json={"name": "big.csv"}).json()
        content = b"a;b;c\n" + b"".join(b"%d;word %d;2026-01-01\n" % (n, n) for n in range(600_000))
        address = f"{self._project}/uploads/{upload['id']}"
        sent = self._client.patch(address, content=content, headers={"Upload-Offset": "0"})
        assert sent.status_code == 200, sent.text
        self._in_background("POST", f"/uploads/{upload['id']}/ingest", json={"dataset": "big"})

    def half_send(self, server: Server) -> None:
        url = httpx.URL(server.url)
        connection = self._stack.enter_context(_connected(url.host, url.port or 0))
        connection.sendall(b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n")

    def _running(self) -> list[Any]:
        found = self._client.get(f"{self._project}/runs", params={"status": "running"})
        items: list[Any] = found.json()["items"]
        return items

    def _in_background(self, method: str, path: str, **more: Any) -> None:
        def ask() -> None:
            with suppress(httpx.HTTPError):
                self._client.request(method, self._project + path, **more)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        self._stack.callback(thread.join, 30)


def _connected(host: str, port: int) -> Any:
    return socket.create_connection((host, port), timeout=30)


STUCK = """
import subprocess, sys, threading
from steward.app import Shutdown

child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
print(child.pid, flush=True)

def forever():
    while True:
        pass

threading.Thread(target=forever).start()
stopping = Shutdown(0.2)
stopping.begin()
stopping.begin()
"""


def test_a_thread_that_never_ends_does_not_keep_the_process_nor_its_children() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True
    ) as stuck:
        assert stuck.stdout is not None
        child = int(stuck.stdout.readline())
        assert stuck.wait(30) == 0
    until(lambda: not _is_alive(child) or None, seconds=5, what="the end of the child")


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="SIGTERM"),
        pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.battery),
    ],
)
def test_a_busy_server_ends_within_ten_seconds(filled: Terminal, number: signal.Signals) -> None:
    server = filled.up(env=OFTEN)
    with ExitStack() as stack:
        load = Load(server, stack)
        load.open_stream()
        load.half_send(server)
        load.ask()
        load.load_file()
        children = until(lambda: _descendants(server.process.pid), what="a child")
        began = time.monotonic()
        server.process.send(number)
        assert server.process.wait(SECONDS) == 0, server.process.err
        assert time.monotonic() - began < SECONDS
        left = until(
            lambda: not any(map(_is_alive, children)) or None, seconds=SECONDS, what="their end"
        )
        assert left
    server.close_clients()
    with filled.serving() as again:
        client = again.signed_in(filled.new_link())
        project = client.get("/projects").json()["items"][0]["id"]
        assert client.get(f"/projects/{project}/datasets").status_code == 200


@pytest.mark.soak
@pytest.mark.timeout(180)
def test_a_busy_worker_ends_within_ten_seconds(
    filled: Terminal, postgres: PostgresServer, postgres_template: str
) -> None:
    with postgres.database(postgres_template) as url, ExitStack() as stack:
        env = {**OFTEN, "STEWARD_DATABASE__URL": url, "STEWARD_RUNS__IN_SERVER": "false"}
        server = filled.up(env=env)
        worker = filled.start("worker", "--json", env=env)
        until(lambda: "queues" in worker.out or None, what="the worker")
        Load(server, stack).ask()
        children = until(lambda: _descendants(worker.pid), what="a sandbox")
        began = time.monotonic()
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(SECONDS) == 0, worker.err
        assert time.monotonic() - began < SECONDS
        until(lambda: not any(map(_is_alive, children)) or None, seconds=SECONDS, what="their end")
        server.process.send(signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0, server.process.err
        server.close_clients()


def test_ctrl_c_cancels_the_run_of_a_command(filled: Terminal) -> None:
    file = filled.folder / "big.csv"
    with file.open("w") as content:
        content.write("a;b;c\n")
        content.writelines(f"{n};word {n};2026-01-01\n" for n in range(3_000_000))
    loading = filled.start("data", "add", str(file))

    def status() -> str | None:
        found = filled.run("runs", "ls", "--json").json()
        return found[0]["status"] if found else None

    until(lambda: status() == "running" or None, what="the load")
    loading.send(signal.SIGINT)
    assert loading.wait(SECONDS) == 1
    assert "Cancelling." in loading.err
    assert "This was cancelled. Nothing was changed." in loading.err
    assert status() == "cancelled"
    assert "big" not in filled.run("data", "ls").out
