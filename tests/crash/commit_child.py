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
from steward.store import Database, FileBlobs, Scope
from steward.tables.engine import Limits
from steward.versions import Draft, Versions
from steward.versions._write import Sizes
from steward.versions.edits import Delete, Insert, Update

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


def diverge(versions: Versions, job: int) -> None:
    """Other rows of the same dataset changed on a branch and on the main line, and something to undo and redo."""
    prepare(versions, job)
    workspace = versions.workspace(scope_of(job), "usr_test")
    workspace.create_branch("side")
    mark(versions, job, "side", 100, "on the side")
    change(versions, job)


def mark(versions: Versions, job: int, branch: str, row: int, text: str) -> None:
    workspace = versions.workspace(scope_of(job), "usr_test")
    version = workspace.dataset("a", branch).version
    edited = versions.edit(scope_of(job), version, Update(f"id = {row}", {"t": f"'{text}'"}))
    workspace.commit(Draft(text, datasets={"a": edited.version.id}), branch)


def undo(versions: Versions, job: int) -> None:
    versions.workspace(scope_of(job), "usr_test").undo()


def undo_rows(versions: Versions, job: int) -> None:
    """The change is undone although a later commit changed another row: rows are merged."""
    workspace = versions.workspace(scope_of(job), "usr_test")
    target = next(commit for commit in workspace.log() if commit.message == "After")
    workspace.undo(target.id, merge_rows=True)


def redo(versions: Versions, job: int) -> None:
    versions.workspace(scope_of(job), "usr_test").redo()


def restore(versions: Versions, job: int) -> None:
    workspace = versions.workspace(scope_of(job), "usr_test")
    first = next(commit for commit in workspace.log() if commit.message == "Before")
    workspace.restore(first.id)


def merge(versions: Versions, job: int) -> None:
    versions.workspace(scope_of(job), "usr_test").merge("side")


def compact(versions: Versions, job: int) -> None:
    workspace = versions.workspace(scope_of(job), "usr_test")
    compacted = versions.compact(scope_of(job), workspace.dataset("a").version)
    workspace.commit(Draft("Compact", datasets={"a": compacted.id}))


def sweep(versions: Versions, job: int) -> None:
    versions.sweep(grace=timedelta(hours=1), hold=timedelta(0))


OPERATIONS = {
    "change": change,
    "undo": undo,
    "undo rows": undo_rows,
    "redo": redo,
    "restore": restore,
    "merge": merge,
    "compact": compact,
    "sweep": sweep,
}


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
