"""A follow-up changes the last reading: "and by year?", "only Germany", "the average instead", "as a bar chart", "top 5"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from steward.agents.asking.behind import changed_to_row, distinct
from steward.agents.asking.compiling import MOST_ROWS
from steward.agents.asking.parts import COUNT, Choice, Parsed
from steward.agents.asking.periods import in_words, shifted
from steward.agents.asking.reading import (
    ColumnRef,
    Filtered,
    Grouped,
    Measured,
    Ordered,
    Period,
    Reading,
)
from steward.agents.asking.tagging import Piece
from steward.agents.asking.world import World

_ADDS: Final = frozenset({"also"})
_CUES: Final = frozenset(
    {
        "those",
        "it",
        "also",
        "instead",
        "only",
        "again",
        "no filter",
        "ever",
        "page next",
        "page all",
    }
)
_OPENINGS: Final = frozenset(
    {
        *("and", "or", "only", "now", "as", "sort", "sorted", "what's", "just", "split", "instead"),
        *("also", "but", "then", "same", "more", "next", "compared", "difference", "broken"),
        *("descending", "ascending", "reverse", "remove", "drill", "with", "without", "by", "per"),
        *("top", "bottom", "not", "except", "excluding", "share", "cumulative"),
    }
)
"""Words that go on with what was said. "In 2007, which country …" does not: it is a question of its own."""
_COMPARED: Final = frozenset({"<", "<=", ">", ">=", "between"})
_NUMBER: Final = re.compile(r"\d+")
MOST_AT_ALL: Final = 1_000


@dataclass(frozen=True)
class Shown:
    """The rows that the last answer showed, where they were few."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


def follows(parsed: Parsed, words: Sequence[str]) -> bool:
    """Whether a message goes on with the last reading, rather than asking something of its own."""
    cued = bool(parsed.marks & _CUES) or bool(parsed.shift) or (words[:1] and words[0] in _OPENINGS)
    whole = bool(parsed.named_table and (parsed.measures or parsed.filters or parsed.rows))
    own = whole or any(each.column or each.metric for each in parsed.measures)
    if parsed.marks & {"those", "it", "no filter", "page next", "page all"} or parsed.shift:
        return True
    return bool(cued) or not own


def changed(
    last: Reading, parsed: Parsed, world: World, shown: Shown
) -> tuple[Reading, list[Piece]] | None:
    """The last reading with what the message says, and the pieces that it does not use; None where it says nothing."""
    return _Change(last, parsed, world, shown).made()


class _Change:
    def __init__(self, last: Reading, parsed: Parsed, world: World, shown: Shown) -> None:
        self._last = last
        self._said = parsed
        self._world = world
        self._shown = shown
        self._left = list(parsed.unused)
        self._made: dict[str, Any] = {name: getattr(last, name) for name in Reading.model_fields}

    def made(self) -> tuple[Reading, list[Piece]] | None:
        before = Reading(**self._made)
        behind = self._behind()
        if behind is not None:
            return behind
        self._siblings()
        self._filters()
        self._periods()
        self._measures()
        self._groups()
        self._rank()
        self._rows()
        self._pages()
        grouped = {
            (each.by.table or self._last.table, each.by.column) for each in self._last.groups
        }
        joined = {each.by.table for each in self._last.groups}
        # What the answer before is grouped by may be named again.
        self._left = [
            each
            for each in self._left
            if each.kind != "name"
            or not any(
                (sense.kind == "column" and (sense.table, sense.name) in grouped)
                or (sense.kind == "table" and sense.table in joined)
                for sense in each.senses
            )
        ]
        if self._said.chart is not None:
            plain = self._said.chart in {"auto", "none"}
            self._made["chart"] = None if plain else self._said.chart
        made = Reading(**self._made)
        asked_chart = self._said.chart is not None
        if made == before and not asked_chart and not self._shows_again():
            return None
        return made, self._left

    def _shows_again(self) -> bool:
        """ "Show me the result", "show me the rows": of work on a dataset, or of rows that were shown."""
        marks = self._said.marks
        return "show" in marks and bool(marks & {"those", "it", "rows"}) and not self._left

    def _behind(self) -> tuple[Reading, list[Piece]] | None:
        """ "On what date?", "when was that?": the row that the figure before is of."""
        said = self._said
        listed = "listed" in said.marks
        if (said.measures and not listed) or said.filters or said.periods or said.having:
            return None
        asked = [*said.columns, *(each.by for each in said.groups if listed), *said.asked]
        made = changed_to_row(self._last, asked)
        left = [each for each in self._left if each.kind not in {"which", "it", "those"}]
        return None if made is None else (made, left)

    def _use(self, *kinds: str) -> bool:
        """Takes the pieces of a kind that are left; says whether there were any."""
        found = [each for each in self._left if each.kind in kinds]
        self._left = [each for each in self._left if each not in found]
        return bool(found)

    def _siblings(self) -> None:
        """ "And in 1996?" of population_2021: the column that is called the same but for the number."""
        for piece in [each for each in self._left if each.kind in {"number", "period"}]:
            swaps = {
                each.name: other
                for each in self._world.datasets[self._last.table].columns
                if (other := _NUMBER.sub(f"{piece.number}", each.name)) != each.name
                and self._world.facts(self._last.table, other) is not None
                and f'"{each.name}"' in self._last.model_dump_json()
            }
            if len(swaps) != 1:
                continue
            ((old, new),) = swaps.items()
            made = self._last.model_dump_json().replace(f'"{old}"', f'"{new}"')
            self._last = Reading.model_validate_json(made)
            self._made = {name: getattr(self._last, name) for name in Reading.model_fields}
            self._left.remove(piece)

    # Which rows

    def _filters(self) -> None:
        said = self._said
        if "no filter" in said.marks:
            self._made |= {"filters": [], "having": [], "segments": []}
        self._bare_comparison()
        kept = list(self._made["filters"])
        said.filters += self._other_number(kept)
        for each in said.filters:
            if self._replaced_part(each):
                continue
            if each.test in {"=", "empty", "not empty", "contains"} or each.test == "!=":
                replaced = each.test != "!="
                kept = [
                    old
                    for old in kept
                    if old.column != each.column or not replaced or old.test == "!="
                ]
            elif each.test in _COMPARED:
                kept = [old for old in kept if (old.column, old.test) != (each.column, each.test)]
            kept.append(each)
        self._made["filters"] = kept
        self._made["segments"] = list(dict.fromkeys([*self._made["segments"], *said.segments]))
        if said.having:
            self._made["having"] = said.having
        elif self._last.groups and self._use_bare_comparison():
            pass

    def _bare_comparison(self) -> None:
        """ "Only over 5000", where several figures could be meant: the one that the last answer is about."""
        said = self._said
        for choice in [each for each in said.open if each.part in said.filters]:
            options = [choice.part, *choice.others]
            column = self._spoken_of()
            meant = [
                each for each in options if isinstance(each, Filtered) and each.column == column
            ]
            if self._last.groups and isinstance(choice.part, Filtered):
                meant, any_figure = [], ColumnRef(column="*")
                said.having = [choice.part.model_copy(update={"column": any_figure})]
            elif not meant:
                continue
            said.open.remove(choice)
            said.filters = [each for each in said.filters if each != choice.part] + meant

    def _other_number(self, kept: Sequence[Filtered]) -> list[Filtered]:
        """ "And how many have 4?": of the column that a number was said of before."""
        numbers = [each for each in self._left if each.kind == "number"]
        same = [
            each
            for each in kept
            if each.test == "=" and all(isinstance(value, int | float) for value in each.values)
        ]
        if (
            len(numbers) != 1
            or len(same) != 1
            or any(each.kind == "compare" for each in self._left)
        ):
            return []
        self._left.remove(numbers[0])
        return [same[0].model_copy(update={"values": [numbers[0].number]})]

    def _replaced_part(self, each: Filtered) -> bool:
        """Whether it is another value for the part of the rows that was asked for."""
        measures = self._made["measures"]
        if not measures or not any(old.column == each.column for old in measures[0].where):
            return False
        where = [each if old.column == each.column else old for old in measures[0].where]
        self._made["measures"] = [measures[0].model_copy(update={"where": where})]
        return True

    def _spoken_of(self) -> ColumnRef | None:
        """The one figure that the rows before are ordered by or compared with."""
        ordered = [each.column for each in self._last.order if each.column is not None]
        compared = [each.column for each in self._last.filters if each.test in _COMPARED]
        numbers = [
            each
            for each in distinct([*ordered, *compared])
            if self._world.column(each.table or self._last.table, each.column).role == "measure"
        ]
        return numbers[0] if len(numbers) == 1 and not self._last.measures else None

    def _use_bare_comparison(self) -> bool:
        """ "Only more than 3": of the figure that is there."""
        pieces = self._left
        for at, piece in enumerate(pieces[:-1]):
            number = pieces[at + 1].number
            if piece.kind == "compare" and number is not None:
                test: Any = piece.argument
                self._made["having"] = [
                    Filtered(column=ColumnRef(column="*"), test=test, values=[number])
                ]
                self._left = [each for n, each in enumerate(pieces) if n not in (at, at + 1)]
                return True
        return False

    def _periods(self) -> None:
        said = self._said
        if "ever" in said.marks:
            self._made["periods"] = []
        if said.periods:
            contrast = self._use("contrast")
            if contrast and self._last.periods:
                self._made["periods"] = [*self._last.periods, *said.periods]
                group = Grouped(by=said.periods[0].column, unit=self._unit_of(said.periods[0]))
                if group not in self._made["groups"] and self._last.measures:
                    self._made["groups"] = [*self._made["groups"], group]
            else:
                self._made["periods"] = said.periods
        elif said.shift and self._last.periods:
            self._made["periods"] = [_moved(each, said.shift, -1) for each in self._last.periods]

    @staticmethod
    def _unit_of(period: Period) -> Any:
        start, end = period.start or "", period.end or ""
        return "year" if start[5:] == end[5:] else "month"

    # Figures

    def _measures(self) -> None:
        said, old = self._said, list(self._made["measures"])
        if said.measures and "listed" in said.marks and old:
            # "Which product has the highest?": of the figure that is there.
            pass
        elif said.measures:
            assumed = [each for each in said.assumed if each.startswith("I took ")]
            new = list(said.measures)
            if assumed and old and old[0].function not in (None, "count") and len(new) == 1:
                # "And tax?" keeps the function that was asked for.
                new = [new[0].model_copy(update={"function": old[0].function})]
                said.assumed = [each for each in said.assumed if each not in assumed]
                said.open = [each for each in said.open if not isinstance(each.part, Measured)]
            adds = self._adds()
            self._made["measures"] = [*old, *new] if adds and old else new
            if not old:
                self._made |= {"columns": [], "limit": None, "order": []}
        elif said.functions and old:
            first = old[0]
            if first.column is not None:
                new_function: Any = said.functions[0]
                self._made["measures"] = [first.model_copy(update={"function": new_function})]
            else:
                # A metric or a count has a formula of its own: nothing was done with the function.
                self._left += said.function_pieces
        if said.share and self._made["measures"]:
            first = self._made["measures"][0]
            if self._made["groups"] and self._made["filters"]:
                # "As a percentage", of those who survived by sex: of all survivors, or of all of each sex?
                said.open.append(
                    Choice("of the rows that were shown, or of all of each group", COUNT, ())
                )
            self._made["measures"] = [
                first.model_copy(update={"share": True}),
                *self._made["measures"][1:],
            ]
        if said.along is not None and self._made["measures"]:
            first = self._made["measures"][0]
            self._made["measures"] = [first.model_copy(update={"along": said.along})]

    def _began_with(self, word: str) -> bool:
        return f"began {word}" in self._said.marks

    def _groups(self) -> None:
        said = self._said
        if self._adds():
            said.groups += self._named_beside()
        if not said.groups:
            return
        if not self._made["measures"]:
            self._made |= {"measures": [COUNT], "columns": [], "limit": None, "order": []}
        old = list(self._last.groups)
        adds = bool(said.marks & _ADDS) or any(self._began_with(word) for word in ("with", "split"))
        if said.measures and not adds:
            self._made["groups"] = said.groups
        elif adds and old:
            new = [each for each in said.groups if each not in old]
            timed = [each for each in new if each.unit is not None]
            kept = [each for each in old if not (timed and each.unit is not None)]
            self._made["groups"] = [*kept, *new]
        else:
            self._made["groups"] = said.groups
        self._made["order"] = [each for each in self._made["order"] if each.by == "measure"]
        if not said.limit and not any(each.unit is None for each in self._made["groups"]):
            self._made |= {"limit": None, "order": []}

    def _adds(self) -> bool:
        """ "Also by product", "with segment", "split by priority"."""
        if "instead" in self._said.marks:
            return False
        return bool(self._said.marks & _ADDS) or any(
            self._began_with(word) for word in ("with", "split", "add", "but")
        )

    def _named_beside(self) -> list[Grouped]:
        """Columns that are only named: "with segment"."""
        found = []
        for piece in [each for each in self._left if each.kind == "name"]:
            sense = next((each for each in piece.meaning("column")), None) if piece.senses else None
            if sense is None or self._world.column(sense.table, sense.name).role == "measure":
                continue
            table = None if sense.table == self._last.table else sense.table
            found.append(Grouped(by=ColumnRef(column=sense.name, table=table)))
            self._left.remove(piece)
        return found

    def _rank(self) -> None:
        said = self._said
        most = [each for each in self._left if each.kind == "most"]
        if said.order:
            self._made["order"] = said.order
            if said.limit is not None:
                self._made["limit"] = said.limit
        elif most:
            descending = most[0].argument == "desc"
            self._use("most")
            by_figure = not self._made["order"] and self._made["measures"]
            if by_figure:
                self._made["order"] = [Ordered(by="measure", descending=descending)]
            self._turn(descending)
            self._made["limit"] = (
                said.limit or self._made["limit"] or (1 if self._made["groups"] else None)
            )
            if said.limit is None and "which" in {each.kind for each in self._said.unused}:
                self._made["limit"] = 1
        elif said.limit is not None:
            self._made["limit"] = said.limit
        for mark in said.marks:
            if mark.startswith("direction "):
                self._direct(mark.removeprefix("direction "))

    def _turn(self, descending: bool) -> None:
        old = self._made["order"]
        if old:
            self._made["order"] = [old[0].model_copy(update={"descending": descending}), *old[1:]]
        elif (
            any(each.unit is not None for each in self._made["groups"]) and not self._made["limit"]
        ):
            self._made["order"] = [Ordered(by="group", descending=descending)]
        elif self._made["measures"]:
            self._made["order"] = [Ordered(by="measure", descending=descending)]

    def _direct(self, way: str) -> None:
        old = self._made["order"]
        if way == "other":
            falls = old[0].descending if old else bool(self._made["measures"])
            self._turn(not falls)
        else:
            self._turn(way == "desc")

    # Rows

    def _rows(self) -> None:
        said = self._said
        refers = bool({"those", "it"} & said.marks)
        wants = "rows" in said.marks or ("show" in said.marks and refers) or self._asks_who()
        if not wants or not self._last.measures or said.groups or said.measures or said.functions:
            if said.columns and not self._made["measures"]:
                self._made["columns"] = said.columns
            return
        picked = self._picked() if self._last.limit is not None else []
        self._made |= {
            "measures": [],
            "groups": [],
            "having": [],
            "order": [],
            "limit": None,
            "chart": None,
            "columns": said.columns,
            "filters": [*self._made["filters"], *picked],
        }

    def _asks_who(self) -> bool:
        """ "Who are they?" after a number of rows, and nothing else."""
        said = self._said
        more = said.filters or said.periods or said.columns or said.chart or self._left
        return "those" in said.marks and self._last.measures == [COUNT] and not more

    def _picked(self) -> list[Filtered]:
        """Of a ranking only those that came out."""
        found = []
        for group in self._last.groups:
            name = group.by.column
            names = [each.rpartition(".")[2] for each in self._shown.columns]
            if group.unit is not None or name not in names:
                continue
            place = names.index(name)
            values = [row[place] for row in self._shown.rows if place < len(row)]
            there = list(dict.fromkeys(each for each in values if each is not None))
            if there:
                found.append(Filtered(column=group.by, test="=", values=there))
        return found

    def _pages(self) -> None:
        if "page all" in self._said.marks:
            self._made["limit"] = MOST_AT_ALL
        elif "page next" in self._said.marks:
            self._made["limit"] = min((self._last.limit or MOST_ROWS) * 2, MOST_AT_ALL)


def _moved(period: Period, unit: str, count: int) -> Period:
    def moved(text: str | None) -> date | None:
        return shifted(date.fromisoformat(text), unit, count) if text else None

    start, end = moved(period.start), moved(period.end)
    return Period(
        column=period.column,
        start=start.isoformat() if start else None,
        end=end.isoformat() if end else None,
        said=in_words(start, end),
    )
