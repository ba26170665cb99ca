"""kill -9 at every fault point of everything that commits, and of the sweep: the old state or the new one, nothing between."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
import sqlalchemy as sa

from steward import versions as versions_package
from steward.store import EVERYWHERE, Database, FileBlobs, migrate
from steward.versions import Versions
from steward.versions import _tables as tables
from steward.versions._manifest import unpack
from tests.crash.commit_child import (
    change,
    diverge,
    mark,
    prepare,
    room,
    rows_after,
    rows_before,
    scope_of,
)
from tests.versions.versions_kit import fetch

pytestmark = pytest.mark.every_database

ROOT = Path(__file__).parents[2]


class Children:
    """The process that runs jobs and dies by them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, **job: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def started(url: str, folder: Path) -> Iterator[Children]:
    command = [sys.executable, "-m", "tests.crash.commit_child", url, str(folder)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Children(process)
    finally:
        process.communicate(timeout=20)


@pytest.fixture
def place(database_url: str | None, tmp_path: Path) -> tuple[str, Path]:
    url = database_url or f"sqlite:///{tmp_path / 'steward.db'}"
    if database_url is None:
        database = Database(url)
        migrate(database)
        database.close()
    return url, tmp_path


def points(children: Children, folder: Path, **job: Any) -> list[tuple[str, int]]:
    """Every fault point an operation meets, each as often as it meets it."""
    listing = folder / "points.json"
    assert children.run(listing=str(listing), **job) == 0
    seen: Counter[str] = Counter()
    found = []
    for name in json.loads(listing.read_text()):
        seen[name] += 1
        found.append((name, seen[name]))
    return found


def state(versions: Versions, job: int) -> str:
    """`before` or `after`; anything else fails."""
    workspace = versions.workspace(scope_of(job), "usr_test")
    rows = fetch(workspace.table("a"))
    names = [dataset.name for dataset in workspace.datasets()]
    files = {entry.path: b"".join(workspace.read_file(entry.path)) for entry in workspace.files()}
    last = workspace.commit_at()
    if rows == rows_before(job):
        assert (names, files) == (["a"], {})
        assert last.message in ("Before", "Undo: After")
        return "before"
    assert rows == rows_after(job)
    assert (names, files) == (["a", "b"], {"note.txt": f"note {job}".encode()})
    assert last.message == "After"
    assert len(fetch(workspace.table("b"))) == 70
    return "after"


def leftovers(url: str, folder: Path) -> set[str]:
    """Blobs that are stored but named by no version and no commit, after the sweep had its turn."""
    with room(url, folder, days=10) as versions:
        versions.sweep()
    with room(url, folder, days=11) as versions:
        versions.sweep()
    database = Database(url)
    with database.read(EVERYWHERE) as tx:
        named = {row.after for row in tx.rows(sa.select(tables.changes.c.after))}
        for row in tx.rows(sa.select(tables.versions.c.manifest)):
            named |= unpack(row.manifest).blobs
        ledger = {row.blob for row in tx.rows(sa.select(tables.blobs.c.blob))}
    database.close()
    stored = set(FileBlobs(folder / "blobs").digests())
    assert ledger == stored
    return stored - named


def first_and_last(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """For quick runs: a point met many times is tried where it is met first and last."""
    last = dict(found)
    return [(name, number) for name, number in found if number in (1, last[name])]


@pytest.mark.timeout(900)
def test_a_commit_is_there_or_not(
    place: tuple[str, Path], effort: Callable[[int, int], int]
) -> None:
    url, folder = place
    outcomes: Counter[str] = Counter()
    with started(url, folder) as children:
        with room(url, folder) as versions:
            prepare(versions, 0)
        found = points(children, folder, operation="change", number=0)
        assert {name for name, _ in found} >= {
            "data.write.parts_written",
            "data.write.before_claim",
            "data.write.claimed",
            "data.write.part_stored",
            "data.write.recorded",
            "data.commit.started",
            "data.commit.before_row",
            "data.commit.before_head",
            "data.commit.before_end",
            "data.commit.done",
        }
        if effort(0, 1) == 0:
            found = first_and_last(found)
        with room(url, folder) as versions:
            for number, (point, occurrence) in enumerate(found, start=1):
                prepare(versions, number)
                ended = children.run(
                    operation="change", number=number, point=point, occurrence=occurrence
                )
                assert ended == -SIGKILL, point
                outcome = state(versions, number)
                assert outcome == ("after" if point == "data.commit.done" else "before"), point
                outcomes[outcome] += 1
            # The very same work succeeds afterwards, over whatever the dead process left.
            change(versions, 1)
            assert state(versions, 1) == "after"
    assert outcomes["before"] >= 12
    assert outcomes["after"] == 1
    assert leftovers(url, folder) == set()
    with room(url, folder, days=12) as versions:
        assert state(versions, 0) == "after"
        assert state(versions, 2) == "before"


def test_an_undo_is_there_or_not(place: tuple[str, Path]) -> None:
    url, folder = place
    with started(url, folder) as children, room(url, folder) as versions:
        for number in (0, 1):
            prepare(versions, number)
            change(versions, number)
        for point, occurrence in points(children, folder, operation="undo", number=0):
            ended = children.run(operation="undo", number=1, point=point, occurrence=occurrence)
            assert ended == -SIGKILL, point
            undone = point == "data.commit.done"
            assert state(versions, 1) == ("before" if undone else "after"), point
        assert state(versions, 1) == "before"


Rows = list[tuple[int, str]]
Marked = dict[int, str]


def marked(rows: Rows, marks: Marked) -> Rows:
    return [(i, marks.get(i, text)) for i, text in rows]


@dataclass(frozen=True)
class Move:
    """What stands on the main line before and after an operation, for a job that has diverged."""

    ready: Callable[[Versions, int], None]
    before: Callable[[int], Rows]
    after: Callable[[int], Rows]


def later(versions: Versions, job: int) -> None:
    diverge(versions, job)
    mark(versions, job, "main", 90, "later")


def undone(versions: Versions, job: int) -> None:
    diverge(versions, job)
    versions.workspace(scope_of(job), "usr_test").undo()


MOVES = {
    "merge": Move(diverge, rows_after, lambda job: marked(rows_after(job), {100: "on the side"})),
    "restore": Move(diverge, rows_after, rows_before),
    "redo": Move(undone, rows_before, rows_after),
    "undo rows": Move(
        later,
        lambda job: marked(rows_after(job), {90: "later"}),
        lambda job: marked(rows_before(job), {90: "later"}),
    ),
    "compact": Move(diverge, rows_after, rows_after),
}
WRITING = {"merge", "undo rows", "compact"}
"""The others only move pointers."""


@pytest.mark.parametrize("operation", list(MOVES))
def test_every_other_move_is_there_or_not(place: tuple[str, Path], operation: str) -> None:
    url, folder = place
    move = MOVES[operation]
    with started(url, folder) as children, room(url, folder) as versions:
        for number in (0, 1):
            move.ready(versions, number)
        found = points(children, folder, operation=operation, number=0)
        names = {name for name, _ in found}
        assert names >= {name for name in fault_names() if name.startswith("data.commit.")}
        assert ("data.write.part_stored" in names) == (operation in WRITING)
        workspace = versions.workspace(scope_of(1), "usr_test")
        head = workspace.branch().head
        for point, occurrence in found:
            ended = children.run(operation=operation, number=1, point=point, occurrence=occurrence)
            assert ended == -SIGKILL, point
            last = (point, occurrence) == found[-1]
            expected = move.after(1) if last else move.before(1)
            assert sorted(fetch(workspace.table("a"))) == sorted(expected), point
            assert (workspace.branch().head != head) == last, point
        assert found[-1][0] == "data.commit.done"
        # What the dead left behind is in nobody's way.
        change_again(versions, 1)
    assert leftovers(url, folder) == set()


def change_again(versions: Versions, job: int) -> None:
    before = fetch(versions.workspace(scope_of(job), "usr_test").table("a"))
    mark(versions, job, "main", 1, "again")
    after = fetch(versions.workspace(scope_of(job), "usr_test").table("a"))
    assert after == marked(before, {1: "again"})


def fault_names() -> set[str]:
    """Every fault point in the code of versions."""
    source = Path(versions_package.__file__).parent
    texts = (path.read_text() for path in source.glob("*.py"))
    return {name for text in texts for name in re.findall(r'\bfault\("([a-z_.]+)"\)', text)}


def test_the_moves_meet_every_fault_point_there_is(place: tuple[str, Path]) -> None:
    """A new fault point that no operation here reaches would never be died at."""
    url, folder = place
    met: set[str] = set()
    with started(url, folder) as children, room(url, folder) as versions:
        prepare(versions, 0)
        for operation, days in (("change", 0), ("sweep", 3), ("sweep", 6)):
            versions.write(scope_of(0), "SELECT i * 5 AS loose FROM range(120) r(i)")
            met |= {
                n for n, _ in points(children, folder, operation=operation, number=0, days=days)
            }
    assert met == fault_names()
    assert len(met) >= 13


def test_a_sweep_that_dies_harms_nothing(place: tuple[str, Path]) -> None:
    url, folder = place
    with started(url, folder) as children, room(url, folder) as versions:
        prepare(versions, 0)
        change(versions, 0)
        loose = "SELECT i * 3 AS loose FROM range(120) r(i)"
        versions.write(scope_of(0), loose)
        found = points(children, folder, operation="sweep", number=0, days=1)
        assert ("data.sweep.deleted", 3) in found
        for point, occurrence in found:
            versions.write(scope_of(0), loose)
            ended = children.run(
                operation="sweep", number=0, point=point, occurrence=occurrence, days=1
            )
            assert ended == -SIGKILL, point
            assert state(versions, 0) == "after", point
            again = versions.write(scope_of(0), loose)
            assert len(fetch(versions.table(scope_of(0), again.id))) == 120, point
    assert leftovers(url, folder) == set()
