"""Every provider that can be run here against the one contract; real engines where they are."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.sandbox.providers import Provider
from steward.sandbox.providers.docker import Docker
from steward.sandbox.providers.embedded import Embedded
from steward.testing.sandbox import SandboxProviderKit
from tests.sandbox.battery import fell, ground, quickly

IMAGE = "steward-runner"


def _engine() -> bool:
    """Whether a Docker engine answers that has the runner's image."""
    if shutil.which("docker") is None:
        return False
    asked = ["docker", "image", "inspect", IMAGE]
    return subprocess.run(asked, capture_output=True, check=False, timeout=20).returncode == 0


class TestEmbedded(SandboxProviderKit):
    @pytest.fixture(scope="class")
    @classmethod
    def data(cls, kit_data: Path) -> Path:
        return kit_data

    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls, embedded: Embedded) -> Provider:
        return embedded


@pytest.mark.skipif(not _engine(), reason="no Docker engine with the image steward-runner")
class TestDocker(SandboxProviderKit):
    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls) -> Iterator[Provider]:
        made = Docker(IMAGE)
        yield made
        made.close()

    @pytest.mark.soak
    @pytest.mark.timeout(900)
    def test_escapes_from_containers(self, provider: Provider, tmp_path: Path) -> None:
        with ground(tmp_path / "ground") as (_, aim):
            assert fell(provider, aim, quickly()) == []
