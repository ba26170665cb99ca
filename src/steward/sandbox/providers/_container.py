"""What every place that hosts the runner in a container of its own has in common."""

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Final

from steward.core import StewardError
from steward.sandbox.contract import Envelope, Request, Response
from steward.sandbox.runner.probe import program
from steward.sandbox.walls import Walls

NOBODY: Final = 65534
SCRATCH: Final = "/scratch"
RUNNER: Final = ("python", "-I", "-B", "-X", "utf8", "-m", "steward.sandbox.runner.once")
# The runner, its libraries and its copy of the request, beside what the code may use.
_RUNNER_BYTES: Final = 512 << 20
# The container's own files are no secret; the rest must hold in it as anywhere.
_MUST_HOLD: Final = (
    "writing outside",
    "network",
    "new processes",
    "signals",
    "memory",
    "becoming root",
)


def proven(place: str, run: Callable[[Envelope, int], Response]) -> Walls:
    """Runs the program that tries to get out in a throw-away container."""
    architecture = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    if architecture not in {"x86_64", "aarch64"}:
        return Walls("none", reasons=(f"{place}: there is no runner for {architecture}",))
    request = Request(kind="python", code=program(architecture))
    never, bell = os.pipe()
    try:
        response = run(Envelope(request=request, scratch=SCRATCH, guarded=False), never)
    except StewardError as problem:
        return Walls("none", reasons=(f"{place}: {problem.message}",))
    finally:
        os.close(never)
        os.close(bell)
    tried = response.result if isinstance(response.result, dict) else {}
    fallen = [name for name in _MUST_HOLD if tried.get(name) is not True]
    if response.status != "done" or fallen:
        reason = response.message or f"did not hold: {', '.join(fallen)}"
        return Walls("none", reasons=(f"{place}: {reason}",))
    return Walls("container", tuple(response.walls), dict(tried))


def files_of(request: Request) -> list[str]:
    return sorted({file for dataset in request.datasets for file in dataset.files})


def group_of(files: list[str]) -> int:
    """The group by which the data can be read."""
    return Path(files[0]).stat().st_gid if files and Path(files[0]).exists() else NOBODY


def memory_of(request: Request) -> int:
    """Scratch lies in memory, too."""
    return request.limits.memory_bytes + request.limits.scratch_bytes + _RUNNER_BYTES
