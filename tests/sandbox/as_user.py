"""Runs a Python program as an ordinary user although we are root: `python as_user.py <program> …`.

An interpreter below root's closed home folder is made reachable in a mount namespace of our own.
"""

import os
import sys
from pathlib import Path

from steward.sandbox.runner import kernel

ORDINARY = 12345


def main() -> None:
    kernel.unshare(kernel.NEWNS)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    for closed in _closed_folders(os.path.realpath(sys.executable)):
        _open(closed, Path(sys.base_prefix))
    os.setgroups([])
    os.setresgid(ORDINARY, ORDINARY, ORDINARY)
    os.setresuid(ORDINARY, ORDINARY, ORDINARY)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


def _closed_folders(path: str) -> list[Path]:
    return [parent for parent in reversed(Path(path).parents) if not parent.stat().st_mode & 1]


def _open(closed: Path, needed: Path) -> None:
    """Covers a closed folder with an open one that shows only what is needed of it."""
    held = os.open(needed, os.O_PATH | os.O_DIRECTORY)
    kernel.mount("open", str(closed), "tmpfs", 0, "size=1m,mode=0755")
    needed.mkdir(parents=True, mode=0o755)
    kernel.mount(f"/proc/self/fd/{held}", str(needed), None, kernel.MS_BIND | kernel.MS_REC)
    os.close(held)


if __name__ == "__main__":
    main()
