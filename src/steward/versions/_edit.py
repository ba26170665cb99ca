"""Editing a version: the next manifest, with new files only for what changed.

Each segment that an edit touches gets a patch, or is rewritten when the patch would cover much of it. Rows that arrive
go to the end, together with a small tail, so that many small inserts do not leave many small parts.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import duckdb

from steward.core import Invalid
from steward.tables import quote
from steward.versions._manifest import Manifest, Patch, RowIds, Segment, Stats
from steward.versions._parts import NewFile
from steward.versions._plan import Plan
from steward.versions._read import Locate, Reading, patches, row_ids, select
from steward.versions._storage import GONE, KEY, POSITION, ROW, SEGMENT, encoded
from steward.versions._write import (
    Sizes,
    copy_one,
    cuts,
    laid_down,
    measured_stats,
    part_rows,
    write_parts,
)

# Ids of rows written with the table count from 0; ids of rows that arrive later live above this. All stay
# below 2 ** 53, so that a browser can hold them as numbers.
_ARRIVALS: Final = 1 << 52
KEY_VIOLATION: Final = "key-violation"


@dataclass(frozen=True)
class Counts:
    updated: int = 0
    removed: int = 0
    inserted: int = 0


@dataclass(frozen=True)
class Edited:
    manifest: Manifest
    files: tuple[NewFile, ...]
    counts: Counts


@dataclass(frozen=True)
class _Touch:
    rows: int
    gone: int


@dataclass
class Editor:
    """Applies one plan to one manifest; every file it writes is listed in `files`."""

    connection: duckdb.DuckDBPyConnection
    manifest: Manifest
    locate: Locate
    folder: Path
    sizes: Sizes
    stack: ExitStack
    files: list[NewFile] = field(default_factory=list)
    touched: str = ""
    touches: dict[int, _Touch] = field(default_factory=dict)

    def lay(self, query: str) -> str:
        return self.stack.enter_context(laid_down(self.connection, query))

    def apply(self, plan: Plan, arriving_ids: bool = False) -> Edited:
        if plan.touched:
            self._note_touches(plan)
        arriving = self.lay(_union(plan.arriving)) if plan.arriving else None
        self._check_key(arriving)
        segments = self._changed_segments()
        inserted = 0
        if arriving is not None:
            inserted = _count(self.connection, arriving)
            segments = self._append(segments, arriving, inserted, arriving_ids)
        removed = sum(touch.gone for touch in self.touches.values())
        updated = sum(touch.rows for touch in self.touches.values()) - removed
        counts = Counts(updated, removed, inserted)
        if counts == Counts():
            return Edited(self.manifest, (), counts)
        return Edited(self.manifest.with_segments(tuple(segments)), tuple(self.files), counts)

    def _note_touches(self, plan: Plan) -> None:
        self.touched = self.lay(f"{_union(plan.touched)} ORDER BY {SEGMENT}, {POSITION}")
        rows = self.connection.execute(
            f"SELECT {SEGMENT}, count(*), count(*) FILTER ({GONE}), count(DISTINCT {POSITION}) "
            f"FROM {self.touched} GROUP BY 1 ORDER BY 1"
        ).fetchall()
        if any(number != distinct for _, number, _, distinct in rows):
            raise Invalid("Two parts of the edit change the same row; say once what it shall be.")
        self.touches = {segment: _Touch(number, gone) for segment, number, gone, _ in rows}

    def _check_key(self, arriving: str | None) -> None:
        """A declared key stays unique and filled; looks only at rows that are new or changed."""
        key = [c for c in self.manifest.columns if c.name in self.manifest.layout.key]
        if not key or not (self.touches or arriving):
            return
        names = ", ".join(quote(column.stored_name) for column in key)
        sources = [f"SELECT {names} FROM {arriving}"] if arriving else []
        if self.touches:
            sources.append(f"SELECT {names} FROM {self.touched} WHERE NOT {GONE}")
        fresh = self.lay(_union(sources))
        empty = " OR ".join(f"{quote(column.stored_name)} IS NULL" for column in key)
        found = self.connection.execute(
            f"SELECT (SELECT count(*) FROM {fresh} WHERE {empty}), "
            f"(SELECT count(*) FROM (SELECT 1 FROM {fresh} GROUP BY {names} HAVING count(*) > 1))"
        ).fetchone() or (0, 0)
        clashes = found[1] or self._clashes(key_names=[c.name for c in key], fresh=fresh)
        if found[0] or clashes:
            raise Invalid(
                f"The edit would leave {found[0]} row(s) without key and {clashes} key(s) twice; "
                f"the key of this dataset is {', '.join(c.name for c in key)}.",
                code=KEY_VIOLATION,
            )

    def _clashes(self, key_names: Sequence[str], fresh: str) -> int:
        columns = [c for c in self.manifest.columns if c.name in key_names]
        fields = ", ".join(
            f"{encoded(c, f'o.{quote(c.name)}')} AS {quote(c.stored_name)}" for c in columns
        )
        names = ", ".join(quote(column.stored_name) for column in columns)
        reading = Reading(columns=tuple(key_names), address=True, ordered=False)
        others = f"({select(self.manifest, self.locate, reading)}) o"
        if self.touches:
            others += f" ANTI JOIN {self.touched} t USING ({SEGMENT}, {POSITION})"
        row = self.connection.execute(
            f"SELECT count(*) FROM (SELECT {fields} FROM {others}) SEMI JOIN {fresh} USING ({names})"
        ).fetchone()
        return int(row[0]) if row else 0

    def _changed_segments(self) -> list[Segment]:
        """All segments, those touched replaced by patched or rewritten ones, empty ones dropped."""
        rewrite: list[int] = []
        patch: list[int] = []
        for index, touch in self.touches.items():
            segment = self.manifest.segments[index]
            covered = touch.rows + (segment.patch.rows if segment.patch else 0)
            if touch.gone == segment.live_rows:
                continue
            small = segment.rows <= self.sizes.small_part_rows
            large = covered > self.sizes.patch_share * segment.rows
            (rewrite if small or large else patch).append(index)
        changed = {**self._rewritten(rewrite), **self._patched(patch)}
        return [
            changed.get(index, segment)
            for index, segment in enumerate(self.manifest.segments)
            if index not in self.touches or index in changed
        ]

    def rows_after(self, chosen: Sequence[int]) -> str:
        """A SELECT of some segments' rows after the edit, in order, columns as stored."""
        names = ", ".join(quote(column.stored_name) for column in self.manifest.columns)
        fields = ", ".join(
            f"{encoded(c, quote(c.name))} AS {quote(c.stored_name)}" for c in self.manifest.columns
        )
        touched = any(index in self.touches for index in chosen)
        reading = Reading(only=tuple(chosen), address=touched, ordered=not touched)
        rows = f"({select(self.manifest, self.locate, reading)})"
        if not touched:
            return f"SELECT {fields} FROM {rows}"
        here = f"{SEGMENT} IN ({', '.join(map(str, chosen))})"
        return (
            f"SELECT {names} FROM (SELECT {fields}, {SEGMENT}, {POSITION} FROM {rows} "
            f"ANTI JOIN {self.touched} t USING ({SEGMENT}, {POSITION}) "
            f"UNION ALL SELECT {names}, {SEGMENT}, {POSITION} FROM {self.touched} "
            f"WHERE {here} AND NOT {GONE}) ORDER BY {SEGMENT}, {POSITION}"
        )

    def ids_after(self, chosen: Sequence[int]) -> str:
        """A SELECT of the ids of those rows, in the same order."""
        reading = Reading(only=tuple(chosen), columns=(), address=True, ids=True, ordered=False)
        gone = ""
        if any(index in self.touches for index in chosen):
            gone = f" ANTI JOIN (SELECT * FROM {self.touched} WHERE {GONE}) USING ({SEGMENT}, {POSITION})"
        rows = select(self.manifest, self.locate, reading)
        return f"SELECT {ROW} FROM ({rows}){gone} ORDER BY {SEGMENT}, {POSITION}"

    def relaid(self, chosen: Sequence[int], sort: Sequence[str]) -> str:
        """A SELECT of some segments' rows with their ids, sorted anew where an order is given."""
        fields = ", ".join(
            f"{encoded(c, quote(c.name))} AS {quote(c.stored_name)}" for c in self.manifest.columns
        )
        order = "".join(f"{quote(name)} ASC NULLS LAST, " for name in sort)
        reading = Reading(only=tuple(chosen), address=True, ids=True, ordered=False)
        rows = select(self.manifest, self.locate, reading)
        return f"SELECT {fields}, {ROW} FROM ({rows}) ORDER BY {order}{SEGMENT}, {POSITION}"

    def _live_after(self, index: int) -> int:
        touch = self.touches.get(index)
        return self.manifest.segments[index].live_rows - (touch.gone if touch else 0)

    def _rewritten(self, chosen: Sequence[int]) -> dict[int, Segment]:
        if not chosen:
            return {}
        counts = [self._live_after(index) for index in chosen]
        keeps_ids = [
            self.manifest.segments[index].rows == count
            for index, count in zip(chosen, counts, strict=True)
        ]
        laid = self.lay(self.rows_after(chosen))
        ids = None if all(keeps_ids) else self.lay(self.ids_after(chosen))
        written = self.written(laid, counts, ids)
        return {
            index: replace(segment, ids=self.manifest.segments[index].ids) if kept else segment
            for index, kept, segment in zip(chosen, keeps_ids, written, strict=True)
        }

    def written(self, laid: str, counts: Sequence[int], ids: str | None) -> list[Segment]:
        """A laid-down table as segments; with `ids`, a table of their row ids beside it."""
        parts = write_parts(
            self.connection, laid, self.manifest.columns, counts, self.folder, self.measure
        )
        segments, start = [], 0
        for part in parts:
            self.files.append(part.file)
            number = RowIds(start, start + part.rows - 1)
            if ids is not None:
                number = self.listed_ids(ids, start, part.rows)
            segments.append(
                Segment(part.file.digest, part.rows, part.file.bytes, number, stats=part.stats)
            )
            start += part.rows
        return segments

    @property
    def measure(self) -> tuple[str, ...]:
        return (*self.manifest.layout.key, *self.manifest.layout.sort)

    def listed_ids(self, ids: str, start: int, rows: int) -> RowIds:
        here = f"{ids} WHERE rowid BETWEEN {start} AND {start + rows - 1}"
        row = self.connection.execute(
            f"SELECT min({ROW}), max({ROW}), count(DISTINCT {ROW} - rowid) FROM {here}"
        ).fetchone()
        low, high, runs = row or (0, 0, 0)
        if runs == 1:
            return RowIds(low, high)
        file = copy_one(self.connection, f"SELECT {ROW} FROM {here}", self.folder)
        self.files.append(file)
        return RowIds(low, high, file.digest)

    def _patched(self, chosen: Sequence[int]) -> dict[int, Segment]:
        changed: dict[int, Segment] = {}
        for group in self._groups(chosen):
            changed.update(self._patch_file(group))
        return changed

    def _groups(self, chosen: Sequence[int]) -> Iterator[list[int]]:
        """Segments whose patches share a file, bounded like a part."""
        group: list[int] = []
        rows = 0
        for index in chosen:
            patch = self.manifest.segments[index].patch
            more = self.touches[index].rows + (patch.rows if patch else 0)
            if group and rows + more > self.sizes.part_rows:
                yield group
                group, rows = [], 0
            group.append(index)
            rows += more
        if group:
            yield group

    def _patch_file(self, group: Sequence[int]) -> dict[int, Segment]:
        names = ", ".join(quote(column.stored_name) for column in self.manifest.columns)
        here = f"{SEGMENT} IN ({', '.join(map(str, group))})"
        rows = f"SELECT {SEGMENT}, {POSITION}, {GONE}, {names} FROM {self.touched} WHERE {here}"
        if any(self.manifest.segments[index].patch for index in group):
            rows += (
                f" UNION ALL SELECT {SEGMENT}, {POSITION}, {GONE}, {names} "
                f"FROM {patches(self.manifest, self.locate, group)} "
                f"ANTI JOIN {self.touched} t USING ({SEGMENT}, {POSITION})"
            )
        keys = ", ".join(f"({index}, {key})" for key, index in enumerate(group))
        laid = self.lay(
            # Names of our own, reserved in tables: a column of the user's must not meet them.
            f"SELECT CAST(m.{KEY} AS INTEGER) AS {KEY}, {POSITION}, {GONE}, {names} FROM ({rows}) p "
            f"JOIN (VALUES {keys}) m(__steward_of, {KEY}) ON m.__steward_of = p.{SEGMENT} ORDER BY 1, 2"
        )
        file = copy_one(self.connection, f"SELECT * FROM {laid} ORDER BY rowid", self.folder)
        self.files.append(file)
        counted = self.connection.execute(
            f"SELECT {KEY}, count(*), count(*) FILTER ({GONE}) FROM {laid} GROUP BY 1"
        ).fetchall()
        return {
            group[key]: replace(
                self.manifest.segments[group[key]],
                patch=Patch(file.digest, key, number, gone, file.bytes),
                stats=self._wider(group[key], laid, key),
            )
            for key, number, gone in counted
        }

    def _wider(self, index: int, laid: str, key: int) -> Stats:
        """A patched segment's statistics: those of the part and of its patch together."""
        old = self.manifest.segments[index].stats
        rows = f"{laid} WHERE {KEY} = {key} AND NOT {GONE}"
        new = measured_stats(self.connection, rows, self.manifest.columns, self.measure)
        if not new:
            return old
        return {
            name: (min(old[name][0], new[name][0]), max(old[name][1], new[name][1]))
            for name in old.keys() & new.keys()
        }

    def _append(
        self, segments: list[Segment], arriving: str, inserted: int, arriving_ids: bool
    ) -> list[Segment]:
        if not inserted:
            return segments
        names = ", ".join(quote(column.stored_name) for column in self.manifest.columns)
        limit = part_rows(self.connection, arriving, self.manifest.columns, self.sizes)
        tail = self._tail(segments, inserted, limit)
        laid = arriving
        if tail:
            laid = self.lay(f"({self.rows_after(tail)}) UNION ALL (SELECT {names} FROM {arriving})")
        counts = cuts(_count(self.connection, laid), limit)
        known = len(self.files)
        fresh = self.written(laid, counts, None)
        first = self._first_id([file.digest for file in self.files[known:]], inserted)
        if not tail and not arriving_ids:
            fresh = [replace(s, ids=RowIds(first + s.ids.low, first + s.ids.high)) for s in fresh]
            return segments + fresh
        number = ROW if arriving_ids else f"{first} + rowid AS {ROW}"
        before = f"({self.ids_after(tail)}) UNION ALL " if tail else ""
        ids = self.lay(f"{before}(SELECT {number} FROM {arriving})")
        kept = segments[: len(segments) - len(tail)]
        return kept + [replace(s, ids=self.listed_ids(ids, s.ids.low, s.rows)) for s in fresh]

    def _tail(self, segments: Sequence[Segment], inserted: int, limit: int) -> list[int]:
        """Last segments to write again with the arriving rows: those not larger than what follows them."""
        tail: list[int] = []
        total = inserted
        for offset in range(1, len(segments) + 1):
            index = len(self.manifest.segments) - offset
            # One that this edit has just changed is in no file yet; leave it for another time.
            if index < 0 or segments[-offset] is not self.manifest.segments[index]:
                break
            live = segments[-offset].live_rows
            if live > total or live + total > limit:
                break
            tail.insert(0, index)
            total += live
        return tail

    def _first_id(self, digests: Sequence[str], inserted: int) -> int:
        """Where ids of arriving rows start: far apart for different edits, equal for equal ones."""
        seed = "\n".join([self.manifest.id, *digests]).encode()
        while True:
            seed = hashlib.sha256(seed).digest()
            first = _ARRIVALS + int.from_bytes(seed[:8], "big") % (_ARRIVALS - inserted)
            if not self._taken(first, first + inserted - 1):
                return first

    def _taken(self, low: int, high: int) -> bool:
        near = [
            index
            for index, segment in enumerate(self.manifest.segments)
            if segment.ids.low <= high and segment.ids.high >= low
        ]
        listed = row_ids(self.manifest, self.locate, near)
        if listed is None:
            return bool(near)
        row = self.connection.execute(
            f"SELECT count(*) FROM {listed} WHERE {ROW} BETWEEN {low} AND {high}"
        ).fetchone()
        counted = [index for index in near if self.manifest.segments[index].ids.digest is None]
        return bool(counted) or bool(row and row[0])


@contextmanager
def editor(
    connection: duckdb.DuckDBPyConnection,
    manifest: Manifest,
    locate: Locate,
    folder: Path,
    sizes: Sizes,
) -> Iterator[Editor]:
    with ExitStack() as stack:
        yield Editor(connection, manifest, locate, folder, sizes, stack)


def _union(queries: Sequence[str]) -> str:
    return " UNION ALL ".join(f"({query})" for query in queries)


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0
