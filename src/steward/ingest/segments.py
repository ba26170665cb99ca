"""Cuts a delimited file between records, for files whose quoted fields hold line ends.

DuckDB's parallel reader cannot be believed with those, and its serial one keeps the whole file in memory. Several
small files are read one by each thread, each serially, and no longer than it takes.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

import numpy as np

from steward.ingest.findings import Dialect

SEGMENT_BYTES = 16 << 20
_CHUNK = 1 << 18
_NEWLINE = 10


@dataclass(frozen=True)
class Segment:
    path: Path
    offset: int
    """Where its first byte stands in the whole file."""


def cut(
    path: Path, dialect: Dialect, first_line: int, folder: Path, size: int = SEGMENT_BYTES
) -> tuple[Segment, ...]:
    """The records from `first_line` on, in files a little larger than `size`; none if that cannot be done.

    Whether a line end is quoted is told by the number of quotes before it, which holds for regular files alone
    (see `scan`). No quote spans two of the lines above the first record.
    """
    folder.mkdir(exist_ok=True)
    with path.open("rb") as file:
        for _ in range(first_line - 1):
            while (part := file.readline(_CHUNK)) and not part.endswith(b"\n"):
                pass
        start = file.tell()
        if start and file.read(len(BOM_UTF8)) == BOM_UTF8:
            # At the start of a file it would be no part of the text.
            return ()
        file.seek(start)
        return tuple(_cut(file, start, dialect, folder, size))


def _cut(
    file: BinaryIO, offset: int, dialect: Dialect, folder: Path, size: int
) -> Iterator[Segment]:
    quoted, rest = 0, b""
    for number in count():
        segment = Segment(folder / f"{number:06}.csv", offset)
        with segment.path.open("wb") as out:
            written = out.write(rest)
            rest = b""
            while chunk := file.read(_CHUNK):
                place = _record_end(chunk, dialect, quoted) if written >= size else None
                written += out.write(chunk[:place])
                quoted ^= (chunk.count(dialect.quote.encode()) if dialect.quote else 0) & 1
                if place is not None:
                    rest = chunk[place:]
                    break
        yield segment
        offset += written
        if not rest:
            return


def _record_end(chunk: bytes, dialect: Dialect, quoted: int) -> int | None:
    """Behind the first line end outside quotes; none if the next segment cannot begin in this chunk."""
    cells = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero(cells == _NEWLINE)
    if dialect.quote is not None:
        quotes = np.flatnonzero(cells == ord(dialect.quote))
        ends = ends[(np.searchsorted(quotes, ends) + quoted) % 2 == 0]
    for end in ends.tolist():
        following = chunk[end + 1 : end + 1 + len(BOM_UTF8)]
        if len(following) == len(BOM_UTF8) and following != BOM_UTF8:
            return int(end) + 1
    return None
