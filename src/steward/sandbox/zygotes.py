"""The server's end of a zygote: starts it clean, orders children, hears how they ended."""

import array
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steward.core import Unavailable
from steward.isolation import CannotStart, end_program, program_command, start_program
from steward.sandbox import cgroups
from steward.sandbox.cgroups import Cgroup
from steward.sandbox.contract import Tier
from steward.sandbox.supervisor import Child, pid_of

_MODULE: Final = "steward.sandbox.runner.zygote"
_START_SECONDS: Final = 60.0
_BOOT_SECONDS: Final = 20.0
_END_SECONDS: Final = 5.0
_LARGEST: Final = 65_536
_HANDLES: Final = 6
# A library that starts a thread before the fork would break in every child.
_ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "HOME": "/scratch",
    "TMPDIR": "/scratch",
    "MPLCONFIGDIR": "/scratch/.matplotlib",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    # glibc keeps a heap per thread; a few are enough and reserve less.
    "MALLOC_ARENA_MAX": "2",
}


@dataclass(frozen=True)
class Order:
    scratch_bytes: int
    scratch_inodes: int
    folder: str = ""
    clean: Callable[[], None] = lambda: None
    cgroup: Cgroup | None = None


class Spawned:
    """A child that was ordered; it may still be on its way."""

    def __init__(self, tier: Tier, order: Order) -> None:
        self._tier = tier
        self._order = order
        self._arrived = threading.Event()
        self._over = threading.Event()
        self._status: int | None = None
        self._handles: list[int] = []
        self._capped = False

    def arrive(self, handles: list[int]) -> None:
        self._handles = handles
        # Here, because joining takes longer than many a request: nobody waits for it yet.
        self._capped = self._join()
        self._arrived.set()

    def _join(self) -> bool:
        if self._order.cgroup is None or not self._handles:
            return False
        try:
            self._order.cgroup.join(pid_of(self._handles[0]))
        except OSError:
            return False
        return True

    def end(self, status: int | None) -> None:
        self._status = status
        self._over.set()
        self._arrived.set()

    def usable(self) -> bool:
        return not self._over.is_set()

    def child(self) -> Child:
        """Waits until the walls stand; a child whose walls do not is an error, not a child."""
        if not self._arrived.wait(_BOOT_SECONDS) or len(self._handles) != _HANDLES:
            self.discard()
            raise Unavailable("The sandbox did not start a process in time; try again.")
        process, request, answer, out, err, boot = self._handles
        self._handles = []
        with socket.socket(fileno=boot) as channel:
            scratch, said = booted(channel)
        child = Child(
            process=process,
            request=request,
            answer=answer,
            stdout=out,
            stderr=err,
            scratch=scratch,
            tier=self._tier,
            walls=[*said.get("walls", []), *[cgroups.WALL] * self._capped],
            ended=self._ended,
            cgroup=self._order.cgroup if self._capped else None,
            path=self._order.folder or "/scratch",
            capped=self._tier == "ns",
            cleaned=self._order.clean,
        )
        if scratch < 0 or "walls" not in said:
            child.close()
            reason = said.get("failed", "it ended at once")
            raise Unavailable(f"The walls could not be raised: {reason}")
        return child

    def _ended(self) -> int | None:
        self._over.wait(_END_SECONDS)
        return self._status

    def discard(self) -> None:
        """Ends a child that is not going to be used."""
        if self._arrived.is_set() and self._handles:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._handles[0], signal.SIGKILL)
            for descriptor in self._handles:
                os.close(descriptor)
            self._handles = []
        self._order.clean()


def booted(channel: socket.socket) -> tuple[int, dict[str, Any]]:
    ready, _, _ = select.select([channel], [], [], _BOOT_SECONDS)
    if not ready:
        return -1, {"failed": "it took too long"}
    message, handles = _receive(channel)
    try:
        said = json.loads(message) if message else {}
    except ValueError:
        said = {}
    return (handles[0] if handles else -1), said


def _receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    room = socket.CMSG_SPACE(_HANDLES * 4)
    message, ancillary, _, _ = channel.recvmsg(_LARGEST, room, socket.MSG_CMSG_CLOEXEC)
    handles = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
    return message, list(handles)


class Zygote:
    """A running zygote. Starting one blocks until its libraries are loaded."""

    def __init__(self, tier: Tier, roots: Sequence[str], uid: int | None, gid: int | None) -> None:
        self.tier = tier
        self.libraries: dict[str, str] = {}
        self.alive = True
        self._lock = threading.Lock()
        self._count = 0
        self._spawned: dict[int, Spawned] = {}
        self._warm = tempfile.TemporaryDirectory(prefix="steward-warm-")
        if uid is not None and gid is not None:
            os.chown(self._warm.name, uid, gid)
        self._start(roots, uid, gid)
        self._reader = threading.Thread(target=self._listen, name="sandbox-zygote", daemon=True)
        self._reader.start()

    def _start(self, roots: Sequence[str], uid: int | None, gid: int | None) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the zygote
        with theirs:
            try:
                self._process = start_program(
                    program_command(_MODULE, str(theirs.fileno()), keeps_bytecode=False),
                    _ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._words,
                    pass_fds=(theirs.fileno(),),
                )
            except CannotStart as problem:
                raise Unavailable(f"The sandbox's zygote did not start: {problem}") from None
        order = {
            "tier": self.tier,
            "data_roots": list(roots),
            "uid": uid,
            "gid": gid,
            "warm_folder": "" if self.tier == "ns" else self._warm.name,
        }
        try:
            ours.send(json.dumps(order).encode())
            ready, _, _ = select.select([ours], [], [], _START_SECONDS)
            said = json.loads(ours.recv(_LARGEST) or b"{}") if ready else {}
        except (OSError, ValueError):
            said = {}
        if "ready" not in said:
            reason = said.get("failed") or self._last_words() or "it did not start in time"
            self.close()
            raise Unavailable(f"The sandbox's zygote did not start: {reason}")
        self.libraries = dict(said["ready"]["loaded"])

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._words.seek(0)
        return self._words.read().decode("utf-8", "replace").strip().rpartition("\n")[2][:500]

    def spawn(self, order: Order) -> Spawned:
        spawned = Spawned(self.tier, order)
        with self._lock:
            self._count += 1
            number = self._count
            self._spawned[number] = spawned
            wanted = {
                "id": number,
                "scratch": order.folder,
                "scratch_bytes": order.scratch_bytes,
                "scratch_inodes": order.scratch_inodes,
            }
            try:
                self._control.send(json.dumps(wanted).encode())
            except OSError:
                self.alive = False
                spawned.end(None)
        return spawned

    def _listen(self) -> None:
        while True:
            try:
                message, handles = _receive(self._control)
            except OSError:
                break
            if not message:
                break
            said = json.loads(message)
            if "child" in said:
                self._spawned[said["child"]["id"]].arrive(handles)
            elif "ended" in said:
                ended = self._spawned.pop(said["ended"]["id"], None)
                if ended is not None:
                    ended.end(said["ended"]["status"])
        self.alive = False
        for spawned in list(self._spawned.values()):
            spawned.end(None)
        self._spawned.clear()

    def close(self) -> None:
        """Ends the zygote, and with it every child that still runs."""
        self.alive = False
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        end_program(self._process)
        if hasattr(self, "_reader"):
            self._reader.join(_END_SECONDS)
        self._control.close()
        self._words.close()
        self._warm.cleanup()
