"""A control group for each confined process, where the machine delegates one: the kernel's own cap.

Only version 2, and only a group that is ours to divide: systemd marks such groups, and an ordinary
user can write to no others. The server itself is never moved: `DelegateSubgroup=` puts it aside.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steward.sandbox.contract import Limits

WALL: Final = "control group"
_MOUNT: Final = Path("/sys/fs/cgroup")
_OWN: Final = Path("/proc/self/cgroup")
_NEEDED: Final = frozenset({"memory", "pids"})
_MARKS: Final = ("user.delegate", "trusted.delegate")
_MOST_TASKS: Final = 300
# What a process holds besides its own data: the pages of the zygote that it has changed.
_BESIDE: Final = 256 << 20


@dataclass(frozen=True)
class Cgroup:
    """The group of one process."""

    folder: Path

    def limit(self, limits: Limits) -> None:
        """Memory and what lies in scratch, which is memory too; no swap; tasks."""
        most = limits.memory_bytes + limits.scratch_bytes + _BESIDE
        _write(self.folder / "memory.max", most)
        _write(self.folder / "memory.oom.group", 1)
        _write(self.folder / "pids.max", _MOST_TASKS)
        # Absent where the kernel does not count swap.
        with contextlib.suppress(OSError):
            _write(self.folder / "memory.swap.max", 0)

    def join(self, pid: int) -> None:
        if pid <= 0:
            # Nought would mean the server itself.
            raise ProcessLookupError("the process is not to be seen from here")
        _write(self.folder / "cgroup.procs", pid)

    def ran_out(self) -> bool:
        """Whether the kernel ended a process of the group because its memory was used up."""
        with contextlib.suppress(OSError, ValueError):
            for line in (self.folder / "memory.events").read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill" and int(count):
                    return True
        return False

    def remove(self) -> None:
        """When the process is dead; one that is still being buried goes with the server's group."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Cgroups:
    """Makes groups below one of its own, which goes when the sandbox closes."""

    def __init__(self, parent: Path) -> None:
        self._folder = parent / f"steward-sandbox-{os.getpid()}-{id(self):x}"
        self._count = 0
        _enable(parent)
        self._folder.mkdir()
        try:
            _enable(self._folder)
        except OSError:
            self._folder.rmdir()
            raise

    def make(self, limits: Limits) -> Cgroup | None:
        """None where the kernel refuses: the other walls stand without it."""
        self._count += 1
        made = Cgroup(self._folder / str(self._count))
        try:
            made.folder.mkdir()
            made.limit(limits)
        except OSError:
            made.remove()
            return None
        return made

    def close(self) -> None:
        with contextlib.suppress(OSError):
            for left in self._folder.iterdir():
                if left.is_dir():
                    Cgroup(left).remove()
            self._folder.rmdir()


def delegated(
    mount: Path = _MOUNT,
    own: Path = _OWN,
    is_ours: "Callable[[Path], bool] | None" = None,
) -> Cgroups | None:
    """Groups below the one this server lives in or beside it; None where none is delegated."""
    with contextlib.suppress(OSError, ValueError):
        here = _place(mount, own)
        for folder in (here.parent, here):
            if folder.is_relative_to(mount) and _is_fit(folder, is_ours or _is_delegated):
                return Cgroups(folder)
    return None


def _place(mount: Path, own: Path) -> Path:
    for line in own.read_text().splitlines():
        number, _, path = line.partition("::")
        if number == "0" and path.startswith("/"):
            return mount / path.lstrip("/")
    raise ValueError("no control group of version 2")


def _is_fit(folder: Path, is_ours: Callable[[Path], bool]) -> bool:
    """Ours to divide, with what is to be capped, and no process in it: the kernel divides no others."""
    known = set((folder / "cgroup.controllers").read_text().split())
    if not known >= _NEEDED or (folder / "cgroup.procs").read_text().strip():
        return False
    return is_ours(folder)


def _is_delegated(folder: Path) -> bool:
    if os.getuid() != 0:
        return os.access(folder, os.W_OK) and os.access(folder / "cgroup.subtree_control", os.W_OK)
    for mark in _MARKS:
        with contextlib.suppress(OSError):
            if os.getxattr(folder, mark) == b"1":
                return True
    return False


def _enable(folder: Path) -> None:
    _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(_NEEDED)))


def _write(file: Path, value: int | str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)
