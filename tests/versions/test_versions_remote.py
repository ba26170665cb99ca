"""Parts in storage that is not a folder here: fetched once, forgotten when unused; and writers in many processes."""

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.core import Ids, MovableClock, SystemClock
from steward.core.errors import NotFound
from steward.store import Blob, Database, FileBlobs, migrate
from steward.versions import Draft, VersionConflict, Versions
from steward.versions.edits import Update
from tests.versions.versions_kit import SCOPE, SMALL, fetch, opened

pytestmark = pytest.mark.every_database

ROOT = Path(__file__).parents[2]


class FarBlobs:
    """A blob store without paths, which counts what it is asked for."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.reads = 0

    def put(self, chunks: Iterable[bytes], *, max_bytes: int | None = None) -> Blob:
        data = b"".join(chunks)
        digest = hashlib.sha256(data).hexdigest()
        self.held[digest] = data
        return Blob(digest, len(data))

    def read(self, digest: str) -> Iterator[bytes]:
        self.reads += 1
        if digest not in self.held:
            raise NotFound("no such blob")
        return iter([self.held[digest]])

    def size(self, digest: str) -> int | None:
        return len(self.held[digest]) if digest in self.held else None

    def delete(self, digest: str) -> None:
        self.held.pop(digest, None)

    def digests(self) -> Iterator[str]:
        return iter(sorted(self.held))


def test_parts_come_from_far_away_once(
    home_template: Path, tmp_path: Path, clock: MovableClock
) -> None:
    with opened(tmp_path, home_template, None, clock) as kit:
        far = FarBlobs()
        here, there = (
            Versions(kit.database, far, clock, Ids(clock), tmp_path / name, sizes=SMALL)
            for name in ("here", "there")
        )
        version = here.write(SCOPE, "SELECT i AS id FROM range(120) t(i)").id
        version = here.edit(SCOPE, version, Update("id = 7", {"id": "-7"})).version.id
        assert len(fetch(here.table(SCOPE, version))) == 120
        assert far.reads == 0
        expected = [(-7 if i == 7 else i,) for i in range(120)]
        assert fetch(there.table(SCOPE, version)) == expected
        assert fetch(there.table(SCOPE, version)) == expected
        assert far.reads == 4
        clock.advance(days=3650)
        there.sweep()
        assert fetch(here.table(SCOPE, version)) == expected
        clock.advance(hours=1)
        report = there.sweep()
        assert report.blobs == 4
        assert far.held == {}
        assert not list((tmp_path / "there" / "parts").glob("??/*"))


WORKER = """
import sys
from pathlib import Path
from tests.versions.test_versions_remote import count_up
count_up(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
"""


@contextmanager
def connected(url: str, folder: Path) -> Iterator[Versions]:
    """A versions room of this process on somebody's database and blobs."""
    clock = SystemClock()
    database = Database(url)
    blobs = FileBlobs(folder / "blobs")
    try:
        yield Versions(database, blobs, clock, Ids(clock), folder / "scratch")
    finally:
        database.close()


def count_up(url: str, folder: Path, times: int) -> None:
    """Adds one to a number again and again, starting over whenever somebody else was faster."""
    with connected(url, folder) as versions:
        workspace = versions.workspace(SCOPE, "usr_test")
        done = 0
        while done < times:
            head = workspace.branch().head
            before = workspace.dataset("n", head).version
            after = versions.edit(SCOPE, before, Update("true", {"n": "n + 1"})).version.id
            try:
                workspace.commit(Draft("Count", datasets={"n": after}), base=head)
            except VersionConflict:
                continue
            done += 1


@pytest.mark.timeout(300)
def test_no_count_is_lost_among_processes(database_url: str | None, tmp_path: Path) -> None:
    url = database_url or f"sqlite:///{tmp_path / 'steward.db'}"
    with connected(url, tmp_path) as versions:
        if database_url is None:
            database = Database(url)
            migrate(database)
            database.close()
        workspace = versions.workspace(SCOPE, "usr_test")
        start = versions.write(SCOPE, "SELECT 0 AS n")
        workspace.commit(Draft("Start", datasets={"n": start.id}))
        command = [sys.executable, "-c", WORKER, url, str(tmp_path), "5"]
        workers = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
        assert [worker.wait(250) for worker in workers] == [0, 0, 0]
        assert fetch(workspace.table("n")) == [(15,)]
        assert len(workspace.history("n", limit=100)) == 16
