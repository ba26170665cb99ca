"""Temporary files of this process: one folder, whose lock says that its owner lives.

Work removes what it wrote, also when it fails or is stopped. What a killed process left behind is removed when the next
process starts; a lock, unlike a process id, is also true for processes of other containers on the same disk.
"""

import fcntl
import secrets
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

_PREFIX = "process-"
_LOCK = ".lock"


class Scratch:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._starting = threading.Lock()
        self._own: Path | None = None
        self._held: IO[str] | None = None

    def folder(self) -> Path:
        """Where this process puts its temporary files; made when first asked for."""
        with self._starting:
            if self._own is None or not self._own.is_dir():
                self.root.mkdir(parents=True, exist_ok=True)
                own = self.root / f"{_PREFIX}{secrets.token_hex(8)}"
                # The lock is there and held before the folder is: nobody takes it for one that was left.
                self._held = own.with_suffix(_LOCK).open("w")
                fcntl.flock(self._held, fcntl.LOCK_EX)
                own.mkdir(mode=0o700)
                self._own = own
            return self._own

    def clear_left_behind(self) -> int:
        """Removes the folders of processes that ended without doing so; how many those were."""
        found = 0
        for lock in self.root.glob(f"{_PREFIX}*{_LOCK}"):
            with suppress(OSError), lock.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
                found += 1
        return found

    def close(self) -> None:
        with self._starting:
            if self._own is not None and self._held is not None:
                shutil.rmtree(self._own, ignore_errors=True)
                self._own.with_suffix(_LOCK).unlink(missing_ok=True)
                self._held.close()
            self._own = self._held = None
