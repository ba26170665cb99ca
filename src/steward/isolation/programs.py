"""Starts our own programs with a clean environment, talks to them within bounds, and ends them with all they started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from steward.isolation.exchange import Exchange, Stream

Process = subprocess.Popen[bytes]
Late = Literal["", "timeout", "cancelled"]


class CannotStart(Exception):
    """The machine has no room for another process, or not the program."""


@dataclass(frozen=True)
class Said:
    """What a program said until it ended, or why nobody waited for that."""

    out: bytes = b""
    err: bytes = b""
    late: Late = ""
    status: int | None = None


def program_command(program: str | Path, *arguments: str, keeps_bytecode: bool = True) -> list[str]:
    """The command line of a module of ours, or of a file that loads little."""
    # -I: neither the working directory nor the environment can put code in front of ours.
    how = ["-I", "-X", "utf8", *([] if keeps_bytecode else ["-B"])]
    named = ["-m", program] if isinstance(program, str) else [str(program)]
    return [sys.executable, *how, *named, *arguments]


def start_program(
    command: Sequence[str], environment: Mapping[str, str] | None, folder: str = "/", **ends: Any
) -> Process:
    """A process at the head of its own session, with pipes where `ends` does not say otherwise."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        return subprocess.Popen(  # noqa: S603 - our own programs and the administrator's tools
            command, cwd=folder, env=environment, start_new_session=True, **{**pipes, **ends}
        )
    except OSError as problem:
        raise CannotStart(problem.strerror) from problem


def end_program(process: Process, grace_seconds: float = 0.0) -> None:
    """Ends a process and what it started, asked politely first where there is time, and waits until it is gone."""
    ways = [(signal.SIGTERM, grace_seconds)] if grace_seconds else []
    for way, seconds in (*ways, (signal.SIGKILL, None)):
        if process.poll() is not None:
            break
        with suppress(ProcessLookupError):
            os.killpg(process.pid, way)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def converse(
    process: Process, given: bytes, *, seconds: float, most: int, cancelled: int | None = None
) -> Said:
    """Feeds and drains until the program ends, time is over, or `cancelled` can be read; then ends it."""
    deadline = time.monotonic() + seconds
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018
    out, err = Stream(most), Stream(most)
    watched = [] if cancelled is None else [cancelled]
    ends = {stdout.fileno(): out, stderr.fileno(): err}
    exchange = Exchange(given, stdin.fileno(), stdin.close, ends, watched)
    try:
        while exchange.open:
            left = deadline - time.monotonic()
            if left <= 0:
                return Said(err=bytes(err.kept), late="timeout")
            if cancelled in exchange.step(left):
                return Said(late="cancelled")
        status = process.wait(max(deadline - time.monotonic(), 0))
        return Said(bytes(out.kept), bytes(err.kept), "", status)
    except subprocess.TimeoutExpired:
        return Said(err=bytes(err.kept), late="timeout")
    finally:
        end_program(process)


def run_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    *,
    seconds: float,
    given: bytes = b"",
) -> Said:
    """Starts a program, gives it its input and waits for its end."""
    started = start_program(command, environment, folder)
    # Its memory is limited, and so what it can say.
    return converse(started, given, seconds=seconds, most=4 << 30)
