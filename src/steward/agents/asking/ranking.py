"""Rules for order: top 5, the most expensive, which has the most, the latest."""

from collections.abc import Sequence
from typing import Final

from steward.agents.asking.figures import Figures
from steward.agents.asking.grammar import grammar
from steward.agents.asking.lexicon import Sense
from steward.agents.asking.parts import COUNT, Choice
from steward.agents.asking.reading import ColumnRef, Function, Grouped, Measured, Ordered
from steward.agents.asking.tagging import Piece
from steward.agents.asking.tokens import plain

_OF_COUNTS: Final = frozenset({"most", "fewest", "least", "top", "bottom", "leading"})
"""Superlatives that can be of how many rows there are: the most flights, but not the largest city."""
_AT_ITS: Final = frozenset({"the", "at", "its", "is", "was", "were", "are", "been"})
_OF_AGE: Final = "oldest"
_ONE: Final = frozenset({"has", "is", "was", "does"})
"""Verbs of a single thing: "which species has"."""


class Ranking(Figures):
    def _ranks(self) -> None:
        """Top 5, 5 largest, the first 10."""
        for at, piece in list(self._free("most", "first", "time end", "frequent", "adjective")):
            for beside in (at + 1, at - 1):
                number = self._at(beside, "number")
                limit = number.number if number is not None else None
                is_count = isinstance(limit, int) and 0 < limit <= 10_000
                if is_count:
                    self.found.limit = int(limit or 0)
                    self._take(beside)
                    if piece.kind == "first":
                        self._take(at)
                    break

        ends = [at for at, _ in self._free("most", "time end", "frequent", "adjective")]
        for at, piece in list(self._free("number")):
            # "Which ten countries have the highest", "five days with the lowest".
            named = at + 1
            counted = self._at(named, "name") is not None and not self._is_number_at(named)
            is_limit = isinstance(piece.number, int) and 0 < piece.number <= 10_000
            if is_limit and counted and self._is_plural(named) and any(n > named for n in ends):
                self.found.limit = int(piece.number or 0)
                self._take(at)

        for at, piece in list(self._free("number")):
            # "Show me 5 tickets".
            sense = self._sense(at + 1, "table")
            own = sense is not None and sense.table == self._base
            shows = "show" in self.found.marks and not any(self._free("count", "compare"))
            if own and shows and isinstance(piece.number, int) and 0 < piece.number <= 10_000:
                self.found.limit = piece.number
                self._take(at)

    def _is_number_at(self, at: int) -> bool:
        column = self._column(at) if self.pieces[at].senses[0].kind == "column" else None
        return column is not None and self._is_number(column)

    def _orders(self) -> None:
        for at, _ in list(self._free("order")):
            descending: bool | None = None
            taken = [at]
            place = at + 1
            subject = self._subject(place) if self._at(place + 1, "by") is not None else None
            if subject is not None:
                # "Rank the varieties by mean yield": the figure stands after "by".
                self._add_group(subject)
                self.found.order.append(Ordered(by="measure"))
                self._take(at, place, place + 1)
                continue
            functions = self._at(place, "function")
            if functions is not None:
                taken.append(place)
                place += 1
            counted = self._at(place, "count")
            column = self._column(place)
            for beside in (place + 1, place, at - 1):
                direction = self._at(beside, "direction")
                if direction is not None:
                    descending = direction.argument == "desc"
                    taken.append(beside)
                    break
            if counted is not None or (functions is not None and column is not None):
                by = Ordered(by="measure", column=column, descending=descending is not False)
                taken.append(place)
            elif column is not None:
                by = Ordered(by="column", column=column, descending=bool(descending))
                taken.append(place)
            elif descending is not None or (place == len(self.pieces) and self._has_figure()):
                by = Ordered(by="measure", descending=descending is not False)
            else:
                continue
            self.found.order.append(by)
            self._take(*taken)
        self._directions()

    def _has_figure(self) -> bool:
        return any(each.kind in {"count", "function", "by"} for each in self.pieces)

    def _directions(self) -> None:
        for at, piece in list(self._free("most")):
            # "Most films first".
            if self._at(at + 1, "name") is not None and self._at(at + 2, "first") is not None:
                self.found.order.append(Ordered(by="measure", descending=piece.argument == "desc"))
                self._take(at, at + 1, at + 2)
        for at, piece in list(self._free("direction")):
            self.found.marks.add(f"direction {piece.argument}")
            self._take(at)

    def _superlatives(self) -> None:
        for at, piece in list(self._free("frequent")):
            past = at + 1 + (self._at(at + 1, "count") is not None)
            group, taken = self._subject(past), [*range(at + 1, past + 1)]
            if group is None:
                group, _, taken = self._ranked(at)
            if group is not None:
                # "Which mode was chosen most often", where choices are a figure.
                named = self._at(at - 1, "name")
                metric = self._sense(at - 1, "metric") if named else None
                self._add_group(group)
                self._add_measure(COUNT if metric is None else Measured(metric=metric.name))
                self._rank(piece.argument, taken)
                own = [at - 1] if metric is not None else []
                self._take(at, *taken, *own, *self._asking_words(at))
        for at, piece in list(self._free("time end")):
            self._time_end(at, piece)
        for at, piece in list(self._free("adjective")):
            self._adjective(at, piece)
        for at, piece in list(self._free("most")):
            self._most(at, piece)
        for at, piece in list(self._free("most")):
            # "… Bar chart of the top 10": of the ranking that is there.
            again = [
                each for each in self.found.order if each.descending == (piece.argument == "desc")
            ]
            if again and at + 1 in self._used and self._at(at + 2, "name") is None:
                self._take(at)

    def _rank(self, direction: str, places: Sequence[int] = ()) -> None:
        self._rank_by(Ordered(by="measure", descending=direction == "desc"), places)

    def _rank_by(self, by: Ordered, places: Sequence[int]) -> None:
        """The first one; of several that are asked for without a number, nobody knows how many."""
        self.found.order = [by]
        if self.found.limit is None and any(self._is_plural(place) for place in places):
            self.found.open.append(Choice("how many of them", by, ()))
        else:
            self.found.limit = self.found.limit or 1

    def _is_plural(self, at: int) -> bool:
        noun = self._words[self.pieces[at].last - 1]
        return noun.endswith("s") and plain(noun) != noun and not _ONE & set(self._words)

    def _asking_words(self, at: int) -> list[int]:
        return [place for place in range(at) if self._at(place, "which", "rows") is not None]

    def _time_end(self, at: int, piece: Piece) -> None:
        if self._words[piece.first] == _OF_AGE and len(self._called(("age",), "desc")) == 1:
            self._adjective(at, piece)
            return
        column = self._column(at + 1)
        rows = self._past_conditions(at + 1)
        sense = self._sense(rows, "table")
        if column is not None and self._world.is_time(self._base, self._facts(column)):
            function: Function = "max" if piece.argument == "desc" else "min"
            self.found.measures.append(Measured(function=function, column=column))
            self._take(at, at + 1)
        elif sense is not None and sense.table == self._base:
            named = self._column(rows + 2) if self._at(rows + 1, "by") is not None else None
            if named is not None and self._world.is_time(self._base, self._facts(named)):
                # "The latest order by due date".
                self._order_rows(named, piece.argument, [rows])
                self._take(at, rows, rows + 1, rows + 2)
                return
            time = self._time()
            if time is not None:
                self._order_rows(time, piece.argument, [rows])
                times = [ColumnRef(column=each) for each in self._world.times(self._base)]
                if self._words[piece.first] == _OF_AGE and len(times) > 1:
                    # How old something is need not be told by any of these times.
                    about = f"the {_OF_AGE} by {time.column}, or by something else"
                    self.found.open.append(Choice(about, time, tuple(times[1:])))
                self._take(at, rows)

    def _order_rows(self, column: ColumnRef, direction: str, places: Sequence[int]) -> None:
        self._rank_by(Ordered(by="column", column=column, descending=direction == "desc"), places)
        self.found.rows = True
        self.found.named_table = True

    def _adjective(self, at: int, piece: Piece) -> None:
        """The most expensive diamonds: rows by the one column that is called a price."""
        direction, names = grammar().adjectives.get(piece.argument, ("desc", ("age",)))
        columns = self._called(names, direction)
        named = self._column(at + 1) if self._is_figure_at(at + 1) else None
        if named is not None and "speed" not in names and self._at(at - 1, "most") is None:
            # "The coldest temp_min": which figure is meant, is said.
            function: Function = "max" if direction == "desc" else "min"
            self._add_measure(Measured(function=function, column=named))
            self._take(at, at + 1)
            return
        if len(columns) != 1:
            return
        column = ColumnRef(column=columns[0])
        taken = [at]
        before = self._at(at - 1, "most")
        if before is not None:
            # "Least expensive" turns it round.
            direction = "desc" if direction == before.argument else "asc"
            taken.append(at - 1)
        sense = self._sense(at + 1, "table")
        rows = sense is not None and sense.table == self._base
        subject, places = self._subject(at + 1), [at + 1]
        if not rows and subject is None:
            unit = self._at(at + 1, "unit")
            time = self._time() if unit is not None else None
            if unit is not None and time is not None:
                subject = Grouped(by=time, unit=unit.argument)
            else:
                subject, rows, places = self._ranked(at)
        if rows:
            self._order_rows(column, direction, places)
        elif subject is not None:
            self._add_group(subject)
            if len(self.found.functions) == 1:
                chosen = self.found.functions.pop()
            else:
                chosen = self._summed(column, direction)
            self._add_measure(Measured(function=chosen, column=column))
            self._rank(direction, places)
        elif not self._told_by_name(column, direction):
            return
        self.found.assumed.append(f"“{self._words[piece.first]}” is by {columns[0]}.")
        self._take(*taken, *places, *self._asking_words(at))

    def _told_by_name(self, column: ColumnRef, direction: str) -> bool:
        """ "Who is the tallest": rows by the column that names them, where people are asked for."""
        name = self._world.table(self._base).name_column
        asks = any(self._words[each.first] in {"who", "who's"} for _, each in self._free("which"))
        if asks and name is not None:
            self._order_rows(column, direction, [])
            self.found.columns += [ColumnRef(column=name), column]
        return asks and name is not None

    def _most(self, at: int, piece: Piece) -> None:
        subject, rows, taken = self._ranked(at)
        figure = self._figure_ranked(at, subject is not None, piece.argument)
        if figure is None:
            return
        measure, places = figure
        if self._words[piece.first] in {"best", "worst"} and measure not in (None, COUNT):
            # Whether much is good, no one said.
            self.found.open.append(
                Choice(f"the highest or the lowest is the {self._words[piece.first]}", COUNT, ())
            )
        if subject is not None:
            self._add_group(subject)
            if measure is not None and measure not in self.found.measures:
                self.found.measures.insert(0, measure)
            self._rank(piece.argument, taken)
        elif rows and measure is not None and measure.column is not None:
            self._order_rows(measure.column, piece.argument, taken)
            if self.found.columns:
                self.found.columns.append(measure.column)
        elif measure is not None and measure.column is not None and self.found.limit is None:
            function: Function = "max" if piece.argument == "desc" else "min"
            self._add_measure(Measured(function=function, column=measure.column))
        elif self.found.groups:
            # "Number of tracks per genre, top 5".
            if measure is not None:
                self._add_measure(measure)
            self._rank(piece.argument)
        else:
            return
        self._take(at, *taken, *places, *(self._asking_words(at) if taken else []))

    def _ranked(self, at: int) -> tuple[Grouped | None, bool, list[int]]:
        """What is ranked: after "top 5", before "with the most", after "which"."""
        following = at + 1
        while (
            following in self._used
            and following < len(self.pieces)
            and self.pieces[following].kind == "number"
        ):
            following += 1
        places = []
        if self._at(following, "name") is not None and (
            self._by_after(following) is not None or self._is_own_table(following)
        ):
            places.append(following)
        places += [
            place for place in range(at - 1, -1, -1) if self._at(place, "name", "unit", "part")
        ][:1]
        asked = [place + 1 for place in range(at) if self._at(place, "which") is not None]
        places += [place for place in asked if self._at(place, "name", "unit", "part") is not None]
        if self.found.limit is not None and self._at(following, "name") is not None:
            places.append(following)
        for place in places:
            unit = self._at(place, "unit")
            if unit is not None:
                time = self._time()
                if time is not None:
                    return Grouped(by=time, unit=unit.argument), False, [place]
            sense = self._sense(place, "table")
            if (
                sense is not None
                and sense.table == self._base
                and self.pieces[place].senses[0].kind == "table"
            ):
                return None, True, [place]
            group = self._subject(place)
            if group is not None:
                return group, False, [place]
        rows = self._past_conditions(following)
        if rows > following and self._is_own_table(rows, at):
            # "The largest overdue invoice".
            return None, True, [rows]
        asked = [n for n, each in self._free("which") if self._words[each.first] == "who"]
        owner = self._owner() if asked else None
        return owner, False, asked if owner is not None else []

    def _owner(self) -> Grouped | None:
        """Who the rows belong to: the only table with names that they lead to, where there is one."""
        tables = [
            table
            for table, ways in self._world.paths(self._base).items()
            if len(ways) == len(ways[0].steps) == 1 and self._world.table(table).name_column
        ]
        if len(tables) != 1:
            return None
        return self._grouped_table(Sense("table", tables[0], tables[0]))

    def _is_own_table(self, at: int, most: int | None = None) -> bool:
        """Whether rows of the table are ranked by the superlative `most`, or the one before: the largest city."""
        piece = self._at(at, "name")
        if piece is None or at == 0 or self._figure_kind(at) != "table":
            return False
        counts = self._words[self.pieces[at - 1 if most is None else most].first] in _OF_COUNTS
        return piece.senses[0].table == self._base and not counts

    def _by_after(self, at: int) -> int | None:
        return at + 1 if self._at(at + 1, "by") is not None else None

    def _only_measure(self, at: int) -> ColumnRef | None:
        """The largest city: by the only figure that a city has."""
        if not self._is_own_table(at + 1):
            return None
        found = [
            each.name
            for each in self._world.datasets[self._base].columns
            if each.name and self._world.column(self._base, each.name).role == "measure"
        ]
        return ColumnRef(column=found[0]) if len(found) == 1 else None

    def _figure_ranked(
        self, at: int, grouped: bool, direction: str
    ) -> tuple[Measured | None, list[int]] | None:
        """What is ranked by: after the superlative, or after "by"."""
        if grouped and self._at(at + 1, "share") is not None:
            self.found.share = True
            return None, [at + 1]
        starts = [at + 1]
        starts += [place + 1 for place in range(at, len(self.pieces)) if self._at(place, "by")]
        for place in starts:
            extra = [place - 1] if self._at(place - 1, "by") is not None else []
            function = self._at(place, "function")
            here = place + (function is not None)
            if self._at(here, "count") is not None:
                extra.append(here)
                here += 1
            taken = [*extra, here, *([place] if function is not None else [])]
            beside = self.pieces[at] if place == at + 1 and here == place else None
            measure = self._ranked_by(here, function, grouped, direction, beside)
            named = self._at(here, "name")
            if measure is None and beside is not None and grouped and named is not None:
                counts = self._words[beside.first] in _OF_COUNTS
                if counts and named.senses[0].kind in {"value", "segment"}:
                    # "Which island has the most Gentoo".
                    return COUNT, []
            if measure is not None:
                return measure, taken
        counted = any(each == COUNT or each.metric for each in self.found.measures)
        if counted and (grouped or (self.found.groups and self.found.limit is not None)):
            return None, []
        if (before := self._figure_before_end(at, grouped, direction)) is not None:
            return before
        figures = [each for each in self.found.measures if each.column is not None]
        if figures and (grouped or self.found.groups):
            return figures[0], []
        return self._figure_of_rows(at, grouped)

    def _figure_of_rows(self, at: int, grouped: bool) -> tuple[Measured | None, list[int]] | None:
        """The figure that rows have by themselves: the only one, or the one that can be added up."""
        only = self._only_measure(at)
        if only is not None and not grouped:
            self.found.assumed.append(
                f"“{self._words[self.pieces[at].first]}” is by {only.column}."
            )
            return Measured(function="sum", column=only), []
        ranks_rows = self._ranks_rows(at)
        own = self._own_figure() if grouped and ranks_rows else None
        if own is None and ranks_rows and not grouped:
            return self._any_figure(at)
        return None if own is None else (own, [])

    def _any_figure(self, at: int) -> tuple[Measured | None, list[int]] | None:
        """The biggest invoice, by one of several figures: which, has to be chosen."""
        figures = self._figures_of_base()
        if not figures:
            return None
        falls = self.pieces[at].argument == "desc"
        orders = [Ordered(by="column", column=each, descending=falls) for each in figures]
        about = f"the figure that “{self._words[self.pieces[at].first]}” is by"
        self.found.open.append(Choice(about, orders[0], tuple(orders[1:])))
        return Measured(function="sum", column=figures[0]), []

    def _figure_before_end(
        self, at: int, grouped: bool, direction: str
    ) -> tuple[Measured | None, list[int]] | None:
        """ "In which year was the value the highest": the figure stands before the superlative."""
        place = next((n for n in range(at - 1, -1, -1) if self._is_figure_at(n)), None)
        if place is None or self._at(at + 1, "name") is not None:
            return None
        if not grouped:
            # "When was the close highest?"
            column = self._column(place)
            between = set(self._words[self.pieces[place].last : self.pieces[at].first])
            if column is None or not between <= _AT_ITS or self.found.limit is not None:
                return None
            return Measured(function="sum", column=column), [place]
        measure = self._ranked_by(place, None, grouped, direction)
        return None if measure is None else (measure, [place])

    def _ranks_rows(self, at: int) -> bool:
        """Whether rows of the table follow, past words that say which: "the highest unpaid invoices"."""
        return self._is_own_table(self._past_conditions(at + 1), at)

    def _past_conditions(self, place: int) -> int:
        """The place after words that say which rows: "unpaid" in "the oldest unpaid invoice"."""
        while (each := self._at(place, "name")) and each.senses[0].kind in {"segment", "value"}:
            place += 1
        return place

    def _ranked_by(
        self,
        at: int,
        function: Piece | None,
        grouped: bool,
        direction: str,
        piece: Piece | None = None,
    ) -> Measured | None:
        """What is ranked by at a place; `piece` is the superlative right before it."""
        if self._at(at, "name") is None:
            return None
        kind = self._figure_kind(at)
        sense = self._sense(at, kind)
        if sense is None or kind not in {"metric", "table", "column"}:
            return None
        if kind == "metric":
            return Measured(metric=sense.name)
        if kind == "table":
            counts = self._words[piece.first] in _OF_COUNTS if piece is not None else True
            return COUNT if sense.table == self._base and grouped and counts else None
        column = self._ref(sense)
        if not self._is_number(column) or self._role(column) == "identifier":
            return None
        self._told_in_part(at, column)
        chosen = function.argument if function is not None else None
        if grouped and chosen is None:
            chosen = self._summed(column, direction)
        return Measured(function=chosen or "sum", column=column)

    def _summed(self, column: ColumnRef, direction: str) -> str:
        """How a figure of groups is ranked where no function is named."""
        definition = self._world.column(column.table or self._base, column.column)
        if definition.additive == "always":
            self.found.assumed.append(f"I compared totals of {column.column}.")
            return definition.total or "sum"
        single: Function = "max" if direction == "desc" else "min"
        options = [Measured(function=each, column=column) for each in (single, "avg")]
        said = f"a single {column.column} or the average of {column.column}"
        self.found.open.append(Choice(said, options[0], (options[1],)))
        return single
