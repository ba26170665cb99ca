"""Webhooks that start a flow of ten nodes: how many a second, how soon they are acknowledged, and the memory it takes.

A server as `steward up` starts it, on SQLite, in a folder of its own. Clients of another process send events over
loopback, each on a connection of its own, and wait for the answer: an event is on disk by then. The clock stops when
the last run has ended.

    python -m benchmarks.webhook            2,000 events
    python -m benchmarks.webhook --quick    200 events, for a smoke test
    python -m benchmarks.webhook --n8n X    and n8n beside it, installed by `npm install n8n` in the folder X

n8n runs as it comes: SQLite, one process, executions saved, its webhook answering at once, nine nodes that each add one.

The last line is JSON. `events_per_s`: events stored, run through all ten nodes and ended, over the whole time.
`accepted_per_s`: events acknowledged, over the time until the last was. `p95_ms`: 95 of 100 acknowledgements came within
so many milliseconds. `rss_mb`: the most memory that the server held. `lost`: acknowledged events that did not run once.
`cpu_ms_per_event`: processor time of the server from the first event to the end of the last run, over the events; it
hardly changes with what else the machine does. `ratio_vs_n8n`: events a second over those of n8n.
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
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import psutil

from benchmarks.peer_n8n import N8n, node, workflow

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


def send(address: str, numbers: list[int], seconds: list[float]) -> None:
    """Through the plainest client there is: one that calculates takes the processor from what is measured."""
    parts = urlsplit(address)
    with closing(HTTPConnection(str(parts.hostname), parts.port, timeout=60)) as client:
        for number in numbers:
            headers = {"content-type": "application/json", "webhook-id": f"e{number}"}
            begun = time.perf_counter()
            client.request("POST", parts.path, json.dumps({"n": number}), headers)
            answer = client.getresponse()
            answer.read()
            seconds.append(time.perf_counter() - begun)
            if answer.status >= 300:
                raise RuntimeError(f"The webhook answered with {answer.status}.")


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


def load(
    address: str,
    process: psutil.Process,
    done: Callable[[], int],
    events: int,
    clients: int,
) -> dict[str, Any]:
    """Sends so many events from so many clients, until all have run."""
    seconds: list[float] = []
    shares = [list(range(events))[each::clients] for each in range(clients)]
    threads = [threading.Thread(target=send, args=(address, share, seconds)) for share in shares]
    most, accepted = 0, 0.0
    used, begun = processor(process), time.perf_counter()
    for thread in threads:
        thread.start()
    while done() < events:
        most = max(most, memory(process))
        if not accepted and not any(thread.is_alive() for thread in threads):
            accepted = time.perf_counter() - begun
        if time.perf_counter() - begun > _PATIENCE:
            break
        time.sleep(0.05)
    whole, used = time.perf_counter() - begun, processor(process) - used
    for thread in threads:
        thread.join()
    return {
        "events": events,
        "events_per_s": round(events / whole, 1),
        "accepted_per_s": round(events / (accepted or whole), 1),
        "p50_ms": round(statistics.median(seconds) * 1000, 1),
        "p95_ms": round(statistics.quantiles(seconds, n=20)[-1] * 1000, 1),
        "cpu_ms_per_event": round(used / events * 1000, 2),
        "rss_mb": round(most / 1e6),
        "lost": events - done(),
    }


def memory(process: psutil.Process) -> int:
    """Of a server with the processes it started."""
    return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])


def processor(process: psutil.Process) -> float:
    """Seconds that a server and the processes it started have used."""
    times = [each.cpu_times() for each in [process, *process.children(recursive=True)]]
    return float(sum(each.user + each.system for each in times))


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
        return load(url + path, psutil.Process(server.pid), partial(ended, home), events, clients)
    finally:
        server.terminate()
        server.wait(timeout=20)


def peer_flow() -> dict[str, Any]:
    """The same flow for n8n: a webhook that answers at once, and nine nodes that each add one."""
    hook = {"httpMethod": "POST", "path": "ten", "responseMode": "onReceived"}
    nodes = [node("n0", "webhook", 2, (0, 0), webhookId="ten", parameters=hook)]
    for number in range(1, NODES):
        before = "$json.n" if number > 1 else "$json.body.n"
        added = {"id": "n", "name": "n", "type": "number", "value": f"={{{{ {before} + 1 }}}}"}
        given = {"assignments": {"assignments": [added]}, "options": {}}
        nodes.append(node(f"n{number}", "set", 3.4, (200 * number, 0), parameters=given))
    lines = [(f"n{number - 1}", f"n{number}") for number in range(1, NODES)]
    return workflow("ten", "Ten", nodes, lines)


def peer(installed: Path, home: Path, events: int, clients: int) -> dict[str, Any]:
    home.mkdir()
    n8n = N8n(installed, home)
    n8n.publish(peer_flow())

    def done() -> int:
        with closing(sqlite3.connect(f"file:{n8n.database}?mode=ro", uri=True)) as database:
            found = database.execute(
                "SELECT count(*) FROM execution_entity WHERE status = 'success'"
            )
            return int(found.fetchone()[0])

    address = f"{n8n.url}/webhook/ten"
    with n8n.started() as process:
        # It answers before its webhooks do.
        while httpx.post(address, json={"n": 0}).status_code == 404:
            time.sleep(0.5)
        while not done():
            time.sleep(0.1)
        found = load(address, process, lambda: done() - 1, events, clients)
        return {"version": n8n.version, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--n8n", type=Path, help="A folder in which n8n is installed.")
    arguments = parser.parse_args()
    events = 200 if arguments.quick else 2_000
    with tempfile.TemporaryDirectory(prefix="steward-webhook-") as folder:
        found = measured(Path(folder) / "home", events, clients=16)
        if arguments.n8n is not None:
            found["n8n"] = peer(arguments.n8n, Path(folder) / "n8n", events, clients=16)
            ratio = found["events_per_s"] / found["n8n"]["events_per_s"]
            found["ratio_vs_n8n"] = round(ratio, 2)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
