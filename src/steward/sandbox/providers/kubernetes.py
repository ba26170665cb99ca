"""The runner as a Kubernetes Job: one pod per execution, which the cluster ends and sweeps by itself.

The envelope lies in a Secret that belongs to the Job, the answer is the pod's log, and the data is
a volume claim of which every file is mounted by itself. The `kubernetes` package is needed only to
reach a real cluster: everything that is asked of it is made here, as plain documents.
"""

import base64
import contextlib
import math
import select
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from steward.core import (
    Misconfigured,
    NotFound,
    StewardError,
    TooLarge,
    Unavailable,
)
from steward.sandbox.contract import Envelope, Limits, Request, Response, Timings
from steward.sandbox.providers import Place, add_provider
from steward.sandbox.providers._container import (
    NOBODY,
    RUNNER,
    SCRATCH,
    files_of,
    group_of,
    memory_of,
    proven,
)
from steward.sandbox.providers._process import understood
from steward.sandbox.walls import Walls

Document = dict[str, Any]

LABELS: Final = {"app.kubernetes.io/name": "steward-sandbox"}
_EXECUTION: Final = "app.kubernetes.io/instance"
_REQUEST: Final = "/request"
POLICY: Final = "steward-sandbox-deny-all"
_FIRST_POLL_SECONDS: Final = 0.02
_POLL_SECONDS: Final = 0.25
_KEPT_SECONDS: Final = 60
# A Secret holds a mebibyte; a node rotates a log at ten by default.
_LARGEST_ENVELOPE: Final = 1_000_000
_LARGEST_OUTPUT: Final = 4 << 20
_LARGEST_FILES: Final = 3 << 20
_LARGEST_LOG: Final = 10 << 20
_NEVER_STARTS: Final = {
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
}
_WALLS: Final = (
    "pod",
    "deny-all network policy",
    "read-only root",
    "no capabilities",
    "RuntimeDefault seccomp",
    "memory and processor limits",
)


class Cluster(Protocol):
    """The few things asked of a cluster, in one namespace, as the documents of its API."""

    def policy(self, name: str) -> Document:
        """A network policy; raises `NotFound` when there is none."""

    def create_job(self, body: Document) -> Document: ...

    def create_secret(self, body: Document) -> None: ...

    def job(self, name: str) -> Document: ...

    def pods(self, selector: str) -> list[Document]: ...

    def log(self, pod: str, most: int) -> bytes: ...

    def delete_job(self, name: str) -> None:
        """With everything that belongs to it, at once; raises `NotFound` when it is gone."""


@dataclass(frozen=True)
class Placement:
    """Where pods run. The server sees the claim's files below `data_root`."""

    image: str = "steward-runner"
    claim: str | None = None
    data_root: Path | None = None
    runtime_class: str | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    start_seconds: float = 120.0
    """For finding a node, getting the image and loading the libraries."""


def network_policy() -> Document:
    """Selects every pod of the sandbox and allows nothing, in or out."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": POLICY, "labels": LABELS},
        "spec": {
            "podSelector": {"matchLabels": LABELS},
            "policyTypes": ["Ingress", "Egress"],
        },
    }


def job(name: str, request: Request, placement: Placement) -> Document:
    """The whole request for one execution."""
    labels = {**LABELS, _EXECUTION: name}
    seconds = math.ceil(request.limits.wall_seconds + placement.start_seconds)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": _KEPT_SECONDS,
            "template": {"metadata": {"labels": labels}, "spec": _pod(name, request, placement)},
        },
    }


def _pod(name: str, request: Request, placement: Placement) -> Document:
    files = files_of(request)
    volumes: list[Document] = [
        {"name": "request", "secret": {"secretName": name, "defaultMode": 0o444}},
        {
            "name": "scratch",
            "emptyDir": {"medium": "Memory", "sizeLimit": str(request.limits.scratch_bytes)},
        },
    ]
    if files:
        claim = {"claimName": placement.claim, "readOnly": True}
        volumes.append({"name": "data", "persistentVolumeClaim": claim})
    spec: Document = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": group_of(files),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(request, files, placement)],
        "volumes": volumes,
    }
    if placement.runtime_class:
        spec["runtimeClassName"] = placement.runtime_class
    if placement.node_selector:
        spec["nodeSelector"] = placement.node_selector
    return spec


def _container(request: Request, files: list[str], placement: Placement) -> Document:
    resources = {"cpu": "1", "memory": str(memory_of(request)), "ephemeral-storage": "64Mi"}
    mounts: list[Document] = [
        {"name": "request", "mountPath": _REQUEST, "readOnly": True},
        {"name": "scratch", "mountPath": SCRATCH},
    ]
    mounts += [
        {
            "name": "data",
            "mountPath": file,
            "subPath": _within_claim(file, placement),
            "readOnly": True,
        }
        for file in files
    ]
    return {
        "name": "runner",
        "image": placement.image,
        "imagePullPolicy": "IfNotPresent",
        "command": [*RUNNER, f"{_REQUEST}/envelope.json"],
        "resources": {"requests": resources, "limits": resources},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def _within_claim(file: str, placement: Placement) -> str:
    root = placement.data_root
    if placement.claim is None or root is None:
        raise Misconfigured(
            "Pods cannot see the data: set sandbox.claim to the volume claim that holds Steward's "
            "home folder."
        )
    if not Path(file).is_relative_to(root):
        raise Misconfigured(f"A file of a dataset lies outside {root}, which the claim holds.")
    return str(Path(file).relative_to(root))


def secret(name: str, uid: str, envelope: Envelope) -> Document:
    """Belongs to the Job, so that it goes with it whatever becomes of the server."""
    content = envelope.model_dump_json().encode()
    if len(content) > _LARGEST_ENVELOPE:
        raise TooLarge(
            f"The code and its datasets take {len(content):,} bytes to describe; a Kubernetes "
            f"Secret holds {_LARGEST_ENVELOPE:,}. Shorten the code."
        )
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": {
            "name": name,
            "labels": {**LABELS, _EXECUTION: name},
            "ownerReferences": [owner],
        },
        "data": {"envelope.json": base64.b64encode(content).decode()},
    }


class Kubernetes:
    def __init__(self, cluster: Cluster, placement: Placement | None = None) -> None:
        self._cluster = cluster
        self._placement = placement or Placement()
        self._walls: Walls | None = None

    def prove(self) -> Walls:
        """Looks at the network policy, then runs the program that tries to get out in a pod."""
        if self._walls is not None:
            return self._walls
        try:
            fenced = self._cluster.policy(POLICY).get("spec") == network_policy()["spec"]
        except NotFound:
            fenced = False
        except StewardError as problem:
            return Walls("none", reasons=(f"kubernetes: {problem.message}",))
        if not fenced:
            reason = f"the namespace has no network policy {POLICY!r} that denies everything"
            return Walls("none", reasons=(f"kubernetes: {reason}",))
        walls = proven("kubernetes", self.run)
        self._walls = walls if walls.tier != "none" else None
        return walls

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        name = f"steward-{uuid4().hex}"
        started = time.monotonic()
        limits = _fitting(envelope.request.limits)
        request = envelope.request.model_copy(update={"limits": limits})
        placed = envelope.model_copy(update={"request": request, "scratch": SCRATCH})
        body = job(name, request, self._placement)
        # Made before anything is asked for: what is too large leaves nothing behind.
        secret(name, "", placed)
        created = self._cluster.create_job(body)
        try:
            self._cluster.create_secret(secret(name, created["metadata"]["uid"], placed))
            late, said, reason = self._follow(name, limits, cancelled)
        finally:
            with contextlib.suppress(NotFound):
                self._cluster.delete_job(name)
        total = (time.monotonic() - started) * 1000
        response = _response_of(late, said, reason, limits, total)
        walls = [*_WALLS, *response.walls]
        return response.model_copy(update={"tier": "container", "walls": walls})

    def _follow(self, name: str, limits: Limits, cancelled: int) -> tuple[str, bytes, str]:
        """Until the pod has ended: why it was late, what it said, why the cluster ended it."""
        deadline = time.monotonic() + limits.wall_seconds + self._placement.start_seconds
        pause = _FIRST_POLL_SECONDS
        while time.monotonic() < deadline:
            ready, _, _ = select.select([cancelled], [], [], pause)
            pause = min(pause * 2, _POLL_SECONDS)
            if ready:
                return "cancelled", b"", ""
            pods = self._cluster.pods(f"{_EXECUTION}={name}")
            if not pods:
                if _deadline_exceeded(self._cluster.job(name)):
                    return "timeout", b"", ""
                continue
            status = pods[0].get("status", {})
            if status.get("phase") in {"Succeeded", "Failed"}:
                if status.get("reason") == "DeadlineExceeded":
                    return "timeout", b"", ""
                # A pod that was evicted has no log any more.
                with contextlib.suppress(NotFound):
                    said = self._cluster.log(pods[0]["metadata"]["name"], _LARGEST_LOG)
                    return "", said, _why(status)
                return "", b"", _why(status)
            _check_starts(status)
        return "timeout", b"", ""

    def close(self) -> None:
        self._walls = None


def _fitting(limits: Limits) -> Limits:
    """Answers travel as logs, of which nodes keep a few megabytes."""
    smaller = {
        "output_bytes": min(limits.output_bytes, _LARGEST_OUTPUT),
        "files_bytes": min(limits.files_bytes, _LARGEST_FILES),
    }
    return limits.model_copy(update=smaller)


def _deadline_exceeded(document: Document) -> bool:
    conditions = document.get("status", {}).get("conditions") or []
    return any(
        condition.get("type") == "Failed" and condition.get("reason") == "DeadlineExceeded"
        for condition in conditions
    )


def _why(status: Document) -> str:
    for container in status.get("containerStatuses") or []:
        ended = container.get("state", {}).get("terminated") or {}
        if ended.get("reason") not in {None, "Completed", "Error"}:
            return str(ended["reason"])
    return str(status.get("reason") or "")


def _check_starts(status: Document) -> None:
    for container in status.get("containerStatuses") or []:
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in _NEVER_STARTS:
            message = str(waiting.get("message", ""))[:300]
            raise Unavailable(f"The pod does not start: {waiting['reason']}. {message}".strip())


def _response_of(late: str, said: bytes, reason: str, limits: Limits, total: float) -> Response:
    # The log joins both streams: warnings of libraries stand before the answer.
    answer = said.rstrip().rpartition(b"\n")[2]
    if not answer.startswith(b"{") and reason in {"OOMKilled", "Evicted"}:
        timings = Timings(total_ms=round(total, 3))
        if reason == "OOMKilled":
            message = (
                f"It needed more than the {limits.memory_bytes >> 20} MB of memory it may use."
            )
            return Response(status="out_of_memory", message=message, timings=timings)
        message = "The node ended it for using more disk or memory than it may."
        return Response(status="too_large", message=message, timings=timings)
    return understood(answer, said or reason.encode(), late, limits, total)


@add_provider(
    "kubernetes",
    remedy="Apply deploy/sandbox/kubernetes.yaml and push the image: see docs/guides/sandbox.md.",
)
def _open(place: Place) -> Kubernetes:
    from steward.sandbox.providers._cluster import reach

    chosen = place.settings
    placement = Placement(
        chosen.image,
        chosen.claim,
        place.home,
        chosen.runtime_class,
        start_seconds=place.start_seconds,
    )
    return Kubernetes(reach(chosen.namespace), placement)
