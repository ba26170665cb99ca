"""The runner in a container of Docker's: one container per execution, nothing shared but the data.

The image holds Python, Steward and the libraries; the command line tool is all that is needed.
"""

import contextlib
import subprocess
from collections.abc import Sequence
from typing import Final
from uuid import uuid4

from steward.sandbox.contract import Envelope, Request, Response
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
from steward.sandbox.providers._process import run_runner
from steward.sandbox.walls import Walls

_TOOL_SECONDS: Final = 30.0
_MOST_PROCESSES: Final = 256
_WALLS: Final = (
    "container",
    "no network",
    "read-only root",
    "no capabilities",
    "memory and process limits",
)


class Docker:
    def __init__(
        self,
        image: str = "steward-runner",
        *,
        command: Sequence[str] = ("docker",),
        start_seconds: float = 60.0,
    ) -> None:
        self._image = image
        self._command = list(command)
        self._start_seconds = start_seconds
        self._walls: Walls | None = None

    def prove(self) -> Walls:
        """Runs the program that tries to get out in a throw-away container."""
        if self._walls is not None:
            return self._walls
        walls = proven("docker", self.run)
        # An engine that is down now may be up the next time.
        self._walls = walls if walls.tier != "none" else None
        return walls

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        name = f"steward-{uuid4().hex}"
        placed = envelope.model_copy(update={"scratch": SCRATCH})
        try:
            response, _ = run_runner(
                self.command(name, envelope.request),
                placed,
                cancelled,
                environment=None,
                folder=".",
                start_seconds=self._start_seconds,
                name=self._command[0],
                cleaned=_without_advice,
            )
        finally:
            # Ending the tool alone would leave the container running.
            self._kill(name)
        walls = [*_WALLS, *response.walls]
        return response.model_copy(update={"tier": "container", "walls": walls})

    def command(self, name: str, request: Request) -> list[str]:
        """The command line; every file of a dataset is mounted by itself, read-only."""
        limits = request.limits
        files = files_of(request)
        group = group_of(files)
        memory = memory_of(request)
        scratch = (
            f"{SCRATCH}:rw,noexec,nosuid,nodev,size={limits.scratch_bytes},"
            f"nr_inodes={limits.scratch_inodes},uid={NOBODY},gid={group},mode=0700"
        )
        options = {
            "--name": name,
            "--network": "none",
            "--ipc": "none",
            "--user": f"{NOBODY}:{group}",
            "--cap-drop": "ALL",
            "--security-opt": "no-new-privileges",
            "--memory": str(memory),
            "--memory-swap": str(memory),
            "--cpus": "1",
            "--pids-limit": str(_MOST_PROCESSES),
            "--ulimit": "core=0",
            "--tmpfs": scratch,
            "--log-driver": "none",
            "--pull": "never",
        }
        mounts = [f"--mount=type=bind,source={file},target={file},readonly" for file in files]
        return [
            *self._command,
            *("run", "--rm", "--interactive", "--read-only", "--init"),
            *(part for option in options.items() for part in option),
            *mounts,
            self._image,
            *RUNNER,
        ]

    def _kill(self, name: str) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603 - the administrator's own tool
                [*self._command, "rm", "--force", name],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TOOL_SECONDS,
                check=False,
            )

    def close(self) -> None:
        self._walls = None


def _without_advice(words: bytes) -> bytes:
    """What went wrong; the tool's last line only says how to ask it for help."""
    lines = words.splitlines()
    return b"\n".join(line for line in lines if line.strip() and b"--help" not in line)


@add_provider(
    "docker", remedy="Start the engine and build the image: docs/guides/sandbox.md says how."
)
def _open(place: Place) -> Docker:
    chosen = place.settings
    return Docker(chosen.image, command=[chosen.docker], start_seconds=place.start_seconds)
