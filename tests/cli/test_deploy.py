"""What `deploy/` holds: no default password, nothing that runs as root, and settings that Steward knows."""

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from steward import __version__
from steward.core import load_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
NEEDED = re.compile(r"\$\{([A-Z0-9_]+):\?")


@pytest.fixture
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """What one command writes into an empty folder."""
    folder = tmp_path / "deploy"
    folder.mkdir()
    shutil.copy(DEPLOY / "init.sh", folder)
    subprocess.run(
        [folder / "init.sh", "steward.example.com", "ada@example.com"],
        check=True,
        capture_output=True,
    )
    file = folder / ".env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = subprocess.run([folder / "init.sh"], check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "exists already" in again.stderr
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def test_one_command_makes_every_password_and_none_has_a_default(
    compose: dict[str, Any], variables: dict[str, str]
) -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert set(NEEDED.findall(text)) == set(variables)
    secret = {name: value for name, value in variables.items() if re.search("PASSW|KEY|TOK", name)}
    assert len(set(secret.values())) == len(secret) == 6
    assert all(len(value) == 49 for value in secret.values())
    for name in compose["services"]:
        for key, value in compose["services"][name].get("environment", {}).items():
            if re.search("PASSW|KEY|TOKEN|URL", key) and key != "STEWARD_BLOBS__URL":
                assert NEEDED.search(value), f"{name}: {key} is not taken from .env"


def test_steward_understands_the_settings_of_its_containers(
    compose: dict[str, Any],
    variables: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = compose["services"]["server"]["environment"]
    for key, value in given.items():
        filled = re.sub(r"\$\{([A-Z0-9_]+):\?[^}]*\}", lambda found: variables[found[1]], value)
        monkeypatch.setenv(key, filled)
    settings = load_settings(home=tmp_path)
    assert settings.http.public_url == "https://steward.example.com"
    assert settings.identity.first_owner == "ada@example.com"
    assert settings.blobs.create_bucket
    assert not settings.runs.in_server


def test_every_service_is_watched_and_stewards_have_no_privileges(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"server", "worker-1", "worker-2", "postgres", "nats", "s3", "caddy"}
    for name, service in services.items():
        assert service["healthcheck"]["test"], name
        assert not service.get("privileged")
        assert "docker.sock" not in str(service)
    for name in ("server", "worker-1", "worker-2"):
        assert services[name]["image"].endswith(f"steward:{__version__}}}")
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["security_opt"] == ["no-new-privileges:true"]
    ports = [name for name, service in services.items() if "ports" in service]
    assert ports == ["caddy"]


def test_the_image_ends_as_an_ordinary_user_without_node() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    stages = text.split("\nFROM ")
    assert len(stages) == 3
    last = stages[-1]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "--require-hashes" in stages[1]
    assert not re.search(r"\b(npm|node|curl|apt-get)\b", text)
