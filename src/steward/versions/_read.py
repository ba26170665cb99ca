"""A version as SQL: parts and patches merged into one FROM item, in row order.

A join in DuckDB does not keep order, so only the stretch of segments that carry patches is merged and sorted by
position; the parts before and after it are read as they are. An untouched version is a bare `read_parquet`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from steward.core import Invalid
from steward.tables import Table, literal, quote
from steward.versions._manifest import Manifest, Stat, StoredColumn
from steward.versions._storage import GONE, KEY, POSITION, ROW, SEGMENT, decoded

Locate = Callable[[str], Path]


@dataclass(frozen=True)
class Reading:
    """What to read of a version. `address` adds segment and position, `ids` the stable row id."""

    only: tuple[int, ...] | None = None
    columns: tuple[str, ...] | None = None
    address: bool = False
    ids: bool = False
    ordered: bool = True


EVERYTHING: Final = Reading()


def table(
    manifest: Manifest,
    locate: Locate,
    name: str,
    *,
    within: Mapping[str, tuple[Stat, Stat]] | None = None,
    ordered: bool = True,
) -> Table:
    """The version as a table for operations; `within` leaves out parts that hold no such value."""
    only = None if within is None else segments_within(manifest, within)
    files: dict[Path, None] = {}

    def located(digest: str) -> Path:
        path = locate(digest)
        files[path] = None
        return path

    return Table(
        name=name,
        source=source(manifest, located, Reading(only=only, ordered=ordered)),
        columns=manifest.public_columns,
        rows=manifest.rows if only is None else None,
        files=tuple(files),
    )


def source(manifest: Manifest, locate: Locate, reading: Reading = EVERYTHING) -> str:
    """A FROM item."""
    chosen = _chosen(manifest, reading)
    bare = not (reading.address or reading.ids) and reading.columns is None
    plain = all(column.is_plain for column in manifest.columns)
    if bare and plain and chosen and not any(manifest.segments[i].patch for i in chosen):
        return parquet([locate(manifest.segments[i].digest) for i in chosen])
    return f"({select(manifest, locate, reading)})"


def select(manifest: Manifest, locate: Locate, reading: Reading = EVERYTHING) -> str:
    """A SELECT of the live rows."""
    chosen = _chosen(manifest, reading)
    columns = _columns(manifest, reading)
    if not chosen:
        return _nothing(columns, reading)
    patched = [index for index in chosen if manifest.segments[index].patch]
    if reading.ids:
        return _with_ids(manifest, locate, chosen, reading)
    if not patched:
        return _unpatched(manifest, locate, chosen, columns, reading)
    first, last = chosen.index(patched[0]), chosen.index(patched[-1]) + 1
    pieces = [_patched(manifest, locate, chosen[first:last], columns, reading)]
    if first:
        pieces.insert(0, _unpatched(manifest, locate, chosen[:first], columns, reading))
    if last < len(chosen):
        pieces.append(_unpatched(manifest, locate, chosen[last:], columns, reading))
    return pieces[0] if len(pieces) == 1 else " UNION ALL ".join(f"({piece})" for piece in pieces)


def patches(manifest: Manifest, locate: Locate, chosen: Sequence[int]) -> str:
    """A FROM item of the patch rows of some segments: address, whether gone, columns as stored."""
    digests: list[str] = []
    found: list[str] = []
    for index in chosen:
        patch = manifest.segments[index].patch
        if patch is not None:
            if patch.digest not in digests:
                digests.append(patch.digest)
            found.append(f"({digests.index(patch.digest)}, {patch.key}, {index})")
    return (
        f"(SELECT m.segment AS {SEGMENT}, f.{POSITION}, f.{GONE}, "
        f"{_fields(manifest.columns, 'f.')} FROM {parquet([locate(d) for d in digests])} f "
        f"JOIN (VALUES {', '.join(found)}) m(file, key, segment) "
        f"ON m.file = CAST(f.file_index AS INTEGER) AND m.key = f.{KEY})"
    )


def row_ids(manifest: Manifest, locate: Locate, chosen: Sequence[int]) -> str | None:
    """A FROM item of segment, position and id for segments whose ids are listed in side files."""
    listed = [index for index in chosen if manifest.segments[index].ids.digest]
    if not listed:
        return None
    files = [locate(manifest.segments[index].ids.digest or "") for index in listed]
    return (
        f"(SELECT {_lookup(listed)} AS {SEGMENT}, file_row_number AS {POSITION}, {ROW} "
        f"FROM {parquet(files)})"
    )


def slice_of(manifest: Manifest, offset: int, limit: int) -> tuple[tuple[int, ...], int]:
    """Which segments hold rows `offset` to `offset + limit`, and how many of their rows to skip."""
    chosen: list[int] = []
    skip, start = 0, 0
    for index, segment in enumerate(manifest.segments):
        end = start + segment.live_rows
        if end > offset and start < offset + limit:
            if not chosen:
                skip = max(offset - start, 0)
            chosen.append(index)
        start = end
    return tuple(chosen), skip


def segments_with_rows(manifest: Manifest, ids: Sequence[int]) -> tuple[int, ...]:
    """Segments that may hold rows of these ids."""
    return tuple(
        index
        for index, segment in enumerate(manifest.segments)
        if any(segment.ids.low <= i <= segment.ids.high for i in ids)
    )


def segments_within(manifest: Manifest, within: Mapping[str, tuple[Stat, Stat]]) -> tuple[int, ...]:
    """Segments that may hold values in the given ranges, by their statistics."""

    def possible(index: int) -> bool:
        stats = manifest.segments[index].stats
        for name, (low, high) in within.items():
            known = stats.get(name)
            if known is None:
                continue
            try:
                if known[1] < low or known[0] > high:  # type: ignore[operator]
                    return False
            except TypeError:
                raise Invalid(f"A range of column {name!r} needs values of its own type.") from None
        return True

    return tuple(index for index in range(len(manifest.segments)) if possible(index))


def parquet(paths: Sequence[Path]) -> str:
    # Folders called `a=b` above the store must not turn into columns.
    files = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false)"


def _chosen(manifest: Manifest, reading: Reading) -> list[int]:
    if reading.only is not None:
        return list(reading.only)
    return list(range(len(manifest.segments)))


def _columns(manifest: Manifest, reading: Reading) -> tuple[StoredColumn, ...]:
    if reading.columns is None:
        return manifest.columns
    wanted = set(reading.columns)
    return tuple(column for column in manifest.columns if column.name in wanted)


def _fields(columns: Sequence[StoredColumn], alias: str = "") -> str:
    return ", ".join(f"{alias}{quote(column.stored_name)}" for column in columns)


def _named(columns: Sequence[StoredColumn], alias: str = "") -> list[str]:
    return [f"{decoded(column, alias)} AS {quote(column.name)}" for column in columns]


def _lookup(indices: Sequence[int], file: str = "file_index") -> str:
    """SQL for the segment a file stands for."""
    if list(indices) == list(range(len(indices))):
        return f"CAST({file} AS INTEGER)"
    return f"[{', '.join(map(str, indices))}][CAST({file} AS INTEGER) + 1]"


def _nothing(columns: Sequence[StoredColumn], reading: Reading) -> str:
    fields = [f"CAST(NULL AS {column.type}) AS {quote(column.name)}" for column in columns]
    if reading.address:
        fields += [f"CAST(NULL AS INTEGER) AS {SEGMENT}", f"CAST(NULL AS BIGINT) AS {POSITION}"]
    if reading.ids:
        fields.append(f"CAST(NULL AS BIGINT) AS {ROW}")
    return f"SELECT {', '.join(fields)} WHERE false"


def _unpatched(
    manifest: Manifest,
    locate: Locate,
    chosen: Sequence[int],
    columns: Sequence[StoredColumn],
    reading: Reading,
) -> str:
    fields = _named(columns)
    if reading.address:
        fields += [f"{_lookup(chosen)} AS {SEGMENT}", f"file_row_number AS {POSITION}"]
    files = [locate(manifest.segments[index].digest) for index in chosen]
    return f"SELECT {', '.join(fields)} FROM {parquet(files)}"


def _patched(
    manifest: Manifest,
    locate: Locate,
    chosen: Sequence[int],
    columns: Sequence[StoredColumn],
    reading: Reading,
) -> str:
    files = [locate(manifest.segments[index].digest) for index in chosen]
    segment = _lookup(chosen, "b.file_index")
    patch = patches(manifest, locate, chosen)
    stored = _fields(columns)
    separator = ", " if stored else ""
    merged = (
        f"SELECT {_fields(columns, 'b.')}{separator}{segment} AS {SEGMENT}, "
        f"b.file_row_number AS {POSITION} FROM {parquet(files)} b ANTI JOIN {patch} p "
        f"ON p.{SEGMENT} = {segment} AND p.{POSITION} = b.file_row_number "
        f"UNION ALL SELECT {stored}{separator}{SEGMENT}, {POSITION} FROM {patch} WHERE NOT {GONE}"
    )
    fields = _named(columns)
    if reading.address:
        fields += [SEGMENT, POSITION]
    order = f" ORDER BY {SEGMENT}, {POSITION}" if reading.ordered else ""
    return f"SELECT {', '.join(fields)} FROM ({merged}){order}"


def _with_ids(manifest: Manifest, locate: Locate, chosen: Sequence[int], reading: Reading) -> str:
    rows = select(manifest, locate, replace(reading, ids=False, address=True, ordered=False))
    known = ", ".join(
        "NULL" if segment.ids.digest else str(segment.ids.low) for segment in manifest.segments
    )
    # A list looked up by segment: cheaper than a join, and most segments number their rows in a row.
    counted = f"CAST([{known}] AS BIGINT[])[r.{SEGMENT} + 1] + r.{POSITION}"
    listed = row_ids(manifest, locate, chosen)
    join = ""
    if listed is not None:
        counted = f"coalesce(i.{ROW}, {counted})"
        join = f" LEFT JOIN {listed} i ON i.{SEGMENT} = r.{SEGMENT} AND i.{POSITION} = r.{POSITION}"
    fields = [f"r.{quote(column.name)}" for column in _columns(manifest, reading)]
    if reading.address:
        fields += [f"r.{SEGMENT}", f"r.{POSITION}"]
    fields.append(f"{counted} AS {ROW}")
    disturbed = join or any(manifest.segments[index].patch for index in chosen)
    order = f" ORDER BY r.{SEGMENT}, r.{POSITION}" if reading.ordered and disturbed else ""
    return f"SELECT {', '.join(fields)} FROM ({rows}) r{join}{order}"
