"""The Helm chart: it lints, and what it renders is valid for several versions of Kubernetes and gives nothing away."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]

from steward import __version__
from steward.core import load_settings

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "steward"
VERSIONS = ("1.25", "1.29", "1.33", "1.37")
CUSTOM = {"ScaledObject", "PodMonitor"}
EVERYTHING = """
image: {tag: "9", pullSecrets: [{name: registry}]}
trustedProxies: [10.0.0.0/8]
settings: {STEWARD_LOG__LEVEL: debug}
ingress: {enabled: true, className: nginx, tlsSecret: steward-tls, annotations: {a: b}}
server:
  autoscaling: {enabled: true, min: 3, max: 5, cpuPercent: 60}
  podAnnotations: {a: b}
  nodeSelector: {disk: fast}
  tolerations: [{key: steward, operator: Exists}]
workers:
  cpu: {scale: {by: queue}, nodeSelector: {disk: fast}}
  llm: {scale: {by: cpu}}
prometheus: {podMonitor: true}
networkPolicy:
  ingressNamespaces: {kubernetes.io/metadata.name: ingress-nginx}
  blocked: [169.254.0.0/16, "fd00:ec2::254/128"]
serviceAccount: {annotations: {role: steward}}
"""


def _helm(*arguments: str | Path) -> str:
    beside = Path(sys.executable).with_name("helm")
    program = str(beside) if beside.exists() else shutil.which("helm")
    if program is None:
        pytest.skip("helm is not installed; its package on PyPI is for x86_64 alone")
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module", params=["plain", "everything"])
def rendered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    values = tmp_path_factory.mktemp("helm") / "values.yaml"
    values.write_text(EVERYTHING if request.param == "everything" else "{}")
    _helm("lint", "--strict", CHART, "--values", values)
    text = _helm("template", "team", CHART, "--namespace", "data", "--values", values)
    return [each for each in yaml.safe_load_all(text) if each]


def _kinds(rendered: list[dict[str, Any]]) -> list[str]:
    return sorted(each["kind"] for each in rendered)


def _pods(rendered: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in rendered:
        if each["kind"] == "Deployment":
            yield each["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid(rendered: list[dict[str, Any]], version: str) -> None:
    for each in rendered:
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(each, version, strict=True)


def test_a_wrong_object_would_be_found(rendered: list[dict[str, Any]]) -> None:
    service = next(each for each in rendered if each["kind"] == "Service")
    wrong = {**service, "spec": {**service["spec"], "ports": "http"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_servers_and_pools_outlive_a_drain_and_scale(rendered: list[dict[str, Any]]) -> None:
    kinds = _kinds(rendered)
    assert kinds.count("Deployment") == kinds.count("PodDisruptionBudget") == 3
    assert kinds.count("NetworkPolicy") == 2
    assert "Secret" not in kinds
    if "ScaledObject" in kinds:
        assert kinds.count("HorizontalPodAutoscaler") == 2
        scaled = next(each for each in rendered if each["kind"] == "ScaledObject")
        assert scaled["spec"]["scaleTargetRef"]["name"] == "team-steward-worker-cpu"
        query = scaled["spec"]["triggers"][0]["metadata"]["query"]
        assert query == 'max(steward_queue_waiting{queue="cpu",namespace="data"})'
    for each in rendered:
        if each["kind"] == "Deployment" and "HorizontalPodAutoscaler" in kinds:
            # Whoever scales sets the number; an upgrade must not set it back.
            assert "replicas" not in each["spec"]


def test_pods_have_no_rights(rendered: list[dict[str, Any]]) -> None:
    for pod in _pods(rendered):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["livenessProbe"]
        assert container["startupProbe"]
        assert container["image"].partition(":")[2] in {__version__, "9"}
    account = next(each for each in rendered if each["kind"] == "ServiceAccount")
    assert account["automountServiceAccountToken"] is False


def test_secrets_are_named_and_never_held(rendered: list[dict[str, Any]]) -> None:
    for pod in _pods(rendered):
        (container,) = pod["containers"]
        assert container["envFrom"] == [{"secretRef": {"name": "steward-settings"}}]
        names = {each["name"] for each in container["env"]}
        assert not any(word in name for name in names for word in ("PASSWORD", "KEY", "TOKEN"))
        keys = next(each for each in pod["volumes"] if each["name"] == "keys")
        assert keys["secret"] == {"secretName": "steward-keys", "defaultMode": 0o440}


def test_steward_understands_the_settings_of_its_pods(
    rendered: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (container,) = next(_pods(rendered))["containers"]
    for each in container["env"]:
        monkeypatch.setenv(each["name"], each["value"])
    settings = load_settings(home=tmp_path)
    assert settings.http.public_url == "https://steward.example.com"
    assert not settings.runs.in_server


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
