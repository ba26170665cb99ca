"""Manifests made afresh: a table written from a SELECT, and a version compacted."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from steward.core import Invalid
from steward.tables import describe, encryption_of, quote
from steward.versions._edit import KEY_VIOLATION, Counts, Edited, editor
from steward.versions._manifest import Layout, Manifest, RowIds, Segment, StoredColumn
from steward.versions._read import Locate
from steward.versions._storage import stored_columns
from steward.versions._write import (
    Sizes,
    cuts,
    laid_down,
    part_rows,
    storage_select,
    write_parts,
)


@dataclass(frozen=True)
class Builder:
    connection: duckdb.DuckDBPyConnection
    locate: Locate
    folder: Path
    sizes: Sizes

    def write(self, query: str, layout: Layout, rows_of: Manifest | None = None) -> Edited:
        """A table from a SELECT. With `rows_of`, row n of the result is row n of that version, changed:
        it keeps the row's identity, provided their numbers agree."""
        columns = stored_columns(describe(self.connection, f"({query})"), layout)
        with laid_down(self.connection, storage_select(columns, query, layout.sort)) as laid:
            columns = self._marked(laid, columns)
            empty = Manifest(columns, (), layout)
            counted = self.connection.execute(f"SELECT count(*) FROM {laid}").fetchone()
            total = int(counted[0]) if counted else 0
            self._check_key(laid, empty)
            if rows_of is not None and rows_of.rows == total and not layout.sort:
                return self._continued(laid, empty, rows_of)
            counts = cuts(total, part_rows(self.connection, laid, columns, self.sizes))
            parts = write_parts(
                self.connection, laid, columns, counts, self.folder, (*layout.key, *layout.sort)
            )
        segments, start = [], 0
        for part in parts:
            ids = RowIds(start, start + part.rows - 1)
            segments.append(
                Segment(part.file.digest, part.rows, part.file.bytes, ids, stats=part.stats)
            )
            start += part.rows
        manifest = replace(empty, segments=tuple(segments))
        return Edited(manifest, tuple(part.file for part in parts), Counts(inserted=total))

    def _marked(self, laid: str, columns: tuple[StoredColumn, ...]) -> tuple[StoredColumn, ...]:
        """Says of columns whose values are all encrypted how: so it holds for what is made from them, too."""
        texts = [quote(each.stored_name) for each in columns if each.type == "VARCHAR"]
        if not texts:
            return columns

        def asked(fields: list[str], rows: str) -> tuple[Any, ...]:
            found = self.connection.execute(f"SELECT {', '.join(fields)} FROM {rows}").fetchone()
            return found or ()

        some = asked([f"any_value({each})" for each in texts], f"(FROM {laid} LIMIT 1000)")
        likely = [name for name, value in zip(texts, some, strict=True) if encryption_of(value)]
        if not likely:
            return columns
        ends = asked([f"min({each}), max({each})" for each in likely], laid)
        found = {name: encryption_of(*ends[2 * at : 2 * at + 2]) for at, name in enumerate(likely)}
        return tuple(
            replace(each, encryption=found.get(quote(each.stored_name))) for each in columns
        )

    def compact(self, manifest: Manifest) -> Edited:
        """The same rows without patches and without needlessly small parts; in order, if one is declared."""
        with editor(self.connection, manifest, self.locate, self.folder, self.sizes) as work:
            segments: list[Segment] = []
            for run in _runs(manifest, self.sizes):
                if len(run) == 1 and manifest.segments[run[0]].patch is None:
                    segments.append(manifest.segments[run[0]])
                    continue
                laid = work.lay(work.relaid(run, manifest.layout.sort))
                rows = part_rows(self.connection, laid, manifest.columns, self.sizes)
                total = sum(manifest.segments[index].live_rows for index in run)
                segments += work.written(laid, cuts(total, rows), laid)
            if tuple(segments) == manifest.segments:
                return Edited(manifest, (), Counts())
            return Edited(manifest.with_segments(tuple(segments)), tuple(work.files), Counts())

    def _continued(self, laid: str, empty: Manifest, rows_of: Manifest) -> Edited:
        """Parts cut where that version's are, so that parts without a change come out the same."""
        counts = [segment.live_rows for segment in rows_of.segments]
        with editor(self.connection, rows_of, self.locate, self.folder, self.sizes) as work:
            everything = range(len(counts))
            holes = any(s.patch is not None and s.patch.gone for s in rows_of.segments)
            ids = work.lay(work.ids_after(everything)) if holes else None
            measure = (*empty.layout.key, *empty.layout.sort)
            parts = write_parts(self.connection, laid, empty.columns, counts, self.folder, measure)
            segments, start = [], 0
            for part, old in zip(parts, rows_of.segments, strict=True):
                kept = old.ids
                if ids is not None and old.live_rows != old.rows:
                    kept = work.listed_ids(ids, start, part.rows)
                segments.append(
                    Segment(part.file.digest, part.rows, part.file.bytes, kept, stats=part.stats)
                )
                start += part.rows
            files = (*(part.file for part in parts), *work.files)
        manifest = replace(empty, segments=tuple(segments), origin=rows_of.family)
        if replace(manifest, origin=rows_of.origin) == rows_of:
            return Edited(rows_of, (), Counts())
        return Edited(manifest, files, Counts(updated=start))

    def _check_key(self, laid: str, manifest: Manifest) -> None:
        key = [c for c in manifest.columns if c.name in manifest.layout.key]
        if not key:
            return
        names = ", ".join(quote(column.stored_name) for column in key)
        empty = " OR ".join(f"{quote(column.stored_name)} IS NULL" for column in key)
        row = self.connection.execute(
            f"SELECT (SELECT count(*) FROM {laid} WHERE {empty}), "
            f"(SELECT count(*) FROM (SELECT 1 FROM {laid} GROUP BY {names} HAVING count(*) > 1))"
        ).fetchone()
        missing, twice = row or (0, 0)
        if missing or twice:
            raise Invalid(
                f"{', '.join(c.name for c in key)} cannot be the key: {missing} row(s) have none and "
                f"{twice} value(s) occur more than once.",
                code=KEY_VIOLATION,
            )


def _runs(manifest: Manifest, sizes: Sizes) -> list[list[int]]:
    """Neighbouring segments that are better written together; good ones stand alone."""
    if manifest.layout.sort:
        return [list(range(len(manifest.segments)))] if manifest.segments else []
    runs: list[list[int]] = []
    joining = False
    for index, segment in enumerate(manifest.segments):
        good = segment.patch is None and segment.live_rows * 2 >= sizes.part_rows
        if good or not joining:
            runs.append([])
        runs[-1].append(index)
        joining = not good
    return runs
