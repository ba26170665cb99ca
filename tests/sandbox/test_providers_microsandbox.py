"""The microsandbox provider against a stand-in for its package, which runs the same runner."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.core.errors import Misconfigured, Unavailable
from steward.sandbox import Dataset, Limits, Request
from steward.sandbox.contract import Envelope
from steward.sandbox.providers import Provider
from steward.sandbox.providers.embedded import Embedded
from steward.sandbox.providers.microsandbox import Microsandbox
from steward.testing.sandbox import SandboxProviderKit
from tests.sandbox.stand_ins import MachinesStandIn


class TestMicrosandbox(SandboxProviderKit):
    @pytest.fixture(scope="class")
    @classmethod
    def data(cls, kit_data: Path) -> Path:
        return kit_data

    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls, embedded: Embedded) -> Iterator[Provider]:
        machines = MachinesStandIn(embedded)
        yield Microsandbox("runner:1", package=machines)
        assert machines.living == set()
        for asked in machines.asked:
            assert asked["network"] == "no network"
            assert asked["ephemeral"] is True


@pytest.fixture
def machines(embedded: Embedded) -> MachinesStandIn:
    return MachinesStandIn(embedded)


def test_the_machine_leaves_nothing_open(machines: MachinesStandIn, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    file.write_text("x")
    dataset = Dataset(name="a", source="x", files=[str(file)])
    limits = Limits(wall_seconds=9.5, memory_bytes=512 << 20, scratch_bytes=(16 << 20) + 1)
    request = Request(kind="sql", code="", datasets=[dataset], limits=limits)
    asked = Microsandbox("/srv/root", package=machines).machine(machines, request)
    plain = {"noexec": True, "nosuid": True, "nodev": True}
    assert asked["volumes"] == {
        str(file): ("bind", str(file), {"readonly": True, **plain}),
        "/scratch": ("tmpfs", {"size_mib": 17, **plain}),
    }
    assert asked["image"] == ("bind", "/srv/root")
    assert (asked["network"], asked["security"]) == ("no network", "restricted")
    assert asked["user"] == f"65534:{file.stat().st_gid}"
    assert asked["memory"] > 512 + 512 + 16
    assert asked["max_duration"] == 70


def test_a_machine_that_does_not_start_is_a_reason(machines: MachinesStandIn) -> None:
    machines.broken = "no /dev/kvm"
    provider = Microsandbox(package=machines)
    assert provider.prove().reasons == ("microsandbox: The machine cannot be used: no /dev/kvm",)
    never, bell = os.pipe()
    request = Request(kind="sql", code="SELECT 1")
    with pytest.raises(Unavailable, match="no /dev/kvm"):
        provider.run(Envelope(request=request, scratch=""), never)
    os.close(never)
    os.close(bell)


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "microsandbox", None)
    assert "'microsandbox' extra" in Microsandbox().prove().reasons[0]
    with pytest.raises(Misconfigured):
        Microsandbox().run(Envelope(request=Request(kind="sql", code=""), scratch=""), -1)
