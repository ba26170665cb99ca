"""A terminal for tests: runs `steward` commands and servers as processes of their own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx

T = TypeVar("T")
EXECUTABLE = Path(sys.executable).parent / "steward"
PATIENCE = 60.0
NOTHING: Mapping[str, str] = {}


def until(condition: Callable[[], T | None], *, seconds: float = PATIENCE, what: str = "it") -> T:
    """Polls until the condition gives something; no test waits for a fixed time."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {seconds:.0f} s")
        pause.wait(0.01)


class Nursery:
    """One process that has loaded Steward and forks others; see `nursery.py`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.nursery"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A process with threads does not fork safely.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            text=True,
        )
        self._lock = threading.Lock()

    def start(self, request: Mapping[str, Any]) -> tuple[int, Callable[[], int | None]]:
        pid = self._ask(request)
        assert isinstance(pid, int)
        return pid, lambda: self._ask({"poll": pid})

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _ask(self, request: Mapping[str, Any]) -> int | None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer: int | None = json.loads(self._process.stdout.readline())
        return answer


class Installed:
    """Starts the installed `steward` program, as a person would."""

    def start(self, request: Mapping[str, Any]) -> tuple[int, Callable[[], int | None]]:
        with (
            Path(request["stdin"]).open() as stdin,
            Path(request["stdout"]).open("a") as stdout,
            Path(request["stderr"]).open("a") as stderr,
        ):
            process = subprocess.Popen(
                [str(EXECUTABLE), *request["args"]],
                env=request["env"],
                cwd=request["cwd"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
        return process.pid, process.poll


@dataclass
class Process:
    pid: int
    _poll: Callable[[], int | None]
    folder: Path
    _code: int | None = None

    @property
    def out(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "stderr").read_text()

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs, negative for a signal."""
        if self._code is None:
            self._code = self._poll()
        return self._code

    def send(self, number: signal.Signals) -> None:
        if self.code is None:
            os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE) -> int:
        ended = until(lambda: (self.code,) if self.code is not None else None, seconds=seconds)
        return ended[0] or 0

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Server:
    process: Process
    url: str
    sign_in: str | None
    _clients: list[httpx.Client] = field(default_factory=list)

    @property
    def link(self) -> str:
        return parse_qs(urlsplit(self.sign_in or "").query)["link"][0]

    def client(self) -> httpx.Client:
        client = httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE)
        self._clients.append(client)
        return client

    def close_clients(self) -> None:
        while self._clients:
            self._clients.pop().close()

    def signed_in(self, link: str | None = None) -> httpx.Client:
        """A client that used a link, the printed one by default, with the CSRF header set."""
        client = self.client()
        answer = client.post("/session", json={"link": link or self.link})
        answer.raise_for_status()
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        return client


@dataclass
class Terminal:
    """A shell in a folder of its own with STEWARD_HOME set."""

    starter: Nursery | Installed
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)
    _started: list[Process] = field(default_factory=list)
    _servers: list[Server] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def start(self, *args: str, stdin: str = "", env: Mapping[str, str] = NOTHING) -> Process:
        streams = self.folder / f"process-{next(self._numbers)}"
        streams.mkdir()
        (streams / "stdin").write_text(stdin)
        for name in ("stdout", "stderr"):
            (streams / name).touch()
        inherited = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        pid, poll = self.starter.start(
            {
                "args": list(args),
                "env": {**inherited, "STEWARD_HOME": str(self.home), **self.env, **env},
                "cwd": str(self.folder),
                **{name: str(streams / name) for name in ("stdin", "stdout", "stderr")},
            }
        )
        process = Process(pid, poll, streams)
        self._started.append(process)
        return process

    def run(
        self, *args: str, stdin: str = "", code: int = 0, env: Mapping[str, str] = NOTHING
    ) -> Process:
        """Runs a command to its end and checks how it ended."""
        process = self.start(*args, stdin=stdin, env=env)
        assert process.wait() == code, f"{args}: {process.code}\n{process.out}\n{process.err}"
        assert "Traceback" not in process.err
        return process

    def up(self, *args: str, env: Mapping[str, str] = NOTHING) -> Server:
        """Starts a server on a free port and waits until it says that it answers."""
        process = self.start("up", "--json", "--port", "0", *args, env=env)
        return self.greeted(process)

    def greeted(self, process: Process) -> Server:
        def greeting() -> dict[str, Any] | None:
            if process.code is not None:
                raise AssertionError(f"ended with {process.code}: {process.out}{process.err}")
            return _document(process.out)

        found = until(greeting, what="the greeting")
        server = Server(process, found["url"], found["sign_in"])
        self._servers.append(server)
        return server

    def new_link(self) -> str:
        """A further sign-in link for the owner."""
        address = self.run("user", "link", "owner@localhost").out.strip()
        return parse_qs(urlsplit(address).query)["link"][0]

    @contextmanager
    def serving(self, *args: str, env: Mapping[str, str] = NOTHING) -> Iterator[Server]:
        server = self.up(*args, env=env)
        yield server
        server.close_clients()
        server.process.send(signal.SIGTERM)
        assert server.process.wait() == 0, server.process.err

    def close(self) -> None:
        for server in self._servers:
            server.close_clients()
        for process in self._started:
            process.send(signal.SIGKILL)
            process.wait()


def _document(text: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    return found
