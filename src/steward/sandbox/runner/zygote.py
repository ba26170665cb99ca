"""The zygote: loads the libraries once and forks confined children on demand, one per execution.

It is started with a clean environment and never sees a request, a secret or a row: what it holds in
memory can be read by every child. It talks to the server over one socket: orders to fork come in,
descriptors of children and the way they ended go out.

Run as `python -I -m steward.sandbox.runner.zygote <descriptor of the socket>`.
"""

import array
import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from dataclasses import astuple
from typing import Any, Final

from steward.sandbox.runner import kernel, landlock, root

_LARGEST_ORDER: Final = 65_536
# Starts with polars, waits for files to remove, and holds no lock while it waits.
_PARKED: Final = frozenset({"polars-ooc-clea"})


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    order = json.loads(control.recv(_LARGEST_ORDER))
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _enter(order, control)
        served = _Zygote(control, order, proc)
    except (OSError, ImportError, KeyError) as problem:
        _say(control, {"failed": f"{type(problem).__name__}: {problem}"})
        os._exit(1)
    served.run()


def _enter(order: dict[str, Any], control: socket.socket) -> None:
    if kernel.ARCHITECTURE not in {"x86_64", "aarch64"}:
        raise OSError(f"no table of system calls for {kernel.ARCHITECTURE}")
    if not landlock.version():
        raise OSError("the kernel has no Landlock, or it is switched off")
    uid, gid = order["uid"], order["gid"]
    if order["tier"] == "lsm":
        if uid is not None:
            root.drop_user(uid, gid)
        unreadable = [
            path
            for path in [sys.prefix, sys.base_prefix, *order["data_roots"]]
            if not os.access(path, os.R_OK | os.X_OK)
        ]
        if unreadable:
            raise OSError(f"user {os.getuid()} cannot read {', '.join(unreadable)}")
        return
    root.enter(order["data_roots"], uid=uid, gid=gid)
    first = os.fork()
    if first:
        control.close()
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0x7F)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    # Somewhere to try the libraries on; children cover it with their own.
    kernel.mount("warm", root.SCRATCH, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=8m")


def _say(
    control: socket.socket, message: dict[str, Any], descriptors: list[int] | None = None
) -> None:
    ancillary = (
        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        if descriptors
        else []
    )
    with contextlib.suppress(BrokenPipeError):
        control.sendmsg([json.dumps(message).encode()], ancillary)


class _Zygote:
    def __init__(self, control: socket.socket, order: dict[str, Any], proc: int) -> None:
        self._control = control
        self._tier = order["tier"]
        self._roots = tuple(order["data_roots"])
        self._ids: dict[int, int] = {}
        self._readable = tuple(root.runtime_paths())
        self._itself = os.pidfd_open(os.getpid())
        self._bell, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        # Loaded only now: a process with threads could not have entered a user namespace.
        from steward.sandbox.runner import serve, warm

        loaded = warm.load(order["warm_folder"] or root.SCRATCH)
        if self._tier == "ns":
            serve.rehearse(root.SCRATCH)
        lively = _threads(proc) - _PARKED
        if len(lively) > 1:
            raise OSError(f"libraries started threads, so forking is not safe: {sorted(lively)}")
        self._base_data = _status(proc, "VmData") << 10
        os.close(proc)
        gc.collect()
        gc.freeze()
        gc.disable()
        _say(control, {"ready": {"loaded": loaded, "tier": self._tier}})

    def run(self) -> None:
        watch = select.poll()
        watch.register(self._control, select.POLLIN)
        watch.register(self._bell, select.POLLIN)
        while True:
            for descriptor, _ in watch.poll():
                if descriptor == self._bell:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._bell, 4096)
                    self._reap()
                    continue
                message = self._control.recv(_LARGEST_ORDER)
                if not message:
                    # The server is gone. In a process namespace every child goes with us.
                    self._kill_all()
                    os._exit(0)
                self._fork(json.loads(message))

    def _reap(self) -> None:
        while self._ids:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            number = self._ids.pop(pid, None)
            ended = os.waitstatus_to_exitcode(status)
            _say(self._control, {"ended": {"id": number, "status": ended}})

    def _kill_all(self) -> None:
        for pid in self._ids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _fork(self, order: dict[str, Any]) -> None:
        from steward.sandbox.runner import child, confine

        ends = child.Ends.make()
        place = confine.Place(
            tier=self._tier,
            readable=self._readable,
            data_roots=self._roots,
            scratch=order["scratch"] or root.SCRATCH,
            scratch_bytes=order["scratch_bytes"],
            scratch_inodes=order["scratch_inodes"],
        )
        if self._tier == "ns":
            kernel.unshare(kernel.NEWPID)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            child.live(place, ends.inside, ends.boot_inside, self._base_data)
        if self._tier == "ns":
            kernel.setns(self._itself, kernel.NEWPID)
        self._ids[pid] = order["id"]
        handle = os.pidfd_open(pid)
        ours = [handle, *astuple(ends.outside), ends.boot_outside.fileno()]
        _say(self._control, {"child": {"id": order["id"]}}, ours)
        os.close(handle)
        ends.close_inside()
        ends.close_outside()


def _threads(proc: int) -> set[str]:
    """Threads by number and name; the ones that are known to do no harm have only their name."""
    folder = os.open("self/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    try:
        found = set()
        for number in os.listdir(folder):  # noqa: PTH208 - by descriptor
            descriptor = os.open(f"{number}/comm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
            with os.fdopen(descriptor, encoding="utf-8") as text:
                name = text.read().strip()
            found.add(name if name in _PARKED else f"{name} {number}")
        return found
    finally:
        os.close(folder)


def _status(proc: int, name: str) -> int:
    """A number from /proc/self/status, read through a descriptor that outlives the old root."""
    descriptor = os.open("self/status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    with os.fdopen(descriptor, encoding="ascii") as status:
        for line in status:
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    raise KeyError(name)


if __name__ == "__main__":
    main()
