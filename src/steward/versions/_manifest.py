"""A version's manifest: the ordered parts that make up one table; its SHA-256 is the version's id.

A segment is one immutable part, perhaps with a patch over it (rows replaced or gone). Rows keep an identity
across edits: a segment numbers its rows from `first`, or names a side file that lists their ids. A manifest says
nothing about time, people or branches, so equal tables written alike have equal ids.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from steward.core import Bug
from steward.tables import Column

FORMAT: Final = 1
ELSEWHERE: Final = 2
"""The format of tables that are not copied: a Steward that would take them for empty refuses them."""

Stat = int | float | str
Stats = Mapping[str, tuple[Stat, Stat]]


@dataclass(frozen=True)
class StoredColumn:
    """A column and how Parquet holds it; both differ only where Parquet would lose something."""

    name: str
    type: str
    stored_name: str
    stored_type: str

    @property
    def is_plain(self) -> bool:
        return self.name == self.stored_name and self.type == self.stored_type


@dataclass(frozen=True)
class RowIds:
    """Ids of a segment's rows: `low`, `low + 1` … or, with a `digest`, listed in that side file."""

    low: int
    high: int
    digest: str | None = None


@dataclass(frozen=True)
class Patch:
    """Rows of a patch file that replace rows of a part; `key` finds them among those for other parts."""

    digest: str
    key: int
    rows: int
    gone: int
    bytes: int


@dataclass(frozen=True)
class Segment:
    digest: str
    rows: int
    bytes: int
    ids: RowIds
    patch: Patch | None = None
    stats: Stats = field(default_factory=dict)

    @property
    def live_rows(self) -> int:
        return self.rows - (self.patch.gone if self.patch else 0)

    @property
    def content(self) -> tuple[str, str, int, int | str]:
        """Equal for two segments that hold the same rows with the same ids."""
        patch = ("", 0) if self.patch is None else (self.patch.digest, self.patch.key)
        return (self.digest, *patch, self.ids.digest or self.ids.low)


@dataclass(frozen=True)
class Layout:
    """What is promised of a table: a unique key, and the order its rows are written in."""

    key: tuple[str, ...] = ()
    sort: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stays:
    """Where the rows are of a table that is not copied, and what it was like when it was registered."""

    connection: str
    schema: str
    table: str
    rows: int
    columns: tuple[str, ...]
    """What the source calls the columns, in their order."""


@dataclass(frozen=True)
class Manifest:
    columns: tuple[StoredColumn, ...]
    segments: tuple[Segment, ...]
    layout: Layout = Layout()
    origin: str | None = None
    """The version whose row ids this one continues; None for a table written afresh."""
    stays: Stays | None = None

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(self.encoded).hexdigest()

    @property
    def family(self) -> str:
        """Versions of one family share row ids: equal id, same row."""
        return self.origin or self.id

    @cached_property
    def encoded(self) -> bytes:
        return json.dumps(_document(self), ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def rows(self) -> int:
        return self.stays.rows if self.stays else sum(s.live_rows for s in self.segments)

    @cached_property
    def size(self) -> int:
        """Bytes stored for this version alone, shared or not."""
        patches = {s.patch.digest: s.patch.bytes for s in self.segments if s.patch}
        return sum(s.bytes for s in self.segments) + sum(patches.values())

    @property
    def public_columns(self) -> tuple[Column, ...]:
        return tuple(Column(column.name, column.type) for column in self.columns)

    @property
    def blobs(self) -> set[str]:
        """Every blob the version needs."""
        found = {segment.digest for segment in self.segments}
        found |= {segment.patch.digest for segment in self.segments if segment.patch}
        return found | {segment.ids.digest for segment in self.segments if segment.ids.digest}

    def with_segments(self, segments: tuple[Segment, ...]) -> "Manifest":
        """The next version of the same rows."""
        return replace(self, segments=segments, origin=self.family)

    def packed(self) -> bytes:
        return zlib.compress(self.encoded, 6)


def unpack(data: bytes) -> Manifest:
    document = json.loads(zlib.decompress(data))
    stays = document.get("stays")
    if document["format"] != (ELSEWHERE if stays else FORMAT):
        raise Bug(
            f"A version is stored in format {document['format']}, this Steward knows {FORMAT}."
        )
    return Manifest(
        columns=tuple(StoredColumn(*column) for column in document["columns"]),
        segments=tuple(_segment(item) for item in document["segments"]),
        layout=Layout(tuple(document["key"]), tuple(document["sort"])),
        origin=document["origin"],
        stays=Stays(**{**stays, "columns": tuple(stays["columns"])}) if stays else None,
    )


def _document(manifest: Manifest) -> dict[str, Any]:
    return {
        "format": ELSEWHERE if manifest.stays else FORMAT,
        "columns": [[c.name, c.type, c.stored_name, c.stored_type] for c in manifest.columns],
        "key": list(manifest.layout.key),
        "sort": list(manifest.layout.sort),
        "origin": manifest.origin,
        "segments": [_row(segment) for segment in manifest.segments],
        **({"stays": asdict(manifest.stays)} if manifest.stays else {}),
    }


def _row(segment: Segment) -> list[Any]:
    ids, patch = segment.ids, segment.patch
    return [
        segment.digest,
        segment.rows,
        segment.bytes,
        [ids.low, ids.high, ids.digest],
        None if patch is None else [patch.digest, patch.key, patch.rows, patch.gone, patch.bytes],
        {name: list(segment.stats[name]) for name in sorted(segment.stats)},
    ]


def _segment(item: list[Any]) -> Segment:
    digest, rows, size, ids, patch, stats = item
    return Segment(
        digest=digest,
        rows=rows,
        bytes=size,
        ids=RowIds(*ids),
        patch=None if patch is None else Patch(*patch),
        stats={name: (low, high) for name, (low, high) in stats.items()},
    )
