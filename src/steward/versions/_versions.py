"""The versions of one installation: content of datasets, the workspaces that name it, and its upkeep."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import duckdb

from steward.core import Clock, Ids, Invalid
from steward.store import BlobStore, Database, EventLog, Scope, Transaction
from steward.tables import DEFAULT_LIMITS, Column, Limits, Table, quote
from steward.versions._branches import DEFAULT_WORKSPACE, Branches
from steward.versions._content import Content, described
from steward.versions._delta import Exported, export_delta
from steward.versions._edit import Counts
from steward.versions._iceberg import conversions, export_iceberg
from steward.versions._manifest import Layout, Manifest, Stat, Stays, StoredColumn
from steward.versions._parquet_joining import export_parquet
from steward.versions._parts import Parts
from steward.versions._pins import Pins
from steward.versions._read import Reading, select, slice_of, table
from steward.versions._record import Recorder
from steward.versions._retention import Retention
from steward.versions._storage import ROW
from steward.versions._sweep import Sweeper
from steward.versions._viewing import Rooms, View
from steward.versions._workspace import Workspace
from steward.versions._write import Sizes
from steward.versions.diffs import DiffPage, VersionDiff
from steward.versions.edits import Edit
from steward.versions.results import FileEntry, Role, SweepReport, Version

DEFAULT_SIZES: Final = Sizes()
PLAIN: Final = Layout()
GRACE: Final = timedelta(days=1)
HOLD: Final = timedelta(minutes=15)
MAX_PAGE: Final = 10_000
_KEPT_DIFFERENCES: Final = 500


@dataclass(frozen=True)
class EditOutcome:
    version: Version
    counts: Counts
    written_bytes: int


class Versions:
    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        clock: Clock,
        ids: Ids,
        scratch: Path,
        *,
        events: EventLog | None = None,
        sizes: Sizes = DEFAULT_SIZES,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """`scratch` should be on the same file system as the blobs: finished parts are moved, not copied."""
        self._clock = clock
        self._parts = Parts(database, blobs, clock, scratch)
        self._content = Content(database, self._parts, clock, sizes, limits)
        self._branches = Branches(database, clock, ids)
        recorder = Recorder(clock, ids, self._parts, events)
        self._rooms = Rooms(database, blobs, self._content, self._branches, recorder)
        self._retention = Retention(database, clock)
        self._sweeper = Sweeper(database, clock, self._parts, self._retention)
        self._pins = Pins(database, clock, self._parts)
        self._differences: dict[tuple[Scope, str, str, tuple[str, ...] | None], VersionDiff] = {}

    def workspace(
        self,
        scope: Scope,
        author: str,
        *,
        run_id: str | None = None,
        name: str = DEFAULT_WORKSPACE,
    ) -> Workspace:
        """The project's workspace, seen and changed by one author."""
        workspace_id = self._branches.workspace(scope, name, author)
        return Workspace(self._rooms, scope, workspace_id, author, run_id)

    def view(self, scope: Scope, workspace_id: str) -> View:
        return View(self._rooms, scope, workspace_id)

    def write(
        self,
        scope: Scope,
        query: str,
        *,
        layout: Layout = PLAIN,
        rows_of: str | None = None,
        connection: duckdb.DuckDBPyConnection | None = None,
    ) -> Version:
        """Stores the rows of a SELECT as a version that no branch has yet.

        `rows_of` says that row n of the result is row n of that version, changed: rows keep their identity, and
        parts without a change are not stored again. Runs in the caller's session (see `engine`) where the SELECT needs it.
        """
        return described(
            self._content.write(scope, query, layout, rows_of=rows_of, connection=connection)
        )

    def edit(
        self,
        scope: Scope,
        version: str,
        *edits: Edit,
        connection: duckdb.DuckDBPyConnection | None = None,
    ) -> EditOutcome:
        """Changes some rows; all edits see the version as it is, none sees another's outcome."""
        manifest, edited = self._content.edit(scope, version, edits, connection=connection)
        written = sum(file.bytes for file in edited.files)
        return EditOutcome(described(manifest), edited.counts, written)

    def compact(self, scope: Scope, version: str) -> Version:
        """The same rows laid out well: no patches, no small parts, in the declared order."""
        return described(self._content.compact(scope, version))

    def get(self, scope: Scope, version: str) -> Version:
        return self._content.described(scope, version)

    def register(self, scope: Scope, columns: Sequence[Column], stays: Stays) -> Version:
        """A table that stays where it is, as a version that no branch has yet."""
        stored = tuple(StoredColumn(each.name, each.type, each.name, each.type) for each in columns)
        return self._content.register(scope, Manifest(stored, (), stays=stays))

    def table(
        self,
        scope: Scope,
        version: str,
        name: str = "data",
        *,
        ordered: bool = True,
        within: Mapping[str, tuple[Stat, Stat]] | None = None,
    ) -> Table:
        """A version as operations take it; `within` leaves out parts whose statistics exclude a range."""
        manifest = self._content.manifest(scope, version)
        return table(manifest, self._parts.locate, name, within=within, ordered=ordered)

    def page(self, scope: Scope, version: str, offset: int, limit: int) -> Table:
        """Some consecutive rows with their ids in a first column; reads only the parts that hold them."""
        if offset < 0 or not 1 <= limit <= MAX_PAGE:
            raise Invalid(f"A page holds 1 to {MAX_PAGE:,} rows and starts at 0 or later.")
        manifest = self._content.manifest(scope, version)
        chosen, skip = slice_of(manifest, offset, limit)
        rows = select(manifest, self._parts.locate, Reading(only=chosen, ids=True))
        names = ", ".join(quote(column.name) for column in manifest.public_columns)
        source = f"(SELECT {ROW}, {names} FROM ({rows}) LIMIT {limit:d} OFFSET {skip:d})"
        held = max(min(limit, manifest.rows - offset), 0)
        return Table("page", source, (Column(ROW, "BIGINT"), *manifest.public_columns), held)

    def diff(
        self, scope: Scope, before: str, after: str, *, key: Sequence[str] | None = None
    ) -> VersionDiff:
        """What changed between two versions, counted; `key=()` compares by row identity or content."""
        # Versions never change, so what differs between two is counted once.
        asked = (scope, before, after, None if key is None else tuple(key))
        found = self._differences.get(asked)
        if found is None:
            with self._content.comparison(scope, before, after, key) as comparison:
                found = comparison.summary()
            self._differences[asked] = found
            while len(self._differences) > _KEPT_DIFFERENCES:
                self._differences.pop(next(iter(self._differences)), None)
        return found

    def diff_rows(
        self,
        scope: Scope,
        before: str,
        after: str,
        *,
        key: Sequence[str] | None = None,
        kind: Role | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> DiffPage:
        """The differing rows, page by page, changed cells named."""
        with self._content.comparison(scope, before, after, key) as comparison:
            return comparison.page(kind, limit, offset)

    def export_delta(self, scope: Scope, version: str, target: Path, name: str) -> Exported:
        """A Delta table over the same Parquet files."""
        manifest = self._content.manifest(scope, version)
        with self._content.session() as connection:
            return export_delta(
                connection,
                manifest,
                self._parts.locate,
                target,
                name=name,
                now=self._clock.now(),
            )

    def iceberg_conversions(self, scope: Scope, version: str) -> dict[str, tuple[str, str]]:
        """Columns whose type Iceberg does not have, each with its type and what it becomes."""
        return conversions(self._content.manifest(scope, version))

    def export_iceberg(
        self, scope: Scope, version: str, target: Path, name: str, location: str
    ) -> tuple[Exported, str]:
        """An Iceberg table over the same Parquet files, as it will be at `location`; also its metadata's address."""
        manifest = self._content.manifest(scope, version)
        with self._content.session() as connection:
            return export_iceberg(
                connection, manifest, self._parts.locate, target, name=name, location=location
            )

    def export_parquet(self, scope: Scope, version: str, target: Path) -> None:
        """The version as one Parquet file, in the order of its rows."""
        manifest = self._content.manifest(scope, version)
        with self._content.session() as connection:
            export_parquet(connection, manifest, self._parts.locate, target)

    def put_file(self, scope: Scope, path: str, chunks: Iterable[bytes]) -> FileEntry:
        """Stores a file's bytes, to be named by a commit."""
        file = self._parts.spool(scope, chunks)
        return FileEntry(path, file.digest, file.bytes)

    def adopt_file(self, scope: Scope, source: Path) -> FileEntry:
        """Takes over a finished file of the scratch folder, to be named by a commit or within a day."""
        file = self._parts.adopt(scope, source)
        return FileEntry(source.name, file.digest, file.bytes)

    def join_files(self, scope: Scope, path: str, digests: Sequence[str]) -> FileEntry:
        """One file of several stored ones, in order, to be named by a commit."""
        file = self._parts.join(scope, digests)
        return FileEntry(path, file.digest, file.bytes)

    def local_file(self, digest: str) -> Path:
        """Where a stored file can be read on this machine; one in remote storage is fetched once."""
        return self._parts.locate(digest)

    def pin(
        self,
        scope: Scope,
        holder: str,
        reference: str,
        *,
        commits: Sequence[str] = (),
        versions: Sequence[str] = (),
        blobs: Sequence[str] = (),
    ) -> None:
        """Holds things for a journal entry, a run, …; nothing pinned is ever swept."""
        self._pins.pin(scope, holder, reference, commits=commits, versions=versions, blobs=blobs)

    def pin_within(
        self, tx: Transaction, holder: str, reference: str, *, commits: Sequence[str] = ()
    ) -> None:
        """Holds commits in a transaction of the caller."""
        self._pins.pin_within(tx, holder, reference, commits=commits)

    def unpin(self, scope: Scope, holder: str, reference: str) -> int:
        return self._pins.unpin(scope, holder, reference)

    def unpin_runs(self, tx: Transaction, run_ids: Sequence[str]) -> None:
        """Lets go of what runs held that are about to be removed."""
        self._pins.unpin_runs(tx, run_ids)

    def due(self, scope: Scope, older_than: datetime) -> tuple[int, datetime | None]:
        """How many commits `expire` would let go, and when the oldest of them was made."""
        return self._retention.due(scope, older_than, 1)

    def expire(self, scope: Scope, older_than: datetime, *, keep_last: int = 1) -> int:
        """Lets go of the data of old commits; heads, tags, pins and branching points are kept."""
        return self._retention.expire(scope, older_than, keep_last)

    def sweep(self, *, grace: timedelta = GRACE, hold: timedelta = HOLD) -> SweepReport:
        """Removes what nothing refers to, in all projects; safe to run beside any work."""
        return self._sweeper.sweep(grace, hold)
