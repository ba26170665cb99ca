"""Asks Cedar about texts that nobody checked yet, in a process of its own that is started again when it dies."""

import atexit
import json
import select
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from steward.core import Unavailable
from steward.isolation import CannotStart, end_program, program_command, start_program

_LONGEST_WAIT: Final = 60.0
"""Seconds for one answer. The process itself ends a text that takes too much of the processor, however busy the machine
is; this is for a machine on which it does not get its turn."""
_PROGRAM: Final = Path(__file__).with_name("_cedar_process.py")
_LONGEST_LINE: Final = 64 << 20


class Overwhelmed(Exception):
    """The text ended the process or kept it busy; it must not be read anywhere else."""


class Engine:
    """A process that reads texts, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def read(self, text: str) -> dict[str, Any]:
        """The heads of the policies of a text; ValueError with the parser's words when it is wrong."""
        answer = self._ask({"text": text})
        if "problem" in answer:
            raise ValueError(answer["problem"])
        return answer

    def validate(self, text: str, schema: str) -> list[tuple[str, str]]:
        """What the schema says against a text that can be read: the policy's number and the mistake."""
        answer = self._ask({"text": text, "schema": schema})
        if "problem" in answer:
            raise ValueError(answer["problem"])
        return [(policy, error) for policy, error in answer["errors"]]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            if self._process is not None:
                # One that is not needed ends by itself, perhaps in this moment: that is not the text's doing.
                with suppress(EOFError):
                    return self._said(line)
            self._start()
            try:
                return self._said(line)
            except EOFError:
                raise Overwhelmed from None

    def _said(self, line: bytes) -> dict[str, Any]:
        """The answer; EOFError if the process has ended instead."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        try:
            process.stdin.write(line)
            process.stdin.flush()
            # An answer is written at once: where it has begun, the rest follows.
            if not select.select([process.stdout], [], [], _LONGEST_WAIT)[0]:
                self._end()
                raise Unavailable(
                    "The policy could not be read in time: this machine is too busy. Try again later."
                )
            found: dict[str, Any] = json.loads(process.stdout.readline(_LONGEST_LINE))
        except (OSError, ValueError):
            if _ended_by(process) == signal.SIGXCPU:
                self._end()
                raise Overwhelmed from None
            self._end()
            raise EOFError from None
        return found

    def _start(self) -> None:
        self._end()
        try:
            self._process = start_program(program_command(_PROGRAM), {}, stderr=subprocess.DEVNULL)
        except CannotStart as problem:
            raise Unavailable(
                "No process could be started to check the policy: the machine is most likely short of "
                "memory. Try again later."
            ) from problem

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_program(process)


def _ended_by(process: "subprocess.Popen[bytes]") -> int | None:
    """The signal that ended a process, if one did."""
    try:
        return -process.wait(1.0)
    except subprocess.TimeoutExpired:
        return None
