"""How soon a browser hears of what happens in a chat: plans, tool calls and tokens, with fifty chats at once.

A real server process is asked by fifty HTTP clients; a small model server on loopback plans and writes answers word by
word. What happened is dated where it happened: an entry of the journal by its own time, a token when the model server
sent it. It has arrived when the client has read its event. All run on one machine, so they read one clock. The chats
begin within ten seconds and are answered for ten seconds or more each, so that all of them are open at once.

    .venv/bin/python benchmarks/chat.py            about a minute
    .venv/bin/python benchmarks/chat.py --quick    five chats, for a smoke test

The last line is JSON. `event_p95_ms`: the time that 95 in 100 events stay below, of that kind of event which is worst
off; `all_events_p95_ms`: of all events together, most of which are tokens.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil

from steward.app import open_steward
from steward.app.first_start import prepare_first_start
from steward.core import load_settings
from steward.core.settings import minimal_environment
from steward.identity import Principal, Role, Via

STEWARD = Path(sys.executable).parent / "steward"
TARGET_MS = 100
WORDS = 200
WORD_SECONDS = 0.05
_SENT = re.compile(r"@([0-9]+\.[0-9]+)")
_EXPLAINS = "You explain to a person"
_ENTRIES = ("plan", "tool_call", "tool_result")


def say(text: str) -> None:
    print(text, flush=True)


# The model


def _plan() -> str:
    steps = [
        {
            "id": f"look_{number}",
            "title": "List the datasets",
            "agent": "data-analyst",
            "tools": ["list_datasets"],
            "arguments": {},
            "reason": "To know what is there.",
        }
        for number in range(3)
    ]
    return json.dumps({"format": 1, "goal": "Know what is there", "steps": steps})


def _chunk(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    body = {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "scripted",
        "choices": [choice],
    }
    return f"data: {json.dumps(body)}\n\n".encode()


async def _reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request for a completion: a plan at once, or an answer whose words say when they were sent."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))  # type: ignore[union-attr]
    asked = (await reader.readexactly(length)).decode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    if _EXPLAINS in asked:
        for _ in range(WORDS):
            await asyncio.sleep(WORD_SECONDS)
            writer.write(_chunk(f"word @{time.time():.6f} "))
            await writer.drain()
    else:
        writer.write(_chunk(_plan()))
    writer.write(_chunk("", "stop") + b"data: [DONE]\n\n")
    await writer.drain()
    writer.close()


def _serve_model(told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(_reply, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def model_server() -> Iterator[str]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve_model, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


# The server


@contextmanager
def steward_up(home: str, model: str) -> Iterator[tuple[str, psutil.Process]]:
    settings = {
        "STEWARD_HOME": home,
        "STEWARD_LOG__LEVEL": "error",
        "STEWARD_HTTP__REQUESTS_PER_MINUTE": "100000",
        "STEWARD_MODELS__DEFAULT__PROVIDER": "compatible",
        "STEWARD_MODELS__DEFAULT__PLANNING": "whole",
        "STEWARD_MODELS__DEFAULT__NAME": "scripted",
        "STEWARD_MODELS__DEFAULT__BASE_URL": model,
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
        yield json.loads(text)["url"], psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _prepared(home: str) -> tuple[str, str]:
    """An installation with its demo project; the project and a token for it."""
    steward = open_steward(load_settings(home=Path(home)))
    try:
        owner = prepare_first_start(steward, say).owner
        person = Principal(owner.id, owner.email, owner.name, Via.session)
        project = steward.identity.projects.page(person)[0]
        access = steward.identity.projects.enter(person, project.id)
        _, token = steward.identity.tokens.create(access, "benchmark", Role.operator, 1)
        return project.id, token
    finally:
        steward.close()


# The clients


@dataclass
class Heard:
    """What one client heard, and when."""

    run_id: str = ""
    status: str = ""
    restarts: int = 0
    delays: dict[str, list[float]] = field(default_factory=dict)
    entries: list[tuple[str, int, float]] = field(default_factory=list)
    """Kind, number of the entry, moment of arrival; dated afterwards."""

    def take(self, kind: str, event_id: str, data: bytes, now: float) -> None:
        if kind == "token":
            found = _SENT.findall(data.decode())
            if found:
                # Several words may come in one event: each has waited for itself.
                late = self.delays.setdefault("token", [])
                late.extend((now - float(sent)) * 1000 for sent in found)
        elif kind in _ENTRIES:
            self.entries.append((kind, int(event_id.split(".")[1]), now))
        elif kind == "status":
            self.run_id = json.loads(data)["run_id"]
        elif kind == "restart":
            self.restarts += 1
        elif kind == "done":
            self.status = json.loads(data)["status"]


@dataclass(frozen=True)
class Site:
    host: str
    port: int
    project: str
    token: str

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = (
            f"{method} /api/v1/projects/{self.project}{path} HTTP/1.1\r\n"
            f"Host: {self.host}:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


async def chat(site: Site, delay: float) -> Heard:
    """Asks once and reads to the end, with as little between the socket and the clock as can be."""
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection(site.host, site.port, limit=2**22)
    asked = json.dumps({"message": "Which datasets are there?"}).encode()
    writer.write(site.request("POST", "/chat/stream", asked))
    heard, kind, event_id = Heard(), "", ""
    while not heard.status:
        line = await reader.readline()
        now = time.time()
        if not line:
            raise SystemExit("the stream ended too early")
        if line.startswith(b"id: "):
            event_id = line[4:].decode().strip()
        elif line.startswith(b"event: "):
            kind = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            heard.take(kind, event_id, line[6:], now)
        elif line.startswith(b"HTTP/1.1") and b"200" not in line:
            raise SystemExit(line.decode())
    writer.close()
    return heard


def _date(site: Site, heard: Heard) -> None:
    """Finds out when the entries were written."""
    address = (
        f"http://{site.host}:{site.port}/api/v1/projects/{site.project}/runs/{heard.run_id}"
        "/journal?limit=200"
    )
    asked = Request(address, headers={"Authorization": f"Bearer {site.token}"})
    with urlopen(asked) as answer:
        entries: list[dict[str, Any]] = json.load(answer)["items"]
    written = {entry["seq"]: datetime.fromisoformat(entry["at"]).timestamp() for entry in entries}
    for kind, seq, arrived in heard.entries:
        heard.delays.setdefault(kind, []).append((arrived - written[seq]) * 1000)


async def _all(site: Site, chats: int) -> list[Heard]:
    dice = random.Random(7)
    return await asyncio.gather(*(chat(site, dice.random() * chats / 5) for _ in range(chats)))


def _p(delays: list[float], part: float) -> float:
    return sorted(delays)[min(int(len(delays) * part), len(delays) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    chats = 5 if parser.parse_args().quick else 50
    with tempfile.TemporaryDirectory() as home, model_server() as model:
        project, token = _prepared(home)
        with steward_up(home, model) as (url, server):
            host, _, port = url.removeprefix("http://").partition(":")
            site = Site(host, int(port), project, token)
            # The first chat loads what later ones find loaded.
            asyncio.run(chat(site, 0))
            began, cpu = time.perf_counter(), server.cpu_times()
            heard = asyncio.run(_all(site, chats))
            took, after = time.perf_counter() - began, server.cpu_times()
            for each in heard:
                _date(site, each)
    used = after.user + after.system - cpu.user - cpu.system
    report(chats, took, used, heard)


def report(chats: int, took: float, used: float, heard: list[Heard]) -> None:
    assert all(each.status == "done" for each in heard), [each.status for each in heard]
    say(
        f"{chats} chats in {took:.1f} s, {WORDS} words each, one every {WORD_SECONDS * 1000:.0f} ms"
    )
    say(f"the server used {used:.1f} s of processor time")
    say(f"{'event':12} {'count':>7} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8}")
    delays: dict[str, list[float]] = {}
    for each in heard:
        for kind, found in each.delays.items():
            delays.setdefault(kind, []).extend(found)
    every = [delay for found in delays.values() for delay in found]
    for kind, found in [*sorted(delays.items()), ("all", every)]:
        shown = [statistics.median(found), _p(found, 0.95), _p(found, 0.99), max(found)]
        say(f"{kind:12} {len(found):7} " + " ".join(f"{value:8.1f}" for value in shown))
    by_kind = {kind: round(_p(found, 0.95), 1) for kind, found in sorted(delays.items())}
    figures = {
        "event_p95_ms": max(by_kind.values()),
        "all_events_p95_ms": round(_p(every, 0.95), 1),
        **{f"{kind}_p95_ms": value for kind, value in by_kind.items()},
        "chats": chats,
        "restarts": sum(each.restarts for each in heard),
        "events": len(every),
        "server_cpu_s": round(used, 1),
        "target_ms": TARGET_MS,
    }
    say(json.dumps(figures))


if __name__ == "__main__":
    main()
