"""The sweep: removes versions, tree nodes and parts that nothing refers to and nobody has used for a while.

What a live commit, a tag, a pin or another room's `digest` column names is kept. Removal is in two steps: an unused
blob is doomed first and deleted by a later sweep. Whoever uses a doomed blob again renews its row in the ledger, and
the file is deleted only in a transaction that holds the row, so neither can overtake the other.
"""

import shutil
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from steward.core import Clock, fault
from steward.store import EVERYWHERE, Database, Scope, Transaction, metadata
from steward.versions import _tables as tables
from steward.versions._history import load_nodes
from steward.versions._manifest import unpack
from steward.versions._parts import WRITING, Parts
from steward.versions._retention import Retention, live_commits
from steward.versions._tree import EMPTY, reachable
from steward.versions.results import SweepReport

_BATCH: Final = 50


class Sweeper:
    def __init__(
        self, database: Database, clock: Clock, parts: Parts, retention: Retention
    ) -> None:
        self._database = database
        self._clock = clock
        self._parts = parts
        self._retention = retention

    def sweep(self, grace: timedelta, hold: timedelta) -> SweepReport:
        """Removes what has been unused for `grace`; parts go once they were doomed for `hold`."""
        now = self._clock.now()
        cutoff = now - grace
        versions = nodes = 0
        files: set[str] = set()
        for scope in self._projects():
            self._retention.release_unreachable(scope, cutoff)
            gone, lost, named = self._sweep_project(scope, cutoff)
            versions, nodes, files = versions + gone, nodes + lost, files | named
        unused = self._unused_blobs(cutoff, files)
        doomed = self._doom(unused, cutoff, now)
        fault("data.sweep.doomed")
        blobs, size = self._delete(unused, cutoff, now - hold)
        return SweepReport(versions, doomed, blobs, size, nodes, self._sweep_scratch(cutoff))

    def _projects(self) -> list[Scope]:
        found: set[tuple[str, str]] = set()
        with self._database.read(EVERYWHERE) as tx:
            for table in (tables.workspaces, tables.versions):
                pairs = tx.rows(sa.select(table.c.org_id, table.c.project_id).distinct())
                found |= {(row.org_id, row.project_id) for row in pairs}
        return [Scope(*pair) for pair in sorted(found)]

    def _sweep_project(self, scope: Scope, cutoff: datetime) -> tuple[int, int, set[str]]:
        """Versions and nodes removed, and the blobs of files that are in use."""
        with self._database.read(scope) as tx:
            commits = live_commits(tx)
            roots = {row.tree_id for row in commits.values()}
            nodes = reachable(roots, lambda ids: load_nodes(tx, scope.project_id, ids))
            named = {
                (kind, target)
                for node in nodes.values()
                for (kind, _), target in (node.entries or {}).items()
            }
            named |= _named_by_changes(tx, set(commits))
            pinned = tx.rows(sa.select(tables.pins.c.kind, tables.pins.c.target))
            named |= {("dataset", pin.target) for pin in pinned if pin.kind == "version"}
            old_versions = _older(tx, tables.versions, cutoff)
            old_nodes = _older(tx, tables.trees, cutoff)
        versions = [i for i in old_versions if ("dataset", i) not in named]
        lost = [i for i in old_nodes if i not in nodes and i != EMPTY.id]
        gone = self._remove(scope, tables.versions, versions, cutoff)
        return (
            gone,
            self._remove(scope, tables.trees, lost, cutoff),
            {target for kind, target in named if kind == "file"},
        )

    def _remove(self, scope: Scope, table: sa.Table, ids: Sequence[str], cutoff: datetime) -> int:
        removed = 0
        for start in range(0, len(ids), 500):
            chunk = ids[start : start + 500]
            with self._database.write(scope) as tx:
                # A commit that has come to use one meanwhile has renewed it; then it stays.
                removed += tx.purge(
                    sa.delete(table).where(table.c.id.in_(chunk), table.c.touched_at < cutoff)
                )
        return removed

    def _unused_blobs(self, cutoff: datetime, files: set[str]) -> set[str]:
        with self._database.read(EVERYWHERE) as tx:
            statement = sa.select(tables.blobs.c.blob).where(tables.blobs.c.touched_at < cutoff)
            unused = {row.blob for row in tx.rows(statement)} - files
            if not unused:
                return unused
            for digest in _held_blobs(tx):
                unused.discard(digest)
            for row in tx.execute(sa.select(tables.versions.c.manifest)):
                unused -= unpack(row.manifest).blobs
        return unused

    def _doom(self, unused: set[str], cutoff: datetime, now: datetime) -> int:
        doomed = 0
        listed = sorted(unused)
        for start in range(0, len(listed), 500):
            statement = sa.update(tables.blobs).where(
                tables.blobs.c.blob.in_(listed[start : start + 500]),
                tables.blobs.c.touched_at < cutoff,
                tables.blobs.c.doomed_at.is_(None),
            )
            with self._database.write(EVERYWHERE) as tx:
                doomed += tx.execute(statement.values(doomed_at=now)).rowcount
        return doomed

    def _delete(self, unused: set[str], cutoff: datetime, doomed_by: datetime) -> tuple[int, int]:
        with self._database.read(EVERYWHERE) as tx:
            statement = sa.select(tables.blobs.c.blob, tables.blobs.c.bytes)
            rows = tx.rows(statement.where(tables.blobs.c.doomed_at <= doomed_by))
        due = sorted((row.blob, row.bytes) for row in rows if row.blob in unused)
        count = size = 0
        for start in range(0, len(due), _BATCH):
            with self._database.write(EVERYWHERE) as tx:
                for digest, length in due[start : start + _BATCH]:
                    if self._delete_one(tx, digest, cutoff):
                        count, size = count + 1, size + length
        return count, size

    def _delete_one(self, tx: Transaction, digest: str, cutoff: datetime) -> bool:
        taken = tx.execute(
            sa.delete(tables.blobs).where(
                tables.blobs.c.blob == digest,
                tables.blobs.c.doomed_at.is_not(None),
                tables.blobs.c.touched_at < cutoff,
            )
        )
        if not taken.rowcount:
            return False
        fault("data.sweep.before_delete")
        # Inside the transaction on purpose: a writer that claims this blob waits until the file is gone.
        self._parts.forget(digest)
        fault("data.sweep.deleted")
        return True

    def _sweep_scratch(self, cutoff: datetime) -> int:
        """Folders that a crashed writer left behind, and local copies that nobody asks for."""
        removed = self._parts.trim_copies(cutoff.timestamp())
        for pattern in (f"{WRITING}*", "steward-duckdb-*"):
            for folder in self._parts.scratch.glob(pattern):
                if _modified(folder) < cutoff.timestamp():
                    shutil.rmtree(folder, ignore_errors=True)
                    removed += 1
        return removed


def _named_by_changes(tx: Transaction, commits: set[str]) -> set[tuple[str, str]]:
    """What live commits replaced or brought: undoing the oldest of them must stay possible."""
    columns = (tables.changes.c[name] for name in ("commit_id", "kind", "before", "after"))
    return {
        (row.kind, target)
        for row in tx.execute(sa.select(*columns))
        if row.commit_id in commits
        for target in (row.before, row.after)
        if target is not None
    }


def _held_blobs(tx: Transaction) -> Iterable[str]:
    """Blobs that pins and other rooms' tables name: any column called `digest` holds what it names."""
    for row in tx.rows(sa.select(tables.pins.c.target).where(tables.pins.c.kind == "blob")):
        yield row.target
    for table in metadata.sorted_tables:
        for column in table.columns:
            if column.name == "digest" or column.name.endswith("_digest"):
                for row in tx.execute(sa.select(column).where(column.is_not(None)).distinct()):
                    yield row[0]


def _older(tx: Transaction, table: sa.Table, cutoff: datetime) -> list[str]:
    statement = sa.select(table.c.id).where(table.c.touched_at < cutoff).order_by(table.c.id)
    return [row.id for row in tx.rows(statement)]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
