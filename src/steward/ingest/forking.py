"""Keeps a process at hand that has the readers' libraries loaded; every reading is a fork of it.

Starting Python and importing the libraries costs most of a second, a fork some milliseconds. The
process that is kept, the stem, reads nothing itself. For each reading it forks a keeper, which forks
the reader: the keeper tells how the reader ended, and ends it when the caller hangs up or dies. The
stem ends when its owner does, or when nothing was read for a while.

Run as `python -m steward.ingest.forking`, with a socket as standard input.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NoReturn

from steward.core import Unavailable
from steward.ingest import reader

_MODULE: Final = "steward.ingest.forking"
_START_SECONDS: Final = 120.0
_IDLE_SECONDS: Final = 30.0
_END_SECONDS: Final = 5.0
_LOADED: Final = (
    *("duckdb", "numpy", "pandas", "pyarrow.parquet"),
    *(
        f"steward.ingest.{name}"
        for name in (
            *("databases", "delimited", "excel", "json_lines", "parquet", "querying"),
            *("reading", "servers", "sqlite", "writing"),
        )
    ),
)
"""What any reading may need; a fork has it at once."""

_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    # Arrow's own allocator begins by reserving a gigabyte, which would count against the limit unused.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # A thread that waits for sums to add up would be lost in a fork.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Nothing of the caller's environment reaches a reader: no secrets, no settings."""


class Line:
    """The caller's end of one reading: what is said on it, and the means to end it."""

    def __init__(self, talk: socket.socket, leash: int, patience: float) -> None:
        # Readers end at their limits; silence for longer is that of something that got away.
        talk.settimeout(patience)
        self._talk = talk
        self._leash = leash
        self._hanging_up = threading.Lock()
        self.file = talk.makefile("rwb")

    def hang_up(self) -> None:
        """Has the keeper end the reader; harmless when it has ended already."""
        with self._hanging_up:
            if self._leash >= 0:
                os.close(self._leash)
                self._leash = -1

    def close(self) -> None:
        """Hangs up, and waits until neither reader nor keeper is left."""
        self.hang_up()
        with suppress(OSError):
            self._talk.settimeout(_END_SECONDS)
            while self.file.read(1 << 16):
                pass
        with suppress(OSError):
            self.file.close()
        self._talk.close()


class Stem:
    """The owner's view of the process that forks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def line(self, patience: float) -> Line:
        """A line to a new reader, which waits for its request; it may be silent for `patience` seconds."""
        ours, theirs = socket.socketpair()
        hold, leash = os.pipe()
        line = Line(ours, leash, patience)
        try:
            with self._lock:
                self._have_forked(theirs, hold)
        except BaseException:
            theirs.close()
            line.close()
            raise
        finally:
            theirs.close()
            os.close(hold)
        return line

    def close(self) -> None:
        """Ends the process; the next reading starts another one."""
        with self._lock:
            self._end()

    def _have_forked(self, theirs: socket.socket, hold: int) -> None:
        # The stem may have ended meanwhile, as it does when it is not needed.
        if self._forks(theirs, hold):
            return
        self._start()
        if not self._forks(theirs, hold):
            raise Unavailable(
                "No process could be started to read the data: the machine is most likely short "
                "of memory or processes. Try again later."
            )

    def _forks(self, theirs: socket.socket, hold: int) -> bool:
        if self._control is None:
            return False
        try:
            socket.send_fds(self._control, [b"r"], [theirs.fileno(), hold])
            return self._control.recv(1) != b""
        except OSError:
            return False

    def _start(self) -> None:
        self._end()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_START_SECONDS)
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-X", "utf8", "-m", _MODULE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_ENVIRONMENT,
                start_new_session=True,
            )

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.process is not None:
            # A reading that is still under way keeps it for a moment longer.
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_SECONDS)
            self.process = None


# The stem


def main() -> None:
    """Forks whenever it is asked to, until its owner has gone or nobody asks."""
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for name in _LOADED:
        importlib.import_module(name)
    # What is loaded is never garbage: not looking at it keeps its pages shared with the forks.
    gc.freeze()
    while True:
        asked, _, _ = select.select([control], [], [], _IDLE_SECONDS)
        has_readers = _reap()
        if not asked:
            if has_readers:
                continue
            return
        said, given, _, _ = socket.recv_fds(control, 1, 2)
        if not said:
            # Callers that have gone hold no leash: their readers end, too.
            _reap(waits=True)
            return
        if os.fork() == 0:
            control.close()
            _or_end(partial(_keep, *given))
        for descriptor in given:
            os.close(descriptor)
        control.send(b"f")


def _reap(*, waits: bool = False) -> bool:
    """Takes note of keepers that have ended; whether any is left."""
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, 0 if waits else os.WNOHANG)
            if pid == 0:
                return True
    return False


def _or_end(work: Callable[[], NoReturn]) -> NoReturn:
    """A fork never returns into what its parent was doing."""
    try:
        work()
    finally:
        traceback.print_exc()
        os._exit(1)


def _keep(talk: int, hold: int) -> NoReturn:
    """Waits for the end of the reader or of the caller's interest, whichever comes first."""
    alive, held = os.pipe()
    pid = os.fork()
    # Both sides, as neither knows which of them comes first.
    with suppress(OSError):
        os.setpgid(pid, pid)
    if pid == 0:
        os.close(alive)
        os.close(hold)
        _or_end(partial(reader.serve, socket.socket(fileno=talk)))
    os.close(held)
    over, _, _ = select.select([alive, hold], [], [])
    if hold in over:
        # The reader and whatever it may have started.
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    # A reader that dies may leave half a line.
    ended = json.dumps({"ended": os.waitstatus_to_exitcode(status)})
    with suppress(BrokenPipeError):
        os.write(talk, f"\n{ended}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main()
