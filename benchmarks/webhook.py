"""Webhooks that start a flow of ten nodes: how many a second, how soon they are acknowledged, and the memory it takes.

A server as `steward up` starts it, on SQLite, in a folder of its own. Clients of another process send events over
loopback, each on a connection of its own, and wait for the answer: an event is on disk by then. The clock stops when
the last run has ended.

    .venv/bin/python benchmarks/webhook.py            2,000 events
    .venv/bin/python benchmarks/webhook.py --quick    200 events, for a smoke test

The last line is JSON. `events_per_s`: events stored, run through all ten nodes and ended, over the whole time.
`accepted_per_s`: events acknowledged, over the time until the last was. `p95_ms`: 95 of 100 acknowledgements came within
so many milliseconds. `rss_mb`: the most memory that the server held. `lost`: acknowledged events that did not run once.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil

NODES = 10
_PATIENCE = 600.0


def playbook() -> str:
    """Ten nodes in a row, each computing from the one before."""
    nodes: list[dict[str, Any]] = []
    for number in range(1, NODES):
        before = f"nodes.n{number - 1}.output" if number > 1 else "inputs.n"
        nodes.append(
            {
                "id": f"n{number}",
                "type": "output",
                "value": f"${{{before} + 1}}",
                **({"needs": [f"n{number - 1}"]} if number > 1 else {}),
            }
        )
    last = {"id": "last", "type": "output", "value": f"${{nodes.n{NODES - 1}.output}}"}
    nodes.append({**last, "needs": [f"n{NODES - 1}"]})
    document = {
        "format": 1,
        "id": "ten",
        "budget": {"usd": 1},
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "graph": {"nodes": nodes},
        "triggers": [{"type": "webhook", "signature": "none", "inputs": {"n": "${event.data.n}"}}],
    }
    return json.dumps(document)


def prepared(client: httpx.Client, link: str) -> str:
    """Signs in, deploys the playbook, and answers with the path of its webhook."""
    answer = client.post("/api/v1/session", json={"link": link})
    answer.raise_for_status()
    client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    project = client.get("/api/v1/projects").json()["items"][0]["id"]
    place = f"/api/v1/projects/{project}"
    made = client.post(f"{place}/playbooks", json={"document": json.loads(playbook())})
    made.raise_for_status()
    client.post(f"{place}/playbooks/ten/deploy", json={}).raise_for_status()
    [trigger] = client.get(f"{place}/triggers").json()["items"]
    address: str = trigger["addresses"]["stable"]
    return "/api/v1" + address.rpartition("/api/v1")[2]


def send(url: str, path: str, numbers: list[int], seconds: list[float]) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        for number in numbers:
            begun = time.perf_counter()
            answer = client.post(path, json={"n": number}, headers={"webhook-id": f"e{number}"})
            seconds.append(time.perf_counter() - begun)
            answer.raise_for_status()


def first_document(lines: Iterable[str]) -> dict[str, Any]:
    """What the server says once it answers: JSON over several lines."""
    text = ""
    for line in lines:
        text += line
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            continue
        return found
    raise RuntimeError(f"the server did not start: {text}")


def ended(home: Path) -> int:
    with closing(sqlite3.connect(f"file:{home}/steward.db?mode=ro", uri=True)) as database:
        found = database.execute("SELECT count(*) FROM trigger_events WHERE state = 'done'")
        return int(found.fetchone()[0])


def measured(home: Path, events: int, clients: int) -> dict[str, Any]:
    environment = {**os.environ, "STEWARD_HOME": str(home), "STEWARD_DEMO": "false"}
    environment["STEWARD_LOG__LEVEL"] = "error"
    program = str(Path(sys.executable).with_name("steward"))
    server = subprocess.Popen(
        [program, "up", "--port", "0", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        said = first_document(server.stdout)
        url, link = said["url"], said["sign_in"].rpartition("link=")[2]
        with httpx.Client(base_url=url, timeout=60) as client:
            path = prepared(client, link)
        seconds: list[float] = []
        shares = [list(range(events))[each::clients] for each in range(clients)]
        threads = [
            threading.Thread(target=send, args=(url, path, share, seconds)) for share in shares
        ]
        process, most = psutil.Process(server.pid), 0
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        accepted = 0.0
        while ended(home) < events:
            most = max(most, process.memory_info().rss)
            if not accepted and not any(thread.is_alive() for thread in threads):
                accepted = time.perf_counter() - begun
            if time.perf_counter() - begun > _PATIENCE:
                break
            time.sleep(0.05)
        whole = time.perf_counter() - begun
        for thread in threads:
            thread.join()
        return {
            "events": events,
            "events_per_s": round(events / whole, 1),
            "accepted_per_s": round(events / (accepted or whole), 1),
            "p50_ms": round(statistics.median(seconds) * 1000, 1),
            "p95_ms": round(statistics.quantiles(seconds, n=20)[-1] * 1000, 1),
            "rss_mb": round(most / 1e6),
            "lost": events - ended(home),
        }
    finally:
        server.terminate()
        server.wait(timeout=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steward-webhook-") as folder:
        found = measured(Path(folder) / "home", 200 if arguments.quick else 2_000, clients=16)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
