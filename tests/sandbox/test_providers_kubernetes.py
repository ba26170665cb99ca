"""The Kubernetes provider through the official package, against an API server that runs what it is given."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from steward.core.errors import Misconfigured, TooLarge, Unavailable
from steward.core.settings import SandboxSettings
from steward.sandbox import Dataset, Limits, Request, Response
from steward.sandbox.contract import Envelope
from steward.sandbox.providers import Provider
from steward.sandbox.providers._cluster import OfficialClient
from steward.sandbox.providers.embedded import Embedded
from steward.sandbox.providers.kubernetes import (
    POLICY,
    Kubernetes,
    Placement,
    job,
    network_policy,
    secret,
)
from steward.testing.sandbox import SandboxProviderKit
from tests.sandbox.stand_ins import ClusterStandIn, check_document, serving

_POLICIES = {POLICY: network_policy()}
_MANIFEST = Path(__file__).resolve().parents[2] / "deploy/sandbox/kubernetes.yaml"


class TestKubernetes(SandboxProviderKit):
    @pytest.fixture(scope="class")
    @classmethod
    def data(cls, kit_data: Path) -> Path:
        return kit_data

    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls, data: Path, embedded: Embedded) -> Iterator[Provider]:
        with serving(ClusterStandIn(embedded, policies=_POLICIES)) as api:
            placement = Placement("runner:1", claim="steward-home", data_root=data)
            yield Kubernetes(OfficialClient(api, "sandbox"), placement)


class _Nothing:
    """A node that runs nothing."""

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        return Response(status="done", result=envelope.request.code, tier="ns")

    def prove(self) -> object:
        raise AssertionError

    def close(self) -> None: ...


@pytest.fixture
def cluster() -> ClusterStandIn:
    return ClusterStandIn(_Nothing(), policies=_POLICIES)  # type: ignore[arg-type]


@pytest.fixture
def kubernetes(cluster: ClusterStandIn) -> Iterator[Kubernetes]:
    with serving(cluster) as api:
        yield Kubernetes(OfficialClient(api, "sandbox"), Placement(start_seconds=5))


@pytest.fixture
def never() -> Iterator[int]:
    read, write = os.pipe()
    yield read
    os.close(read)
    os.close(write)


def _envelope(code: str = "x", **limits: float) -> Envelope:
    request = Request(kind="python", code=code, limits=Limits.model_validate(limits))
    return Envelope(request=request, scratch="")


def test_the_job_leaves_nothing_open(tmp_path: Path) -> None:
    file = tmp_path / "blobs" / "a.parquet"
    dataset = Dataset(name="a", source="x", files=[str(file)])
    request = Request(kind="sql", code="", datasets=[dataset], limits=Limits(wall_seconds=9.5))
    placement = Placement("runner:1", "home", tmp_path, "gvisor", {"pool": "sandbox"})
    document = job("steward-1", request, placement)
    check_document("jobs", document)
    spec = document["spec"]
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (0, 130)
    assert spec["ttlSecondsAfterFinished"] == 60
    pod = spec["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert (pod["restartPolicy"], pod["runtimeClassName"]) == ("Never", "gvisor")
    assert pod["nodeSelector"] == {"pool": "sandbox"}
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"] == container["resources"]["requests"]
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert mounts["data"] == {
        "name": "data",
        "mountPath": str(file),
        "subPath": "blobs/a.parquet",
        "readOnly": True,
    }
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes["scratch"]["emptyDir"] == {"medium": "Memory", "sizeLimit": str(256 << 20)}
    assert volumes["data"]["persistentVolumeClaim"]["readOnly"] is True


def test_the_policy_allows_nothing() -> None:
    document = network_policy()
    check_document("networkpolicies", document)
    labels = document["spec"]["podSelector"]["matchLabels"]
    template = job("n", _envelope().request, Placement())["spec"]["template"]
    assert labels.items() <= template["metadata"]["labels"].items()
    assert document["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & document["spec"].keys()


def test_a_field_that_the_schema_does_not_have_is_seen() -> None:
    document = job("n", _envelope().request, Placement())
    document["spec"]["template"]["spec"]["runAsNonRoot"] = True
    with pytest.raises(AssertionError, match="published schema"):
        check_document("jobs", document)


def test_one_execution_asks_for_this(
    kubernetes: Kubernetes, cluster: ClusterStandIn, never: int
) -> None:
    done = kubernetes.run(_envelope("é" * 1000, files_bytes=100 << 20), never)
    assert (done.status, done.result, done.tier) == ("done", "é" * 1000, "container")
    steps = [step for step in cluster.asked if step != ("GET", "pods")]
    assert steps == [("POST", "jobs"), ("POST", "secrets"), ("DELETE", "jobs")]
    assert cluster.executions == {}
    (held,) = cluster.created["secrets"]
    assert held["immutable"] is True


STATUSES = {
    "OOMKilled": ("out_of_memory", "MB of memory"),
    "Evicted": ("too_large", "node ended it"),
}


@pytest.mark.parametrize("reason", STATUSES)
def test_what_the_cluster_ends_is_told(
    kubernetes: Kubernetes, cluster: ClusterStandIn, never: int, reason: str
) -> None:
    ended = {"state": {"terminated": {"reason": reason, "exitCode": 137}}}
    cluster.pod_status = (
        {"phase": "Failed", "containerStatuses": [ended]}
        if reason == "OOMKilled"
        else {"phase": "Failed", "reason": reason}
    )
    done = kubernetes.run(_envelope(), never)
    status, words = STATUSES[reason]
    assert done.status == status
    assert words in done.message


def test_a_deadline_of_the_cluster_is_a_timeout(
    kubernetes: Kubernetes, cluster: ClusterStandIn, never: int
) -> None:
    # The cluster removes the pods of a Job that ran too long.
    cluster.pods_vanish = True
    assert kubernetes.run(_envelope(), never).status == "timeout"
    assert ("GET", "jobs") in cluster.asked


def test_a_pod_that_never_starts_is_an_error(
    kubernetes: Kubernetes, cluster: ClusterStandIn, never: int
) -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}
    cluster.pod_status = {"phase": "Pending", "containerStatuses": [waiting]}
    with pytest.raises(Unavailable, match=r"ErrImagePull\. no such image"):
        kubernetes.run(_envelope(), never)
    assert cluster.executions == {}, "the job is deleted all the same"
    assert "ErrImagePull" in kubernetes.prove().reasons[0]


def test_a_call_off_deletes_the_job(kubernetes: Kubernetes, cluster: ClusterStandIn) -> None:
    cluster.pod_status = {"phase": "Running"}
    cancelled, bell = os.pipe()
    os.write(bell, b"x")
    assert kubernetes.run(_envelope(), cancelled).status == "cancelled"
    assert cluster.executions == {}
    os.close(cancelled)
    os.close(bell)


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("networkpolicies", 403, "refuses Steward's account"),
        ("networkpolicies", 500, "answered 500"),
        ("jobs", 403, "refuses Steward's account"),
        ("jobs", 404, "namespace"),
        ("jobs", 422, "does not accept"),
    ],
)
def test_what_a_cluster_refuses_is_a_reason(
    kubernetes: Kubernetes, cluster: ClusterStandIn, kind: str, status: int, words: str
) -> None:
    cluster.refuse = {kind: status}
    walls = kubernetes.prove()
    assert walls.tier == "none"
    assert words in walls.reasons[0]


@pytest.mark.parametrize("spec", [None, {"egress": [{}]}, {"policyTypes": ["Ingress"]}])
def test_nothing_runs_without_the_policy(
    kubernetes: Kubernetes, cluster: ClusterStandIn, spec: dict[str, Any] | None
) -> None:
    policy = network_policy()
    cluster.policies = {POLICY: {**policy, "spec": {**policy["spec"], **spec}}} if spec else {}
    walls = kubernetes.prove()
    assert walls.tier == "none"
    assert "denies everything" in walls.reasons[0]
    assert cluster.asked == [("GET", "networkpolicies")]


def test_the_manifest_fits() -> None:
    documents = list(yaml.safe_load_all(_MANIFEST.read_text()))
    for document in documents:
        plural = {"NetworkPolicy": "networkpolicies"}.get(
            document["kind"], document["kind"].lower() + "s"
        )
        check_document(plural, document)
    found = {document["kind"]: document for document in documents}
    assert found["NetworkPolicy"]["metadata"]["name"] == POLICY
    assert found["NetworkPolicy"]["spec"] == network_policy()["spec"]
    namespace = SandboxSettings().namespace
    assert found["Namespace"]["metadata"]["name"] == namespace
    assert found["Role"]["metadata"]["namespace"] == namespace


def test_no_cluster_is_a_reason() -> None:
    from kubernetes import client

    configuration = client.Configuration()
    configuration.host = "http://127.0.0.1:9"
    configuration.retries = 0
    with client.ApiClient(configuration) as api:
        walls = Kubernetes(OfficialClient(api, "sandbox")).prove()
    assert "does not answer" in walls.reasons[0]


def test_limits_of_the_way_there() -> None:
    with pytest.raises(TooLarge, match="Secret holds"):
        secret("n", "u", _envelope().model_copy(update={"scratch": "x" * 1_000_000}))
    dataset = Dataset(name="a", source="x", files=["/elsewhere/a.parquet"])
    request = Request(kind="sql", code="", datasets=[dataset])
    with pytest.raises(Misconfigured, match=r"sandbox\.claim"):
        job("n", request, Placement())
    with pytest.raises(Misconfigured, match="outside"):
        job("n", request, Placement(claim="c", data_root=Path("/home")))
