"""Answers in sentences: the first one answers, from the reading and the rows of its result.

Nothing is computed here but which rows are the largest: every figure is a cell of the result, so that its source can be found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from steward.agents.asking.compiling import IN_ALL
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.wording import Words, joined, listed, plural, spaced

_MOST_NAMED: Final = 3
_MOST_ROWS: Final = 100
"""Rows that a query returns where a reading says no number; as many may be the first of more."""
_MOST_GROUPS: Final = 200
_NEARLY_ALL: Final = 0.8
_EMPTY: Final = "(empty)"
READ: Final = "I read "
"""How a sentence begins that says what a word was taken for; the answer's first sentence tells it."""


@dataclass(frozen=True)
class Result:
    """Rows of a reading's query: its groups first, then its measures; of rows, their columns."""

    columns: Sequence[Any]
    rows: Sequence[Any]
    is_cut: bool = False
    """Whether there were more rows than were returned."""
    ties: int = 0
    """How many more are equal to the last one of a ranking."""
    has_more_ties: bool = False
    """Whether there may be more of them than were counted."""
    in_all: int | None = None
    """How many rows there are, where only the first of them are here."""

    @classmethod
    def of(cls, value: Any) -> "Result | None":
        columns, rows = (
            (value.get("columns"), value.get("rows"))
            if isinstance(value, Mapping)
            else (None, None)
        )
        if not isinstance(columns, list) or not isinstance(rows, list):
            return None
        ties = value.get("ties")
        counted = ties if isinstance(ties, int) else 0
        cut, more = bool(value.get("truncated")), bool(value.get("more_ties"))
        in_all = value.get("in_all")
        known = in_all if isinstance(in_all, int) else None
        return cls(columns, rows, cut, counted, more, known)

    @property
    def names(self) -> list[str]:
        return [
            str(each.get("name", "")) if isinstance(each, Mapping) else str(each)
            for each in self.columns
        ]

    @property
    def records(self) -> list[list[Any]]:
        names = self.names
        return [
            [row.get(name) for name in names] if isinstance(row, Mapping) else list(row)
            for row in self.rows
        ]


def answer_text(asked: Asked, result: Result | None, words: Words) -> str:
    """The answer to a question that was read: what was found, what was assumed, what to look at."""
    if asked.status != "fact":
        return asked_back(asked, words)
    if result is None or asked.reading is None:
        return ""
    found = _Sentences(asked.reading, result, words).text()
    read = [each.removeprefix(READ).rstrip(".") for each in asked.assumed if each.startswith(READ)]
    assumed = [each for each in asked.assumed if not each.startswith(READ)]
    begun = f"With {listed(read)}: {found}" if read else found
    return " ".join([begun, *_ties(result), *assumed, *asked.problems])


def _ties(result: Result) -> Iterator[str]:
    """What a ranking leaves out although it is equal to its last one."""
    if result.ties:
        verb = "has" if result.ties == 1 else "have"
        least = "At least " if result.has_more_ties else ""
        yield f"{least}{result.ties:d} more {verb} the same value as the last one shown."


def asked_back(asked: Asked, words: Words) -> str:
    """What a question that was not read whole is answered with: a question, and readings to choose from."""
    told = []
    if asked.unused:
        unused = list(dict.fromkeys(each.word for each in asked.unused))
        told.append(f"I did not use: {', '.join(f'*{word}*' for word in unused)}.")
    for offer in asked.offers:
        meanings = listed([each.text for each in offer.meanings], "or")
        told.append(f"“{offer.word}” has no definition yet. It could be the {meanings}.")
    told += [*asked.problems, *asked.assumed]
    if not asked.nearest:
        first = "Define it, say" if asked.offers else "Say"
        told.append(f"{first} it in other words, or build the question by clicking.")
        return " ".join(told)
    told.append("Did you mean one of these?" if len(asked.nearest) > 1 else "Did you mean this?")
    choices = "\n".join(f"- {words.line(each)}" for each in asked.nearest)
    return f"{' '.join(told)}\n\n{choices}"


class _Sentences:
    """The sentences of one result."""

    def __init__(self, reading: Reading, result: Result, words: Words) -> None:
        self._reading = reading
        self._result = result
        self._words = words
        self._table = reading.table
        self._records = result.records
        self._places = places_of(reading, result.names)
        self._written = self._written_cells()

    def text(self) -> str:
        reading = self._reading
        if not reading.measures:
            return self._rows()
        if reading.groups and reading.groups[-1].is_unit and self._records:
            return self._per_unit()
        if not reading.groups:
            return self._figures()
        if not self._records:
            return self._none()
        if self._is_cut and not _ranked(reading):
            return self._first_groups()
        if len(reading.groups) == 1 and reading.groups[0].unit is not None and not _ranked(reading):
            return self._over_time()
        return self._largest()

    @property
    def _is_cut(self) -> bool:
        """Whether there may be more than what is here: then nothing is said about all of it."""
        most = _MOST_GROUPS if self._reading.measures else _MOST_ROWS
        unlimited = self._reading.limit is None
        return self._result.is_cut or (unlimited and len(self._records) >= most)

    # What it is about

    def _noun(self, count: int = 2) -> str:
        noun = self._words.noun(self._table, count)
        segments = " ".join(spaced(each) for each in self._reading.segments)
        return f"{segments} {noun}" if segments else noun

    def _conditions(self) -> list[str]:
        reading = self._reading
        return [
            *(self._words.condition(each, self._table) for each in reading.filters),
            *(self._words.lacking(each) for each in reading.lacking),
        ]

    def _scope(self) -> str:
        """Which rows, behind the noun: `with 8 cylinders and the origin Japan in 1972, without cancelled lines`."""
        return f"{joined(self._conditions())}{self._when()}{self._defaults()}"

    def _when(self) -> str:
        periods = [self._words.period(each, self._table) for each in self._reading.periods]
        return f" {listed(periods, 'or')}" if periods else ""

    def _defaults(self) -> str:
        known = self._words.definitions.tables.get(self._table)
        if known is None or self._reading.without_defaults:
            return ""
        said = listed([each.say for each in known.default_filters])
        return f", {said}" if said else ""

    def _of_what(self) -> str:
        """Behind a figure: nothing where it is of all rows."""
        if self._reading.filters or self._reading.segments or self._reading.lacking:
            return f" of {self._noun()}{self._scope()}"
        return f"{self._when()}{self._defaults()}"

    # Units

    def _per_unit(self) -> str:
        """One figure for each currency or other unit, or the sentences of the units with the most rows."""
        reading, place = self._reading, len(self._reading.groups) - 1
        unit = self._words.label(reading.groups[-1].by, self._table)
        if place == 0:
            return self._figures_per_unit()
        measured = zip(reading.measures, self._places, strict=False)
        figures = [self._result.names[at] for each, at in measured if each.column or each.metric]
        by_unit: dict[str, list[list[Any]]] = {}
        for record in self._records:
            by_unit.setdefault(str(record[place] or _EMPTY), []).append(record)
        ordered = sorted(by_unit, key=lambda each: -len(by_unit[each]))
        told = []
        for name in ordered[:_MOST_NAMED]:
            rows = [[cell for at, cell in enumerate(row) if at != place] for row in by_unit[name]]
            columns = [each for at, each in enumerate(self._result.columns) if at != place]
            amounts = self._words.writing.with_units(dict.fromkeys(figures, name))
            words = Words(self._words.definitions, amounts)
            alone = reading.model_copy(update={"groups": reading.groups[:-1]})
            told.append(f"{name}: {_Sentences(alone, Result(columns, rows), words).text()}")
        left = len(ordered) - len(told)
        more = f" The table has {left:d} more {plural(unit)}." if left > 0 else ""
        return " ".join(told) + more

    def _figures_per_unit(self) -> str:
        said = []
        for measured, place in zip(self._reading.measures, self._places, strict=False):
            if measured.counts_rows:
                all_rows = self._result.names.index(IN_ALL)
                said.append(self._counted(self._records[0][all_rows], self._written[0][all_rows]))
                continue
            values = [row[place] or "nothing" for row in self._written]
            name = self._words.measure(measured, self._table)
            scope = "" if said else self._of_what()
            said.append(f"The {name}{scope} is {listed(values)}.")
        return " ".join(said)

    # Figures

    def _figures(self) -> str:
        record = self._written[0] if self._written else []
        said = []
        for index, measured in enumerate(self._reading.measures):
            place = self._places[index] if index < len(self._places) else None
            value = self._records[0][place] if self._records and place is not None else None
            text = record[place] if value is not None and place is not None else ""
            if measured.counts_rows:
                said.append(self._counted(value, text))
            elif value is None:
                said.append(self._no_figure(index))
            else:
                is_part = bool(measured.share and measured.where)
                scope = self._of_what() if index == 0 or is_part else ""
                name = self._words.measure(measured, self._table)
                said.append(f"The {name}{scope} is {text}.")
        return " ".join(said)

    def _counted(self, value: Any, text: str) -> str:
        count = number_in(value)
        many = 1 if count == 1 else 2
        amount = "No" if not count else text
        conditions = self._conditions()
        noun = self._noun(many if count else 2)
        if conditions and all(each.startswith("with ") for each in conditions):
            verb = "has" if count == 1 else "have"
            said = listed([each.removeprefix("with ") for each in conditions])
            return f"{amount} {noun} {verb} {said}{self._when()}{self._defaults()}."
        verb = "is" if count == 1 else "are"
        amount = amount if count else "no"
        return f"There {verb} {amount} {noun}{self._scope()}."

    def _no_figure(self, index: int) -> str:
        name = self._words.measure(self._reading.measures[index], self._table)
        return f"There is no {name}{self._of_what()}: no row has a value for it."

    # Groups

    def _first_groups(self) -> str:
        name = self._words.measure(self._reading.measures[0], self._table)
        count = len(self._records)
        return (
            f"These are the first {count:d} {self._groups_noun()} with the {name}{self._of_what()}. "
            "There may be more: add a ranking or a condition to see the ones that matter."
        )

    def _none(self) -> str:
        return f"No {self._noun()}{self._scope()} were found."

    def _over_time(self) -> str:
        place = self._places[0]
        in_order = sorted(range(len(self._records)), key=lambda at: str(self._records[at][0]))
        found = [
            (number, self._label(index), self._written[index][place])
            for index in in_order
            if (number := number_in(self._records[index][place])) is not None
            and self._records[index][0] is not None
        ]
        name = self._words.measure(self._reading.measures[0], self._table)
        scope = self._of_what()
        if not found:
            return self._none()
        if len(found) == 1:
            return f"In {found[0][1]}, the {name}{scope} is {found[0][2]}."
        by_value = sorted(found, key=lambda each: each[0])
        (_, low_at, low), (_, high_at, high) = by_value[0], by_value[-1]
        if by_value[0][0] == by_value[-1][0]:
            return f"The {name}{scope} is {low} in each {self._reading.groups[0].unit}."
        unit = self._reading.groups[0].unit
        return (
            f"By {unit}, the {name}{scope} is between {low} ({low_at}) and {high} ({high_at}). "
            f"The result has {len(found):d} {plural(str(unit))}, from {found[0][1]} to {found[-1][1]}."
        )

    def _largest(self) -> str:
        place = self._places[0]
        measured = self._reading.measures[0]
        ascending = any(
            each.by == "measure" and not each.descending for each in self._reading.order
        )
        found = [
            (number, index)
            for index, record in enumerate(self._records)
            if (number := number_in(record[place])) is not None
        ]
        if not found:
            return self._none()
        ranked = sorted(found, key=lambda each: each[0] if ascending else -each[0])
        told = [(self._label(index), self._written[index][place]) for _, index in ranked]
        if measured.counts_rows:
            what = f"the {'fewest' if ascending else 'most'} {self._noun()}{self._scope()}"
        else:
            name = self._words.measure(measured, self._table)
            what = f"the {'lowest' if ascending else 'highest'} {name}{self._of_what()}"
        (first, value), others = told[0], told[1:_MOST_NAMED]
        ties = sum(number == ranked[0][0] for number, _ in ranked)
        if 1 < ties <= _MOST_NAMED:
            names = listed([label for label, _ in told[:ties]])
            begun, others = f"{names} have {what}: {value} each", told[ties:_MOST_NAMED]
        elif ties > _MOST_NAMED:
            return f"{ties:d} {self._groups_noun()} have {what}: {value} each.{self._how_many()}"
        else:
            begun = f"{first} has {what}: {value}"
        following = listed([f"{label} ({text})" for label, text in others])
        return f"{begun}{f', followed by {following}' if following else ''}.{self._how_many()}"

    def _groups_noun(self) -> str:
        return " and ".join(
            plural(self._words.group(each, self._table)) for each in self._reading.groups
        )

    def _how_many(self) -> str:
        count = len(self._records)
        if count <= _MOST_NAMED:
            return ""
        if len(self._reading.groups) > 1:
            return f" The result has {count:d} rows."
        limited = self._reading.limit is not None and count >= self._reading.limit
        if limited:
            return f" The result is limited to {count:d} {self._groups_noun()}."
        return f" The result has {count:d} {self._groups_noun()}."

    def _label(self, index: int) -> str:
        cells = self._written[index][: len(self._reading.groups)]
        return ", ".join(cell or _EMPTY for cell in cells)

    # Rows

    def _rows(self) -> str:
        count = len(self._records)
        reading = self._reading
        if reading.order and reading.limit is not None and reading.order[0].column is not None:
            order = reading.order[0]
            label = self._words.label(reading.order[0].column, self._table)
            word = "highest" if order.descending else "lowest"
            are = "This is the" if count == 1 else f"These are the {count:d}"
            return f"{are} {self._noun(count)}{self._scope()} with the {word} {label}."
        in_all = self._result.in_all
        if in_all is not None and in_all > count and reading.limit is None:
            return f"{self._counted(in_all, f'{in_all:,d}')} These are the first {count:d}."
        if self._is_cut or (reading.limit is not None and count >= reading.limit):
            return f"These are the first {count:d} {self._noun(count)}{self._scope()}."
        return self._counted(count, f"{count:d}")

    # Cells

    def _written_cells(self) -> list[list[str]]:
        """Cells as the reader writes them: a month by its name, money with its currency, a share in percent."""
        reading, names = self._reading, self._result.names
        called, units = list(names), {}
        for index, grouped in enumerate(reading.groups if reading.measures else ()):
            if grouped.unit is not None and index < len(called):
                called[index] = f"{grouped.unit} of {names[index]}"
        for measured, place in zip(reading.measures, self._places, strict=False):
            unit = self._words.unit(measured, self._table)
            if measured.share:
                called[place] = f"share of {names[place]}"
            elif unit:
                units[names[place]] = unit
        columns = [
            {"name": name, "type": column.get("type", "") if isinstance(column, Mapping) else ""}
            for name, column in zip(called, self._result.columns, strict=True)
        ]
        return self._words.writing.with_units(units).rows(columns, self._records)


def places_of(reading: Reading, names: Sequence[str]) -> list[int]:
    """The column of each measure: behind the groups in order; a share where a column is called so."""
    begin = len(reading.groups)
    places = []
    for index, measured in enumerate(reading.measures):
        place = begin + index
        if measured.share:
            shares = [at for at, name in enumerate(names) if at >= begin and "share" in name]
            place = shares[0] if shares else place
        if place < len(names):
            places.append(place)
    return places


def _ranked(reading: Reading) -> bool:
    return reading.limit is not None and any(each.by == "measure" for each in reading.order)


def number_in(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def remarks(
    reading: Reading, result: Result | None, spellings: Mapping[str, int], words: Words
) -> Iterator[str]:
    """What makes figures less than they seem, and what to do: spellings of one thing, several currencies."""
    for index, grouped in enumerate(reading.groups):
        known = spellings.get(grouped.by.column, 0)
        count = max(known, _spelled_twice(result, index) if reading.measures else 0)
        if count and grouped.unit is None:
            label = words.label(grouped.by, reading.table)
            are = "value is" if count == 1 else "values are"
            yield (
                f"{count:d} {are} another spelling of the same {label}. "
                f"Unify the spelling of {label} before you compare groups."
            )
    column = _mixed_currency(reading, result, words)
    if column is not None:
        yield (
            f"The amounts can be in several currencies. Add “by {spaced(column)}”, or choose one currency, "
            "before you use this figure."
        )


def _spelled_twice(result: Result | None, index: int) -> int:
    """How many of the groups are another one in other words: by case and spaces, or names of one country."""
    from steward.analysis.clean import country_of

    if result is None:
        return 0
    labels = {str(row[index]) for row in result.records if index < len(row) and row[index]}
    named = {each: country_of(each) for each in labels}
    codes = {each.alpha2 for each in named.values() if each is not None}
    if codes and sum(each is not None for each in named.values()) >= _NEARLY_ALL * len(labels):
        return sum(each is not None for each in named.values()) - len(codes)
    return len(labels) - len({" ".join(each.casefold().split()) for each in labels})


def _mixed_currency(reading: Reading, result: Result | None, words: Words) -> str | None:
    """The column of currencies that amounts of several kinds were put together over."""
    if result is None:
        return None
    for measured, place in zip(reading.measures, places_of(reading, result.names), strict=False):
        column = words.writing.currency_column(result.names[place])
        used = {
            *(each.by.column for each in reading.groups),
            *(each.column.column for each in reading.filters),
        }
        if column is not None and column not in used and not words.unit(measured, reading.table):
            return column
    return None
