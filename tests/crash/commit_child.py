"""Jobs that die where they are told to: a process that forks one child per job and reports how it ended.

Run as `python -m tests.crash.commit_child URL FOLDER`; jobs come as JSON lines on standard input, answers go out the
same way. Forking keeps the cost of imports out of every crash; the parent itself starts no thread.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from steward.core import Ids, MovableClock
from steward.core.faults import install
from steward.data.engine import Limits
from steward.data.versions import Delete, Draft, Insert, Sizes, Update, Versions
from steward.store import Database, FileBlobs, Scope

START = datetime(2026, 3, 2, tzinfo=UTC)
SIZES = Sizes(part_rows=50, small_part_rows=4)
Rows = list[tuple[int, str]]


def scope_of(job: int) -> Scope:
    return Scope("org_crash", f"prj_{job}")


@contextmanager
def room(url: str, folder: Path, days: float = 0) -> Iterator[Versions]:
    database = Database(url)
    clock = MovableClock(START + timedelta(days=days))
    try:
        yield Versions(
            database,
            FileBlobs(folder / "blobs"),
            clock,
            Ids(clock),
            folder / "scratch",
            sizes=SIZES,
            limits=Limits(memory_mb=256, threads=2, temp_mb=500),
        )
    finally:
        database.close()


def rows_before(job: int) -> Rows:
    return [(i, f"job {job} row {i}") for i in range(120)]


def rows_after(job: int) -> Rows:
    kept = [(i, "changed" if i == 60 else text) for i, text in rows_before(job) if i != 10]
    return [*kept, (1000 + job, "new")]


def prepare(versions: Versions, job: int) -> None:
    """A dataset that every job changes; its rows differ from job to job, so that each writes its own parts."""
    query = f"SELECT i AS id, 'job {job} row ' || i AS t FROM range(120) r(i)"
    version = versions.write(scope_of(job), query)
    versions.workspace(scope_of(job), "usr_test").commit(
        Draft("Before", datasets={"a": version.id})
    )


def change(versions: Versions, job: int) -> None:
    """Two datasets and a file in one commit."""
    scope = scope_of(job)
    workspace = versions.workspace(scope, "usr_test")
    head = workspace.branch().head
    edited = versions.edit(
        scope,
        workspace.dataset("a", head).version,
        Update("id = 60", {"t": "'changed'"}),
        Delete("id = 10"),
        Insert(f"SELECT {1000 + job} AS id, 'new' AS t"),
    )
    other = versions.write(scope, f"SELECT i + {job} AS n FROM range(70) r(i)")
    file = versions.put_file(scope, "note.txt", [f"note {job}".encode()])
    workspace.commit(
        Draft(
            "After",
            datasets={"a": edited.version.id, "b": other.id},
            files={file.path: file.digest},
        ),
        base=head,
    )


def undo(versions: Versions, job: int) -> None:
    versions.workspace(scope_of(job), "usr_test").undo()


def sweep(versions: Versions, job: int) -> None:
    versions.sweep(grace=timedelta(hours=1), hold=timedelta(0))


OPERATIONS = {"change": change, "undo": undo, "sweep": sweep}


def run(url: str, folder: Path, job: dict[str, Any]) -> None:
    """Does one job in this process: listing the fault points it meets, or dying at one of them."""
    met: list[str] = []

    def hook(name: str) -> None:
        met.append(name)
        if name == job.get("point") and met.count(name) == job["occurrence"]:
            os.kill(os.getpid(), signal.SIGKILL)

    with room(url, folder, days=job.get("days", 0)) as versions:
        install(hook)
        OPERATIONS[job["operation"]](versions, job["number"])
    if "listing" in job:
        Path(job["listing"]).write_text(json.dumps(met))


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run(url, folder, json.loads(line))
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
