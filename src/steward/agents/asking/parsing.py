"""Makes a reading of the pieces of a question, over one table: each rule takes the pieces that stand together as it says.

What no rule takes is left over, and is told. No rule takes a piece because of what else may be meant.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from steward.agents.asking.behind import asked_columns, end_of_one_column, row_behind
from steward.agents.asking.conditions import Conditions, is_day
from steward.agents.asking.grammar import grammar
from steward.agents.asking.parts import COUNT, Choice, Parsed
from steward.agents.asking.ranking import Ranking
from steward.agents.asking.reading import ColumnRef, Filtered, Grouped, Measured
from steward.agents.asking.tagging import ALIKE, Piece
from steward.agents.asking.tokens import name_words, plain
from steward.agents.asking.world import is_step

_DAYS: Final = {"day": 1, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365.2}
_LEADING: Final = frozenset({"by", "in", "on", "at", "with", "during", "since", "from", "to"})
"""Small words between a verb and what it is about."""
_NOUNS: Final = frozenset({"name", "those"})
_IS_THE: Final = frozenset({"is", "are", "was", "were", "the"})
_JOINING: Final = frozenset({"and", "or", "it", "which"})
_PERSONS: Final = frozenset({"who", "where"})
"""Questions that no figure answers."""
_AGAINST: Final = frozenset({"not", "empty", "and", "or", "by"})
_VERBS: Final = frozenset({"is", "are", "was", "were", "have", "has", "had", "did", "do", "does"})


class Parser(Conditions, Ranking):
    def parse(self) -> Parsed:
        for rule in (
            self._charts,
            self._plain_marks,
            self._ranks,
            self._orders,
            self._joined_names,
            self._combined,
            self._having,
            self._comparisons,
            self._text_tests,
            self._gaps,
            self._rows_by_key,
            self._counts_of_each,
            self._groups,
            self._counted_per,
            self._figures,
            self._counts,
            self._superlatives,
            self._values,
            self._periods,
            self._set_against,
            self._whole_tables,
            self._parts,
            self._owners,
            self._columns_left,
            self._verbs,
            self._units,
        ):
            rule()
        self._groups_of_one()
        self._doubts()
        figures = {each.column.column for each in self.found.measures if each.column}
        figures |= {each.column.column for each in self.found.filters}
        self.found.assumed += [
            told for told in self._asides if any(told.startswith(f"{name} ") for name in figures)
        ]
        self.found.function_pieces = self.function_pieces
        asking = [self._words[each.first] for each in self.pieces if each.kind == "which"]
        self.found.asked = asked_columns(asking, self._world, self._base)
        self.found.unused = [
            piece
            for at, piece in enumerate(self.pieces)
            # "Films by Almodóvar": what "by" leads to was read.
            if at not in self._used and not (piece.kind == "by" and at + 1 in self._used)
        ]
        return self.found

    def _groups_of_one(self) -> None:
        """ "How many municipalities of each type", where municipality is a type: only these, or each?"""
        grouped = {(each.by.table, each.by.column) for each in self.found.groups}
        for each in self.found.filters:
            only = each.test == "=" and len(each.values) == 1
            if only and (each.column.table, each.column.column) in grouped:
                about = f"only “{each.values[0]}”, or each {each.column.column}"
                self.found.open.append(Choice(about, each, (None,)))

    def _doubts(self) -> None:
        """Names that were read one way and say as much in another: then it is asked which is meant."""
        for at, piece in enumerate(self.pieces):
            if piece.kind == "name" and at in self._used:
                self._rows_or_figure(at, piece)
                self._row_of_figure(at, piece)
                self._divided(at, piece)

    def _rows_or_figure(self, at: int, piece: Piece) -> None:
        """ "Tip percentage", "page views by month": of a table that is called like its figure or like a value."""
        found, alike = self.found, self._alike(piece)
        if piece.senses[0].kind == "value" and "table" in alike:
            said = " ".join(self._words[piece.first : piece.last])
            found.open.append(Choice(f"only “{said}”, or all rows of {self._base}", COUNT, ()))
        figure = alike.get("column") if self._is_base(at) else None
        read = [*found.columns, *(each.column for each in found.filters)]
        read += [each.column for each in found.order if each.column is not None]
        counted = at > 0 and self.pieces[at - 1].kind == "count"
        if figure is None or figure in read or counted or not self._is_figure(figure):
            return
        if found.measures in ([], [COUNT]):
            others = tuple(Measured(function=each, column=figure) for each in ("sum", "avg"))
            part = found.measures[0] if found.measures else COUNT
            about = f"rows of {self._base}, or its column {figure.column}"
            found.open.append(Choice(about, part, others if found.measures else ()))

    def _row_of_figure(self, at: int, piece: Piece) -> None:
        """ "The most abundant nuclide": the row, and not its figure."""
        found = self.found
        if (
            found.groups
            or not end_of_one_column(found.measures, ())
            or not self._ends_superlative(at)
        ):
            return
        if piece.senses[0].kind == "value":
            found.open.append(Choice(f"one {piece.senses[0].value}, or a figure", COUNT, ()))
        elif self._is_base(at) and self._alike(piece).get("column") != found.measures[0].column:
            known = self._world.table(self._base)
            names = [known.name_column] if known.name_column else known.key
            row_behind(found, [ColumnRef(column=each) for each in names])

    def _divided(self, at: int, piece: Piece) -> None:
        """ "Price per carat" is a ratio to most."""
        said_per = at > 0 and self._words[self.pieces[at - 1].first] == "per"
        name = piece.senses[0].name if said_per else ""
        group = Grouped(by=ColumnRef(column=name)) if name else None
        if group is None or group not in self.found.groups:
            return
        facts = self._facts(group.by)
        timed = self._world.is_time(self._base, facts)
        if facts.kind == "number" and not timed and "INT" not in facts.type.upper():
            about = f"for each value of {facts.name}, or divided by {facts.name}"
            self.found.open.append(Choice(about, group, (None,)))

    def _ends_superlative(self, at: int) -> bool:
        """Whether a noun ends the phrase of a superlative: "most abundant nuclide", but not "highest price of stocks"."""
        while at and self.pieces[at - 1].last == self.pieces[at].first:
            at -= 1
            if self.pieces[at].kind != "name":
                return self.pieces[at].kind in {"most", "adjective"}
        return False

    def _alike(self, piece: Piece) -> dict[str, ColumnRef | None]:
        """The kinds of what a piece can name as surely as what it was read as; the column where it is one."""
        alike = [each for each in piece.senses if each.score >= piece.surest - ALIKE]
        return {
            each.kind: ColumnRef(column=each.name) if each.kind == "column" else None
            for each in alike
            if each.table == self._base
        }

    def _charts(self) -> None:
        for at, piece in list(self._free("chart")):
            if self.found.chart in (None, "auto"):
                self.found.chart = piece.argument
            self._take(at)

    def _plain_marks(self) -> None:
        for at, piece in list(self._free()):
            match piece.kind:
                case (
                    "those"
                    | "it"
                    | "also"
                    | "instead"
                    | "only"
                    | "again"
                    | "no filter"
                    | "ever"
                    | "page"
                ):
                    self.found.marks |= {piece.kind, f"{piece.kind} {piece.argument}".strip()}
                case "shift":
                    self.found.shift = piece.argument
                case "running" | "change":
                    self.found.along = piece.kind
                    unit = self._at(at + 1, "unit")
                    if unit is not None:
                        self.found.marks.add(f"along {unit.argument}")
                        self._take(at + 1)
                case "rows of":
                    self._count_of_rows(at)
                    self.found.rows = True
                    self.found.marks.add("rows")
                case "rows":
                    self.found.marks.add("show")
                case "more" if not any(each.kind == "name" for each in self.pieces):
                    # "More", "10 more": of the rows that are shown.
                    self.found.marks |= {"page", "page next"}
                case "all":
                    pass
                case _:
                    continue
            self._take(at)

    def _count_of_rows(self, at: int) -> None:
        """5 rows."""
        before = self._at(at - 1, "number")
        if before is not None and isinstance(before.number, int) and 0 < before.number <= 10_000:
            self.found.limit = before.number
            self._take(at - 1)

    def _joined_names(self) -> None:
        """ "Customer city", "name of the airline": a column beside the table it is of."""
        for at, piece in list(self._free("name")):
            tables = piece.meaning("table")
            if not tables or piece.senses[0].kind != "table":
                continue
            if tables[0].table == self._base:
                # "Average track length" of the tracks themselves.
                if self._is_figure_at(at + 1) and self.pieces[at + 1].first == piece.last:
                    self.found.named_table = True
                    self._take(at)
                continue
            for beside in (at + 1, at - 1):
                other = self._at(beside, "name")
                of = [
                    each
                    for each in (other.senses if other is not None else ())
                    if each.kind == "column" and each.table == tables[0].table
                ]
                if (
                    other is not None
                    and of
                    and other.could_be("column")
                    and self._touches(at, beside)
                    # "Categories of businesses" are no businesses of categories.
                    and (beside < at or other.first == piece.last)
                ):
                    self.pieces[beside] = Piece(
                        "name", other.first, other.last, senses=(of[0],), worth=other.worth
                    )
                    self._take(at)
                    break

    def _whole_tables(self) -> None:
        for at, piece in list(self._free("name")):
            sense = self._sense(at, "table") if piece.senses[0].kind == "table" else None
            if sense is not None and sense.table == self._base:
                self.found.named_table = True
                self._take(at)
        for at, piece in list(self._free("unit")):
            if self._rows_are(piece.argument):
                # "Months with zero rain", of monthly figures.
                self.found.named_table = True
                self._take(at)
        for at, piece in list(self._free("name")):
            metric = self._sense(at, "metric") if piece.senses[0].kind == "metric" else None
            if metric is not None:
                self._add_measure(Measured(metric=metric.name))
                self._take(at)

    def _rows_are(self, unit: str) -> bool:
        """Whether each row that is asked for is of one such stretch of time, and no other."""
        name = self._world.time_of(self._base)
        facts = self._world.facts(self._base, name) if name is not None else None
        if facts is None or self.found.groups:
            return False
        if not (unit == "year" if facts.kind == "number" else is_step(facts, _DAYS.get(unit, 0))):
            return False
        self.found.groups = [Grouped(by=ColumnRef(column=facts.name))]
        is_one = self.is_one_row_each()
        self.found.groups = []
        return is_one

    def _parts(self) -> None:
        """A share of rows, or of what groups have."""
        for at, _ in list(self._free("share")):
            self._take(at)
            self.found.share = True
            column = self._column(at + 1)
            if column is not None and self._names_rows(column):
                # "Share of counties that …", where nearly every row is a county.
                self.found.assumed.append(f"Each row counts as one {column.column}.")
                self._take(at + 1)

    def _owners(self) -> None:
        """ "Which customers have overdue invoices": those that such rows belong to, and how many they have."""
        found = self.found
        if found.measures or found.groups or found.columns:
            return
        for at, _ in list(self._free("name")):
            whole = self._sense(at, "table")
            rows = next((n for n in range(at + 1, len(self.pieces)) if self._is_base(n)), None)
            if whole is None or whole.table == self._base or rows is None:
                continue
            between = {self.pieces[n].kind for n in range(at + 1, rows) if n not in self._used}
            group = self._subject(at)
            if group is None or between - {"silent"} or self._is_said_against(at, rows):
                continue
            self._add_group(group)
            found.measures.append(COUNT)
            self._take(at, *(n for n, _ in self._free("which", "rows") if n < at))
            return

    def _is_said_against(self, first: int, last: int) -> bool:
        """Whether "not" or "and" stands between: those without such rows, or both tables."""
        return any(self.pieces[n].kind in _AGAINST for n in range(first + 1, last))

    def _columns_left(self) -> None:
        """Columns that nothing else took: truth values, figures, columns to show."""
        names = [
            (at, ref)
            for at, piece in self._free("name")
            if piece.senses[0].kind == "column" and (ref := self._column(at)) is not None
        ]
        self._truths(names)
        left = [(at, ref) for at, ref in names if at not in self._used]
        if self._shows_columns(left):
            self.found.columns += [ref for _, ref in left]
            self._take(*(at for at, _ in left))
            self._take(*(at for at, _ in self._free("and", "which")))
            return
        for at, ref in left:
            if self._is_figure(ref) and not self._of_rows():
                joined = self._at(at - 1, "and") is not None and at - 2 in self._used
                joined |= self._breaks_before(at) and at - 1 in self._used
                if not self.found.measures or joined or self._is_of_one_row_each(at):
                    self._told_in_part(at, ref)
                    self._bare_figure(ref)
                    self._take(at)
            elif (
                not (self.found.measures or self.found.groups)
                and self._asks_which(at)
                and self._says_head(ref, at)
            ):
                self._list(at, ref)
        # An "or" that joined no values of one column says what no reading can say.
        self._take(*(at for at, _ in self._free("and") if self._is_between(at)))
        self._take(*(at for at, _ in self._free("which")))

    def _is_of_one_row_each(self, at: int) -> bool:
        """ "Top 5 states by sales with their population": a further figure of groups that are one row each."""
        before = self.pieces[at - 1].kind if at else ""
        with_ = self._words[self.pieces[at].first - 1] == "with"
        return (before == "those" or with_) and self.is_one_row_each()

    def _truths(self, names: Sequence[tuple[int, ColumnRef]]) -> None:
        counted = self.found.measures or self.found.groups or self.found.share
        for at, ref in names:
            yes = self._yes(ref)
            # "List the stable nuclides": before the rows it says which.
            after = at + 1 < len(self.pieces) and self.pieces[at + 1].first == self.pieces[at].last
            says_which = after and self._is_base(at + 1)
            if yes is True and (says_which or not self._shows()):
                self._filter(at, ref, "=", [True])
                self._take(at)
            elif yes is not None and counted:
                # "In poor health", of a column with 1 and 0.
                self._filter(at, ref, "=", [yes])
                self._take(at)

    def _list(self, at: int, ref: ColumnRef) -> None:
        """Which species are there; of a column that names rows, the rows with what they were chosen by."""
        self._take(at, *self._asking_words(at))
        if not self._names_rows(ref):
            self._add_group(Grouped(by=ref))
            self._add_measure(COUNT)
            self.found.marks.add("listed")
            return
        self.found.rows = True
        self.found.columns.append(ref)
        for each in self.found.filters:
            if each.column not in (*self.found.columns, ColumnRef(column="*")):
                self.found.columns.append(each.column)

    def _verbs(self) -> None:
        """ "Flown by Delta", "sold in March": a word that only leads to a condition that was read."""
        for at, piece in list(self._free("unknown")):
            following = self._words[piece.last : piece.last + 1]
            if self._words[piece.first] not in grammar().made or following[:1] == []:
                continue
            if following[0] not in _LEADING:
                continue
            after = at + 1 + (self._at(at + 1, "by") is not None)
            said = at > 0 and at - 1 in self._used and self.pieces[at - 1].kind in _NOUNS
            if after not in self._used or not said:
                continue
            timed = self.pieces[after].kind == "period" and bool(self.found.periods)
            led = [
                each
                for number, each in enumerate(self.found.filters)
                if self._placed.get(number) == self.pieces[after].first
            ]
            if timed or (led and not self._has_sibling(led[0].column)):
                self._take(at)

    def _units(self) -> None:
        """ "In cm" of height_cm: the unit of a column that is read already."""
        used = [each.column for each in self.found.measures if each.column is not None]
        used += [each.column for each in self.found.filters if each.column.column != "*"]
        units = {
            word
            for each in used
            for word in (
                *name_words(each.column)[1:][-1:],
                plain(self._world.column(each.table or self._base, each.column).unit),
            )
        }
        for at, piece in list(self._free("unknown", "name")):
            if {plain(word) for word in self._words[piece.first : piece.last]} <= units:
                self._take(at)

    def _has_sibling(self, column: ColumnRef) -> bool:
        """Whether another column of the table holds values of the same kind: origin and destination."""
        facts = self._facts(column)
        table = column.table or self._base
        return any(
            each.name != facts.name
            and each.kind == facts.kind == "text"
            and each.shapes[:1] == facts.shapes[:1]
            and bool(facts.shapes)
            and (each.shortest, each.longest) == (facts.shortest, facts.longest)
            for each in self._world.datasets[table].columns
        )

    def chooses_rows(self) -> bool:
        """ "Who started before 1975", "gross over 100 in Germany": whether conditions alone say which rows are asked for."""
        found = self.found
        conditions = len(found.filters) + len(found.segments)
        asks = self._shows() or any(each.kind == "which" for each in self.pieces)
        return bool(conditions) and (asks or conditions + len(found.periods) > 1)

    def _shows(self) -> bool:
        return bool({"show", "rows"} & self.found.marks)

    def _shows_columns(self, left: Sequence[tuple[int, ColumnRef]]) -> bool:
        if self.found.chart in {"histogram", "scatter", "box", "heatmap"}:
            return bool(left)
        if self.found.measures or self.found.groups or not left:
            return False
        # "The villages with their website": one for each row.
        of_rows = "those their" in self.found.marks and bool(self.found.filters)
        return self._shows() and (
            self.found.named_table or len(left) > 1 or self.found.rows or of_rows
        )

    def _of_rows(self) -> bool:
        return self.found.rows or (self._shows() and self.found.named_table)

    def _asks_which(self, at: int) -> bool:
        """Which species are there, list the carriers."""
        asked = any(self._at(place, "which") is not None for place in range(at))
        chosen = bool(self.found.filters or self.found.segments)
        # "Names of cars with …": of the rows themselves.
        of_rows = at + 1 < len(self.pieces) and self._touches(at, at + 1) and self._is_base(at + 1)
        limited = chosen and (not self.found.named_table or of_rows)
        return asked or self._shows() or limited

    def _is_base(self, at: int) -> bool:
        senses = self.pieces[at].senses
        return bool(senses) and senses[0].kind == "table" and senses[0].table == self._base

    def _is_between(self, at: int) -> bool:
        """A joining word between two pieces that were read."""
        return (at == 0 or at - 1 in self._used) and (
            at + 1 in self._used or at + 1 == len(self.pieces)
        )

    def asked_subject(self) -> list[Piece]:
        """What is asked for and not in the answer: "which state has …" is not answered by a figure.

        "What is the capital" asks for one; all of them are no answer to it.
        """
        found = self.found
        asking = [(at, piece) for at, piece in enumerate(self.pieces) if piece.kind == "which"]
        ends = [*(at for at, _ in asking[1:]), len(self.pieces)]
        for (at, piece), end in zip(asking, ends, strict=False):
            # "… and where does it go?" asks for more than what was read.
            clause = [n for n in range(at + 1, end) if self.pieces[n].kind not in _JOINING]
            word = self._words[piece.first]
            again = any(self._words[each.first] == word for _, each in asking if each is not piece)
            told_already = word == "when" and not again and self._tells_when()
            if (at or again) and not told_already and not any(n in self._used for n in clause):
                return [piece]
            told = found.measures or not found.named_table
            if word in _PERSONS and not at and told and not self._tells_a_name():
                return [piece]
            if word == "when" and not self._tells_when():
                return [piece]
        for at, piece in enumerate(self.pieces[:-1] if found.measures else ()):
            after = self.pieces[at + 1]
            near = self._words[piece.last : after.first]
            asks = piece.kind == "which" and self._words[piece.first] in {"which", "what"}
            sense = after.senses[0].kind if after.kind == "name" else ""
            # "Which state has …", "what is the state with …".
            led = not near or (sense == "table" and set(near) <= _IS_THE)
            if asks and sense and led and not self._is_told(after):
                return [after]
        listed = "listed" in found.marks and not (found.filters or found.segments or found.periods)
        if listed and self._words[1:3] == ["is", "the"] and self.pieces[0].kind == "which":
            return [piece for piece in self.pieces if piece.kind == "name"][:1]
        return []

    def _tells_a_name(self) -> bool:
        """Whether the groups are of something that has a name, and not of numbers or times."""
        return any(
            self._facts(each.by).kind == "text" or self._role(each.by) == "identifier"
            for each in self.found.groups
        )

    def _tells_when(self) -> bool:
        """Whether a time is in the answer."""
        found = self.found
        shown = [*found.columns, *(each.by for each in found.groups)]
        shown += [each.column for each in found.measures if each.column is not None]
        shows_all = found.rows and not found.columns and bool(self._world.times(self._base))
        return shows_all or any(
            self._world.is_time(each.table or self._base, self._facts(each)) for each in shown
        )

    def asked_columns(self) -> list[ColumnRef]:
        """Columns that are asked for beside a figure, "which country and year?", and nothing else took."""
        asking = [self._words[each.first] for each in self.pieces if each.kind == "which"]
        named = [
            (at, ref)
            for at, piece in self._free("name")
            if piece.senses[0].kind == "column"
            and (ref := self._column(at)) is not None
            and not self._is_figure(ref)
        ]
        return [*(ref for _, ref in named), *self.found.asked] if asking else []

    def take_asked(self) -> None:
        """Takes what is asked for beside a figure."""
        self._take(
            *(
                at
                for at, piece in self._free("name", "which")
                if piece.kind == "which" or piece.senses[0].kind == "column"
            )
        )

    def one_row_each_by_time(self) -> Grouped | None:
        """The time that a figure is told by where nothing says how: each time has one row of what is asked for."""
        time = self._world.time_of(self._base)
        facts = self._world.facts(self._base, time) if time is not None else None
        if facts is None or facts.kind != "number" or self.found.groups:
            return None
        return Grouped(by=ColumnRef(column=facts.name)) if self._rows_are("year") else None

    def lost_glue(self) -> Iterator[Piece]:
        """Small words that say something where they stand: "total delay per flight", "whose only language is"."""
        for at, piece in enumerate(self.pieces[:-1]):
            after = self.pieces[at + 1]
            kind = after.senses[0].kind if after.senses else ""
            own = kind == "table" and after.senses[0].table == self._base
            averaged = any(each.function in {"avg", "median"} for each in self.found.measures)
            if piece.kind == "by" and at not in self._used and own and not averaged:
                yield piece
            if piece.kind == "only" and kind == "column":
                yield piece
            if piece.kind in {"and", "or"} and self._words[piece.first - 1] in _LEADING:
                # "With and without a licence": of two conditions only one was read.
                yield piece

    def names_something(self) -> bool:
        """Whether a name, number or time of the question was read."""
        return any(self.pieces[at].kind in {"name", "number", "period"} for at in self._used)

    def follows_a_name(self, piece: Piece) -> bool:
        """Whether something that was read is named before: "the villages with their website"."""
        return any(
            at in self._used and each.kind == "name" and each.last <= piece.first
            for at, each in enumerate(self.pieces)
        )

    def _is_told(self, piece: Piece) -> bool:
        """Whether an answer with figures says which of these: it is grouped by them."""
        sense = piece.senses[0]
        grouped = {(each.by.table or self._base, each.by.column) for each in self.found.groups}
        if sense.kind == "column":
            listed = self._world.column(sense.table, sense.name).role in {"dimension", "identifier"}
            return bool(grouped) or not listed
        if sense.kind != "table":
            return True
        if sense.table != self._base:
            return bool(grouped)
        known = self._world.table(sense.table)
        return bool(grouped & {(sense.table, each) for each in (known.name_column, *known.key)})

    def is_one_row_each(self) -> bool:
        """Whether each group is one row, because a key of the table is grouped by or fixed: countries in one year."""
        found, facts = self.found, self._world.datasets[self._base]
        fixed = {
            each.by.column
            for each in found.groups
            if each.by.table is None and each.part is None and self._is_whole(each)
        }
        fixed |= {
            each.column.column
            for each in found.filters
            if each.column.table is None and each.test == "=" and len(each.values) == 1
        }
        for each in found.periods if len(found.periods) == 1 else ():
            facts_of = self._facts(each.column)
            years = facts_of.kind == "number"
            if years and each.start and each.end and int(each.end[:4]) - int(each.start[:4]) == 1:
                fixed.add(each.column.column)
            if facts_of.kind == "date" and each.start and each.end and is_day(each):
                fixed.add(each.column.column)
        return any(key and set(key) <= fixed for key in (facts.key, *facts.keys))

    def _is_whole(self, group: Grouped) -> bool:
        """Whether a group puts no two times together: years of years, days of dates."""
        kind = self._facts(group.by).kind
        return group.unit is None or kind == "number" or (kind, group.unit) == ("date", "day")

    def shared_conditions(self) -> list[Filtered]:
        """What a share is of: "share of late flights per carrier", "which part of the flights is late"."""
        here = ColumnRef(column="*")
        placed = [
            (place, Filtered(column=here, test="is", values=[name]))
            for name, place in self._segments_at.items()
        ]
        placed += [
            (self._placed.get(number, -1), each) for number, each in enumerate(self.found.filters)
        ]
        if not self.found.groups:
            verb = next((at for at, word in enumerate(self._words) if word in _VERBS), None)
            after = [each for place, each in placed if verb is not None and place >= verb]
            return after or ([placed[0][1]] if len(placed) == 1 else [])
        begin = next((each.first for each in self.pieces if each.kind == "share"), 0)
        ends = [each.first for each in self.pieces if each.kind == "by" and each.first > begin]
        end = ends[0] if ends else len(self._words)
        return [each for place, each in placed if begin < place < end]
