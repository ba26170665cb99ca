"""How long a small query takes while somebody else keeps the whole machine busy, beside the same query at rest.

A real server process on loopback, without a model. One person saturates it, in four ways after one another: Python
that never ends, SQL that explodes, 200 chats at once, and long loads of files. Another person asks small queries all the
while, by turns in the same project and in one of their own. Before each of the four, the same queries are asked at rest: a
machine that is busy with other things slows both alike.

    .venv/bin/python benchmarks/fairness.py            about four minutes
    .venv/bin/python benchmarks/fairness.py --quick    fewer and shorter, for a smoke test

The last line is JSON. `fair_p95_ratio`: the worst of the four, p95 under load divided by p95 at rest.
"""

import argparse
import asyncio
import json
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward.app import open_steward
from steward.app.first_start import prepare_first_start
from steward.core import load_settings
from steward.core.settings import minimal_environment
from steward.identity import Principal, Role, Via

STEWARD = Path(sys.executable).parent / "steward"
TARGET = 3.0
SMALL = "SQL: SELECT count(*) AS n, sum(i) AS s FROM range(1000) r(i)"
PAUSE_SECONDS = 0.1
# Until what saturates has spread through every queue.
BUILD_UP_SECONDS = 3.0
LONGEST_SECONDS = 120.0
PATIENCE_SECONDS = 60.0
LOADED_ROWS = 200_000


@dataclass(frozen=True)
class Load:
    """What one person does all at once, again and again."""

    name: str
    message: str
    at_once: int
    way: str = "chat/stream"
    """`chat`, `chat/stream` or `uploads`. Hanging up on a stream ends its query; a person may have only so many."""


LOADS = (
    Load("python", "PYTHON: x = bytearray(200 << 20)\nwhile True:\n    x[0] = 1", 10),
    Load(
        "sql",
        "SQL: SELECT sum(a.i * b.i % 7) FROM range(1000000) a(i), range(1000000) b(i)",
        10,
    ),
    Load(
        "chats", "How many orders are there for each customer? Show the ten largest.", 200, "chat"
    ),
    Load("loads", "", 6, "uploads"),
)


def say(text: str) -> None:
    print(text, flush=True)


# The server


@dataclass(frozen=True)
class Person:
    token: str
    projects: tuple[str, ...]


@contextmanager
def steward_up(home: str) -> Iterator[tuple[str, int]]:
    settings = {
        "STEWARD_HOME": home,
        "STEWARD_LOG__LEVEL": "error",
        "STEWARD_HTTP__REQUESTS_PER_MINUTE": "100000",
    }
    process = subprocess.Popen(
        [str(STEWARD), "up", "--port", "0", "--json"],
        env={**minimal_environment(), **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    text = ""
    try:
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        host, _, port = json.loads(text)["url"].removeprefix("http://").partition(":")
        yield host, int(port)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _prepared(home: str) -> tuple[Person, Person]:
    """An installation with two people: who saturates it, and who asks small queries."""
    steward = open_steward(load_settings(home=Path(home)))
    try:
        owner = prepare_first_start(steward).owner
        quiet = Principal(owner.id, owner.email, owner.name, Via.session)
        identity = steward.identity
        shared = identity.projects.page(quiet)[0].id
        own = identity.projects.create_as(quiet, "Quiet").id
        access = identity.projects.enter(quiet, shared)
        user = identity.users.create("busy@localhost", "Busy")
        identity.members.set_organisation_role(access.scope.org_id, user.id, Role.editor)
        busy = Principal(user.id, user.email, user.name, Via.session)

        def token(who: Principal, project: str) -> str:
            entered = identity.projects.enter(who, project)
            return identity.tokens.create(entered, "benchmark", Role.editor, 1)[1]

        # A token opens one project, so the quiet person has one for each.
        tokens = " ".join(token(quiet, project) for project in (shared, own))
        return Person(token(busy, shared), (shared,)), Person(tokens, (shared, own))
    finally:
        steward.close()


# The clients


@dataclass(frozen=True)
class Client:
    host: str
    port: int
    person: Person

    async def ask(self, message: str, number: int, way: str) -> tuple[int, bytes]:
        """The status and the whole answer to one message."""
        return await self._request("POST", way, json.dumps({"message": message}).encode(), number)

    async def load(self, content: bytes, number: int) -> int:
        """Sends a file and loads it; the last status, once the load is over."""
        name = f"load-{number}"
        started = json.dumps({"name": f"{name}.csv"}).encode()
        status, answer = await self._request("POST", "uploads", started)
        if status != 201:
            return status
        way = f"uploads/{_document(answer)['id']}"
        status, _ = await self._request("PATCH", way, content, headers=("Upload-Offset: 0",))
        if status != 200:
            return status
        asked = json.dumps({"dataset": name}).encode()
        status, answer = await self._request("POST", f"{way}/ingest", asked)
        while status in (200, 202):
            run = _document(answer)
            if run["status"] not in {"queued", "running"}:
                return 200 if run["status"] == "done" else 500
            await asyncio.sleep(1.0)
            status, answer = await self._request("GET", f"runs/{run['id']}", b"")
        return status

    async def _request(
        self, method: str, way: str, body: bytes, number: int = 0, headers: tuple[str, ...] = ()
    ) -> tuple[int, bytes]:
        """One request on a connection of its own."""
        at = number % len(self.person.projects)
        kind = "application/octet-stream" if headers else "application/json"
        lines = (
            f"{method} /api/v1/projects/{self.person.projects[at]}/{way} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            f"Authorization: Bearer {self.person.token.split()[at]}",
            f"Content-Type: {kind}",
            "Connection: close",
            f"Content-Length: {len(body)}",
            *headers,
        )
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=2**22)
        try:
            writer.write("\r\n".join((*lines, "", "")).encode() + body)
            answer = await reader.read()
        finally:
            writer.close()
        status, _, rest = answer.partition(b"\r\n")
        return int(status.split()[1]), rest

    async def timed(self, number: int) -> float:
        """A small query from asking to having its answer, in seconds."""
        began = time.perf_counter()
        async with asyncio.timeout(PATIENCE_SECONDS):
            status, answer = await self.ask(SMALL, number, "chat")
        # 202: the server did not wait any longer, which is a time as well.
        assert status in (200, 202), answer[-500:]
        return time.perf_counter() - began


def _document(answer: bytes) -> Any:
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def _table() -> bytes:
    """A file of some megabytes with numbers, dates and text."""
    rows = (
        f"{number},customer {number % 977},2026-{number % 12 + 1:02}-{number % 28 + 1:02},{number / 7:.2f}"
        for number in range(LOADED_ROWS)
    )
    return "\n".join(("id,name,day,amount", *rows)).encode()


@asynccontextmanager
async def saturated(client: Client, load: Load) -> AsyncIterator[dict[str, int]]:
    """Keeps so many requests open at once; hanging up ends the queries among them."""
    counts = {"answered": 0, "refused": 0}

    content = _table() if load.way == "uploads" else b""

    async def again(number: int) -> None:
        while True:
            if content:
                status = await client.load(content, number)
            else:
                status, _ = await client.ask(load.message, number, load.way)
            answered = status in (200, 202)
            counts["answered" if answered else "refused"] += 1
            await asyncio.sleep(PAUSE_SECONDS if answered else 1.0)

    tasks = [asyncio.create_task(again(number)) for number in range(load.at_once)]
    try:
        await asyncio.sleep(BUILD_UP_SECONDS)
        yield counts
        failed = [each for each in tasks if each.done()]
        assert not failed, failed[0].exception()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def sampled(client: Client, count: int, seconds: float) -> list[float]:
    """So many small queries one after another, fewer when the time is over."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < count and (time.perf_counter() < until or not times):
        times.append(await client.timed(len(times)))
        await asyncio.sleep(PAUSE_SECONDS)
    return times


def p95(times: list[float]) -> float:
    return sorted(times)[min(math.ceil(len(times) * 0.95) - 1, len(times) - 1)]


async def measured(
    quiet: Client, busy: Client, samples: int, seconds: float, loads: Sequence[Load] = LOADS
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    await sampled(quiet, 4, seconds)
    for load in loads:
        rest = await sampled(quiet, samples, seconds)
        async with saturated(busy, load) as counts:
            loaded = await sampled(quiet, samples, seconds)
        await _settled(quiet, statistics.median(rest), seconds)
        ratio = round(p95(loaded) / p95(rest), 2)
        say(
            f"{load.name:8} {load.at_once:4} at once   at rest p50 {_ms(rest)} p95 {p95(rest) * 1000:7.0f}"
            f"   under load p50 {_ms(loaded)} p95 {p95(loaded) * 1000:7.0f} ms   {ratio:5.2f}×"
            f"   ({len(loaded)} queries; the other: {counts['answered']} answered, {counts['refused']} refused)"
        )
        figures |= {
            f"{load.name}_p95_ratio": ratio,
            f"{load.name}_rest_p95_ms": round(p95(rest) * 1000),
            f"{load.name}_p95_ms": round(p95(loaded) * 1000),
        }
    ratios = [figures[f"{load.name}_p95_ratio"] for load in loads]
    return {"fair_p95_ratio": max(ratios), **figures, "target": TARGET}


async def _settled(quiet: Client, usual: float, seconds: float) -> None:
    """Until a query is about as quick as at rest: what was hung up on has ended."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if await quiet.timed(0) < usual * 1.5:
            return


def _ms(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:7.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=[load.name for load in LOADS])
    arguments = parser.parse_args()
    quick = arguments.quick
    loads = [load for load in LOADS if arguments.only in (None, load.name)]
    samples, seconds = (8, 6.0) if quick else (40, 20.0)
    with tempfile.TemporaryDirectory() as home:
        busy, quiet = _prepared(home)
        with steward_up(home) as (host, port):
            clients = Client(host, port, quiet), Client(host, port, busy)
            figures = asyncio.run(
                asyncio.wait_for(measured(*clients, samples, seconds, loads), LONGEST_SECONDS * 2)
            )
    say(json.dumps(figures))


if __name__ == "__main__":
    main()
