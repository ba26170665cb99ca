"""The pieces of a question as rules look at them: which are free, what they name, what stands beside them."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

from steward.agents.asking.adjusting import adjusted
from steward.agents.asking.grammar import grammar
from steward.agents.asking.lexicon import Sense
from steward.agents.asking.parts import Choice, Parsed
from steward.agents.asking.reading import ColumnRef, Filtered, Grouped, Measured
from steward.agents.asking.tagging import Piece
from steward.agents.asking.tokens import name_words, plain
from steward.agents.asking.world import World, is_number_text
from steward.definitions import ColumnFacts, quantity_of

_YES_NO: Final = (("yes", "no"), ("y", "n"), ("true", "false"), ("ja", "nein"))

_BETWEEN: Final = frozenset(
    ["is", "are", "was", "were", "of", "the", "a", "value", "equal", "to", "number"]
)


def _is_name(column: str) -> bool:
    quantity = quantity_of(column)
    return quantity is not None and quantity.kind == "name"


class Pieces:
    """Rules take pieces; what none takes is left over."""

    def __init__(
        self,
        world: World,
        base: str,
        pieces: Sequence[Piece],
        words: Sequence[str],
        breaks: Container[int] = frozenset(),
        codes: Mapping[int, tuple[int, str]] | None = None,
    ) -> None:
        """`breaks`: words that a comma stands before; `codes`: where codes end and how they are written."""
        self._codes = codes or {}
        self._breaks = breaks
        self._world = world
        self._base = base
        self._words = words
        self.pieces = adjusted(pieces, words, world, base)
        self._used: set[int] = set()
        self._placed: dict[int, int] = {}
        """Filters by the piece that they begin at."""
        self._segments_at: dict[str, int] = {}
        self.found = Parsed(base)
        self.function_pieces: list[Piece] = []
        self._asides: list[str] = []

    def _yes(self, column: ColumnRef) -> Any:
        """The value that says yes, of a column with nothing but yes and no, or 1 and 0."""
        facts = self._facts(column)
        if facts.kind == "boolean":
            return True
        if facts.kind == "number":
            is_flag = (facts.distinct, facts.low, facts.high) == (2, 0, 1)
            return 1 if is_flag and self._role(column) != "measure" else None
        folded = {each.strip().casefold() for each in facts.values}
        if not any(folded == {*pair} for pair in _YES_NO):
            return None
        said = {pair[0] for pair in _YES_NO}
        return next(each for each in facts.values if each.strip().casefold() in said)

    def _free(self, *kinds: str) -> Iterator[tuple[int, Piece]]:
        for at, piece in enumerate(self.pieces):
            if at not in self._used and (not kinds or piece.kind in kinds):
                yield at, piece

    def _at(self, at: int, *kinds: str) -> Piece | None:
        """The piece at a place if it is free and of one of these kinds."""
        if not 0 <= at < len(self.pieces) or at in self._used:
            return None
        piece = self.pieces[at]
        return piece if not kinds or piece.kind in kinds else None

    def _take(self, *places: int) -> None:
        self._used.update(places)
        for at in places:
            for sense in self.pieces[at].senses[:1]:
                if sense.note and sense.note not in self.found.assumed:
                    self.found.assumed.append(sense.note)

    def _sense(self, at: int, kind: str) -> Sense | None:
        """What a piece names; where several are equally likely, that is remembered."""
        piece = self._at(at, "name")
        if piece is None or not piece.could_be(kind):
            return None
        meant = piece.meaning(kind)
        if kind == "column" and len(meant) > 1:
            meant = self._without_codes(meant)
        if len(meant) > 1:
            self.found.ambiguous[at] = meant
        return meant[0] if meant else None

    def _without_codes(self, meant: Sequence[Sense]) -> list[Sense]:
        """Columns that identify the same things are one: of a country's name and codes, the name."""
        names = sorted(meant, key=lambda each: not _is_name(each.name))
        return [
            each
            for at, each in enumerate(names)
            if not any(self._identifies_the_same(each, other) for other in names[:at])
        ]

    def _identifies_the_same(self, one: Sense, other: Sense) -> bool:
        facts = self._world.datasets.get(one.table)
        if facts is None or one.table != other.table:
            return False
        keys = {frozenset(key) for key in (facts.key, *facts.keys)}
        return any(
            one.name in key and key - {one.name} | {other.name} in keys and len(key) > 1
            for key in keys
        )

    def _column(self, at: int) -> ColumnRef | None:
        sense = self._sense(at, "column")
        return None if sense is None else self._ref(sense)

    def _ref(self, sense: Sense) -> ColumnRef:
        if sense.table == self._base:
            return ColumnRef(column=sense.name)
        ways = self._world.paths(self._base)[sense.table]
        if len(ways) > 1:
            chosen = [way for way in ways if self._speaks_of(way.role, way.via[0])]
            if len(chosen) == 1:
                return ColumnRef(column=sense.name, table=sense.table, via=chosen[0].via)
            options = [ColumnRef(column=sense.name, table=sense.table, via=way.via) for way in ways]
            said = " or ".join(way.role or way.via[0] for way in ways)
            self.found.open.append(
                Choice(f"{sense.table} by {said}", options[0], tuple(options[1:]))
            )
            return options[0]
        return ColumnRef(column=sense.name, table=sense.table)

    def _speaks_of(self, *names: str) -> bool:
        said = set(self._words)
        return any(
            word in said or any(each.startswith(word) for each in said if len(word) > 2)
            for name in names
            for word in name_words(name)
        )

    def _facts(self, ref: ColumnRef) -> ColumnFacts:
        found = self._world.facts(ref.table or self._base, ref.column)
        if found is None:
            raise KeyError(ref.column)
        return found

    def _role(self, ref: ColumnRef) -> str:
        return self._world.column(ref.table or self._base, ref.column).role

    def _is_number(self, ref: ColumnRef) -> bool:
        facts = self._facts(ref)
        if is_number_text(facts):
            told = f"{ref.column} is text; I read it as numbers, and “NA” as empty."
            if told not in self.found.assumed and told not in self._asides:
                self._asides.append(told)
        return facts.kind == "number" or is_number_text(facts)

    def _is_figure(self, ref: ColumnRef) -> bool:
        return self._is_number(ref) and self._role(ref) == "measure"

    def _figures_of_base(self) -> list[ColumnRef]:
        refs = (ColumnRef(column=each.name) for each in self._world.datasets[self._base].columns)
        return [ref for ref in refs if self._is_figure(ref)]

    def _called(self, names: Sequence[str], direction: str) -> list[str]:
        """Columns of numbers that are called so, in full or shortened; of a lowest and a highest one, the one that is meant."""
        found = [
            each.name
            for each in self._world.datasets[self._base].columns
            if (each.kind == "number" or is_number_text(each))
            and any(
                word == name or (len(word) > 3 and name.startswith(word))
                for word in name_words(each.name)
                for name in names
            )
        ]
        end = {"desc": {"max", "high", "highest", "maximum"}, "asc": {"min", "low", "lowest", "minimum"}}[direction]  # fmt: skip
        ends = [each for each in found if end & set(name_words(each))]
        return ends if len(found) > 1 and len(ends) == 1 else found

    def _says_head(self, column: ColumnRef, at: int) -> bool:
        """Whether a piece says what a column holds: appointments are no values of "affiliation at appointment"."""
        words = name_words(column.column)
        ends = [n for n, word in enumerate(words) if n and word in grammar().silent]
        if not ends:
            return True
        piece = self.pieces[at]
        said = {plain(word) for word in self._words[piece.first : piece.last]}
        return bool(said & set(words[: ends[0]]))

    def _near(self, at: int, beside: int) -> bool:
        first, second = sorted((self.pieces[at], self.pieces[beside]), key=lambda each: each.first)
        between = set(self._words[first.last : second.first])
        return between <= _BETWEEN

    def _touches(self, at: int, beside: int) -> bool:
        """Only small words stand between two pieces."""
        first, second = sorted((self.pieces[at], self.pieces[beside]), key=lambda each: each.first)
        between = set(self._words[first.last : second.first])
        return between <= {"of", "the", "a", "by"} if between else at < beside

    def _breaks_before(self, at: int) -> bool:
        """Whether a comma or the like stands before a piece that is free."""
        piece = self._at(at)
        return piece is not None and piece.first in self._breaks

    def _number_after(self, at: int) -> tuple[list[Any], list[int]] | None:
        """A comparison at this place with its number or numbers: ([5], places)."""
        piece = self._at(at, "compare", "between")
        if piece is None:
            return None
        first = self._at(at + 1, "number", "period")
        if first is None or first.number is None:
            return None
        if piece.kind == "compare":
            return [first.number], [at, at + 1]
        joined, second = self._at(at + 2, "and"), self._at(at + 3, "number", "period")
        if joined is None or second is None or second.number is None:
            return None
        return [first.number, second.number], [at, at + 1, at + 2, at + 3]

    def _filter(self, at: int, column: ColumnRef, test: str, values: Sequence[Any]) -> None:
        same = [
            number
            for number, each in enumerate(self.found.filters)
            if test == each.test == "=" and each.column == column
        ]
        if same:
            # No row has two values in one column: "how many are male and how many female" asks for each.
            known = self.found.filters[same[0]]
            both = list(dict.fromkeys([*known.values, *values]))
            self.found.filters[same[0]] = known.model_copy(update={"values": both})
            if len(both) > len(known.values):
                self._add_group(Grouped(by=column))
            return
        self._placed[len(self.found.filters)] = self.pieces[at].first
        self.found.filters.append(Filtered(column=column, test=test, values=list(values)))

    def _subject(self, at: int) -> Grouped | None:
        """A name as something to group by: a column that is no figure, or the rows of another table."""
        again = self._at(at, "part")
        if again is not None:
            return self._time_part(again.argument)
        piece = self._at(at, "name")
        if piece is None:
            return None
        if piece.senses[0].kind == "table":
            sense = self._sense(at, "table")
            if sense is None or sense.table == self._base:
                return None
            return self._grouped_table(sense)
        column = self._column(at) if piece.senses[0].kind == "column" else None
        return None if column is None or self._is_figure(column) else Grouped(by=column)

    def _time_part(self, part: Any) -> Grouped | None:
        """A part of the table's time that comes again: by the column that names it, or taken from the time."""
        named = self._world.names_of_weekdays(self._base) if part == "weekday" else None
        if named is not None:
            return Grouped(by=ColumnRef(column=named))
        time = self._time()
        kind = self._facts(time).kind if time is not None else "number"
        if time is None or kind == "number" or (part == "hour of the day" and kind != "moment"):
            return None
        return Grouped(by=time, part=part)

    def _grouped_table(self, sense: Sense) -> Grouped | None:
        """Rows of another table, by the name that people know them by."""
        ways = self._world.paths(self._base).get(sense.table)
        if not ways:
            return None
        name = self._world.table(sense.table).name_column
        if name is None:
            return Grouped(by=ColumnRef(column=ways[0].steps[0].from_columns[0]))
        return Grouped(by=self._ref(Sense("column", sense.table, name)))

    def _subject_before(self, at: int) -> int | None:
        """What is grouped: a name right before, which is no figure."""
        for place in range(at - 1, -1, -1):
            if self._at(place, "which", "rows") is not None:
                continue
            return place if self._compared_subject(place) is not None else None
        return None

    def _compared_subject(self, at: int) -> Grouped | None:
        """What groups are of: a name, or a stretch of time as in "which months have …"."""
        unit = self._at(at, "unit")
        if unit is None:
            return self._subject(at)
        time = self._time()
        if time is None or (self._facts(time).kind == "number" and unit.argument != "year"):
            return None
        return Grouped(by=time, unit=unit.argument)

    def _group_by_subject(self, at: int) -> None:
        place = self._subject_before(at)
        group = None if place is None else self._compared_subject(place)
        if group is not None and place is not None:
            self._add_group(group)
            self._take(place)

    def _add_group(self, group: Grouped) -> None:
        if group in self.found.groups:
            return
        self.found.groups.append(group)
        # Two rows of another table may have one name; they are not one.
        key = self._key_beside(group)
        if key is not None and key not in self.found.groups:
            self.found.groups.append(key)

    def _key_beside(self, group: Grouped) -> Grouped | None:
        ref = group.by
        if ref.table is None or ref.column != self._world.table(ref.table).name_column:
            return None
        if self._facts(ref).unique:
            return None
        path = self._world.path(self._base, ref)
        if path is None or len(path.steps) > 1:
            return None
        return Grouped(by=ColumnRef(column=path.steps[0].from_columns[0]))

    def is_stretch(self, group: Grouped) -> bool:
        return self._world.is_stretch(self._base, group)

    def _add_measure(self, measure: Measured) -> None:
        if measure not in self.found.measures:
            self.found.measures.append(measure)

    def _time(self) -> ColumnRef | None:
        """The table's time where one can be told; else it is asked. A table without one has that of the rows it leads to."""
        named = [each.by.column for each in self.found.groups if each.by.table is None]
        times = self._world.times(self._base)
        said = next((each for each in named if each in times), None)
        if said is not None:
            # The time that is grouped by is the time that is spoken of.
            return ColumnRef(column=said)
        for at, piece in self._free("name") if len(times) > 1 else ():
            sense = piece.senses[0]
            if sense.kind == "column" and sense.table == self._base and sense.name in times:
                # "Tickets closed per month".
                self._take(at)
                return ColumnRef(column=sense.name)
        if not times:
            return self._joined_time()
        column = self._world.time_of(self._base)
        if column is None:
            options = [ColumnRef(column=each) for each in times[:4]]
            choice = Choice(" or ".join(times[:4]), options[0], tuple(options[1:]))
            if choice not in self.found.open:
                self.found.open.append(choice)
            return options[0]
        if len(times) > 1:
            told = f"Times are those of {column}."
            if told not in self.found.assumed:
                self.found.assumed.append(told)
        return ColumnRef(column=column)

    def _joined_time(self) -> ColumnRef | None:
        """The time of the nearest table that has one."""
        found = [
            (len(ways[0].steps), len(ways), ColumnRef(column=time, table=table))
            for table, ways in self._world.paths(self._base).items()
            if (time := self._world.time_of(table)) is not None
        ]
        nearest = [each for each in found if each[0] == min(found, key=lambda one: one[0])[0]]
        if len(nearest) != 1 or nearest[0][1] > 1:
            return None
        told = f"Times are those of {nearest[0][2].table}."
        if told not in self.found.assumed:
            self.found.assumed.append(told)
        return nearest[0][2]
