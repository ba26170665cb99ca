"""A Kubernetes API server and a microsandbox package that run the envelopes they are given.

Behind both is the embedded provider, so that what comes back is what a runner says; what is asked of
them is recorded and, for Kubernetes, held against the models of the official package.
"""

import asyncio
import base64
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubernetes import client

from steward.sandbox.contract import Envelope
from steward.sandbox.providers import Provider

_MODELS: dict[str, Any] = {
    "jobs": client.V1Job,
    "namespaces": client.V1Namespace,
    "networkpolicies": client.V1NetworkPolicy,
    "rolebindings": client.V1RoleBinding,
    "roles": client.V1Role,
    "secrets": client.V1Secret,
}


def check_document(kind: str, body: dict[str, Any]) -> None:
    """The official model knows every field and keeps every value."""
    api: Any = client.ApiClient()
    again = api.sanitize_for_serialization(_MODELS[kind].from_dict(body))
    assert again == body, f"{kind}: the published schema does not have all of this"


@dataclass
class _Execution:
    job: dict[str, Any]
    status: dict[str, Any]
    cancelled: int
    bell: int
    log: bytes = b""


@dataclass
class ClusterStandIn:
    """Objects of one namespace; `pod_status` overrides what becomes of pods."""

    node: Provider
    asked: list[tuple[str, str]] = field(default_factory=list)
    created: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    executions: dict[str, _Execution] = field(default_factory=dict)
    refuse: dict[str, int] = field(default_factory=dict)
    """HTTP status by kind of object, for what is to fail."""
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    pod_status: dict[str, Any] | None = None
    pods_vanish: bool = False
    noise: bytes = b"a warning of a library\n"
    threads: list[threading.Thread] = field(default_factory=list)

    def handle(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        parts = path.split("/")
        kind = parts[parts.index("namespaces") + 2]
        self.asked.append((method, kind))
        if kind in self.refuse:
            return self.refuse[kind], {"kind": "Status"}
        if method == "POST":
            return self._create(kind, body)
        if kind == "networkpolicies":
            found = self.policies.get(parts[-1])
            return (200, found) if found else (404, {"kind": "Status"})
        if kind == "pods" and parts[-1] == "log":
            return self._log(parts[-2])
        if kind == "pods":
            return 200, {"kind": "PodList", "items": self._pods(query["labelSelector"][0])}
        execution = self.executions.get(parts[-1])
        if execution is None:
            return 404, {"kind": "Status"}
        if method == "DELETE":
            assert query["propagationPolicy"] == ["Background"]
            os.write(execution.bell, b"x")
            del self.executions[parts[-1]]
            return 200, {"kind": "Status"}
        return 200, {**execution.job, "status": execution.status["job"]}

    def _create(self, kind: str, body: dict[str, Any]) -> Any:
        check_document(kind, body)
        self.created.setdefault(kind, []).append(body)
        name = body["metadata"]["name"]
        if kind == "jobs":
            cancelled, bell = os.pipe()
            failed = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}
            status = {"pod": {"phase": "Pending"}, "job": {"conditions": [failed]}}
            self.executions[name] = _Execution(body, status, cancelled, bell)
            return 201, {**body, "metadata": {**body["metadata"], "uid": f"uid-{name}"}}
        if kind == "secrets":
            assert body["metadata"]["ownerReferences"][0]["uid"] == f"uid-{name}"
            envelope = Envelope.model_validate_json(base64.b64decode(body["data"]["envelope.json"]))
            work = threading.Thread(target=self._work, args=(self.executions[name], envelope))
            self.threads.append(work)
            work.start()
        return 201, body

    def _work(self, execution: _Execution, envelope: Envelope) -> None:
        if self.pod_status is None:
            answer = self.node.run(envelope, execution.cancelled)
            execution.log = self.noise + answer.model_dump_json().encode() + b"\n"
        execution.status["pod"] = self.pod_status or {"phase": "Succeeded"}

    def _pods(self, selector: str) -> list[dict[str, Any]]:
        execution = self.executions.get(selector.partition("=")[2])
        if execution is None or self.pods_vanish:
            return []
        labels = execution.job["spec"]["template"]["metadata"]["labels"]
        key, _, value = selector.partition("=")
        assert labels[key] == value
        name = execution.job["metadata"]["name"]
        return [{"metadata": {"name": f"{name}-pod"}, "status": execution.status["pod"]}]

    def _log(self, pod: str) -> Any:
        execution = self.executions[pod.removesuffix("-pod")]
        return (200, execution.log) if execution.log else (404, {"kind": "Status"})


@contextmanager
def serving(cluster: ClusterStandIn) -> Iterator[client.ApiClient]:
    """The official package's client, pointed at the stand-in over real HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            url = urlsplit(self.path)
            status, said = cluster.handle(self.command, url.path, parse_qs(url.query), body)
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the server calls them so

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # Looks often whether it is to end: every test waits for that.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    configuration = client.Configuration()
    configuration.host = f"http://127.0.0.1:{server.server_port}"
    try:
        with client.ApiClient(configuration) as api:
            yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for work in cluster.threads:
            work.join(10)


class _Kinds(StrEnum):
    STARTED = "started"
    STDOUT = "stdout"
    STDERR = "stderr"
    EXITED = "exited"
    FAILED = "failed"


class MachineError(Exception):
    pass


class MachinesStandIn:
    """Has the shape of the `microsandbox` module, as far as it is used."""

    MicrosandboxError = MachineError
    ExecEventType = _Kinds
    SecurityProfile = SimpleNamespace(RESTRICTED="restricted")
    PullPolicy = SimpleNamespace(IF_MISSING="if-missing")
    Network = SimpleNamespace(none=lambda: "no network")
    Image = SimpleNamespace(bind=lambda path: ("bind", path))
    Volume = SimpleNamespace(
        bind=lambda path, **how: ("bind", path, how), tmpfs=lambda **how: ("tmpfs", how)
    )

    def __init__(self, node: Provider) -> None:
        self.node = node
        self.asked: list[dict[str, Any]] = []
        self.living: set[str] = set()
        self.broken = ""
        self.Sandbox = self

    async def create(self, name: str, **options: Any) -> "_Machine":
        self.asked.append(options)
        if self.broken:
            raise MachineError(self.broken)
        self.living.add(name)
        return _Machine(self, name)


class _Machine:
    def __init__(self, machines: MachinesStandIn, name: str) -> None:
        self._machines = machines
        self._name = name
        self._cancelled, self._bell = os.pipe()

    async def exec_stream(
        self, command: str, arguments: list[str], *, user: str, env: dict[str, str], stdin: bytes
    ) -> AsyncIterator[Any]:
        assert (command, arguments[-1]) == ("python", "steward.sandbox.runner.once")
        assert user.startswith("65534:")
        return self._events(Envelope.model_validate_json(stdin))

    async def _events(self, envelope: Envelope) -> AsyncIterator[Any]:
        yield SimpleNamespace(event_type=_Kinds.STARTED, data=None)
        work = asyncio.to_thread(self._machines.node.run, envelope, self._cancelled)
        answer = await asyncio.shield(work)
        content = answer.model_dump_json().encode()
        yield SimpleNamespace(event_type=_Kinds.STDERR, data=b"a warning\n")
        for start in range(0, len(content), 5000):
            piece = content[start : start + 5000]
            yield SimpleNamespace(event_type=_Kinds.STDOUT, data=piece)
        yield SimpleNamespace(event_type=_Kinds.EXITED, data=None)

    async def destroy(self, *, force: bool, timeout: float) -> None:  # noqa: ASYNC109 - as there
        assert force
        os.write(self._bell, b"x")
        self._machines.living.remove(self._name)
