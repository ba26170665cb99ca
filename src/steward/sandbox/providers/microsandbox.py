"""The runner in a microVM of microsandbox's: one machine with a kernel of its own per execution.

Needs the `microsandbox` package and hardware virtualisation on the server's machine (KVM on Linux).
"""

import asyncio
import math
import time
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from steward.core import Misconfigured, Unavailable
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
from steward.sandbox.providers._process import understood
from steward.sandbox.walls import Walls

_MIB: Final = 1 << 20
# A machine's kernel and agent, beside the runner.
_KERNEL_MIB: Final = 256
_WALLS: Final = ("microVM", "no network", "restricted guest", "memory limit")
_END_SECONDS: Final = 20.0


class Microsandbox:
    """`image` names an OCI image, or is the path of a folder that holds a root file system.

    `package` is the `microsandbox` module, or something that has its shape.
    """

    def __init__(
        self,
        image: str = "steward-runner",
        *,
        package: Any | None = None,
        start_seconds: float = 60.0,
    ) -> None:
        self._image = image
        self._package = package
        self._start_seconds = start_seconds
        self._walls: Walls | None = None

    def prove(self) -> Walls:
        """Runs the program that tries to get out in a throw-away machine."""
        if self._walls is not None:
            return self._walls
        walls = proven("microsandbox", self.run)
        self._walls = walls if walls.tier != "none" else None
        return walls

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        started = time.monotonic()
        placed = envelope.model_copy(update={"scratch": SCRATCH})
        said, words, late = asyncio.run(self._converse(_loaded(self._package), placed, cancelled))
        total = (time.monotonic() - started) * 1000
        response = understood(said, words, late, envelope.request.limits, total)
        walls = [*_WALLS, *response.walls]
        return response.model_copy(update={"tier": "container", "walls": walls})

    def close(self) -> None:
        self._walls = None

    async def _converse(
        self, package: Any, envelope: Envelope, cancelled: int
    ) -> tuple[bytes, bytes, str]:
        loop = asyncio.get_running_loop()
        bell = asyncio.Event()
        loop.add_reader(cancelled, bell.set)
        limits = envelope.request.limits
        work = asyncio.create_task(self._in_machine(package, envelope))
        called_off = asyncio.create_task(bell.wait())
        try:
            await asyncio.wait(
                [work, called_off],
                timeout=limits.wall_seconds + self._start_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if work.done():
                said, words = work.result()
                return said, words, ""
            return b"", b"", "cancelled" if bell.is_set() else "timeout"
        except package.MicrosandboxError as problem:
            raise Unavailable(f"The machine cannot be used: {problem}") from None
        finally:
            loop.remove_reader(cancelled)
            called_off.cancel()
            # Cancelling it ends the machine; nothing is answered while one is left.
            work.cancel()
            await asyncio.wait([work], timeout=_END_SECONDS)

    async def _in_machine(self, package: Any, envelope: Envelope) -> tuple[bytes, bytes]:
        request = envelope.request
        machine = await package.Sandbox.create(
            f"steward-{uuid4().hex}", **self.machine(package, request)
        )
        try:
            return await _fed(package, machine, envelope)
        finally:
            await machine.destroy(force=True, timeout=_END_SECONDS)

    def machine(self, package: Any, request: Request) -> dict[str, Any]:
        """What is asked for; every file of a dataset is mounted by itself, read-only."""
        limits = request.limits
        files = files_of(request)
        folder = Path(self._image).is_absolute()
        plain = {"noexec": True, "nosuid": True, "nodev": True}
        volumes = {file: package.Volume.bind(file, readonly=True, **plain) for file in files}
        volumes[SCRATCH] = package.Volume.tmpfs(
            size_mib=math.ceil(limits.scratch_bytes / _MIB), **plain
        )
        return {
            "image": package.Image.bind(self._image) if folder else self._image,
            "memory": math.ceil(memory_of(request) / _MIB) + _KERNEL_MIB,
            "cpus": 1,
            "user": f"{NOBODY}:{group_of(files)}",
            "network": package.Network.none(),
            "security": package.SecurityProfile.RESTRICTED,
            "pull_policy": package.PullPolicy.IF_MISSING,
            "volumes": volumes,
            # A server that dies leaves no machine behind.
            "ephemeral": True,
            "max_duration": float(math.ceil(limits.wall_seconds + self._start_seconds)),
        }


async def _fed(package: Any, machine: Any, envelope: Envelope) -> tuple[bytes, bytes]:
    """Hands over the request and keeps what comes back, up to what an answer may take."""
    limits = envelope.request.limits
    most = limits.output_bytes * 8 + limits.files_bytes * 2
    out, err = bytearray(), bytearray()
    kinds = package.ExecEventType
    command, *arguments = RUNNER
    handle = await machine.exec_stream(
        command,
        arguments,
        user=f"{NOBODY}:{group_of(files_of(envelope.request))}",
        env={"PATH": "/usr/local/bin", "LC_ALL": "C.UTF-8"},
        stdin=envelope.model_dump_json().encode(),
    )
    async for event in handle:
        if event.event_type in {kinds.EXITED, kinds.FAILED}:
            break
        kept = {kinds.STDOUT: out, kinds.STDERR: err}.get(event.event_type)
        if kept is not None and event.data:
            kept += event.data[: max(most - len(kept), 0)]
    return bytes(out), bytes(err)


def _loaded(package: Any | None) -> Any:
    if package is not None:
        return package
    try:
        import microsandbox
    except ModuleNotFoundError:
        raise Misconfigured(
            "The microsandbox provider needs Steward's 'microsandbox' extra; install it first."
        ) from None
    return microsandbox


@add_provider(
    "microsandbox",
    remedy="Install the extra 'microsandbox' on a machine with KVM: see docs/guides/sandbox.md.",
)
def _open(place: Place) -> Microsandbox:
    return Microsandbox(place.settings.image, start_seconds=place.start_seconds)
