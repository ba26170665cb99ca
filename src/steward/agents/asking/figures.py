"""Rules for what is computed, and by what it is grouped."""

from collections.abc import Sequence
from typing import Any, Final

from steward.agents.asking.parts import COUNT, Choice
from steward.agents.asking.pieces import Pieces
from steward.agents.asking.reading import ColumnRef, Grouped, Measured
from steward.agents.asking.tagging import ALIKE
from steward.agents.asking.tokens import name_words
from steward.agents.asking.wording import Words

HOW_MUCH: Final = "how much"
"""A metric that is called so is what its table's rows are about."""


_MOSTLY: Final = 0.5


class Figures(Pieces):
    def _groups(self) -> None:
        for at, piece in list(self._free("each")):
            self._round(at, piece.argument)
        for at, _ in list(self._free("over time")):
            name = self._world.time_of(self._base)
            facts = self._world.facts(self._base, name) if name else None
            unit = "year" if facts is not None and facts.kind == "number" else "month"
            self.found.assumed.append(f"I took one figure per {unit}.")
            self._round(at, unit)
        for at, _ in list(self._free("by")):
            if at in self._used or self._is_rank_by(at):
                continue
            place, taken = at + 1, [at]
            while (size := self._group_at(place)) > 0:
                taken.append(place)
                place += size
                if self._at(place, "and", "by") is None or not self._could_group(place + 1):
                    break
                taken.append(place)
                place += 1
            if len(taken) > 1:
                self._take(at, *(each for each in taken if self.pieces[each].kind in {"and", "by"}))

    def _combined(self) -> None:
        """ "Average difference between high and low", "ratio of beef to pork", "high minus low"."""
        for at, piece in list(self._free("combined", "minus")):
            before = piece.kind == "combined"
            first = at + 1 if before else at - 1
            second = at + 2 + (self._at(at + 2, "and") is not None) if before else at + 1
            if not (self._is_figure_at(first) and self._is_figure_at(second)):
                continue
            one, other = self._column(first), self._column(second)
            if one is None or other is None or one.table or other.table:
                continue
            led = at - 1 if before else first - 1
            function = self._at(led, "function", "most")
            asks_which = any(
                n < led and self._words[each.first] != "what" for n, each in self._free("which")
            )
            if function is not None and function.kind == "most" and asks_which:
                # "Which day had the biggest difference" asks for the day.
                continue
            taken = [at, *range(min(first, at), second + 1)]
            if piece.argument == "/":
                self._add_measure(Measured(function="sum", column=one, over=other))
                self._take(*taken)
                continue
            if function is not None:
                chosen = {"desc": "max", "asc": "min"}.get(function.argument, function.argument)
                taken.append(led)
            else:
                chosen = self._difference_of(one, other)
            self._add_measure(Measured(function=chosen, column=one, minus=other))
            self._take(*taken)

    def _difference_of(self, one: ColumnRef, other: ColumnRef) -> Any:
        """The difference of totals where both add up; else which figure is meant is asked."""
        adds = all(
            self._world.column(self._base, each.column).additive == "always"
            for each in (one, other)
        )
        measures = [Measured(function=each, column=one, minus=other) for each in ("sum", "avg")]
        if not adds:
            about = f"the total or the average of {one.column} less {other.column}"
            self.found.open.append(Choice(about, measures[0], (measures[1],)))
        return "sum"

    def _counted_per(self) -> None:
        """ "Bacteria per genus": how many of them, where nothing else is asked for."""
        said = ("count", "function", "how much", "share", "most", "adjective", "frequent", "each")
        if self.found.measures or self._marked("show") or any(self._free(*said)):
            return
        for at, piece in enumerate(self.pieces):
            if piece.kind != "by" or at not in self._used or at == 0:
                continue
            named = self._at(at - 1, "name")
            column = self._column(at - 1) if named and named.senses[0].kind == "column" else None
            if column is None or self._is_figure(column) or self._role(column) == "time":
                continue
            counted = self._counted_values(column, at - 1, distinct=False)
            if counted is not None:
                self._add_measure(counted[0])
                self._take(at - 1)
            return

    def _marked(self, mark: str) -> bool:
        return mark in self.found.marks

    def _is_rank_by(self, at: int) -> bool:
        """ "Top 5 customers by revenue": what follows is the figure to rank by."""
        ranked = any(self._free("most", "time end")) or self.found.limit is not None
        follows = self._at(at + 1, "name", "function", "count")
        if not ranked or follows is None:
            return False
        if follows.kind != "name":
            return True
        if follows.senses[0].kind == "metric":
            return True
        if follows.senses[0].kind == "table":
            return follows.senses[0].table == self._base
        column = self._column(at + 1)
        if column is not None and any(self._free("time end")):
            return self._world.is_time(column.table or self._base, self._facts(column))
        return column is not None and self._is_figure(column)

    def _could_group(self, at: int) -> bool:
        if self._at(at, "unit") is not None:
            return True
        return self._subject(at) is not None

    def _group_at(self, at: int) -> int:
        """Groups by what stands here; how many pieces that took."""
        unit = self._at(at, "unit")
        if unit is not None:
            return 1 if self._round(at, unit.argument) else 0
        column = self._column(at)
        if column is not None and self._figure_kind(at) != "table":
            after = self._at(at + 1, "unit")
            timed = self._world.is_time(column.table or self._base, self._facts(column))
            if after is not None and timed:
                self._add_group(Grouped(by=column, unit=after.argument))
                self._take(at, at + 1)
                return 2
            if self._at(at, "name"):
                self._add_group(Grouped(by=column, unit=self._default_unit(column)))
                self._take(at)
                return 1
        group = self._subject(at)
        if group is None:
            return 0
        self._add_group(group)
        self._take(at)
        return 1

    def _default_unit(self, column: ColumnRef) -> Any:
        """A moment is put together by days: no two are alike."""
        facts = self._facts(column)
        return "day" if facts.kind == "moment" else None

    def _round(self, at: int, unit: str) -> bool:
        """Groups by a stretch of the table's time."""
        beside, place = self._column(at - 1), at - 1
        if beside is None or not self._touches(at, at - 1):
            beside, place = self._column(at + 1), at + 1
        if beside is not None and self._world.is_time(
            beside.table or self._base, self._facts(beside)
        ):
            self._take(place)
            ref = beside
        elif groups := self._calendar_groups(unit):
            for each in groups:
                self._add_group(each)
            self._take(at)
            return True
        else:
            time = self._time()
            if time is None:
                return False
            ref = time
        if self._facts(ref).kind == "number" and unit != "year":
            return False
        self._add_group(Grouped(by=ref, unit=unit))
        self._take(at)
        return True

    def _calendar_groups(self, unit: str) -> list[Grouped]:
        """By the columns that hold the numbers of years, months and days, where the table has no better time."""
        columns = self._world.calendar(self._base)
        time = self._world.time_of(self._base)
        facts = self._world.facts(self._base, time) if time is not None else None
        is_better = facts is not None and facts.kind != "number"
        if unit not in columns or unit == "year":
            return []
        if is_better and facts is not None and "TIME ZONE" not in facts.type.upper():
            return []
        units = ("year", "month", "day", "hour")
        wanted = ("year", unit) if unit not in units else units[: units.index(unit) + 1]
        if any(each not in columns for each in wanted):
            return []
        named = [(each, self._world.facts(self._base, columns[each])) for each in wanted]
        return [
            Grouped(by=ColumnRef(column=found.name))
            for each, found in named
            if found is not None and (each == unit or not found.constant)
        ]

    def _figures(self) -> None:
        """The total of something, the average delay and the highest one."""
        for at, piece in list(self._free("function", "functions")):
            if at in self._used:
                continue
            functions, place = piece.argument.split(), at + 1
            while (size := self._function_after(place)) > 0:
                place += size
                functions.append(self.pieces[place - 1].argument)
            if self._at(place, "count", "share") is not None and functions == ["sum"]:
                self._take(at)
                continue
            if self._at(place, "count") is not None and self._is_figure_at(place + 1):
                # "Average number of visits": of the column that counts them.
                place += 1
            size = self._measured(place, functions)
            if size:
                self._take(*range(at, place))
            elif self._is_figure_at(at - 1) and self._measured(at - 1, functions):
                # "Price on average", "gross total".
                self._take(*range(at, place))
            elif len(functions) == 1 and self._at(place, "name") is None:
                self.found.functions += functions
                self.function_pieces.append(self.pieces[at])
                self._take(at)
        self._sums()

    def _counts_of_each(self) -> None:
        """ "Average number of invoices per customer": rows by how many different owners they have."""
        counted = [
            at
            for at, _ in self._free("count")
            if (whole := self._sense(at + 1, "table")) is not None and whole.table == self._base
        ]
        averages = [at for at, piece in self._free("function") if piece.argument == "avg"]
        if len(counted) != 1 or len(averages) != 1:
            return
        count, average = counted[0], averages[0]
        owners = [n for n in range(count + 2, len(self.pieces)) if self._subject(n) is not None]
        owner = self._subject(owners[0]) if len(owners) == 1 else None
        if owner is None or owner.part is not None:
            return
        by = [n for n, _ in self._free("by") if n == owners[0] - 1]
        if (by or owner.by.table is not None) and average in (count - 1, count + 2, owners[0] + 1):
            self._count_each(owner)
            self.found.named_table = True
            self._take(average, count, count + 1, *by, owners[0])

    def _count_each(self, owner: Grouped) -> None:
        per, path = owner.by, self._world.path(self._base, owner.by)
        if per.table is not None and path is not None:
            per = ColumnRef(column=path.steps[0].from_columns[0])
            rows = Words(self._world.definitions).noun(self._base, 2)
            self.found.assumed.append(f"Those without {rows} are not counted.")
        self._add_measure(Measured(function="count", per=per))

    def _function_after(self, place: int) -> int:
        """How many pieces go on with another function: "mean, min and max"."""
        if self._at(place, "function") is not None:
            return 1
        joined = self._at(place, "and") is not None
        return 2 if joined and self._at(place + 1, "function") is not None else 0

    def _own_figure(self) -> Measured | None:
        """What "how much" means of the table: the metric that is called so, or its only column that can be added up."""
        metrics = [
            name
            for name, each in self._world.definitions.metrics.items()
            if each.over == self._base and HOW_MUCH in each.synonyms
        ]
        if len(metrics) == 1:
            return Measured(metric=metrics[0])
        found = [
            each.name
            for each in self._world.datasets[self._base].columns
            if each.name
            and (definition := self._world.column(self._base, each.name)).role == "measure"
            and definition.additive == "always"
        ]
        if len(found) != 1:
            return None
        told = f"I added up {found[0]}."
        if told not in self.found.assumed:
            self.found.assumed.append(told)
        return Measured(function="sum", column=ColumnRef(column=found[0]))

    def _sums(self) -> None:
        """How much of something, something in total."""
        for at, _ in list(self._free("how much")):
            if (
                self._measured(at + 1, ["sum"])
                or (self._at(at + 1, "name") is None and self._add_own_figure())
                or self._figure_further(at)
            ):
                self._take(at)
        counted = any(self._free("count")) and "sum" in self.found.functions
        if counted and self._add_own_figure():
            # "Count and sum": of the only column that can be added up.
            self.found.functions.remove("sum")
        for at, _ in list(self._free("in all")):
            counted = any(self._free("count"))
            if (
                self.found.measures
                or counted
                or any(
                    self._is_figure_at(beside) and self._measured(beside, ["sum"])
                    for beside in (at - 1, at + 1)
                )
            ):
                self._take(at)

    def _figure_further(self, at: int) -> bool:
        """ "How much did General Motors invest": the figure that stands after who or what it is of."""
        place = next((n for n in range(at + 1, len(self.pieces)) if self._is_figure_at(n)), None)
        column = self._column(place) if place is not None else None
        if place is None or column is None:
            return False
        if self._world.column(column.table or self._base, column.column).additive == "never":
            self._bare_figure(column)
            self._take(place)
            return True
        return bool(self._measured(place, ["sum"]))

    def _add_own_figure(self) -> bool:
        figure = self._own_figure()
        if figure is None:
            return False
        if any(self._free("count")):
            self._add_measure(COUNT)
        self._add_measure(figure)
        return True

    def _told_in_part(self, at: int, column: ColumnRef) -> None:
        """Revenue is not surely the annual revenue: a figure that is named in part is asked about."""
        senses = [each for each in self.pieces[at].senses if each.kind == "column"]
        if senses and senses[0].headless and self._is_figure(column):
            self.found.open.append(Choice(column.column, column, ()))
            self.found.in_part.append(self.pieces[at])

    def _figure_kind(self, at: int) -> str:
        """What a piece is as a figure: "tips" are a column of tips before they are its rows."""
        piece = self.pieces[at]
        alike = [each for each in piece.senses if each.score >= piece.surest - ALIKE]
        columns = [each for each in alike if each.kind == "column" and each.table == self._base]
        is_figure = columns and self._is_figure(ColumnRef(column=columns[0].name))
        return "column" if is_figure else piece.senses[0].kind

    def _is_figure_at(self, at: int) -> bool:
        piece = self._at(at, "name")
        column = self._column(at) if piece and piece.senses[0].kind == "column" else None
        return column is not None and self._is_figure(column)

    def _measured(self, at: int, functions: Sequence[str]) -> int:
        """Figures of the column or metric that stands here; how many pieces that took."""
        piece = self._at(at, "name")
        if piece is None:
            return 0
        kind = self._figure_kind(at)
        if kind == "table" and self._figure_of_each(at, functions):
            return 1
        metric = self._sense(at, "metric") if kind == "metric" else None
        if metric is not None and functions == ["sum"]:
            self.found.measures.append(Measured(metric=metric.name))
            self._take(at)
            return 1
        column = self._column(at) if kind == "column" else None
        if column is None or not (self._is_number(column) or set(functions) <= {"min", "max"}):
            return 0
        self._told_in_part(at, column)
        taken = [at]
        columns = [column]
        while (joined := self._at(at + 1, "and") is not None) or self._breaks_before(at + 1):
            following = at + 1 + joined
            more = self._column(following)
            if more is None or not self._is_figure(more) or self._at(following + 1, "compare"):
                break
            columns.append(more)
            taken += range(at + 1, following + 1)
            at = following
        for each in columns:
            for function in functions:
                self.found.measures.append(Measured(function=function, column=each))
        self._take(*taken)
        return len(taken)

    def _figure_of_each(self, at: int, functions: Sequence[str]) -> bool:
        """ "The average invoice": of the only figure that the table has; of several one has to be chosen."""
        sense = self._sense(at, "table")
        if sense is None or sense.table != self._base or len(functions) != 1:
            return False
        if functions == ["sum"]:
            # "All invoices in total": how many there are.
            self.found.measures.append(COUNT)
            self.found.named_table = True
            self._take(at)
            return True
        figures = self._figures_of_base()
        function: Any = functions[0]
        measures = [Measured(function=function, column=each) for each in figures]
        if not measures or function in {"count", "count_distinct"}:
            return False
        self.found.measures.append(measures[0])
        self.found.named_table = True
        if len(measures) == 1:
            self.found.assumed.append(f"I took {figures[0].column}.")
        else:
            about = f"the figure of each {self._world.table(self._base).row or self._base}"
            self.found.open.append(Choice(about, measures[0], tuple(measures[1:])))
        self._take(at)
        return True

    def _counts(self) -> None:
        for at, _ in list(self._free("count")):
            distinct = self._at(at + 1, "distinct")
            target = self._counted(at + 1 + (distinct is not None), distinct is not None)
            if target is None:
                if distinct is None:
                    self._add_measure(COUNT)
                    self._take(at)
                continue
            measure, place = target
            self._add_measure(measure)
            self._take(at, place, *([at + 1] if distinct is not None else []))
        for at, _ in list(self._free("distinct")):
            column = self._column(at + 1)
            if column is not None:
                self._add_group(Grouped(by=column))
                self._add_measure(COUNT)
                self._take(at, at + 1)

    def _counted(self, at: int, distinct: bool) -> tuple[Measured, int] | None:
        """What is counted, past values and numbers that only say which: "how many urgent tickets"."""
        for place in range(at, len(self.pieces)):
            piece = self.pieces[place]
            if place in self._used and piece.kind in {"number", "name"}:
                continue
            if piece.kind != "name" or place in self._used:
                return None
            kind = piece.senses[0].kind
            if kind in {"value", "segment"}:
                continue
            if kind == "metric":
                # "How many orders", where orders are a figure: it counts already.
                return Measured(metric=piece.senses[0].name), place
            if kind == "table":
                return self._counted_table(place)
            found = self._column(place) if kind == "column" else None
            if found is None or self._is_figure(found):
                return self._counted_figure(found, place)
            return self._counted_values(found, place, distinct)
        return None

    def _counted_values(
        self, column: ColumnRef, place: int, distinct: bool
    ) -> tuple[Measured, int] | None:
        yes = self._yes(column)
        if yes is not None and yes is not True:
            # "How many smokers": those with a yes.
            self._filter(place, column, "=", [yes])
            return COUNT, place
        if not self._says_head(column, place):
            return None
        if self._facts(column).unique and column.table is None:
            # "How many years", where each row is one.
            return COUNT, place
        # "Total number of credits" is no number of different ones.
        summed = place > 1 and self.pieces[place - 2].kind == "function"
        names = self._role(column) in {"identifier", "time"} and not summed
        is_number = self._is_number(column) and not names
        if yes is True or (is_number and not distinct):
            # The number of credits: added up, or how many different numbers there are?
            return None
        measure = Measured(function="count_distinct", column=column)
        if not distinct and self._is_said_of_some(column):
            about = f"different values of {column.column}, or rows with some of them"
            self.found.open.append(Choice(about, measure, ()))
        if not distinct and self._nearly_names_rows(column):
            # Counties of several states have one name: different names, or rows?
            about = f"different values of {column.column}, or rows"
            self.found.open.append(Choice(about, measure, (COUNT,)))
        return measure, place

    def _is_said_of_some(self, column: ColumnRef) -> bool:
        """Whether some values say the column's own name: "alkali metal" is a metal, "noble gas" is none."""
        head = name_words(column.column)[-1:]
        said = [set(head) <= set(name_words(each)) for each in self._facts(column).values]
        return bool(head) and any(said) and not all(said)

    def _names_rows(self, column: ColumnRef) -> bool:
        own = column.table in (None, self._base) and self._role(column) != "measure"
        return own and (bool(self._facts(column).unique) or self._nearly_names_rows(column))

    def _nearly_names_rows(self, column: ColumnRef) -> bool:
        """Whether most rows have a value of their own, and some share one."""
        facts = self._facts(column)
        rows = self._world.datasets[column.table or self._base].rows - (facts.nulls or 0)
        distinct = facts.distinct
        return distinct is not None and _MOSTLY * rows < distinct < rows

    def _counted_table(self, place: int) -> tuple[Measured, int] | None:
        """Rows of the table; of another one, how many different rows these lead to."""
        sense = self._sense(place, "table")
        if sense is None:
            return None
        if sense.table == self._base:
            self.found.named_table = True
            return COUNT, place
        ways = self._world.paths(self._base).get(sense.table, [])
        if len(ways) != 1 or len(ways[0].steps) > 1:
            return None
        column = ColumnRef(column=ways[0].steps[0].from_columns[0])
        return Measured(function="count_distinct", column=column), place

    def _counted_figure(self, column: ColumnRef | None, at: int) -> tuple[Measured, int] | None:
        """ "Number of passengers": the column counts already, so its numbers are added up."""
        if column is None:
            return None
        definition = self._world.column(column.table or self._base, column.column)
        measure = Measured(function="sum", column=column)
        if definition.additive == "never":
            facts = self._facts(column)
            if "INT" not in facts.type.upper() or facts.low is None or facts.low < 0:
                return None
            summed = any(each.kind == "in all" for each in self.pieces)
            if not summed and (at < 2 or self.pieces[at - 2].kind != "function"):
                # "Number of visits": of whole numbers that no one said can be added up.
                about = f"the total of {column.column}, or how many rows there are"
                self.found.open.append(Choice(about, measure, (COUNT,)))
        self.found.assumed.append(f"I added up {column.column}.")
        return measure, at

    def _bare_figure(self, ref: ColumnRef) -> None:
        definition = self._world.column(ref.table or self._base, ref.column)
        chosen = self.found.functions[:1]
        if chosen:
            self.found.functions = self.found.functions[1:]
            function = chosen[0]
        else:
            function = definition.total or ("sum" if definition.additive == "always" else "avg")
            said = {"sum": "the total", "avg": "the average"}.get(function, function)
            self.found.assumed.append(f"I took {said} of {ref.column}.")
            if function == "avg" and not (self.found.groups or self.found.chart):
                # The price of all diamonds: the average, the highest or all of them?
                option = Measured(function="max", column=ref)
                self.found.open.append(
                    Choice(
                        f"the average or a single {ref.column}",
                        Measured(function="avg", column=ref),
                        (option,),
                    )
                )
        self.found.measures.append(Measured(function=function, column=ref))
