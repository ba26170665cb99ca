"""Several tables on one sheet: blocks of cells with blank rows or columns between them, each with names of its own.

A block without names of its own is a title, a footnote or the rest of a table beside a gap, and goes with the table
next to it. Blocks side by side that begin and end in the same rows are one table with a blank column in it, unless
both use the same names.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from steward.ingest.layout import Cells, names_by_values

_REFERENCE = re.compile(
    r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6}):\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})"
)
_MOST_BLOCKS = 200
_MOST_SPLITS = 12
"""Deeper than tables lie in each other on any sheet that people make; a sheet made to cost time goes deeper."""


@dataclass(frozen=True)
class Region:
    """A rectangle of cells; rows and columns count from 1, and both ends belong to it."""

    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        return f"{_letters(self.left)}{self.top}:{_letters(self.right)}{self.bottom}"

    @property
    def width(self) -> int:
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1

    def covers(self, other: "Region") -> bool:
        """Whether the columns of the other lie within its own."""
        return self.left <= other.left and other.right <= self.right

    def joined(self, other: "Region") -> "Region":
        return Region(
            min(self.top, other.top), min(self.left, other.left),
            max(self.bottom, other.bottom), max(self.right, other.right),
        )  # fmt: skip


def parse_region(text: str) -> Region | None:
    """A range of cells as spreadsheets write it, such as `B3:E20`; none if it is no range."""
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        return None
    columns = sorted((_number(match[1]), _number(match[3])))
    rows = sorted((int(match[2]), int(match[4])))
    return Region(rows[0], columns[0], rows[1], columns[1])


def find_regions(rows: Sequence[Cells], left: int) -> tuple[Region, ...]:
    """The tables of a sheet whose rows start at row 1 and column `left`; none where there is only one."""
    width = max(map(len, rows), default=0)
    blocks = []
    for block in _blocks(rows, Region(1, 1, len(rows), width)):
        blocks.append(block)
        if len(blocks) > _MOST_BLOCKS:
            return ()
    named = {block: names for block in blocks if (names := _names(rows, block))}
    tables = _without_spacers(sorted(named, key=lambda r: (r.top, r.left)), named)
    if len(tables) < 2:
        return ()
    whole = _with_rest(tables, [block for block in blocks if block not in named])
    return tuple(replace(r, left=r.left + left - 1, right=r.right + left - 1) for r in whole)


def _blocks(rows: Sequence[Cells], within: Region, splits: int = 0) -> Iterator[Region]:
    """Rectangles that no blank row or column crosses."""
    if splits > _MOST_SPLITS:
        yield within
        return
    bands = _runs(within.top, within.bottom, lambda row: _is_filled(rows, row, within))
    if not bands:
        return
    if len(bands) > 1:
        for top, bottom in bands:
            yield from _blocks(rows, replace(within, top=top, bottom=bottom), splits + 1)
        return
    top, bottom = bands[0]
    held = {
        column
        for row in rows[top - 1 : bottom]
        for column, cell in enumerate(row, start=1)
        if cell is not None
    }
    strips = _runs(within.left, within.right, held.__contains__)
    if len(strips) > 1:
        for left, right in strips:
            yield from _blocks(rows, Region(top, left, bottom, right), splits + 1)
        return
    yield Region(top, strips[0][0], bottom, strips[0][1])


def _is_filled(rows: Sequence[Cells], row: int, within: Region) -> bool:
    return any(cell is not None for cell in rows[row - 1][within.left - 1 : within.right])


def _runs(first: int, last: int, filled: Callable[[int], bool]) -> list[tuple[int, int]]:
    """The stretches of filled rows or columns."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for place in range(first, last + 2):
        if place <= last and filled(place):
            start = place if start is None else start
        elif start is not None:
            found.append((start, place - 1))
            start = None
    return found


def _names(rows: Sequence[Cells], block: Region) -> frozenset[str]:
    if block.width < 2 or block.height < 2:
        return frozenset()
    cut = [
        [
            *row[block.left - 1 : block.right],
            *[None] * (block.right - max(len(row), block.left - 1)),
        ]
        for row in rows[block.top - 1 : block.bottom]
    ]
    return names_by_values(cut, block.width)


def _without_spacers(tables: Sequence[Region], named: dict[Region, frozenset[str]]) -> list[Region]:
    found: list[Region] = []
    for table in tables:
        before = found[-1] if found else None
        beside = before is not None and (before.top, before.bottom) == (table.top, table.bottom)
        if before is not None and beside and not named[before] & named[table]:
            found[-1] = before.joined(table)
            named[found[-1]] = named[before] | named[table]
        else:
            found.append(table)
    return found


def _with_rest(tables: Sequence[Region], rest: Sequence[Region]) -> list[Region]:
    """The tables with the titles above them and the rows below a gap; what lies elsewhere is left out."""
    whole = list(tables)
    for block in rest:
        near = []
        for place, table in enumerate(tables):
            if not table.covers(block):
                continue
            is_title = block.bottom < table.top and block.width == 1
            gap = table.top - block.bottom if is_title else block.top - table.bottom
            if is_title or gap > 0:
                near.append((gap, not is_title, place))
        if near:
            place = min(near)[2]
            joined = whole[place].joined(block)
            if not any(_overlap(joined, other) for i, other in enumerate(whole) if i != place):
                whole[place] = joined
    return whole


def _overlap(one: Region, other: Region) -> bool:
    return (
        one.left <= other.right and other.left <= one.right
        and one.top <= other.bottom and other.top <= one.bottom
    )  # fmt: skip


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
