"""A versions room of its own for one test, and short ways to fill and read it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from steward.core import Ids, MovableClock
from steward.store import Database, FileBlobs, Scope
from steward.tables.engine import Limits
from steward.tables.table import Table
from steward.versions import Draft, Versions, Workspace
from steward.versions._write import Sizes

SMALL = Sizes(part_rows=50, small_part_rows=4)
SCOPE = Scope("org_test", "prj_test")
LIMITS = Limits(memory_mb=512, threads=2, temp_mb=2_000)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Kit:
    database: Database
    blobs: FileBlobs
    clock: MovableClock
    versions: Versions
    workspace: Workspace
    scope: Scope = SCOPE

    def put(self, name: str, query: str, branch: str = "main", **options: Any) -> str:
        """Writes a SELECT and commits it as a dataset; returns the version's id."""
        version = self.versions.write(self.scope, query, **options)
        self.workspace.commit(Draft(f"Put {name}", datasets={name: version.id}), branch)
        return version.id

    def edit(self, name: str, *edits: Any, branch: str = "main") -> str:
        head = self.workspace.branch(branch).head
        before = self.workspace.dataset(name, head).version
        after = self.versions.edit(self.scope, before, *edits).version
        draft = Draft(f"Edit {name}", datasets={name: after.id})
        self.workspace.commit(draft, branch, base=head)
        return after.id

    def rows(self, name: str, reference: str = "main") -> list[Row]:
        return fetch(self.workspace.table(name, reference))

    def version_rows(self, version: str) -> list[Row]:
        return fetch(self.versions.table(self.scope, version))

    def stored(self) -> set[str]:
        return set(self.blobs.digests())


@cache
def _reader() -> duckdb.DuckDBPyConnection:
    """One connection for all reading: opening one takes longer than most reads of a test."""
    connection = duckdb.connect(":memory:", config={"threads": 2})
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def fetch(table: Table) -> list[Row]:
    return _reader().execute(f"SELECT * FROM {table.source}").fetchall()


@contextmanager
def opened(
    folder: Path, template: Path, url: str | None, clock: MovableClock, sizes: Sizes = SMALL
) -> Iterator[Kit]:
    """On PostgreSQL at `url`, or on a copy of a migrated SQLite home."""
    if url is None:
        home = folder / "home"
        shutil.copytree(template, home)
        url = f"sqlite:///{home / 'steward.db'}"
    database = Database(url)
    blobs = FileBlobs(folder / "blobs")
    versions = Versions(
        database, blobs, clock, Ids(clock), folder / "scratch", sizes=sizes, limits=LIMITS
    )
    try:
        yield Kit(database, blobs, clock, versions, versions.workspace(SCOPE, "usr_test"))
    finally:
        database.close()
