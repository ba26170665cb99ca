"""Watches over one execution from outside: feeds the request, drains the output, and kills.

Nothing the child does can delay it: every channel is drained to the end and kept up to its limit,
and the end is always SIGKILL, sent through a handle that cannot mean another process.
"""

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from steward.core import is_alone
from steward.isolation import Exchange, Stream
from steward.sandbox.cgroups import Cgroup
from steward.sandbox.collect import Collected, collect, used
from steward.sandbox.contract import Answer, Envelope, Limits, Response, Status, Tier, Timings

_TICK: Final = 0.05
# What runs for longer than most, or beside others of the same person, gives way to the rest.
_SHORT_SECONDS: Final = 1.0
_LOWER: Final = 10
_LOWEST: Final = 19
_PIECE: Final = 1 << 16
_MOST_THREADS: Final = 300
_OUTPUT_SHARE: Final = 16
_LEAST_OUTPUT: Final = 4096
# What the child may say about itself; the rest of a response is the supervisor's own.
_SAID: Final = (
    "refusals",
    "columns",
    "rows",
    "result",
    "charts",
    "sql",
    "tables",
    "used_columns",
)


@dataclass
class Child:
    """A confined process that has read nothing yet, by its descriptors."""

    process: int
    request: int
    answer: int
    stdout: int
    stderr: int
    scratch: int
    tier: Tier
    walls: list[str]
    ended: Callable[[], int | None]
    """The exit status, once the process has ended and its parent has said how; waits a little."""
    path: str = "/scratch"
    capped: bool = True
    """Whether the file system itself caps scratch."""
    cleaned: Callable[[], None] = lambda: None
    cgroup: Cgroup | None = None

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)

    def close_request(self) -> None:
        os.close(self.request)
        self.request = -1

    def wait_dead(self) -> None:
        select.select([self.process], [], [])

    def close(self) -> None:
        self.kill()
        self.wait_dead()
        for name in ("process", "request", "answer", "stdout", "stderr", "scratch"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                os.close(descriptor)
                setattr(self, name, -1)
        self.cleaned()


class Supervision:
    """One execution; `run` blocks and belongs in a thread of its own."""

    def __init__(self, child: Child, envelope: Envelope, cancelled: int, waited: float) -> None:
        self._child = child
        self._envelope = envelope
        self._limits = envelope.request.limits
        self._cancelled = cancelled
        self._waited = waited
        self._started = time.monotonic()
        share = max(self._limits.output_bytes // _OUTPUT_SHARE, _LEAST_OUTPUT)
        # JSON may need several bytes for one that counts.
        self._answer = Stream(self._limits.output_bytes * 6 + _PIECE)
        self._out = Stream(share)
        self._err = Stream(share)
        self._memory_peak = 0
        # Asked for by the watchdog alone, which most executions never see.
        self._pid: int | None = None
        self._gives_way = False

    def run(self) -> Response:
        """Leaves the child killed, but not closed: that may be done when nobody waits for it."""
        if not is_alone():
            self._pid = pid_of(self._child.process)
            give_way(self._pid, _LOWER)
        try:
            verdict = self._watch()
        finally:
            self._child.kill()
        files = Collected()
        with os.scandir(self._child.scratch) as left:
            anything = any(not entry.name.startswith(".") for entry in left)
        if anything:
            # Nothing is read while something might still be written.
            self._child.wait_dead()
            files = collect(self._child.scratch, self._limits.files_bytes)
        return self._response(verdict, files)

    def _watch(self) -> tuple[Status, str] | None:
        """Until the child has ended or must; gives the reason when it must."""
        child = self._child
        outputs = {child.answer: self._answer, child.stdout: self._out, child.stderr: self._err}
        exchange = Exchange(
            self._envelope.model_dump_json().encode(),
            child.request,
            child.close_request,
            outputs,
            (child.process, self._cancelled),
        )
        deadline = self._started + self._limits.wall_seconds
        check = self._started + _TICK
        while True:
            now = time.monotonic()
            if now >= deadline:
                return "timeout", f"It ran longer than {self._limits.wall_seconds:g} seconds."
            if now >= check:
                check = now + _TICK
                reason = self._over()
                if reason:
                    return reason
            ready = exchange.step(max(min(check, deadline) - now, 0.001))
            if self._cancelled in ready:
                return "cancelled", "It was cancelled."
            if child.answer in ready or child.process in ready:
                # All is said; what the process does after that is of no interest.
                exchange.drain()
                return None
            if self._answer.dropped:
                return "too_large", "The answer is larger than it may be."

    def _over(self) -> tuple[Status, str] | None:
        """The watchdog, for what no limit of the kernel covers: memory in use, threads, scratch."""
        if self._pid is None:
            self._pid = pid_of(self._child.process)
        if not self._gives_way and time.monotonic() - self._started > _SHORT_SECONDS:
            self._gives_way = True
            give_way(self._pid, _LOWEST)
        memory, threads = _usage(self._pid)
        self._memory_peak = max(self._memory_peak, memory)
        if memory > self._limits.memory_bytes + (512 << 20):
            return "out_of_memory", _memory_message(self._limits)
        if threads > _MOST_THREADS:
            return "killed", f"It started more than {_MOST_THREADS} threads."
        size, count = (0, 0) if self._child.capped else used(self._child.scratch)
        if size > self._limits.scratch_bytes:
            return (
                "too_large",
                f"It wrote more than {self._limits.scratch_bytes >> 20} MB to scratch.",
            )
        if count > self._limits.scratch_inodes:
            return (
                "too_large",
                f"It made more than {self._limits.scratch_inodes:,} files in scratch.",
            )
        return None

    def _response(self, verdict: tuple[Status, str] | None, files: Collected) -> Response:
        answer = None if verdict else self._parse()
        status: Status
        if verdict:
            status, message = verdict
        elif answer is not None:
            status, message = answer.status, answer.message
        else:
            status, message = self._death(self._child.ended())
        said = {name: getattr(answer, name) for name in _SAID} if answer else {}
        total = (time.monotonic() - self._started) * 1000 + self._waited
        return Response.model_construct(
            **said,
            status=status,
            message=message,
            stdout=self._out.text,
            stderr=self._err.text,
            dropped_output_bytes=self._out.dropped + self._err.dropped,
            files=files.files,
            skipped_files=files.skipped,
            timings=Timings(total_ms=round(total, 3), waited_ms=round(self._waited, 3)),
            tier=self._child.tier,
            walls=self._child.walls,
        )

    def _parse(self) -> Answer | None:
        """The child's words as data; whatever is not an answer counts as none."""
        try:
            said: Any = json.loads(bytes(self._answer.kept))
            return Answer.model_validate(said)
        except (ValueError, ValidationError, RecursionError):
            return None

    def _death(self, ended: int | None) -> tuple[Status, str]:
        words = self._err.text
        fatal = ("memory allocation of", "bad_alloc", "MemoryError", "Cannot allocate memory")
        if any(word in words for word in fatal):
            return "out_of_memory", _memory_message(self._limits)
        if self._child.cgroup is not None and self._child.cgroup.ran_out():
            return "out_of_memory", _memory_message(self._limits)
        if ended == -signal.SIGKILL:
            limit = self._limits.cpu_seconds
            return "timeout", f"It used more than {limit} seconds of processor time, or was killed."
        if ended in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            if self._memory_peak > self._limits.memory_bytes * 0.7:
                return "out_of_memory", _memory_message(self._limits)
            return "killed", f"The process crashed ({signal.Signals(-ended).name})."
        if ended is not None and ended < 0:
            return "killed", f"The process ended by {signal.Signals(-ended).name}."
        return "failed", "The process ended without an answer."


def _memory_message(limits: Limits) -> str:
    return f"It needed more than the {limits.memory_bytes >> 20} MB of memory it may use."


def pid_of(handle: int) -> int:
    """The process's number here, whatever it is called in its own namespace."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


def give_way(pid: int, priority: int) -> None:
    """Lowers the priority of every thread of a process, and so of those that they start later."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, int(thread.name), priority)


def _usage(pid: int) -> tuple[int, int]:
    """Private memory in use and the number of threads; zeros once the process is gone."""
    memory = threads = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                memory = int(line.split()[1]) << 10
            elif line.startswith("Threads:"):
                threads = int(line.split()[1])
    return memory, threads
