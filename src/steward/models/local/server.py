"""A llama.cpp server for weights on this machine: started when it is needed, limited, stopped when it rests."""

import asyncio
import contextlib
import http
import http.client
import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from steward.core import Misconfigured, Unavailable, minimal_environment
from steward.isolation import CannotStart, end_program, lower_limits, start_program
from steward.models.local.weights import Shelf

Engine = Literal["llama-server", "llama-cpp-python", "xllamacpp"]
CONTEXT: Final = 4_096
"""Tokens that are read at once: enough for planning in stages and for explanations."""
IDLE_S: Final = 900.0
_START_S: Final = 180.0
_GRACE_S: Final = 5.0
_MORE_MEMORY: Final = 3 << 30
"""Beside the weights: the context, the program and what it maps."""
_BINARY: Final = "llama-server"
_MODULE: Final = "llama_cpp"
_BINDING: Final = Path(__file__).with_name("binding.py")


def find_engine() -> Engine | None:
    """What can run weights here: the program, else a package built for this machine, else the ready-made one."""
    if shutil.which(_BINARY):
        return "llama-server"
    if importlib.util.find_spec(_MODULE) is not None:
        return "llama-cpp-python"
    return "xllamacpp" if importlib.util.find_spec("xllamacpp") is not None else None


@dataclass
class Running:
    """A server that was started, and when it was last asked."""

    name: str
    process: subprocess.Popen[bytes]
    address: str
    key: str
    used: float = field(default_factory=time.monotonic)
    asked: int = 0
    """Requests under way: a server that answers does not rest."""


Command = Callable[[Path, int], list[str]]


class LocalServers:
    """At most one server per model in this process; all of them end with it."""

    def __init__(
        self, shelf: Shelf, *, idle_seconds: float = IDLE_S, command: Command | None = None
    ) -> None:
        """`command` stands in for the engines that are installed."""
        self._shelf = shelf
        self._idle = idle_seconds
        self._command = command
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._watch: threading.Timer | None = None

    @property
    def shelf(self) -> Shelf:
        return self._shelf

    def names(self) -> list[str]:
        return [name for name, each in self._running.items() if each.process.poll() is None]

    @contextlib.asynccontextmanager
    async def serving(self, name: str) -> AsyncIterator[Running]:
        """A server that answers, for as long as the block lasts."""
        running = await asyncio.to_thread(self._ready, name)
        running.asked += 1
        try:
            yield running
        finally:
            running.asked -= 1
            running.used = time.monotonic()

    def _ready(self, name: str) -> Running:
        with self._lock:
            running = self._running.get(name)
            if running is None or running.process.poll() is not None:
                running = self._start(name)
                self._running[name] = running
            running.used = time.monotonic()
            self._rest_later()
            return running

    def _start(self, name: str) -> Running:
        path = self._shelf.get(name)
        port, key = _free_port(), secrets.token_urlsafe(24)
        command = (self._command or _command)(path, port)
        log = self._shelf.folder / f"{name}.log"
        limit = path.stat().st_size * 2 + _MORE_MEMORY
        with log.open("wb") as output:
            try:
                process = start_program(
                    command,
                    _environment(key),
                    ".",
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    preexec_fn=lambda: _limit(limit),
                )
            except CannotStart as problem:
                raise Unavailable(f"The server of {name} cannot be started: {problem}.") from None
        _say(process, key)
        running = Running(name, process, f"http://127.0.0.1:{port}/v1", key)
        try:
            _await_answer(running, port)
        except Unavailable:
            end_program(process, _GRACE_S)
            raise
        return running

    def _rest_later(self) -> None:
        if self._watch is None:
            self._watch = threading.Timer(max(self._idle / 4, 0.05), self._rest)
            self._watch.daemon = True
            self._watch.start()

    def _rest(self) -> None:
        """Stops servers that nobody has asked for a while."""
        with self._lock:
            self._watch = None
            now = time.monotonic()
            for name, running in list(self._running.items()):
                if not running.asked and now - running.used >= self._idle:
                    end_program(running.process, _GRACE_S)
                    del self._running[name]
            if self._running:
                self._rest_later()

    def close(self) -> None:
        with self._lock:
            if self._watch is not None:
                self._watch.cancel()
                self._watch = None
            for running in self._running.values():
                end_program(running.process, _GRACE_S)
            self._running.clear()


def _command(path: Path, port: int) -> list[str]:
    threads = str(max(1, (os.cpu_count() or 2) - 1))
    match find_engine():
        case "llama-server":
            program = shutil.which(_BINARY) or _BINARY
            where = ["--host", "127.0.0.1", "--port", str(port)]
            size = ["--ctx-size", str(CONTEXT), "--threads", threads, "--parallel", "1"]
            # Without polling: threads that wait must not keep the processor from others.
            return [program, "--model", str(path), *where, *size, "--poll", "0", "--offline"]
        case "llama-cpp-python":
            where = ["--host", "127.0.0.1", "--port", str(port)]
            size = ["--n_ctx", str(CONTEXT), "--n_threads", threads]
            # A second request must not end the first one.
            waits = ["--interrupt_requests", "False"]
            module = [sys.executable, "-m", f"{_MODULE}.server"]
            return [*module, "--model", str(path), *where, *size, *waits]
        case "xllamacpp":
            # Without the script's folder in the path: its files are not modules that the package may import.
            script = [sys.executable, "-P", str(_BINDING)]
            return [*script, str(path), str(port), str(CONTEXT), threads]
        case None:
            raise Misconfigured(
                "Nothing on this machine can run the model. Install llama.cpp (llama-server), or Steward with its "
                "extra `local` (pip install 'steward[local]'), or use Ollama.",
                code="no-engine",
            )


def _environment(key: str) -> dict[str, str]:
    """Little: the server needs no settings of Steward's. Engines read their key from a variable of their own, or from
    their input: arguments are in the list of processes, for every user of the machine.
    """
    keys = {"API_KEY": key, "LLAMA_API_KEY": key}
    # Threads that have nothing to do must not keep the processor from others.
    return {**minimal_environment(), **keys, "OMP_WAIT_POLICY": "passive"}


def _say(process: subprocess.Popen[bytes], key: str) -> None:
    """The key as a line of input, for an engine that reads it there; others find an input that has ended."""
    assert process.stdin is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(f"{key}\n".encode())
        process.stdin.close()


def _limit(memory: int) -> None:
    lower_limits({"AS": memory, "CORE": 0})
    os.nice(5)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await_answer(running: Running, port: int) -> None:
    """Until the server is ready: some listen while they still load weights."""
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        if running.process.poll() is not None:
            raise Unavailable(
                f"The server of {running.name} ended with {running.process.returncode} while it started. "
                f"Its log is {running.name}.log in the folder of models.",
                code="model-server-ended",
            )
        if _is_ready(port):
            return
        time.sleep(0.1)
    raise Unavailable(f"The server of {running.name} did not start in {_START_S:.0f} s.")


def _is_ready(port: int) -> bool:
    """Whether the server answers, and not that it is still loading; one without this path is ready once it answers."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        line.request("GET", "/health")
        return line.getresponse().status != http.HTTPStatus.SERVICE_UNAVAILABLE
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()
