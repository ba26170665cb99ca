"""`steward doctor` on the sandbox: the walls proven, the remedy when they are too weak, nothing left."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

from steward.app import diagnose
from steward.app.findings import Finding
from steward.core import Settings
from steward.sandbox import Walls
from steward.sandbox.providers.embedded import Embedded


def _finding(home: Path, **sandbox: Any) -> Finding:
    found = diagnose(Settings(home=home, sandbox=sandbox))
    return next(finding for finding in found if finding.subject == "sandbox")


def _stands(monkeypatch: pytest.MonkeyPatch, walls: Walls) -> None:
    monkeypatch.setattr(Embedded, "prove", lambda _: walls)


def test_the_walls_are_proven_and_taken_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    home = tmp_path / "home"
    # Not their children: another sandbox of this test run may replace its processes meanwhile.
    before = {process.pid for process in psutil.Process().children()}
    finding = _finding(home, minimum="none")
    if "no wall stands" in finding.message:
        pytest.skip(finding.message)
    assert finding.state == "ok"
    assert "12 of 12 attempts to get out were held" in finding.message
    assert "seccomp" in finding.message
    assert not home.exists()
    assert list(scratch.iterdir()) == []
    after = {process.pid for process in psutil.Process().children()}
    assert after <= before


def test_a_home_that_is_half_there_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stands(monkeypatch, Walls("ns", ("seccomp",), {"network": True}))
    (tmp_path / "work").mkdir()
    assert _finding(tmp_path).state == "ok"
    assert [entry.name for entry in tmp_path.iterdir()] == ["work"]


@pytest.mark.parametrize(
    ("walls", "minimum", "state", "remedy"),
    [
        (Walls("lsm", ("seccomp",), {"a": True}, ("ns: refused",)), "lsm", "ok", ""),
        (Walls("lsm", ("seccomp",), {"a": True}), "ns", "failed", "STEWARD_SANDBOX__MINIMUM=lsm"),
        (Walls("none", reasons=("Darwin",)), "lsm", "failed", "STEWARD_SANDBOX__PROVIDER"),
        (Walls("none", reasons=("Darwin",)), "none", "warning", "STEWARD_SANDBOX__PROVIDER"),
    ],
)
def test_the_tier_is_held_against_the_minimum(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    walls: Walls,
    minimum: str,
    state: str,
    remedy: str,
) -> None:
    _stands(monkeypatch, walls)
    finding = _finding(tmp_path / "home", minimum=minimum)
    assert finding.state == state
    assert remedy in finding.remedy
    assert all(reason in finding.message for reason in walls.reasons)


def test_each_provider_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = _finding(tmp_path / "home", provider="docker", docker="/nonexistent/docker")
    assert (docker.state, "build the image" in docker.remedy) == ("failed", True)
    monkeypatch.setitem(sys.modules, "microsandbox", None)
    machines = _finding(tmp_path / "home", provider="microsandbox")
    assert (machines.state, "KVM" in machines.remedy) == ("failed", True)
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    cluster = _finding(tmp_path / "home", provider="kubernetes")
    assert (cluster.state, "kubernetes.yaml" in cluster.remedy) == ("failed", True)
    assert "'kubernetes' extra" in cluster.message
