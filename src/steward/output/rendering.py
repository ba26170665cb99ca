"""Hand drawing jobs to a short-lived child process: bounded in time and memory, with no network and no files."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steward.core import Invalid, TooLarge, Unavailable
from steward.isolation import CannotStart, program_command, run_program

_PROGRAM = Path(__file__).with_name("child.py")
DEFAULT_SECONDS = 60.0
MAX_JOB_BYTES = 64 << 20


def run(tasks: Sequence[dict[str, Any]], *, seconds: float = DEFAULT_SECONDS) -> list[bytes]:
    """The results of all tasks, in order; the tasks share one process, so its start is paid once."""
    if not tasks:
        return []
    with TemporaryDirectory(prefix="steward-draw-") as root:
        rooted = [{**task, "root": root} if task["do"] == "pdf" else task for task in tasks]
        job = json.dumps({"tasks": rooted}, allow_nan=False).encode()
        if len(job) > MAX_JOB_BYTES:
            raise TooLarge(
                f"The drawing needs {len(job) >> 20} MB of input; {MAX_JOB_BYTES >> 20} MB is the limit. "
                "Show fewer rows or points."
            )
        answer = _child(job, root, seconds)
    return _results(answer)


def _child(job: bytes, folder: str, seconds: float) -> bytes:
    # Only what is named here reaches the child: no proxy, no token, no locale of the machine.
    environment = {"PATH": os.defpath, "HOME": folder, "TZ": "UTC", "LANG": "C.UTF-8"}
    try:
        done = run_program(
            program_command(_PROGRAM), environment, folder, seconds=seconds, given=job
        )
    except CannotStart as problem:
        raise Unavailable(f"The drawing process could not be started: {problem}.") from None
    if done.late:
        raise TooLarge(
            f"Drawing took longer than {seconds:g} seconds and was stopped. "
            "Show fewer points, views or rows.",
            code="drawing-timeout",
        )
    if done.status != 0:
        raise Unavailable(
            f"The drawing process stopped with status {done.status}; it may have run out of memory. "
            "Try again, or show less.",
            code="drawing-stopped",
        )
    return done.out


def _results(answer: bytes) -> list[bytes]:
    line, _, rest = answer.partition(b"\n")
    head = json.loads(line)
    if "error" in head:
        first = head["error"].strip().splitlines()
        reason = " ".join(part.strip() for part in first[:2])[:400]
        raise Invalid(f"Drawing {head['task'] + 1} failed: {reason}", code="drawing-failed")
    results, start = [], 0
    for size in head["sizes"]:
        results.append(rest[start : start + size])
        start += size
    return results
