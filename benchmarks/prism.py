"""Prism as a second opinion on our requests: it reads an OpenAPI description by itself and refuses what does not fit it."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.connector_mock import arguments_for
from steward.broker.schemas import problems_of
from steward.connections import Http
from steward.connections.catalogue.conversion import convert_text
from steward.connections.catalogue.installed import Record
from steward.connections.catalogue.requests import write_request
from steward.core.errors import StewardError

_CALLS = 20
_SECONDS = 90
_REFUSED = ("NO_PATH_MATCHED", "NO_METHOD_MATCHED", "UNPROCESSABLE_ENTITY", "INVALID_CONTENT_TYPE")
"""What Prism says where a request does not fit; other problems it has with its own answers."""


def ask_prism(folder: Path) -> dict[str, Any]:
    """For each description how many requests it was sent, and those that it refused."""
    found: dict[str, Any] = {}
    for path in sorted((folder / "descriptions").iterdir()):
        try:
            found[path.stem] = _asked(folder, path)
        except (StewardError, AssertionError) as problem:
            found[path.stem] = {"problem": str(problem)[:200]}
    sent = sum(each.get("sent", 0) for each in found.values())
    refused = sum(len(each.get("refused", ())) for each in found.values())
    return {"descriptions": found, "sent": sent, "accepted": round(1 - refused / max(1, sent), 4)}


def _asked(folder: Path, path: Path) -> dict[str, Any]:
    record = Record(convert_text(path.read_bytes(), path.stem))
    names = record.names()[:: max(1, len(record) // _CALLS)][:_CALLS]
    with _prism(folder, path) as url:
        return asyncio.run(_sent(record, names, url))


async def _sent(record: Record, names: list[str], url: str) -> dict[str, Any]:
    http, refused, sent = Http(allow_private=["127.0.0.1"]), [], 0
    for name in names:
        operation = record.find(name)
        assert operation is not None
        given = arguments_for(operation)
        if problems_of(operation.arguments, given):
            continue
        wire = write_request(operation, given, url)
        # Who calls is another matter; Prism wants to see some credentials of each kind.
        headers = {"Authorization": "Bearer x", **wire.headers}
        answer = await http.request(wire.method, wire.url, headers=headers, body=wire.body)
        sent += 1
        if answer.status >= 400 and any(word in answer.text for word in _REFUSED):
            refused.append(f"{name}: {answer.text[:300]}")
    return {"sent": sent, "refused": refused}


@contextmanager
def _prism(folder: Path, path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(folder / "node_modules/.bin/prism"), "mock", "-h", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(
        [*command, str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + _SECONDS
        while True:
            assert process.poll() is None, "Prism ended"
            assert time.monotonic() < deadline, "Prism did not start in time"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        # With the process that the command starts and does not end.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
