"""Where the names of a table stand and where its data begin, from the first rows of a text or a sheet.

A column of numbers or dates says which rows are data: those that hold such values there. Rows above them with text
in these columns are names; there may be several, and units are among them. What stands above the names is a title.
A row of years or other numbers in sequence above values that are none is a row of names too. Where another reading
is nearly as good, it is offered beside the one that was chosen.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from steward.ingest.dates import DATE_LIKE
from steward.ingest.findings import Alternative
from steward.ingest.null_words import is_null_word
from steward.ingest.numbers import NUMBER_LIKE

Cells = Sequence[str | None]

_NUMBER = re.compile(NUMBER_LIKE)
_DATE = re.compile(DATE_LIKE)
_CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?")
_AMOUNT = re.compile(r"\(?[+-]?\s*+(?:[$€£¥]\s*+)?[+-]?\d[\d.,'’ \u00a0]*+\s*+[%$€£¥]?\)?")
_YEAR = re.compile(r"(1[5-9]\d\d|20\d\d)(\.0)?")
_WHOLE = re.compile(r"-?\d{1,9}(\.0)?")
_TYPED_WORDS = frozenset({"true", "false"})
_WITHIN = 60
"""How many rows may stand above the data."""
_CELLS = 200_000
_MOST_NAME_ROWS = 12
_LOOK_BELOW = 3
_FEW = 2
_NAME_LENGTH = 200
_UNIT_LENGTH = 8
_BRACKETS = ("()", "[]", "<>", "{}")


@dataclass(frozen=True)
class Arrangement:
    """Rows by position: names in `names_from` up to `names_to` (behind the last), data from `first`."""

    names_from: int
    names_to: int
    first: int
    reason: str
    units: bool = False
    """Whether the last row of names holds units."""

    @property
    def name_rows(self) -> int:
        return self.names_to - self.names_from


@dataclass(frozen=True)
class Arranged:
    chosen: Arrangement
    rivals: tuple[Arrangement, ...] = ()
    """Other readings that are nearly as good."""


def alternatives(
    arranged: Arranged, numbers: Sequence[int], place: str, units: str | None
) -> tuple[Alternative, ...]:
    """Other readings with the options that choose them; `place` is what a row is called, with its number."""
    found = []
    chosen = arranged.chosen
    if chosen.units:
        options = {"header_row": numbers[chosen.names_from], "header_rows": chosen.name_rows}
        kept = units == "drop"
        says = "Put the units behind the names" if kept else "Leave the units out of the names"
        why = "As in weight (kg)." if kept else "The columns are then called as the row above says."
        found.append(Alternative(says, why, {**options, "units": "name" if kept else "drop"}))
    for other in arranged.rivals:
        if not other.name_rows:
            found.append(Alternative("No row has names", other.reason, {"header_row": 0}))
            continue
        row = numbers[other.names_from]
        which = f"{other.name_rows} rows from {place}" if other.name_rows > 1 else place
        options = {"header_row": row, "header_rows": other.name_rows}
        found.append(Alternative(f"Names in {which} {row}", other.reason, options))
    return tuple(found)


def kind_of(cell: str) -> str:
    """What a cell looks like: number, date, time, truth, nothing, or text."""
    if _NUMBER.fullmatch(cell) is not None:
        return "number"
    if _DATE.fullmatch(cell) is not None:
        return "date"
    if _CLOCK.fullmatch(cell) is not None:
        return "time"
    if cell.lower() in _TYPED_WORDS:
        return "truth"
    if is_null_word(cell):
        return "nothing"
    return "number" if _AMOUNT.fullmatch(cell) is not None else "text"


def typed(cell: str) -> bool:
    """Whether a cell is a number, a date or a truth value: nothing a column is called."""
    return (
        _NUMBER.fullmatch(cell) is not None
        or _DATE.fullmatch(cell) is not None
        or cell.lower() in _TYPED_WORDS
    )


def arrange(rows: Sequence[Cells], width: int) -> Arranged:
    """The names and the first row of data among a table's first rows."""
    rows = rows[: max(_CELLS // max(width, 1), 20)]
    if not rows:
        return Arranged(Arrangement(0, 0, 0, "There is no record."))
    grid = _Grid(rows, width)
    if not grid.body:
        return Arranged(_plain(rows, 0, width))
    top = next(i for i, count in enumerate(grid.content) if count)
    if _names_go_on(grid, top):
        reason = (
            "The second row names what the first leaves open, and its texts stand again below it."
        )
        rival = Arrangement(top, top + 1, top + 1, "The second row is data.")
        return Arranged(Arrangement(top, top + 2, top + 2, reason), (rival,))
    if grid.kinds:
        found = _by_values(grid)
        if found is not None:
            return found
    return _by_distinctness(grid)


def names_by_values(rows: Sequence[Cells], width: int) -> frozenset[str]:
    """The names of a table whose values tell them from its data; empty where they do not."""
    grid = _Grid(rows[: max(_CELLS // max(width, 1), 20)], width)
    found = _by_values(grid) if grid.body and grid.kinds else None
    if found is None or not found.chosen.name_rows or found.chosen.first >= len(rows):
        return frozenset()
    names = joined_names(rows[found.chosen.names_from : found.chosen.names_to], width)
    return frozenset(name.casefold() for name in names if name)


class _Grid:
    """The rows with what their cells look like, and the columns whose values are of one kind."""

    def __init__(self, rows: Sequence[Cells], width: int) -> None:
        self.rows = rows
        self.width = width
        self.looks = [
            [None if not cell or not cell.strip() else kind_of(cell.strip()) for cell in row]
            for row in rows
        ]
        self.content = [_content(row) for row in rows]
        self._fill_words()
        most = max(self.content)
        usual = sorted(count for count in self.content if count > 1 or most == 1)
        typical = usual[len(usual) // 2] if usual else 1
        least = 1 if width == 1 else max(2, (typical + 1) // 2)
        self.body = [i for i, count in enumerate(self.content) if count >= least]
        self.kinds = self._kinds()
        self.texts = {
            column
            for column in range(width)
            if column not in self.kinds
            and sum(
                column < len(self.looks[i]) and self.looks[i][column] == "text" for i in self.body
            )
            > _FEW
        }

    def _fill_words(self) -> None:
        """A text that stands again and again among values of one kind means that there is none."""
        for column in range(self.width):
            held = [
                i for i, looks in enumerate(self.looks) if column < len(looks) and looks[column]
            ]
            texts = Counter(self.rows[i][column] for i in held if self.looks[i][column] == "text")
            if not texts:
                continue
            word, count = texts.most_common(1)[0]
            typed_cells = len(held) - sum(texts.values())
            if count > _FEW and typed_cells > _FEW and sum(texts.values()) - count <= _FEW * 2:
                for i in held:
                    if self.rows[i][column] == word:
                        self.looks[i][column] = "nothing"

    def _kinds(self) -> dict[int, str]:
        """Columns of numbers, dates, times or truth values, with what they hold."""
        found: dict[int, str] = {}
        below = self.body[1:] or self.body
        # Names and units on top weigh little among many rows and much among few.
        low = below[min(len(below) // 4, 10) :]
        for column in range(self.width):
            looks = Counter(self.looks[i][column] for i in low if column < len(self.looks[i]))
            looks.pop(None, None)
            looks.pop("nothing", None)
            if not looks:
                continue
            kind, count = looks.most_common(1)[0]
            if kind is not None and kind != "text" and count * 10 >= sum(looks.values()) * 6:
                found[column] = kind
        return found

    @cached_property
    def is_numbered(self) -> bool:
        """Whether every record begins with a number or a moment, so that a row without one is none."""
        low = self.body[_FEW:]
        return 0 in self.kinds and len(low) > _FEW and all(self.looks[i][0] for i in low)

    def marks(self, row: int) -> tuple[int, int]:
        """How many cells of a row are values of their column, and how many are something else there."""
        looks = self.looks[row]
        values = others = 0
        for column, kind in self.kinds.items():
            look = looks[column] if column < len(looks) else None
            if look in (None, "nothing"):
                continue
            if look == kind:
                values += 1
            else:
                others += 1
        return values, others


def _content(row: Cells) -> int:
    """How many cells are filled; one text spread over a whole row is one."""
    filled = [cell for cell in row if cell and cell.strip()]
    spread = len(set(filled)) == 1 and row[0] == filled[0] and not typed(filled[0])
    return 1 if spread else len(filled)


def _by_values(grid: _Grid) -> Arranged | None:
    """Finds the first row that holds values, and the names above it."""
    first = _first_data(grid)
    if first is None:
        return None
    bottom = _lowest_names(grid, first)
    if bottom is None:
        return None if (first == 0 and not grid.kinds) else _without_names(grid, first)
    top = _highest_names(grid, bottom)
    reason = "Its fields are text above numbers or dates."
    if _is_sequence(grid, bottom):
        reason = "Its numbers name the columns: they are years or in sequence."
    if bottom > top:
        reason = f"{bottom - top + 1} rows of names stand above numbers or dates."
    units = bottom > top and _are_units(grid, top, bottom)
    if units:
        reason = "Its last row has units: short texts above numbers that already have names."
    chosen = Arrangement(top, bottom + 1, first, reason, units)
    rivals = []
    if units:
        rivals.append(Arrangement(top, bottom, bottom, "The row of units is data."))
    elif bottom > top:
        rivals.append(Arrangement(top, top + 1, top + 1, "Only the first of these rows has names."))
        rivals.append(
            Arrangement(bottom, bottom + 1, first, "Only the last of these rows has names.")
        )
    elif _is_sequence(grid, bottom):
        rivals.append(Arrangement(bottom, bottom, bottom, "The first row is data."))
    elif top > 0 and grid.body and grid.body[0] < top:
        start = grid.body[0]
        rivals.append(Arrangement(start, start + 1, start + 1, "The names stand further up."))
    return Arranged(chosen, tuple(rivals))


def _first_data(grid: _Grid) -> int | None:
    named = False
    for place, i in enumerate(grid.body[:_WITHIN]):
        values, others = grid.marks(i)
        if values and values >= others:
            if not _names_follow(grid, place) and not _is_sequence(grid, i):
                return i
            named = True
        elif others:
            if named and _is_repeated(grid, i):
                return i
            named = True
        elif named and not (grid.is_numbered and not grid.looks[i][0]):
            # Neither a value nor a name where the values are: a record with gaps.
            return i
    return None


def _is_repeated(grid: _Grid, row: int) -> bool:
    """Whether a text of this row stands again and again below it, as categories do and names do not."""
    for column, look in enumerate(grid.looks[row]):
        if look == "text" and column not in grid.kinds:
            cell = grid.rows[row][column]
            below = [i for i in grid.body if i > row + 1 and column < len(grid.rows[i])]
            if sum(grid.rows[i][column] == cell for i in below) >= _FEW:
                return True
    return False


def _names_follow(grid: _Grid, place: int) -> bool:
    """Whether a row of nothing but text in all columns of values stands just below."""
    if len(grid.kinds) < _LOOK_BELOW:
        return False
    for i in grid.body[place + 1 : place + 1 + _LOOK_BELOW]:
        values, others = grid.marks(i)
        if not values and others * 10 >= len(grid.kinds) * 9:
            return True
    return False


def _is_sequence(grid: _Grid, row: int) -> bool:
    """Numbers that name columns: years, or whole numbers in steps, above values that are no such thing."""
    cells = [
        (column, (grid.rows[row][column] or "").strip())
        for column, kind in grid.kinds.items()
        if kind == "number" and column < len(grid.rows[row])
    ]
    numbers = [
        (column, cell) for column, cell in cells if cell and grid.looks[row][column] == "number"
    ]
    if len(numbers) * 2 <= len(cells) or any(_WHOLE.fullmatch(cell) is None for _, cell in numbers):
        return False
    if any(
        look in ("number", "date") and column in grid.texts
        for column, look in enumerate(grid.looks[row])
    ):
        return False
    named = [c for c, look in enumerate(grid.looks[row]) if look == "text"]
    if not named or any(_recurs(grid, row, column) for column in named):
        return False
    years = all(_YEAR.fullmatch(cell) for _, cell in numbers)
    values = [int(float(cell)) for _, cell in numbers]
    steps = {b - a for a, b in pairwise(values)}
    stepped = len(values) > 2 and len(steps) == 1 and steps != {0}
    if not years and not stepped:
        return False
    return not _looks_alike(grid, row, [column for column, _ in numbers], years=years)


def _looks_alike(grid: _Grid, row: int, columns: Sequence[int], *, years: bool) -> bool:
    """Whether the rows below hold years, or steps, in the same columns."""
    alike = seen = 0
    for i in [i for i in grid.body if i > row]:
        cells = [
            (grid.rows[i][c] or "").strip()
            for c in columns
            if c < len(grid.rows[i]) and grid.rows[i][c]
        ]
        if not cells:
            continue
        seen += 1
        if years:
            alike += all(_YEAR.fullmatch(cell) for cell in cells)
        elif all(_WHOLE.fullmatch(cell) for cell in cells) and len(cells) > 2:
            numbers = [int(float(cell)) for cell in cells]
            steps = {b - a for a, b in pairwise(numbers)}
            alike += len(steps) == 1 and steps != {0}
    return alike * 5 > seen


def _recurs(grid: _Grid, row: int, column: int) -> bool:
    cell = grid.rows[row][column]
    return any(
        column < len(grid.rows[i]) and grid.rows[i][column] == cell for i in grid.body if i > row
    )


def _lowest_names(grid: _Grid, first: int) -> int | None:
    """The nearest row above the data that can hold names; labels of groups may stand between."""
    for i in range(first - 1, max(first - _MOST_NAME_ROWS, 0) - 1, -1):
        if not grid.content[i]:
            continue
        values, others = grid.marks(i)
        if (others and (grid.content[i] > 1 or grid.width <= 2)) or _is_sequence(grid, i):
            return i
        if not values and grid.content[i] > 1:
            return i if grid.content[i] * 2 >= grid.width else None
    return None


def _highest_names(grid: _Grid, bottom: int) -> int:
    """Rows of names go on upwards while they are about as full; a title fills few cells."""
    top = bottom
    for i in range(bottom - 1, max(bottom - _MOST_NAME_ROWS, -1), -1):
        filled = [c for c, cell in enumerate(grid.rows[i]) if cell and cell.strip()]
        if grid.content[i] < 2 or (grid.width > 3 and max(filled) < 2):
            break
        if _tells_of_the_table(grid, i, filled):
            break
        top = i
    return top


def _tells_of_the_table(grid: _Grid, row: int, filled: Sequence[int]) -> bool:
    """Whether a few cells at the left hold measures, such as the place of a station: no names above names."""
    packed = len(filled) == max(filled) + 1 and len(filled) * 2 < grid.width
    cells = [(grid.rows[row][c] or "").strip() for c in filled if grid.looks[row][c] == "number"]
    return packed and any(_WHOLE.fullmatch(cell) is None for cell in cells)


def _names_go_on(grid: _Grid, row: int) -> bool:
    """Whether a row names the choices of a question above, as surveys do: those chosen stand below it again."""
    below = row + 1
    gaps = [column for column in range(grid.width) if not _cell(grid.rows[row], column)]
    if below + 1 >= len(grid.rows) or len(gaps) * 5 < grid.width or grid.marks(below)[0]:
        return False
    chosen = 0
    for column in gaps:
        name = _cell(grid.rows[below], column)
        if not name:
            return False
        texts = {_cell(cells, column) for cells in grid.rows[below + 1 :]} - {None}
        chosen += texts == {name}
    return chosen >= _FEW


def _are_units(grid: _Grid, top: int, bottom: int) -> bool:
    """Whether a row below the names says what the numbers are counted in.

    The rows above it name every column by themselves, it has a short text above most columns of numbers, and
    none above columns of text.
    """
    names = joined_names(grid.rows[top:bottom], grid.width)
    known = [name.casefold() for name in names if name]
    if len(known) < grid.width or len(set(known)) < len(known):
        return False
    cells = {c: unit_in(cell) for c, cell in enumerate(grid.rows[bottom]) if cell and cell.strip()}
    numbers = {column for column, kind in grid.kinds.items() if kind == "number"}
    short = [cell for column, cell in cells.items() if column in numbers]
    if any(column in grid.texts and any(map(str.isalpha, cell)) for column, cell in cells.items()):
        return False
    lengths = sorted(map(len, short))
    return len(short) * 2 > len(numbers) and lengths[len(short) // 2] <= _UNIT_LENGTH


def unit_in(cell: str) -> str:
    """A unit without the brackets around it."""
    plain = cell.strip()
    if len(plain) > 2 and plain[0] + plain[-1] in _BRACKETS:
        plain = plain[1:-1].strip()
    return plain


def _without_names(grid: _Grid, first: int) -> Arranged:
    while first > 0 and grid.marks(first - 1)[0]:
        first -= 1
    chosen = Arrangement(first, first, first, "The first record looks like the ones below it.")
    rival = Arrangement(first, first + 1, first + 1, "The first row has the names.")
    return Arranged(chosen, (rival,) if _could_name(grid.rows[first]) else ())


def _could_name(row: Cells) -> bool:
    filled = [cell for cell in row if cell]
    return len(set(filled)) == len(filled) and any(not typed(cell) for cell in filled)


def _by_distinctness(grid: _Grid) -> Arranged:
    """All is text: the first full row has names if it differs from everything below it."""
    most = max(grid.content[i] for i in grid.body[: _WITHIN * 2])
    start = next(i for i in grid.body if grid.content[i] >= most * 0.6)
    chosen = _plain(grid.rows, start, grid.width)
    other = (
        Arrangement(start, start, start, "The first row is data.")
        if chosen.name_rows
        else Arrangement(start, start + 1, start + 1, "The first row has the names.")
    )
    sure = chosen.name_rows and len(grid.rows) - start > 2
    return Arranged(chosen, () if sure or grid.width < 2 else (other,))


def _plain(rows: Sequence[Cells], start: int, width: int) -> Arrangement:
    body = [row for row in rows[start + 1 :] if any(row)]
    reason = names_reason(rows[start], body[:100], width)
    if reason is None:
        return Arrangement(start, start, start, "The first record looks like the ones below it.")
    return Arrangement(start, start + 1, start + 1, reason)


def names_reason(cells: Cells, body: Sequence[Cells], width: int) -> str | None:
    """Why a row holds names, or none if it is data."""
    named = [cell for cell in cells if cell]
    if not named:
        return None
    if not body:
        return (
            None if any(typed(cell) for cell in named) else "Its fields are names; no data follow."
        )
    offset = width - len(cells) if width > len(cells) and any(row[-1] for row in body) else 0
    differing = alike = 0
    for position, cell in enumerate(cells):
        below = [row[position + offset] for row in body if position + offset < len(row)]
        values = [value for value in below if value and not is_null_word(value)]
        if values and sum(map(typed, values)) * 10 >= len(values) * 9:
            if cell and typed(cell):
                alike += 1
            elif cell:
                differing += 1
    if differing or alike:
        return "Its fields are text above numbers or dates." if differing > alike else None
    full = sum(len(named) > sum(bool(cell) for cell in row) for row in body) * 2 > len(body)
    repeated = not full and len({cell.lower() for cell in named}) < len(named)
    recurring = any(
        cell and any(position < len(row) and row[position] == cell for row in body)
        for position, cell in enumerate(cells)
    )
    if repeated or recurring or len(named) < len(cells) or any(len(cell) > 80 for cell in named):
        return None
    return "Its fields differ from each other and from everything below."


def names_with_units(
    rows: Sequence[Cells], width: int, units: str | None
) -> tuple[str | None, ...]:
    """Names of which the last row may hold units: behind each name in brackets (`name`), or left out (`drop`)."""
    if units is None or len(rows) < 2:
        return joined_names(rows, width)
    names = joined_names(rows[:-1], width)
    if units == "drop":
        return names
    given = [unit_in(cell) if (cell := _cell(rows[-1], c)) else "" for c in range(len(names))]
    return tuple(
        f"{name} ({unit})" if name and unit and not is_null_word(unit) else name
        for name, unit in zip(names, given, strict=True)
    )


def joined_names(rows: Sequence[Cells], width: int) -> tuple[str | None, ...]:
    """Names over several rows, one a column; a cell above a group of columns belongs to each of them."""
    if len(rows) == 1:
        return tuple(rows[0])
    spread = [_spread(row, below, width) for row, below in pairwise(rows)]
    spread.append([_cell(rows[-1], column) for column in range(width)])
    return tuple(_joined([row[column] for row in spread]) for column in range(width))


def _cell(row: Cells, column: int) -> str | None:
    cell = row[column] if column < len(row) else None
    return " ".join(cell.split()) or None if cell else None


def _spread(row: Cells, below: Cells, width: int) -> list[str | None]:
    cells: list[str | None] = []
    last: str | None = None
    for column in range(width):
        cell = _cell(row, column)
        last = cell or (last if _cell(below, column) else None)
        cells.append(cell or last)
    return cells


def _joined(parts: Sequence[str | None]) -> str | None:
    known = list(dict.fromkeys(part for part in parts if part))
    if not known:
        return None
    *upper, last = known
    above = " ".join(upper)
    room = _NAME_LENGTH - len(last) - 1
    if len(above) > room:
        above = above[: max(room - 1, 0)].rstrip() + "…"
    return f"{above} {last}".strip() if upper else last
