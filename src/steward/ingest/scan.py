"""A quick look at every byte of a delimited file: is it regular, and where do its records begin?

DuckDB's parallel reader splits quoted fields that contain line ends (seen in 1.5.5: rows invented,
nothing rejected) and drops spaces beside quotes. So every file is looked at before its result is
believed; files that are not regular are read the exact way.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from steward.ingest.findings import Dialect

_CHUNK = 1 << 18
_NEWLINE, _RETURN = 10, 13
_Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scan:
    regular: bool
    """Valid UTF-8, no zero bytes, one kind of line end, quotes only around fields."""
    quoted_line_ends: bool
    lines: int
    """Line ends outside quotes, and the last line if it has none."""


def scan(path: Path, dialect: Dialect) -> Scan:
    """Looks at the whole file; stops at the first irregularity."""
    watch = _Watch(dialect)
    for number, chunk in enumerate(_chunks(path)):
        if not watch.take(chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk):
            return Scan(False, watch.quoted_line_ends, 0)
    return watch.result()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        while data := file.read(_CHUNK):
            yield data


class _Watch:
    """What is known so far: the last byte, whether a quote is open, half a character."""

    def __init__(self, dialect: Dialect) -> None:
        self._quote = ord(dialect.quote) if dialect.quote else None
        neighbours = [ord(dialect.delimiter), _NEWLINE]
        if self._quote is not None:
            neighbours.append(self._quote)
        self._before = _table(neighbours)
        self._after = _table([*neighbours, _RETURN])
        self._last = b"\n"
        self._rest = b""
        self._open = 0
        self._pending_close = False
        self._lines = 0
        self._ends = self._returned = self._all_returns = 0
        self.quoted_line_ends = False

    def take(self, data: bytes) -> bool:
        if not data:
            return True
        if b"\0" in data or not self._line_ends(data) or not self._characters(data):
            return False
        if self._quote is None:
            self._lines += data.count(b"\n")
        elif not self._quotes(data):
            return False
        self._last = data[-1:]
        return True

    def result(self) -> Scan:
        regular = not self._open and not self._rest and self._last != b"\r"
        return Scan(regular, self.quoted_line_ends, self._lines + (self._last != b"\n"))

    def _line_ends(self, data: bytes) -> bool:
        """Line ends are all alike, those inside quotes included."""
        self._ends += data.count(b"\n")
        if self._last != b"\r" and b"\r" not in data:
            return self._returned in (0, self._ends)
        self._returned += data.count(b"\r\n") + (self._last == b"\r" and data[:1] == b"\n")
        returns = self._returned + data.endswith(b"\r")
        if self._last == b"\r" and data[:1] != b"\n":
            return False
        self._all_returns += data.count(b"\r")
        return self._all_returns == returns and self._returned in (0, self._ends)

    def _characters(self, data: bytes) -> bool:
        if not self._rest and data.isascii():
            return True
        whole = self._rest + data
        try:
            whole.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" or len(whole) - error.start > 3:
                return False
            self._rest = whole[error.start :]
            return True
        self._rest = b""
        return True

    def _quotes(self, data: bytes) -> bool:
        """Opening quotes follow a delimiter, closing ones precede one; doubled ones do both."""
        cells = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(cells == self._quote)
        if self._pending_close and not self._after[cells[0]]:
            return False
        opening, closing = quotes[self._open :: 2], quotes[1 - self._open :: 2]
        if opening.size and opening[0] == 0:
            if not self._before[self._last[0]]:
                return False
            opening = opening[1:]
        if not self._before[cells[opening - 1]].all():
            return False
        self._pending_close = bool(closing.size) and int(closing[-1]) == len(data) - 1
        inner = closing[:-1] if self._pending_close else closing
        if not self._after[cells[inner + 1]].all():
            return False
        self._count_lines(data, cells, quotes)
        self._open = (self._open + quotes.size) & 1
        return True

    def _count_lines(self, data: bytes, cells: npt.NDArray[np.uint8], quotes: _Positions) -> None:
        if not quotes.size:
            count = data.count(b"\n")
            self._lines += 0 if self._open else count
            self.quoted_line_ends |= bool(self._open and count)
            return
        ends = np.flatnonzero(cells == _NEWLINE)
        inside = (np.searchsorted(quotes, ends) + self._open) & 1
        within = int(inside.sum())
        self._lines += len(ends) - within
        self.quoted_line_ends |= within > 0


def _table(allowed: list[int]) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[allowed] = True
    return table


@dataclass(frozen=True)
class Places:
    """Where wanted records stand: their lines, in the order asked for."""

    records: int
    blank_lines: int
    lines: _Positions


def locate(
    path: Path, dialect: Dialect, first_line: int, wanted: _Positions, skip: _Positions
) -> Places:
    """Finds the lines of records by their number among those that do not begin at `skip` offsets.

    The file is regular (see `scan`). Records are counted from 0 at `first_line`; blank lines are no
    records. `wanted` and `skip` are sorted.
    """
    found = np.zeros(len(wanted), dtype=np.int64)
    ordinal = records = blank = 0
    for starts, lines, empty in _record_starts(path, dialect):
        data = lines >= first_line
        blank += int((empty & data).sum())
        keep = data & ~empty
        records += int(keep.sum())
        keep &= ~np.isin(starts, skip)
        kept = lines[keep]
        low, high = np.searchsorted(wanted, (ordinal, ordinal + len(kept)))
        found[low:high] = kept[wanted[low:high] - ordinal]
        ordinal += len(kept)
    return Places(records, blank, found)


def lines_at(path: Path, offsets: _Positions) -> _Positions:
    """The line numbers of sorted byte offsets."""
    found = np.zeros(len(offsets), dtype=np.int64)
    position, line = 0, 1
    if not len(offsets):
        return found
    for chunk in _chunks(path):
        low, high = np.searchsorted(offsets, (position, position + len(chunk)))
        if high > low:
            ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == _NEWLINE)
            found[low:high] = line + np.searchsorted(ends, offsets[low:high] - position)
        line += chunk.count(b"\n")
        position += len(chunk)
    return found


def _record_starts(
    path: Path, dialect: Dialect
) -> Iterator[tuple[_Positions, _Positions, npt.NDArray[np.bool_]]]:
    """Offset, line and emptiness of every record, a chunk at a time."""
    quote = ord(dialect.quote) if dialect.quote else None
    position, line, inside = 0, 1, 0
    start, start_line = 0, 1
    size = path.stat().st_size
    returns = dialect.line_end == "\r\n"
    for chunk in _chunks(path):
        cells = np.frombuffer(chunk, np.uint8)
        ends = np.flatnonzero(cells == _NEWLINE)
        lines = line + np.arange(len(ends))
        line += len(ends)
        if quote is not None:
            quotes = np.flatnonzero(cells == quote)
            outside = ((np.searchsorted(quotes, ends) + inside) & 1) == 0
            ends, lines = ends[outside], lines[outside]
            inside = (inside + quotes.size) & 1
        stops = position + ends
        starts = np.concatenate(([start], stops[:-1] + 1)) if len(stops) else stops
        start_lines = np.concatenate(([start_line], lines[:-1] + 1)) if len(stops) else lines
        length = stops - starts
        yield starts, start_lines, (length == 0) | (returns & (length == 1))
        if len(stops):
            start, start_line = int(stops[-1]) + 1, int(lines[-1]) + 1
        position += len(chunk)
    if start < size:
        yield np.array([start]), np.array([start_line]), np.array([False])
