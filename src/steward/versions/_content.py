"""Versions as content: written, edited, read, compared; nothing here knows branches or commits."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Final

import duckdb
import sqlalchemy as sa

from steward.core import Clock, Conflict, NotFound, copied, fault
from steward.store import Database, Scope, Transaction
from steward.tables import DEFAULT_LIMITS, Limits, session
from steward.versions import _tables as tables
from steward.versions._build import Builder
from steward.versions._diff import Comparison
from steward.versions._edit import Edited, editor
from steward.versions._manifest import Layout, Manifest, unpack
from steward.versions._parts import Parts
from steward.versions._plan import Plan, Planner
from steward.versions._rows import Clash, merge_rows
from steward.versions._write import Sizes, clear_failures, laid_down
from steward.versions.edits import Edit
from steward.versions.results import Version

_CACHED_MANIFESTS: Final = 128


class Content:
    def __init__(
        self,
        database: Database,
        parts: Parts,
        clock: Clock,
        sizes: Sizes,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._database = database
        self._clock = clock
        self._sizes = sizes
        self._limits = limits
        self.parts = parts
        # Manifests never change, so they may be remembered for as long as there is room.
        self._load = lru_cache(_CACHED_MANIFESTS)(self._load_uncached)

    @contextmanager
    def session(
        self, connection: duckdb.DuckDBPyConnection | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """The caller's DuckDB session, or a fresh one."""
        if connection is not None:
            yield connection
            return
        with session(self._limits, self.parts.scratch) as fresh:
            yield fresh

    def described(self, scope: Scope, version_id: str) -> Version:
        return described(self._load(scope, version_id))

    def manifest(self, scope: Scope, version_id: str) -> Manifest:
        found = self._load(scope, version_id)
        if found.stays is not None:
            raise Conflict(
                f"The rows of this dataset stay at the connection {found.stays.connection!r}. Only queries, previews "
                "and profiles run there. For anything else load a copy of the table "
                f"{found.stays.table!r}: load_from_connection without `stay`.",
                code="stays-elsewhere",
            )
        return found

    def register(self, scope: Scope, manifest: Manifest) -> Version:
        """A version of a table that stays where it is."""
        with self._database.write(scope) as tx:
            self._insert(tx, manifest, self._clock.now())
        return described(manifest)

    def write(
        self,
        scope: Scope,
        query: str,
        layout: Layout,
        *,
        rows_of: str | None,
        connection: duckdb.DuckDBPyConnection | None,
    ) -> Manifest:
        like = None if rows_of is None else self._kept(scope, rows_of)
        with self.session(connection) as duck, self.parts.folder() as folder:
            with clear_failures():
                built = Builder(duck, self.parts.locate, folder, self._sizes).write(
                    query, layout, like
                )
            return self._stored(scope, built)

    def edit(
        self,
        scope: Scope,
        version_id: str,
        edits: Sequence[Edit],
        *,
        connection: duckdb.DuckDBPyConnection | None,
    ) -> tuple[Manifest, Edited]:
        manifest = self._kept(scope, version_id)
        with self.session(connection) as duck, self.parts.folder() as folder, clear_failures():
            with editor(duck, manifest, self.parts.locate, folder, self._sizes) as work:
                planner = Planner(duck, manifest, self.parts.locate, work.lay)
                plan = sum((planner.plan(edit) for edit in edits), Plan())
                edited = work.apply(plan)
            return self._stored(scope, edited), edited

    def compact(self, scope: Scope, version_id: str) -> Manifest:
        manifest = self._kept(scope, version_id)
        with self.session() as duck, self.parts.folder() as folder:
            built = Builder(duck, self.parts.locate, folder, self._sizes).compact(manifest)
            return self._stored(scope, built)

    def merge_rows(self, scope: Scope, base: str, ours: str, theirs: str) -> Manifest | Clash:
        manifests = [self._kept(scope, version_id) for version_id in (base, ours, theirs)]
        with self.session() as duck, self.parts.folder() as folder:
            with editor(duck, manifests[1], self.parts.locate, folder, self._sizes) as work:
                merged = merge_rows(work, manifests[0], manifests[2])
                if isinstance(merged, Clash):
                    return merged
            return self._stored(scope, merged)

    @contextmanager
    def comparison(
        self, scope: Scope, before: str, after: str, key: Sequence[str] | None
    ) -> Iterator[Comparison]:
        old, new = self.manifest(scope, before), self.manifest(scope, after)
        with self.session() as duck, ExitStack() as stack:

            def lay(query: str) -> str:
                return stack.enter_context(laid_down(duck, query))

            asked = None if key is None else tuple(key)
            yield Comparison(duck, old, new, self.parts.locate, lay, asked)

    def _kept(self, scope: Scope, version_id: str) -> Manifest:
        """A version that new ones will share parts with: renewed, so that the sweep leaves it alone."""
        manifest = self.manifest(scope, version_id)
        with self._database.write(scope) as tx:
            now = self._clock.now()
            if not tables.renew(tx, tables.versions, tables.versions.c.id, [version_id], now):
                self._load.cache_clear()
                raise _missing(version_id)
        return manifest

    def _stored(self, scope: Scope, built: Edited) -> Manifest:
        """Makes the files durable, then the manifest that names them."""
        if built.files:
            self.parts.store(scope, built.files)
        with self._database.write(scope) as tx:
            self._insert(tx, built.manifest, self._clock.now())
        fault("data.write.recorded")
        return built.manifest

    def _insert(self, tx: Transaction, manifest: Manifest, now: datetime) -> None:
        row = {
            "id": manifest.id,
            "rows": manifest.rows,
            "bytes": manifest.size,
            "columns": [[column.name, column.type] for column in manifest.columns],
            "manifest": manifest.packed(),
            "created_at": now,
            "touched_at": now,
        }
        tables.upsert(tx, tables.versions, [row], renew={"touched_at": now})

    def _load_uncached(self, scope: Scope, version_id: str) -> Manifest:
        with self._database.read(scope) as tx:
            row = tx.first(
                sa.select(tables.versions.c.manifest).where(tables.versions.c.id == version_id)
            )
        if row is None:
            raise _missing(version_id)
        return unpack(row.manifest)


def described(manifest: Manifest) -> Version:
    return copied(
        Version,
        manifest,
        bytes=manifest.size,
        columns=manifest.public_columns,
        parts=len(manifest.segments),
        patched_rows=sum(s.patch.rows for s in manifest.segments if s.patch),
    )


def _missing(version_id: str) -> NotFound:
    return NotFound(f"There is no version {version_id[:12]}… in this project.")
