"""A version as one Parquet file: row groups of its parts are copied as they are, and one footer names all of them.

DuckDB and Arrow would read every value and compress it again. A footer is a Thrift structure in compact protocol; of
its fields only the places in the file change, so all others are carried along unread.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb

from steward.core import Bug, work
from steward.tables import literal
from steward.versions._manifest import Manifest
from steward.versions._read import Locate, Reading, select, source
from steward.versions._write import copy_one

_FEW_ROWS: Final = 4_096
"""Row groups smaller than this on average are written together: they would make a file slow to read."""
_MAGIC: Final = b"PAR1"
_TAIL: Final = 8
_CHUNK: Final = 1 << 20
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET = range(1, 11)
_STRUCT: Final = 12
# Field numbers of parquet.thrift.
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_PLACES_OF_CHUNK: Final = (2, 4, 6)
_METADATA: Final = 3
_PLACES_OF_PAGES: Final = (9, 10, 11, 14)

Struct = dict[int, tuple[int, Any]]
"""Per field number its type and value; a list is a pair of the type of its items and the items."""


def export_parquet(
    connection: duckdb.DuckDBPyConnection, manifest: Manifest, locate: Locate, target: Path
) -> None:
    """Writes one file with all rows in order."""
    plain = all(column.is_plain for column in manifest.columns)
    if plain and manifest.segments and manifest.rows >= _FEW_ROWS * len(manifest.segments):
        with TemporaryDirectory(dir=target.parent) as folder:
            paths = [
                copy_one(
                    connection, select(manifest, locate, Reading(only=(index,))), Path(folder)
                ).path
                if segment.patch
                else locate(segment.digest)
                for index, segment in enumerate(manifest.segments)
            ]
            if join_parquet(paths, target):
                return
    connection.execute(
        f"COPY (SELECT * FROM {source(manifest, locate)}) TO {literal(str(target))} "
        "(FORMAT parquet, COMPRESSION zstd)"
    )


def join_parquet(paths: Sequence[Path], target: Path) -> bool:
    """Writes the rows of all files, in order; nothing where their schemas differ."""
    footers = [_footer(path) for path in paths]
    if any(footer[_SCHEMA] != footers[0][_SCHEMA] for footer in footers):
        return False
    groups: list[Struct] = []
    with target.open("wb") as out:
        out.write(_MAGIC)
        for path, footer in zip(paths, footers, strict=True):
            work.current().check()
            groups += _moved(footer, out.tell() - len(_MAGIC))
            out.writelines(_data_of(path))
        whole = dict(footers[0])
        whole[_ROWS] = (_I64, sum(footer[_ROWS][1] for footer in footers))
        whole[_GROUPS] = (_LIST, (_STRUCT, groups))
        written = b"".join(_struct(whole))
        out.write(written + len(written).to_bytes(4, "little") + _MAGIC)
    return True


def _data_of(path: Path) -> Iterator[bytes]:
    """What lies between the first magic word and the footer."""
    left = _end_of_data(path) - len(_MAGIC)
    with path.open("rb") as file:
        file.seek(len(_MAGIC))
        while left and (chunk := file.read(min(_CHUNK, left))):
            left -= len(chunk)
            yield chunk


def _end_of_data(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(-_TAIL, 2)
        return file.tell() - int.from_bytes(file.read(4), "little")


def _footer(path: Path) -> Struct:
    end = _end_of_data(path)
    with path.open("rb") as file:
        file.seek(end)
        found: Struct = _Reader(file.read()).value(_STRUCT)
    return found


def _moved(footer: Struct, by: int) -> Iterator[Struct]:
    """The row groups, as they are named once their bytes lie so much further on."""
    for group in footer[_GROUPS][1][1]:
        chunks = [_shifted(chunk, _PLACES_OF_CHUNK, by) for chunk in group[_COLUMNS][1][1]]
        for chunk in chunks:
            chunk[_METADATA] = (_STRUCT, _shifted(chunk[_METADATA][1], _PLACES_OF_PAGES, by))
        moved = _shifted(group, (_GROUP_OFFSET,), by)
        moved[_COLUMNS] = (_LIST, (_STRUCT, chunks))
        # Optional, and it would have to count on.
        moved.pop(_ORDINAL, None)
        yield moved


def _shifted(struct: Struct, places: Sequence[int], by: int) -> Struct:
    """A place of 0 is none."""
    return {
        number: (kind, value + by if number in places and value else value)
        for number, (kind, value) in struct.items()
    }


@dataclass
class _Reader:
    data: bytes
    at: int = 0

    def value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            number = self._varint()
            return (number >> 1) ^ -(number & 1)
        if kind == _BYTE:
            return self._taken(1)
        if kind == _DOUBLE:
            return self._taken(8)
        if kind == _BINARY:
            return self._taken(self._varint())
        if kind in (_LIST, _SET):
            return self._list()
        if kind == _STRUCT:
            return self._fields()
        raise Bug(f"A Parquet footer holds a value of the Thrift type {kind}.")

    def _list(self) -> tuple[int, list[Any]]:
        head = self._taken(1)[0]
        size, kind = head >> 4, head & 15
        size = self._varint() if size == 15 else size
        # Truth values take a byte each within a list.
        held = _BYTE if kind in (_TRUE, _FALSE) else kind
        return kind, [self.value(held) for _ in range(size)]

    def _fields(self) -> Struct:
        found: Struct = {}
        number = 0
        while head := self._taken(1)[0]:
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self.value(_I16)
            found[number] = (kind, self.value(kind))
        return found

    def _taken(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._taken(1)[0]
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7


def _written(kind: int, value: Any) -> Iterator[bytes]:
    if kind in (_I16, _I32, _I64):
        yield _varint((value << 1) ^ (value >> 63))
    elif kind == _BINARY:
        yield _varint(len(value))
        yield value
    elif kind in (_LIST, _SET):
        held, items = value
        size = len(items)
        yield bytes([min(size, 15) << 4 | held])
        if size >= 15:
            yield _varint(size)
        for item in items:
            yield from _written(_BYTE if held in (_TRUE, _FALSE) else held, item)
    elif kind == _STRUCT:
        yield from _struct(value)
    elif kind not in (_TRUE, _FALSE):
        yield value


def _struct(struct: Struct) -> Iterator[bytes]:
    last = 0
    for number in sorted(struct):
        kind, value = struct[number]
        step = number - last
        yield bytes([step << 4 | kind]) if step <= 15 else bytes([kind]) + _varint(number << 1)
        yield from _written(kind, value)
        last = number
    yield b"\0"


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
