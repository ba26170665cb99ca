"""Rules for which rows are meant: comparisons, gaps, values, segments and stretches of time."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

from steward.agents.asking.grammar import grammar
from steward.agents.asking.lexicon import Sense
from steward.agents.asking.parts import COUNT, Choice
from steward.agents.asking.periods import Span, in_words, shifted
from steward.agents.asking.pieces import Pieces
from steward.agents.asking.reading import ColumnRef, Filtered, Grouped, Measured, Period
from steward.agents.asking.tagging import Piece
from steward.agents.asking.tokens import name_words, plain

_BEGINS: Final = frozenset({"start", "started", "begin", "began", "from"})
_ENDS: Final = frozenset({"end", "ended", "until", "to"})
_OF_EACH: Final = frozenset({"avg", "median", "stddev"})


class Conditions(Pieces):
    def _having(self) -> None:
        """ "With more than 5 invoices", "average delay over 20": of groups, where something is grouped."""
        for at, piece in list(self._free("compare", "between")):
            found = self._times_after(at) or self._number_after(at)
            if found is None:
                continue
            numbers, places = found
            test = "between" if piece.kind == "between" else piece.argument
            after = places[-1] + 1
            sense = self._sense(after, "table")
            occurs = self.pieces[places[-1]].kind == "times"
            # Executions that are a figure are no rows.
            named = sense is not None and self.pieces[after].senses[0].kind == "table"
            counted = named and sense is not None and sense.table == self._base
            if (counted or occurs) and self._subject_before(at) is not None:
                self._group_by_subject(at)
                self.found.measures.append(COUNT)
                self._take(*places, *(() if occurs else (after,)))
            elif (figure := self._figure_before(at)) is not None:
                measure, taken = figure
                if self._subject_before(taken[0]) is not None:
                    self._group_by_subject(taken[0])
                self.found.measures.append(measure)
                self._take(*places, *taken)
            else:
                continue
            self.found.having.append(
                Filtered(column=ColumnRef(column="*"), test=test, values=numbers)
            )

    def _times_after(self, at: int) -> tuple[list[Any], list[int]] | None:
        """ "More than once", "at least 3 times": how many rows there are of each."""
        said = self._at(at + 1, "times") if self._at(at, "compare") else None
        if said is not None and said.argument:
            return [int(said.argument)], [at, at + 1]
        found = self._number_after(at)
        if found is None or self._at(found[1][-1] + 1, "times") is None:
            return None
        return found[0], [*found[1], found[1][-1] + 1]

    def _figure_before(self, at: int) -> tuple[Measured, list[int]] | None:
        column = self._column(at - 1)
        function = self._at(at - 2, "function")
        if column is not None and function is not None:
            return Measured(function=function.argument, column=column), [at - 2, at - 1]
        return None

    def _compared_adjectives(self) -> None:
        """ "Hotter than 90": by the one column that the adjective speaks of."""
        for at, piece in list(self._free("unknown")):
            number = self._at(at + 1, "number")
            quantity = _quantity_of(self._words[piece.first])
            if number is None or quantity is None or self._words[piece.last] != "than":
                continue
            columns = self._called(quantity[1], quantity[0])
            if len(columns) == 1:
                test = ">" if quantity[0] == "desc" else "<"
                self._filter(at, ColumnRef(column=columns[0]), test, [number.number])
                self.found.assumed.append(f"“{self._words[piece.first]}” is by {columns[0]}.")
                self._take(at, at + 1)

    def _comparisons(self) -> None:
        self._compared_columns()
        for at, piece in list(self._free("compare", "between")):
            found = self._number_after(at)
            if found is None:
                continue
            numbers, places = found
            test = "between" if piece.kind == "between" else piece.argument
            following = places[-1] + 1
            # "More than 12 marriages": what stands right after the number comes first.
            named = self._at(following, "name") if piece.kind == "compare" else None
            touching = named is not None and named.first == self.pieces[places[-1]].last
            for beside in (following, at - 1) if touching else (at - 1, following):
                column = self._column(beside)
                if column is not None and self._is_number(column):
                    self._filter(at, column, test, numbers)
                    self._take(*places, beside)
                    break
            else:
                self._compare_only_figure(at, test, numbers, places)
        self._compared_adjectives()
        self._plain_numbers()

    def _compared_columns(self) -> None:
        """ "Days with the close above the open": two columns of one row."""
        for at, piece in list(self._free("compare", "more")):
            one, other, taken = self._column(at - 1), self._column(at + 1), (at - 1, at, at + 1)
            than = self._words[piece.last : piece.last + 1] == ["than"]
            if piece.kind == "more" and not than and self._joined_by_than(at + 1):
                # "More wounds than disease".
                one, other, taken = other, self._column(at + 2), (at, at + 1, at + 2)
                than = True
            if one is None or other is None or (piece.kind == "more" and not than):
                continue
            if not (self._is_figure(one) and self._is_figure(other)) or one == other:
                continue
            test = {"desc": ">", "asc": "<"}.get(piece.argument, piece.argument)
            self._placed[len(self.found.filters)] = self.pieces[taken[0]].first
            self.found.filters.append(Filtered(column=one, test=test, than=other))
            self._take(*taken)

    def _joined_by_than(self, at: int) -> bool:
        """Whether only "than" stands between the piece at a place and the next."""
        if not (self._at(at, "name") and self._at(at + 1, "name")):
            return False
        return self._words[self.pieces[at].last : self.pieces[at + 1].first] == ["than"]

    def _compare_only_figure(
        self, at: int, test: str, numbers: Sequence[Any], places: Sequence[int]
    ) -> None:
        """ "Countries with more than 20": of the only figure that the table has; of several one has to be chosen."""
        quantity = _quantity_of(self._words[self.pieces[at].first])
        columns = self._called(quantity[1], quantity[0]) if quantity is not None else []
        if len(columns) == 1:
            # "Older than 60".
            self._filter(at, ColumnRef(column=columns[0]), test, numbers)
            self.found.assumed.append(f"I compared {columns[0]}.")
            self._take(*places)
            return
        figures = self._figures_of_base()
        unread = [self._at(beside, "unknown", "unit") for beside in (at - 1, places[-1] + 1)]
        if not figures or any(unread):
            return
        self._filter(at, figures[0], test, numbers)
        self._take(*places)
        if len(figures) == 1:
            self.found.assumed.append(f"I compared {figures[0].column}.")
            return
        compared = [Filtered(column=each, test=test, values=list(numbers)) for each in figures]
        about = f"the figure that is compared with {numbers[0]}"
        self.found.open.append(Choice(about, compared[0], tuple(compared[1:])))

    def _plain_numbers(self) -> None:
        """8 cylinders, cylinders = 8, 50 employees or more."""
        for at, piece in list(self._free("number", "period")):
            if piece.number is None or at in self._used:
                continue
            if piece.kind == "period" and (
                piece.span is None or piece.span.size > 1 or self._world.times(self._base)
            ):
                continue
            for beside in (at + 1, at - 1):
                column = self._column(beside)
                if column is None or not self._is_number(column) or not self._near(at, beside):
                    continue
                if piece.kind == "period" and self._role(column) == "time":
                    continue
                if beside == at - 1 and self._at(beside - 1, "by") is not None:
                    continue
                more = next(
                    (n for n in (at + 1, beside + 1) if self._at(n, "or more") is not None), None
                )
                test = self.pieces[more].argument if more is not None else "="
                self._filter(min(at, beside), column, test, self._listed(at, [piece.number]))
                self._take(at, beside, *([more] if more is not None else []))
                break

    def _listed(self, at: int, numbers: list[Any]) -> list[Any]:
        """ "4 or 6 cylinders": the numbers before, joined by "or"."""
        while self._at(at - 1, "or") is not None and self._at(at - 2, "number") is not None:
            numbers.insert(0, self.pieces[at - 2].number)
            self._take(at - 1, at - 2)
            at -= 2
        return numbers

    def _rows_by_key(self) -> None:
        """ "Invoice 17", "order A-1007": the row that is known by it."""
        key = self._world.datasets[self._base].key or tuple(self._world.table(self._base).key)
        if len(key) != 1 or self._world.facts(self._base, key[0]) is None:
            return
        ref = ColumnRef(column=key[0])
        is_number = self._facts(ref).kind == "number"
        for at, piece in list(self._free("name")):
            sense = piece.senses[0]
            end, text = self._codes.get(piece.last, (0, ""))
            if (sense.kind, sense.table) != ("table", self._base) or not self._is_one(piece):
                continue
            said = [
                n
                for n, each in enumerate(self.pieces)
                if piece.last <= each.first < each.last <= end
            ]
            if not said or any(self._at(n) is None for n in said):
                continue
            if self.pieces[said[0]].kind == "period":
                # "Weather 2012" is of a year.
                continue
            number = self.pieces[said[0]].number if len(said) == 1 else None
            if is_number and number is None:
                continue
            self._filter(at, ref, "=", [number if is_number else text])
            self.found.named_table = True
            self._take(at, *said)

    def _is_one(self, piece: Piece) -> bool:
        """Whether a name is in the singular."""
        word = self._words[piece.last - 1]
        return plain(word) == word

    def _text_tests(self) -> None:
        """Whose title contains "love"."""
        for at, piece in list(self._free("contains")):
            column = self._column(at - 1)
            rest = self.pieces[at + 1] if at + 1 < len(self.pieces) else None
            if column is None or rest is None or self._facts(column).kind != "text":
                continue
            text = " ".join(self._words[rest.first : rest.last])
            self._filter(at - 1, column, piece.argument, [text])
            self._take(at - 1, at, at + 1)

    def _gaps(self) -> None:
        """Missing age, age is empty, without an e-mail, not cancelled."""
        for at, piece in list(self._free("empty", "filled")):
            test = "empty" if piece.kind == "empty" else "not empty"
            before = self._at(at - 1, "not")
            for beside in (at - 1 - (before is not None), at + 1):
                named = self._at(beside, "name")
                column = self._column(beside)
                if column is None or named is None or named.senses[0].kind != "column":
                    continue
                if before is not None:
                    test = "not empty" if test == "empty" else "empty"
                    self._take(at - 1)
                self._filter(min(at, beside), column, test, [])
                self._take(at, beside)
                break
        for at, _ in list(self._free("not")):
            named = self._at(at + 1, "name")
            if named is None or named.senses[0].kind != "column":
                continue
            column = self._column(at + 1)
            if column is None or self._names_its_value(at + 1, column):
                continue
            yes = self._yes(column)
            if yes is not None:
                self._filter(at, column, *(("=", [False]) if yes is True else ("!=", [yes])))
            else:
                self._none_of(at, column)
            self._take(at, at + 1)

    def _none_of(self, at: int, column: ColumnRef) -> None:
        """Nothing there, or 0 of a figure: both are asked about where both are in the data."""
        facts, is_figure = self._facts(column), self._is_figure(column)
        none = Filtered(column=column, test="=", values=[0])
        if is_figure and facts.nulls == 0:
            # "Committees that have no staff", where every row has a number.
            self._filter(at, column, "=", [0])
            return
        self._filter(at, column, "empty", [])
        if is_figure and facts.low == 0 and not self.found.rows:
            about = f"{column.column} is empty, or 0"
            self.found.open.append(Choice(about, self.found.filters[-1], (none,)))

    def _names_its_value(self, at: int, column: ColumnRef) -> bool:
        """Whether a value of the column stands right after it."""
        piece = self._at(at + 1, "name")
        return piece is not None and any(
            each.kind == "value" and each.name == column.column for each in piece.senses
        )

    def _values(self) -> None:
        for at, piece in list(self._free("name")):
            if at in self._used:
                continue
            kind = piece.senses[0].kind
            if kind == "segment":
                self._segment(at)
            elif kind == "value":
                self._value(at)

    def _segment(self, at: int) -> None:
        sense = self._sense(at, "segment")
        if sense is None or sense.table != self._base:
            return
        if self._at(at - 1, "not") is not None:
            self._filter(at - 1, ColumnRef(column="*"), "is not", [sense.name])
            self._take(at - 1)
        elif sense.name not in self.found.segments:
            self.found.segments.append(sense.name)
            self._segments_at[sense.name] = self.pieces[at].first
        self._take(at)

    def _value(self, at: int) -> None:
        """A value, with its column where that stands beside it, and others of the column after "and" or "or"."""
        sense, beside = self._value_sense(at)
        if sense is None:
            return
        column = self._ref(sense)
        values, taken = [sense.value], [at, *beside]
        before = min(taken) - 1
        negated = self._at(before, "not") is not None
        place = max(taken) + 1
        while True:
            joined = self._at(place, "and", "or", "contrast")
            following = place + (joined is not None)
            other = self._value_of(following, sense)
            if other is None:
                break
            if joined is None and self.pieces[following].first not in self._breaks:
                # "Seattle Washington" are two things about one row, "Seattle, Washington" may be two rows.
                break
            values.append(other.value)
            taken += [following, *([place] if joined is not None else [])]
            place = following + 1
        contrast = self._contrasts(taken)
        joined_by_contrast = any(self.pieces[each].kind == "contrast" for each in taken)
        if len(values) > 1 and (contrast or joined_by_contrast or self._is_averaged()):
            self._add_group(Grouped(by=column))
            taken += contrast
        self._filter(min(taken), column, "!=" if negated else "=", values)
        self._take(*taken, *([before] if negated else []))

    def _is_averaged(self) -> bool:
        """ "The average price of ideal and premium diamonds": of each, as no average of theirs is one of both."""
        functions = {each.function for each in self.found.measures if each.column is not None}
        return bool(functions & _OF_EACH) and not self.found.groups

    def _contrasts(self, joined: Sequence[int]) -> list[int]:
        """Places of words that set things against each other: compare, versus; "more" of the one or the other."""
        found = [n for n, _ in self._free("contrast")]
        either = any(self.pieces[each].kind == "or" for each in joined or range(len(self.pieces)))
        return [*found, *(n for n, _ in self._free("more") if either)]

    def _value_sense(self, at: int) -> tuple[Sense | None, list[int]]:
        """What the value is of: of the column beside it, else of the only column that has it."""
        piece = self.pieces[at]
        options = [each for each in piece.senses if each.kind == "value"]
        # What is called exactly so comes before what only begins so.
        options = [each for each in options if each.score >= options[0].score - 0.2]
        taken = {
            (each.column.table or self._base, each.column.column)
            for each in self.found.filters
            if each.test == "="
        }
        free = [each for each in options if (each.table, each.name) not in taken]
        if free and len(free) < len(options):
            return free[0], []
        for beside in (at - 1, at + 1):
            other = self._at(beside, "name")
            columns = [each for each in (other.senses if other else ()) if each.kind == "column"]
            if other is not None and other.senses[0].kind == "table":
                # "Cities in Virginia" are rows; a name that only begins so is not meant.
                columns = [each for each in columns if options[0].name == each.name]
            for each in options:
                if any((c.table, c.name) == (each.table, each.name) for c in columns):
                    if beside == at - 1 and self._at(beside - 1, "by") is not None:
                        continue
                    return each, [beside]
        found = self._sense(at, "value")
        # A single letter is a value only beside its column.
        letter = len(self._words[piece.first]) < 2 and piece.last == piece.first + 1
        return (None if letter else found), []

    def _value_of(self, at: int, like: Sense) -> Sense | None:
        piece = self._at(at, "name")
        if piece is None:
            return None
        return next(
            (
                each
                for each in piece.senses
                if each.kind == "value" and (each.table, each.name) == (like.table, like.name)
            ),
            None,
        )

    def _periods(self) -> None:
        for at, piece in list(self._free("period")):
            span = piece.span
            if span is None:
                continue
            before = self._column(at - 1) or self._column(at + 1)
            timed = before is not None and self._world.is_time(
                before.table or self._base, self._facts(before)
            )
            if timed and before is not None:
                ref = before
                self._take(at - 1 if self._column(at - 1) else at + 1)
            elif self._by_calendar(at, span):
                continue
            else:
                time = self._time()
                if time is None:
                    continue
                ref = time
                self._asked_of_stretches(ref)
            span = self._dated(ref, span)
            if not self._fits(ref, span):
                continue
            self.found.periods.append(_period(ref, span))
            self._asked_of_today(ref, piece)
            if span.assumed:
                self.found.assumed.append(span.assumed)
            self._take(at)
            self._take(*(n for n in (at - 1, at + 1) if self._joins_periods(n, at)))
        contrast = self._contrasts(())
        if len(self.found.periods) > 1 and (contrast or self._are_each_asked()):
            self._contrast_periods(contrast)

    def _asked_of_today(self, ref: ColumnRef, piece: Piece) -> None:
        """ "The last day", of data that ended long ago: of today's calendar there is nothing."""
        facts, period = self._facts(ref), self.found.periods[-1]
        named = any(
            each.isdigit() for word in self._words[piece.first : piece.last] for each in word
        )
        is_over = facts.last is not None and (period.start or "") > facts.last[:10]
        if is_over and not named and period.start is not None:
            about = f"{period.said}, or the end of the data in {(facts.last or '')[:10]}"
            self.found.open.append(Choice(about, period, ()))

    def _asked_of_stretches(self, time: ColumnRef) -> None:
        """Rows that last from one time to another: "president in 1970" need not have begun then."""
        said = {each for name in self._world.times(self._base) for each in name_words(name)}
        if _BEGINS & said and _ENDS & said and not self._speaks_of(*(_BEGINS & said)):
            about = f"that {time.column} is then, or that it lasts at that time"
            self.found.open.append(Choice(about, time, ()))

    def _are_each_asked(self) -> bool:
        """ "In 1900 and in 2000": a figure of each year or month, and not of both together."""
        joined = [at for at, piece in enumerate(self.pieces) if piece.kind == "and"]
        both = any(
            0 < at < len(self.pieces) - 1
            and self.pieces[at - 1].kind == self.pieces[at + 1].kind == "period"
            for at in joined
        )
        sizes = {_months(each) for each in self.found.periods}
        return both and not self.found.groups and sizes in ({1}, {12})

    def _set_against(self) -> None:
        """ "Is it higher in mature or in young ones?": the words that set values against each other that are grouped by."""
        grouped = [each.by for each in self.found.groups]
        if any(len(each.values) > 1 and each.column in grouped for each in self.found.filters):
            self._take(*(at for at, _ in self._free("more", "or", "contrast")))

    def _dated(self, ref: ColumnRef, span: Span) -> Span:
        """A month without a year is of the only year that there is data of; of several years none is chosen in silence."""
        facts = self._facts(ref)
        first, last = (_day(each) for each in (facts.first, facts.last))
        if not span.assumed or first is None or last is None:
            return span
        begin = span.start or span.end
        if begin is None:
            return span
        years = [
            year
            for year in range(first.year, min(last.year, first.year + 200) + 1)
            if _overlaps(_in_year(span, year), first, last)
        ]
        if len(years) == 1:
            found = _in_year(span, years[0])
            return replace(found, assumed=f"All of the data for this is of {years[0]}.")
        if years and begin.year not in years:
            # Years of data, and none is the one that people mean who name no year.
            said = f"which year, {years[0]} to {years[-1]}"
            chosen = _period(ref, _in_year(span, years[-1]))
            self.found.open.append(Choice(said, chosen, ()))
            return _in_year(span, years[-1])
        return span

    def _by_calendar(self, at: int, span: Span) -> bool:
        """A year or month by the columns that hold its number, where the moments are in another time zone or there are none."""
        columns = self._world.calendar(self._base)
        parts = _calendar_parts(span)
        if not columns or not parts or any(unit not in columns for unit, _ in parts[1:]):
            return False
        time = self._world.time_of(self._base)
        facts = self._world.facts(self._base, time) if time is not None else None
        if facts is not None and facts.kind == "number" and len(parts) == 1:
            return False
        if facts is not None and facts.kind != "number" and "TIME ZONE" not in facts.type.upper():
            return False
        year = columns.get("year")
        years = self._world.facts(self._base, year) if year is not None else None
        if span.assumed and not (years is not None and years.constant):
            return False
        wanted = parts[1:] if span.assumed else parts
        if any(unit not in columns for unit, _ in wanted):
            return False
        if span.assumed and years is not None and years.low is not None:
            self.found.assumed.append(f"All of the data is of {int(years.low)}.")
        for unit, values in wanted:
            ref = ColumnRef(column=columns[unit])
            same = [n for n, each in enumerate(self.found.filters) if each.column == ref]
            if same:
                known = self.found.filters[same[0]]
                both = list(dict.fromkeys([*known.values, *values]))
                self.found.filters[same[0]] = known.model_copy(update={"values": both})
            else:
                self._filter(at, ref, "=", values)
        self._take(at, *(n for n in (at - 1, at + 1) if self._joins_periods(n, at)))
        contrast = self._contrasts(())
        if contrast and len(self.found.filters[-1].values) > 1:
            self._add_group(Grouped(by=self.found.filters[-1].column))
            self._take(*contrast)
        return True

    def _joins_periods(self, place: int, at: int) -> bool:
        other = 2 * place - at
        there = 0 <= other < len(self.pieces) and self.pieces[other].kind == "period"
        return there and self._at(place, "and", "or") is not None

    def _contrast_periods(self, places: list[int]) -> None:
        first = self.found.periods[0]
        whole_years = all(
            (each.start or "")[5:] == (each.end or "")[5:] for each in self.found.periods
        )
        group = Grouped(by=first.column, unit="year" if whole_years else "month")
        self._add_group(group)
        self._take(*places)

    def _fits(self, ref: ColumnRef, span: Span) -> bool:
        """Whole years only, where a column has nothing but years."""
        if self._facts(ref).kind != "number":
            return True
        ends = [each for each in (span.start, span.end) if each is not None]
        return all((each.month, each.day) == (1, 1) for each in ends)


def _quantity_of(comparative: str) -> tuple[str, tuple[str, ...]] | None:
    """What "older" or "hotter" compares, by the superlative of the same adjective."""
    if comparative in {"older", "younger"}:
        return ("desc" if comparative == "older" else "asc"), ("age",)
    return grammar().adjectives.get(f"{comparative[:-1]}st") if comparative.endswith("er") else None


def is_day(period: Period) -> bool:
    start, end = _day(period.start), _day(period.end)
    return start is not None and end is not None and (end - start).days == 1


def _months(period: Period) -> int | None:
    """How many whole months a stretch has."""
    start, end = _day(period.start), _day(period.end)
    if start is None or end is None or not start.day == end.day == 1:
        return None
    return (end.year - start.year) * 12 + end.month - start.month


def _calendar_parts(span: Span) -> list[tuple[str, list[Any]]]:
    """A stretch as numbers of the calendar: the year, then the months or the month and the day; none where it is no such."""
    start, end = span.start, span.end
    if start is None or end is None:
        return []
    year: tuple[str, list[Any]] = ("year", [start.year])
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and start.month == 1 and months == 12:
        return [year]
    if start.day == end.day == 1 and 1 <= months < 12 and start.month + months <= 13:
        return [year, ("month", list(range(start.month, start.month + months)))]
    if (end - start).days == 1:
        return [year, ("month", [start.month]), ("day", [start.day])]
    return []


def _overlaps(span: Span, first: date, last: date) -> bool:
    """Whether data has more than the edge of a stretch: an hour of the next year in another time zone is none of it."""
    begin, end = max(span.start or first, first), min(span.end or last, last + timedelta(days=1))
    whole = (span.end or end) - (span.start or begin)
    return (end - begin).days >= min(2, whole.days)


def _in_year(span: Span, year: int) -> Span:
    ends = [each for each in (span.start, span.end) if each is not None]
    ahead = year - ends[0].year

    def moved(day: date | None) -> date | None:
        return None if day is None else shifted(day, "year", ahead)

    return Span(moved(span.start), moved(span.end), span.size)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None


def _period(ref: ColumnRef, span: Span) -> Period:
    return Period(
        column=ref,
        start=span.start.isoformat() if span.start else None,
        end=span.end.isoformat() if span.end else None,
        said=in_words(span.start, span.end),
    )
