"""The Docker provider against a stand-in for its command line tool, which runs the same runner.

A real engine needs an image with the runner; where none runs, this proves the contract and the flags.
"""

import os
import sys
from pathlib import Path

import pytest

from steward.app import diagnose
from steward.core import SandboxSettings, Settings
from steward.core.errors import Unavailable
from steward.sandbox import Dataset, Limits, Request
from steward.sandbox.contract import Envelope
from steward.sandbox.providers import Place, load_providers
from steward.sandbox.providers.docker import Docker
from steward.sandbox.providers.embedded import Embedded

_STAND_IN = """
import json, sys
arguments = sys.argv[1:]
open({log!r}, "a").write(json.dumps(arguments) + "\\n")
if arguments[0] == "run":
    {behaviour}
"""
_ANSWER = """
    envelope = json.loads(sys.stdin.read())
    answer = {"status": "done", "result": envelope["request"]["code"], "tier": "ns"}
    sys.stdout.write(json.dumps(answer))
"""


def _docker(tmp_path: Path, behaviour: str) -> Docker:
    script = tmp_path / "docker.py"
    log = str(tmp_path / "log")
    script.write_text(_STAND_IN.format(log=log, behaviour=behaviour.strip()))
    return Docker("image", command=[sys.executable, str(script)])


@pytest.fixture
def never() -> int:
    return os.pipe()[0]


def test_settings_choose_the_provider_by_name(tmp_path: Path) -> None:
    kinds = load_providers()
    assert {name for name, _ in kinds} >= {"docker", "embedded", "kubernetes", "microsandbox"}
    place = Place(SandboxSettings(), tmp_path, [tmp_path])
    assert isinstance(kinds.get("embedded").open(place), Embedded)
    assert isinstance(kinds.get("docker").open(place), Docker)


def test_a_provider_that_is_not_installed_is_named(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "sandbox": {"provider": "moon"}})
    [found] = [each for each in diagnose(settings) if each.subject == "sandbox"]
    assert found.state == "failed"
    assert "'moon'" in found.message
    assert "docker, embedded, kubernetes, microsandbox" in found.message


def test_the_request_goes_in_and_the_response_comes_out(tmp_path: Path, never: int) -> None:
    docker = _docker(tmp_path, _ANSWER)
    request = Request(kind="python", code="x" * 150_000)
    response = docker.run(Envelope(request=request, scratch=""), never)
    assert response.result == "x" * 150_000
    # The tier is what the provider knows, not what came out of the container.
    assert response.tier == "container"
    ran, removed = (tmp_path / "log").read_text().splitlines()
    assert removed.startswith('["rm", "--force", "steward-')
    assert "steward.sandbox.runner.once" in ran


def test_the_flags_leave_nothing_open(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    file.write_text("x")
    dataset = Dataset(name="a", source="x", files=[str(file)])
    command = Docker("image").command("n", Request(kind="sql", code="", datasets=[dataset]))
    line = " ".join(command)
    for flag in (
        "--network none",
        "--ipc none",
        "--read-only",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--pids-limit 256",
        "--log-driver none",
        f"source={file},target={file},readonly",
    ):
        assert flag in line
    memory, swap = (command[command.index(flag) + 1] for flag in ("--memory", "--memory-swap"))
    assert memory == swap
    assert command[command.index("--user") + 1].startswith("65534:")


@pytest.mark.parametrize("behaviour", ["print('[' * 100000)", "sys.exit('no such image')", "pass"])
def test_what_is_no_answer_is_an_error(tmp_path: Path, never: int, behaviour: str) -> None:
    docker = _docker(tmp_path, behaviour)
    with pytest.raises(Unavailable):
        docker.run(Envelope(request=Request(kind="sql", code="SELECT 1"), scratch=""), never)
    assert docker.prove().tier == "none"


def test_an_engine_that_is_down_is_told(tmp_path: Path) -> None:
    said = "docker: Cannot connect to the daemon.\\nSee 'docker run --help'.\\n"
    reasons = _docker(tmp_path, f'sys.exit("{said}")').prove().reasons
    assert reasons == ("docker: The runner gave no answer: docker: Cannot connect to the daemon.",)


def test_a_missing_tool_is_a_reason() -> None:
    walls = Docker("image", command=["/nonexistent/docker"]).prove()
    assert (walls.tier, len(walls.reasons)) == ("none", 1)


def test_a_call_off_ends_the_container(tmp_path: Path) -> None:
    docker = _docker(tmp_path, "import signal; signal.pause()")
    cancelled, bell = os.pipe()
    os.write(bell, b"x")
    request = Request(kind="sql", code="SELECT 1", limits=Limits())
    assert docker.run(Envelope(request=request, scratch=""), cancelled).status == "cancelled"
    removed = [line for line in (tmp_path / "log").read_text().splitlines() if '"rm"' in line]
    assert len(removed) == 1
