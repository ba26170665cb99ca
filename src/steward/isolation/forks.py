"""Keeps a process at hand that has libraries loaded; every job is a fork of it.

Starting Python and importing the libraries costs most of a second, a fork some milliseconds. The process that is kept
does no job itself. For each job it forks a keeper, which forks the worker: the keeper tells how the worker ended, and
ends it when the caller hangs up or dies. The process ends when its owner does, or when nothing was asked for a while.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NoReturn

from steward.isolation.programs import CannotStart, Process, program_command, start_program

_START_SECONDS: Final = 120.0
_IDLE_SECONDS: Final = 30.0
_END_SECONDS: Final = 5.0


class Line:
    """The caller's end of one job: what is said on it, and the means to end it."""

    def __init__(self, talk: socket.socket, leash: int, patience: float) -> None:
        # Workers end at their limits; silence for longer is that of something that got away.
        talk.settimeout(patience)
        self._talk = talk
        self._leash = leash
        self._hanging_up = threading.Lock()
        self.file = talk.makefile("rwb")

    def hang_up(self) -> None:
        """Has the keeper end the worker; harmless when it has ended already."""
        with self._hanging_up:
            if self._leash >= 0:
                os.close(self._leash)
                self._leash = -1

    def close(self) -> None:
        """Hangs up, and waits until neither worker nor keeper is left."""
        self.hang_up()
        with suppress(OSError):
            self._talk.settimeout(_END_SECONDS)
            while self.file.read(1 << 16):
                pass
        with suppress(OSError):
            self.file.close()
        self._talk.close()


class ForkServer:
    """The owner's view of the process that forks: a module that calls `serve_forks`."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        self._module = module
        self._environment = environment
        self._lock = threading.Lock()
        self.process: Process | None = None
        self._control: socket.socket | None = None

    def line(self, patience: float) -> Line:
        """A line to a new worker, which waits for its request; it may be silent for `patience` seconds."""
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
        """Ends the process; the next job starts another one."""
        with self._lock:
            self._end()

    def _have_forked(self, theirs: socket.socket, hold: int) -> None:
        # The process may have ended meanwhile, as it does when it is not needed.
        if self._forks(theirs, hold):
            return
        self._start()
        if not self._forks(theirs, hold):
            raise CannotStart("the process that forks gave no answer")

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
            self.process = start_program(
                program_command(self._module),
                self._environment,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.process is not None:
            # A job that is still under way keeps it for a moment longer.
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_SECONDS)
            self.process = None


def serve_forks(loaded: Sequence[str], work: Callable[[socket.socket], NoReturn]) -> None:
    """Loads modules, then forks whenever it is asked to, until its owner has gone or nobody asks."""
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for name in loaded:
        importlib.import_module(name)
    # What is loaded is never garbage: not looking at it keeps its pages shared with the forks.
    gc.freeze()
    while True:
        asked, _, _ = select.select([control], [], [], _IDLE_SECONDS)
        has_workers = _reap()
        if not asked:
            if has_workers:
                continue
            return
        said, given, _, _ = socket.recv_fds(control, 1, 2)
        if not said:
            # Callers that have gone hold no leash: their workers end, too.
            _reap(waits=True)
            return
        if os.fork() == 0:
            control.close()
            _or_end(partial(_keep, work, *given))
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


def _keep(work: Callable[[socket.socket], NoReturn], talk: int, hold: int) -> NoReturn:
    """Waits for the end of the worker or of the caller's interest, whichever comes first."""
    alive, held = os.pipe()
    pid = os.fork()
    # Both sides, as neither knows which of them comes first.
    with suppress(OSError):
        os.setpgid(pid, pid)
    if pid == 0:
        os.close(alive)
        os.close(hold)
        _or_end(partial(work, socket.socket(fileno=talk)))
    os.close(held)
    over, _, _ = select.select([alive, hold], [], [])
    if hold in over:
        # The worker and whatever it may have started.
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    # A worker that dies may leave half a line.
    ended = json.dumps({"ended": os.waitstatus_to_exitcode(status)})
    with suppress(BrokenPipeError):
        os.write(talk, f"\n{ended}\n".encode())
    os._exit(0)
