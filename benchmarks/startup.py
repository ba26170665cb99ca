"""How long a second start takes, what an idle server holds in memory, how much the first page weighs.

The peer is the floor: the same interpreter starting an empty uvicorn application.
"""

import argparse
import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import psutil

from steward.core.settings import minimal_environment

STEWARD = Path(sys.executable).parent / "steward"
FLOOR = """
import socket, uvicorn
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
listener = socket.socket(); listener.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")).run(sockets=[listener])
"""


@contextmanager
def steward_up(home: str, wanted: str = "url") -> Iterator[tuple[str, float, psutil.Process]]:
    """A started server: its address, the seconds until it answered, its process."""
    started = time.perf_counter()
    command = [str(STEWARD), "up", "--port", "0", "--json"]
    with _running(command, {"STEWARD_HOME": home, "STEWARD_LOG__LEVEL": "error"}) as process:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        told = json.loads(text)
        _get(f"{told['url']}/healthz")
        yield told[wanted], time.perf_counter() - started, psutil.Process(process.pid)


@contextmanager
def floor_up() -> Iterator[tuple[float, psutil.Process]]:
    started = time.perf_counter()
    with _running([sys.executable, "-c", FLOOR], {}) as process:
        assert process.stdout is not None
        _get(process.stdout.readline().strip())
        yield time.perf_counter() - started, psutil.Process(process.pid)


@contextmanager
def _running(command: list[str], extra: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command,
        env={**minimal_environment(), **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def _get(address: str, **headers: str) -> bytes:
    deadline = time.monotonic() + 30
    while True:
        try:
            with urlopen(Request(address, headers=headers)) as answer:
                body: bytes = answer.read()
                return body
        except OSError:
            if time.monotonic() > deadline:
                raise


def first_page_bytes(address: str) -> int:
    """Everything the browser loads before it shows the first page, as sent with gzip."""
    page = _get(f"{address}/").decode()
    assets = sorted(set(re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css))"', page)))
    sizes = [len(_get(address + path, **{"Accept-Encoding": "gzip"})) for path in ["/", *assets]]
    return sum(sizes)


def idle_memory(process: psutil.Process) -> float:
    return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)]) / 1e6


def command_ms(arguments: list[str], home: str, rounds: int) -> float:
    """The quickest of a few calls of a command, in milliseconds: what a quiet machine takes."""
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        subprocess.run(
            [str(STEWARD), *arguments],
            env={**minimal_environment(), "STEWARD_HOME": home},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        taken.append(time.perf_counter() - started)
    return min(taken) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Measure once.")
    rounds = 1 if parser.parse_args().quick else 5
    with tempfile.TemporaryDirectory() as home:
        with steward_up(home) as (_, first_start, _process):
            print(f"first start (creates the demo)   {first_start:6.2f} s", flush=True)
        starts: list[float] = []
        floors: list[float] = []
        memory = weight = floor_memory = 0.0
        for number in range(1, rounds + 1):
            with steward_up(home) as (address, seconds, process):
                starts.append(seconds)
                weight = first_page_bytes(address) / 1000
                memory = idle_memory(process)
            with floor_up() as (seconds, process):
                floors.append(seconds)
                floor_memory = idle_memory(process)
            print(f"round {number} of {rounds}", flush=True)
        calls = 3 if rounds == 1 else 7
        cli = max(command_ms([what], home, calls) for what in ("version", "--help"))
        opening = command_ms(["runs", "ls"], home, calls)
    second, floor = statistics.median(starts), statistics.median(floors)
    print(f"{'':34}{'Steward':>9}{'bare uvicorn':>15}")
    print(f"{'second start, seconds':34}{second:9.2f}{floor:15.2f}")
    print(f"{'idle memory, MB':34}{memory:9.0f}{floor_memory:15.0f}")
    print(f"{'first page, kB gzip':34}{weight:9.0f}{'–':>15}")
    print(f"{'version and --help, ms':34}{cli:9.0f}{'–':>15}")
    print(f"{'a command that opens data, ms':34}{opening:9.0f}{'–':>15}")
    figures = {
        "cli_ms": round(cli),
        "cli_opening_ms": round(opening),
        "second_start_s": round(second, 2),
        "idle_rss_mb": round(memory, 1),
        "first_page_kb_gz": round(weight, 1),
        "second_start_over_floor": round(second / floor, 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
