"""Processes that are killed: the one that forks them, those of one installation, and where they die."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from signal import SIGKILL, Signals
from typing import Any

ROOT = Path(__file__).parents[2]
Kill = tuple[int, str, int]
"""In which phase, at which fault point, and at which of its occurrences."""


class Nursery:
    """The process that forks workers; one for all tests here, as it takes seconds to load everything."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.run_child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A process with threads does not fork safely.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            text=True,
        )

    def ask(self, job: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=20)


class Children:
    """Workers of one installation."""

    def __init__(self, nursery: Nursery, place: Mapping[str, Any]) -> None:
        self._nursery = nursery
        self._place = place
        self._served: set[int] = set()

    def drive(self, at: str, **job: Any) -> int:
        return self._nursery.ask({**self._place, "do": "drive", "at": at, **job})

    def serve(self, log: Path, lease: float, **job: Any) -> int:
        asked = {**self._place, "do": "serve", "log": str(log), "lease": lease, **job}
        pid = self._nursery.ask(asked)
        self._served.add(pid)
        return pid

    def send(self, pid: int, number: Signals) -> None:
        os.kill(pid, number)
        if number is SIGKILL:
            assert self._nursery.ask({"do": "wait", "pid": pid}) == -SIGKILL
            self._served.discard(pid)

    def forget(self) -> None:
        """What was closed is not closed again."""
        self._served.clear()

    def close(self) -> None:
        for pid in self._served:
            os.kill(pid, SIGKILL)
        ends = {self._nursery.ask({"do": "wait", "pid": pid}) for pid in self._served}
        assert ends <= {-SIGKILL}, "a worker ended by itself"


def points_met(phase: int, listing: Path) -> list[Kill]:
    """The fault points that a process met and listed in a file."""
    seen: Counter[str] = Counter()
    found = []
    for name in json.loads(listing.read_text()):
        seen[name] += 1
        found.append((phase, name, seen[name]))
    return found


def chosen(found: list[Kill], *, every: bool) -> list[Kill]:
    """For quick runs: a point is tried where it is met first and last, and once in each phase for effects."""
    if every:
        return found
    first: dict[str, Kill] = {}
    last: dict[str, Kill] = {}
    for kill in found:
        first.setdefault(kill[1], kill)
        last[kill[1]] = kill
    return sorted({*first.values(), *last.values()})
