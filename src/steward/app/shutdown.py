"""Stopping: what does not end by itself in time is ended, and no process that Steward started outlives it.

Nothing is lost by that: whatever was not yet durable is done again after the next start, as after a crash.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from steward.trace import get_logger

SECONDS: Final = 8.0
"""From the first signal to the end of the process, whatever it is doing."""
_log = get_logger("steward.stopping")


class Shutdown:
    """The end of this process; begins with the first signal."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._timer = threading.Timer(seconds, _end_now)
        # It must not keep the process from ending in time, and still runs while threads are waited for.
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._has_begun = False

    def begin(self) -> None:
        """May be called from a signal's handler, and again."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._has_begun:
                    self._has_begun = True
                    self._timer.start()
            finally:
                self._lock.release()


def end_children() -> None:
    """Kills every process that this one started, and those that they started: readers, sandboxes, tool servers."""
    for pid in list(_descendants(os.getpid())):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _end_now() -> None:
    _log.warning("stopped_in_haste", seconds=SECONDS)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    end_children()
    # Threads that are deep in a library cannot be interrupted; the process can.
    os._exit(0)


def _descendants(pid: int) -> Iterator[int]:
    """Without /proc there are none to be found; what listens to a pipe of ours ends by itself all the same."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _descendants(int(child))
            yield int(child)
